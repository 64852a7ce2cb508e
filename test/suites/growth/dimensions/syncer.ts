import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { entries, many, word, type Dimension } from "../dimension.ts";
import { ofSync, type Placed } from "../two-sides.ts";

const address = (index: number) => ({ ip: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`, hostname: word(index) });
const port = (index: number) => ({ name: word(index), port: 1 + (index % 65_535), protocol: "TCP" });
const PORTS = [{ name: "http", port: 80, protocol: "TCP" }];

/** A Service without selector, and its Endpoints. */
function pair(metadata: object, subsets: unknown = [{ addresses: [address(1)], ports: PORTS }]): Placed[] {
  const named = { name: "web", namespace: "shop", ...metadata };
  return [
    [SERVICES, { apiVersion: "v1", kind: "Service", metadata: named, spec: { ports: PORTS } } as KubeObject],
    [ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: named, subsets } as KubeObject],
  ];
}

const service = (spec: object, metadata: object = {}): Placed => [
  SERVICES,
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop", ...metadata },
    spec: { ports: PORTS, ...spec },
  } as KubeObject,
];

const SLICES = { toHost: { endpointSlices: { enabled: true } } };

const slice = (name: string, count: number): Placed => [
  ENDPOINT_SLICES,
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    endpoints: many(count, (index) => ({ addresses: [address(index).ip], conditions: { ready: true } })),
    ports: PORTS,
  } as KubeObject,
];

const labels = (count: number) => entries(count, () => "v");
const patched = (...patches: readonly object[]) => ({ toHost: { endpoints: { patches } } });

/** Metadata that tenants write on one object. */
const OBJECTS: readonly Dimension[] = [
  // Beyond some thousand there is no room for all of them on a copy: to choose those that have one costs twice as much for each.
  ofSync({ name: "labels", sizes: [0, 32, 1_024], objects: (size) => pair({ labels: labels(size) }) }),
  ofSync({ name: "labels without room", sizes: [0, 4_096, 8_192], objects: (size) => pair({ labels: labels(size) }) }),
  ofSync({ name: "annotations", sizes: [0, 32, 512], objects: (size) => pair({ annotations: labels(size) }) }),
  ofSync({ name: "annotations without room", sizes: [0, 4_096, 8_192], objects: (size) => pair({ annotations: labels(size) }) }),
  ofSync({ name: "bytes of an annotation", sizes: [0, 1_024, 262_144], objects: (size) => pair({ annotations: { a: "a".repeat(size) } }) }),
  ofSync({
    name: "prefixes of markers of others",
    sizes: [0, 16, 256],
    objects: (size) =>
      pair({
        labels: Object.fromEntries(
          many(size, (index) => [`${word(index)}.io/managed-by`, "blue"]).concat(
            many(size, (index) => [`${word(index)}.io/namespace`, "shop"]),
          ),
        ),
        annotations: Object.fromEntries(many(size, (index) => [`${word(index)}.io/object-name`, "web"])),
      }),
  }),
  ofSync({
    name: "owner references",
    sizes: [0, 32, 2_048],
    objects: (size) =>
      pair({ ownerReferences: many(size, (index) => ({ apiVersion: "v1", kind: "Pod", name: word(index), uid: word(index) })) }),
  }),
  ofSync({
    name: "finalizers",
    sizes: [0, 32, 2_048],
    objects: (size) => pair({ finalizers: many(size, (index) => `a.io/${word(index)}`) }),
  }),
  ofSync({
    name: "managed fields",
    sizes: [0, 16, 1_024],
    objects: (size) => pair({ managedFields: many(size, (index) => ({ manager: word(index), operation: "Update", fieldsV1: {} })) }),
  }),
  ofSync({ name: "letters of a name", sizes: [1, 8, 128], objects: (size) => pair({ name: "a".repeat(size) }) }),
  ofSync({
    name: "addresses of a subset",
    sizes: [1, 32, 4_096],
    objects: (size) => pair({}, [{ addresses: many(size, address), ports: PORTS }]),
  }),
  ofSync({
    name: "addresses that are not ready",
    sizes: [1, 32, 4_096],
    objects: (size) => pair({}, [{ notReadyAddresses: many(size, address), ports: PORTS }]),
  }),
  ofSync({
    name: "subsets",
    sizes: [1, 32, 2_048],
    objects: (size) =>
      pair(
        {},
        many(size, (index) => ({ addresses: [address(index)], ports: [port(index)] })),
      ),
  }),
  ofSync({
    name: "ports of a subset",
    sizes: [1, 32, 2_048],
    objects: (size) => pair({}, [{ addresses: [address(1)], ports: many(size, port) }]),
  }),
  ofSync({ name: "ports of a Service", sizes: [1, 32, 2_048], objects: (size) => [service({ ports: many(size, port) })] }),
  ofSync({
    name: "external addresses of a Service",
    sizes: [0, 32, 2_048],
    objects: (size) => [service({ externalIPs: many(size, (index) => address(index).ip) })],
  }),
  ofSync({
    name: "source ranges of a Service",
    sizes: [0, 32, 2_048],
    objects: (size) => [service({ type: "LoadBalancer", loadBalancerSourceRanges: many(size, (index) => `${address(index).ip}/32`) })],
  }),
  ofSync({
    name: "selector of a Service",
    sizes: [1, 32, 2_048],
    objects: (size) => [service({ selector: labels(size) })],
  }),
  ofSync({
    name: "unknown fields",
    sizes: [0, 32, 2_048],
    objects: (size) => [service({ ...entries(size, (index) => ({ [word(index)]: [index] })) })],
  }),
];

/** How many objects there are. */
const MANY: readonly Dimension[] = [
  ofSync({
    name: "Services of a namespace",
    sizes: [1, 16, 256],
    objects: (size) => many(size, (index) => pair({ name: word(index) })).flat(),
  }),
  ofSync({ name: "namespaces", sizes: [1, 16, 256], objects: (size) => many(size, (index) => pair({ namespace: word(index) })).flat() }),
  ofSync({
    name: "copies that the host edits at once",
    sizes: [1, 16, 256],
    objects: (size) => many(size, (index) => pair({ name: word(index) })).flat(),
    async then(sides, size) {
      const { host } = sides;
      const wanted = host.updates + 2 * size;
      for (const object of host.all(ENDPOINTS)) void host.update(ENDPOINTS, { ...object, subsets: [] });
      await sides.until(() => host.updates >= wanted);
    },
  }),
  ofSync({
    name: "slices of a Service",
    sizes: [1, 16, 256],
    rules: SLICES,
    objects: (size) => [service({ clusterIP: "None" }), ...many(size, (index) => slice(word(index), 1))],
  }),
  ofSync({
    name: "endpoints of a slice",
    sizes: [1, 32, 1_024],
    rules: SLICES,
    objects: (size) => [service({ clusterIP: "None" }), slice("web-1", size)],
  }),
];

/** Results of patches on an object. */
const PATCHES: readonly Dimension[] = [
  ofSync({
    name: "expressions for each address",
    sizes: [1, 16, 512],
    rules: patched({ path: "subsets[*].addresses[*].hostname", expression: '"b-" + value' }),
    objects: (size) => pair({}, [{ addresses: many(size, address), ports: PORTS }]),
  }),
  ofSync({
    name: "patches",
    sizes: [1, 8, 128],
    rules: (size) =>
      patched(...many(size, (index) => ({ path: `metadata.annotations["a.io/${word(index)}"]`, expression: '"b-" + value' }))),
    objects: (size) => pair({ annotations: Object.fromEntries(many(size, (index) => [`a.io/${word(index)}`, "v"])) }),
  }),
  ofSync({
    name: "letters of what an expression answers",
    sizes: [1, 256, 65_536],
    rules: patched({ path: 'metadata.annotations["a.io/a"]', expression: '"b".repeat(Number(value))' }),
    objects: (size) => pair({ annotations: { "a.io/a": String(size) } }),
  }),
  ofSync({
    name: "objects whose expression fails, with Events",
    sizes: [1, 16, 256],
    rules: patched({ path: 'metadata.annotations["a.io/a"]', expression: "value.no.such" }),
    objects: (size) => many(size, (index) => pair({ name: word(index), annotations: { "a.io/a": "v" } })).flat(),
  }),
  ofSync({
    name: "mappings of namespaces",
    sizes: [1, 16, 512],
    rules: (size) => ({
      toHost: {
        namespaces: { enabled: true, mappings: { byName: { shop: "host-shop", ...entries(size, (index) => `host-${word(index)}`) } } },
      },
    }),
    objects: () => pair({}),
  }),
  ofSync({
    name: "networks that are refused",
    sizes: [1, 32, 1_024],
    rules: (size) => ({ settings: { addressPolicy: { deny: many(size, (index) => `192.${index >> 8}.${index & 255}.0/24`) } } }),
    objects: () => pair({}, [{ addresses: many(64, address), ports: PORTS }]),
  }),
];

/** Every dimension of tenants' input, and of the syncer's configuration. */
export const SYNCER: readonly Dimension[] = [...OBJECTS, ...MANY, ...PATCHES];
