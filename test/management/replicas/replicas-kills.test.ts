/**
 * `management --etcd` as processes: the leader is killed, stands still for longer than its Lease, or loses etcd, while clients
 * write at the other one. Background writes are read from the history of etcd, not from what processes report.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { outsideOfTerm, readHistory, termsOf, type EtcdWritten } from "../../suites/replicas/etcd-history.ts";
import { ReplicaProcess } from "../../suites/replicas/replica-process.ts";
import { startEtcdProxy } from "../../apiserver/support/etcd-proxy.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { ownPorts } from "../../support/own-port.ts";
import { WAIT } from "../../support/patience.ts";
import { at, clientOf, MERGE_PATCH, names, type Client } from "../platform.ts";

const ADMIN_KEY = "administrator-0123456789abcdefghijklmn";
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString("base64");
const RULES = { access: [{ verbs: ["get"], users: ["jane"] }] };
const ROLES = "/kubernetes/management/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles";
const PAUSE_MS = 100;

/** Two servers on a store of their own. The first one leads. */
interface Pair {
  readonly leader: ReplicaProcess;
  readonly follower: ReplicaProcess;
  /** The administrator at each. */
  readonly atLeader: Client;
  readonly atFollower: Client;
  readonly load: Load;
  history(): Promise<EtcdWritten[]>;
}

/** Work for the background, which clients create at the follower and which must never be refused. */
class Load {
  /** SharedSecrets with a rule, which asks for a role and a binding. */
  readonly present = new Set<string>();
  acknowledged = 0;
  readonly refusals: string[] = [];
  readonly #client: Client;
  readonly #running: Promise<void>;
  #stopped = false;

  constructor(client: Client) {
    this.#client = client;
    this.#running = this.#run().catch((error: unknown) => void this.refusals.push(String(error)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let round = 0; !this.#stopped; round += 1) {
      const name = `rule-${round}`;
      await this.#send("POST", SECRETS, { metadata: { name, namespace: "shop" }, spec: RULES });
      this.present.add(name);
      await this.#send("POST", "/ownedaccesskeys", { metadata: { name: `login-${round}` }, spec: { user: "jane", type: "Login", ttl: 1 } });
      if (round % 2 === 1) await this.#takeAway(`rule-${round - 1}`);
      if (round % 4 === 0) await this.#leaveToTheCollector(`owner-${round}`);
      await delay(systemClock, PAUSE_MS);
    }
  }

  async #takeAway(name: string): Promise<void> {
    await this.#send("DELETE", `${SECRETS}/${name}`);
    this.present.delete(name);
  }

  /** Only the background work removes objects whose owner is gone. */
  async #leaveToTheCollector(name: string): Promise<void> {
    const owner = await this.#send("POST", "/teams", { metadata: { name }, spec: {} });
    const reference = { apiVersion: "management.platform/v1", kind: "Team", name, uid: at(owner, "metadata", "uid") };
    await this.#send("POST", SECRETS, { metadata: { name: `of-${name}`, namespace: "shop", ownerReferences: [reference] }, spec: {} });
    await this.#send("DELETE", `/teams/${name}`);
  }

  async #send(method: string, path: string, body?: object) {
    const answer = await this.#client.send(method, path, body);
    if (answer.code === 200 || answer.code === 201) this.acknowledged += 1;
    else this.refusals.push(`${method} ${path}: ${answer.text}`);
    return answer;
  }
}

const SECRETS = "/namespaces/shop/sharedsecrets";

/** Written only by the process that does the background work. */
const isBackground = ({ key, type }: EtcdWritten) =>
  /\/(roles|rolebindings)\//.test(key) || (type === "deleted" && /\/(ownedaccesskeys\/.*login-|sharedsecrets\/.*\/of-owner-)/.test(key));

describeEtcd("management processes on one etcd", () => {
  let etcd: Etcd;
  const folder = mkdtempSync(join(tmpdir(), "replicas-"));
  const processes: ReplicaProcess[] = [];

  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(async () => {
    for (const one of processes) await one.kill();
    await etcd.remove();
    rmSync(folder, { recursive: true });
  });

  async function startPair(name: string, leadersEtcd = etcd.url): Promise<Pair> {
    const prefix = `/${name}/`;
    const options = { prefix, folder, adminKey: ADMIN_KEY, encryptionKey: ENCRYPTION_KEY };
    const [one, other] = await ownPorts(2);
    const leader = new ReplicaProcess({ ...options, etcd: leadersEtcd, port: one! });
    const follower = new ReplicaProcess({ ...options, etcd: etcd.url, port: other! });
    processes.push(leader, follower);
    await leader.start();
    await vi.waitFor(() => expect(leader.leading, leader.log).toBe(true), WAIT);
    await follower.start();
    const [atLeader, atFollower] = [clientOf(leader.url, ADMIN_KEY), clientOf(follower.url, ADMIN_KEY)];
    const history = () => readHistory(etcd, { prefix, encryptionKey: ENCRYPTION_KEY });
    return { leader, follower, atLeader, atFollower, load: new Load(atFollower), history };
  }

  /** A person with a key and with a rule for one object. */
  async function admitJane({ atFollower }: Pair): Promise<(server: ReplicaProcess) => Client> {
    const made = await atFollower.send("POST", "/ownedaccesskeys", { metadata: { name: "jane" }, spec: { user: "jane" } });
    expect(made.code, made.text).toBe(201);
    const key = String(at(made, "spec", "key"));
    return (server) => clientOf(server.url, key);
  }

  /** The leader has done some of what clients have asked for. */
  const hasWorked = ({ history }: Pair) => vi.waitFor(async () => expect((await history()).some(isBackground)).toBe(true), WAIT);

  /** Clients go on while there is no leader, and then the follower leads. */
  async function takeOver({ follower, load }: Pair): Promise<void> {
    const before = load.acknowledged;
    await vi.waitFor(() => expect(follower.leading, follower.log).toBe(true), WAIT);
    expect(load.refusals).toEqual([]);
    expect(load.acknowledged).toBeGreaterThan(before);
  }

  /** All background work is done, once, by the process that led at the time. */
  async function settle({ atFollower, load, history }: Pair, servers: readonly Client[]): Promise<void> {
    await load.stop();
    expect(load.refusals).toEqual([]);
    const wanted = [...load.present].sort();
    await vi.waitFor(async () => {
      const roles = names(await atFollower.send("GET", ROLES));
      expect(roles.sort()).toEqual(wanted.map((name) => `sharedsecret:${name}:0`).sort());
      expect(names(await atFollower.send("GET", "/ownedaccesskeys")).filter((name) => name.startsWith("login-"))).toEqual([]);
      expect(names(await atFollower.send("GET", SECRETS)).filter((name) => name.startsWith("of-"))).toEqual([]);
    }, WAIT);
    for (const server of servers) expect(names(await server.send("GET", SECRETS)).sort()).toEqual(wanted);
    const all = await history();
    expect(termsOf(all).map(({ writer }) => writer)).toEqual([...new Set(termsOf(all).map(({ writer }) => writer))]);
    expect(termsOf(all)).toHaveLength(2);
    expect(outsideOfTerm(all, isBackground)).toEqual([]);
    const done = all.filter(isBackground);
    const what = done.map(({ key, type }) => `${type} ${key}`);
    expect(what.filter((one, index) => what.indexOf(one) < index)).toEqual([]);
    for (const { writer } of termsOf(all)) expect(done.some((write) => write.writer === writer)).toBe(true);
  }

  test.concurrent("the leader is killed: another one continues, and the one that returns follows", async () => {
    const pair = await startPair("killed");
    await hasWorked(pair);
    await pair.leader.kill();
    await takeOver(pair);
    await pair.leader.start();
    await settle(pair, [pair.atFollower, pair.atLeader]);
    expect(pair.leader.leading).toBe(false);
  });

  test.concurrent(
    "the leader stands still for longer than its Lease: it writes nothing when it goes on, and admits no caller by outdated knowledge",
    async () => {
      const pair = await startPair("stopped");
      const jane = await admitJane(pair);
      await hasWorked(pair);
      expect((await jane(pair.leader).send("GET", "/teams")).code).toBe(200);
      pair.leader.pause();
      const disabled = await pair.atFollower.send("PATCH", "/ownedaccesskeys/jane", { spec: { disabled: true } }, MERGE_PATCH);
      expect(disabled.code, disabled.text).toBe(200);
      await takeOver(pair);
      pair.leader.resume();
      const answers = await Promise.all(Array.from({ length: 20 }, () => jane(pair.leader).send("GET", "/teams")));
      expect(new Set(answers.map(({ body }) => body["message"]))).toEqual(new Set(["access key is disabled"]));
      await pair.leader.ready();
      await vi.waitFor(() => expect(pair.leader.log).toContain("Lost the lease"), WAIT);
      await settle(pair, [pair.atFollower, pair.atLeader]);
      expect(pair.leader.leading).toBe(false);
    },
  );

  test.concurrent("the leader is cut off from etcd: it answers no request from memory, and follows when it is back", async () => {
    const proxy = await startEtcdProxy(etcd.url);
    const pair = await startPair("cut-off", proxy.url);
    const jane = await admitJane(pair);
    await hasWorked(pair);
    proxy.decide = () => "lose-request";
    proxy.stallWatches();
    const removed = await pair.atFollower.send("DELETE", "/ownedaccesskeys/jane");
    expect(removed.code, removed.text).toBe(200);
    const refused = Promise.all([jane(pair.leader).send("GET", "/teams"), pair.atLeader.send("GET", SECRETS)]);
    await takeOver(pair);
    expect((await refused).map(({ code }) => code)).toEqual([503, 503]);
    proxy.decide = () => "pass";
    proxy.cutWatches();
    await pair.leader.ready();
    expect((await jane(pair.leader).send("GET", "/teams")).code).toBe(401);
    await settle(pair, [pair.atFollower, pair.atLeader]);
    expect(pair.leader.leading).toBe(false);
    await proxy.close();
  });
});
