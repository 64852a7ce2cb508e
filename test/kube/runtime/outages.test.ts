/** How soon a cluster is followed again after outages, and how often it is asked meanwhile. */
import { expect, test } from "vitest";
import type { Chance } from "../../../src/base/chance.ts";
import { EngineError } from "../../../src/base/errors.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createInformer } from "../../../src/kube/runtime/informer/informer.ts";
import { decideRetry } from "../../../src/kube/runtime/retry.ts";
import { createFakeClock, settle } from "../../support/fake-clock.ts";
import { FakeCluster } from "./fake-cluster.ts";

const STEP_MS = 25;
const UNAVAILABLE = new EngineError("API_UNAVAILABLE", "connect ECONNREFUSED");
const IDENTITY = new EngineError("CLUSTER_IDENTITY", "Another cluster answers");

/** The longest delays that chance can bring. */
const unlucky: Chance = { fraction: () => 0.999, uuid: () => "", bytes: (length) => new Uint8Array(length) };

async function startFollowing() {
  const clock = createFakeClock();
  const cluster = new FakeCluster({ clock });
  cluster.put("web");
  const informer = createInformer({ client: cluster, resource: ENDPOINTS, clock, chance: unlucky });
  informer.start();
  await settle();

  /** Fails everything for a while. */
  async function goDown(forMs: number, error = UNAVAILABLE): Promise<void> {
    cluster.down = error;
    cluster.breakWatches(error);
    await clock.advance(forMs);
    cluster.down = undefined;
  }

  /** Milliseconds until a change that was made meanwhile is seen. */
  async function recovered(name: string): Promise<number> {
    const startMs = clock.monotonic();
    while (informer.get({ namespace: "shop", name }) === undefined) await clock.advance(STEP_MS);
    return clock.monotonic() - startMs;
  }

  return { clock, cluster, informer, goDown, recovered, attempts: () => cluster.lists + cluster.watches.length };
}

test.each([
  { downMs: 200, upMs: 300, listed: false, why: "a server that comes and goes twice a second" },
  { downMs: 1_000, upMs: 1_500, listed: false, why: "one that is down for a second, again and again" },
  { downMs: 2_000, upMs: 2_500, listed: false, why: "one that is away nearly half of the time" },
  { downMs: 4_900, upMs: 2_500, listed: true, why: "one that is away most of the time" },
  { downMs: 4_900, upMs: 60_000, listed: true, why: "one that is away now and then" },
])("$why is followed within 1.5 s of its return, thirty times, and asked at most four times a second", async ({ downMs, upMs, listed }) => {
  const { clock, cluster, informer, goDown, recovered, attempts } = await startFollowing();
  const slowest = { ms: 0 };
  const [startMs, before] = [clock.monotonic(), attempts()];
  for (let round = 0; round < 30; round++) {
    const down = goDown(downMs);
    cluster.put(`new-${round}`);
    await down;
    const tookMs = await recovered(`new-${round}`);
    slowest.ms = Math.max(slowest.ms, tookMs);
    await clock.advance(Math.max(0, upMs - tookMs));
  }
  expect(slowest.ms).toBeLessThanOrEqual(1_500);
  expect((attempts() - before) / ((clock.monotonic() - startMs) / 1_000)).toBeLessThanOrEqual(4);
  // After five failures in a row it may be the state to go on from that is refused.
  if (!listed) expect(cluster.lists).toBe(1);
  await informer.stop();
});

test("a server that is known to answer again is followed at once, and a wait that it asked for stays", async () => {
  const { informer, goDown, recovered, cluster, clock, attempts } = await startFollowing();
  await goDown(3_600_000);
  expect(informer.lostMs).toBeLessThan(STEP_MS);
  cluster.put("new");
  informer.retryNow();
  await settle();
  expect(await recovered("new")).toBe(0);
  await clock.advance(5_000);
  expect(informer.lostMs).toBeUndefined();
  cluster.watchErrors = [new EngineError("API_TOO_MANY_REQUESTS", "slow down", { details: { retryAfterSeconds: 20 } })];
  cluster.endWatches();
  await settle();
  const before = attempts();
  informer.retryNow();
  await clock.advance(19_000);
  expect(attempts()).toBe(before);
  await informer.stop();
});

test("in an outage of an hour a server is asked ever more rarely, twice a minute in the end", async () => {
  const { clock, informer, goDown, attempts } = await startFollowing();
  const counts: number[] = [];
  for (const ms of [5_000, 55_000, 59 * 60_000]) {
    const before = attempts();
    await goDown(ms);
    counts.push(attempts() - before);
  }
  expect(counts[0]).toBeLessThanOrEqual(12);
  expect(counts[1]).toBeLessThanOrEqual(20);
  expect(counts[2]).toBeLessThanOrEqual(59 * 2 + 10);
  await informer.stop();
  expect(clock.pending).toBe(0);
});

test("a server that accepts watches only to end them is asked ever more rarely, too", async () => {
  const { clock, cluster, informer, attempts } = await startFollowing();
  cluster.onWatch = ({ deliver }) => deliver({ type: "end" });
  cluster.endWatches();
  await clock.advance(10 * 60_000);
  const before = attempts();
  await clock.advance(10 * 60_000);
  expect(attempts() - before).toBeLessThanOrEqual(45);
  await informer.stop();
});

test("a right cluster is listed within 3 s of its return, however long another one answered in its place", async () => {
  const { cluster, informer, goDown, recovered } = await startFollowing();
  for (const [round, downMs] of [10_000, 60_000, 3_600_000].entries()) {
    cluster.put(`new-${round}`);
    cluster.remove(`new-${round}`, { silently: true });
    const before = cluster.lists;
    await goDown(downMs, IDENTITY);
    cluster.put(`back-${round}`);
    expect(await recovered(`back-${round}`)).toBeLessThanOrEqual(3_000 + STEP_MS);
    expect(cluster.lists).toBeGreaterThan(before);
  }
  await informer.stop();
});

test.each([
  { code: "API_UNAVAILABLE", lastedMs: 5_000, longestMs: 1_500, why: "in the first 5 s of an outage" },
  { code: "CLUSTER_IDENTITY", lastedMs: 3_600_000, longestMs: 3_000, why: "as long as another cluster answers" },
] as const)("a key waits no longer than $longestMs ms $why", ({ code, lastedMs, longestMs }) => {
  for (const fraction of [0, 0.5, 0.999]) {
    for (let atMs = 0, failures = 0; atMs < lastedMs; failures += 1) {
      const { afterMs } = decideRetry({ error: new EngineError(code, "It failed"), failures, random: () => fraction });
      expect(afterMs).toBeLessThanOrEqual(longestMs);
      atMs += afterMs;
    }
  }
});
