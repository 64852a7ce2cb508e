/**
 * Two or three management servers on one etcd, in one process.
 */
import { once } from "node:events";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { createSharedMemory } from "../../../src/management/replicas/shared-memory.ts";
import { createInternalRecords } from "../../../src/management/records/internal-records.ts";
import { createExpiringRecords } from "../../../src/management/records/expiring-records.ts";
import { startManagement, TOKEN_KEYS_PATH, type Management, type ManagementOptions } from "../../../src/management/api/management.ts";
import { openEtcdStore, type EtcdStore, type EtcdTimes } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { startEtcdProxy } from "../../apiserver/support/etcd-proxy.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { at, clientOf, MERGE_PATCH, names, type Client } from "../platform.ts";
import { WAIT } from "../../support/patience.ts";

/** A server that stops releases its Lease: frequent checks see that soon, and none loses it because a machine is slow. */
const FAST = { leaseDurationSeconds: 60, renewDeadlineSeconds: 40, retryPeriodSeconds: 0.3 };
/** For a server that loses etcd. */
const HASTY = { connectMs: 500, requestMs: 800, giveUpMs: 1_500, silentMs: 500, heartbeatMs: 500 };
const RULES = { access: [{ verbs: ["get", "list"], users: ["jane"] }] };

describeEtcd("management servers on one etcd", () => {
  let etcd: Etcd;
  let prefix = "";
  let rounds = 0;
  let running: { stop(): Promise<unknown> }[] = [];

  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.remove());
  beforeEach(() => void (prefix = `/test-${++rounds}/`));
  afterEach(async () => {
    etcd.resume();
    for (const one of running.reverse()) await one.stop();
    running = [];
  });

  const openStore = (times: Partial<EtcdTimes> = {}) => openEtcdStore({ endpoints: [etcd.url], prefix, times });

  async function start(options: Partial<ManagementOptions> = {}): Promise<Management & { readonly store: EtcdStore }> {
    const store = await openStore();
    const sharing = { times: FAST, ...options.sharing };
    const management = await startManagement({ tls: false, clock: systemClock, store, ...options, sharing });
    running.push(management);
    return Object.defineProperties({ store } as never, Object.getOwnPropertyDescriptors(management)) as never;
  }

  const as = (management: Management, key: string) => clientOf(management.url, key);

  /** Servers, and an administrator at each. */
  async function startAll(count: number, options: Partial<ManagementOptions> = {}) {
    const servers = [await start(options)];
    const key = servers[0]!.adminKey!;
    while (servers.length < count) servers.push(await start(options));
    return { servers, admins: servers.map((server) => as(server, key)), key };
  }

  const newKey = async (admin: Client, name: string, spec: object = {}) => {
    const made = await admin.send("POST", "/ownedaccesskeys", { metadata: { name }, spec: { user: "jane", ...spec } });
    expect(made.code, made.text).toBe(201);
    return String(at(made, "spec", "key"));
  };

  const leaders = (servers: readonly Management[]) => servers.filter((server) => server.leading).length;

  test("two that start at the same moment on an empty etcd make one administrator, one pepper and one set of token keys", async () => {
    const servers = await Promise.all([start(), start(), start()]);
    const keys = servers.map(({ adminKey }) => adminKey).filter((key) => key !== undefined);
    expect(keys).toHaveLength(1);
    for (const server of servers) expect((await as(server, keys[0]!).send("GET", "/teams")).code).toBe(200);
    const [first, ...others] = servers.map((server) => JSON.stringify(server.tokenKeys()));
    for (const other of others) expect(other).toBe(first);
  });

  test("those that start with the same given key at the same moment all accept it, and it is one object", async () => {
    const servers = await Promise.all([
      start({ adminKey: "the-given-key-of-the-administrator-0123" }),
      start({ adminKey: "the-given-key-of-the-administrator-0123" }),
    ]);
    for (const server of servers) {
      expect(server.adminKey).toBe("the-given-key-of-the-administrator-0123");
      expect(names(await as(server, server.adminKey!).send("GET", "/ownedaccesskeys"))).toEqual(["admin"]);
    }
  });

  test("a key made at one is known at the others at once, and refused there at once when it is disabled or deleted", async () => {
    const { servers, admins } = await startAll(2);
    for (let round = 0; round < 5; round += 1) {
      const jane = as(servers[1]!, await newKey(admins[0]!, `jane-${round}`));
      expect((await jane.send("GET", "/teams")).code).toBe(200);
      await admins[0]!.send("PATCH", `/ownedaccesskeys/jane-${round}`, { spec: { disabled: true } }, MERGE_PATCH);
      expect((await jane.send("GET", "/teams")).body["message"]).toBe("access key is disabled");
      await admins[0]!.send("DELETE", `/ownedaccesskeys/jane-${round}`);
      expect((await jane.send("GET", "/teams")).code).toBe(401);
    }
  });

  test("permissions and teams changed at one apply at the others from the next request", async () => {
    const { servers, admins } = await startAll(2);
    const jane = as(servers[1]!, await newKey(admins[0]!, "jane"));
    await admins[0]!.send("POST", "/namespaces/shop/sharedsecrets", { metadata: { name: "db", namespace: "shop" }, spec: RULES });
    const change = (spec: object) => admins[0]!.send("PATCH", "/namespaces/shop/sharedsecrets/db", { spec }, MERGE_PATCH);
    for (let round = 0; round < 3; round += 1) {
      expect((await jane.send("GET", "/namespaces/shop/sharedsecrets/db")).code).toBe(200);
      expect((await change({ access: [] })).code).toBe(200);
      expect((await jane.send("GET", "/namespaces/shop/sharedsecrets/db")).code).toBe(403);
      expect((await change(RULES)).code).toBe(200);
    }
  });

  test("of two that give one value to two keys at one moment, one may", async () => {
    const { admins } = await startAll(3);
    for (let round = 0; round < 5; round += 1) {
      const key = `one-value-for-two-keys-at-one-moment-${round}`;
      const answers = await Promise.all(
        admins.map((admin, index) =>
          admin.send("POST", "/ownedaccesskeys", { metadata: { name: `k${round}-${index}` }, spec: { user: "jane", key } }),
        ),
      );
      expect(answers.map(({ code }) => code).sort()).toEqual([201, 422, 422]);
    }
  });

  test("many unknown keys cost etcd a few requests", async () => {
    const proxy = await startEtcdProxy(etcd.url);
    running.push({ stop: () => proxy.close() });
    const server = await start({ store: await openEtcdStore({ endpoints: [proxy.url], prefix }) });
    const before = proxy.seen.get("/v3/kv/txn") ?? 0;
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => as(server, `unknown-${index}`).send("GET", "/teams")));
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([401]));
    expect((proxy.seen.get("/v3/kv/txn") ?? 0) - before).toBeLessThan(100);
  });

  test("an open watch at one ends when its key is disabled at another", async () => {
    const { servers, admins } = await startAll(2);
    const key = await newKey(admins[0]!, "jane");
    const response = await fetch(`${servers[1]!.url}/kubernetes/management/apis/management.platform/v1/teams?watch=1`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const text = response.text();
    await admins[0]!.send("PATCH", "/ownedaccesskeys/jane", { spec: { disabled: true } }, MERGE_PATCH);
    expect(await text).toContain("access key is disabled");
  });

  test("one leads, all servers see its work, and another takes over when it stops", async () => {
    const { servers, admins } = await startAll(3);
    await vi.waitFor(() => expect(leaders(servers)).toBe(1), WAIT);
    const roles = async (admin: Client) =>
      names(await admin.send("GET", "/kubernetes/management/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles"));
    const make = (admin: Client, name: string) =>
      admin.send("POST", "/namespaces/shop/sharedsecrets", { metadata: { name, namespace: "shop" }, spec: RULES });
    const follower = servers.findIndex((server) => !server.leading);
    await make(admins[follower]!, "one");
    for (const admin of admins) await vi.waitFor(async () => expect(await roles(admin)).toContain("sharedsecret:one:0"), WAIT);
    const leader = servers.findIndex((server) => server.leading);
    await servers[leader]!.stop();
    const rest = servers.filter((_server, index) => index !== leader);
    await make(admins[follower]!, "two");
    await vi.waitFor(() => expect(leaders(rest)).toBe(1), WAIT);
    await vi.waitFor(async () => expect(await roles(admins[follower]!)).toContain("sharedsecret:two:0"), WAIT);
    await admins[follower]!.send("DELETE", "/namespaces/shop/sharedsecrets/one");
    await vi.waitFor(async () => expect(await roles(admins[follower]!)).toEqual(expect.not.arrayContaining(["sharedsecret:one:0"])), WAIT);
  });

  test("wrong passwords count wherever they are tried, and what is good for one use is used once among all", async () => {
    const clock = createFakeClock() as Clock;
    const memories = await Promise.all(
      [1, 2, 3].map(async () => {
        const store = await openStore();
        running.push({ stop: () => store.close() });
        const passing = createExpiringRecords({ records: createInternalRecords(store), clock });
        return { passing, ...createSharedMemory({ passing, clock, digest: { of: (text) => text } }) };
      }),
    );
    const attempts = memories.map((memory) => memory.attempts("names", { max: 5, windowMs: 60_000 }));
    const begun = await Promise.all(Array.from({ length: 12 }, (_, index) => attempts[index % 3]!.begin("jane")));
    expect(begun.filter((one) => one)).toHaveLength(5);
    for (const one of attempts) expect(await one.wait("jane")).toBe(60);
    const once = memories.map((memory) => memory.once<string>("logins", { lifetimeMs: 60_000, max: 10 }));
    for (let round = 0; round < 10; round += 1) {
      await once[0]!.put(`state-${round}`, "nonce");
      const taken = await Promise.all(once.map((one) => one.take(`state-${round}`)));
      expect(taken.filter((value) => value === "nonce")).toHaveLength(1);
    }
  });

  test("readiness fails while etcd is away and recovers; liveness stays; no outdated data is served", async () => {
    const { servers, admins, key } = await startAll(2);
    const health = async (path: string) => (await fetch(`${servers[0]!.url}${path}`)).status;
    expect(await health("/readyz")).toBe(200);
    etcd.pause();
    await vi.waitFor(async () => expect(await health("/readyz")).toBe(503), WAIT);
    expect(await health("/livez")).toBe(200);
    expect([503, 504]).toContain((await admins[0]!.send("GET", "/teams")).code);
    expect([503, 504]).toContain((await admins[1]!.send("POST", "/teams", { metadata: { name: "late" }, spec: {} })).code);
    etcd.resume();
    await vi.waitFor(async () => expect(await health("/readyz")).toBe(200), WAIT);
    expect((await as(servers[1]!, key).send("GET", "/teams")).code).toBe(200);
  });

  test("a server that is cut off refuses every caller, including one whose key was deleted meanwhile, and recovers", async () => {
    const { servers, admins, key } = await startAll(1);
    const proxy = await startEtcdProxy(etcd.url);
    running.push({ stop: () => proxy.close() });
    const store = await openEtcdStore({ endpoints: [proxy.url], prefix, times: HASTY });
    const far = await start({ store });
    const jane = as(far, await newKey(admins[0]!, "jane"));
    expect((await jane.send("GET", "/teams")).code).toBe(200);
    await vi.waitFor(() => expect(servers[0]!.leading).toBe(true), WAIT);
    proxy.stallWatches();
    proxy.decide = () => "lose-request";
    await admins[0]!.send("DELETE", "/ownedaccesskeys/jane");
    expect((await jane.send("GET", "/teams")).code).toBe(503);
    expect((await jane.send("GET", "/kubernetes/management/apis")).code).toBe(503);
    expect([503, 504]).toContain((await as(far, key).send("POST", "/teams", { metadata: { name: "t" }, spec: {} })).code);
    proxy.decide = () => "pass";
    proxy.cutWatches();
    await vi.waitFor(async () => expect((await jane.send("GET", "/teams")).code).toBe(401), WAIT);
    expect((await as(far, key).send("GET", "/teams")).code).toBe(200);
  });

  test("a server that stops ends its watches in order, and they continue at another one without a gap", async () => {
    const { servers, admins, key } = await startAll(2);
    const list = await admins[0]!.send("GET", "/teams");
    const watch = (server: Management, from: string) =>
      fetch(`${server.url}/kubernetes/management/apis/management.platform/v1/teams?watch=1&resourceVersion=${from}`, {
        headers: { authorization: `Bearer ${key}` },
      });
    const first = (await watch(servers[0]!, String(at(list, "metadata", "resourceVersion")))).text();
    await admins[1]!.send("POST", "/teams", { metadata: { name: "one" }, spec: {} });
    await vi.waitFor(async () => expect(names(await admins[0]!.send("GET", "/teams"))).toEqual(["one"]), WAIT);
    await servers[0]!.stop();
    const lines = (await first)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { object: { metadata: { name: string; resourceVersion: string } } });
    expect(lines.map(({ object }) => object.metadata.name)).toEqual(["one"]);
    await admins[1]!.send("POST", "/teams", { metadata: { name: "two" }, spec: {} });
    const second = await watch(servers[1]!, lines[0]!.object.metadata.resourceVersion);
    const { value } = await second.body!.getReader().read();
    expect(Buffer.from(value!).toString()).toContain('"name":"two"');
  });

  test("the leader compacts etcd, and no client loses a watch by it", async () => {
    const compacted: number[] = [];
    const store = await openStore();
    const sharing = { times: FAST, compactAfterMs: 300, compact: async (revision: number) => void compacted.push(revision) };
    const management = await startManagement({ tls: false, store, sharing });
    running.push(management);
    await vi.waitFor(() => expect(compacted.length).toBeGreaterThanOrEqual(2), WAIT);
    expect(compacted).toEqual([...compacted].sort((left, right) => left - right));
    expect(compacted.at(-1)).toBeLessThanOrEqual(await store.revision());
    await store.compactEtcd(compacted[0]!);
    expect((await as(management, management.adminKey!).send("GET", "/teams")).code).toBe(200);
  });

  test("servers with certificates share one, also when they start at the same moment", async () => {
    const stores = await Promise.all([openStore(), openStore()]);
    const servers = await Promise.all(
      stores.map((store) => startManagement({ store, sharing: { times: FAST }, publicUrl: "https://platform.example:8443" })),
    );
    running.push(...servers);
    expect(servers[0]!.caPem).toBe(servers[1]!.caPem);
    expect(servers[0]!.kubeconfig("k")).toContain("https://platform.example:8443/kubernetes/management");
    expect(servers[0]!.kubeconfig("k")).toBe(servers[1]!.kubeconfig("k"));
    expect(TOKEN_KEYS_PATH).toBe("/.well-known/jwks.json");
  });

  test("a certificate about to expire is replaced at a start; a client that trusts the new one trusts servers that still run with the old one", async () => {
    const [year, past] = [365, 340].map((days) => days * 86_400_000);
    const begin = async (clock: Clock) => {
      const server = await startManagement({ store: await openStore(), sharing: { times: FAST }, clock });
      running.push(server);
      return server;
    };
    const before = await begin({ ...systemClock, now: () => Date.now() - past! });
    const [after, later] = [await begin(systemClock), await begin(systemClock)];
    expect(later.caPem).toBe(after.caPem);
    const trusts = async (ca: string, server: Management) => {
      const socket = connect({ host: "127.0.0.1", port: Number(new URL(server.url).port), ca, rejectUnauthorized: false });
      await once(socket, "secureConnect");
      socket.destroy();
      return socket.authorized;
    };
    const both = [before, after, later];
    expect(await Promise.all(both.map((server) => trusts(after.caPem, server)))).toEqual([true, true, true]);
    expect(await Promise.all(both.map((server) => trusts(before.caPem, server)))).toEqual([true, false, false]);
    // Of the earlier ones the last is named; the one before that has expired.
    const next = await begin({ ...systemClock, now: () => Date.now() + year! });
    expect(next.caPem.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(next.caPem).not.toContain(before.caPem.trim());
  });
});
