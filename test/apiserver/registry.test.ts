import { describe, expect, test } from "vitest";
import { isEngineError } from "../../src/base/errors.ts";
import type { Status } from "../../src/kube/object/status.ts";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { invalid } from "../../src/apiserver/types/field-error.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { dnsSubdomain } from "../../src/apiserver/types/objects/names.ts";
import { createRegistry } from "../../src/apiserver/verbs/registry.ts";
import { replaceStatus, type ResourceDefinition } from "../../src/apiserver/types/resource-definition.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import { anything, optional } from "../../src/schema/builders.ts";
import type { Store } from "../../src/apiserver/store/store.ts";
import type { WatchQueue } from "../../src/apiserver/verbs/watch/watch-queue.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "./seeded-chance.ts";

const WIDGETS: ResourceType = { apiVersion: "example.com/v1", kind: "Widget", plural: "widgets", namespaced: true };

const widgets: ResourceDefinition = {
  type: WIDGETS,
  singular: "widget",
  shape: kindShape({ spec: optional(anything), status: optional(anything) }),
  strategy: {
    nameRule: dnsSubdomain,
    unconditionalUpdate: false,
    subresources: { status: replaceStatus },
    newGeneration: (object, old) => JSON.stringify(object["spec"]) !== JSON.stringify(old["spec"]),
    validate: ({ spec }) => (spec === "bad" ? [invalid("spec", spec, "must be good")] : []),
  },
};

function setup({ store = createMemoryStore(), seed = 1 }: { store?: Store; seed?: number } = {}) {
  const clock = createFakeClock(Date.UTC(2026, 0, 1, 0, 0, 0, 700));
  const registry = createRegistry({ store, definitions: [widgets], clock, chance: createSeededChance(seed) });
  const key = (name: string) => ({ namespace: "shop", name });
  const create = (name: string, rest: object = {}) => registry.create(WIDGETS, "shop", { metadata: { name }, ...rest });
  return { registry, store, clock, key, create };
}

async function statusOf(call: Promise<unknown>): Promise<Status> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isEngineError(error)) return error.details["status"] as Status;
  throw new Error(`Expected a Status, got ${String(error)}`);
}

describe("a registry", () => {
  test("tells a review who asks, where to warn, and whether it may have an effect", async () => {
    const store = createMemoryStore();
    const review: ResourceDefinition = {
      ...widgets,
      verbs: ["create"],
      review(object, user, { warn, dryRun }) {
        warn("think twice");
        return { ...object, status: { user: user.name, dryRun } };
      },
    };
    const registry = createRegistry({ store, definitions: [review], clock: createFakeClock(0), chance: createSeededChance(1) });
    const warnings: string[] = [];
    const ask = async (options: object) =>
      (await registry.create(WIDGETS, "shop", { metadata: {} }, { user: { name: "jane", groups: [] }, ...options }))["status"];
    expect(await ask({ dryRun: true, warn: (text: string) => warnings.push(text) })).toEqual({ user: "jane", dryRun: true });
    expect(await ask({})).toEqual({ user: "jane", dryRun: false });
    expect([warnings, await store.revision()]).toEqual([["think twice"], 1]);
  });

  test("creates with the clock's whole second, generation 1 and the type that the path names", async () => {
    const { create } = setup();
    expect(await create("a", { spec: 1 })).toMatchObject({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { creationTimestamp: "2026-01-01T00:00:00Z", generation: 1, namespace: "shop" },
    });
  });

  test("counts generations by what the kind says, the status not among it", async () => {
    const { registry, create, key } = setup();
    const created = await create("a", { spec: 1, status: 1 });
    const { object: relabelled } = await registry.update(WIDGETS, key("a"), {
      ...created,
      metadata: { ...created.metadata, labels: { a: "b" } },
    });
    const { object: changed } = await registry.update(WIDGETS, key("a"), { ...relabelled, spec: 2, status: 2 });
    const { object: reported } = await registry.update(WIDGETS, key("a"), { ...changed, spec: 3, status: 3 }, { subresource: "status" });
    expect([relabelled, changed, reported].map(({ metadata }) => metadata.generation)).toEqual([1, 2, 2]);
    expect([changed["status"], reported["status"], reported["spec"]]).toEqual([1, 3, 2]);
  });

  test("counts a generation once when an object begins to be deleted", async () => {
    const { registry, key } = setup();
    await registry.create(WIDGETS, "shop", { metadata: { name: "a", finalizers: ["example.com/wait"] } });
    const first = await registry.delete(WIDGETS, key("a"));
    const second = await registry.delete(WIDGETS, key("a"));
    expect([first.gone, first.object.metadata.generation, second.object]).toEqual([false, 2, first.object]);
  });

  test("tries eight generated names, then gives up with advice to come back", async () => {
    const generate = { metadata: { generateName: "w-" } };
    const { registry, store, clock } = setup();
    const unlucky = (fraction: number) =>
      createRegistry({ store, definitions: [widgets], clock, chance: { ...createSeededChance(), fraction: () => fraction } });
    expect((await unlucky(0).create(WIDGETS, "shop", generate)).metadata.name).toBe("w-bbbbb");
    const status = await statusOf(unlucky(0).create(WIDGETS, "shop", generate));
    expect(status).toMatchObject({ code: 409, reason: "AlreadyExists", details: { retryAfterSeconds: 1 } });
    expect(status.message).toMatch(/"w-bbbbb" already exists, the server was not able to generate a unique name for the object$/);
    // The seventh attempt is lucky: five letters each, all b before.
    let calls = 0;
    const chance = { ...createSeededChance(), fraction: () => ((calls += 1) <= 35 ? 0 : 0.5) };
    const lucky = createRegistry({ store, definitions: [widgets], clock, chance });
    expect((await lucky.create(WIDGETS, "shop", generate)).metadata.name).not.toBe("w-bbbbb");
    expect((await registry.list(WIDGETS)).items).toHaveLength(2);
  });

  test("refuses an update without resourceVersion where the kind demands one", async () => {
    const { registry, create, key } = setup();
    await create("a");
    expect(await statusOf(registry.update(WIDGETS, key("a"), { metadata: { name: "a" } }))).toMatchObject({
      code: 422,
      message: 'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
  });

  test("refuses what the kind finds invalid, by its Kind", async () => {
    const { create } = setup();
    expect(await statusOf(create("a", { spec: "bad" }))).toMatchObject({
      code: 422,
      message: 'Widget.example.com "a" is invalid: spec: Invalid value: "bad": must be good',
      details: { group: "example.com", kind: "Widget", causes: [{ field: "spec" }] },
    });
  });

  test("makes a patch again when another writer gets in between, up to five times", async () => {
    const inner = createMemoryStore();
    let intruders = 4;
    const store: Store = Object.assign(Object.create(inner) as Store, {
      update: async (key: string, object: KubeObject, expected: number) => {
        if (intruders > 0) {
          intruders -= 1;
          const current = (await inner.get(key))!;
          await inner.update(key, { ...current.object, spec: { intruders } }, current.revision);
        }
        return inner.update(key, object, expected);
      },
    });
    for (const method of ["revision", "get", "list", "create", "delete", "watch", "compact", "close"] as const) {
      Object.assign(store, { [method]: inner[method].bind(inner) });
    }
    const { registry, create, key } = setup({ store });
    await create("a", { spec: {} });
    const { object } = await registry.patch(WIDGETS, key("a"), "merge", { spec: { mine: true } });
    expect(object["spec"]).toEqual({ intruders: 0, mine: true });
    intruders = 5;
    expect((await statusOf(registry.patch(WIDGETS, key("a"), "merge", { spec: { mine: false } }))).reason).toBe("Conflict");
  });

  test.each([
    ["applies", false],
    ["applies without storing", true],
  ])("%s to the object that another applier created first, and gives up after five such losses", async (_what, dryRun) => {
    const store = createMemoryStore();
    const { registry, key } = setup({ store });
    const apply = (fieldManager: string, spec: object, options = {}) => {
      const body = { apiVersion: WIDGETS.apiVersion, kind: WIDGETS.kind, metadata: { name: "a" }, spec };
      return registry.patch(WIDGETS, key("a"), "apply", body, { fieldManager, ...options });
    };
    const read = store.get.bind(store);
    let appears = true;
    store.get = async (place) => {
      if (!appears) return read(place);
      appears = false;
      expect(await read(place)).toBeUndefined();
      await apply("other", { theirs: 1 });
      return undefined;
    };
    const { object, created } = await apply("own", { mine: 1 }, { dryRun });
    expect([object["spec"], created]).toEqual([{ theirs: 1, mine: 1 }, false]);
    store.get = async () => undefined;
    store.create = async () => undefined;
    expect((await statusOf(apply("own", { mine: 2 }))).reason).toBe("Conflict");
  });

  test("reads an older state once for a list with a selector, and lets other work proceed", async () => {
    const store = createMemoryStore();
    const { registry, create } = setup({ store });
    for (let index = 0; index < 2_000; index += 1) await create(`w${index}`);
    const past = String(await store.revision());
    await create("later");
    let [reads, others] = [0, 0];
    const list = store.list.bind(store);
    store.list = (range) => {
      reads += 1;
      return list(range);
    };
    let over = false;
    const count = () => void (over || ((others += 1), setImmediate(count)));
    setImmediate(count);
    const page = await registry.list(WIDGETS, { resourceVersion: past, limit: 1, labelSelector: "a=b" });
    over = true;
    expect([page.items, page.continue, reads]).toEqual([[], undefined, 1]);
    expect(others).toBeGreaterThanOrEqual(3);
  });

  test("a resource that it does not have is not found", async () => {
    const { registry } = setup();
    expect((await statusOf(registry.list({ ...WIDGETS, plural: "gadgets" }))).message).toBe(
      "the server could not find the requested resource",
    );
    expect(registry.find("example.com/v1", "widgets")).toBe(widgets);
    expect(registry.find("example.com/v2", "widgets")).toBeUndefined();
  });

  test("a body that is frozen or shared is left as it is", async () => {
    const { registry } = setup();
    const body = Object.freeze({ metadata: Object.freeze({ name: "a" }), spec: { mine: 1 } });
    await registry.create(WIDGETS, "shop", body);
    expect([Object.isFrozen(body.spec), body]).toEqual([false, { metadata: { name: "a" }, spec: { mine: 1 } }]);
  });
});

describe("a watch", () => {
  const drain = async (queue: WatchQueue) => {
    const batch = await queue.take();
    return batch?.map(
      ({ type, object }) => `${type} ${(object as KubeObject).metadata.name ?? (object as KubeObject).metadata.resourceVersion}`,
    );
  };

  test("marks its progress every minute and shortly before its end", async () => {
    const { registry, clock, create, store } = setup();
    const queue = await registry.watch(WIDGETS, { resourceVersion: "1", allowWatchBookmarks: true, timeoutSeconds: 100 });
    await create("a");
    expect(await drain(queue)).toEqual(["ADDED a"]);
    await store.create("/other/things/x", { apiVersion: "v1", kind: "Other", metadata: {} });
    await clock.advance(60_000);
    // The bookmark tells of revisions that the watch has nothing to say about.
    expect(await drain(queue)).toEqual([`BOOKMARK ${await store.revision()}`]);
    await clock.advance(38_000);
    expect(await drain(queue)).toEqual([`BOOKMARK ${await store.revision()}`]);
    await clock.advance(2_000);
    expect([await drain(queue), queue.ended, clock.pending]).toEqual([undefined, true, 0]);
  });

  test("without a timeout lives for 30 to 60 minutes, by chance", async () => {
    for (const seed of [1, 2, 3]) {
      const { registry, clock } = setup({ seed });
      const queue = await registry.watch(WIDGETS, { resourceVersion: "1" });
      await clock.advance(30 * 60_000 - 1);
      expect(queue.ended).toBe(false);
      await clock.advance(30 * 60_000 + 1);
      expect(queue.ended).toBe(true);
    }
  });

  test("without a reader ends instead of growing, and queued events still arrive", async () => {
    const { registry, create, clock } = setup();
    const queue = await registry.watch(WIDGETS, { resourceVersion: "1", queueCapacity: 3 });
    for (const name of ["a", "b", "c", "d", "e"]) await create(name);
    expect(queue.ended).toBe(true);
    expect(await drain(queue)).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
    expect([await drain(queue), clock.pending]).toEqual([undefined, 0]);
  });

  test("that overflows while it catches up leaves nothing behind in the store", async () => {
    const store = createMemoryStore();
    let open = 0;
    const watch = store.watch.bind(store);
    store.watch = async (options) => {
      const { progress, stop } = await watch(options);
      open += 1;
      return { progress, stop: () => ((open -= 1), stop()) };
    };
    const { registry, create, clock } = setup({ store });
    for (const name of ["a", "b", "c"]) await create(name);
    const queue = await registry.watch(WIDGETS, { resourceVersion: "1", queueCapacity: 2 });
    expect([await drain(queue), open, clock.pending]).toEqual([["ADDED a", "ADDED b"], 0, 0]);
  });

  test("ends with the store", async () => {
    const { registry, store } = setup();
    const queue = await registry.watch(WIDGETS, { resourceVersion: "1" });
    await store.close();
    expect(await drain(queue)).toBeUndefined();
  });

  test("shows what is there whatever the capacity", async () => {
    const { registry, create } = setup();
    for (const name of ["a", "b", "c"]) await create(name);
    expect(await drain(await registry.watch(WIDGETS, { queueCapacity: 1 }))).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
  });
});
