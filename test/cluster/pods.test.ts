import { describe, expect, test } from "vitest";
import { createEmbeddedCluster } from "../../src/clusters.ts";
import { NODE_SPEC, NODE_STATUS } from "../../src/cluster/kinds/node-spec.ts";
import { pullPolicyOf } from "../../src/cluster/kinds/pod-defaults.ts";
import { qosClassOf } from "../../src/cluster/kinds/pod-qos.ts";
import { POD_SPEC } from "../../src/cluster/kinds/pod-spec.ts";
import { POD_STATUS } from "../../src/cluster/kinds/pod-status.ts";
import { PODS, pods } from "../../src/cluster/kinds/pods.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { SYSTEM_USER } from "../../src/apiserver/verbs/resource-context.ts";
import type { ListShape, ObjectShape, Shape } from "../../src/apiserver/types/objects/shape.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";

/** Every object type below one, by name. */
function typesIn(shape: Shape, found = new Map<string, ObjectShape>()): Map<string, ObjectShape> {
  if (shape.type === "list" || shape.type === "map") return typesIn(shape.of, found);
  if (shape.type !== "object" || found.has(shape.name!)) return found;
  found.set(shape.name!, shape);
  [...Object.values(shape.fields).map((field) => field.shape), ...Object.values(shape.inlined ?? {})].forEach((inner) =>
    typesIn(inner, found),
  );
  return found;
}

const types = new Map([POD_SPEC, POD_STATUS, NODE_SPEC, NODE_STATUS].flatMap((shape) => [...typesIn(shape)]));

function listsOf(name: string): Record<string, ListShape["merge"]> {
  const lists = Object.entries(types.get(name)!.fields).filter(([, { shape }]) => shape.type === "list" && shape.merge !== undefined);
  return Object.fromEntries(lists.map(([field, { shape }]) => [field, (shape as ListShape).merge]));
}

describe("the shapes of Pods and Nodes", () => {
  test.each([...types].filter(([name]) => name !== "ObjectMeta" && name !== "OwnerReference"))(
    "%s can be read from protobuf whole, and explained whole",
    (_name, shape) => {
      const inner = Object.values(shape.inlined ?? {});
      const apart = inner.flatMap(({ fields }) => Object.keys(fields));
      const numbers = shape.numbers ?? {};
      expect(Object.keys(shape.fields).filter((field) => !apart.includes(field) && numbers[field] === undefined)).toEqual([]);
      const all = [...Object.values(numbers), ...Object.keys(shape.inlined ?? {}).map(Number)];
      expect(new Set(all).size).toBe(all.length);
      expect(shape.description).toMatch(/\.$/);
    },
  );

  test("lists are merged by the keys that Kubernetes gives them", () => {
    const keys = (name: string) =>
      Object.fromEntries(
        Object.entries(listsOf(name)).map(([field, merge]) => [field, merge!.as === "map" ? merge!.keys.join("+") : merge!.as]),
      );
    expect(keys("PodSpec")).toEqual({
      volumes: "name",
      initContainers: "name",
      containers: "name",
      ephemeralContainers: "name",
      imagePullSecrets: "name",
      hostAliases: "ip",
      topologySpreadConstraints: "topologyKey+whenUnsatisfiable",
      schedulingGates: "name",
      resourceClaims: "name",
    });
    const ofContainers = { ports: "containerPort+protocol", env: "name", volumeMounts: "mountPath", volumeDevices: "devicePath" };
    expect([keys("Container"), keys("EphemeralContainer")]).toEqual([ofContainers, ofContainers]);
    expect(keys("PodStatus")).toEqual({ conditions: "type", podIPs: "ip", resourceClaimStatuses: "name" });
    expect([keys("NodeSpec"), keys("NodeStatus")]).toEqual([{ podCIDRs: "set" }, { conditions: "type", addresses: "type" }]);
    expect(listsOf("PodSpec")["volumes"]).toMatchObject({ retainsKeys: true });
    expect(listsOf("Container")["ports"]).toMatchObject({ defaults: { protocol: "TCP" } });
  });
});

describe("what is filled in", () => {
  test.each([
    ["web", "Always"],
    ["web:1", "IfNotPresent"],
    ["localhost:5000/web", "Always"],
    ["localhost:5000/web:latest", "Always"],
    ["web@sha256:0", "IfNotPresent"],
    ["web:latest@sha256:0", "Always"],
  ])("of the image %s is fetched %s", (image, policy) => expect(pullPolicyOf(image)).toBe(policy));

  const amounts = (cpu: string, memory: string) => ({ cpu, memory });
  test.each([
    ["nothing is asked for", [{}], "BestEffort"],
    ["zero is asked for", [{ requests: { cpu: "0" } }], "BestEffort"],
    ["something else is asked for", [{ limits: { "example.com/a": "1" } }], "BestEffort"],
    ["limits are requests", [{ limits: amounts("1", "1Gi"), requests: amounts("1", "1Gi") }], "Guaranteed"],
    ["one container asks for nothing", [{ limits: amounts("1", "1Gi"), requests: amounts("1", "1Gi") }, {}], "Burstable"],
    ["limits are more than requests", [{ limits: amounts("2", "1Gi"), requests: amounts("1", "1Gi") }], "Burstable"],
    ["memory has no limit", [{ limits: { cpu: "1" }, requests: amounts("1", "1Gi") }], "Burstable"],
  ])("when %s the class is right", (_why, all, wanted) => {
    expect(qosClassOf({ containers: all.map((resources, index) => ({ name: `c${index}`, resources })) })).toBe(wanted);
  });
});

async function setup() {
  const cluster = await createEmbeddedCluster({ clock: createFakeClock(), chance: createSeededChance(), store: createMemoryStore() });
  const create = (name: string, spec: object) => cluster.registry.create(PODS, "default", { metadata: { name }, spec });
  return { ...cluster, create, key: (name: string) => ({ namespace: "default", name }) };
}

const MAIN = { name: "main", image: "web:1" };

describe("writes of Pods", () => {
  test("what was stored without defaults can be written again, unchanged or with another image", () => {
    const metadata = { name: "old", namespace: "default" };
    const bare = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [MAIN] }, status: { phase: "Running" } } as KubeObject;
    const { prepare, validate, newGeneration } = pods.strategy;
    const errors = (image: string, more = {}) => {
      const next = { ...bare, spec: { containers: [{ ...MAIN, image }], ...more } } as KubeObject;
      return validate!(prepare!(next, bare, SYSTEM_USER), bare).map(({ field }) => field);
    };
    expect([errors("web:1"), errors("web:2"), errors("web:1", { hostname: "x" })]).toEqual([[], [], ["spec"]]);
    const stored = prepare!(bare, bare, SYSTEM_USER);
    expect([
      newGeneration!(bare, stored),
      newGeneration!({ ...bare, spec: { containers: [{ ...MAIN, image: "web:2" }] } } as KubeObject, stored),
    ]).toEqual([false, true]);
  });

  test("a PUT of what the author once wrote is no write", async () => {
    const { create, registry, key } = await setup();
    const created = await create("same", { containers: [MAIN], serviceAccountName: "default" });
    const body = { metadata: { name: "same", namespace: "default" }, spec: { containers: [MAIN], serviceAccountName: "default" } };
    const { object } = await registry.update(PODS, key("same"), body);
    expect(object.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  });

  test("on the network of the node every port is a port of the node", async () => {
    const { create } = await setup();
    const { spec } = (await create("host", {
      hostNetwork: true,
      containers: [{ ...MAIN, ports: [{ containerPort: 80 }] }],
    })) as unknown as { spec: { containers: { ports: object[] }[] } };
    expect(spec.containers[0]!.ports).toEqual([{ hostPort: 80, containerPort: 80, protocol: "TCP" }]);
    const other = { hostNetwork: true, containers: [{ ...MAIN, ports: [{ containerPort: 80, hostPort: 81 }] }] };
    await expect(create("other", other)).rejects.toThrow("must match `containerPort` when `hostNetwork` is true");
  });

  test.each([
    [
      "a gate may only be taken away",
      { schedulingGates: [{ name: "a.b" }] },
      { schedulingGates: [{ name: "c.d" }] },
      "spec.schedulingGates",
    ],
    ["a toleration stays", { tolerations: [{ key: "a", operator: "Exists" }] }, { tolerations: [] }, "spec.tolerations"],
    ["a deadline is not taken back", { activeDeadlineSeconds: 9 }, {}, "spec.activeDeadlineSeconds"],
    ["containers are not added", {}, { containers: [MAIN, { ...MAIN, name: "more" }] }, "spec.containers"],
    ["init containers are not added", {}, { initContainers: [{ ...MAIN, name: "more" }] }, "spec.initContainers"],
  ])("%s", async (_why, first, then, field) => {
    const { create, registry, key } = await setup();
    const account = { serviceAccountName: "default" };
    await create("fixed", { containers: [MAIN], ...account, ...first });
    const body = { metadata: { name: "fixed", namespace: "default" }, spec: { containers: [MAIN], ...account, ...then } };
    await expect(registry.update(PODS, key("fixed"), body)).rejects.toThrow(`${field}: `);
  });

  test("a gate that is gone, a longer toleration and a shorter deadline are fine", async () => {
    const { create, registry, key } = await setup();
    const spec = { containers: [MAIN], serviceAccountName: "default" };
    const bearing = { key: "a", operator: "Exists", effect: "NoExecute" };
    await create("freed", { ...spec, schedulingGates: [{ name: "a.b" }], activeDeadlineSeconds: 9, tolerations: [bearing] });
    const next = { ...spec, activeDeadlineSeconds: 8, tolerations: [{ ...bearing, tolerationSeconds: 7 }] };
    const { object } = await registry.update(PODS, key("freed"), { metadata: { name: "freed", namespace: "default" }, spec: next });
    expect(object["spec"]).toMatchObject({ activeDeadlineSeconds: 8, tolerations: [{ tolerationSeconds: 7 }, {}, {}] });
    expect(object["spec"]).not.toHaveProperty("schedulingGates");
  });
});
