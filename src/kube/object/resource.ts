/** The location of a kind in the API. */
export interface ResourceType {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  /** CamelCase kind of one object. */
  readonly kind: string;
  /** Lower-case plural, the path segment. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/**
 * The API group of a resource; "" is the core group.
 *
 * @example
 * groupOf(LEASES); // "coordination.k8s.io"
 */
export function groupOf(resource: Pick<ResourceType, "apiVersion">): string {
  const slash = resource.apiVersion.indexOf("/");
  return slash < 0 ? "" : resource.apiVersion.slice(0, slash);
}

/**
 * The name of the resource in Status messages: `endpoints`, `endpointslices.discovery.k8s.io`.
 *
 * @example
 * qualifiedPlural(ENDPOINT_SLICES); // "endpointslices.discovery.k8s.io"
 */
export function qualifiedPlural(resource: ResourceType): string {
  const { apiVersion, plural } = resource;
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? plural : `${plural}.${apiVersion.slice(0, slash)}`;
}

const core = (kind: string, plural: string): ResourceType => ({ apiVersion: "v1", kind, plural, namespaced: true });

/** The built-in kinds of the engine. */
export const NAMESPACES: ResourceType = { ...core("Namespace", "namespaces"), namespaced: false };
export const SERVICES = core("Service", "services");
export const ENDPOINTS = core("Endpoints", "endpoints");
export const SECRETS = core("Secret", "secrets");
export const CONFIG_MAPS = core("ConfigMap", "configmaps");
export const EVENTS = core("Event", "events");
export const ENDPOINT_SLICES: ResourceType = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};
export const LEASES: ResourceType = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", plural: "leases", namespaced: true };
