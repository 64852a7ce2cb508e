/**
 * Fields and annotations that an API server refuses on Services of some types. A copy rarely has the type of its source, so a valid
 * Service of a tenant could result in an invalid copy. Source: `ValidateService`.
 *
 * @module
 */
import type { KubeObject, Service } from "../../kube/object/types.ts";
import { withoutKeys } from "../reconcile/rules/excluded-keys.ts";

type Spec = NonNullable<Service["spec"]>;

/** The older place of `spec.loadBalancerSourceRanges`. */
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";

/** Determines for each field which specs may have it. API servers accept `loadBalancerIP` in any spec, but it has no meaning in others. */
const MAY_HAVE: Readonly<Record<string, (spec: Spec) => boolean>> = {
  allocateLoadBalancerNodePorts: isBalanced,
  loadBalancerClass: isBalanced,
  loadBalancerIP: isBalanced,
  loadBalancerSourceRanges: isBalanced,
  externalTrafficPolicy: isReachedFromOutside,
  healthCheckNodePort: (spec) => isBalanced(spec) && spec["externalTrafficPolicy"] === "Local",
  sessionAffinityConfig: (spec) => spec["sessionAffinity"] === "ClientIP",
};

function isBalanced({ type }: Spec): boolean {
  return type === "LoadBalancer";
}

function isReachedFromOutside({ type, externalIPs }: Spec): boolean {
  if (type === "ExternalName") return false;
  return type === "LoadBalancer" || type === "NodePort" || (Array.isArray(externalIPs) && externalIPs.length > 0);
}

/** A Service with only the fields and annotations that its type allows, and the paths of the others. */
export interface AllowedService<T extends KubeObject> {
  /** The same reference if nothing was left out. */
  readonly object: T;
  readonly leftOut: readonly string[];
}

/** Removes the fields and annotations that the type of a Service does not allow. */
export function allowedByType<T extends KubeObject>(object: T): AllowedService<T> {
  const { spec = {} } = object as Service;
  const { annotations = {} } = object.metadata;
  const fields = Object.keys(spec).filter((field) => Object.hasOwn(MAY_HAVE, field) && !MAY_HAVE[field]!(spec));
  const annotated = Object.hasOwn(annotations, SOURCE_RANGES) && !isBalanced(spec);
  if (fields.length === 0 && !annotated) return { object, leftOut: [] };
  const kept = Object.fromEntries(Object.entries(spec).filter(([field]) => !fields.includes(field)));
  const metadata = { ...object.metadata, annotations: withoutKeys(annotations, (key) => key === SOURCE_RANGES) };
  return {
    object: { ...object, spec: kept, ...(annotated && { metadata }) },
    leftOut: [...fields.map((field) => `spec.${field}`), ...(annotated ? [`metadata.annotations["${SOURCE_RANGES}"]`] : [])],
  };
}
