/**
 * The one description of a shape, as plain data. From it come the decoder (`decode.ts`), the JSON schema (`json-schema.ts`), lints of
 * patches, values that laws try and, by {@link Infer}, the TypeScript type, so that they cannot disagree.
 *
 * Rules that hold everywhere: an optional value that is null counts as absent (as in Kubernetes), and an absent value takes
 * its default.
 *
 * @module
 */
import type { JsonObject } from "../base/json.ts";

interface Common {
  /** Human-readable meaning of the value, with its unit. Shown by editors and by `explain`; empty where no one is shown it. */
  readonly description: string;
  /** Absent is an error. Such a field has no default. Of an object in a cluster: the API server never leaves it out. */
  readonly required?: true;
  /** Every value to try has the field, although objects can be without it. */
  readonly typical?: true;
  /** Null is a value of its own, and the default where `default` is null. */
  readonly nullable?: true;
  /** Null is a wrong type, where authors who leave a value empty mean something. */
  readonly refuseNull?: true;
  /** Keywords that only the JSON schema carries, such as `examples`. */
  readonly jsonSchema?: JsonObject;
}

/** Form of a text in a Kubernetes object. */
export type TextFormat =
  "annotation" | "annotationKey" | "label" | "labelKey" | "ip" | "name" | "namespace" | "dnsLabel" | "portName" | "protocolName" | "text";

/** Text. `pattern` is a regular expression (flag u) that must run in linear time; `patternHint` says it in words. */
export interface StringSchema extends Common {
  readonly type: "string";
  readonly default?: string | null;
  /** Values to try have this form; the decoder looks at `pattern`. Default: any text. */
  readonly format?: TextFormat;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly patternHint?: string;
}

/** A number; `integer` without a fraction. Limits are inclusive. */
export interface NumberSchema extends Common {
  readonly type: "integer" | "number";
  readonly default?: number | null;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** true or false. */
export interface BooleanSchema extends Common {
  readonly type: "boolean";
  readonly default?: boolean | null;
}

/** One of a few words. */
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
}

/** Values of one shape under keys that the author chooses. Decoded without a prototype, so that any key can be looked up. */
export interface MapSchema extends Common {
  readonly type: "map";
  readonly values: Schema;
  /** Constraint on keys. Default: any text. */
  readonly keys?: StringSchema;
  /** `{}`: absent is an empty map. */
  readonly default?: Readonly<Record<string, never>> | null;
}

/** Named fields. Strict: an unknown one is an error. Open: it is kept as it is. */
export interface ObjectSchema extends Common {
  readonly type: "object";
  readonly fields: Readonly<Record<string, Schema>>;
  readonly open?: true;
  /** `{}`: absent is an object of the defaults of its fields. */
  readonly default?: Readonly<Record<string, never>> | null;
}

/** Any JSON data. */
export interface AnySchema extends Common {
  readonly type: "any";
  readonly default?: unknown;
}

/** A value of any of these shapes. */
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
