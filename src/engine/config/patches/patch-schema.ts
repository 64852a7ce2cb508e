import type { ListSchema, ObjectSchema } from "../../../schema/schema.ts";

const relative = (what: string, otherwise: string) =>
  ({ type: "string", refuseNull: true, description: `Path of ${what}, relative to the matched value. ${otherwise}` }) as const;

/** `labels` has no fields: only its presence matters. */
const LABELS = {
  type: "object",
  description:
    "Set to {} if the matched value is a label selector. The selector's keys are then translated like the labels of host objects.",
  refuseNull: true,
  fields: {},
} as const satisfies ObjectSchema;

const REFERENCE = {
  type: "object",
  description:
    "Treats the matched value as a reference to another object: the name is replaced by the name that the object has on the other side.",
  refuseNull: true,
  fields: {
    apiVersion: {
      type: "string",
      required: true,
      minLength: 1,
      description: "apiVersion of the referenced object.",
      jsonSchema: { examples: ["v1"] },
    },
    apiVersionPath: relative("the apiVersion", "If omitted or not found, the value of apiVersion is used."),
    kind: {
      type: "string",
      required: true,
      minLength: 1,
      description: "Kind of the referenced object.",
      jsonSchema: { examples: ["Secret"] },
    },
    kindPath: relative("the kind", "If omitted or not found, the value of kind is used."),
    namePath: relative("the name", "If omitted, the matched value itself is the name."),
    namespacePath: relative("the namespace", "If omitted or not found, the namespace of the patched object is used."),
    labels: LABELS,
  },
} as const satisfies ObjectSchema;

/** One entry of a `patches` list. Source: the patch item of the endpoint sync settings. */
export const PATCH = {
  type: "object",
  description:
    "Rewrites the field at `path` while an object is synced, either with expressions or by translating it as a reference to another object.",
  fields: {
    path: {
      type: "string",
      required: true,
      refuseNull: true,
      description:
        'Field to change. Join names with dots; write a key with other characters, such as dots or slashes, as ["…"]. [*] selects every element of a list, or every value of a map. If the field does not exist, the patch is not applied.',
      jsonSchema: { examples: ['metadata.annotations["example.com/x"]', "subsets[*].addresses[*].ip"] },
    },
    expression: {
      type: "string",
      refuseNull: true,
      description:
        "JavaScript expression for tenant → host; `value` is the value of the field. If omitted, nothing is patched in that direction.",
    },
    reverseExpression: {
      type: "string",
      refuseNull: true,
      description:
        "JavaScript expression for host → tenant; it should undo `expression`. If omitted, nothing is patched in that direction.",
    },
    reference: REFERENCE,
    labels: { ...LABELS, description: "Same meaning as reference.labels, which is preferred." },
  },
  jsonSchema: {
    anyOf: [{ required: ["expression"] }, { required: ["reverseExpression"] }, { required: ["reference"] }],
    dependentRequired: { labels: ["reference"] },
  },
} as const satisfies ObjectSchema;

/** A `patches` list. */
export const PATCHES = {
  type: "list",
  description:
    "Patches for the objects of this kind. They are applied in the listed order from tenant to host, and in reverse order from host to tenant.",
  items: PATCH,
  maxItems: 1_000,
} as const satisfies ListSchema;
