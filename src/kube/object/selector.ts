import { EngineError } from "../../base/errors.ts";
import type { StringMap } from "./types.ts";

/** One condition of a label selector. */
export interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** All conditions must hold. */
export type Selector = readonly Requirement[];

/** A selector as objects contain it. */
export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

const NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const DOMAIN_PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY = new RegExp(`^(${DOMAIN_PART}(\\.${DOMAIN_PART})*/)?${NAME}$`);
const VALUE = new RegExp(`^(${NAME})?$`);
const PREFIX_MAX = 253;

/** Operators of the text form that separate key and values. */
const OPERATORS: ReadonlyMap<string, Requirement["operator"]> = new Map([
  ["=", "In"],
  ["==", "In"],
  ["!=", "NotIn"],
  ["in", "In"],
  ["notin", "NotIn"],
  [">", "Gt"],
  ["<", "Lt"],
]);

/** Pieces of a text; those before `next` have been read. */
interface Cursor {
  readonly text: string;
  readonly pieces: readonly string[];
  next: number;
}

/**
 * Reads Kubernetes' text form of a label selector. Empty text selects everything.
 *
 * Requirements are joined by commas: `key`, `!key`, `key=value` (or `==`), `key!=value`, `key in (a, b)`,
 * `key notin (a, b)`, `key>1`, `key<1`. Space between the pieces does not matter. Keys and values must be valid labels; a
 * value may be empty, and `in ()` contains the empty value.
 *
 * @throws API_BAD_REQUEST when the text does not parse.
 * @example
 * matchesSelector(parseSelector("app=web, tier in (a, b), !old"), { app: "web", tier: "a" }); // true
 */
export function parseSelector(text: string): Selector {
  const pieces = text.match(/==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+/g) ?? [];
  const cursor: Cursor = { text, pieces, next: 0 };
  if (pieces.length === 0) return [];
  const requirements = [readRequirement(cursor)];
  while (take(cursor, ",")) requirements.push(readRequirement(cursor));
  if (cursor.next < pieces.length) throw unexpected(cursor, '"," or the end');
  return requirements;
}

function readRequirement(cursor: Cursor): Requirement {
  const absent = take(cursor, "!");
  const key = readWord(cursor);
  if (key === undefined) throw unexpected(cursor, "a key");
  const text = cursor.pieces[cursor.next];
  if (absent || text === undefined || text === ",") {
    return checked({ key, operator: absent ? "DoesNotExist" : "Exists", values: [] });
  }
  const operator = OPERATORS.get(text);
  if (operator === undefined) throw unexpected(cursor, "an operator");
  cursor.next += 1;
  const values = text === "in" || text === "notin" ? readList(cursor) : [readWord(cursor) ?? ""];
  return checked({ key, operator, values });
}

function readList(cursor: Cursor): string[] {
  if (!take(cursor, "(")) throw unexpected(cursor, '"("');
  const values = new Set([readWord(cursor) ?? ""]);
  while (take(cursor, ",")) values.add(readWord(cursor) ?? "");
  if (!take(cursor, ")")) throw unexpected(cursor, '"," or ")"');
  return [...values];
}

function take(cursor: Cursor, piece: string): boolean {
  if (cursor.pieces[cursor.next] !== piece) return false;
  cursor.next += 1;
  return true;
}

/** Takes the next piece if it is not punctuation. "in" and "notin" are words where no operator is expected. */
function readWord(cursor: Cursor): string | undefined {
  const piece = cursor.pieces[cursor.next];
  if (piece === undefined || /^[=!<>(),]/.test(piece)) return undefined;
  cursor.next += 1;
  return piece;
}

function unexpected({ text, pieces, next }: Cursor, wanted: string): EngineError {
  const found = next < pieces.length ? JSON.stringify(pieces[next]) : "the end";
  return refusal(`found ${found}, expected ${wanted} in selector ${JSON.stringify(text)}`);
}

function refusal(reason: string): EngineError {
  return new EngineError("API_BAD_REQUEST", `unable to parse requirement: ${reason}`);
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  if (!KEY.test(key) || key.indexOf("/") > PREFIX_MAX) throw refusal(`${JSON.stringify(key)} is not a valid label key`);
  const wrong = values.find((value) => !VALUE.test(value));
  if (wrong !== undefined) throw refusal(`${JSON.stringify(wrong)} is not a valid label value`);
  const numeric = operator === "Gt" || operator === "Lt";
  if (numeric && integer(values[0]!) === undefined) throw refusal(`${JSON.stringify(values[0])} is not a 64-bit integer`);
  return requirement;
}

/**
 * Converts a selector field into conditions; an empty selector selects everything.
 *
 * @throws API_BAD_REQUEST when an operator is not In, NotIn, Exists or DoesNotExist, or the values do not match it.
 * @example
 * matchesSelector(selectorOf({ matchLabels: { app: "web" } }), { app: "web", tier: "a" }); // true
 */
export function selectorOf(field: LabelSelector): Selector {
  const labels = Object.entries(field.matchLabels ?? {}).map(([key, value]): Requirement => ({ key, operator: "In", values: [value] }));
  const expressions = (field.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (!isFieldOperator(operator)) throw refusal(`${JSON.stringify(operator)} is not a valid label selector operator`);
    const wantsValues = operator === "In" || operator === "NotIn";
    if (wantsValues !== values.length > 0)
      throw refusal(`${operator} of ${JSON.stringify(key)} ${wantsValues ? "needs" : "takes no"} values`);
    return { key, operator, values };
  });
  return [...labels, ...expressions];
}

function isFieldOperator(operator: string): operator is "In" | "NotIn" | "Exists" | "DoesNotExist" {
  return ["In", "NotIn", "Exists", "DoesNotExist"].includes(operator);
}

/**
 * Reports whether every condition holds for `labels`. NotIn also holds where the label is absent.
 *
 * @example
 * matchesSelector(parseSelector("tier!=a"), undefined); // true
 */
export function matchesSelector(selector: Selector, labels: StringMap | undefined): boolean {
  return selector.every((requirement) => holds(requirement, labels ?? {}));
}

function holds({ key, operator, values }: Requirement, labels: StringMap): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return compareIntegers(value, values[0]) > 0;
    case "Lt":
      return compareIntegers(value, values[0]) < 0;
  }
}

/** Compares two integers. Returns 0 if one of the texts is not an integer, so that neither operator matches. */
function compareIntegers(left = "", right = ""): number {
  const [a, b] = [integer(left), integer(right)];
  return a === undefined || b === undefined || a === b ? 0 : a < b ? -1 : 1;
}

/** Parses a label as a 64-bit integer. A label cannot start with a sign. */
function integer(text: string): bigint | undefined {
  if (!/^[0-9]{1,63}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < 2n ** 63n ? value : undefined;
}
