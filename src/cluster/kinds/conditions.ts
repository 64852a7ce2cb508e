/**
 * What a status says in conditions: one entry for each type, so that every writer keeps to its own.
 *
 * @module
 */
import { described, fields, int64, list, mandatory, numbered, optional, text, time } from "../../apiserver/types/objects/shape.ts";

const TEXTS = {
  type: "Type of the condition, unique in the list.",
  status: "True, False or Unknown.",
  lastTransitionTime: "When the status last changed.",
  reason: "Why the status changed: one word, for programs.",
  message: "Why the status changed: a sentence, for people.",
};

const CONDITION = described(
  numbered(
    fields({
      type: mandatory(text),
      status: mandatory(text),
      observedGeneration: int64,
      lastTransitionTime: mandatory(time),
      reason: mandatory(text),
      message: mandatory(text),
    }),
    { type: 1, status: 2, observedGeneration: 3, lastTransitionTime: 4, reason: 5, message: 6 },
  ),
  {
    name: "Condition",
    description: "A condition of an object.",
    fields: { ...TEXTS, observedGeneration: "Generation of the object that the condition describes." },
  },
);

/** Conditions of the kind that APIs share. Source: `Condition` of `meta/v1`. */
export const CONDITIONS = list(CONDITION, { as: "map", keys: ["type"] });

const NAMESPACE_CONDITION = described(
  numbered(fields({ type: mandatory(text), status: mandatory(text), lastTransitionTime: optional(time), reason: text, message: text }), {
    type: 1,
    status: 2,
    lastTransitionTime: 4,
    reason: 5,
    message: 6,
  }),
  { name: "NamespaceCondition", description: "A condition of a namespace.", fields: TEXTS },
);

/** Conditions of Namespaces, which are older and have less. Source: `NamespaceCondition` of `core/v1`. */
export const NAMESPACE_CONDITIONS = list(NAMESPACE_CONDITION, { as: "map", keys: ["type"] });
