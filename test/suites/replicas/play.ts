/**
 * Several management servers over one etcd, with writers and watches on all of them, while servers are killed or stand still, and etcd too.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { followOverHttp } from "../../apiserver/support/http-follower.ts";
import { createLedger, HttpWriter } from "../../apiserver/support/http-writer.ts";
import { createSeededChance } from "../../apiserver/seeded-chance.ts";
import { checkWatches, type WatchRecord } from "../../apiserver/support/watch-checker.ts";
import { startEtcd } from "../../support/etcd.ts";
import { ownPorts } from "../../support/own-port.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { ReplicaProcess } from "./replica-process.ts";
import { Troubles, type TroubleCounts } from "./troubles.ts";

/** How long, and with what chance. */
export interface PlayOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly replicas: number;
  /** Told now and then how far it is. */
  readonly onProgress?: (line: string) => void;
}

/** Events of a run. */
export interface Played extends TroubleCounts {
  readonly seconds: number;
  readonly acknowledged: number;
  readonly conflicts: number;
  readonly doubtful: number;
  readonly reads: number;
  readonly heard: number;
  readonly bookmarks: number;
  readonly resumed: number;
  readonly lists: number;
  /** Empty when every promise was kept. */
  readonly problems: readonly string[];
}

const API = "/kubernetes/management/apis/management.platform/v1";
const ADMIN_KEY = "administrator-0123456789abcdefghijklmn";
/** Etcd forgets while it goes on. */
const GIVEN = {
  adminKey: ADMIN_KEY,
  encryptionKey: Buffer.alloc(32, 7).toString("base64"),
  args: ["--etcd-compaction-interval", "0.2"],
};
const WRITERS = 3;
const FOLLOWERS = 2;
const WATCH_SECONDS = 8;
const PROGRESS_MS = 30_000;
const LOOK_MS = 50;

/** Plays it once. */
export async function play({ seconds, seed, replicas: size, onProgress }: PlayOptions): Promise<Played> {
  const chance = createSeededChance(seed);
  const fraction = () => chance.fraction();
  const upTo = (limit: number) => Math.floor(fraction() * limit);
  const folder = mkdtempSync(join(tmpdir(), "replicas-"));
  const etcd = await startEtcd();
  const ports = await ownPorts(size);
  const replicas = ports.map((port) => new ReplicaProcess({ ...GIVEN, etcd: etcd.url, folder, port }));
  const ledger = createLedger();
  try {
    // The first one makes the administrator.
    for (const replica of replicas) await replica.start();
    const urls = replicas.map(({ url }) => `${url}${API}`);
    const followers = urls.flatMap((_, at) =>
      Array.from({ length: FOLLOWERS }, (_, index) => {
        const collections = [...urls.slice(at), ...urls.slice(0, at)].map((url) => `${url}/sharedsecrets`);
        return followOverHttp({ name: `watch ${at}.${index}`, collections, key: ADMIN_KEY, timeoutSeconds: WATCH_SECONDS });
      }),
    );
    const writers = urls.flatMap((api, at) =>
      Array.from({ length: WRITERS }, (_, index) => new HttpWriter({ name: `w${at}.${index}`, api, key: ADMIN_KEY, ledger, fraction })),
    );

    const from = systemClock.monotonic();
    const elapsed = () => (systemClock.monotonic() - from) / 1_000;
    let over = false;
    const writing = writers.map(async (writer) => {
      while (!over) await writer.step();
    });
    const troubles = new Troubles({ replicas, etcd, upTo, cut: () => followers.forEach((follower) => follower.cut()) });
    const say = () =>
      onProgress?.(
        `${elapsed().toFixed(0)} s: ${ledger.acknowledged.length} writes, ${troubles.counts.kills} kills, ${ledger.problems.length} problems`,
      );
    for (let said = 0; elapsed() < seconds; await delay(systemClock, LOOK_MS)) {
      if (elapsed() * 1_000 - said < PROGRESS_MS) continue;
      said = elapsed() * 1_000;
      say();
    }
    await troubles.stop();
    over = true;
    await Promise.all(writing);
    const played = elapsed();
    const end = await writers[0]!.mark("end");
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    while (followers.some((follower) => follower.position() < end) && systemClock.monotonic() < deadline) await delay(systemClock, 20);
    for (const follower of followers) await follower.stop();
    // All replicas have the same final state.
    const states = urls.map((url, at) =>
      followOverHttp({ name: `state ${at}`, collections: [`${url}/sharedsecrets`], key: ADMIN_KEY, timeoutSeconds: 1 }),
    );
    while (states.some((state) => state.position() < end) && systemClock.monotonic() < deadline) await delay(systemClock, 20);
    for (const state of states) await state.stop();

    const watches: WatchRecord[] = [...followers, ...states].map(({ record }) => record);
    const steps = followers.flatMap(({ record }) => record.steps);
    const did = (what: string) => steps.filter((step) => step.did === what).length;
    return {
      seconds: played,
      acknowledged: ledger.acknowledged.length,
      conflicts: ledger.conflicts,
      doubtful: ledger.doubtful,
      reads: ledger.reads,
      ...troubles.counts,
      heard: did("hear"),
      bookmarks: did("bookmark"),
      resumed: followers.reduce((sum, follower) => sum + follower.resumed(), 0),
      lists: did("list"),
      problems: [...ledger.problems, ...checkWatches({ acknowledged: ledger.acknowledged, watches, end, doubtful: ledger.doubtful })],
    };
  } finally {
    for (const replica of replicas) await replica.kill();
    await etcd.remove();
    rmSync(folder, { recursive: true });
  }
}
