import { canonicalJson } from "../base/json.ts";
import { SERVICES } from "../object/resource.ts";
import type { KubeObject, Service, ServicePort } from "../object/types.ts";
import type { SyncedKind } from "./rules.ts";

type Spec = NonNullable<Service["spec"]>;

/**
 * What is special about Services: the host copy is a plain ClusterIP or headless Service without selector, so that the copied
 * Endpoints are its only backends, and without anything that opens a door (node ports, external IPs, load balancers).
 */
export const SERVICES_KIND: SyncedKind = {
  resource: SERVICES,
  bodyFlows: false,
  translateBody: (tenant) => ({ spec: hostSpec(specOf(tenant)) }),
  admitBody: (object) => ({ object, refusedAddresses: [] }),
  hostFingerprint: (object) => canonicalJson(ownedSpec(specOf(object))),
  tenantFingerprint: (object) => canonicalJson(ownedSpec(hostSpec(specOf(object)))),
  withBody: (host, desired) => ({ ...host, spec: mergeSpec(specOf(host), specOf(desired)) }),
  tenantWithBody: () => undefined,
  mustRecreate: (host, desired) => isHeadless(specOf(host)) !== isHeadless(specOf(desired)),
};

/** Fields of a spec that the engine decides on the host; everything else there is the API server's. */
const OWNED = ["type", "ports", "selector", "publishNotReadyAddresses", "sessionAffinity", "externalIPs", "externalName"] as const;

function specOf(object: KubeObject): Spec {
  return (object as Service).spec ?? {};
}

function isHeadless(spec: Spec): boolean {
  return spec.clusterIP === "None";
}

function hostSpec(spec: Spec): Spec {
  return {
    type: "ClusterIP",
    ...(isHeadless(spec) && { clusterIP: "None" }),
    ...(spec.ports && { ports: spec.ports.map(hostPort) }),
    ...(spec["publishNotReadyAddresses"] === true && { publishNotReadyAddresses: true }),
    ...(spec["sessionAffinity"] === "ClientIP" && { sessionAffinity: "ClientIP" }),
  };
}

function hostPort({ nodePort: _nodePort, ...port }: ServicePort): ServicePort {
  return port;
}

/** The owned fields with the API server's defaults filled in, so that a stored spec compares equal to the one sent. */
function ownedSpec(spec: Spec): Record<string, unknown> {
  const ports = (spec.ports ?? []).map(({ nodePort: _nodePort, ...port }) => ({ protocol: "TCP", targetPort: port.port, ...port }));
  const defaults = { type: "ClusterIP", publishNotReadyAddresses: false, sessionAffinity: "None" };
  const present = OWNED.filter((field) => spec[field] !== undefined).map((field) => [field, spec[field]] as const);
  return { ...defaults, ...Object.fromEntries(present), ports, headless: isHeadless(spec) };
}

function mergeSpec(host: Spec, desired: Spec): Spec {
  const affinity = desired["sessionAffinity"] === "ClientIP";
  // The API server fills the settings of an affinity in, and refuses them beside none.
  const replaced = new Set<string>([...OWNED, ...(affinity ? [] : ["sessionAffinityConfig"])]);
  const kept = Object.fromEntries(Object.entries(host).filter(([field]) => !replaced.has(field)));
  return { ...kept, ...desired };
}
