/**
 * A leader whose writes are held up on their way to etcd until another server leads: its writes
 * must not happen any more.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { isWrite, startEtcdProxy, type EtcdProxy, type Fate, type ProxiedRequest } from "../../apiserver/support/etcd-proxy.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { clientOf, MERGE_PATCH, names, type Client } from "../platform.ts";
import { WAIT } from "../../support/patience.ts";

const FAST = { leaseDurationSeconds: 9, renewDeadlineSeconds: 7, retryPeriodSeconds: 0.3 };
/** Writes are repeated for longer than a Lease holds. */
const TIMES = { connectMs: 500, requestMs: 800, giveUpMs: 60_000, silentMs: 500, heartbeatMs: 500 };
const RULES = { access: [{ verbs: ["get", "list"], users: ["jane"] }] };
const ROLES = "/kubernetes/management/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles";

function writesRole(request: ProxiedRequest): boolean {
  if (!isWrite(request)) return false;
  const { success = [] } = JSON.parse(request.body) as { success?: { request_put?: { key: string } }[] };
  return success.some(({ request_put: put }) => put !== undefined && Buffer.from(put.key, "base64").toString().includes("/roles/"));
}

describeEtcd("a leader whose writes come late", () => {
  let etcd: Etcd;
  let rounds = 0;
  let proxy: EtcdProxy;
  let leader: Management;
  let follower: Management;
  let admin: Client;

  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.remove());
  beforeEach(async () => {
    const prefix = `/test-${++rounds}/`;
    const start = async (url: string) => {
      const store = await openEtcdStore({ endpoints: [url], prefix, times: TIMES });
      return startManagement({ tls: false, store, sharing: { times: FAST } });
    };
    proxy = await startEtcdProxy(etcd.url);
    leader = await start(proxy.url);
    await vi.waitFor(() => expect(leader.leading).toBe(true), WAIT);
    follower = await start(etcd.url);
    admin = clientOf(follower.url, leader.adminKey!);
    await leader.settled();
  });
  afterEach(async () => {
    proxy.decide = () => "pass";
    await follower.stop();
    await leader.stop();
    await proxy.close();
  });

  const change = (spec: object) => admin.send("PATCH", "/namespaces/shop/sharedsecrets/db", { spec }, MERGE_PATCH);
  const roles = async () => names(await admin.send("GET", ROLES));

  /** A rule comes while no write of the leader arrives, and goes before another server leads, which then finds nothing to do. */
  async function loseTheLease(decide: (request: ProxiedRequest) => Fate) {
    let lost = 0;
    proxy.decide = (request) => {
      const fate = decide(request);
      if (fate !== "pass" && writesRole(request)) lost += 1;
      return fate;
    };
    await admin.send("POST", "/namespaces/shop/sharedsecrets", { metadata: { name: "db", namespace: "shop" }, spec: RULES });
    await vi.waitFor(() => expect(lost).toBeGreaterThan(0), WAIT);
    expect((await change({ access: [] })).code).toBe(200);
    await vi.waitFor(() => expect(follower.leading).toBe(true), WAIT);
    await follower.settled();
    expect(leader.leading).toBe(false);
    expect(await roles()).toEqual([]);
  }

  test("does not repeat them once another one leads", async () => {
    await loseTheLease((request) => (isWrite(request) ? "lose-request" : "pass"));
    proxy.decide = () => "pass";
    await leader.settled();
    // When the first one has stopped, all of its work in progress has ended.
    await leader.stop();
    expect(await roles()).toEqual([]);
  });

  test("does not get them done when etcd carries them out after another one leads", async () => {
    let holding = true;
    await loseTheLease((request) => {
      if (!isWrite(request) && request.path !== "/v3/kv/put") return "pass";
      if (!holding || !writesRole(request)) return "lose-request";
      holding = false;
      return "hold";
    });
    const answers = await proxy.release();
    expect(answers.map((answer) => (JSON.parse(answer) as { succeeded?: boolean }).succeeded ?? false)).toEqual([false]);
    expect(await roles()).toEqual([]);
  });
});
