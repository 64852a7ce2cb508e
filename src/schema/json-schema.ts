import type { JsonObject } from "../base/json.ts";
import { defaultOf, type ObjectSchema, type Schema } from "./schema.ts";

/** The dialect of the schemas that {@link toJsonSchema} returns. */
const JSON_SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema";

/**
 * The JSON schema (draft 2020-12) of a document, with descriptions and defaults, for editors.
 *
 * It is as strict as the decoder, except that it rejects null, which the decoder reads as absent: an editor should report null.
 *
 * @example
 * toJsonSchema(settingsSchema, { title: "Settings" }).properties.onError.default; // "keep-last"
 */
export function toJsonSchema(schema: ObjectSchema, options: { title: string }): JsonObject {
  return { $schema: JSON_SCHEMA_DIALECT, title: options.title, ...shape(schema) };
}

function shape(schema: Schema): JsonObject {
  const byDefault = defaultOf(schema);
  return {
    description: schema.description,
    ...withNull(schema, keywords(schema)),
    ...(byDefault !== undefined && { default: byDefault }),
    ...schema.jsonSchema,
  };
}

function keywords(schema: Schema): JsonObject {
  switch (schema.type) {
    case "any":
      return {};
    case "either":
      return { anyOf: schema.options.map(shape) };
    case "literals":
      return { type: "string", enum: schema.values };
    case "list":
      return { type: "array", items: shape(schema.items), ...picked(schema, "minItems", "maxItems") };
    case "map":
      return { type: "object", ...(schema.keys && { propertyNames: keywords(schema.keys) }), additionalProperties: shape(schema.values) };
    case "object":
      return objectKeywords(schema);
    case "string":
    case "boolean":
    case "integer":
    case "number":
      return { type: schema.type, ...picked(schema, "minLength", "maxLength", "pattern", "minimum", "maximum") };
  }
}

function objectKeywords(schema: ObjectSchema): JsonObject {
  const fields = Object.entries(schema.fields);
  const required = fields.filter(([, field]) => field.required === true).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, field]) => [name, shape(field)])),
    ...(required.length > 0 && { required }),
    additionalProperties: schema.open === true,
  };
}

function withNull(schema: Schema, keys: JsonObject): JsonObject {
  if (schema.nullable !== true || schema.type === "any" || schema.type === "either") return keys;
  return schema.type === "literals"
    ? { ...keys, type: ["string", "null"], enum: [...schema.values, null] }
    : { ...keys, type: [keys["type"], "null"] };
}

function picked(schema: object, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => names.includes(name)));
}
