import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedClusterOptions } from "../../src/clusters.ts";
import { NODES } from "../../src/cluster/kinds/nodes.ts";
import { PODS } from "../../src/cluster/kinds/pods.ts";
import { CONFIG_MAPS, NAMESPACES, SECRETS, type ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject, OwnerReference } from "../../src/kube/object/types.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import type { DeleteOptions } from "../../src/apiserver/verbs/write/delete.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";
import { createFakeClock } from "../support/fake-clock.ts";

type Extra = Partial<OwnerReference>;

async function setup(options: EmbeddedClusterOptions = {}) {
  const clock = createFakeClock();
  const cluster = await createEmbeddedCluster({ clock, chance: createSeededChance(), ...options });
  const { registry, settled } = cluster;
  const key = (name: string, namespace = "default") => ({ namespace, name });
  const refer = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject, extra: Extra = {}): OwnerReference => ({
    apiVersion, kind, name: name!, uid: uid!, ...extra,
  }); // prettier-ignore
  const make = (name: string, ownerReferences: readonly OwnerReference[] = [], finalizers: readonly string[] = []) =>
    registry.create(CONFIG_MAPS, "default", { metadata: { name, ownerReferences, finalizers } });
  const remove = (name: string, how: DeleteOptions = {}) => registry.delete(CONFIG_MAPS, key(name), how);
  const names = async (type: ResourceType = CONFIG_MAPS) => {
    await settled();
    return (await registry.list(type, { namespace: "default" })).items.map(({ metadata }) => metadata.name!);
  };
  const lift = async (name: string) => {
    const object = await registry.get(CONFIG_MAPS, key(name));
    await registry.update(CONFIG_MAPS, key(name), { ...object, metadata: { ...object.metadata, finalizers: [] } });
  };
  return { ...cluster, clock, key, refer, make, remove, names, lift };
}

describe("in the background", () => {
  test("dependents go with their last owner, and theirs with them", async () => {
    const { make, refer, remove, names } = await setup();
    const [first, second] = [await make("first"), await make("second")];
    const child = await make("child", [refer(first), refer(second)]);
    await make("grandchild", [refer(child)]);
    await remove("first");
    expect(await names()).toEqual(["child", "grandchild", "second"]);
    await remove("second");
    expect(await names()).toEqual([]);
  });

  test("the reference to an owner that is gone goes too, while another owner stays", async () => {
    const { make, refer, remove, names, registry, key } = await setup();
    const [first, second] = [await make("first"), await make("second")];
    await make("child", [refer(first), refer(second)]);
    await remove("first");
    await names();
    expect((await registry.get(CONFIG_MAPS, key("child"))).metadata.ownerReferences).toEqual([refer(second)]);
  });

  test("another object of the owner's name is not the owner", async () => {
    const { make, refer, names } = await setup();
    const owner = await make("owner");
    await make("child", [refer(owner, { uid: "another" })]);
    expect(await names()).toEqual(["owner"]);
  });

  test("an owner in another namespace is none", async () => {
    const { registry, refer, make, names } = await setup();
    await registry.create(NAMESPACES, "", { metadata: { name: "shop" } });
    const owner = await registry.create(CONFIG_MAPS, "shop", { metadata: { name: "owner" } });
    await make("child", [refer(owner)]);
    expect(await names()).toEqual([]);
  });

  test.each([
    { why: "an unknown kind", extra: { kind: "Gadget" } },
    { why: "an unknown version", extra: { apiVersion: "v7" } },
    { why: "an unknown group", extra: { apiVersion: "example.com/v1" } },
  ])("$why never counts as gone, even beside an owner that is", async ({ extra }) => {
    const { make, refer, remove, names } = await setup();
    const owner = await make("owner");
    await make("child", [refer(owner), refer(owner, { ...extra, uid: "unknown" })]);
    await remove("owner");
    expect(await names()).toEqual(["child"]);
  });

  test("an object of no namespace may own, but not be owned by one that has a namespace", async () => {
    const { make, refer, registry, names, settled } = await setup();
    const node = await registry.create(NODES, "", { metadata: { name: "node-1" } });
    await make("child", [refer(node)]);
    expect(await names()).toEqual(["child"]);
    const absent = { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "nobody" };
    await registry.create(NODES, "", { metadata: { name: "node-2", ownerReferences: [absent] } });
    await registry.delete(NODES, { namespace: "", name: "node-1" });
    expect(await names()).toEqual([]);
    await settled();
    expect((await registry.list(NODES)).items.map(({ metadata }) => metadata.name)).toEqual(["node-2"]);
  });

  test("owners that own each other go with neither", async () => {
    const { make, refer, registry, key, names, remove } = await setup();
    const one = await make("one");
    const two = await make("two", [refer(one)]);
    const current = await registry.get(CONFIG_MAPS, key("one"));
    await registry.update(CONFIG_MAPS, key("one"), { ...current, metadata: { ...current.metadata, ownerReferences: [refer(two)] } });
    expect(await names()).toEqual(["one", "two"]);
    await remove("one");
    expect(await names()).toEqual([]);
  });

  test("an object may lose its owners and get others", async () => {
    const { make, refer, registry, key, names, remove } = await setup();
    const [first, second] = [await make("first"), await make("second")];
    await make("child", [refer(first)]);
    const own = async (ownerReferences: readonly OwnerReference[]) => {
      const { metadata, ...rest } = await registry.get(CONFIG_MAPS, key("child"));
      await registry.update(CONFIG_MAPS, key("child"), { ...rest, metadata: { ...metadata, ownerReferences } });
    };
    await own([]);
    await remove("first");
    expect(await names()).toEqual(["child", "second"]);
    await own([refer(second)]);
    await remove("second");
    expect(await names()).toEqual([]);
  });
});

describe("in the foreground", () => {
  test("an owner stays until the dependents that block it are gone", async () => {
    const { make, refer, remove, names, lift } = await setup();
    const owner = await make("owner");
    await make("blocking", [refer(owner, { blockOwnerDeletion: true })], ["example.com/wait"]);
    await make("other", [refer(owner)], ["example.com/wait"]);
    expect((await remove("owner", { propagationPolicy: "Foreground" })).object.metadata.finalizers).toEqual(["foregroundDeletion"]);
    expect(await names()).toEqual(["blocking", "other", "owner"]);
    await lift("blocking");
    expect(await names()).toEqual(["other"]);
    await lift("other");
    expect(await names()).toEqual([]);
  });

  test("generations go from the last to the first", async () => {
    const gone: string[] = [];
    const store = createMemoryStore();
    const { make, refer, remove, names } = await setup({ store });
    const child = await make("b", [refer(await make("a"), { blockOwnerDeletion: true })]);
    await make("c", [refer(child, { blockOwnerDeletion: true })]);
    const onEvent = ({ type, object }: { type: string; object: KubeObject }) => type === "deleted" && gone.push(object.metadata.name!);
    await store.watch({ prefix: "/", after: await store.revision(), onEvent });
    await remove("a", { propagationPolicy: "Foreground" });
    expect([await names(), gone]).toEqual([[], ["c", "b", "a"]]);
  });

  test("a dependent that has another owner only loses this one", async () => {
    const { make, refer, remove, names } = await setup();
    const [owner, other] = [await make("owner"), await make("other")];
    await make("child", [refer(owner, { blockOwnerDeletion: true }), refer(other)]);
    await remove("owner", { propagationPolicy: "Foreground" });
    expect(await names()).toEqual(["child", "other"]);
  });

  test("a dependent that stops blocking lets its owner go", async () => {
    const { make, refer, remove, names, registry, key } = await setup();
    const owner = await make("owner");
    await make("child", [refer(owner, { blockOwnerDeletion: true })], ["example.com/wait"]);
    await remove("owner", { propagationPolicy: "Foreground" });
    expect(await names()).toEqual(["child", "owner"]);
    const child = await registry.get(CONFIG_MAPS, key("child"));
    await registry.update(CONFIG_MAPS, key("child"), { ...child, metadata: { ...child.metadata, ownerReferences: [refer(owner)] } });
    expect(await names()).toEqual(["child"]);
  });

  test("a circle of blocking owners goes", async () => {
    const { make, refer, registry, key, remove, names } = await setup();
    const one = await make("one");
    const two = await make("two", [refer(one, { blockOwnerDeletion: true })]);
    const current = await registry.get(CONFIG_MAPS, key("one"));
    const ownerReferences = [refer(two, { blockOwnerDeletion: true })];
    await registry.update(CONFIG_MAPS, key("one"), { ...current, metadata: { ...current.metadata, ownerReferences } });
    await remove("one", { propagationPolicy: "Foreground" });
    expect(await names()).toEqual([]);
  });

  test("who names an owner of another namespace does not hold it up", async () => {
    const { make, refer, registry, remove, names } = await setup();
    await registry.create(NAMESPACES, "", { metadata: { name: "shop" } });
    const owner = await make("owner");
    const ownerReferences = [refer(owner, { blockOwnerDeletion: true })];
    await registry.create(CONFIG_MAPS, "shop", { metadata: { name: "stranger", ownerReferences, finalizers: ["example.com/wait"] } });
    await remove("owner", { propagationPolicy: "Foreground" });
    expect(await names()).toEqual([]);
  });
});

describe("orphans", () => {
  test("lose the reference and stay", async () => {
    const { make, refer, remove, names, registry, key } = await setup();
    const [owner, other] = [await make("owner"), await make("other")];
    await make("child", [refer(owner)]);
    await make("shared", [refer(owner), refer(other)]);
    await remove("owner", { propagationPolicy: "Orphan" });
    expect(await names()).toEqual(["child", "other", "shared"]);
    expect((await registry.get(CONFIG_MAPS, key("child"))).metadata.ownerReferences).toBeUndefined();
    expect((await registry.get(CONFIG_MAPS, key("shared"))).metadata.ownerReferences).toEqual([refer(other)]);
  });
});

describe("the collector", () => {
  test("works off what happened while it was away", async () => {
    const store = createMemoryStore();
    const before = await setup({ store, controllers: ["*", "-garbage-collector-controller"] });
    await before.make("child", [before.refer(await before.make("gone"))]);
    await before.make("kept", [before.refer(await before.make("stays"))]);
    await before.make("orphan", [before.refer(await before.make("leaver"))]);
    await before.remove("gone");
    await before.remove("leaver", { propagationPolicy: "Orphan" });
    expect(await before.names()).toEqual(["child", "kept", "leaver", "orphan", "stays"]);
    expect(await (await setup({ store, chance: createSeededChance(2) })).names()).toEqual(["kept", "orphan", "stays"]);
  });

  test("follows owners and dependents of different kinds", async () => {
    const { make, refer, registry, remove, names } = await setup();
    const owner = await make("owner");
    await registry.create(SECRETS, "default", { metadata: { name: "secret", ownerReferences: [refer(owner)] } });
    await remove("owner");
    expect(await names(SECRETS)).toEqual([]);
  });

  test("leaves exactly what a walk over the owners leaves, whatever owns what", async () => {
    const references = fc.array(fc.array(fc.nat({ max: 7 }), { maxLength: 3 }), { minLength: 1, maxLength: 8 });
    const policies = fc.constantFrom("Background", "Foreground" as const);
    await fc.assert(
      fc.asyncProperty(references, fc.array(fc.nat({ max: 7 }), { maxLength: 3 }), policies, async (graph, doomed, propagationPolicy) => {
        const { make, refer, remove, names } = await setup();
        const made: KubeObject[] = [];
        const ownersOf = graph.map((owners, index) => [...new Set(owners.filter((owner) => owner < index))]);
        for (const [index, owners] of ownersOf.entries()) {
          made.push(await make(`o-${index}`, owners.map((owner) => refer(made[owner]!, { blockOwnerDeletion: true })))); // prettier-ignore
        }
        const gone = new Set(doomed.filter((index) => index < graph.length));
        // The collector may be faster.
        const unlessGone = (error: unknown) => expect(error).toMatchObject({ code: "API_NOT_FOUND" });
        for (const index of gone) await remove(`o-${index}`, { propagationPolicy }).catch(unlessGone);
        // Owners come before their dependents, so that one walk is enough.
        for (const [index, owners] of ownersOf.entries())
          if (owners.length > 0 && owners.every((owner) => gone.has(owner))) gone.add(index);
        const left = graph.map((_owners, index) => index).filter((index) => !gone.has(index));
        expect(await names()).toEqual(left.map((index) => `o-${index}`));
      }),
      { numRuns: 200 },
    );
  });
});

describe("Pods on nodes", () => {
  const spec = { nodeName: "node-1", terminationGracePeriodSeconds: 10, containers: [{ name: "main", image: "example.com/web:1" }] };

  test("end when their time is over, or is made shorter", async () => {
    const { registry, key, clock, names } = await setup();
    for (const name of ["a", "b"]) await registry.create(PODS, "default", { metadata: { name }, spec });
    for (const name of ["a", "b"]) expect((await registry.delete(PODS, key(name))).gone).toBe(false);
    await registry.delete(PODS, key("b"), { gracePeriodSeconds: 3 });
    await clock.advance(3_000);
    expect([await names(PODS), clock.pending]).toEqual([["a"], 1]);
    await clock.advance(6_999);
    expect(await names(PODS)).toEqual(["a"]);
    await clock.advance(1);
    expect([await names(PODS), clock.pending]).toEqual([[], 0]);
  });

  test("on no node, or ended ones, go at once", async () => {
    const { registry, key, names } = await setup();
    await registry.create(PODS, "default", { metadata: { name: "placeless" }, spec: { ...spec, nodeName: "" } });
    const ended = await registry.create(PODS, "default", { metadata: { name: "ended" }, spec });
    await registry.update(PODS, key("ended"), { ...ended, status: { phase: "Succeeded" } }, { subresource: "status" });
    for (const name of ["placeless", "ended"]) expect((await registry.delete(PODS, key(name))).gone).toBe(true);
    expect(await names(PODS)).toEqual([]);
  });

  test("that were ending when the server stopped end when it is back; nothing keeps ticking after stop", async () => {
    const store = createMemoryStore();
    const before = await setup({ store });
    await before.registry.create(PODS, "default", { metadata: { name: "a" }, spec });
    await before.registry.delete(PODS, before.key("a"));
    const after = await setup({ store, chance: createSeededChance(2) });
    await after.clock.advance(10_000);
    expect(await after.names(PODS)).toEqual([]);
    await before.stop();
    expect(before.clock.pending).toBe(0);
  });

  test("keep the owner that waits for them", async () => {
    const { registry, clock, make, refer, remove, names } = await setup();
    const owner = await make("owner");
    const ownerReferences = [refer(owner, { blockOwnerDeletion: true })];
    await registry.create(PODS, "default", { metadata: { name: "a", ownerReferences }, spec });
    await remove("owner", { propagationPolicy: "Foreground" });
    expect(await names()).toEqual(["owner"]);
    await clock.advance(10_000);
    expect([await names(), await names(PODS)]).toEqual([[], []]);
  });
});
