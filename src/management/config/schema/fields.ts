/**
 * Helpers that declare fields of the configuration in one line each.
 *
 * @module
 */
import { quantity } from "../../../schema/builders.ts";
import type { AnySchema, BooleanSchema, ListSchema, MapSchema, NumberSchema, StringSchema } from "../../../schema/schema.ts";

/** A string without a default. */
export const textField = (description: string) => ({ type: "string", description }) as const satisfies StringSchema;

/** A switch that is off by default. */
export const flag = (description: string) => ({ type: "boolean", default: false, description }) as const satisfies BooleanSchema;

/** A list of strings without a default. */
export const texts = (description: string) =>
  ({ type: "list", items: textField("One of them."), description }) as const satisfies ListSchema;

/** A whole number, 0 or greater, without a default. */
export const countField = (description: string, maximum = Number.MAX_SAFE_INTEGER) =>
  ({ type: "integer", minimum: 0, maximum, description }) as const satisfies NumberSchema;

/** The maximum of a field that counts time, in the field's unit. In seconds, it is over 3,000 years, which dates can represent. */
const TIME_MAX = 100_000_000_000;

/** A number from 0 to {@link TIME_MAX}, with a default. */
export const timeField = <Default extends number>(byDefault: Default, description: string) =>
  ({ type: "integer", default: byDefault, minimum: 0, maximum: TIME_MAX, description }) as const satisfies NumberSchema;

/** An amount of a resource; Kubernetes accepts a text or a number. `requirements.ts` checks it. */
const AMOUNT = {
  ...quantity,
  description: "Each value is an amount, such as `500m` or `2Gi`.",
  jsonSchema: { type: ["string", "number"] },
} as const satisfies AnySchema;

/** Amounts by the name of the resource. */
export const amounts = (description: string) => ({ type: "map", values: AMOUNT, description }) as const satisfies MapSchema;
