import { list, mandatory, quantity, text } from "../../apiserver/types/objects/shape.ts";
import type { MapShape } from "../../apiserver/types/objects/shape.ts";
import { typeOf } from "./type-of.ts";

/** Amounts by the name of a resource: cpu, memory, ephemeral-storage and whatever nodes offer. */
export const RESOURCE_LIST: MapShape = { type: "map", of: quantity };

const CLAIM = typeOf({
  name: "ResourceClaim",
  description: "One of the claims of the Pod that a container uses.",
  rows: {
    name: [1, mandatory(text), "Name of the claim in spec.resourceClaims of the Pod."],
    request: [2, text, "The one request of the claim that is meant; everything in it when left out."],
  },
});

/** `resources` of containers and Pods. */
export const RESOURCE_REQUIREMENTS = typeOf({
  name: "ResourceRequirements",
  description: "How much of the machine somebody needs, and may have at most.",
  rows: {
    limits: [1, RESOURCE_LIST, "The most that may be used, by resource."],
    requests: [2, RESOURCE_LIST, "What is set aside, by resource; as much as the limit when only that is given."],
    claims: [3, list(CLAIM, { as: "map", keys: ["name"] }), "Claims of the Pod that are used."],
  },
});
