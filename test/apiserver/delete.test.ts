import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { dnsSubdomain } from "../../src/apiserver/types/objects/names.ts";
import { readDeleteParameters } from "../../src/apiserver/http/query.ts";
import { createRegistry } from "../../src/apiserver/verbs/registry.ts";
import type { ResourceDefinition } from "../../src/apiserver/types/resource-definition.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import { anything, optional } from "../../src/schema/builders.ts";
import type { StoreEvent } from "../../src/apiserver/store/store.ts";
import type { DeleteOptions } from "../../src/apiserver/verbs/write/delete.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "./seeded-chance.ts";

const TASKS: ResourceType = { apiVersion: "example.com/v1", kind: "Task", plural: "tasks", namespaced: true };
const NOTES: ResourceType = { apiVersion: "example.com/v1", kind: "Note", plural: "notes", namespaced: true };

const shape = kindShape({ spec: optional(anything) });
const newGeneration = () => false;
const definitions: ResourceDefinition[] = [
  { type: TASKS, singular: "task", shape, strategy: { nameRule: dnsSubdomain, newGeneration, gracePeriod: (_task, asked) => asked ?? 30 } },
  { type: NOTES, singular: "note", shape, strategy: { nameRule: dnsSubdomain, newGeneration } },
];

const START = Date.UTC(2026, 0, 1);

async function setup() {
  const clock = createFakeClock(START);
  const store = createMemoryStore();
  const registry = createRegistry({ store, definitions, clock, chance: createSeededChance() });
  const events: StoreEvent[] = [];
  await store.watch({ prefix: "/", after: await store.revision(), onEvent: (event) => events.push(event) });
  const key = { namespace: "shop", name: "a" };
  const create = (type: ResourceType, finalizers: string[] = []) =>
    registry.create(type, "shop", { metadata: { name: "a", ...(finalizers.length > 0 && { finalizers }) } });
  const remove = async (type: ResourceType, options: DeleteOptions = {}) => {
    const { object, gone } = await registry.delete(type, key, options);
    return { gone, ...object.metadata };
  };
  const lift = async (type: ResourceType) => {
    const current = await registry.get(type, key);
    return registry.update(type, key, { ...current, metadata: { ...current.metadata, finalizers: [] } });
  };
  const types = () => events.map((event) => event.type);
  return { clock, registry, store, key, create, remove, lift, types };
}

describe("a graceful deletion", () => {
  test("gives the kind's own time, and answers the object with the moment of its end", async () => {
    const { create, remove } = await setup();
    await create(TASKS);
    const end = { gone: false, deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30, generation: 2 };
    expect(await remove(TASKS)).toMatchObject(end);
  });

  test.each([
    { why: "a longer time is not given later", asked: 40, grace: 30, end: "00:00:30" },
    { why: "the same time changes nothing", asked: 30, grace: 30, end: "00:00:30" },
    { why: "a shorter time counts from the first request", asked: 20, grace: 20, end: "00:00:20" },
    { why: "a negative time is a second", asked: -5, grace: 1, end: "00:00:01" },
    { why: "no time named changes nothing", asked: undefined, grace: 30, end: "00:00:30" },
  ])("$why", async ({ asked, grace, end }) => {
    const { create, remove, clock } = await setup();
    await create(TASKS);
    await remove(TASKS);
    await clock.advance(10_000);
    const again = await remove(TASKS, asked === undefined ? {} : { gracePeriodSeconds: asked });
    expect(again).toMatchObject({ deletionGracePeriodSeconds: grace, deletionTimestamp: `2026-01-01T${end}Z`, generation: 2, gone: false });
  });

  test("without time left is the end, unless finalizers wait", async () => {
    const { create, remove, lift, registry, key } = await setup();
    await create(TASKS);
    expect(await remove(TASKS, { gracePeriodSeconds: 0 })).toMatchObject({ gone: true });
    await create(TASKS, ["example.com/wait"]);
    await remove(TASKS);
    expect(await remove(TASKS, { gracePeriodSeconds: 0 })).toMatchObject({ gone: false, deletionGracePeriodSeconds: 0 });
    await lift(TASKS);
    await expect(registry.get(TASKS, key)).rejects.toMatchObject({ code: "API_NOT_FOUND" });
  });

  test("is not cut short by the last finalizer's end", async () => {
    const { create, remove, lift, registry, key } = await setup();
    await create(TASKS, ["example.com/wait"]);
    await remove(TASKS);
    await lift(TASKS);
    expect((await registry.get(TASKS, key)).metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    expect(await remove(TASKS, { gracePeriodSeconds: 0 })).toMatchObject({ gone: true });
  });

  test("keeps the policy with which it began, unless it is cut short", async () => {
    const { create, remove } = await setup();
    await create(TASKS);
    await remove(TASKS);
    const orphan = { propagationPolicy: "Orphan" } as const;
    expect((await remove(TASKS, { ...orphan, gracePeriodSeconds: 30 })).finalizers).toBeUndefined();
    expect((await remove(TASKS, { ...orphan, gracePeriodSeconds: 20 })).finalizers).toEqual(["orphan"]);
  });

  test("takes no time where the kind needs none", async () => {
    const { create, remove } = await setup();
    await create(NOTES);
    expect(await remove(NOTES, { gracePeriodSeconds: 60 })).toMatchObject({ gone: true });
  });

  test("never moves its end away, and has one that can be written, whatever is asked", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.integer({ min: -10, max: 100 }), fc.maxSafeInteger()), { minLength: 1, maxLength: 6 }),
        async (all) => {
          const { create, remove } = await setup();
          await create(TASKS);
          let last = Infinity;
          for (const gracePeriodSeconds of all) {
            const { gone, deletionTimestamp } = await remove(TASKS, { gracePeriodSeconds });
            if (gone) return;
            const end = Date.parse(String(deletionTimestamp));
            expect(end).toBeLessThanOrEqual(last);
            last = end;
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("finalizers", () => {
  test.each([
    { why: "Orphan leaves the dependents to the collector first", options: { propagationPolicy: "Orphan" }, want: ["orphan"] },
    { why: "Foreground waits for the dependents", options: { propagationPolicy: "Foreground" }, want: ["foregroundDeletion"] },
    { why: "orphanDependents is the old word for Orphan", options: { orphanDependents: true }, want: ["orphan"] },
    { why: "the object's own finalizer decides by default", has: ["orphan"], options: {}, want: ["orphan"] },
    {
      why: "the request decides over the object",
      has: ["orphan"],
      options: { propagationPolicy: "Foreground" },
      want: ["foregroundDeletion"],
    },
    {
      why: "other finalizers stay first",
      has: ["example.com/wait"],
      options: { propagationPolicy: "Orphan" },
      want: ["example.com/wait", "orphan"],
    },
  ] as const)("$why", async ({ has = [], options, want }: { has?: readonly string[]; options: DeleteOptions; want: readonly string[] }) => {
    const { create, remove } = await setup();
    await create(NOTES, [...has]);
    expect(await remove(NOTES, options)).toMatchObject({ gone: false, finalizers: want, deletionGracePeriodSeconds: 0, generation: 2 });
  });

  test.each([{ propagationPolicy: "Background" }, { orphanDependents: false }] as const)(
    "%j takes away what waits for dependents",
    async (options) => {
      const { create, remove } = await setup();
      await create(NOTES, ["foregroundDeletion"]);
      expect(await remove(NOTES)).toMatchObject({ gone: false });
      expect(await remove(NOTES, options)).toMatchObject({ gone: true });
    },
  );

  test("the last one that is lifted ends the object, with the object as answer and one event", async () => {
    const { create, remove, lift, types } = await setup();
    await create(NOTES, ["example.com/wait"]);
    await remove(NOTES);
    await remove(NOTES);
    const { object } = await lift(NOTES);
    expect([object.metadata.name, object.metadata.finalizers, types()]).toEqual(["a", undefined, ["created", "updated", "deleted"]]);
  });

  test("are not added while the object is being deleted", async () => {
    const { create, remove, registry, key } = await setup();
    await create(NOTES, ["example.com/wait"]);
    await remove(NOTES);
    const { metadata, ...rest } = (await registry.get(NOTES, key)) as KubeObject;
    const more = { ...rest, metadata: { ...metadata, finalizers: ["example.com/wait", "example.com/more"] } };
    await expect(registry.update(NOTES, key, more)).rejects.toMatchObject({ code: "API_INVALID" });
  });

  test("a dry run answers the state and leaves none", async () => {
    const { create, remove, registry, key, types } = await setup();
    await create(NOTES);
    expect(await remove(NOTES, { propagationPolicy: "Orphan", dryRun: true })).toMatchObject({ gone: false, finalizers: ["orphan"] });
    expect([(await registry.get(NOTES, key)).metadata.finalizers, types()]).toEqual([undefined, ["created"]]);
  });
});

describe("DeleteOptions", () => {
  const read = (query: string, body?: unknown) => readDeleteParameters(new URLSearchParams(query), body);

  test("are read from the body, or from the query when there is none", () => {
    const all = { propagationPolicy: "Orphan", gracePeriodSeconds: 5 };
    expect(read("propagationPolicy=Orphan&gracePeriodSeconds=5")).toMatchObject(all);
    expect(read("gracePeriodSeconds=9", all)).toMatchObject(all);
    expect(read("orphanDependents=false").orphanDependents).toBe(false);
  });

  test("null is as good as nothing", () => {
    const body = { propagationPolicy: null, orphanDependents: null, gracePeriodSeconds: null };
    expect(read("", body)).toEqual({ preconditions: {}, dryRun: false });
  });

  test.each([
    { why: "both ways at once", body: { propagationPolicy: "Orphan", orphanDependents: true }, code: "API_INVALID" },
    { why: "an unknown policy", body: { propagationPolicy: "Gently" }, code: "API_INVALID" },
    { why: "a policy that is not a string", body: { propagationPolicy: 1 }, code: "API_INVALID" },
    { why: "a time that is not a number", body: { gracePeriodSeconds: "soon" }, code: "API_BAD_REQUEST" },
    { why: "half a second", body: { gracePeriodSeconds: 0.5 }, code: "API_BAD_REQUEST" },
    { why: "an orphan that is neither true nor false", body: { orphanDependents: "yes" }, code: "API_BAD_REQUEST" },
  ])("refuse $why", ({ body, code }) => {
    expect(() => read("", body)).toThrowError(expect.objectContaining({ code }) as Error);
  });
});
