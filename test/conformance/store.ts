/**
 * What every store promises (`src/server/store.ts`), as a suite that each implementation runs.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../src/base/errors.ts";
import type { KubeObject } from "../../src/object/types.ts";
import type { Store, StoreEvent } from "../../src/server/store.ts";

/** One implementation. */
export interface StoreSuiteOptions {
  readonly name: string;
  /** An empty store that remembers at least `history` events and at most twice as many. */
  readonly create: (options: { history: number }) => Promise<Store>;
  /** Property runs. Default 100. */
  readonly runs?: number;
}

const PREFIX = "/core/configmaps/";
const key = (name: string, namespace = "shop") => `${PREFIX}${namespace}/${name}`;
const object = (name: string, text = ""): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop" },
  data: { text },
});

/** Runs every case against stores that `create` makes. */
export function storeSuite({ name, create, runs = 100 }: StoreSuiteOptions): void {
  const withStore = (act: (store: Store) => Promise<void>, history = 1_000) => {
    return async () => {
      const store = await create({ history });
      try {
        await act(store);
      } finally {
        await store.close();
      }
    };
  };

  describe(`${name}: one object`, () => {
    test(
      "a created object carries its revision and is read back frozen",
      withStore(async (store) => {
        const created = await store.create(key("db"), object("db", "one"));
        expect(created?.object.metadata.resourceVersion).toBe(String(created?.revision));
        const read = await store.get(key("db"));
        expect(read).toEqual(created);
        expect(Object.isFrozen(read!.object)).toBe(true);
        expect(Object.isFrozen(read!.object["data"])).toBe(true);
      }),
    );

    test(
      "the caller's object is not touched",
      withStore(async (store) => {
        const given = object("db");
        await store.create(key("db"), { ...given, metadata: given.metadata });
        expect(given.metadata.resourceVersion).toBeUndefined();
      }),
    );

    test(
      "a key is created once",
      withStore(async (store) => {
        await store.create(key("db"), object("db", "one"));
        expect(await store.create(key("db"), object("db", "two"))).toBeUndefined();
        expect((await store.get(key("db")))!.object["data"]).toEqual({ text: "one" });
      }),
    );

    test(
      "an update happens only at the expected revision",
      withStore(async (store) => {
        const created = (await store.create(key("db"), object("db", "one")))!;
        const updated = (await store.update(key("db"), object("db", "two"), created.revision))!;
        expect(updated.revision).toBeGreaterThan(created.revision);
        expect(await store.update(key("db"), object("db", "three"), created.revision)).toBeUndefined();
        expect(await store.update(key("none"), object("none"), created.revision)).toBeUndefined();
        expect(await store.get(key("db"))).toEqual(updated);
      }),
    );

    test(
      "a deletion happens only at the expected revision and takes one of its own",
      withStore(async (store) => {
        const created = (await store.create(key("db"), object("db")))!;
        expect(await store.delete(key("db"), created.revision + 1)).toBeUndefined();
        const deleted = (await store.delete(key("db"), created.revision))!;
        expect(deleted.revision).toBeGreaterThan(created.revision);
        expect(deleted.object.metadata.resourceVersion).toBe(String(deleted.revision));
        expect(await store.get(key("db"))).toBeUndefined();
        expect(await store.delete(key("db"), deleted.revision)).toBeUndefined();
      }),
    );

    test(
      "of two writers from one revision exactly one wins",
      withStore(async (store) => {
        const { revision } = (await store.create(key("db"), object("db")))!;
        const writes = [1, 2, 3, 4].map((n) => store.update(key("db"), object("db", String(n)), revision));
        expect((await Promise.all(writes)).filter((written) => written !== undefined)).toHaveLength(1);
      }),
    );

    test(
      "refused writes take no revision",
      withStore(async (store) => {
        const { revision } = (await store.create(key("db"), object("db")))!;
        await store.create(key("db"), object("db"));
        await store.update(key("db"), object("db"), revision + 1);
        await store.delete(key("db"), revision + 1);
        expect(await store.revision()).toBe(revision);
      }),
    );
  });

  describe(`${name}: list`, () => {
    test(
      "objects come in order of their keys, within the prefix only",
      withStore(async (store) => {
        for (const [namespace, label] of [
          ["shop-2", "a"],
          ["shop", "b"],
          ["shop", "a.b"],
          ["shop", "a"],
        ] as const) {
          await store.create(key(label, namespace), object(label));
        }
        await store.create("/core/configmapsx/shop/z", object("z"));
        const names = async (prefix: string) => (await store.list({ prefix })).objects.map((stored) => stored.key.slice(PREFIX.length));
        expect(await names(PREFIX)).toEqual(["shop-2/a", "shop/a", "shop/a.b", "shop/b"]);
        expect(await names(`${PREFIX}shop/`)).toEqual(["shop/a", "shop/a.b", "shop/b"]);
        expect(await names("/core/services/")).toEqual([]);
      }),
    );

    test(
      "pages tell what is left and go on where they ended",
      withStore(async (store) => {
        for (const label of ["a", "b", "c", "d", "e"]) await store.create(key(label), object(label));
        const first = await store.list({ prefix: PREFIX, limit: 2 });
        expect([first.objects.map((stored) => stored.object.metadata.name), first.remaining]).toEqual([["a", "b"], 3]);
        const start = `${first.objects[1]!.key}\0`;
        const rest = await store.list({ prefix: PREFIX, start, revision: first.revision });
        expect([rest.objects.map((stored) => stored.object.metadata.name), rest.remaining]).toEqual([["c", "d", "e"], 0]);
      }),
    );

    test(
      "an earlier state is read as it was",
      withStore(async (store) => {
        const a = (await store.create(key("a"), object("a", "one")))!;
        const b = (await store.create(key("b"), object("b", "one")))!;
        const before = await store.list({ prefix: PREFIX });
        await store.update(key("a"), object("a", "two"), a.revision);
        await store.delete(key("b"), b.revision);
        await store.create(key("c"), object("c"));
        expect(await store.list({ prefix: PREFIX, revision: before.revision })).toEqual(before);
        expect((await store.list({ prefix: PREFIX, revision: a.revision })).objects).toEqual([a]);
      }),
    );
  });

  describe(`${name}: watch`, () => {
    const follow = async (store: Store, after: number, prefix = PREFIX) => {
      const events: StoreEvent[] = [];
      let ended = false;
      const watch = await store.watch({ prefix, after, onEvent: (event) => events.push(event), onEnd: () => (ended = true) });
      return { events, watch, ended: () => ended };
    };

    test(
      "events carry the state and what was before",
      withStore(async (store) => {
        const { events } = await follow(store, await store.revision());
        const created = (await store.create(key("db"), object("db", "one")))!;
        const updated = (await store.update(key("db"), object("db", "two"), created.revision))!;
        const deleted = (await store.delete(key("db"), updated.revision))!;
        await settled(() => events.length === 3);
        expect(events).toEqual([
          { type: "created", key: key("db"), revision: created.revision, object: created.object },
          { type: "updated", key: key("db"), revision: updated.revision, object: updated.object, previous: created.object },
          { type: "deleted", key: key("db"), revision: deleted.revision, object: deleted.object, previous: updated.object },
        ]);
      }),
    );

    test(
      "a watch from the past catches up first, then follows, and sees nothing twice",
      withStore(async (store) => {
        const first = (await store.create(key("a"), object("a")))!;
        await store.create(key("b"), object("b"));
        const { events } = await follow(store, first.revision);
        await store.create(key("c"), object("c"));
        await settled(() => events.length === 2);
        expect(events.map((event) => event.object.metadata.name)).toEqual(["b", "c"]);
      }),
    );

    test(
      "a watch sees its prefix and nothing else",
      withStore(async (store) => {
        const all = await follow(store, await store.revision());
        const shop = await follow(store, await store.revision(), `${PREFIX}shop/`);
        const everything = await follow(store, await store.revision(), "/");
        await store.create(key("a", "shop"), object("a"));
        await store.create(key("a", "shop-2"), object("a"));
        await store.create("/core/services/shop/a", object("a"));
        await settled(() => everything.events.length === 3);
        expect([shop.events.length, all.events.length]).toEqual([1, 2]);
      }),
    );

    test(
      "a watch from the future waits for it",
      withStore(async (store) => {
        const { revision } = (await store.create(key("a"), object("a")))!;
        const { events } = await follow(store, revision + 1);
        await store.create(key("b"), object("b"));
        await store.create(key("c"), object("c"));
        await settled(() => events.length > 0);
        expect(events.map((event) => event.object.metadata.name)).toEqual(["c"]);
      }),
    );

    test(
      "nothing arrives after stop, and closing the store ends the others",
      withStore(async (store) => {
        const stopped = await follow(store, await store.revision());
        const running = await follow(store, await store.revision());
        stopped.watch.stop();
        await store.create(key("a"), object("a"));
        await settled(() => running.events.length === 1);
        await store.close();
        expect([stopped.events.length, stopped.ended(), running.ended()]).toEqual([0, false, true]);
      }),
    );

    test(
      "progress reaches the revision of the last write, of other prefixes too",
      withStore(async (store) => {
        const { watch } = await follow(store, await store.revision());
        const { revision } = (await store.create("/core/services/shop/a", object("a")))!;
        await settled(() => watch.progress() >= revision);
        expect(watch.progress()).toBe(revision);
      }),
    );
  });

  describe(`${name}: history`, () => {
    const expired = async (call: Promise<unknown>) => {
      const error = await call.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return isEngineError(error, "API_EXPIRED") ? error.details["oldest"] : error;
    };

    test(
      "compaction forgets what was, not what is; running watches go on",
      withStore(async (store) => {
        const { revision } = (await store.create(key("a"), object("a")))!;
        const events: StoreEvent[] = [];
        await store.watch({ prefix: PREFIX, after: revision, onEvent: (event) => events.push(event) });
        const b = (await store.create(key("b"), object("b")))!;
        await store.compact();
        expect(await expired(store.watch({ prefix: PREFIX, after: revision, onEvent: () => {} }))).toBe(b.revision);
        expect(await expired(store.list({ prefix: PREFIX, revision }))).toBe(b.revision);
        expect((await store.list({ prefix: PREFIX, revision: b.revision })).objects).toHaveLength(2);
        await store.create(key("c"), object("c"));
        await settled(() => events.length === 2);
        expect(events.map((event) => event.object.metadata.name)).toEqual(["b", "c"]);
      }),
    );

    test(
      "the window is bounded by itself",
      withStore(async (store) => {
        const { revision } = (await store.create(key("a"), object("a")))!;
        let last = revision;
        for (let write = 0; write < 25; write += 1) last = (await store.update(key("a"), object("a", String(write)), last))!.revision;
        expect(await expired(store.watch({ prefix: PREFIX, after: revision, onEvent: () => {} }))).toBeGreaterThan(revision);
        const events: StoreEvent[] = [];
        await store.watch({ prefix: PREFIX, after: last - 10, onEvent: (event) => events.push(event) });
        await settled(() => events.length === 10);
      }, 10),
    );
  });

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
  });
}

/** Waits for deliveries that a store may make a little later. */
async function settled(condition: () => boolean): Promise<void> {
  for (let round = 0; !condition() && round < 1_000; round += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  expect(condition(), "the events arrive").toBe(true);
}
