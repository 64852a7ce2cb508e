/**
 * What holds for stores whatever is written to them.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/kube/object/types.ts";
import type { StoredObject, StoreEvent } from "../../src/apiserver/store/store.ts";
import { key, object, PREFIX, settled, type StoreSuiteOptions } from "./store-setting.ts";

const VERBS = ["create", "update", "update", "delete"] as const;

/** Runs every law against stores that `create` makes. */
export function storeLaws({ name, create, runs }: Required<StoreSuiteOptions>): void {
  describe(`${name}: laws`, () => {
    const step = fc.record({ name: fc.constantFrom("a", "b", "c"), text: fc.constantFrom("x", "y"), remove: fc.boolean() });

    test("a watch replayed from any revision onto the list of that revision gives the present list", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(30), async (steps, cut) => {
          const store = await create({ history: 1_000 });
          const snapshots = [await store.list({ prefix: PREFIX })];
          for (const { name: label, text, remove } of steps) {
            const present = await store.get(key(label));
            if (present === undefined) await store.create(key(label), object(label, text));
            else if (remove) await store.delete(key(label), present.revision);
            else await store.update(key(label), object(label, text), present.revision);
            snapshots.push(await store.list({ prefix: PREFIX }));
          }
          const from = snapshots[Math.min(cut, snapshots.length - 1)]!;
          const replica = new Map(from.objects.map((stored) => [stored.key, stored.object]));
          await store.watch({
            prefix: PREFIX,
            after: from.revision,
            onEvent: ({ type, key: at, object: state }) => void (type === "deleted" ? replica.delete(at) : replica.set(at, state)),
          });
          const present = snapshots.at(-1)!;
          const want = present.objects.map((stored) => stored.object);
          await settled(() => replica.size === want.length);
          expect([...replica].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, state]) => state)).toEqual(want);
          expect(await store.list({ prefix: PREFIX, revision: from.revision })).toEqual(from);
          await store.close();
        }),
        { numRuns: runs },
      );
    });

    test("writes that happen at once happen one after the other, and every watch tells of each once", async () => {
      const write = fc.record({
        name: fc.constantFrom("a", "b", "c"),
        text: fc.constantFrom("x", "y"),
        verb: fc.constantFrom(...VERBS),
        age: fc.nat(2),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(write, { minLength: 1, maxLength: 6 }), { maxLength: 8 }), async (rounds) => {
          const store = await create({ history: 1_000 });
          const start = await store.revision();
          const watches: { after: number; events: StoreEvent[] }[] = [];
          const done: StoredObject[] = [];
          for (const round of rounds) {
            const after = await store.revision();
            const writing = round.map(async ({ name: label, text, verb, age }) => {
              if (verb === "create") return store.create(key(label), object(label, text));
              // A writer that read a little too long ago loses.
              const expected = after - age;
              return verb === "delete" ? store.delete(key(label), expected) : store.update(key(label), object(label, text), expected);
            });
            const events: StoreEvent[] = [];
            watches.push({ after, events });
            await store.watch({ prefix: PREFIX, after, onEvent: (event) => events.push(event) });
            done.push(...(await Promise.all(writing)).filter((stored) => stored !== undefined));
          }
          const all: StoreEvent[] = [];
          await store.watch({ prefix: PREFIX, after: start, onEvent: (event) => all.push(event) });
          await settled(() => all.length >= done.length);
          expect(all.map(({ revision }) => revision)).toEqual(all.map((_, index) => start + 1 + index));
          const told = new Map(all.map(({ key: at, object: state, revision }) => [revision, { key: at, object: state, revision }]));
          expect(done.map(({ revision }) => told.get(revision))).toEqual(done);
          expect(told.size).toBe(done.length);
          checkChains(all);
          for (const { after, events } of watches) expect(events).toEqual(all.filter(({ revision }) => revision > after));
          await store.close();
        }),
        { numRuns: runs },
      );
    });
  });
}

/** Each event of a key goes on where the one before it ended. */
function checkChains(events: readonly StoreEvent[]): void {
  const states = new Map<string, KubeObject | undefined>();
  for (const { type, key: at, object: state, previous } of events) {
    expect(previous).toEqual(states.get(at));
    expect(type === "created").toBe(previous === undefined);
    states.set(at, type === "deleted" ? undefined : state);
  }
}
