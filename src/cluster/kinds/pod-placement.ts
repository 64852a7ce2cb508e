/**
 * Where a Pod may run: affinities, tolerations and spreading. Nothing places Pods here; the fields are kept as they are
 * everywhere else.
 *
 * @module
 */
import { int32, int64, list, mandatory, optional, text, textMap } from "../../apiserver/types/objects/shape.ts";
import { typeOf } from "./type-of.ts";

const LABEL_REQUIREMENT = typeOf({
  name: "LabelSelectorRequirement",
  description: "A condition on one label.",
  rows: {
    key: [1, mandatory(text), "Key of the label."],
    operator: [2, mandatory(text), "In, NotIn, Exists or DoesNotExist."],
    values: [3, list(text), "The values of In and NotIn."],
  },
});

/** Conditions on labels. */
export const LABEL_SELECTOR = typeOf({
  name: "LabelSelector",
  description: "Conditions on labels, all of which have to hold. An empty one matches everything.",
  rows: {
    matchLabels: [1, textMap, "Labels with their values."],
    matchExpressions: [2, list(LABEL_REQUIREMENT), "Conditions of other kinds."],
  },
});

const NODE_REQUIREMENT = typeOf({
  name: "NodeSelectorRequirement",
  description: "A condition on one label or field of a node.",
  rows: {
    key: [1, mandatory(text), "Key of the label."],
    operator: [2, mandatory(text), "In, NotIn, Exists, DoesNotExist, Gt or Lt."],
    values: [3, list(text), "The values; one number for Gt and Lt."],
  },
});
const NODE_TERM = typeOf({
  name: "NodeSelectorTerm",
  description: "Conditions on a node, all of which have to hold. An empty one matches nothing.",
  rows: {
    matchExpressions: [1, list(NODE_REQUIREMENT), "Conditions on its labels."],
    matchFields: [2, list(NODE_REQUIREMENT), "Conditions on its fields."],
  },
});
const NODE_SELECTOR = typeOf({
  name: "NodeSelector",
  description: "Terms of which one has to hold.",
  rows: { nodeSelectorTerms: [1, mandatory(list(NODE_TERM)), "The terms."] },
});
const PREFERRED_NODE = typeOf({
  name: "PreferredSchedulingTerm",
  description: "A wish for nodes.",
  rows: {
    weight: [1, mandatory(int32), "How much it counts, 1 to 100."],
    preference: [2, mandatory(NODE_TERM), "The nodes that are wished for."],
  },
});
const NODE_AFFINITY = typeOf({
  name: "NodeAffinity",
  description: "Which nodes a Pod goes to.",
  rows: {
    requiredDuringSchedulingIgnoredDuringExecution: [1, NODE_SELECTOR, "Nodes other than these are out of the question."],
    preferredDuringSchedulingIgnoredDuringExecution: [2, list(PREFERRED_NODE), "Nodes that are better than others."],
  },
});

const POD_TERM = typeOf({
  name: "PodAffinityTerm",
  description: "Pods, and how near they are meant to be.",
  rows: {
    labelSelector: [1, LABEL_SELECTOR, "Labels of the Pods; none when left out."],
    namespaces: [2, list(text), "Namespaces of the Pods."],
    topologyKey: [3, mandatory(text), "Label of nodes whose value is the same for nodes that are near."],
    namespaceSelector: [4, LABEL_SELECTOR, "Labels of the Pods' namespaces."],
    matchLabelKeys: [5, list(text), "Labels that the Pods have in common with this one."],
    mismatchLabelKeys: [6, list(text), "Labels in which the Pods differ from this one."],
  },
});
const PREFERRED_POD = typeOf({
  name: "WeightedPodAffinityTerm",
  description: "A wish for Pods.",
  rows: {
    weight: [1, mandatory(int32), "How much it counts, 1 to 100."],
    podAffinityTerm: [2, mandatory(POD_TERM), "The Pods that are meant."],
  },
});
const required = "Places that do not fulfil these are out of the question.";
const preferred = "Places that fulfil these are better than others.";
const POD_AFFINITY = typeOf({
  name: "PodAffinity",
  description: "Which Pods a Pod wants to be near.",
  rows: {
    requiredDuringSchedulingIgnoredDuringExecution: [1, list(POD_TERM), required],
    preferredDuringSchedulingIgnoredDuringExecution: [2, list(PREFERRED_POD), preferred],
  },
});
const POD_ANTI_AFFINITY = typeOf({
  name: "PodAntiAffinity",
  description: "Which Pods a Pod wants to be far from.",
  rows: {
    requiredDuringSchedulingIgnoredDuringExecution: [1, list(POD_TERM), required],
    preferredDuringSchedulingIgnoredDuringExecution: [2, list(PREFERRED_POD), preferred],
  },
});

/** `spec.affinity` of Pods. */
export const AFFINITY = typeOf({
  name: "Affinity",
  description: "What a Pod wants to be near, and far from.",
  rows: {
    nodeAffinity: [1, NODE_AFFINITY, "Which nodes."],
    podAffinity: [2, POD_AFFINITY, "Which Pods to be near."],
    podAntiAffinity: [3, POD_ANTI_AFFINITY, "Which Pods to be far from."],
  },
});

/** `spec.tolerations[]` of Pods. */
export const TOLERATION = typeOf({
  name: "Toleration",
  description: "Taints of nodes that a Pod bears.",
  rows: {
    key: [1, text, "Key of the taint; every one when left out, with the operator Exists."],
    operator: [2, text, "Exists or Equal; Equal when left out."],
    value: [3, text, "Value of the taint, for Equal."],
    effect: [4, text, "NoSchedule, PreferNoSchedule or NoExecute; every one when left out."],
    tolerationSeconds: [5, optional(int64), "How long a taint of NoExecute is borne; forever when left out."],
  },
});

/** `spec.topologySpreadConstraints[]` of Pods. */
export const TOPOLOGY_SPREAD = typeOf({
  name: "TopologySpreadConstraint",
  description: "How evenly Pods are spread over places.",
  rows: {
    maxSkew: [1, mandatory(int32), "How many Pods more than elsewhere a place may have."],
    topologyKey: [2, mandatory(text), "Label of nodes whose value is the place."],
    whenUnsatisfiable: [3, mandatory(text), "DoNotSchedule or ScheduleAnyway."],
    labelSelector: [4, LABEL_SELECTOR, "Labels of the Pods that are counted."],
    minDomains: [5, optional(int32), "How many places there have to be."],
    nodeAffinityPolicy: [6, optional(text), "Honor or Ignore: whether only nodes that the Pod wants count."],
    nodeTaintsPolicy: [7, optional(text), "Honor or Ignore: whether only nodes whose taints it bears count."],
    matchLabelKeys: [8, list(text), "Labels that the counted Pods have in common with this one."],
  },
});
