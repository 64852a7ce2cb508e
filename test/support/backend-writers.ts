/** Who writes backends in a tenant, on which types of Services, and how the guide tells what readers on the host see of them. */
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../src/kube/object/resource.ts";
import { viewOfSlices } from "../../src/kube/object/endpoints/reader-view.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import type { EndpointSlice, KubeObject } from "../../src/kube/object/types.ts";

/** Types of Services; that a type changes nothing is part of what is tested. */
export const SERVICE_TYPES: Readonly<Record<string, object>> = { plain: {}, headless: { clusterIP: "None" }, port: { type: "NodePort" } };

/** Values of the setting `backends`, in the order of the table. */
export const BACKEND_MODES = ["endpoints", "both", "slices", "auto"] as const;

/** One way to write backends. */
export interface BackendWriter {
  readonly objects: (name: string) => readonly KubeObject[];
  /** What takes traffic in the tenant. */
  readonly ready: readonly string[];
}

const endpointsOf = (name: string, annotations: Record<string, string> = {}): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name, annotations } },
  subsets: [{ addresses: [{ ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.9" }], ports: [{ name: "http", port: 80 }] }],
});

const sliceOf = (name: string): KubeObject => ({
  ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
  metadata: { namespace: "shop", name: `${name}-own`, labels: { "kubernetes.io/service-name": name } },
  endpoints: [{ addresses: ["10.0.0.2"], conditions: { ready: true } }],
  ports: [{ name: "http", port: 80, protocol: "TCP" }],
});

/** By their names in the guide. */
export const BACKEND_WRITERS: Readonly<Record<string, BackendWriter>> = {
  Endpoints: { objects: (name) => [endpointsOf(name)], ready: ["10.0.0.1"] },
  "slices only": { objects: (name) => [sliceOf(name)], ready: ["10.0.0.2"] },
  "Endpoints and slices": { objects: (name) => [endpointsOf(name), sliceOf(name)], ready: ["10.0.0.1", "10.0.0.2"] },
  "Endpoints of a leader election": {
    objects: (name) => [endpointsOf(name, { "control-plane.alpha.kubernetes.io/leader": "{}" })],
    ready: ["10.0.0.1"],
  },
};

/** Makes a Service of each type in the namespace `shop`, with backends; its name is the prefix and the type. */
export async function writeBackends(client: ClusterClient, { objects }: BackendWriter, prefix = ""): Promise<void> {
  for (const [type, spec] of Object.entries(SERVICE_TYPES)) {
    const name = prefix + type;
    const metadata = { namespace: "shop", name };
    const service = { apiVersion: "v1", kind: "Service", metadata, spec: { ...spec, ports: [{ name: "http", port: 80 }] } };
    await client.create(SERVICES, service as never);
    for (const object of objects(name)) await client.create(object.kind === "Endpoints" ? ENDPOINTS : ENDPOINT_SLICES, object);
  }
}

/** Addresses that take traffic, as readers of these slices see them of one Service. */
export function readyAddresses(slices: readonly EndpointSlice[], service: string): string[] {
  const own = slices.filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service);
  return [...viewOfSlices(own).values()].flatMap(({ address, ready }) => (ready ? [address] : [])).sort();
}

/** The word of the guide for what readers see of what there is. */
export function wordFor(seen: readonly string[], { ready }: BackendWriter): string {
  return seen.length === ready.length ? "all" : seen.length === 0 ? "nothing" : "some";
}

/** A row of the guide's table. */
export function rowOf(writer: string, mirrors: readonly boolean[], words: readonly string[]): string {
  return `| ${[writer, ...mirrors.map((is) => (is ? "yes" : "no")), ...words].join(" | ")} |`;
}
