/**
 * Watches while several write, over compactions: ordered, unique, complete, resumable, and their bookmarks are true.
 *
 * EVENTS says how much is written to each store; `npm run test:watches` takes 100,000.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, test } from "vitest";
import { delay, systemClock } from "../../src/base/clock.ts";
import { startManagement } from "../../src/management/api/management.ts";
import { openEtcdStore } from "../../src/apiserver/store/etcd/etcd-store.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { openSqliteStore } from "../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/apiserver/store/store.ts";
import { describeEtcd, startEtcd } from "../support/etcd.ts";
import { createSeededChance } from "./seeded-chance.ts";
import { followOverHttp } from "./support/http-follower.ts";
import { createLedger, HttpWriter } from "./support/http-writer.ts";
import { writeAtRandom } from "./support/random-writes.ts";
import { recordWatches, type RecordWatchesOptions } from "./support/record-watches.ts";
import { checkWatches, type Acknowledged } from "./support/watch-checker.ts";
import { TEST_MS } from "../support/patience.ts";
import { SEED } from "../support/seed.ts";

const EVENTS = Number(process.env["EVENTS"] ?? 3_000);
/** Etcd waits for its disk, and for three processes that are started first. */
const ETCD_EVENTS = process.env["EVENTS"] === undefined ? 1_200 : EVENTS;
/** Writes between two compactions, at most; a short run has a dozen of them all the same. */
const COMPACT_EVERY = 1_000;
const COMPACTIONS = 12;
const PROCESSES = 3;
const TIMEOUT_MS = TEST_MS + EVENTS * 15;
const ETCD_WRITER = join(import.meta.dirname, "support/etcd-writer.ts");

const folder = mkdtempSync(join(tmpdir(), "watches-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function checkStores(stores: readonly Store[], write: RecordWatchesOptions["write"], events = EVENTS): Promise<void> {
  const chance = createSeededChance(SEED);
  const options = {
    stores,
    write,
    compactEvery: Math.min(COMPACT_EVERY, Math.floor(events / COMPACTIONS)),
    fraction: () => chance.fraction(),
  };
  const { history, compactions } = await recordWatches(options);
  expect(checkWatches(history)).toEqual([]);
  const steps = history.watches.flatMap((watch) => watch.steps);
  const did = (what: string) => steps.filter((step) => step.did === what).length;
  expect(history.acknowledged.length).toBeGreaterThanOrEqual(events);
  expect(compactions).toBeGreaterThan(0);
  expect(did("list"), "watches that a compaction left behind").toBeGreaterThan(0);
  expect(did("begin"), "watches that were resumed").toBeGreaterThan(history.watches.length);
  expect(did("bookmark")).toBeGreaterThan(0);
  // Told to anyone who counts on it.
  const counted = `${did("hear")} events heard, ${did("begin")} watches, ${did("list")} lists, ${did("bookmark")} bookmarks`;
  console.log(`${history.acknowledged.length} writes, ${compactions} compactions, ${counted}`);
}

/** Writes from this process. */
function writeHere(store: Store): RecordWatchesOptions["write"] {
  const chance = createSeededChance(SEED + 1);
  return (onAcknowledged) => writeAtRandom({ store, count: EVENTS, name: "here", fraction: () => chance.fraction(), onAcknowledged });
}

/** Writes from several processes. */
function writeElsewhere(url: string, prefix: string): RecordWatchesOptions["write"] {
  return async (onAcknowledged) => {
    const write = async (at: number) => {
      const args = ["--no-warnings", ETCD_WRITER, url, prefix, String(Math.ceil(ETCD_EVENTS / PROCESSES)), String(SEED + at)];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      for await (const line of createInterface(child.stdout)) onAcknowledged(JSON.parse(line) as Acknowledged);
    };
    await Promise.all(Array.from({ length: PROCESSES }, (_, at) => write(at)));
  };
}

describe(`watches (seed ${SEED})`, () => {
  test(
    "of a store in memory tell everything once, in order",
    async () => {
      const store = createMemoryStore({ history: 1_000 });
      await checkStores([store], writeHere(store));
      await store.close();
    },
    TIMEOUT_MS,
  );

  test(
    "of a store in SQLite tell everything once, in order",
    async () => {
      const store = openSqliteStore({ path: join(folder, "watches.db"), history: 1_000 });
      await checkStores([store], writeHere(store));
      await store.close();
    },
    TIMEOUT_MS,
  );

  test("over HTTP are resumed from events and bookmarks without a gap", async () => {
    const key = "administrator-0123456789abcdefghijklmn";
    const management = await startManagement({ store: createMemoryStore({ history: 50 }), tls: false, adminKey: key });
    const api = `${management.url}/kubernetes/management/apis/management.platform/v1`;
    const chance = createSeededChance(SEED);
    const fraction = () => chance.fraction();
    const collections = [`${api}/sharedsecrets`];
    const followers = [0, 1, 2].map((at) => followOverHttp({ name: `watch ${at}`, collections, key, timeoutSeconds: 3 }));
    const bookmarks = () => followers.flatMap(({ record }) => record.steps).filter(({ did }) => did === "bookmark").length;
    const ledger = createLedger();
    const writers = [0, 1].map((at) => new HttpWriter({ name: `w${at}`, api, key, ledger, fraction }));
    const resumed = () => followers.every((follower) => follower.resumed() > 0);
    for (let round = 0; bookmarks() < 6 || !resumed(); round += 1) {
      for (const writer of writers) await writer.step();
      if (round % 40 === 0) followers[2]!.cut();
      // Bookmarks come only to those who wait for them.
      await delay(systemClock, 5);
    }
    const end = await writers[0]!.mark("end");
    while (followers.some((follower) => follower.position() < end)) await delay(systemClock, 5);
    for (const follower of followers) await follower.stop();
    await management.stop();
    const { acknowledged, problems, doubtful } = ledger;
    expect(problems).toEqual([]);
    expect(doubtful).toBe(0);
    expect(checkWatches({ acknowledged, watches: followers.map(({ record }) => record), end })).toEqual([]);
  });
});

describeEtcd(`watches with writers in ${PROCESSES} processes (seed ${SEED})`, () => {
  test(
    "tell everything once, in order",
    async () => {
      const etcd = await startEtcd();
      const prefix = "/watches/";
      const stores = await Promise.all([0, 1].map(() => openEtcdStore({ endpoints: [etcd.url], prefix, history: 1_000 })));
      await checkStores(stores, writeElsewhere(etcd.url, prefix), ETCD_EVENTS);
      for (const store of stores) await store.close();
      await etcd.remove();
    },
    TIMEOUT_MS,
  );
});
