/** A provider's claims about a user, by name. */
export type Claims = Readonly<Record<string, unknown>>;

/** A claim that is a string; undefined when it is absent, empty or anything else. */
export function textClaim(claims: Claims, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * A claim that is a string or a list of strings, as a list. Empty when it is absent, undefined when it is anything else.
 *
 * @example
 * listClaim({ groups: "dev" }, "groups"); // ["dev"]
 */
export function listClaim(claims: Claims, name: string): readonly string[] | undefined {
  const value = Object.hasOwn(claims, name) ? (claims[name] ?? []) : [];
  if (typeof value === "string") return value === "" ? [] : [value];
  return isTexts(value) ? value : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Compares names literally. */
const asWritten = (name: string) => name;
/** Compares names without regard to case. */
export const withoutCase = (name: string) => name.toLowerCase();

/**
 * Returns a function that reports whether a name is in `wanted`; if the list is absent, every name is. Each call takes the same time,
 * regardless of the list's length.
 */
export function chosenBy(wanted: readonly string[] | undefined, form: (name: string) => string = asWritten): (name: string) => boolean {
  const set = wanted && new Set(wanted.map(form));
  return (name) => set === undefined || set.has(form(name));
}

/** Reports whether one of `wanted` is among `names`. An absent list requires nothing; an empty one admits no one. */
export function meetsGiven(wanted: readonly string[] | undefined, names: readonly string[], form = asWritten): boolean {
  return wanted === undefined || names.some(chosenBy(wanted, form));
}

/** Reports whether one of `wanted` is among `names`. An absent or empty list requires nothing. */
export function meets(wanted: readonly string[] | undefined, names: readonly string[], form = asWritten): boolean {
  return wanted?.length === 0 || meetsGiven(wanted, names, form);
}
