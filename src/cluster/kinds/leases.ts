import { LEASES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { invalid } from "../../apiserver/types/field-error.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import { dnsSubdomain } from "../../apiserver/types/objects/names.ts";
import type { ResourceDefinition } from "../../apiserver/types/resource-definition.ts";
import { always, described, fields, int32, kindShape, microTime, numbered, optional, text } from "../../apiserver/types/objects/shape.ts";
import { LEASE_COLUMNS } from "./columns/small.ts";

const LEASE_SPEC = described(
  numbered(
    fields({
      holderIdentity: optional(text),
      leaseDurationSeconds: optional(int32),
      acquireTime: optional(microTime),
      renewTime: optional(microTime),
      leaseTransitions: optional(int32),
      strategy: optional(text),
      preferredHolder: optional(text),
    }),
    { holderIdentity: 1, leaseDurationSeconds: 2, acquireTime: 3, renewTime: 4, leaseTransitions: 5, strategy: 6, preferredHolder: 7 },
  ),
  {
    name: "LeaseSpec",
    description: "Holder of a lease, and its duration.",
    fields: {
      holderIdentity: "Holder of the lease; empty when it is free.",
      leaseDurationSeconds: "Seconds that the lease lasts after a renewal.",
      acquireTime: "When the holder took the lease.",
      renewTime: "When the holder last renewed the lease.",
      leaseTransitions: "How often the lease has changed its holder.",
    },
  },
);

/** `coordination.k8s.io/v1` Leases. Unlike most kinds they cannot be overwritten without a resourceVersion. */
export const leases: ResourceDefinition = {
  type: LEASES,
  singular: "lease",
  shape: numbered(kindShape({ spec: always(LEASE_SPEC) }, { description: "A lock that must be renewed, for elections and heartbeats." }), {
    metadata: 1,
    spec: 2,
  }),
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
