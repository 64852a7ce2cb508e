/**
 * Uses the schema of a kind to determine which values to try at a path. Parts without a schema are not tried.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import type { Segment } from "../../../engine/path/path.ts";
import { either } from "../../../schema/builders.ts";
import type { NumberSchema, ObjectSchema, Schema, StringSchema } from "../../../schema/schema.ts";
import { FORMATS, type FormatRules } from "./formats.ts";

/** The fields that generated values can have. */
export function triedFields({ fields }: ObjectSchema): [string, Schema][] {
  return Object.entries(fields).filter(([, schema]) => isKnown(schema));
}

/** Reports whether every generated value has the field. */
export function isAlwaysTried({ required, typical }: Schema): boolean {
  return required === true || typical === true;
}

function isKnown(schema: Schema): boolean {
  if (schema.untried === true) return false;
  if (schema.type === "list") return isKnown(schema.items);
  return schema.type === "map" ? isKnown(schema.values) : schema.type !== "any";
}

/** The schema of the values that a path selects; undefined if the kind has no such field, or nothing is known about it. */
export function schemaAt(schema: Schema | undefined, segments: readonly Segment[]): Schema | undefined {
  if (schema === undefined || !isKnown(schema)) return undefined;
  const [segment, ...deeper] = segments;
  return segment === undefined ? schema : schemaAt(childSchema(schema, segment), deeper);
}

function childSchema(schema: Schema, segment: Segment): Schema | undefined {
  if (schema.type === "list") return segment.kind === "key" ? undefined : schema.items;
  if (schema.type === "map") return schema.values;
  if (schema.type !== "object") return undefined;
  if (segment.kind === "wildcard") return either(...triedFields(schema).map(([, field]) => field));
  const name = segment.kind === "key" ? segment.key : String(segment.index);
  return Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
}

/** All values of a schema that allows only a few; undefined for other schemas. */
export function allValues(schema: Schema): readonly unknown[] | undefined {
  if (schema.type === "boolean") return [true, false];
  return schema.type === "literals" ? schema.values : undefined;
}

/** The rules for the strings of a schema. */
export function formatOf({ format = "text" }: Pick<StringSchema, "format"> = {}): FormatRules {
  return FORMATS[format];
}

/** Reports whether a schema allows a value, so that the value can be tried. */
export function accepts(schema: Schema, value: unknown): boolean {
  switch (schema.type) {
    case "any":
      return false;
    case "string":
      return typeof value === "string" && formatOf(schema).accepts(value);
    case "literals":
      return schema.values.includes(value as string);
    case "integer":
    case "number":
      return isWithin(schema, value);
    case "boolean":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value) && value.every((item) => accepts(schema.items, item));
    case "map":
      return (
        isRecord(value) && Object.entries(value).every(([key, item]) => formatOf(schema.keys).accepts(key) && accepts(schema.values, item))
      );
    case "either":
      return schema.options.some((one) => accepts(one, value));
    case "object":
      return isRecord(value) && acceptsFields(new Map(triedFields(schema)), value);
  }
}

function isWithin({ type, minimum = -Infinity, maximum = Infinity }: NumberSchema, value: unknown): boolean {
  return typeof value === "number" && (type === "number" || Number.isInteger(value)) && value >= minimum && value <= maximum;
}

function acceptsFields(fields: ReadonlyMap<string, Schema>, value: Readonly<Record<string, unknown>>): boolean {
  const missing = [...fields].some(([name, field]) => isAlwaysTried(field) && !Object.hasOwn(value, name));
  return !missing && Object.entries(value).every(([name, item]) => fields.has(name) && accepts(fields.get(name)!, item));
}
