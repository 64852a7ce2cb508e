/**
 * The single description of shapes, as plain data, for files that users write and for objects that API servers store.
 *
 * Schemas of files are used by the decoder (`decode.ts`), the JSON schema (`json-schema.ts`) and, through {@link Infer}, the TypeScript
 * type. An optional value that is null counts as absent, and an absent value takes its default. Schemas of objects are used by the API
 * server's decoder, which keeps the distinctions that Go's encoding makes, by OpenAPI, `kubectl explain`, appliers and the binary form.
 * These use `presence`, `number`, `merge` and the other fields that are marked "API server", and ignore defaults, limits and patterns: each
 * kind validates its values itself. Lints of patches, and the values that laws try, use schemas of objects too.
 *
 * @module
 */
import type { JsonObject } from "../base/json.ts";

/** Determines whether an API server shows an empty field. */
export type Presence =
  /** Left out when null, "", 0, false, [] or {} (Go: `omitempty` on a value). */
  | "omitEmpty"
  /** Left out only when null (Go: a pointer). */
  | "optional"
  /** Always present, with its zero value if necessary (Go: no `omitempty`, or a struct). */
  | "always";

interface Common {
  /** Human-readable meaning of the value, with its unit. Shown by editors and by `explain`; empty if it is not shown anywhere. */
  readonly description: string;
  /**
   * The field must be present; it has no default. In an object of a cluster, the API server never leaves it out, and OpenAPI requires it if
   * it is always shown.
   */
  readonly required?: true;
  /** Every sample value has the field, although objects can lack it. */
  readonly typical?: true;
  /** No sample values are tried for it, or for anything in it. */
  readonly untried?: true;
  /** Null is a value of its own, and the default if `default` is null. */
  readonly nullable?: true;
  /** Null is a wrong type, because authors who leave this value empty intend a value. */
  readonly refuseNull?: true;
  /** Keywords that only the JSON schema carries, such as `examples`. */
  readonly jsonSchema?: JsonObject;
  /** For a field of an API server's objects. Default "optional". */
  readonly presence?: Presence;
  /** Number of the field in Kubernetes' binary form; without one, an API server does not read it from there. */
  readonly number?: number;
  /** The API server alone reads and writes the field: bodies do not have it, no published schema names it and it has no owner. */
  readonly internal?: true;
}

/** Form of a text in a Kubernetes object. */
export type TextFormat =
  "annotation" | "annotationKey" | "label" | "labelKey" | "ip" | "name" | "namespace" | "dnsLabel" | "portName" | "protocolName" | "text";

/** Text. `pattern` is a regular expression (flag u) that must run in linear time; `patternHint` describes it in words. */
export interface StringSchema extends Common {
  readonly type: "string";
  readonly default?: string | null;
  /** Format of sample values; the decoder checks `pattern` instead. Default: any text. */
  readonly format?: TextFormat;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly patternHint?: string;
  /** The value that the text encodes for an API server, which validates it and converts it to one spelling. Default: none. */
  readonly encodes?: "bytes" | "time" | "microTime";
  /** For bytes: line breaks are refused. Kubernetes' own kinds accept them. */
  readonly strict?: true;
}

/** A number; `integer` without a fraction. Limits are inclusive. */
export interface NumberSchema extends Common {
  readonly type: "integer" | "number";
  /** Range of an integer in an API server, in bits. Default 64. */
  readonly bits?: 32 | 64;
  /** An API server sets it, regardless of the number that is sent, and therefore accepts even a number that JavaScript rounds. */
  readonly assigned?: true;
  readonly default?: number | null;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** true or false. */
export interface BooleanSchema extends Common {
  readonly type: "boolean";
  readonly default?: boolean | null;
}

/** One of a few words. An API server's decoder accepts any text. */
export interface LiteralsSchema extends Common {
  readonly type: "literals";
  readonly values: readonly string[];
  readonly default?: string | null;
}

/** Values of one shape, in order. */
export interface ListSchema extends Common {
  readonly type: "list";
  readonly items: Schema;
  readonly default?: readonly unknown[] | null;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** How patches and appliers merge it. Default: it is replaced as a whole. */
  readonly merge?: { readonly as: "set" } | KeyedMerge;
}

/** Items that are identified by some of their fields. */
export interface KeyedMerge {
  readonly as: "map";
  readonly keys: readonly string[];
  /** Values of keys that an item leaves out. Default: none, and an item without a key has no identity. */
  readonly defaults?: Readonly<Record<string, string>>;
}

/** Values of one shape under keys that the author chooses. Decoded without a prototype, so that any key can be looked up. */
export interface MapSchema extends Common {
  readonly type: "map";
  readonly values: Schema;
  /** Constraint on keys. Default: any text. */
  readonly keys?: StringSchema;
  /** With `{}`, an absent map is empty. */
  readonly default?: Readonly<Record<string, never>> | null;
}

/** Named fields. An unknown field is an error; if the object is `open`, it is kept as it is. */
export interface ObjectSchema extends Common {
  readonly type: "object";
  readonly fields: Readonly<Record<string, Schema>>;
  readonly open?: true;
  /** Name of the type in published schemas; objects without one are part of the schema that contains them. */
  readonly name?: string;
  /** Description of the named type, if `description` describes its use in one field. Default: `description`. */
  readonly about?: string;
  /** With `{}`, an absent object has the defaults of its fields. */
  readonly default?: Readonly<Record<string, never>> | null;
}

/** Any JSON data. */
export interface AnySchema extends Common {
  readonly type: "any";
  readonly default?: unknown;
  /** An object that an API server stores as received, without null values. */
  readonly opaque?: Opaque;
  /** An amount such as "500m": a text or a number, which an API server converts to one spelling. */
  readonly quantity?: true;
  /** The shape of the value in published schemas; an API server reads the value by other rules. Default: none. */
  readonly published?: ObjectSchema;
}

/** Facts about an object whose fields the API server does not know, such as how its lists are merged. */
export interface Opaque {
  readonly lists: MergeTable;
  /** Name of the field that contains the value; for items of a list, the name of the list. Empty at the top. */
  readonly within: string;
  /** The fields that are read in the binary form. A body with other fields is refused. Default: none. */
  readonly binary?: ObjectSchema;
}

/**
 * How lists within opaque objects are merged, by name: `env`; or, if several lists have the same name, by the name of the field that
 * contains the list and its own: `containers.ports`. The longer name takes precedence. Lists that are not in it are replaced as a whole.
 */
export type MergeTable = Readonly<Record<string, NonNullable<ListSchema["merge"]> | Whole>>;

/** A value that patches and appliers replace as a whole, although it is not a list. */
export interface Whole {
  readonly as: "whole";
}

/** A value of any of these shapes. An API server supports only one such pair: a number of 32 bits or a text, such as a target port. */
export interface EitherSchema extends Common {
  readonly type: "either";
  readonly options: readonly Schema[];
  readonly default?: unknown;
}

/** A shape. */
export type Schema =
  StringSchema | NumberSchema | BooleanSchema | LiteralsSchema | ListSchema | MapSchema | ObjectSchema | EitherSchema | AnySchema;

/**
 * The type that a schema decodes to; `unknown` for an untyped schema. Write the schema with
 * `as const satisfies ObjectSchema` to keep its literals.
 *
 * @example
 * const point = { type: "object", description: "A point.", fields: { x: { type: "integer", description: "…", default: 0 } } } as const;
 * type Point = Infer<typeof point>; // { readonly x: number }
 */
export type Infer<S> = Schema extends S ? unknown : S extends { nullable: true } ? Value<S> | null : Value<S>;

type Value<S> = S extends { type: "string" }
  ? string
  : S extends { type: "integer" | "number" }
    ? number
    : S extends { type: "boolean" }
      ? boolean
      : S extends { type: "literals"; values: readonly (infer V)[] }
        ? V
        : S extends { type: "list"; items: infer I }
          ? readonly Infer<I>[]
          : S extends { type: "map"; values: infer V }
            ? Readonly<Record<string, Infer<V>>>
            : S extends { type: "object"; fields: infer F }
              ? Fields<F>
              : unknown;

type Fields<F> = { readonly [K in keyof F as IsPresent<F[K]> extends true ? K : never]: Infer<F[K]> } & {
  readonly [K in keyof F as IsPresent<F[K]> extends true ? never : K]?: Infer<F[K]>;
};

type IsPresent<S> = S extends { required: true } | { default: unknown } ? true : false;

/**
 * The result of decoding an absent value; `undefined` if it stays absent.
 *
 * @example
 * defaultOf({ type: "object", description: "…", default: {}, fields: { on: { type: "boolean", description: "…", default: true } } });
 * // { on: true }
 */
export function defaultOf(schema: Schema): unknown {
  if (schema.default === undefined || schema.default === null) return schema.default;
  if (schema.type === "map") return Object.create(null);
  if (schema.type !== "object") return schema.default;
  const members = Object.entries(schema.fields).map(([name, field]) => [name, defaultOf(field)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
