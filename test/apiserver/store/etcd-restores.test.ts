/** Backups of etcd that are restored under a store, and events that get lost: it shows nothing that never was, and goes on by itself. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { createMetrics, type MetricsRegistry } from "../../../src/base/metrics.ts";
import { openEtcdStore, type EtcdStore, type EtcdStoreOptions } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import type { StoreEvent } from "../../../src/apiserver/store/store.ts";
import { key, object, PREFIX, settled } from "../../conformance/store-setting.ts";
import { describeEtcd, lacksRestore, startEtcd, type Etcd } from "../../support/etcd.ts";
import { startEtcdProxy, type EtcdProxy } from "../support/etcd-proxy.ts";

const TIMES = { connectMs: 1_000, requestMs: 1_000, giveUpMs: 60_000, silentMs: 300, heartbeatMs: 3_600_000 };
const encode = (text: string) => Buffer.from(text).toString("base64");

/** Writes of others, by which etcd's own revision goes on. */
async function writeElsewhere(ask: Etcd["ask"], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await ask("/v3/kv/put", { key: encode(`/others/${index}`), value: "" });
}

/** Writes as those of a store that began meanwhile: each takes two keys and one revision. */
async function writeAsStore(ask: Etcd["ask"], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const put = (name: string, value: string) => ({ request_put: { key: encode(`/endpoint-sync/${name}`), value: encode(value) } });
    const made = JSON.stringify(object(`made-${index}`));
    await ask("/v3/kv/txn", { success: [put("last", `1 other-${index}`), put(`objects${key(`made-${index}`)}`, made)] });
  }
}

interface Followed {
  readonly events: StoreEvent[];
  /** Events of each watch that ended. */
  readonly ends: boolean[];
}

describeEtcd(
  "a store whose etcd is restored from a backup",
  () => {
    let etcd: Etcd;
    let metrics: MetricsRegistry;
    let stores: EtcdStore[];

    const open = async (options: Partial<EtcdStoreOptions> = {}) => {
      const store = await openEtcdStore({ endpoints: [etcd.url], times: TIMES, ...options });
      stores.push(store);
      return store;
    };
    const restored = () => metrics.value("management_etcd_reloads_total", { reason: "restored" });
    const names = async (store: EtcdStore) =>
      (await store.list({ prefix: PREFIX })).objects.map(({ object: { metadata } }) => metadata.name).join(" ");
    const follow = async (store: EtcdStore): Promise<Followed> => {
      const [events, ends]: [StoreEvent[], boolean[]] = [[], []];
      const after = await store.revision();
      await store.watch({ prefix: PREFIX, after, onEvent: (event) => void events.push(event) });
      await store.watch({ prefix: PREFIX, after, onEvent: () => {}, onEnd: (lost) => void ends.push(lost) });
      return { events, ends };
    };
    const failureOf = (action: Promise<unknown>) =>
      action.then(
        () => "none",
        (error: unknown) => (isEngineError(error) ? error.code : error),
      );

    beforeEach(async () => {
      [etcd, metrics, stores] = [await startEtcd(), createMetrics(), []];
    });
    afterEach(async () => {
      await Promise.all(stores.map((store) => store.close()));
      await etcd.remove();
    });

    test.each([
      ["as it was", 0, undefined],
      ["with fewer writes of others since than were lost", 2, undefined],
      ["with more writes of others since", 40, undefined],
      ["as another cluster", 0, "another"],
      ["as another cluster, with more writes of others since", 40, "another"],
    ] as const)("goes on by itself when it is restored %s", async (_, writes, token) => {
      const store = await open({ metrics });
      const kept = (await store.create(key("kept"), object("kept", "one")))!;
      await store.create(key("gone"), object("gone"));
      const file = etcd.save();
      await store.delete(key("gone"), (await store.get(key("gone")))!.revision);
      await store.update(key("kept"), object("kept", "two"), kept.revision);
      for (let index = 0; index < 5; index += 1) await store.create(key(`lost-${index}`), object("lost"));
      await store.raiseFence();
      const { events, ends } = await follow(store);
      const before = await store.revision();
      await etcd.restore(file, { ...(token && { token }), before: (ask) => writeElsewhere(ask, writes) });
      expect(await names(store)).toBe("gone kept");
      expect(restored()).toBe(1);
      expect(ends).toEqual([true]);
      expect(events.map(({ type, key: at }) => `${type} ${at.slice(PREFIX.length)}`).sort()).toEqual([
        "created shop/gone",
        ...Array.from({ length: 5 }, (_unused, index) => `deleted shop/lost-${index}`),
        "updated shop/kept",
      ]);
      // No revision stands for two states, so that who comes back with one from before has to start over.
      expect(await store.revision()).toBeGreaterThan(before);
      expect(await failureOf(store.watch({ prefix: PREFIX, after: before, onEvent: () => {} }))).toBe("API_EXPIRED");
      expect(await store.create(key("new"), object("new"))).toBeDefined();
      expect(await store.update(key("kept"), object("kept", "three"), kept.revision)).toBeDefined();
      expect(await store.create(key("kept"), object("kept"))).toBeUndefined();
      await settled(() => events.length === 9);
    });

    test("notices it although another store has written more since than was lost", async () => {
      const store = await open({ metrics });
      await store.create(key("kept"), object("kept"));
      const file = etcd.save();
      for (let index = 0; index < 5; index += 1) await store.create(key(`lost-${index}`), object("lost"));
      await etcd.restore(file, { before: (ask) => writeAsStore(ask, 9) });
      expect(await names(store)).toBe(["kept", ...Array.from({ length: 9 }, (_, index) => `made-${index}`)].join(" "));
      expect(restored()).toBe(1);
    });

    test("takes it for one when etcd has compacted what would tell", async () => {
      const store = await open({ metrics });
      await store.create(key("kept"), object("kept"));
      const file = etcd.save();
      await store.create(key("lost"), object("lost"));
      const { ends } = await follow(store);
      const before = await store.revision();
      await etcd.restore(file, {
        async before(ask) {
          await writeAsStore(ask, 9);
          await ask("/v3/kv/compaction", { revision: String(before + 1) });
        },
      });
      expect((await names(store)).split(" ")).toHaveLength(10);
      expect(metrics.value("management_etcd_reloads_total", { reason: "compacted" })).toBe(1);
      expect([ends, store.oldest() > before]).toEqual([[true], true]);
    });

    test("has stores that know nothing of it tell nothing from before it either", async () => {
      const store = await open({ metrics });
      await store.create(key("kept"), object("kept"));
      const file = etcd.save();
      for (let index = 0; index < 5; index += 1) await store.create(key(`lost-${index}`), object("lost"));
      const before = await store.revision();
      await etcd.restore(file, { before: (ask) => writeAsStore(ask, 9) });
      const second = await open();
      expect(await names(store)).toBe(await names(second));
      // Each has seen the floor as soon as it is at the present.
      await second.revision();
      const third = await open();
      for (const one of [second, third]) {
        expect(await failureOf(one.watch({ prefix: PREFIX, after: before, onEvent: () => {} }))).toBe("API_EXPIRED");
      }
      expect(restored()).toBe(1);
    });

    test("asks whether it may go on with what is there, shows nothing meanwhile, and writes nothing", async () => {
      let isWhole = true;
      const admit = async () => {
        if (!isWhole) throw new Error("a copy was not finished");
      };
      const store = await open({ metrics, admit });
      await store.create(key("kept"), object("kept"));
      const file = etcd.save();
      await store.create(key("lost"), object("lost"));
      isWhole = false;
      await etcd.restore(file);
      const revision = async () => ((await etcd.ask("/v3/kv/range", { key: "AA==" }))["header"] as { revision: string }).revision;
      const found = await revision();
      const asks = [() => store.get(key("kept")), () => store.create(key("new"), object("new")), () => store.list({ prefix: PREFIX })];
      for (const ask of asks) expect(await failureOf(ask())).toBe("API_UNAVAILABLE");
      expect(await revision()).toBe(found);
      await expect(open({ admit })).rejects.toThrow("a copy was not finished");
      isWhole = true;
      expect(await names(store)).toBe("kept");
      expect(await store.create(key("new"), object("new"))).toBeDefined();
    });

    test("notices it although nothing but the fence has become older", async () => {
      const store = await open({ metrics });
      await store.create(key("kept"), object("kept"));
      const file = etcd.save();
      await store.raiseFence();
      await etcd.restore(file, { before: (ask) => writeElsewhere(ask, 9) });
      expect(await store.create(key("new"), object("new"))).toBeDefined();
      expect(await names(store)).toBe("kept new");
      expect(restored()).toBe(1);
    });

    test("creates what was asked for before it, and writes nothing that was made from what is no more", async () => {
      const store = await open();
      const kept = (await store.create(key("kept"), object("kept", "one")))!;
      const file = etcd.save();
      const lost = (await store.update(key("kept"), object("kept", "two"), kept.revision))!;
      await store.raiseFence();
      await etcd.restore(file);
      const [created, updated] = await Promise.all([
        store.create(key("new"), object("new")),
        store.update(key("kept"), object("kept", "three"), lost.revision),
      ]);
      expect(created).toBeDefined();
      expect(updated).toBeUndefined();
      expect((await store.get(key("kept")))!.object["data"]).toEqual({ text: "one" });
    });

    test("counts on from above what was known, also when only others have lost something", async () => {
      const store = await open({ metrics });
      await store.create(key("kept"), object("kept"));
      const file = etcd.save();
      await writeElsewhere(etcd.ask, 20);
      const before = await store.revision();
      await etcd.restore(file);
      expect(await names(store)).toBe("kept");
      expect(await store.revision()).toBeGreaterThan(before);
    });

    test("notices it without being asked, and goes on once what was emptied is restored", async () => {
      const store = await open({ metrics, times: { ...TIMES, heartbeatMs: 50, recoverMs: 1 } });
      await store.create(key("kept"), object("kept"));
      const file = etcd.save();
      await store.create(key("lost"), object("lost"));
      let told = 0;
      store.onRestored(() => (told += 1));
      await etcd.ask("/v3/kv/deleterange", { key: "AA==", range_end: "AA==" });
      await settled(() => !store.recovers);
      expect(restored()).toBe(1);
      expect(await failureOf(store.get(key("kept")))).toBe("API_UNAVAILABLE");
      await etcd.restore(file);
      await settled(() => told === 1);
      expect(store.recovers).toBe(true);
      expect(await names(store)).toBe("kept");
    });
  },
  lacksRestore,
);

describeEtcd("a store whose events get lost on the way", () => {
  let etcd: Etcd;
  let proxy: EtcdProxy;
  let store: EtcdStore;
  let witness: EtcdStore;
  const metrics = createMetrics();

  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  beforeEach(async () => {
    proxy = await startEtcdProxy(etcd.url);
    store = await openEtcdStore({ endpoints: [proxy.url], times: TIMES, metrics });
    witness = await openEtcdStore({ endpoints: [etcd.url], times: TIMES });
  });
  afterEach(async () => {
    await store.close();
    await witness.close();
    await proxy.close();
  });

  const missed = () => metrics.value("management_etcd_reloads_total", { reason: "missed" });

  test("reads everything again when the next one shows that one is missing", async () => {
    const before = missed();
    await store.revision();
    proxy.garble = (line) => (line.includes(encode(`/endpoint-sync/objects${key("a")}`)) ? '{"result":{}}' : line);
    await witness.create(key("a"), object("a"));
    await witness.create(key("b"), object("b"));
    await settled(() => missed() > before);
    expect((await store.list({ prefix: PREFIX })).objects).toEqual((await witness.list({ prefix: PREFIX })).objects);
  });
});
