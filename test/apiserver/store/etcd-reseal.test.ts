/** Values in etcd under another key: one after the other, each a write, and nothing of the old key is left in etcd's history. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { createLineLogger } from "../../../src/base/logger.ts";
import { openEtcdStore, type EtcdStore, type EtcdStoreOptions } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { startResealing } from "../../../src/apiserver/store/resealing.ts";
import type { StoreEvent } from "../../../src/apiserver/store/store.ts";
import { cipherOf, keyId, resealableSuite, resealAll } from "../../conformance/resealable.ts";
import { key, object, PREFIX, settled } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { presentTexts, textsOfHistory } from "../support/sealed-texts.ts";

const NAMES = ["a", "b", "c", "d", "e"];

describeEtcd("sealing again in etcd", () => {
  let etcd: Etcd;
  let places = 0;
  let prefix = "";
  /** The revision at which the place of this test was empty. */
  let start = 0;
  let stores: EtcdStore[] = [];
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  const newPlace = () => `/reseal/${(places += 1)}/`;

  const open = async (keys: readonly number[], options: Partial<EtcdStoreOptions> = {}) => {
    const store = await openEtcdStore({ endpoints: [etcd.url], prefix, cipher: cipherOf(...keys), ...options });
    stores.push(store);
    return store;
  };
  const closeAll = async () => {
    for (const store of stores.splice(0)) await store.close();
  };
  beforeEach(async () => {
    prefix = newPlace();
    stores = [];
    start = Number(((await etcd.ask("/v3/kv/range", { key: "AA==" }))["header"] as { revision: string }).revision);
    return closeAll;
  });

  const fill = async () => {
    const store = await open([1]);
    for (const name of NAMES) await store.create(key(name), object(name, `text of ${name}`));
    const { revision } = (await store.get(key("a")))!;
    await store.update(key("a"), object("a", "second text of a"), revision);
    await closeAll();
  };
  const sealedWith = (byte: number, texts: readonly (readonly [string, string])[]) =>
    texts.filter(([, text]) => text.startsWith(`aesgcm1:${keyId(byte)}:`)).length;
  const history = () => textsOfHistory(etcd, prefix, start);
  const contents = async (store: EtcdStore) =>
    (await store.list({ prefix: PREFIX })).objects.map(({ object: { metadata, ...rest } }) => ({ ...rest, name: metadata.name }));
  const follow = async (store: EtcdStore) => {
    const events: StoreEvent[] = [];
    await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: (event) => events.push(event) });
    return events;
  };

  resealableSuite({
    name: "etcd store",
    newPlace,
    open: (place, cipher) => openEtcdStore({ endpoints: [etcd.url], prefix: place, cipher }),
    keepsRevisions: false,
    runs: 8,
  });

  describe("etcd", () => {
    test("has nothing of the old key afterwards, in its history neither", async () => {
      await fill();
      expect(sealedWith(1, await history())).toBeGreaterThan(NAMES.length);
      const store = await open([2, 1]);
      await resealAll(store, 2);
      expect(sealedWith(1, await history())).toBe(0);
      expect(sealedWith(2, await presentTexts(etcd, prefix))).toBe(NAMES.length);
    });

    test("is told to forget too when ordinary writes have left nothing to seal again", async () => {
      await fill();
      const store = await open([2, 1]);
      for (const { key: at, object: read, revision } of (await store.list({ prefix: PREFIX })).objects)
        await store.update(at, read, revision);
      expect(sealedWith(1, await history())).toBeGreaterThan(0);
      expect(await store.reseal(64)).toEqual({ resealed: 0, done: true });
      expect(sealedWith(1, await history())).toBe(0);
    });

    test("is told to forget again for what a server whose first key is the old one has written since", async () => {
      await fill();
      const store = await open([2, 1]);
      await resealAll(store);
      const late = await open([1, 2]);
      const { revision } = (await late.create(key("late"), object("late")))!;
      await store.update(key("late"), object("late", "again"), revision);
      expect(sealedWith(1, await history())).toBeGreaterThan(0);
      expect(await resealAll(store)).toBe(0);
      expect(sealedWith(1, await history())).toBe(0);
    });

    test("is reported once: what was written since with the first key stays in its history", async () => {
      await fill();
      await resealAll(await open([2, 1]));
      const store = await open([2, 1]);
      const [one] = (await store.list({ prefix: PREFIX })).objects;
      await store.update(one!.key, one!.object, one!.revision);
      const before = (await history()).length;
      expect(await store.reseal(64)).toEqual({ resealed: 0, done: true });
      expect(await (await open([2])).reseal(64)).toEqual({ resealed: 0, done: true });
      expect(await history()).toHaveLength(before);
    });

    test("is left alone when there was never more than one key", async () => {
      await fill();
      const before = await history();
      expect(await (await open([1])).reseal(64)).toEqual({ resealed: 0, done: true });
      expect(await history()).toEqual(before);
    });

    test("is told to forget by a server with the new key alone, when the old one was taken away too early", async () => {
      await fill();
      const store = await open([2, 1]);
      for (let left = NAMES.length; left > 0;) left -= (await store.reseal(2)).resealed;
      expect(sealedWith(1, await presentTexts(etcd, prefix))).toBe(0);
      expect(sealedWith(1, await history())).toBeGreaterThan(0);
      await closeAll();
      expect(await (await open([2])).reseal(2)).toEqual({ resealed: 0, done: true });
      expect(sealedWith(1, await history())).toBe(0);
    });
  });

  describe("a value that is sealed again", () => {
    test("is the text that was there, and a write that every watch is told of, at every server alike", async () => {
      await fill();
      const [store, other] = [await open([2, 1]), await open([2, 1])];
      const before = await contents(store);
      const [mine, theirs] = [await follow(store), await follow(other)];
      await resealAll(store, 2);
      expect([await contents(store), await contents(other)]).toEqual([before, before]);
      await settled(() => theirs.length === NAMES.length);
      expect(theirs).toEqual(mine);
      for (const { type, revision, object: read, previous } of mine) {
        expect([type, read.metadata.resourceVersion]).toEqual(["updated", String(revision)]);
        expect(Object.keys(read)).toEqual(Object.keys(previous!));
        expect({ ...read, metadata: { ...read.metadata, resourceVersion: "" } }).toEqual({
          ...previous,
          metadata: { ...previous!.metadata, resourceVersion: "" },
        });
      }
      const texts = await presentTexts(etcd, prefix);
      expect(JSON.parse(cipherOf(2).open(...texts.find(([at]) => at === key("b"))!))).toEqual(object("b", "text of b"));
    });

    test("is at the next revision: anyone who counts on the one before is refused, and comes through with the new one", async () => {
      await fill();
      const [store, other] = [await open([2, 1]), await open([2, 1])];
      const read = (await other.get(key("b")))!;
      await resealAll(store);
      expect(await other.update(key("b"), object("b", "mine"), read.revision)).toBeUndefined();
      const now = (await other.get(key("b")))!;
      expect(now.revision).toBeGreaterThan(read.revision);
      expect(await other.update(key("b"), object("b", "mine"), now.revision)).toBeDefined();
    });

    test("leaves watches and pages of what was before as they are", async () => {
      await fill();
      const store = await open([2, 1]);
      const then = await store.revision();
      const before = await store.list({ prefix: PREFIX, revision: then });
      await resealAll(store);
      expect(await store.list({ prefix: PREFIX, revision: then })).toEqual(before);
      const late: StoreEvent[] = [];
      await store.watch({ prefix: PREFIX, after: then, onEvent: (event) => late.push(event) });
      expect(late).toHaveLength(NAMES.length);
    });
  });

  describe("servers with different keys", () => {
    test("go on while each knows all that are in use, whichever is its first one", async () => {
      await fill();
      const [old, both, turned] = [await open([1]), await open([1, 2]), await open([1, 2])];
      for (const store of [old, both, turned]) expect(await contents(store)).toHaveLength(NAMES.length);
      await old.close();
      const first = await open([2, 1]);
      for (let round = 0; round < 3; round += 1) {
        for (const store of [both, first, turned]) {
          const { revision } = (await store.get(key("a")))!;
          await store.update(key("a"), object("a", `${round}`), revision);
          await store.reseal(2);
          for (const reader of [both, first, turned]) expect((await reader.get(key("a")))!.object["data"]).toEqual({ text: `${round}` });
        }
      }
      await both.close();
      await turned.close();
      await resealAll(first);
      expect(await contents(await open([2]))).toHaveLength(NAMES.length);
    });

    test("without one that is in use answer nothing and name it, lose nothing, and go on when they have it", async () => {
      await fill();
      const patient = { giveUpMs: 30_000, silentMs: 100, heartbeatMs: 3_600_000 };
      const behind = await open([1], { times: patient });
      const ahead = await open([2, 1]);
      const { revision } = (await ahead.get(key("a")))!;
      const written = await ahead.update(key("a"), object("a", "new"), revision);
      const refused = await behind.get(key("a")).catch((error: unknown) => error);
      expect(isEngineError(refused, "STORE_FAILED") && refused.details["hint"]).toContain(`Add the key ${keyId(2)} as another line`);
      expect(isEngineError(await behind.reseal(1).catch((error: unknown) => error), "STORE_FAILED")).toBe(true);
      expect(await (await open([1, 2])).get(key("a"))).toEqual(written);
    });

    test("of which one is foreign read nothing and change nothing", async () => {
      await fill();
      const before = await presentTexts(etcd, prefix);
      const refused = await open([3]).catch((error: unknown) => error);
      expect(isEngineError(refused, "STORE_FAILED") && refused.details["hint"]).toContain(`Add the key ${keyId(1)}`);
      expect(await presentTexts(etcd, prefix)).toEqual(before);
    });
  });

  test("in the background looks again, for what others have sealed with another key since", async () => {
    await fill();
    const [store, other] = [await open([2, 1]), await open([1, 2])];
    const clock = createFakeClock();
    const lines: string[] = [];
    const logger = createLineLogger({ write: (line) => lines.push(line), now: () => 0, format: "json", level: "info" });
    const resealing = startResealing({ store, clock, logger, pauseMs: 10, againMs: 10 });
    const told = async (count: number) => {
      for (let seen = 0; seen < count; seen = lines.filter((line) => line.includes("Every value is encrypted")).length)
        await clock.advance(10);
    };
    await told(1);
    await other.create(key("late"), object("late"));
    await told(2);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ resealed: 1, key: keyId(2), others: keyId(1) });
    await until("it is done", () => resealing.done);
    await resealing.stop();
    expect(sealedWith(1, await history())).toBe(0);
  });
});
