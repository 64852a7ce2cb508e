/**
 * A schema as rows of a table: every field with its type, its default, its meaning and its limits.
 *
 * @module
 */
import { defaultOf, type ObjectSchema, type Schema } from "../../src/schema/schema.ts";
import { code, formatNumber, prose, table } from "./markdown.ts";

/** How a schema becomes a table. */
export interface SchemaTableOptions {
  /** Objects that have a table of their own, with a link to it. */
  readonly elsewhere?: ReadonlyMap<Schema, string>;
}

/** The table of all fields of `schema`, nested ones with the whole path. */
export function schemaTable(schema: ObjectSchema, options: SchemaTableOptions = {}): string {
  return table(["field", "type", "default", "meaning"], fieldRows(schema, "", options));
}

/** Paths of all fields, as the table writes them. */
export function fieldPaths(schema: ObjectSchema, prefix = ""): string[] {
  return Object.entries(schema.fields).flatMap(([name, field]) => {
    const path = prefix + name;
    const inner = innerObject(field);
    return inner === undefined ? [path] : [path, ...fieldPaths(inner.schema, `${path}${inner.join}`)];
  });
}

function fieldRows(schema: ObjectSchema, prefix: string, options: SchemaTableOptions): string[][] {
  const rows: string[][] = [];
  const entries = Object.entries(schema.fields);
  for (const [name, field] of entries) {
    // Neighbours that pass through untouched say the same; they share one row.
    const alike = entries.filter(([, other]) => field.type === "any" && other === field).map(([other]) => code(prefix + other));
    if (alike[0] !== undefined && alike[0] !== code(prefix + name)) continue;
    rows.push([alike.length > 1 ? alike.join(", ") : code(prefix + name), ...cells(field, options)]);
    const inner = innerObject(field);
    if (inner !== undefined && options.elsewhere?.get(inner.schema) === undefined)
      rows.push(...fieldRows(inner.schema, `${prefix}${name}${inner.join}`, options));
  }
  return rows;
}

/** The object whose fields have rows of their own below the field's. */
function innerObject(field: Schema): { schema: ObjectSchema; join: string } | undefined {
  if (field.type === "object") return { schema: field, join: "." };
  if (field.type === "list" && field.items.type === "object") return { schema: field.items, join: "[]." };
  return undefined;
}

function cells(field: Schema, { elsewhere }: SchemaTableOptions): string[] {
  const target = elsewhere?.get(field.type === "list" ? field.items : field);
  return [
    typeText(field),
    defaultText(field),
    [prose(field.description), ...limits(field), ...(target === undefined ? [] : [target])].join(" "),
  ];
}

function typeText(field: Schema): string {
  const text = plainType(field);
  return field.nullable === true ? `${text} or null` : text;
}

function plainType(field: Schema): string {
  switch (field.type) {
    case "literals":
      return field.values.map(code).join(" or ");
    case "list":
      return `list of ${plural(field.items)}`;
    case "map":
      return `map of ${plural(field.values)}`;
    case "either":
      return field.options.map(plainType).join(" or ");
    case "any":
      return field.quantity === true ? "amount" : "any value";
    default:
      return field.type;
  }
}

function plural(items: Schema): string {
  if (items.type === "literals") return `any of ${items.values.map(code).join(", ")}`;
  return `${plainType(items)}s`;
}

function defaultText(field: Schema): string {
  if (field.required === true) return "required";
  if (field.default === undefined) return "–";
  const value = defaultOf(field);
  if (field.type === "object" || field.type === "map") return value === null ? code("null") : "–";
  if (Array.isArray(value)) return value.length === 0 ? "empty" : value.map((item) => code(String(item))).join(", ");
  return typeof value === "number" ? formatNumber(value) : code(String(value));
}

/** Placeholder that the page leaves out: items of a list, or values of a map, that need no description of their own. */
const ITEM = "One of them.";

/** Description and limits of the items of a list. */
function ofItems(items: Schema): string[] {
  if (items.description !== ITEM) return [prose(items.description), ...limits(items)];
  return limits(items).map((limit) =>
    limit
      .replace(/^Must/, "Each must")
      .replace(/^At most/, "Each has at most")
      .replace(/^From/, "Each is from"),
  );
}

/** What a value must keep to, in sentences. */
function limits(field: Schema): string[] {
  switch (field.type) {
    case "integer":
    case "number":
      return field.minimum === undefined || field.maximum === undefined
        ? []
        : [`From ${formatNumber(field.minimum)} to ${formatNumber(field.maximum)}.`];
    case "string":
      return [
        ...(field.patternHint === undefined ? [] : [`Must be ${field.patternHint}.`]),
        ...(field.maxLength === undefined ? [] : [`At most ${formatNumber(field.maxLength)} characters.`]),
      ];
    case "list":
      return [
        ...(field.maxItems === undefined ? [] : [`At most ${formatNumber(field.maxItems)} entries.`]),
        ...(field.items.type === "object" ? [] : ofItems(field.items)),
      ];
    case "map":
      return ofItems(field.values);
    default:
      return [];
  }
}
