import { isRecord } from "../../base/json.ts";
import { listingOf } from "./json-text.ts";

/**
 * JSON data as YAML in block style. Scalars and keys are written as JSON writes them, which every YAML parser reads the same way.
 *
 * @example
 * formatYaml({ a: [1, { b: "x" }] }); // 'a:\n- 1\n- b: "x"\n'
 */
export function formatYaml(value: unknown): string {
  return `${block(value, "").join("\n")}\n`;
}

/** The same in parts, one for each element of a list. */
export function* yamlParts(object: object): Iterable<string> {
  const listing = listingOf(object);
  if (listing === undefined || listing.elements.length === 0) return yield formatYaml(object);
  yield `${formatYaml(listing.head)}${listing.name}:\n`;
  for (const element of listing.elements) yield formatYaml([element]);
}

/** The lines of a value; those of a list or map are indented already. */
function block(value: unknown, indent: string): string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((item) => listItem(item, indent));
  if (isRecord(value)) {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    if (entries.length > 0) return entries.flatMap(([key, member]) => entry(key, member, indent));
  }
  return [JSON.stringify(value)];
}

function entry(key: string, value: unknown, indent: string): string[] {
  const name = /^[A-Za-z][A-Za-z0-9]*$/.test(key) && !RESERVED.test(key) ? key : JSON.stringify(key);
  if (!isNested(value)) return [`${indent}${name}: ${JSON.stringify(value)}`];
  return [`${indent}${name}:`, ...block(value, Array.isArray(value) ? indent : `${indent}  `)];
}

/** Words that some parsers take for truth values or null. */
const RESERVED = /^(y|n|yes|no|on|off|true|false|null)$/i;

function listItem(item: unknown, indent: string): string[] {
  if (!isNested(item)) return [`${indent}- ${JSON.stringify(item)}`];
  const [first = "", ...rest] = block(item, `${indent}  `);
  return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest];
}

function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isRecord(value) && Object.values(value).some((member) => member !== undefined);
}
