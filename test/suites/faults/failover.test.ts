/**
 * Two sidecars for one virtual cluster, each with its own way to the clusters and its own part in the election.
 */
import { expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { delay } from "../../../src/base/clock.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { LEASES } from "../../../src/kube/object/resource.ts";
import { createLeaderElection, type LeaderElection } from "../../../src/kube/runtime/election/leader-election.ts";
import { createFastClock } from "./fast-clock.ts";
import type { Passing } from "./fault-proxy.ts";
import { closeLater, guardRigs, prepareRig, type Rig } from "./rig.ts";

guardRigs();

const LEASE = { namespace: "vc-blue", name: "endpoint-sync-blue" };

interface Replica {
  readonly rig: Rig;
  readonly election: LeaderElection;
  readonly stop: AbortController;
  readonly running: Promise<void>;
}

/** The election of a rig, which stands by as soon as its caches are full. */
async function join(rig: Rig, elect: (election: LeaderElection) => void, identity: string): Promise<Replica> {
  const kubeConfig = await loadKubeConfig({ text: rig.host.proxy.kubeconfig() });
  const client = createHttpClient({ kubeConfig, clock: rig.clock, connectionsMax: 1, timeoutMs: 5_000 });
  const stop = new AbortController();
  const election = createLeaderElection({ client, lease: LEASE, identity, clock: rig.clock, chance: systemChance });
  elect(election);
  await rig.syncer.prepare();
  const running = election.run((lost) => rig.syncer.lead(lost), stop.signal);
  closeLater({
    async close() {
      stop.abort();
      await client.close();
      await running;
    },
  });
  return { rig, election, stop, running };
}

/** Two replicas; the first leads. Both see the clusters of the first, each through its own proxies. */
async function startPair(objects = 3): Promise<{ first: Replica; second: Replica }> {
  const elections: (LeaderElection | undefined)[] = [];
  const clock = createFastClock();
  const prepare = (index: number, count: number) =>
    prepareRig({
      clock,
      objects: count,
      client: { mayWrite: () => elections[index]?.leading ?? false },
      mayWrite: () => elections[index]?.leading ?? false,
    });
  const [one, two] = [await prepare(0, objects), await prepare(1, 0)];
  two.tenant.proxy.lead(one.tenant.cluster.url);
  two.host.proxy.lead(one.host.cluster.url);
  const first = await join(one, (election) => (elections[0] = election), "first");
  await one.until("the first leads", () => first.election.leading);
  await one.converged();
  const second = await join(two, (election) => (elections[1] = election), "second");
  return { first, second };
}

const writes = ({ rig }: Replica): readonly Passing[] =>
  rig.host.proxy.passed.filter(({ write, url }) => write && !url.includes("/leases"));

test("F17 two replicas: one writes, the other is ready and writes nothing", async () => {
  const { first, second } = await startPair();
  await first.rig.put("web-0", "10.1.1.1");
  await first.rig.converged();
  await first.rig.pass(20_000);
  expect(writes(second)).toEqual([]);
  expect(second.rig.syncer.status()).toMatchObject({ prepared: true, running: false });
  expect([first.election.leading, second.election.leading]).toEqual([true, false]);
});

test("F17 leader cut off from the Lease: it starts no write after its deadline, the other one takes over, and all is done once", async () => {
  const { first, second } = await startPair();
  const lostAt = new Promise<number>((resolve) => {
    const watch = async () => {
      while (first.election.leading) await delay(first.rig.clock, 20);
      resolve(first.rig.clock.monotonic());
    };
    void watch();
  });
  // Its way to the host stands still; to the tenant it does not.
  first.rig.host.proxy.freeze();
  await first.rig.put("web-0", "10.1.1.1");
  await second.rig.until("the second leads", () => second.election.leading);
  const lostMs = await lostAt;
  await first.rig.put("web-1", "10.1.1.2");
  await first.rig.converged();
  first.rig.host.proxy.thaw();
  await first.rig.pass(20_000);
  expect(await first.rig.isConverged()).toBe(true);
  expect(writes(first).filter(({ atMs }) => atMs > lostMs)).toEqual([]);
  expect(writes(second).filter(({ status }) => status === 200)).toHaveLength(2);
  expect([first.election.leading, second.election.leading]).toEqual([false, true]);
  // A write in progress when it lost the Lease arrived late and was refused by its resourceVersion.
  expect(writes(first).filter(({ body, status }) => body.includes("10.1.1.1") && status === 200)).toEqual([]);
});

test("F18 leader that is told to stop: gives the Lease back after its last write, and the other one leads at once", async () => {
  const { first, second } = await startPair();
  first.rig.host.proxy.on({
    when: ({ method }) => method === "PUT",
    times: 1,
    fault: async ({ ask, response }) => {
      await first.rig.pass(1_000);
      const { status, text } = await ask();
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    },
  });
  // The write must meet the fault, not the renewal.
  await first.rig.put("web-0", "10.1.1.1");
  await first.rig.until("a write is on its way", () => writes(first).some(({ body }) => body.includes("10.1.1.1")));
  first.stop.abort();
  await first.running;
  await second.rig.until("the second leads", () => second.election.leading);
  await first.rig.converged();
  const lease = await first.rig.host.cluster.client.get(LEASES, LEASE);
  expect(lease?.["spec"]).toMatchObject({ holderIdentity: "second", leaseTransitions: 1 });
});

/** The default of `workers`. */
const WORKERS = 10;

test("what changed last goes first when a standby takes over, ahead of the initial list", async () => {
  const rig = await prepareRig({ objects: 100 });
  await rig.syncer.prepare();
  await rig.pass(1_000);
  expect(rig.host.proxy.passed.filter(({ write }) => write)).toEqual([]);
  const before = rig.syncer.status();
  const { metadata } = await rig.put("web-77", "10.9.9.9");
  const cached = () => rig.tenant.proxy.passed.length > 0 && rig.syncer.status().waiting === before.waiting;
  await rig.until("the change has come", cached);
  await rig.pass(4_000);
  const ending = new AbortController();
  const leading = rig.syncer.lead(ending.signal);
  await rig.converged();
  ending.abort();
  await leading;
  expect(before).toMatchObject({ prepared: true, running: false });
  expect(before.waiting).toBeGreaterThanOrEqual(100);
  const created = rig.host.proxy.passed.filter(({ method, url }) => method === "POST" && url.endsWith("/endpoints"));
  // The workers begin together, each over a connection of its own: which of their requests gets through first is a matter of chance.
  const [changed, ...others] = created.slice(0, WORKERS).filter(({ body }) => body.includes('"web-77-x-shop-x-blue"'));
  expect(changed?.body).toContain("10.9.9.9");
  expect(others).toEqual([]);
  expect(metadata.name).toBe("web-77");
  expect(rig.syncer.status().running).toBe(false);
});
