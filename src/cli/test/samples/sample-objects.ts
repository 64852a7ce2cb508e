import { isEngineError } from "../../../base/errors.ts";
import type { Config } from "../../../engine/config/config.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import type { Patched, Patcher } from "../../../engine/patcher.ts";
import { compilePath } from "../../../engine/path/path.ts";
import { setValue } from "../../../workbench/asserts/set-value.ts";
import type { KubeObject } from "../../../kube/object/types.ts";

/** A list of patches, as the configuration names it. */
export type PatchList = "endpoints" | "services" | "endpointSlices";

/** Every list of patches. */
export const PATCH_LISTS: readonly PatchList[] = ["endpoints", "services", "endpointSlices"];

/** Values for a place that a patch addresses and no sample has: the first that the patch accepts. */
const EXAMPLES = ["example", "web.shop.svc", "10.1.0.11", "8080", '["example"]', '[{"name": "example"}]', '{"name": "example"}'] as const;

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
  return PATCH_LISTS.filter((list) => config[list].enabled && config[list].patches.length > 0).map((list) => ({
    list,
    object: inNamespace(SAMPLES[list], syncedNamespace(config)),
  }));
}

/** A sample as one patch was shown it. */
export interface Shown {
  /** Value put at the place; undefined if the sample has one there, or none can be put there. */
  readonly example: string | undefined;
  readonly object: KubeObject;
  readonly patched: Patched;
  readonly outcome: Outcome;
}

/** Result of a path's patch for the first example that it does not fail on; for the very first if it fails on all. */
export function shownWith(sample: KubeObject, path: string, patcher: Patcher): Shown {
  let first: Shown | undefined;
  for (const example of EXAMPLES) {
    const object = withPlace(sample, path, example);
    const patched = patcher.toHost(object);
    const outcome = patched.outcomes.find((one) => one.path === path)!;
    const shown = { example: object === sample ? undefined : example, object, patched, outcome };
    if (outcome.outcome !== "error" || object === sample) return shown;
    first ??= shown;
  }
  return first!;
}

/** The object with an example where the path leads, if something can be put there. */
function withPlace(object: KubeObject, path: string, example: string): KubeObject {
  if (compilePath(path).find(object).length > 0) return object;
  try {
    return setValue(object, path, example) as KubeObject;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return object;
  }
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

/** A sample with a given number of addresses, at most 65,536, each a little different from the others. */
export function withAddresses(sample: KubeObject, count: number): KubeObject {
  const numbers = Array.from({ length: count }, (_unused, index) => index);
  const ip = (index: number) => `10.1.${index >> 8}.${index & 255}`;
  const target = (index: number) => ({ hostname: `web-${index}`, nodeName: `node-${index % 100}`, targetRef: pod(`web-${index}`) });
  if (sample.kind === "EndpointSlice")
    return { ...sample, endpoints: numbers.map((index) => ({ addresses: [ip(index)], conditions: { ready: true }, ...target(index) })) };
  return { ...sample, subsets: [{ addresses: numbers.map((index) => ({ ip: ip(index), ...target(index) })), ports: PORTS }] };
}
