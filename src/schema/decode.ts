import { fieldPath, indexPath } from "./field.ts";
import { isAbsent, keyStartOf, setOwn, startOf, textOf, toJson, type ListNode, type MapNode, type Node, type ScalarNode } from "./node.ts";
import { Report, type Position } from "./problem.ts";
import {
  defaultOf,
  type EitherSchema,
  type Infer,
  type ListSchema,
  type MapSchema,
  type NumberSchema,
  type ObjectSchema,
  type Schema,
  type StringSchema,
} from "./schema.ts";
import { suggest } from "../base/suggest.ts";

/** The decoder's position and its surroundings. */
interface Context {
  readonly report: Report;
  readonly field: string;
  /** Position of the value, or of its key, for problems of the value as a whole. */
  readonly at: Position;
}

/**
 * Decodes a node by a schema, and fills in defaults. All problems go to the report; none is thrown:
 *
 * - CONFIG_TYPE: a value of another type; the place is the value.
 * - CONFIG_UNKNOWN_FIELD: a field that a strict object does not have; the place is the key. In an open object it is only a
 *   warning, and only if it is probably a typing error.
 * - CONFIG_REQUIRED: the place is the key of the object that lacks it. Not reported when an unknown field is probably a misspelling of it.
 * - CONFIG_VALUE: out of range, a mismatch of the pattern, or none of the allowed strings.
 *
 * The result is only meaningful when the report has no errors: a value with a problem is left out of it.
 *
 * @example
 * decode({ type: "boolean", description: "…" }, node, { report, field: "sync.enabled" }); // true, false or undefined
 */
export function decode<S extends Schema>(schema: S, node: Node, options: { report: Report; field?: string }): Infer<S> | undefined {
  return decodeValue(schema, node, { report: options.report, field: options.field ?? "", at: startOf(node) }) as Infer<S> | undefined;
}

function decodeValue(schema: Schema, node: Node | undefined, context: Context): unknown {
  if (isAbsent(node)) {
    if (node !== undefined && acceptsNull(schema)) return null;
    if (node !== undefined && schema.refuseNull === true) return wrongType(schema, node, context);
    return defaultOf(schema);
  }
  switch (schema.type) {
    case "any":
      return toJson(node);
    case "either":
      return decodeEither(schema, node, context);
    case "object":
      return node.kind === "map" ? decodeObject(schema, node, context) : wrongType(schema, node, context);
    case "map":
      return node.kind === "map" ? decodeMap(schema, node, context) : wrongType(schema, node, context);
    case "list":
      return node.kind === "list" ? decodeList(schema, node, context) : wrongType(schema, node, context);
    case "string":
    case "literals":
    case "boolean":
    case "integer":
    case "number":
      return node.kind === "scalar" ? decodeScalar(schema, node, context) : wrongType(schema, node, context);
  }
}

/** Reports whether null is a value here, and not the absence of one. */
function acceptsNull(schema: Schema): boolean {
  return schema.nullable === true || schema.type === "any";
}

function decodeObject(schema: ObjectSchema, node: MapNode, context: Context): Record<string, unknown> {
  const { report, field } = context;
  const result: Record<string, unknown> = {};
  const meant = new Set<string>();
  for (const [name, entry] of node.entries) {
    if (Object.hasOwn(schema.fields, name)) continue;
    const suggestion = suggest(
      name,
      Object.keys(schema.fields).filter((known) => !node.entries.has(known)),
    );
    if (suggestion !== undefined) meant.add(suggestion);
    reportUnknown(schema, { name, suggestion }, { report, field, at: keyStartOf(entry) });
    if (schema.open === true) setOwn(result, name, toJson(entry.value));
  }
  for (const [name, member] of Object.entries(schema.fields)) {
    const entry = node.entries.get(name);
    if (isAbsent(entry?.value) && member.required === true && !(entry !== undefined && member.refuseNull === true)) {
      if (!meant.has(name)) reportMissing(name, { ...context, at: entry === undefined ? context.at : keyStartOf(entry) });
      continue;
    }
    const inner: Context = { report, field: fieldPath(field, name), at: entry === undefined ? context.at : keyStartOf(entry) };
    const value = decodeValue(member, entry?.value, inner);
    if (value !== undefined) setOwn(result, name, value);
  }
  return result;
}

function reportUnknown(schema: ObjectSchema, found: { name: string; suggestion: string | undefined }, context: Context): void {
  const message = `Unknown field ${JSON.stringify(found.name)}`;
  const meant = found.suggestion === undefined ? undefined : `Did you mean ${JSON.stringify(found.suggestion)}?`;
  const input = { code: "CONFIG_UNKNOWN_FIELD", message, at: context.at, field: context.field } as const;
  if (schema.open !== true) {
    const names = Object.keys(schema.fields);
    const known = names.length === 0 ? "No fields are allowed here" : `Known fields: ${names.join(", ")}`;
    context.report.error({ ...input, hint: meant ?? known });
  } else if (meant !== undefined) context.report.warning({ ...input, hint: meant });
}

function reportMissing(name: string, { report, field, at }: Context): void {
  report.error({ code: "CONFIG_REQUIRED", message: `Missing required field ${JSON.stringify(name)}`, at, field });
}

function decodeMap(schema: MapSchema, node: MapNode, { report, field }: Context): Record<string, unknown> {
  const result = Object.create(null) as Record<string, unknown>;
  for (const [key, entry] of node.entries) {
    // Without a prototype, even __proto__ is a key like any other.
    const context = { report, field: fieldPath(field, key), at: keyStartOf(entry) };
    const name = schema.keys === undefined ? key : decodeString(schema.keys, key, context);
    const value = decodeMember(schema.values, entry.value, context);
    if (name !== undefined && value !== undefined) result[name] = value;
  }
  return result;
}

function decodeList(schema: ListSchema, node: ListNode, context: Context): unknown[] {
  const { minItems = 0, maxItems = Infinity } = schema;
  if (node.items.length < minItems) wrongValue(context, `Expected at least ${minItems} items, found ${node.items.length}`);
  if (node.items.length > maxItems) wrongValue(context, `Expected at most ${maxItems} items, found ${node.items.length}`);
  const values = node.items.map((item, index) => {
    const inner = { report: context.report, field: indexPath(context.field, index), at: startOf(item) };
    return decodeMember(schema.items, item, inner);
  });
  return values.filter((value) => value !== undefined);
}

/** Decodes by the first shape that fits. */
function decodeEither(schema: EitherSchema, node: Node, context: Context): unknown {
  for (const option of schema.options) {
    const report = new Report();
    const value = decodeValue(option, node, { ...context, report });
    if (!report.failed) return value;
  }
  return wrongType(schema, node, context);
}

/** Decodes an item of a list or a value of a map. Null does not count as absent there, because the author wrote the item or the key. */
function decodeMember(schema: Schema, node: Node, context: Context): unknown {
  return isAbsent(node) && !acceptsNull(schema) ? wrongType(schema, node, context) : decodeValue(schema, node, context);
}

type ScalarSchema = Exclude<Schema, { type: "any" | "either" | "object" | "map" | "list" }>;

function decodeScalar(schema: ScalarSchema, node: ScalarNode, outer: Context): unknown {
  const { value } = node;
  const context = { ...outer, at: startOf(node) };
  switch (schema.type) {
    case "boolean":
      return typeof value === "boolean" ? value : wrongType(schema, node, context);
    case "string":
      return typeof value === "string" ? decodeString(schema, value, context) : wrongType(schema, node, context);
    case "literals":
      if (typeof value !== "string") return wrongType(schema, node, context);
      return schema.values.includes(value) ? value : wrongWord(schema.values, value, context);
    case "integer":
    case "number":
      return typeof value === "number" ? decodeNumber(schema, value, context) : wrongType(schema, node, context);
  }
}

function decodeString(schema: StringSchema, value: string, context: Context): string | undefined {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (value.length < minLength)
    return wrongValue(context, minLength === 1 ? "Expected a non-empty string" : `Expected at least ${minLength} characters`);
  if (value.length > maxLength) return wrongValue(context, `Expected at most ${maxLength} characters, found ${value.length}`);
  if (pattern === undefined || new RegExp(pattern, "u").test(value)) return value;
  return wrongValue(context, `Expected ${schema.patternHint ?? `text that matches ${pattern}`}, found ${quote(value)}`);
}

function decodeNumber(schema: NumberSchema, value: number, context: Context): number | undefined {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (schema.type === "integer" && !Number.isSafeInteger(value)) return wrongValue(context, `Expected a whole number, found ${value}`);
  if (value < minimum) return wrongValue(context, `Expected at least ${minimum}, found ${value}`);
  if (value > maximum) return wrongValue(context, `Expected at most ${maximum}, found ${value}`);
  return value;
}

function wrongValue({ report, field, at }: Context, message: string, hint = ""): undefined {
  report.error({ code: "CONFIG_VALUE", message, at, field, hint });
}

function wrongWord(words: readonly string[], value: string, context: Context): undefined {
  const suggestion = suggest(value, words);
  const hint = suggestion === undefined ? "" : `Did you mean ${JSON.stringify(suggestion)}?`;
  return wrongValue(context, `Expected ${orList(words.map((word) => JSON.stringify(word)))}, found ${quote(value)}`, hint);
}

const WANTED = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  literals: "text",
  list: "a list",
  map: "a map",
  object: "a map",
  either: "a value",
  any: "a value",
} as const;

function wrongType(schema: Schema, node: Node, { report, field }: Context): undefined {
  const wanted = schema.type === "either" ? orList(schema.options.map(({ type }) => WANTED[type])) : WANTED[schema.type];
  const message = `Expected ${wanted}, found ${describe(node)}`;
  report.error({ code: "CONFIG_TYPE", message, at: startOf(node), field, hint: typeHint(schema, node) });
}

/** Words that are booleans in YAML 1.1, and text in YAML 1.2. */
const OLD_BOOLEANS: Readonly<Record<string, boolean>> = { y: true, yes: true, on: true, n: false, no: false, off: false };

function typeHint(schema: Schema, node: Node): string {
  if (isAbsent(node))
    return schema.refuseNull !== true ? "" : schema.type === "object" ? "Write {}" : "Write a value, or the text null in quotes";
  if (schema.type === "string" || schema.type === "literals") return "Write the value in quotes";
  if (schema.type === "list") return "Write each item on a separate line after a dash";
  const text = textOf(node)?.toLowerCase() ?? "";
  if (schema.type === "boolean" && Object.hasOwn(OLD_BOOLEANS, text)) return `Write ${OLD_BOOLEANS[text]}`;
  if (schema.type === "boolean" && /^(true|false)$/.test(text)) return `Write ${text} without quotes`;
  const isNumber = schema.type === "integer" || schema.type === "number";
  return isNumber && /^-?[0-9]+(\.[0-9]+)?$/.test(text) ? "Write the number without quotes" : "";
}

function describe(node: Node): string {
  if (node.kind !== "scalar") return `a ${node.kind}`;
  if (node.value === null) return "nothing";
  return typeof node.value === "string" ? `the text ${quote(node.value)}` : String(node.value);
}

/** Quotes a value for a message, and truncates it: a misplaced value can be a whole certificate. */
function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)!}`;
}
