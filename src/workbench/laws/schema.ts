import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import type { Infer, ListSchema, ObjectSchema } from "../../schema/schema.ts";

const SHARED = {
  path: { type: "string", description: "Path of the patch that must satisfy the law. If omitted, every patch must." },
  list: {
    type: "literals",
    values: SYNCED_KINDS.map(({ section }) => section),
    description: "Name of the patch list to check. If omitted, all lists are checked.",
  },
  domain: {
    type: "literals",
    values: ["schema", "objects"],
    default: "schema",
    description:
      "Values to try. schema: values that the kind allows, mixed with values of the objects and with strings from the expressions. objects: only values that the objects of this file have.",
  },
  runs: { type: "integer", minimum: 1, maximum: 100_000, default: 300, description: "Number of values to try for each patch." },
  seed: {
    type: "integer",
    minimum: 0,
    maximum: 4_294_967_295,
    default: 1,
    description: "Seed for choosing values; the same seed produces the same values.",
  },
} as const;

const law = (description: string) => ({ type: "object", description, fields: SHARED }) as const satisfies ObjectSchema;

const SETTLES = {
  type: "object",
  description: "After some round trips to the host and back, no value changes any more.",
  fields: {
    ...SHARED,
    rounds: {
      type: "integer",
      minimum: 1,
      maximum: 100,
      default: 10,
      description:
        "Number of round trips to the host and back within which a value must stop changing. A string that only gets shorter may take more rounds.",
    },
  },
} as const satisfies ObjectSchema;

/** One entry of `laws`. Exactly one field must be given; `runLaws` reports any other entry. */
export const LAW = {
  type: "object",
  description: "A law that patches must satisfy, tried on many values. One field per entry.",
  fields: {
    roundTrip: law("reverseExpression undoes expression: a value that is written to the host comes back unchanged."),
    hostEdits: law("expression undoes reverseExpression: every edit on the host can be synced back to the tenant."),
    idempotent: law("If a patch runs again after its result was written to the host, it gives the same result: nothing is written twice."),
    total: law("No expression fails for any value that the kind allows."),
    deterministic: law("The same value and context give the same result at the same cost."),
    typeKept: law("A string stays a string, and a number stays a number; null, which removes the field, is allowed."),
    settles: SETTLES,
    convergent: { ...SETTLES, description: "The same as settles." },
  },
} as const satisfies ObjectSchema;

/** `laws:` of a patch test file. */
export const LAWS = {
  type: "list",
  description: "Laws that the patches must satisfy for generated values.",
  items: LAW,
  maxItems: 1_000,
} as const satisfies ListSchema;

/** An entry of {@link LAWS}, decoded. */
export type LawDefinition = Infer<typeof LAW>;
