/** What JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** An object of JSON data, not an array. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Tells whether `value` is a plain object, not null and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What kind of value this is, in words for messages.
 *
 * @example
 * typeInWords([]); // "a list"
 */
export function typeInWords(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return `a ${typeof value}`;
}

/**
 * Deep equality of JSON data. A member that is `undefined` counts as absent; key order does not matter, list order does.
 *
 * @example
 * jsonEqual({ a: 1, b: [2] }, { b: [2], a: 1, c: undefined }); // true
 */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => jsonEqual(item, right[index]));
  }
  return recordsEqual(left as JsonObject, right as JsonObject);
}

function recordsEqual(left: JsonObject, right: JsonObject): boolean {
  let extra = 0;
  for (const key of Object.keys(right)) if (right[key] !== undefined) extra += 1;
  for (const key of Object.keys(left)) {
    if (left[key] === undefined) continue;
    if (!Object.hasOwn(right, key) || !jsonEqual(left[key], right[key])) return false;
    extra -= 1;
  }
  return extra === 0;
}

/**
 * JSON text with sorted keys and without `undefined` members: equal data, equal text.
 *
 * @example
 * canonicalJson({ b: 1, a: [undefined, 2] }); // '{"a":[null,2],"b":1}'
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}
