/**
 * Shape of a kind's objects: one description from which bodies are decoded, unknown fields are found and defaults of
 * absence follow. It keeps the distinctions that Go's encoding makes, because "unchanged" is decided on the encoded object.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";

/** Whether a field shows when it holds nothing. */
export type Presence =
  /** Left out when null, "", 0, false, [] or {} (Go: `omitempty` on a value). */
  | "omitEmpty"
  /** Left out only when null (Go: a pointer). */
  | "optional"
  /** Always there, with its zero value if need be (Go: no `omitempty`, or a struct). */
  | "always";

/** A text, with the form that it must have. A `quantity` may be written as a number, and has one spelling. */
export interface TextShape {
  readonly type: "text";
  readonly format?: "bytes" | "time" | "microTime" | "quantity";
  /** Bytes without line breaks, which Kubernetes' own kinds let pass. */
  readonly strict?: boolean;
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
  /** How patches and appliers merge it; "atomic" when omitted. */
  readonly merge?: { readonly as: "set" } | KeyedMerge;
}
/** Items that are identified by some of their fields. */
export interface KeyedMerge {
  readonly as: "map";
  readonly keys: readonly string[];
  /** Values of keys that an item leaves out. Default: none, and an item without a key has no identity. */
  readonly defaults?: Readonly<Record<string, string>>;
}
/** An object whose fields the server does not know: it is stored as it comes, without what is null, and only its lists are told apart. */
export interface OpaqueShape {
  readonly type: "opaque";
  readonly lists: MergeTable;
  /** Name of the field that holds the value; of the items of a list, the name of the list. Empty at the top. */
  readonly within: string;
  /** What is read of it in the binary form. A body that says more than that is refused. Default: nothing is. */
  readonly binary?: ObjectShape;
}
/**
 * How lists within opaque objects are merged, by name: `env`; or, where one name stands for several lists, by the name of what holds
 * the list and its own: `containers.ports`. The longer name counts first. Lists that are not in it are replaced as a whole.
 */
export type MergeTable = Readonly<Record<string, NonNullable<ListShape["merge"]> | Whole>>;
/** A value that patches and appliers replace as a whole, although it is not a list. */
export interface Whole {
  readonly as: "whole";
}
/** Named fields. */
export interface ObjectShape {
  readonly type: "object";
  readonly fields: Readonly<Record<string, Field>>;
  /** Name of the type in published schemas; objects without one are part of the schema that holds them. */
  readonly name?: string;
  /** Description of the type, in a sentence or two. */
  readonly description?: string;
  /** Numbers of its fields in Kubernetes' binary form; without them, objects of this type are not read from it. */
  readonly numbers?: Readonly<Record<string, number>>;
}

/** One description of a value. */
export type Shape = TextShape | NumberShape | BooleanShape | IntOrTextShape | AnyShape | MapShape | ListShape | ObjectShape | OpaqueShape;

/** A field of an object. */
export interface Field {
  readonly shape: Shape;
  readonly presence: Presence;
  /** Published schemas say that the field has to be there; whether it is, kinds check themselves. Default false. */
  readonly mandatory?: boolean;
  /** The server alone reads and writes the field: bodies do not have it, no schema names it and it has no owner. Default false. */
  readonly internal?: boolean;
  /** Description of the field, in a sentence or two. */
  readonly description?: string;
}

/** Texts, numbers and truth values, as fields and elements use them. */
export const text: TextShape = { type: "text" };
export const bytes: TextShape = { type: "text", format: "bytes" };
export const strictBytes: TextShape = { type: "text", format: "bytes", strict: true };
export const time: TextShape = { type: "text", format: "time" };
export const microTime: TextShape = { type: "text", format: "microTime" };
export const quantity: TextShape = { type: "text", format: "quantity" };
export const int32: NumberShape = { type: "integer", bits: 32 };
export const int64: NumberShape = { type: "integer", bits: 64 };
export const bool: BooleanShape = { type: "boolean" };
export const intOrText: IntOrTextShape = { type: "intOrText" };
export const any: AnyShape = { type: "any" };
/** Labels, annotations and the like. */
export const textMap: MapShape = { type: "map", of: text };

/**
 * An object that is stored as it comes.
 *
 * @example
 * kindShape({ spec: always(opaque({ containers: { as: "map", keys: ["name"] } })) });
 */
export function opaque(lists: MergeTable, binary?: ObjectShape): OpaqueShape {
  return { type: "opaque", lists, within: "", ...(binary && { binary }) };
}

/** A list that is replaced as a whole, unless `merge` says how it is merged. */
export function list(of: Shape, merge?: ListShape["merge"]): ListShape {
  return merge === undefined ? { type: "list", of } : { type: "list", of, merge };
}

/** A field that is shown whenever it is set, even to zero. */
export function optional(shape: Shape): Field {
  return { shape, presence: "optional" };
}

/** A field internal to the server. It is never shown. */
export function internal(shape: Shape): Field {
  return { ...optional(shape), internal: true };
}

/** A field that is always shown. */
export function always(shape: Shape): Field {
  return { shape, presence: "always" };
}

/** A field that is always shown, and that authors must set. Source: fields of the API types that are not marked optional. */
export function mandatory(shape: Shape): Field {
  return { shape, presence: "always", mandatory: true };
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

/**
 * A shape with the numbers that its fields have in Kubernetes' binary form. Source: the `generated.proto` files of its API.
 *
 * @example
 * numbered(fields({ name: text, port: int32 }), { name: 1, port: 2 });
 */
export function numbered(shape: ObjectShape, numbers: Readonly<Record<string, number>>): ObjectShape {
  assert(
    Object.keys(numbers).every((field) => Object.hasOwn(shape.fields, field)),
    "the numbers are of fields that the shape has",
  );
  return { ...shape, numbers };
}

/** Descriptions of a type, for people. */
export interface Descriptions {
  /** Name of the type in published schemas. */
  readonly name: string;
  readonly description: string;
  /** By field; a field without an entry has no description. */
  readonly fields?: Readonly<Record<string, string>>;
}

/**
 * A shape with its name and with texts for its fields, for published schemas and `kubectl explain`.
 *
 * @example
 * described(fields({ ip: always(text) }), { name: "EndpointAddress", description: "One address.", fields: { ip: "The IP address." } });
 */
export function described(shape: ObjectShape, { name, description, fields: texts = {} }: Descriptions): ObjectShape {
  const own = Object.entries(shape.fields).map(([field, value]) => [field, withDescription(value, texts[field])] as const);
  assert(
    Object.keys(texts).every((field) => Object.hasOwn(shape.fields, field)),
    `the descriptions of ${name} are of fields that it has`,
  );
  return { ...shape, name, description, fields: Object.fromEntries(own) };
}

function withDescription(field: Field, description: string | undefined): Field {
  return description === undefined ? field : { ...field, description };
}

/** `metadata.ownerReferences[]`. */
export const OWNER_REFERENCE = described(
  numbered(
    fields({
      apiVersion: mandatory(text),
      kind: mandatory(text),
      name: mandatory(text),
      uid: mandatory(text),
      controller: optional(bool),
      blockOwnerDeletion: optional(bool),
    }),
    { kind: 1, name: 3, uid: 4, apiVersion: 5, controller: 6, blockOwnerDeletion: 7 },
  ),
  {
    name: "OwnerReference",
    description: "The owner of an object. Both are in the same namespace, or the owner is cluster-scoped.",
    fields: {
      apiVersion: "API version of the owner.",
      kind: "Kind of the owner.",
      name: "Name of the owner.",
      uid: "UID of the owner; another object of the same name is not the owner.",
      controller: "True for the one owner that manages the object.",
      blockOwnerDeletion: "If true, the foreground deletion of the owner waits for this object.",
    },
  },
);

const OBJECT_META_FIELDS = fields({
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

const OBJECT_META_NUMBERS = {
  name: 1,
  generateName: 2,
  namespace: 3,
  selfLink: 4,
  uid: 5,
  resourceVersion: 6,
  generation: 7,
  creationTimestamp: 8,
  deletionTimestamp: 9,
  deletionGracePeriodSeconds: 10,
  labels: 11,
  annotations: 12,
  ownerReferences: 13,
  finalizers: 14,
};

/** `metadata` of every object. */
export const OBJECT_META = described(numbered(OBJECT_META_FIELDS, OBJECT_META_NUMBERS), {
  name: "ObjectMeta",
  description: "Metadata that every object has: names, labels, and what the server records about it.",
  fields: {
    name: "Name of the object, unique among its kind in its namespace. It cannot be changed.",
    generateName: "Prefix of a name that the server completes if no name is given.",
    namespace: "Namespace of the object; empty for kinds that have none. It cannot be changed.",
    uid: "Unique identity of the object, set by the server.",
    resourceVersion: "Version of the object, set by the server. A write that includes it fails if the object has changed since.",
    generation: "Counts the changes of the desired state, for kinds that count them.",
    creationTimestamp: "When the server first stored the object.",
    deletionTimestamp: "When the deletion was requested; the object stays until its finalizers are gone.",
    deletionGracePeriodSeconds: "Seconds that the object may take to terminate after its deletion was requested.",
    labels: "Key-value pairs by which objects are selected and grouped.",
    annotations: "Key-value pairs for tools and people; selectors do not use them.",
    ownerReferences: "The owners of the object.",
    finalizers: "Controllers that must finish before the object is removed; each removes its own entry.",
    managedFields: "Which manager set which fields, recorded by the server.",
  },
});

/**
 * A kind's shape: type and metadata, then its own fields.
 *
 * @example
 * kindShape({ data: textMap, immutable: optional(bool) });
 */
export function kindShape(
  own: Readonly<Record<string, Shape | Field>>,
  { description = "", fields: texts = {} }: KindDescriptions = {},
): ObjectShape {
  const bare = fields({ apiVersion: text, kind: text, metadata: always(OBJECT_META), ...own });
  const { name: _given, ...shape } = described(bare, { name: "kind", description, fields: { ...HEAD, ...texts } });
  return shape;
}

/** Descriptions of a kind, for people; its name is the kind's own. */
export type KindDescriptions = Partial<Omit<Descriptions, "name">>;

const HEAD = {
  apiVersion: "Version of the schema in which the object is written.",
  kind: "Kind of the object, as the API names it.",
  metadata: "Name, labels and other standard metadata.",
};
