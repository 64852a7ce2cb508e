/**
 * What a kind's objects look like: one description from which bodies are decoded, unknown fields are found and defaults of
 * absence follow. It keeps the distinctions that Go's encoding makes, because "unchanged" is decided on the encoded object.
 *
 * @module
 */

/** Whether a field shows when it holds nothing. */
export type Presence =
  /** Left out when null, "", 0, false, [] or {} (Go: `omitempty` on a value). */
  | "omitEmpty"
  /** Left out only when null (Go: a pointer). */
  | "optional"
  /** Always there, with its zero value if need be (Go: no `omitempty`, or a struct). */
  | "always";

/** A text, with the form that it must have. */
export interface TextShape {
  readonly type: "text";
  readonly format?: "bytes" | "time" | "microTime";
}
/** A number; `integer` with its range in bits, `number` any. */
export interface NumberShape {
  readonly type: "integer" | "number";
  readonly bits?: 32 | 64;
}
/** true or false. */
export interface BooleanShape {
  readonly type: "boolean";
}
/** An int32 or a text, such as a target port. */
export interface IntOrTextShape {
  readonly type: "intOrText";
}
/** Any JSON. */
export interface AnyShape {
  readonly type: "any";
}
/** Texts to values of one shape. */
export interface MapShape {
  readonly type: "map";
  readonly of: Shape;
}
/** Values of one shape in order. */
export interface ListShape {
  readonly type: "list";
  readonly of: Shape;
  /** How patches and appliers merge it; "atomic" when left out. */
  readonly merge?: { readonly as: "set" } | { readonly as: "map"; readonly keys: readonly string[] };
}
/** Named fields. */
export interface ObjectShape {
  readonly type: "object";
  readonly fields: Readonly<Record<string, Field>>;
}

/** One description of a value. */
export type Shape = TextShape | NumberShape | BooleanShape | IntOrTextShape | AnyShape | MapShape | ListShape | ObjectShape;

/** A field of an object. */
export interface Field {
  readonly shape: Shape;
  readonly presence: Presence;
}

/** Texts, numbers and truth values, as fields and elements use them. */
export const text: TextShape = { type: "text" };
export const bytes: TextShape = { type: "text", format: "bytes" };
export const time: TextShape = { type: "text", format: "time" };
export const microTime: TextShape = { type: "text", format: "microTime" };
export const int32: NumberShape = { type: "integer", bits: 32 };
export const int64: NumberShape = { type: "integer", bits: 64 };
export const bool: BooleanShape = { type: "boolean" };
export const intOrText: IntOrTextShape = { type: "intOrText" };
export const any: AnyShape = { type: "any" };
/** Labels, annotations and the like. */
export const textMap: MapShape = { type: "map", of: text };

/** A list that is replaced as a whole, unless `merge` says how it is merged. */
export function list(of: Shape, merge?: ListShape["merge"]): ListShape {
  return merge === undefined ? { type: "list", of } : { type: "list", of, merge };
}

/** A field that shows whenever it was given, even as zero. */
export function optional(shape: Shape): Field {
  return { shape, presence: "optional" };
}

/** A field that always shows. */
export function always(shape: Shape): Field {
  return { shape, presence: "always" };
}

/**
 * An object with these fields, in this order. A bare shape is left out when empty; objects are left out only when null.
 *
 * @example
 * fields({ ip: always(text), hostname: text });
 */
export function fields(entries: Readonly<Record<string, Shape | Field>>): ObjectShape {
  const toField = (entry: Shape | Field): Field =>
    "presence" in entry ? entry : { shape: entry, presence: entry.type === "object" || entry.type === "any" ? "optional" : "omitEmpty" };
  return { type: "object", fields: Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, toField(entry)])) };
}

/** `metadata.ownerReferences[]`. */
export const OWNER_REFERENCE = fields({
  apiVersion: always(text),
  kind: always(text),
  name: always(text),
  uid: always(text),
  controller: optional(bool),
  blockOwnerDeletion: optional(bool),
});

/** `metadata` of every object. */
export const OBJECT_META = fields({
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: optional(time),
  deletionTimestamp: optional(time),
  deletionGracePeriodSeconds: optional(int64),
  labels: textMap,
  annotations: textMap,
  ownerReferences: list(OWNER_REFERENCE, { as: "map", keys: ["uid"] }),
  finalizers: list(text, { as: "set" }),
  managedFields: list(any),
});

/**
 * A kind's shape: type and metadata, then its own fields.
 *
 * @example
 * kindShape({ data: textMap, immutable: optional(bool) });
 */
export function kindShape(own: Readonly<Record<string, Shape | Field>>): ObjectShape {
  return fields({ apiVersion: text, kind: text, metadata: always(OBJECT_META), ...own });
}
