/** An object of JSON data, not an array. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reports whether `value` is an object that is not a list: in JSON data, a map.
 *
 * @example
 * isRecord(["a"]); // false
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Names the kind of a value, for messages.
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
 * Reports whether JSON data is nested deeper than `depthMax`; never descends further.
 *
 * @example
 * isDeeperThan({ a: [1] }, 1); // true
 */
export function isDeeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depthMax === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isDeeperThan(value[index], depthMax - 1)) return true;
    return false;
  }
  for (const name in value) if (isDeeperThan((value as JsonObject)[name], depthMax - 1)) return true;
  return false;
}

/**
 * Parses a JSON text. Throws a SyntaxError if the text is not JSON or is nested deeper than `depthMax`.
 *
 * @example
 * parseJson('{"a":[1]}', 2); // { a: [1] }
 */
export function parseJson(text: string, depthMax: number): unknown {
  const value: unknown = JSON.parse(text);
  // Ordinary responses of a cluster have fewer brackets than the limit has levels, and counting brackets is cheap.
  if (hasMoreBracketsThan(text, depthMax) && isDeeperThan(value, depthMax)) throw new SyntaxError(`it has more than ${depthMax} levels`);
  return value;
}

/** An escape: a pair of surrogates, a lone surrogate, or any other escape. */
const ESCAPES = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|[^])/g;
const LONE_LENGTH = "\\ud800".length;

/**
 * Returns the JSON text with U+FFFD in place of each escape of a lone surrogate, which neither UTF-8 nor a string in Kubernetes can
 * contain.
 *
 * Source: Go's decoder, `encoding/json`, reads such an escape as U+FFFD.
 *
 * @example
 * withoutLoneSurrogates('"a\\ud800"'); // '"a\\ufffd"'
 */
export function withoutLoneSurrogates(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  return json.replace(ESCAPES, (escape) => (escape.length === LONE_LENGTH ? "\\ufffd" : escape));
}

/** Counts brackets within strings as well, so a text for which the result is `false` never has more levels than `count`. */
function hasMoreBracketsThan(text: string, count: number): boolean {
  let left = count;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

/**
 * Reports whether two JSON values are deeply equal. A member that is `undefined` counts as absent. The order of keys does not matter, but
 * the order of lists does. Only own members count. The depth is limited by the stack to a few thousand levels.
 *
 * @example
 * jsonEqual({ a: 1, b: [2] }, { b: [2], a: 1, c: undefined }); // true
 */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) if (!jsonEqual(left[index], right[index])) return false;
    return true;
  }
  return recordsEqual(left as JsonObject, right as JsonObject);
}

function recordsEqual(left: JsonObject, right: JsonObject): boolean {
  let extra = 0;
  // Creates no lists of keys, because this runs for every address, and an object can have hundreds.
  for (const key in right) if (right[key] !== undefined && Object.hasOwn(right, key)) extra += 1;
  for (const key in left) {
    if (left[key] === undefined || !Object.hasOwn(left, key)) continue;
    if (!Object.hasOwn(right, key) || !jsonEqual(left[key], right[key])) return false;
    extra -= 1;
  }
  return extra === 0;
}

/**
 * Returns JSON text with sorted keys and without `undefined` members, so that equal data has equal text. A value that JSON cannot
 * represent, such as NaN, becomes null. The depth is limited by the stack to a few thousand levels.
 *
 * @example
 * canonicalJson({ b: 1, a: [undefined, 2] }); // '{"a":[null,2],"b":1}'
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return canonicalList(value);
  if (isRecord(value)) return canonicalRecord(value);
  return JSON.stringify(value) ?? "null";
}

function canonicalList(list: readonly unknown[]): string {
  const items: string[] = [];
  for (const item of list) items.push(canonicalJson(item));
  return `[${items.join(",")}]`;
}

function canonicalRecord(record: JsonObject): string {
  const members: string[] = [];
  for (const key of Object.keys(record).sort()) {
    if (record[key] !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(record[key])}`);
  }
  return `{${members.join(",")}}`;
}

/**
 * Returns a generous estimate of the memory that JSON data uses, in bytes. A long string takes no more time to estimate than a short one.
 *
 * @example
 * heldBytes({ a: "bc" }) > heldBytes({ a: "" }); // true
 */
export function heldBytes(value: unknown): number {
  if (typeof value === "string") return heldBytesOfText(value);
  if (typeof value === "number") return 16;
  if (typeof value !== "object" || value === null) return 0;
  let bytes = 56;
  // A name may occur in no other object; it then needs an entry of its own in a table that is only half full.
  if (Array.isArray(value)) for (const item of value) bytes += 8 + heldBytes(item);
  else for (const name in value) bytes += 80 + name.length + heldBytes((value as JsonObject)[name]);
  return bytes;
}

function heldBytesOfText(text: string): number {
  return 24 + text.length * (BEYOND_LATIN1.test(text) ? 2 : 1);
}

/** Texts with such a character take two bytes for each character. */
const BEYOND_LATIN1 = /[^\0-\u00ff]/;
