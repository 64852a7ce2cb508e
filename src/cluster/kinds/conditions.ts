/**
 * Conditions of a status: one entry for each type, so that each writer changes only its own entry.
 *
 * @module
 */
import { int64, listOf, mandatory, named, optional, text, time } from "../../schema/builders.ts";

const REASON = "Why the status changed: one word, for programs.";
const MESSAGE = "Why the status changed: a sentence, for human readers.";
const HEAD = {
  type: [1, mandatory(text), "Type of the condition, unique in the list."],
  status: [2, mandatory(text), "True, False or Unknown."],
} as const;

const CONDITION = named("Condition", "A condition of an object.", {
  ...HEAD,
  observedGeneration: [3, int64, "Generation of the object that the condition describes."],
  lastTransitionTime: [4, mandatory(time), "When the status last changed."],
  reason: [5, mandatory(text), REASON],
  message: [6, mandatory(text), MESSAGE],
});

/** Conditions of the kind that APIs share. Source: `Condition` of `meta/v1`. */
export const CONDITIONS = listOf(CONDITION, { as: "map", keys: ["type"] });

const NAMESPACE_CONDITION = named("NamespaceCondition", "A condition of a namespace.", {
  ...HEAD,
  lastTransitionTime: [4, optional(time), "When the status last changed."],
  reason: [5, text, REASON],
  message: [6, text, MESSAGE],
});

/** Conditions of Namespaces, which are older and have fewer fields. Source: `NamespaceCondition` of `core/v1`. */
export const NAMESPACE_CONDITIONS = listOf(NAMESPACE_CONDITION, { as: "map", keys: ["type"] });
