/**
 * The merge keys of lists in opaque kinds, in one table for strategic merge patches and server-side apply. Source: `patchMergeKey` and
 * `listMapKey` of the types in its API.
 *
 * @module
 */
import type { KeyedMerge, MergeTable } from "../../../schema/schema.ts";

const by = (...keys: readonly string[]): KeyedMerge => ({ as: "map", keys });

const PORTS: KeyedMerge = { ...by("containerPort", "protocol"), defaults: { protocol: "TCP" } };

/** Merge keys by the name of a list. Lists that are not in the table are replaced as a whole, such as tolerations, taints and commands. */
export const MERGE_KEYS: MergeTable = {
  // Pods and templates of them.
  volumes: by("name"),
  containers: by("name"),
  initContainers: by("name"),
  ephemeralContainers: by("name"),
  imagePullSecrets: by("name"),
  hostAliases: by("ip"),
  topologySpreadConstraints: by("topologyKey", "whenUnsatisfiable"),
  schedulingGates: by("name"),
  resourceClaims: by("name"),
  // Containers.
  "containers.ports": PORTS,
  "initContainers.ports": PORTS,
  "ephemeralContainers.ports": PORTS,
  env: by("name"),
  volumeMounts: by("mountPath"),
  volumeDevices: by("devicePath"),
  "resources.claims": by("name"),
  // Metadata of templates.
  "metadata.ownerReferences": by("uid"),
  "metadata.finalizers": { as: "set" },
  // Specs of Nodes, and statuses of all kinds.
  podCIDRs: { as: "set" },
  conditions: by("type"),
  addresses: by("type"),
  podIPs: by("ip"),
  resourceClaimStatuses: by("name"),
  allocatedResourcesStatus: by("name"),
  "allocatedResourcesStatus.resources": by("resourceID"),
};
