/** Writes past the store, by hand or by a fault: they are read and shown as they are, or nothing is shown until they can be read. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { configMaps } from "../../../src/cluster/kinds/config-maps.ts";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { openEtcdStore, type EtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { cipherOf } from "../../conformance/resealable.ts";
import { key, object, PREFIX, settled } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { startEtcdProxy, type EtcdProxy } from "../support/etcd-proxy.ts";

const TIMES = { connectMs: 1_000, requestMs: 1_000, giveUpMs: 60_000, silentMs: 300, heartbeatMs: 3_600_000 };
const cipher = cipherOf(1);
const encode = (text: string) => Buffer.from(text).toString("base64");

describeEtcd("a store with writes past it", () => {
  let etcd: Etcd;
  let proxy: EtcdProxy;
  let store: EtcdStore;
  let prefixes = 0;
  const place = (name: string) => encode(`/hand/${prefixes}/objects${key(name)}`);
  const sealed = (name: string, text: string) => encode(cipher.seal(key(name), JSON.stringify(object(name, text))));
  const put = (name: string, value: string) => etcd.ask("/v3/kv/put", { key: place(name), value });
  const remove = (name: string) => etcd.ask("/v3/kv/deleterange", { key: place(name) });
  const open = (url: string) => openEtcdStore({ endpoints: [url], prefix: `/hand/${prefixes}`, times: TIMES, cipher });
  const textOf = async (name: string) => (await store.get(key(name)))?.object["data"];
  const registryOf = () => createRegistry({ store, definitions: [configMaps], clock: systemClock, chance: systemChance });
  /** Events of the watch are late: meanwhile etcd reports to every caller that nothing of the store was written. */
  const whileWatchIsSilent = async (write: () => Promise<unknown>) => {
    await store.revision();
    proxy.stallWatches();
    await write();
    await store.revision();
  };
  const failureOf = async (action: Promise<unknown>) => {
    const error: unknown = await action.then(
      () => "none",
      (reason: unknown) => reason,
    );
    return isEngineError(error) ? `${error.code}: ${error.message} ${String(error.details["hint"])}` : String(error);
  };

  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  beforeEach(async () => {
    prefixes += 1;
    proxy = await startEtcdProxy(etcd.url);
    store = await open(proxy.url);
    await store.create(key("kept"), object("kept", "one"));
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
  });

  const UNREAD = /STORE_FAILED: .*"\/core\/configmaps\/shop\/kept" cannot be decrypted.*restore its value, or delete its key/;

  test("says which object cannot be read, for as long as it cannot, however often it is asked", async () => {
    await put("kept", encode("garbage"));
    const asks = [
      () => store.get(key("kept")),
      () => store.get(key("other")),
      () => store.list({ prefix: PREFIX }),
      () => store.demandWritable(),
      () => store.update(key("kept"), object("kept", "two"), 1),
      () => store.delete(key("kept"), 1),
      () => registryOf().patch(CONFIG_MAPS, { namespace: "shop", name: "kept" }, "merge", { data: { text: "two" } }),
      () => registryOf().delete(CONFIG_MAPS, { namespace: "shop", name: "kept" }),
    ];
    await settledFailure(() => store.get(key("kept")));
    for (let round = 0; round < 3; round += 1) {
      for (const ask of asks) expect(await failureOf(ask())).toMatch(UNREAD);
    }
    await expect(open(etcd.url)).rejects.toMatchObject({ code: "STORE_FAILED" });
    // Another write of the store tells nothing of it.
    await etcd.ask("/v3/kv/put", { key: encode(`/hand/${prefixes}/fence`), value: "" });
    expect(await failureOf(store.get(key("other")))).toMatch(UNREAD);
  });

  const settledFailure = async (ask: () => Promise<unknown>) => {
    let failure = "none";
    while (failure === "none") failure = await failureOf(ask());
    expect(failure).toMatch(UNREAD);
  };

  test.each([
    ["put back", () => put("kept", sealed("kept", "back")), { text: "back" }],
    ["removed", () => remove("kept"), undefined],
  ] as const)("goes on by itself once what could not be read is %s", async (_, mend, found) => {
    await put("kept", encode("garbage"));
    await settledFailure(() => store.get(key("kept")));
    await mend();
    let present: unknown = "unread";
    while (present === "unread") present = await textOf("kept").catch(() => "unread");
    expect(present).toEqual(found);
    expect(await store.create(key("new"), object("new"))).toBeDefined();
  });

  test("does not pass over what the watch tells late", async () => {
    await whileWatchIsSilent(() => put("kept", sealed("kept", "by hand")));
    const witness = await open(etcd.url);
    await witness.create(key("new"), object("new"));
    await witness.close();
    expect(await store.get(key("new"))).toBeDefined();
    let present: unknown;
    while (JSON.stringify(present) !== '{"text":"by hand"}') present = await textOf("kept");
  });

  test("refuses a write for a state that can be read then", async () => {
    const before = (await store.get(key("kept")))!;
    await whileWatchIsSilent(() => put("kept", sealed("kept", "by hand")));
    expect(await store.update(key("kept"), object("kept", "two"), before.revision)).toBeUndefined();
    const now = (await store.get(key("kept")))!;
    expect(now.object["data"]).toEqual({ text: "by hand" });
    expect(await store.update(key("kept"), object("kept", "two"), now.revision)).toBeDefined();
  });

  test("deletes what was changed, and answers what was removed, while the watch says nothing of it", async () => {
    await whileWatchIsSilent(() => put("kept", sealed("kept", "by hand")));
    await registryOf().delete(CONFIG_MAPS, { namespace: "shop", name: "kept" });
    await store.create(key("kept"), object("kept", "again"));
    await whileWatchIsSilent(() => remove("kept"));
    const removed = registryOf().delete(CONFIG_MAPS, { namespace: "shop", name: "kept" });
    expect(await failureOf(removed)).toMatch(/^API_NOT_FOUND/);
  });

  test("says that `last` was deleted, and how it is put back, to those that run and those that start", async () => {
    const [last, objects] = [`/hand/${prefixes}/last`, await store.list({ prefix: PREFIX })];
    await etcd.ask("/v3/kv/deleterange", { key: encode(last) });
    const remedy = /key \/hand\/\d+\/last was deleted, although there are objects.*etcdctl put \/hand\/\d+\/last '1 put-back'/;
    expect(await failureOf(store.get(key("kept")))).toMatch(remedy);
    const start = await failureOf(open(etcd.url));
    expect(start).toMatch(remedy);
    expect(start).toMatch(/^STORE_FAILED/);
    await etcd.ask("/v3/kv/put", { key: encode(last), value: encode("1 put-back") });
    expect((await store.list({ prefix: PREFIX })).objects).toEqual(objects.objects);
    expect(await store.create(key("new"), object("new"))).toBeDefined();
    const second = await open(etcd.url);
    expect((await second.list({ prefix: PREFIX })).objects).toHaveLength(2);
    await second.close();
  });

  test("ends watches when a floor comes late", async () => {
    const ends: boolean[] = [];
    await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: () => {}, onEnd: (lost) => void ends.push(lost) });
    await whileWatchIsSilent(() => etcd.ask("/v3/kv/put", { key: encode(`/hand/${prefixes}/floor`), value: "" }));
    const witness = await open(etcd.url);
    await witness.create(key("new"), object("new"));
    await witness.close();
    await store.revision();
    await settled(() => ends.length === 1);
    expect(ends).toEqual([true]);
  });
});
