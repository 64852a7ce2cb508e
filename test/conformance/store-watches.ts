/**
 * What every store's watches tell, and what it still knows of the past.
 */
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../src/base/errors.ts";
import type { Store, StoreEvent, StoreWatch } from "../../src/apiserver/store/store.ts";
import { key, object, PREFIX, settled } from "./store-setting.ts";
import type { WithStore } from "./with-store.ts";

/** Runs the cases against the stores that `withStore` gives them. */
export function storeWatchCases({ name, withStore }: { readonly name: string; readonly withStore: WithStore }): void {
  describe(`${name}: watch`, () => {
    const follow = async (store: Store, after: number, prefix = PREFIX) => {
      const events: StoreEvent[] = [];
      let ended = 0;
      const watch = await store.watch({ prefix, after, onEvent: (event) => events.push(event), onEnd: () => (ended += 1) });
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
      "a watch that begins within an event sees it once, if at all",
      withStore(async (store) => {
        const { revision } = (await store.create(key("a"), object("a")))!;
        const inner: string[] = [];
        const begin = (after: number) =>
          void store.watch({ prefix: PREFIX, after, onEvent: (event) => inner.push(`${after - revision}:${event.object.metadata.name}`) });
        let begun = false;
        const onEvent = (event: StoreEvent) => {
          if (begun) return;
          begun = true;
          begin(event.revision - 1);
          begin(event.revision);
        };
        await store.watch({ prefix: PREFIX, after: revision, onEvent });
        const created = await Promise.all(["b", "c"].map((label) => store.create(key(label), object(label))));
        await settled(() => inner.length >= 3);
        // At once means in either order.
        const [first, second] = created.map((stored) => stored!).toSorted((one, other) => one.revision - other.revision);
        const [before, after] = [first!, second!].map(({ object: { metadata } }) => metadata.name);
        expect(inner.sort()).toEqual([`0:${before}`, `0:${after}`, `1:${after}`].sort());
      }),
    );

    test(
      "a watch that is stopped by another one's event sees no more",
      withStore(async (store) => {
        const after = await store.revision();
        const watches: StoreWatch[] = [];
        let calls = 0;
        const onEvent = () => {
          calls += 1;
          watches.forEach((watch) => watch.stop());
        };
        for (let watcher = 0; watcher < 3; watcher += 1) watches.push(await store.watch({ prefix: PREFIX, after, onEvent }));
        const witness = await follow(store, after);
        await Promise.all(["a", "b"].map((label) => store.create(key(label), object(label))));
        await settled(() => witness.events.length === 2);
        expect(calls).toBe(1);
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
        expect([stopped.events.length, stopped.ended(), running.ended()]).toEqual([0, 0, 1]);
        running.watch.stop();
        await store.close();
        expect(running.ended()).toBe(1);
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
}
