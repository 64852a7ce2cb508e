import type { ObjectKey } from "../../../kube/object/key.ts";
import { SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { EndpointSubset, KubeObject } from "../../../kube/object/types.ts";
import { bodyFields } from "../../../engine/reconcile/rules/kind-description.ts";
import type { SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import type { Random } from "./random.ts";

/** Label and annotation keys and values that actors write: only a few, so that writes concern the same ones. */
export const LABELS = ["app", "tier", "release"] as const;
export const ANNOTATIONS = ["example.com/tag", "example.com/team", "endpoints.kubernetes.io/last-change-trigger-time"] as const;
/** An annotation that is never synced. */
export const PRIVATE_ANNOTATION = "kubectl.kubernetes.io/touched";
/** Annotations that name an object, if the configuration has references for them. */
export const SECRET_ANNOTATION = "example.com/secret";
export const CONFIG_ANNOTATION = "example.com/config";
/** The names in these annotations. */
export const REFERENCED_NAMES = ["first", "second"] as const;
const VALUES = ["a", "b", "c"] as const;

/** Draws a value; sometimes undefined. */
export function drawFieldValue(random: Random): string | undefined {
  return random.happens(0.2) ? undefined : random.pick(VALUES);
}

const ADDRESSES = [
  { ip: "10.0.0.1" },
  { ip: "10.0.0.2", nodeName: "n1" },
  { ip: "10.0.0.2", targetRef: { kind: "Pod", namespace: "shop", name: "p1", uid: "p1" } },
  { ip: "10.0.0.2", targetRef: { kind: "Pod", namespace: "shop", name: "p2", uid: "p2" } },
  { ip: "10.0.0.3", hostname: "h3" },
  { ip: "168.63.129.16" },
] as const;
const PORTS = [
  { name: "http", port: 80 },
  { name: "https", port: 443 },
  { name: "dns", port: 53, protocol: "UDP" },
] as const;

/** Random subsets that the API server would repack, sometimes with an address that the policy refuses. */
export function drawSubsets(random: Random): readonly EndpointSubset[] {
  return Array.from({ length: random.below(3) }, () => {
    const addresses = Array.from({ length: 1 + random.below(2) }, () => random.pick(ADDRESSES));
    const notReady = random.happens(0.3) ? [random.pick(ADDRESSES)] : [];
    const ports = PORTS.filter(() => random.happens(0.5));
    return { addresses, ...(notReady.length > 0 && { notReadyAddresses: notReady }), ports };
  });
}

/** Endpoints as a tenant user would create them. */
function drawEndpoints(random: Random, { namespace, name }: ObjectKey): KubeObject {
  const tag = drawFieldValue(random);
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { namespace, name, labels: { app: random.pick(VALUES) }, ...(tag && { annotations: { "example.com/tag": tag } }) },
    subsets: drawSubsets(random),
  };
}

/** An object of one of the kinds that are always synced: Services or Endpoints. */
export function drawObject(random: Random, resource: ResourceType, key: ObjectKey): KubeObject {
  return resource === SERVICES ? drawService(random, key) : drawEndpoints(random, key);
}

/** An object of a kind that is handled generically. */
export function drawPlain(random: Random, kind: SyncedKind, { namespace, name }: ObjectKey): KubeObject {
  const { apiVersion, kind: called } = kind.resource;
  const tag = drawFieldValue(random);
  const annotations = tag && { annotations: { "example.com/tag": tag } };
  return {
    apiVersion,
    kind: called,
    metadata: { namespace, name, labels: { app: random.pick(VALUES) }, ...annotations },
    ...drawBody(random, kind),
  };
}

/** The body of the kind's sample, or a variation. */
export function drawBody(random: Random, kind: SyncedKind): Readonly<Record<string, unknown>> {
  const { sample, otherBodies = [] } = kind;
  const own = Object.fromEntries(bodyFields(kind).flatMap((field) => (Object.hasOwn(sample, field) ? [[field, sample[field]]] : [])));
  return random.pick([own, ...otherBodies]);
}

/** A Secret or a ConfigMap with one of a few contents. */
export function drawReferenced(random: Random, { apiVersion, kind }: ResourceType, { namespace, name }: ObjectKey): KubeObject {
  return { apiVersion, kind, metadata: { namespace, name, labels: { app: random.pick(VALUES) } }, data: drawData(random, kind) };
}

/** New contents for the object. */
export function drawData(random: Random, kind: string): Readonly<Record<string, string>> {
  const value = `${random.pick(VALUES)}${random.below(10)}`;
  return { value: kind === "Secret" ? Buffer.from(value).toString("base64") : value };
}

/** Suffixes for the names of a Service's slices. */
export const SLICE_SUFFIXES = ["-a", "-b"] as const;

/** A slice of a Service; sometimes the controller of its cluster writes it, and sometimes it names no Service. */
export function drawSlice(random: Random, key: ObjectKey, service: string): KubeObject {
  const controller = random.happens(0.2) && { "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io" };
  const owner = random.happens(0.9) && { "kubernetes.io/service-name": service };
  const labels = { app: random.pick(VALUES), ...controller, ...owner };
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { ...key, labels }, ...drawSliceBody(random) };
}

/** The content of a slice except its address type, which stays. */
export function drawSliceBody(random: Random): Readonly<Record<string, unknown>> {
  const endpoints = Array.from({ length: random.below(3) }, (_none, index) => ({
    addresses: [`10.0.0.${1 + index * 3 + random.below(3)}`],
  }));
  return { addressType: "IPv4", endpoints, ports: PORTS.filter(() => random.happens(0.5)) };
}

/** The conditions that a controller gives to an endpoint: unknown, ready, not ready, or terminating. */
export const ENDPOINT_CONDITIONS = [{}, { ready: true }, { ready: false }, { ready: false, serving: true, terminating: true }] as const;

/** The content of a slice, with IPv6 addresses in place of the IPv4 ones. */
export function asIPv6(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const endpoints = body["endpoints"] as readonly { addresses: readonly string[] }[];
  const toIPv6 = (address: string) => address.replace("10.0.0.", "fd00::");
  return { ...body, addressType: "IPv6", endpoints: endpoints.map((one) => ({ ...one, addresses: one.addresses.map(toIPv6) })) };
}

/** A Service of one of the types that matter, with or without selector. */
function drawService(random: Random, { namespace, name }: ObjectKey): KubeObject {
  const type = random.fraction();
  const shape = type < 0.1 ? { type: "ExternalName", externalName: "example.com" } : type < 0.3 ? { clusterIP: "None" } : {};
  const selector = random.happens(0.3) ? { selector: { app: "a" } } : {};
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name, labels: { app: random.pick(VALUES) } },
    spec: { ...shape, ...selector, ports: [{ name: "http", port: 80 }] },
  };
}
