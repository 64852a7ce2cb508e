import { described, fields, numbered } from "../../apiserver/types/objects/shape.ts";
import type { Field, ObjectShape, Shape } from "../../apiserver/types/objects/shape.ts";

/** A field: its number in the binary form, what it holds, and what people are told of it. */
export type Row = readonly [number: number, shape: Shape | Field, description?: string];

/** A type, field by field. */
export interface TypeRows {
  /** Name of the type in published schemas. */
  readonly name: string;
  readonly description: string;
  /** In the order in which they are stored. */
  readonly rows: Readonly<Record<string, Row>>;
  /** Types whose fields stand among those of this one, with the numbers under which the binary form keeps them apart. */
  readonly inlined?: Readonly<Record<number, ObjectShape>>;
}

/**
 * A type from one row for each field, for types of many fields. Source of the numbers: `generated.proto` of the core API.
 *
 * @example
 * typeOf({ name: "KeyToPath", description: "A key.", rows: { key: [1, always(text), "The key."], mode: [3, optional(int32)] } });
 */
export function typeOf({ name, description, rows, inlined = {} }: TypeRows): ObjectShape {
  const entries = Object.entries(rows);
  const own = fields(Object.fromEntries(entries.map(([field, [, shape]]) => [field, shape])));
  const others = Object.values(inlined).map((shape) => shape.fields);
  const numbers = Object.fromEntries(entries.map(([field, [number]]) => [field, number]));
  const texts = Object.fromEntries(entries.flatMap(([field, [, , text]]) => (text === undefined ? [] : [[field, text]])));
  const all: ObjectShape = { ...own, fields: Object.assign({}, ...others, own.fields) as ObjectShape["fields"], inlined };
  return described(numbered(all, numbers), { name, description, fields: texts });
}
