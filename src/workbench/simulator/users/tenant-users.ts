import { ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import { withEntry, withMeta, type Act } from "../act.ts";
import {
  changes,
  creates,
  deletes,
  flipSelector,
  recreates,
  setAnnotation,
  setLabel,
  setSubsets,
  type Edit,
  type UserActOptions,
} from "./user-acts.ts";

const togglePause: Edit = (object, _random, world) => {
  const key = `${world.generation.rules[0]!.translator.markerPrefix}pause`;
  const paused = object.metadata.annotations?.[key] === "true";
  return withMeta(object, { annotations: withEntry(object.metadata.annotations, key, paused ? undefined : "true") });
};

const of = (resource: ResourceType, weight: number): UserActOptions => ({ side: "tenant", resource, weight });

/** Actions of users of the tenant cluster. */
export const TENANT_USERS: readonly Act[] = [
  creates("tenant creates Endpoints", of(ENDPOINTS, 8)),
  creates("tenant creates Service", of(SERVICES, 5)),
  changes("tenant changes subsets", of(ENDPOINTS, 4), setSubsets),
  changes("tenant changes a label", of(ENDPOINTS, 3), setLabel),
  changes("tenant changes an annotation", of(ENDPOINTS, 3), setAnnotation),
  changes("tenant changes a Service's label", of(SERVICES, 1), setLabel),
  changes("tenant flips a selector", of(SERVICES, 1.5), flipSelector),
  changes("tenant pauses or resumes", of(ENDPOINTS, 0.7), togglePause),
  deletes("tenant deletes Endpoints", of(ENDPOINTS, 1.5)),
  deletes("tenant deletes Service", of(SERVICES, 1)),
  recreates(of(ENDPOINTS, 1.5)),
  recreates(of(SERVICES, 0.7)),
];
