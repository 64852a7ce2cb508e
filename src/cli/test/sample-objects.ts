import type { Config } from "../../engine/config/config.ts";
import type { KubeObject } from "../../kube/object/types.ts";

/** A list of patches, as the configuration names it. */
export type PatchList = "endpoints" | "services" | "endpointSlices";

const NAMESPACE = "shop";
const PORTS = [{ name: "http", port: 8080, protocol: "TCP" }];

/** An object of each kind with most fields that patches speak of. */
const SAMPLES: Readonly<Record<PatchList, KubeObject>> = {
  endpoints: {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: metadata("web"),
    subsets: [
      {
        addresses: [
          { ip: "10.1.0.11", hostname: "web-0", nodeName: "node-1", targetRef: pod("web-0") },
          { ip: "10.1.0.12", hostname: "web-1", nodeName: "node-2", targetRef: pod("web-1") },
        ],
        notReadyAddresses: [{ ip: "10.1.0.13", hostname: "web-2", nodeName: "node-2", targetRef: pod("web-2") }],
        ports: PORTS,
      },
    ],
  },
  services: {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadata("web"),
    spec: { type: "ClusterIP", ports: [{ name: "http", port: 80, protocol: "TCP", targetPort: 8080 }] },
  },
  endpointSlices: {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...metadata("web-abcde"), labels: { app: "web", "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    endpoints: [
      { addresses: ["10.1.0.11"], conditions: { ready: true }, hostname: "web-0", nodeName: "node-1", targetRef: pod("web-0") },
      { addresses: ["10.1.0.12"], conditions: { ready: true }, hostname: "web-1", nodeName: "node-2", targetRef: pod("web-1") },
    ],
    ports: PORTS,
  },
};

/** The lists that have patches and are synced, each with its sample. */
export function samplesFor(config: Config): { readonly list: PatchList; readonly object: KubeObject }[] {
  const lists = Object.keys(SAMPLES) as PatchList[];
  return lists
    .filter((list) => config[list].enabled && config[list].patches.length > 0)
    .map((list) => ({ list, object: inNamespace(SAMPLES[list], syncedNamespace(config)) }));
}

/** A namespace that has a place on the host. */
function syncedNamespace({ namespaces: { enabled, mappingsOnly, mappings } }: Config): string {
  const [mapped] = Object.keys(mappings.byName);
  return enabled && mappingsOnly && mapped !== undefined ? mapped.replace("*", NAMESPACE) : NAMESPACE;
}

function inNamespace(object: KubeObject, namespace: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function metadata(name: string): KubeObject["metadata"] {
  return { name, namespace: NAMESPACE, labels: { app: "web" }, annotations: {} };
}

function pod(name: string): object {
  return { kind: "Pod", namespace: NAMESPACE, name };
}
