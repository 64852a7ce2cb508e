/** Network faults of requests, answers and watches: callers of a store notice only a delay. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { openEtcdStore, type EtcdStoreOptions } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import type { Store, StoredObject, StoreEvent } from "../../../src/apiserver/store/store.ts";
import { key, object, PREFIX, settled } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd, startEtcdCluster, type Etcd } from "../../support/etcd.ts";
import { startEtcdProxy, isWrite, type EtcdProxy, type Fate } from "../support/etcd-proxy.ts";

/** Times that a watch is cut, at least. */
const CUTS_MIN = 4;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const TIMES = { connectMs: 1_000, requestMs: 1_000, giveUpMs: 60_000, silentMs: 300 };
const UNTIL_NEVER = { ...TIMES, heartbeatMs: 3_600_000 };

let prefixes = 0;

async function follow(store: Store, options: { ends?: () => void } = {}): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  const onEvent = (event: StoreEvent) => void events.push(event);
  await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent, ...(options.ends && { onEnd: options.ends }) });
  return events;
}

const told = (events: readonly StoreEvent[]) =>
  events.map(({ type, key: at, revision }) => `${type} ${at.slice(PREFIX.length)} ${revision}`);

async function failureOf(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => "no failure",
    (reason: unknown) => reason,
  );
  if (!isEngineError(error)) return String(error);
  const { code = 0 } = (error.details["status"] ?? {}) as { code?: number };
  return `${error.code} ${code} ${error.message}`;
}

describeEtcd("a store behind a network with faults", () => {
  let etcd: Etcd;
  let proxy: EtcdProxy;
  let store: Store;
  let witness: Store;

  const open = (options: Partial<EtcdStoreOptions>) =>
    openEtcdStore({ endpoints: [etcd.url], prefix: `/faults/${prefixes}/`, times: UNTIL_NEVER, ...options });
  /** The next so many transactions have this fate, then all passes again. */
  const doom = (fate: Fate, count = 1) => {
    let left = count;
    proxy.decide = (request) => (isWrite(request) && left > 0 ? ((left -= 1), fate) : "pass");
  };

  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  beforeEach(async () => {
    prefixes += 1;
    proxy = await startEtcdProxy(etcd.url);
    store = await open({ endpoints: [proxy.url] });
    witness = await open({});
  });
  afterEach(async () => {
    await store.close();
    await witness.close();
    await proxy.close();
  });

  test.each(["lose-answer", "lose-request", "swallow"] as const)(
    "carries out each write once when the fate of the first try is %s",
    async (fate) => {
      const events = await follow(witness);
      doom(fate);
      const created = (await store.create(key("a"), object("a", "one")))!;
      doom(fate);
      const updated = (await store.update(key("a"), object("a", "two"), created.revision))!;
      doom(fate);
      const deleted = (await store.delete(key("a"), updated.revision))!;
      await settled(() => events.length >= 3);
      expect(told(events)).toEqual([
        `created shop/a ${created.revision}`,
        `updated shop/a ${updated.revision}`,
        `deleted shop/a ${deleted.revision}`,
      ]);
      expect([created, updated, deleted].map(({ object: { metadata } }) => metadata.resourceVersion)).toEqual(
        [created, updated, deleted].map(({ revision }) => String(revision)),
      );
      expect(await witness.get(key("a"))).toBeUndefined();
    },
  );

  test("carries out a request that comes late no more, once its author has been told what became of it", async () => {
    doom("hold");
    const created = (await store.create(key("a"), object("a", "one")))!;
    await store.delete(key("a"), created.revision);
    const answers = await proxy.release();
    expect(answers).toHaveLength(1);
    expect(answers[0]).not.toContain('"succeeded":true');
    expect(await witness.get(key("a"))).toBeUndefined();
    // Others whose fence is old by now go on all the same.
    expect(await witness.create(key("b"), object("b"))).toBeDefined();
  });

  test("reports a conflict for a lost answer if another writer was faster", async () => {
    const created = (await witness.create(key("a"), object("a", "one")))!;
    doom("lose-request");
    const [mine, other] = await Promise.all([
      store.update(key("a"), object("a", "mine"), created.revision),
      witness.update(key("a"), object("a", "theirs"), created.revision),
    ]);
    expect([mine, other].filter((stored) => stored !== undefined)).toHaveLength(1);
    expect(await store.get(key("a"))).toEqual(mine ?? other);
  });

  test("reports a write whose outcome is unknown", async () => {
    const hasty = await open({ endpoints: [proxy.url], times: { ...UNTIL_NEVER, requestMs: 1_000, giveUpMs: 2_000 } });
    // Its watch runs once this event arrives; after that it sends nothing more.
    await hasty.create(key("before"), object("before"));
    proxy.stallWatches();
    proxy.decide = (request) => (isWrite(request) ? "lose-answer" : "swallow");
    expect(await failureOf(hasty.create(key("a"), object("a")))).toMatch(/^API_UNAVAILABLE 504 .*may or may not have been carried out/);
    expect(await failureOf(hasty.get(key("a")))).toMatch(/^API_UNAVAILABLE 503 .*etcd cannot be reached/);
    proxy.decide = () => "pass";
    expect(await hasty.get(key("a"))).toBeDefined();
    await hasty.close();
  });

  test("reads what is there now although its watch has stalled, and misses nothing of it", async () => {
    const events = await follow(store);
    await store.create(key("a"), object("a"));
    proxy.stallWatches();
    for (const name of ["b", "c"]) await witness.create(key(name), object(name));
    expect((await store.list({ prefix: PREFIX })).objects.map(({ object: { metadata } }) => metadata.name)).toEqual(["a", "b", "c"]);
    expect(events.map(({ key: at }) => at)).toEqual([key("a"), key("b"), key("c")]);
  });

  test("is not taken for gone back when others write first while it is on its way to say that there was nothing", async () => {
    const events = await follow(store);
    let written: StoredObject | undefined;
    proxy.beforeAnswer = async ({ path }) => {
      if (path !== "/v3/kv/txn" || written !== undefined) return;
      written = await witness.create(key("a"), object("a"));
      // The watch is faster than the answer, which is from before.
      await settled(() => events.length === 1);
    };
    expect(await store.revision()).toBeGreaterThan(0);
    expect(written).toBeDefined();
    proxy.beforeAnswer = async () => {};
    expect(await store.get(key("a"))).toEqual(written);
    expect(await store.update(key("a"), object("a", "two"), written!.revision)).toBeDefined();
  });

  test("tells each write once and in order, however often its watch is cut", async () => {
    const [mine, theirs] = [await follow(store), await follow(witness)];
    const writing = Array.from({ length: 120 }, async (_, index) => {
      const writer = index % 2 === 0 ? store : witness;
      for (let round = 0; round < 3; round += 1) {
        const at = key(`n${index % 40}`);
        const present = await writer.get(at);
        if (present === undefined) await writer.create(at, object("n"));
        else if (round === 1) await writer.delete(at, present.revision);
        else await writer.update(at, object("n", `${index}`), present.revision);
      }
    });
    let written = false;
    const writes = Promise.allSettled(writing).finally(() => (written = true));
    let cuts = 0;
    for (let seen = -1, more = 0; !written || cuts < CUTS_MIN; await pause(10)) {
      // On a fast machine all is written before the watch was cut often enough.
      if (written) await witness.create(key(`more-${(more += 1)}`), object("n"));
      // A watch that is cut before it could tell anything, again and again, gets nowhere on any network.
      if (mine.length <= seen) continue;
      proxy.cutWatches();
      seen = mine.length;
      cuts += 1;
    }
    expect((await writes).filter(({ status }) => status === "rejected")).toEqual([]);
    const revision = await store.revision();
    await witness.revision();
    expect(told(mine)).toEqual(told(theirs));
    expect(mine).toEqual(theirs);
    expect(new Set(mine.map((event) => event.revision)).size).toBe(mine.length);
    expect(mine.at(-1)!.revision).toBeLessThanOrEqual(revision);
  });

  test("ends watches over which a compaction has gone, and tells those that cannot end what differs", async () => {
    let ended = 0;
    const endless = await follow(store);
    const ending = await follow(store, { ends: () => (ended += 1) });
    const old = await store.revision();
    const kept = (await store.create(key("kept"), object("kept", "one")))!;
    const gone = (await store.create(key("gone"), object("gone")))!;
    const renewed = (await store.create(key("renewed"), { ...object("renewed"), metadata: { name: "renewed", uid: "one" } }))!;
    proxy.decide = ({ path }) => (path === "/v3/watch" ? "lose-request" : "pass");
    proxy.cutWatches();
    const updated = await witness.update(key("kept"), object("kept", "two"), kept.revision);
    await witness.update(key("kept"), object("kept", "three"), updated!.revision);
    await witness.delete(key("gone"), gone.revision);
    await witness.delete(key("renewed"), renewed.revision);
    await witness.create(key("renewed"), { ...object("renewed"), metadata: { name: "renewed", uid: "two" } });
    await witness.compact();
    proxy.decide = () => "pass";
    const page = await store.list({ prefix: PREFIX });
    expect(page.objects).toEqual((await witness.list({ prefix: PREFIX })).objects);
    expect(ended).toBe(1);
    expect(ending).toHaveLength(3);
    expect(told(endless.slice(3)).map((line) => line.replace(/ \d+$/, ""))).toEqual([
      "updated shop/kept",
      "deleted shop/renewed",
      "created shop/renewed",
      "deleted shop/gone",
    ]);
    expect(endless[3]!.object["data"]).toEqual({ text: "three" });
    expect(endless[3]!.previous).toEqual(kept.object);
    const late = store.watch({ prefix: PREFIX, after: old, onEvent: () => {} });
    expect(await failureOf(late)).toMatch(/^API_EXPIRED/);
    await store.create(key("next"), object("next"));
    expect(endless).toHaveLength(8);
  });
});

describeEtcd("etcd", () => {
  test("that stands still and goes on costs time, and no write is lost or carried out twice", async () => {
    const etcd = await startEtcd();
    const store = await openEtcdStore({ endpoints: [etcd.url], times: TIMES });
    const events = await follow(store);
    etcd.pause();
    const writing = ["a", "b", "c"].map((name) => store.create(key(name), object(name)));
    const hasty = await openEtcdStore({ endpoints: [etcd.url], times: { ...TIMES, requestMs: 200, giveUpMs: 300 } }).catch(
      (error: unknown) => error,
    );
    expect(isEngineError(hasty, "STORE_FAILED")).toBe(true);
    etcd.resume();
    const written = await Promise.all(writing);
    expect(events.map(({ revision }) => revision).sort()).toEqual(written.map((stored) => stored!.revision).sort());
    await store.close();
    await etcd.remove();
  });

  test("that was emptied is not followed", async () => {
    const etcd = await startEtcd();
    let ended = 0;
    const store = await openEtcdStore({ endpoints: [etcd.url], times: TIMES });
    await follow(store, { ends: () => (ended += 1) });
    await store.create(key("a"), object("a"));
    await etcd.ask("/v3/kv/deleterange", { key: "AA==", range_end: "AA==" });
    expect(await failureOf(store.get(key("a")))).toMatch(/^API_UNAVAILABLE 503 .*etcd was emptied/);
    expect(ended).toBe(1);
    expect(await failureOf(store.create(key("b"), object("b")))).toMatch(/^API_UNAVAILABLE 503 .*etcd was emptied/);
    await store.close();
    await etcd.remove();
  });

  test("may lose any of three members, and stand still on another endpoint's way", async () => {
    const members = await startEtcdCluster(3);
    const endpoints = members.map(({ url }) => url);
    const store = await openEtcdStore({ endpoints, times: TIMES });
    const events = await follow(store);
    const names: string[] = [];
    const write = async (name: string) => {
      names.push(name);
      expect(await store.create(key(name), object(name))).toBeDefined();
    };
    for (const member of members) {
      await member.kill();
      await write(`without-${members.indexOf(member)}`);
      await member.start();
      await write(`with-${members.indexOf(member)}`);
    }
    members[0]!.pause();
    await write("paused");
    members[0]!.resume();
    await settled(() => events.length === names.length);
    expect(events.map(({ key: at }) => at)).toEqual(names.map((name) => key(name)));
    await store.close();
    await Promise.all(members.map((member) => member.remove()));
  });

  test("of another cluster among the endpoints is never written to", async () => {
    const [own, foreign] = [await startEtcd(), await startEtcd()];
    const store = await openEtcdStore({ endpoints: [own.url, foreign.url], times: { ...TIMES, giveUpMs: 3_000 } });
    await store.create(key("a"), object("a"));
    await own.kill();
    expect(await failureOf(store.create(key("b"), object("b")))).toMatch(/^API_UNAVAILABLE 50[34] /);
    expect(await foreign.ask("/v3/kv/range", { key: "AA==", range_end: "AA==" })).not.toHaveProperty("kvs");
    await own.start();
    expect(await store.create(key("c"), object("c"))).toBeDefined();
    await store.close();
    await Promise.all([own.remove(), foreign.remove()]);
  });
});
