/**
 * Schemas in few words, for objects of clusters. Nothing of them is shown to people, so descriptions are empty.
 *
 * @module
 */
import type {
  AnySchema,
  BooleanSchema,
  LiteralsSchema,
  ListSchema,
  NumberSchema,
  ObjectSchema,
  Schema,
  StringSchema,
  TextFormat,
} from "./schema.ts";

const description = "";

/** Any value: nothing more is known of it, and laws try none. */
export const ANY: AnySchema = { type: "any", description };

/** True or false. */
export const BOOLEAN: BooleanSchema = { type: "boolean", description };

/** A text of one form. */
export function textAs(format: TextFormat = "text"): StringSchema {
  return { type: "string", description, format };
}

/** One of a few words. */
export function oneOf(...values: readonly string[]): LiteralsSchema {
  return { type: "literals", description, values };
}

/** A whole number; limits are inclusive. */
export function wholeNumber(minimum: number, maximum: number): NumberSchema {
  return { type: "integer", description, minimum, maximum };
}

/** A list of values of one shape. */
export function listOf(items: Schema): ListSchema {
  return { type: "list", description, items };
}

/** Texts of one form under keys of one form. */
export function textsBy(keys: TextFormat, values: TextFormat): Schema {
  return { type: "map", description, keys: textAs(keys), values: textAs(values) };
}

/** A value of any of these shapes. */
export function either(...options: readonly Schema[]): Schema {
  return { type: "either", description, options };
}

/**
 * Named fields. A name that ends in `!` is one that the API server never leaves out, `?` one that every value to try has although objects
 * can be without it.
 *
 * @example
 * objectOf({ "ip!": textAs("ip"), hostname: textAs("dnsLabel") });
 */
export function objectOf(fields: Readonly<Record<string, Schema>>): ObjectSchema {
  const marked = Object.entries(fields).map(([written, schema]): [string, Schema] => {
    const name = written.replace(/[!?]$/, "");
    return [name, { ...schema, ...(written.endsWith("!") && { required: true }), ...(written.endsWith("?") && { typical: true }) }];
  });
  return { type: "object", description, fields: Object.fromEntries(marked) };
}
