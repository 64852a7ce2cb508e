/**
 * What every store promises (`src/apiserver/store/store.ts`), as a suite that each implementation runs.
 */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/kube/object/types.ts";
import type { StoredObject, StoreEvent } from "../../src/apiserver/store/store.ts";
import { storeLaws } from "./store-laws.ts";
import { storeWatchCases } from "./store-watches.ts";
import { key, object, PREFIX, settled, type StoreSuiteOptions } from "./store-setting.ts";
import { storesOf } from "./with-store.ts";

/** Runs every case against stores that `create` makes. */
export function storeSuite({ name, create, runs = 100 }: StoreSuiteOptions): void {
  const withStore = storesOf(create);

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
      "an object that was recreated is not the one that was seen before",
      withStore(async (store) => {
        const seen = (await store.create(key("db"), object("db", "one")))!;
        await store.delete(key("db"), seen.revision);
        const again = (await store.create(key("db"), object("db", "one")))!;
        expect(await store.update(key("db"), object("db", "two"), seen.revision)).toBeUndefined();
        expect(await store.delete(key("db"), seen.revision)).toBeUndefined();
        expect(await store.get(key("db"))).toEqual(again);
      }),
    );

    test(
      "the revision is stamped over whatever the writer set",
      withStore(async (store) => {
        const given = object("db", "one");
        const created = (await store.create(key("db"), { ...given, metadata: { ...given.metadata, resourceVersion: "7000" } }))!;
        expect(created.object.metadata.resourceVersion).toBe(String(created.revision));
        const updated = (await store.update(key("db"), created.object, created.revision))!;
        expect(updated.object.metadata.resourceVersion).toBe(String(updated.revision));
      }),
    );

    test(
      "what the writer does to its object after the call is not part of the write",
      withStore(async (store) => {
        const given: Record<string, unknown> & KubeObject = { ...object("db", "one") };
        const writing = store.create(key("db"), given);
        given["data"] = { text: "two" };
        expect((await writing)!.object["data"]).toEqual({ text: "one" });
      }),
    );

    test(
      "all readers share one object, frozen all the way down",
      withStore(async (store) => {
        const events: StoreEvent[] = [];
        await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: (event) => events.push(event) });
        const created = (await store.create(key("db"), object("db")))!;
        const { object: read } = (await store.get(key("db")))!;
        const { objects } = await store.list({ prefix: PREFIX });
        await settled(() => events.length === 1);
        expect([created.object === read, objects[0]!.object === read, events[0]!.object === read]).toEqual([true, true, true]);
        expect([read, read.metadata, read["data"]].every(Object.isFrozen)).toBe(true);
      }),
    );

    test(
      "any JSON is kept as it is",
      withStore(async (store) => {
        const data = JSON.parse('{"__proto__": {"a": 1}, "constructor": null, "": [[]], "2": 0.1, "1": -1e300}') as object;
        const texts = ["a\0b", "\ud800", "😀", '"\\\n\u2028', "x".repeat(100_000)];
        await store.create(key("db"), { ...object("db"), data, texts });
        const { object: read } = (await store.get(key("db")))!;
        expect([JSON.stringify(read["data"]), read["texts"]]).toEqual([JSON.stringify(data), texts]);
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

  describe(`${name}: revisions`, () => {
    test(
      "are positive, and one is taken by each write, whatever its key",
      withStore(async (store) => {
        const before = await store.revision();
        expect(before).toBeGreaterThan(0);
        const names = Array.from({ length: 40 }, (_, index) => `n${index % 30}`);
        const written = await Promise.all(names.map((label) => store.create(key(label), object(label))));
        const revisions = written.flatMap((stored) => stored?.revision ?? []).sort((left, right) => left - right);
        expect(revisions).toEqual(Array.from({ length: 30 }, (_, index) => before + 1 + index));
        expect(await store.revision()).toBe(before + 30);
      }),
    );

    test(
      "of what was acknowledged are seen by every read that begins later",
      withStore(async (store) => {
        const lateReads = ["a", "b", "c"].map(async (label) => {
          const written = (await store.create(key(label), object(label)))!;
          const [revision, read, { objects }] = await Promise.all([
            store.revision(),
            store.get(key(label)),
            store.list({ prefix: PREFIX }),
          ]);
          return [revision >= written.revision, read, objects.some((stored) => stored.key === key(label))];
        });
        for (const [reached, read, listed] of await Promise.all(lateReads))
          expect([reached, read !== undefined, listed]).toEqual([true, true, true]);
      }),
    );
  });

  describe(`${name}: terms`, () => {
    test(
      "what is refused at the moment of the write does not happen",
      withStore(async (store) => {
        const demand = () => {
          throw new Error("not any more");
        };
        const there = (await store.create(key("there"), object("there")))!;
        const writes = [
          store.create(key("new"), object("new"), { demand }),
          store.update(there.key, object("there", "two"), there.revision, { demand }),
          store.delete(there.key, there.revision, { demand }),
        ];
        for (const { status } of await Promise.allSettled(writes)) expect(status).toBe("rejected");
        expect((await store.list({ prefix: PREFIX })).objects).toEqual([there]);
        expect(await store.update(there.key, object("there", "three"), there.revision)).toBeDefined();
      }),
    );

    test(
      "no write happens after one that revokes and that it was not judged by, however many are on their way",
      withStore(async (store) => {
        const flag = (await store.create(key("flag"), object("flag", "on")))!;
        const events: StoreEvent[] = [];
        let on = true;
        const onEvent = (event: StoreEvent) => {
          events.push(event);
          if (event.key === flag.key) on = false;
        };
        await store.watch({ prefix: PREFIX, after: flag.revision, onEvent });
        const demand = () => {
          if (!on) throw new Error("not any more");
        };
        const create = (index: number) => store.create(key(`made-${index}`), object("made"), { demand });
        const before = Array.from({ length: 20 }, (_, index) => create(index));
        const revoking = store.update(flag.key, object("flag", "off"), flag.revision, { revokes: true });
        const after = Array.from({ length: 20 }, (_, index) => create(20 + index));
        const made = (await Promise.allSettled([...before, ...after])).filter(({ status }) => status === "fulfilled").length;
        expect(await revoking).toBeDefined();
        await settled(() => events.length === made + 1);
        expect(events.slice(events.findIndex((event) => event.key === flag.key) + 1)).toEqual([]);
        expect((await store.list({ prefix: PREFIX })).objects).toHaveLength(made + 1);
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
      "pages of one state fit together, whatever is written between them",
      withStore(async (store) => {
        for (const label of ["a", "b", "c", "d", "e"]) await store.create(key(label), object(label, "one"));
        const whole = await store.list({ prefix: PREFIX });
        const pages: StoredObject[] = [];
        let page = await store.list({ prefix: PREFIX, limit: 2 });
        for (const round of [1, 2, 3]) {
          pages.push(...page.objects);
          expect(page.remaining).toBe(5 - pages.length);
          for (const { key: at, revision } of (await store.list({ prefix: PREFIX })).objects) {
            if (at < key("d")) await store.delete(at, revision);
            else await store.update(at, object("x", "two"), revision);
          }
          await store.create(key(`a${round}`), object("new"));
          page = await store.list({ prefix: PREFIX, start: `${page.objects.at(-1)!.key}\0`, limit: 2, revision: whole.revision });
        }
        expect(pages).toEqual(whole.objects);
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

  storeWatchCases({ name, withStore });
  storeLaws({ name, create, runs });
}
