import { isRecord } from "../../../base/json.ts";
import { listingOf, type Each } from "./json-text.ts";

/**
 * Formats JSON data as YAML in block style, line by line. Scalars are written as in JSON, and so are keys that are not plain words; every
 * YAML parser reads them in the same way.
 *
 * @param each Maps an element of a list to the value to write; called when its first line is read. Default: elements are written unchanged.
 * @example
 * [...yamlParts({ a: [1, { b: "x" }] })].join(""); // 'a:\n- 1\n- b: "x"\n'
 */
export function* yamlParts(object: object, each?: Each): Iterable<string> {
  const listing = each && listingOf(object);
  if (listing === undefined || listing.elements.length === 0) return yield* top(object);
  yield* top(listing.head);
  yield `${listing.name}:\n`;
  for (const element of listing.elements) yield* lines([each!(element)], "", "");
}

function* top(object: object): Iterable<string> {
  if (isNested(object)) yield* lines(object, "", "");
  else yield `${JSON.stringify(object)}\n`;
}

/** The lines of a list or map that is not empty. The first one begins with `first`, the others with `indent`. */
function* lines(value: Nested, first: string, indent: string): Iterable<string> {
  let start = first;
  for (const [name, member] of isList(value) ? itemsOf(value) : membersOf(value)) {
    if (!isNested(member)) yield `${start}${name} ${JSON.stringify(member)}\n`;
    else if (name === ITEM) yield* lines(member, `${start}${ITEM} `, `${indent}  `);
    else {
      yield `${start}${name}\n`;
      const within = isList(member) ? indent : `${indent}  `;
      yield* lines(member, within, within);
    }
    start = indent;
  }
}

function isList(value: Nested): value is readonly unknown[] {
  return Array.isArray(value);
}

const ITEM = "-";

function* itemsOf(list: readonly unknown[]): Iterable<readonly [string, unknown]> {
  for (const item of list) yield [ITEM, item];
}

function* membersOf(map: Readonly<Record<string, unknown>>): Iterable<readonly [string, unknown]> {
  for (const [key, member] of Object.entries(map)) {
    const name = /^[A-Za-z][A-Za-z0-9]*$/.test(key) && !RESERVED.test(key) ? key : JSON.stringify(key);
    if (member !== undefined) yield [`${name}:`, member];
  }
}

/** Words that some parsers read as a boolean or null. */
const RESERVED = /^(y|n|yes|no|on|off|true|false|null)$/i;

type Nested = readonly unknown[] | Readonly<Record<string, unknown>>;

function isNested(value: unknown): value is Nested {
  if (Array.isArray(value)) return value.length > 0;
  return isRecord(value) && Object.values(value).some((member) => member !== undefined);
}
