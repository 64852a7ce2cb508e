/**
 * Open watches of clients at two servers, while etcd is compacted, the servers drop history, and one of them misses what
 * etcd drops. Every client gets each event once, in order, or a 410 that makes it list again.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { openEtcdStore, type EtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { createSeededChance } from "../../apiserver/seeded-chance.ts";
import { startEtcdProxy, type EtcdProxy } from "../../apiserver/support/etcd-proxy.ts";
import { followOverHttp, type HttpFollower } from "../../apiserver/support/http-follower.ts";
import { createLedger, HttpWriter } from "../../apiserver/support/http-writer.ts";
import { checkWatches } from "../../apiserver/support/watch-checker.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { API } from "../platform.ts";
import { SEED } from "../../support/seed.ts";

const KEY = "administrator-0123456789abcdefghijklmn";
const TIMES = { connectMs: 500, requestMs: 800, giveUpMs: 10_000, silentMs: 300, heartbeatMs: 300 };
/** Events that a server keeps, at least, and at most twice as many. */
const HISTORY = 60;
const ROUNDS = 3;

describeEtcd(`watches at two servers on one etcd (seed ${SEED})`, () => {
  let etcd: Etcd;
  let proxy: EtcdProxy;
  let stores: EtcdStore[] = [];
  const servers: Management[] = [];

  beforeAll(async () => {
    etcd = await startEtcd();
    proxy = await startEtcdProxy(etcd.url);
    const open = (url: string, times = {}) => openEtcdStore({ endpoints: [url], history: HISTORY, times });
    // The first server has the usual times, so that a busy machine does not break its watch.
    stores = [await open(etcd.url), await open(proxy.url, TIMES)];
    for (const store of stores) servers.push(await startManagement({ tls: false, adminKey: KEY, store, sharing: {} }));
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await proxy.close();
    await etcd.remove();
  });

  test("deliver everything once, in order, or say that it has expired", async () => {
    const chance = createSeededChance(SEED);
    const ledger = createLedger();
    const apis = servers.map(({ url }) => `${url}${API}`);
    const fraction = () => chance.fraction();
    const writersAt = apis.map((api, at) =>
      [0, 1].map((index) => new HttpWriter({ name: `w${at}.${index}`, api, key: KEY, ledger, fraction })),
    );
    const follow = (name: string, ...order: number[]) =>
      followOverHttp({ name, collections: order.map((at) => `${apis[at]!}/sharedsecrets`), key: KEY, timeoutSeconds: 3 });
    const [near, far, fickle, sleeper] = [follow("near", 0), follow("far", 1), follow("fickle", 0, 1), follow("sleeper", 1, 0)];
    const followers = [near, far, fickle, sleeper];
    const write = async (count: number, writers = writersAt.flat()) => {
      for (const end = ledger.acknowledged.length + count; ledger.acknowledged.length < end;) {
        await Promise.all(writers.map((writer) => writer.step()));
      }
    };
    const reach = async (revision: number, who: readonly HttpFollower[]) => {
      while (who.some((follower) => follower.position() < revision)) await delay(systemClock, 5);
    };

    for (let round = 0; round < ROUNDS; round += 1) {
      await write(20);
      // Servers and etcd drop what an absent client has missed.
      sleeper.sleep();
      await write(HISTORY * 2 + 1);
      // A client that stays connected has seen it, so compaction does not affect it.
      await reach(ledger.newest, [near]);
      for (const store of stores) await store.compact();
      sleeper.wake();
      await write(20);
      // A client that returns at once continues where it was.
      fickle.cut();
      await write(20);
      // Etcd drops what one of the servers has not seen.
      await reach(ledger.newest, followers);
      proxy.decide = ({ path }) => (path === "/v3/watch" ? "lose-request" : "pass");
      proxy.cutWatches();
      await write(20, writersAt[0]);
      // The other server has seen it.
      await reach(ledger.newest, [near]);
      await stores[0]!.compactEtcd(ledger.newest);
      proxy.decide = () => "pass";
      await write(20);
    }
    const bookmarks = ({ record }: HttpFollower) => record.steps.filter(({ did }) => did === "bookmark").length;
    while (followers.some((follower) => bookmarks(follower) === 0)) await delay(systemClock, 20);
    const end = await writersAt[0]![0]!.mark("end");
    await reach(end, followers);
    for (const follower of followers) await follower.stop();

    const { acknowledged, doubtful, problems } = ledger;
    expect(problems).toEqual([]);
    expect(checkWatches({ acknowledged, watches: followers.map(({ record }) => record), end, doubtful })).toEqual([]);
    expect(near.expired(), "nothing was forgotten that it had not heard").toBe(0);
    expect(fickle.resumed()).toBeGreaterThanOrEqual(ROUNDS);
    expect(far.expired(), "its server has missed what etcd forgot").toBeGreaterThanOrEqual(ROUNDS);
    expect(sleeper.expired()).toBeGreaterThanOrEqual(ROUNDS);
  });
});
