import { LEASES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { invalid, type FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, int32, microTime, named, optional, text } from "../../schema/builders.ts";
import { LEASE_COLUMNS } from "./columns/small.ts";

const LEASE_SPEC = named("LeaseSpec", "Holder of a lease, and its duration.", {
  holderIdentity: [1, optional(text), "Holder of the lease; empty when it is free."],
  leaseDurationSeconds: [2, optional(int32), "Seconds that the lease lasts after a renewal."],
  acquireTime: [3, optional(microTime), "When the holder took the lease."],
  renewTime: [4, optional(microTime), "When the holder last renewed the lease."],
  leaseTransitions: [5, optional(int32), "Number of times that the lease has changed holders."],
  strategy: [6, optional(text), "How the holder is chosen, for a coordinated election; this cluster ignores the field."],
  preferredHolder: [7, optional(text), "Candidate that the holder should hand the lease over to; requires a strategy."],
});

/** `coordination.k8s.io/v1` Leases. Unlike most kinds they cannot be overwritten without a resourceVersion. */
export const leases: ResourceDefinition = {
  type: LEASES,
  singular: "lease",
  shape: kindShape({ spec: [2, always(LEASE_SPEC)] }, "A lock that must be renewed, for elections and heartbeats."),
  columns: LEASE_COLUMNS,
  strategy: { nameRule: dnsSubdomain, createOnUpdate: true, unconditionalUpdate: false, validate },
};

function validate(object: KubeObject): FieldError[] {
  const { leaseDurationSeconds: seconds = 1, leaseTransitions: transitions = 0 } = object["spec"] as Record<string, number>;
  return [
    ...(seconds > 0 ? [] : [invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")]),
    ...(transitions >= 0 ? [] : [invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]),
  ];
}
