/**
 * Short functions that declare schemas of objects in clusters: those that are synced, and those that the API server stores.
 *
 * @module
 */
import { assert } from "../base/errors.ts";
import type {
  AnySchema,
  BooleanSchema,
  EitherSchema,
  LiteralsSchema,
  ListSchema,
  MapSchema,
  MergeTable,
  NumberSchema,
  ObjectSchema,
  Schema,
  StringSchema,
  TextFormat,
} from "./schema.ts";

const description = "";

/** Any value. Nothing more is known about it, and laws try no values for it. */
export const anything: AnySchema = { type: "any", description };

/** True or false. */
export const bool: BooleanSchema = { type: "boolean", description };

/** A string in one format. */
export function textAs(format: TextFormat = "text"): StringSchema {
  return { type: "string", description, format };
}

/** Texts and numbers. */
export const text: StringSchema = { type: "string", description };
export const bytes: StringSchema = { ...text, encodes: "bytes" };
export const strictBytes: StringSchema = { ...bytes, strict: true };
export const time: StringSchema = { ...text, encodes: "time" };
export const microTime: StringSchema = { ...text, encodes: "microTime" };
export const int32: NumberSchema = { type: "integer", description, bits: 32 };
export const int64: NumberSchema = { type: "integer", description, bits: 64 };
/** An amount such as "500m". */
export const quantity: AnySchema = { ...anything, quantity: true };
/** A number or a text, such as a target port. */
export const intOrText: EitherSchema = either(int32, text);
/** A map of strings, such as labels and annotations. */
export const textMap: MapSchema = mapOf(text);

/** One of a few fixed strings. */
export function oneOf(...values: readonly string[]): LiteralsSchema {
  return { type: "literals", description, values };
}

/** A whole number; limits are inclusive. */
export function wholeNumber(minimum: number, maximum: number): NumberSchema {
  return { type: "integer", description, bits: 32, minimum, maximum };
}

/** A list of values of one shape. Appliers replace it as a whole, unless `merge` defines how they merge it. */
export function listOf(items: Schema, merge?: ListSchema["merge"]): ListSchema {
  return { type: "list", description, items, ...(merge && { merge }) };
}

/** A map from any keys to values of one shape. */
export function mapOf(values: Schema): MapSchema {
  return { type: "map", description, values };
}

/** A map whose keys and values are strings, each in one format. */
export function textsBy(keys: TextFormat, values: TextFormat): MapSchema {
  return { type: "map", description, keys: textAs(keys), values: textAs(values) };
}

/** A value of any of these shapes. */
export function either(...options: readonly Schema[]): EitherSchema {
  return { type: "either", description, options };
}

/**
 * An object that is stored as received.
 *
 * @example
 * kindShape({ spec: always(opaque({ containers: { as: "map", keys: ["name"] } })) });
 */
export function opaque(lists: MergeTable, binary?: ObjectSchema): AnySchema {
  return { ...anything, opaque: { lists, within: "", ...(binary && { binary }) } };
}

/** A field that is shown whenever it is set, even to zero. */
export function optional<S extends Schema>(schema: S): S {
  return { ...schema, presence: "optional" };
}

/** A field internal to the server. It is never shown. */
export function internal<S extends Schema>(schema: S): S {
  return { ...optional(schema), internal: true };
}

/** A field that is always shown. */
export function always<S extends Schema>(schema: S): S {
  return { ...schema, presence: "always" };
}

/** A field that is always shown, and that authors must set. Source: fields of the API types that are not marked optional. */
export function mandatory<S extends Schema>(schema: S): S {
  return { ...always(schema), required: true };
}

/** A field for which no sample values are tried, including all fields inside it. */
export function untried<S extends Schema>(schema: S): S {
  return { ...schema, untried: true };
}

/** A field: its schema, alone or with a description; or its number in Kubernetes' binary form, its schema and optionally a description. */
export type Entry = Schema | readonly [Schema, string] | readonly [number, Schema, string?];

/**
 * Named fields, in this order. A `!` at the end of a name marks a field that the API server never leaves out; a `?` marks a field that
 * every sample value has, although objects can lack it. A field is left out if it is empty, an object only if it is null; {@link always}
 * and {@link optional} change that. Source of the numbers: the `generated.proto` files of the API.
 *
 * @example
 * objectOf({ "ip!": textAs("ip"), hostname: [3, text, "Its DNS name."] });
 */
export function objectOf(entries: Readonly<Record<string, Entry>>): ObjectSchema {
  const fields = Object.entries(entries).map(([written, entry]) => {
    const name = written.replace(/[!?]$/, "");
    const marks = { ...(written.endsWith("!") && { required: true as const }), ...(written.endsWith("?") && { typical: true as const }) };
    return [name, { ...fieldOf(entry), ...marks }] as const;
  });
  assert(new Set(fields.map(([name]) => name)).size === fields.length, "each field is declared once");
  return { type: "object", description, fields: Object.fromEntries(fields) };
}

function fieldOf(entry: Entry): Schema {
  if ("type" in entry) return { presence: entry.type === "object" || entry.type === "any" ? "optional" : "omitEmpty", ...entry };
  const [number, schema, about] = isNumbered(entry) ? entry : ([undefined, ...entry] as const);
  return { ...fieldOf(schema), ...(number !== undefined && { number }), ...(about !== undefined && { description: about }) };
}

function isNumbered(entry: Exclude<Entry, Schema>): entry is readonly [number, Schema, string?] {
  return typeof entry[0] === "number";
}

/**
 * An object with a name in published schemas.
 *
 * @example
 * named("EndpointAddress", "An address of a Service.", { ip: [1, mandatory(text), "The IP address."], hostname: [3, text, "Its DNS name."] });
 */
export function named(name: string, about: string, entries: Readonly<Record<string, Entry>>): ObjectSchema {
  return { ...objectOf(entries), name, about };
}
