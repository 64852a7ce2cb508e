import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { LEASES, NAMESPACES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createLeaderElection } from "../../../src/kube/runtime/election/leader-election.ts";
import { createElectionWorld, LEASE, waitFor, type ElectionWorld } from "./election-world.ts";

let world: ElectionWorld;
const rejections: unknown[] = [];
const keep = (reason: unknown) => void rejections.push(reason);
beforeEach(async () => {
  process.on("unhandledRejection", keep);
  world = await createElectionWorld();
});
afterEach(async () => {
  await world.close();
  process.off("unhandledRejection", keep);
  expect(rejections.splice(0)).toEqual([]);
});

const specOf = (lease: KubeObject | undefined) => lease?.["spec"] as Record<string, unknown> | undefined;

/** Another program's leader, which renews until it is stopped. */
async function holdLease(identity: string, fields: Record<string, unknown> = {}): Promise<() => Promise<void>> {
  const { client } = world.cluster;
  const metadata = { ...LEASE };
  const at = () => new Date(world.clock.now()).toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: identity, leaseDurationSeconds: 15, acquireTime: at(), renewTime: at(), leaseTransitions: 0, ...fields };
  await client.create(LEASES, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec });
  return async () =>
    void (await client.patch(LEASES, LEASE, "merge", { spec: { holderIdentity: identity, renewTime: at(), acquireTime: at() } }));
}

describe("a candidate", () => {
  test("makes the Lease and leads", async () => {
    const candidate = world.join();
    expect(candidate.election.leading).toBe(false);
    await world.clock.advance(100);
    expect({ leading: candidate.election.leading, working: candidate.working, holder: candidate.election.holder }).toEqual({
      leading: true,
      working: true,
      holder: "process-0",
    });
    expect(specOf(await world.lease())).toEqual({
      holderIdentity: "process-0",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.010000Z",
      renewTime: "2026-01-01T00:00:00.010000Z",
      leaseTransitions: 0,
    });
  });

  test("of two, one leads and the other stands by, for as long as the first renews", async () => {
    const [first, second] = [world.join(), world.join()];
    await world.clock.advance(10 * 60_000);
    expect([first.election.leading, second.election.leading, second.terms]).toEqual([true, false, 0]);
    expect(second.election.holder).toBe("process-0");
    expect(specOf(await world.lease())).toMatchObject({ leaseTransitions: 0, acquireTime: "2026-01-01T00:00:00.010000Z" });
  });

  test("of two that come at the same moment, one loses the race without a complaint", async () => {
    const renew = await holdLease("another");
    const candidates = [world.join(), world.join()];
    await world.clock.advance(30_000);
    expect(candidates.map(({ election }) => election.leading).sort()).toEqual([false, true]);
    expect(candidates.flatMap(({ lines }) => lines).filter((line) => line.startsWith("warn"))).toEqual([]);
    await renew();
  });

  test("takes the Lease of a leader that died 15 s after its last renewal, and counts the transition", async () => {
    const [first, second] = [world.join(), world.join()];
    await world.clock.advance(60_000);
    first.kill();
    await world.clock.advance(12_000);
    expect(second.election.leading).toBe(false);
    await world.clock.advance(5_000);
    expect(second.election.leading).toBe(true);
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "process-1", leaseTransitions: 1 });
  });

  test("waits for another program's Lease, renewed with a clock an hour behind", async () => {
    const renew = await holdLease("go-program", { renewTime: "2025-12-31T23:00:00.000000Z" });
    const candidate = world.join();
    for (let i = 0; i < 20; i++) {
      await world.clock.advance(2_000);
      await renew();
    }
    expect(candidate.terms).toBe(0);
    await world.clock.advance(20_000);
    expect(candidate.election.leading).toBe(true);
  });

  test("is not held off by a client that labels the Lease every second", async () => {
    await holdLease("dead");
    const candidate = world.join();
    for (let i = 0; i < 17; i++) {
      await world.clock.advance(1_000);
      await world.cluster.client.patch(LEASES, LEASE, "merge", { metadata: { labels: { at: String(i) } } });
    }
    await world.clock.advance(1_000);
    expect(candidate.election.leading).toBe(true);
    expect((await world.lease())?.metadata.labels).toEqual({ at: "16" });
  });

  test("tells once that it cannot reach the Lease, and once that it can again", async () => {
    const candidate = world.join();
    candidate.network.fault = "refused";
    await world.clock.advance(60_000);
    candidate.network.fault = "none";
    await world.clock.advance(5_000);
    expect(candidate.lines.map((line) => line.split(" {")[0])).toEqual([
      "info Standing by",
      "warn Cannot reach the lease",
      "info Reached the lease again",
      "info Leading",
    ]);
  });

  test("tells that the namespace is missing, and leads when it is there", async () => {
    await world.cluster.client.delete(NAMESPACES, { namespace: "", name: LEASE.namespace });
    await world.clock.advance(1_000);
    const candidate = world.join();
    await world.clock.advance(10_000);
    expect(candidate.lines.join()).toMatch(/warn Cannot reach the lease .*vc-blue/);
    await world.cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: LEASE.namespace } });
    await world.clock.advance(5_000);
    expect(candidate.election.leading).toBe(true);
  });
});

describe("a leader", () => {
  test("asks once in two seconds, and reads nothing", async () => {
    const candidate = world.join();
    await world.clock.advance(1_000);
    const before = Number((await world.lease())?.metadata.resourceVersion);
    await world.clock.advance(60_000);
    const writes = Number((await world.lease())?.metadata.resourceVersion) - before;
    expect(writes).toBeGreaterThanOrEqual(28);
    expect(writes).toBeLessThanOrEqual(30);
    expect(candidate.terms).toBe(1);
  });

  test.each(["refused", "blocked", "answer-lost", "late"] as const)(
    "steps down 10 s after its last renewal began when the way to the server is %s, and leads again later",
    async (fault) => {
      const candidate = world.join();
      await world.clock.advance(1_000);
      candidate.network.fault = fault;
      // The last renewal that went well began 10 ms after the start.
      await world.clock.advance(9_000);
      expect(candidate.election.leading).toBe(true);
      await world.clock.advance(11);
      expect({ leading: candidate.election.leading, working: candidate.working }).toEqual({ leading: false, working: false });
      expect(candidate.metrics.value("leader_election_master_status", { name: LEASE.name })).toBe(0);
      candidate.network.fault = "none";
      await world.clock.advance(30_000);
      expect({ leading: candidate.election.leading, terms: candidate.terms }).toEqual({ leading: true, terms: 2 });
      expect(candidate.metrics.value("leader_election_master_status", { name: LEASE.name })).toBe(1);
    },
  );

  test("survives one renewal that hangs: there is time for a second one", async () => {
    const candidate = world.join();
    await world.clock.advance(1_900);
    candidate.network.fault = "blocked";
    await world.clock.advance(2_000);
    candidate.network.fault = "none";
    await world.clock.advance(60_000);
    expect({ leading: candidate.election.leading, terms: candidate.terms }).toEqual({ leading: true, terms: 1 });
  });

  test("that has stepped down is not called back by the answer of a renewal that was on the way", async () => {
    const candidate = world.join({ lead: () => new Promise(() => undefined), drainMs: 5_000 });
    await world.clock.advance(1_000);
    candidate.network.fault = "refused";
    await world.clock.advance(6_500);
    Object.assign(candidate.network, { fault: "none", latencyMs: 1_500 });
    await world.clock.advance(2_500);
    expect(candidate.election.leading).toBe(true);
    await world.clock.advance(1_500);
    expect(candidate.election.leading).toBe(false);
    expect(specOf(await world.lease())).toMatchObject({ renewTime: expect.stringMatching(/T00:00:08/) as string });
  });

  test("goes on after another client wrote the Lease without taking it", async () => {
    const candidate = world.join();
    await world.clock.advance(1_000);
    await world.cluster.client.patch(LEASES, LEASE, "merge", { metadata: { labels: { a: "b" } } });
    await world.clock.advance(20_000);
    expect({ leading: candidate.election.leading, terms: candidate.terms }).toEqual({ leading: true, terms: 1 });
    expect((await world.lease())?.metadata.labels).toEqual({ a: "b" });
  });

  test.each([
    { why: "taken by another", spec: { holderIdentity: "thief" } },
    { why: "emptied", spec: { holderIdentity: "" } },
  ])("steps down at its next renewal when its Lease was $why", async ({ spec }) => {
    const candidate = world.join();
    await world.clock.advance(1_000);
    await world.cluster.client.patch(LEASES, LEASE, "merge", { spec });
    await world.clock.advance(2_000);
    expect(candidate.lines.join()).toMatch(/warn Lost the lease .*"reason":"taken"/);
  });

  test("steps down when its Lease is deleted, and competes for a new one", async () => {
    const candidate = world.join();
    await world.clock.advance(1_000);
    await world.cluster.client.delete(LEASES, LEASE);
    await world.clock.advance(10_000);
    expect({ leading: candidate.election.leading, terms: candidate.terms }).toEqual({ leading: true, terms: 2 });
  });

  test("that was paused for longer than the Lease reads that it leads no more before anything else runs", async () => {
    const [first, second] = [world.join(), world.join()];
    await world.clock.advance(1_000);
    first.pause();
    await world.clock.advance(20_000);
    expect({ old: first.election.leading, new: second.election.leading }).toEqual({ old: false, new: true });
    first.resume();
    await world.clock.advance(100);
    expect({ working: first.working, leading: first.election.leading }).toEqual({ working: false, leading: false });
    await world.clock.advance(60_000);
    expect(second.terms).toBe(1);
  });

  test("does not care how its wall clock jumps", async () => {
    const [first, second] = [world.join(), world.join()];
    for (const hours of [1, -1, 24, -24, 0]) {
      first.skew(hours * 3_600_000);
      second.skew(-hours * 3_600_000);
      await world.clock.advance(30_000);
    }
    expect([first.terms, second.terms]).toEqual([1, 0]);
  });
});

describe("the end", () => {
  test("of a leader that is told to stop gives the Lease back, once its work is done", async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const leader = world.join({ lead: (lost) => waitFor(lost).then(() => finished) });
    await world.clock.advance(1_000);
    const standby = world.join();
    await world.clock.advance(1_000);
    leader.stop();
    await world.clock.advance(5_000);
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "process-0" });
    finish();
    await world.clock.advance(100);
    await leader.ended;
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 });
    await world.clock.advance(5_000);
    expect(standby.election.leading).toBe(true);
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "process-1", leaseTransitions: 1 });
  });

  test("of a leader whose work does not end leaves the Lease to expire", async () => {
    const leader = world.join({ lead: () => new Promise(() => undefined), drainMs: 3_000 });
    await world.clock.advance(1_000);
    leader.stop();
    await world.clock.advance(3_100);
    await leader.ended;
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "process-0" });
  });

  test("of the work that fails gives the Lease back and is the failure of the run", async () => {
    const leader = world.join({ lead: () => Promise.reject(new Error("the clusters are swapped")) });
    await world.clock.advance(1_000);
    await expect(leader.ended).rejects.toThrow("the clusters are swapped");
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "" });
  });

  test("of a term whose work goes on is LEADERSHIP_LOST: only the end of the process ends it", async () => {
    const leader = world.join({ lead: () => new Promise(() => undefined), drainMs: 3_000 });
    await world.clock.advance(1_000);
    leader.network.fault = "refused";
    await world.clock.advance(13_100);
    await expect(leader.ended).rejects.toMatchObject({ code: "LEADERSHIP_LOST" });
  });

  test("that the work asks for before it has begun is not missed", async () => {
    const { cluster, clock } = world;
    const election = createLeaderElection({ client: cluster.client, lease: LEASE, identity: "a", clock, chance: systemChance });
    const stopping = new AbortController();
    let ended = false;
    const run = election.run(async () => stopping.abort(), stopping.signal).then(() => (ended = true));
    await clock.advance(5_000);
    expect(ended).toBe(true);
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "" });
    await run;
  });

  test("of a candidate that stands by is at once", async () => {
    const [, second] = [world.join(), world.join()];
    await world.clock.advance(1_000);
    second.stop();
    await world.clock.advance(20);
    await second.ended;
    expect(specOf(await world.lease())).toMatchObject({ holderIdentity: "process-0" });
  });
});

test("a candidate that stood still until the term that it had just won was over leads later", async () => {
  const { cluster, clock } = world;
  let stalledMs = 0;
  const stalling = {
    now: () => clock.now() + stalledMs,
    monotonic: () => clock.monotonic() + stalledMs,
    schedule: (delayMs: number, callback: () => void) => clock.schedule(delayMs, callback),
  };
  const reach = { asked: () => undefined, failed: () => undefined, answered: () => void (stalledMs = 11_000) };
  const shared = { client: cluster.client, lease: LEASE, identity: "a", chance: systemChance };
  const election = createLeaderElection({ ...shared, clock: stalling, reach });
  const stopping = new AbortController();
  const run = election.run(waitFor, stopping.signal);
  await clock.advance(100);
  expect([specOf(await world.lease())?.["holderIdentity"], election.leading]).toEqual(["a", false]);
  await clock.advance(10_000);
  expect(election.leading).toBe(true);
  stopping.abort();
  await clock.advance(1_000);
  await run;
});

test("times that contradict each other are refused", () => {
  const options = { client: world.cluster.client, lease: LEASE, identity: "a", clock: world.clock };
  const chance = { fraction: () => 0, uuid: () => "", bytes: () => new Uint8Array() };
  const times = { leaseDurationSeconds: 10, renewDeadlineSeconds: 10, retryPeriodSeconds: 2 };
  expect(() => createLeaderElection({ ...options, chance, times })).toThrow(/leaseDurationSeconds must be greater/);
});
