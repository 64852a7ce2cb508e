import { sha256Hex } from "../../base/digest.ts";
import { canonicalJson, isRecord } from "../../base/json.ts";
import { SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject, Service, ServicePort } from "../../kube/object/types.ts";
import { OBJECT_META } from "../../kube/object/kind-shape.ts";
import { SERVICE_SPEC } from "../../kube/object/kinds/services.ts";
import { anything, objectOf } from "../../schema/builders.ts";
import { PLAIN_KIND, sampleMetadata } from "./kind-parts.ts";
import { remembered } from "../reconcile/rules/remembered.ts";
import type { SyncedKind } from "../reconcile/rules/rules.ts";
import { withoutKeys } from "../reconcile/rules/excluded-keys.ts";

type Spec = NonNullable<Service["spec"]>;

/**
 * The special rules of Services: the host copy is a plain ClusterIP or headless Service without a selector, so that the copied
 * Endpoints are its only backends, and without anything that exposes it (node ports, external IPs, load balancers).
 */
export const SERVICES_KIND: SyncedKind = {
  resource: SERVICES,
  section: "services",
  plural: "Services",
  shortName: "svc",
  help: {
    section: "Services of the tenant cluster. For each one, a host Service without a selector is created.",
    enabled: "Whether Services are synced. Has no effect unless Endpoints are synced too.",
  },
  byDefault: true,
  whyNotSynced: "With --services external, another syncer creates them",
  bodyInWords: "spec",
  schema: objectOf({ "metadata!": OBJECT_META, "spec!": SERVICE_SPEC, status: anything }),
  sample: {
    ...{ apiVersion: "v1", kind: "Service", metadata: sampleMetadata("web") },
    spec: { type: "ClusterIP", ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "http", targetPort: 8080 }] },
  },
  besideService: false,
  bodyFlows: false,
  ...PLAIN_KIND,
  translateBody: (tenant) => ({ spec: hostSpec(specOf(tenant)) }),
  admitBody: (object) => {
    const rejected = wellFormed(object["spec"])
      ? {}
      : { rejected: "after the patches, spec is not valid for a Service: ports is not a list of ports" };
    return { ...allowedByType(object), refusedAddresses: [], ...rejected };
  },
  hostFingerprint: (object) => hostFingerprint(specOf(object)),
  tenantFingerprint: (object) => tenantFingerprint(specOf(object)),
  withBody: (host, desired) => allowedByType({ ...host, spec: mergeSpec(specOf(host), specOf(desired)) }).object,
  tenantWithBody: () => undefined,
  mustRecreate: (host, desired) => isHeadless(specOf(host)) !== isHeadless(specOf(desired)),
};

const hostFingerprint = remembered((spec: Spec) => sha256Hex(canonicalJson(ownedSpec(spec))));
const tenantFingerprint = remembered((spec: Spec) => sha256Hex(canonicalJson(ownedSpec(hostSpec(spec)))));

/** Fields of a spec that the engine determines on the host; the API server determines all others. */
const OWNED = ["type", "ports", "selector", "publishNotReadyAddresses", "sessionAffinity", "externalIPs", "externalName"] as const;

const OWNED_FIELDS: ReadonlySet<string> = new Set([...OWNED, "sessionAffinityConfig"]);

/** The API server's default for how long a client keeps its Pod. */
const AFFINITY_SECONDS = 10_800;

const NO_SPEC: Spec = {};

function specOf(object: KubeObject): Spec {
  return (object as Service).spec ?? NO_SPEC;
}

function isHeadless(spec: Spec): boolean {
  return spec.clusterIP === "None";
}

function hostSpec(spec: Spec): Spec {
  return {
    type: "ClusterIP",
    ...(isHeadless(spec) && { clusterIP: "None" }),
    ...(spec.ports && { ports: mapPorts(spec.ports, hostPort) }),
    ...(spec["publishNotReadyAddresses"] === true && { publishNotReadyAddresses: true }),
    ...(spec["sessionAffinity"] === "ClientIP" && { sessionAffinity: "ClientIP", ...affinityConfig(spec) }),
  };
}

/** The setting for how long a client keeps its Pod, if it differs from the API server's default. */
function affinityConfig({ sessionAffinity, sessionAffinityConfig: config }: Spec): { readonly sessionAffinityConfig?: unknown } {
  const clientIP = isRecord(config) ? config["clientIP"] : undefined;
  const seconds = isRecord(clientIP) ? (clientIP["timeoutSeconds"] ?? AFFINITY_SECONDS) : AFFINITY_SECONDS;
  return sessionAffinity === "ClientIP" && seconds !== AFFINITY_SECONDS ? { sessionAffinityConfig: config } : {};
}

/** Changes each port. A value that is not a list of ports stays as it is, and is rejected later. */
function mapPorts(ports: readonly ServicePort[], change: (port: ServicePort) => ServicePort): readonly ServicePort[] {
  return Array.isArray(ports) ? ports.map((port: ServicePort) => (isRecord(port) ? change(port) : port)) : ports;
}

/** An expression can return anything, and a file can contain anything. */
function wellFormed(spec: unknown): boolean {
  if (spec === undefined) return true;
  if (!isRecord(spec)) return false;
  const ports = spec["ports"] ?? [];
  return Array.isArray(ports) && ports.every(isRecord);
}

function hostPort({ nodePort: _nodePort, ...port }: ServicePort): ServicePort {
  return port;
}

/** The owned fields with the API server's defaults filled in, so that a stored spec compares equal to the one sent. */
function ownedSpec(spec: Spec): Record<string, unknown> {
  const ports = mapPorts(spec.ports ?? [], ({ nodePort: _nodePort, ...port }) => ({ protocol: "TCP", targetPort: port.port, ...port }));
  const defaults = { type: "ClusterIP", publishNotReadyAddresses: false, sessionAffinity: "None" };
  const present = OWNED.filter((field) => spec[field] !== undefined).map((field) => [field, spec[field]] as const);
  return { ...defaults, ...Object.fromEntries(present), ...affinityConfig(spec), ports, headless: isHeadless(spec) };
}

function mergeSpec(host: Spec, desired: Spec): Spec {
  const kept = Object.fromEntries(Object.entries(host).filter(([field]) => !OWNED_FIELDS.has(field)));
  return { ...kept, ...desired };
}

/** The older place of `spec.loadBalancerSourceRanges`. */
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";

/**
 * Determines for each field which specs may have it. A copy rarely has the type of its source, so a valid Service of a tenant could result
 * in an invalid copy. API servers accept `loadBalancerIP` in any spec, but it has no meaning in others. Source: `ValidateService`.
 */
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
interface AllowedService<T extends KubeObject> {
  /** The same reference if nothing was left out. */
  readonly object: T;
  readonly leftOut: readonly string[];
}

/** Removes the fields and annotations that the type of a Service does not allow. */
function allowedByType<T extends KubeObject>(object: T): AllowedService<T> {
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
