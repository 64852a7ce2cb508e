/**
 * Opaque kinds: what the server keeps of them, how their lists are merged, and that nothing in them can hurt what reads them.
 */
import { describe, expect, test } from "vitest";
import { createEmbeddedCluster } from "../../src/clusters.ts";
import { NODES } from "../../src/cluster/kinds/nodes.ts";
import { subsetsOf } from "../../src/cluster/controllers/endpoints/endpoints-of-pods.ts";
import { MERGE_KEYS } from "../../src/cluster/kinds/opaque/merge-keys.ts";
import { PODS } from "../../src/cluster/kinds/pods.ts";
import { ENDPOINTS, SERVICES } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { compare } from "../../src/apiserver/apply/compare.ts";
import { strategicMerge } from "../../src/apiserver/patches/strategic-merge.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { itemStep, memberShape } from "../../src/apiserver/types/fields/structure.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import { always, opaque } from "../../src/schema/builders.ts";
import type { ListSchema, Schema } from "../../src/schema/schema.ts";

import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";

async function setup() {
  const cluster = await createEmbeddedCluster({ clock: createFakeClock(), chance: createSeededChance(), store: createMemoryStore() });
  const create = (name: string, spec: object, more: object = {}) =>
    cluster.registry.create(PODS, "default", { metadata: { name, ...more }, spec });
  return { ...cluster, create, key: (name: string) => ({ namespace: "default", name }) };
}

const MAIN = { name: "main", image: "web:1" };
const SHAPE = kindShape({ spec: always(opaque(MERGE_KEYS)), status: always(opaque(MERGE_KEYS)) });

/** The list behind names, which are those of fields alone. */
function listBehind(...names: readonly string[]): ListSchema | undefined {
  const found = names.reduce<Schema>((shape, name) => memberShape(shape.type === "list" ? shape.items : shape, name), SHAPE);
  return found.type === "list" ? found : undefined;
}

describe("what is stored", () => {
  test("is what was written, whatever it is, without what is null", async () => {
    const { create } = await setup();
    const spec = {
      containers: [{ ...MAIN, imagePolicy: "Sometimes", resources: { limits: { cpu: 0.5 } } }],
      surprise: { b: [null, 1], a: null },
    };
    const { spec: stored, status } = await create("any", spec);
    expect(stored).toEqual({ ...spec, surprise: { b: [null, 1] } });
    expect(status).toEqual({ phase: "Pending" });
  });

  test.each([{ a: Infinity }, { containers: [{ a: [-Infinity] }] }])("is not a number that JSON cannot say", async (spec) => {
    const { create } = await setup();
    await expect(create("endless", spec)).rejects.toThrow("cannot unmarshal number into Go struct field Pod.spec of type float64");
  });

  test("is the same in another order, which is not a write", async () => {
    const { create, registry, key } = await setup();
    const created = await create("same", { containers: [{ ...MAIN, env: [{ name: "A", value: "1" }] }], hostname: "a" });
    const spec = { hostname: "a", containers: [{ env: [{ value: "1", name: "A" }], image: "web:1", name: "main" }] };
    const { object } = await registry.update(PODS, key("same"), { metadata: { name: "same", namespace: "default" }, spec });
    expect(object.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  });

  test("keeps its status apart, and counts the changes of its spec", async () => {
    const { create, registry, key } = await setup();
    const created = await create("parts", { containers: [MAIN] });
    const status = { phase: "Running", podIP: "10.1.0.1" };
    await registry.update(PODS, key("parts"), { ...created, spec: {}, status }, { subresource: "status" });
    const { object } = await registry.update(PODS, key("parts"), { metadata: { name: "parts" }, spec: { containers: [] }, status: {} });
    expect([object["spec"], object["status"], object.metadata["generation"]]).toEqual([{ containers: [] }, status, 2]);
  });

  test.each([
    ["a spec that is not an object", { spec: "x" }, "cannot unmarshal string into Go struct field Pod.spec of type object"],
    ["a name with capitals", { metadata: { name: "Web" } }, "metadata.name: Invalid value"],
    ["a label that is none", { metadata: { name: "web", labels: { a: "no spaces" } } }, "metadata.labels: Invalid value"],
  ])("refuses %s", async (_why, body, message) => {
    const { registry } = await setup();
    await expect(registry.create(PODS, "default", { metadata: { name: "web" }, ...body })).rejects.toThrow(message);
  });

  test("is found by what Kubernetes would have filled in", async () => {
    const { create, registry } = await setup();
    await create("bare", { containers: [MAIN] });
    await create("other", { containers: [MAIN], restartPolicy: "Never", serviceAccount: "bot" });
    const names = async (fieldSelector: string) =>
      (await registry.list(PODS, { namespace: "default", fieldSelector })).items.map(({ metadata }) => metadata.name);
    expect(await names("spec.restartPolicy=Always,spec.serviceAccountName=default,status.phase=Pending")).toEqual(["bare"]);
    expect(await names("spec.serviceAccountName=bot")).toEqual(["other"]);
  });
});

describe("the table of merge keys", () => {
  test.each([
    ["spec.containers", { name: "a" }, 'k:{"name":"a"}'],
    ["spec.containers.ports", { containerPort: 53 }, 'k:{"containerPort":53,"protocol":"TCP"}'],
    ["spec.initContainers.ports", { containerPort: 53, protocol: "UDP" }, 'k:{"containerPort":53,"protocol":"UDP"}'],
    ["spec.template.spec.containers.ports", { containerPort: 53 }, 'k:{"containerPort":53,"protocol":"TCP"}'],
    ["spec.containers.env", { name: "A" }, 'k:{"name":"A"}'],
    ["spec.containers.volumeMounts", { name: "a", mountPath: "/a" }, 'k:{"mountPath":"/a"}'],
    ["spec.containers.resources.claims", { name: "a" }, 'k:{"name":"a"}'],
    ["spec.topologySpreadConstraints", { topologyKey: "a", whenUnsatisfiable: "b" }, 'k:{"topologyKey":"a","whenUnsatisfiable":"b"}'],
    ["spec.template.metadata.finalizers", "a/b", 'v:"a/b"'],
    ["spec.podCIDRs", "10.0.0.0/8", 'v:"10.0.0.0/8"'],
    ["status.conditions", { type: "Ready" }, 'k:{"type":"Ready"}'],
    ["status.containerStatuses.allocatedResourcesStatus.resources", { resourceID: "a" }, 'k:{"resourceID":"a"}'],
  ])("tells the items of %s apart", (path, item, step) => expect(itemStep(listBehind(...path.split("."))!, item)).toBe(step));

  test.each([
    "spec.tolerations",
    "spec.taints",
    "spec.containers.command",
    "spec.ingress",
    "spec.ingress.ports",
    "spec.resources",
    "spec.constructor",
  ])("leaves %s to be replaced as a whole", (path) => expect(listBehind(...path.split("."))).toBeUndefined());

  test("is one for patches and for owners", () => {
    const containers = [MAIN, { name: "proxy", image: "proxy:1" }];
    const before = { apiVersion: "v1", kind: "Pod", metadata: {}, spec: { containers, tolerations: [{ key: "a" }] }, status: {} };
    const patch = { spec: { containers: [{ name: "proxy", image: "proxy:2" }], tolerations: [{ key: "b" }] } };
    const after = strategicMerge(SHAPE, before, patch);
    expect(after["spec"]).toEqual({ containers: [{ name: "proxy", image: "proxy:2" }, MAIN].reverse(), tolerations: [{ key: "b" }] });
    const { modified } = compare(SHAPE, before as KubeObject, after as unknown as KubeObject);
    expect(modified).toEqual({
      "f:spec": { "f:containers": { 'k:{"name":"proxy"}': { "f:image": {} } }, "f:tolerations": {} },
    });
  });

  test("does not mistake labels, or values of another type, for lists", () => {
    const spec = { template: { metadata: { labels: { env: "prod", volumes: "none" } } }, containers: "none" };
    const patched = strategicMerge(SHAPE, { spec }, { spec: { template: { metadata: { labels: { env: "test" } } }, containers: [MAIN] } });
    expect(patched["spec"]).toEqual({ template: { metadata: { labels: { env: "test", volumes: "none" } } }, containers: [MAIN] });
  });
});

describe("unchecked Pods", () => {
  const HOSTILE = {
    containers: [null, 7, { ports: "x" }, { ports: [null, { name: "http", containerPort: "80" }] }],
    initContainers: {},
    nodeName: 5,
  };

  test("does not keep a Service from its other Pods", async () => {
    const { create, registry, key, client, settled } = await setup();
    const service = { metadata: { name: "web" }, spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }] } };
    await registry.create(SERVICES, "default", service);
    const good = { containers: [{ ...MAIN, ports: [{ name: "http", containerPort: 8080 }] }] };
    const pods: [name: string, spec: object, podIP: unknown][] = [
      ["good", good, "10.1.0.1"],
      ["shapeless", HOSTILE, "10.1.0.2"],
      ["no-address", good, "10.1.0.999"],
      ["no-text", good, { a: 1 }],
      ["itself", good, "127.0.0.1"],
      ["no-port", { containers: [{ ports: [{ name: "http", containerPort: 70_000 }] }] }, "10.1.0.3"],
      ["no-names", { ...good, hostname: "No Name", subdomain: "web", nodeName: "No Name" }, "10.1.0.4"],
    ];
    for (const [name, spec, podIP] of pods) {
      const created = await create(name, spec, { labels: { app: "web" } });
      const status = { phase: "Running", podIP, conditions: [null, { type: "Ready", status: "True" }] };
      await registry.update(PODS, key(name), { ...created, status }, { subresource: "status" });
    }
    await settled();
    const { subsets } = (await client.get(ENDPOINTS, key("web")))! as KubeObject & { subsets: { addresses: object[] }[] };
    const addressOf = (ip: string, name: string) => ({ ip, targetRef: expect.objectContaining({ name }) as unknown });
    expect(subsets.map(({ addresses }) => addresses)).toEqual([[addressOf("10.1.0.1", "good"), addressOf("10.1.0.4", "no-names")]]);
  });

  test("is read once, however many ports a Service has", () => {
    let reads = 0;
    const port = (index: number) => ({
      get name() {
        reads += 1;
        return `p${index}`;
      },
      containerPort: index,
    });
    const ports = Array.from({ length: 50 }, (_, index) => index + 1);
    const pod = { metadata: { name: "p" }, spec: { containers: [{ ports: ports.map(port) }] }, status: { podIP: "10.1.0.1" } };
    const spec = { ports: ports.map((number) => ({ port: number, targetPort: `p${number}` })) };
    const subsets = subsetsOf({ metadata: { name: "web" }, spec } as unknown as KubeObject, [pod as unknown as KubeObject]);
    expect(subsets.map((subset) => subset.ports?.[0]?.port)).toEqual(ports);
    expect(reads).toBeLessThanOrEqual(2 * ports.length);
  });

  test("ends like other Pods", async () => {
    const { create, registry, key } = await setup();
    await create("late", { containers: [MAIN], nodeName: "n1", terminationGracePeriodSeconds: 1.5 });
    await registry.delete(PODS, key("late"));
    expect((await registry.get(PODS, key("late"))).metadata["deletionGracePeriodSeconds"]).toBe(30);
    await create("shapeless", HOSTILE);
    await registry.delete(PODS, key("shapeless"));
    await expect(registry.get(PODS, key("shapeless"))).rejects.toThrow("not found");
  });

  test("of a node is kept with its status", async () => {
    const { registry } = await setup();
    const status = { capacity: { cpu: 4 }, addresses: [{ type: "InternalIP", address: "192.0.2.1" }] };
    const node = await registry.create(NODES, "", { metadata: { name: "n1" }, spec: { taints: "none" }, status });
    expect([node["spec"], node["status"], node.metadata["generation"]]).toEqual([{ taints: "none" }, status, undefined]);
  });
});
