/**
 * Two syncers for one virtual cluster, each with a way of its own to both clusters, and tenant objects that change all the time.
 *
 * @module
 */
import { ENDPOINTS, type Kind, type Thing } from "../outside/api.ts";
import { hold, holdNone } from "../outside/cases.ts";
import { startClusterProcess, type ClusterProcess } from "../outside/cluster.ts";
import { temporaryFolder, until } from "../outside/processes.ts";
import { Proxy } from "../outside/proxy.ts";
import { Syncer } from "../outside/syncer.ts";

const VCLUSTER = { name: "blue", namespace: "vc-blue" };
const SHOP = "shop";
const OBJECTS = 3;
const CHANGE_EVERY_MS = 200;
const SERIAL = "example.com/serial";
const LEASES: Kind = { kind: "Lease", plural: "leases", base: "apis/coordination.k8s.io/v1" };

/** One of both clusters. */
export type Side = "tenant" | "host";

interface Lease {
  readonly holder: string;
  readonly transitions: number;
}

/** One of both syncers, and its ways. */
export class Member {
  readonly name: string;
  readonly ways: Readonly<Record<Side, Proxy>>;
  readonly syncer: Syncer;

  constructor(name: string, ways: Readonly<Record<Side, Proxy>>, syncer: Syncer) {
    this.name = name;
    this.ways = ways;
    this.syncer = syncer;
  }

  get identity(): string {
    return /"identity":"([^"]+)"/.exec(this.syncer.log)?.[1] ?? "";
  }

  /** Answer of `/readyz`. */
  async readyz(): Promise<string> {
    const [, address] = /"address":"([^"]+)","paths":\["\/healthz/.exec(this.syncer.log)!;
    const answer = await fetch(`http://${address}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  }
}

/** See the module comment. */
export class Pair {
  readonly #tenant: ClusterProcess;
  readonly #host: ClusterProcess;
  readonly members: readonly [Member, Member];
  readonly #over = new AbortController();
  #changing: Promise<void> = Promise.resolve();
  #serial = 0;
  /** The newest serial of each copy, by what a watch of the host has shown. */
  readonly #copied = new Map<string, number>();
  /** Copies that were written twice with one state of the tenant, or with one that was over. */
  readonly #wrong: string[] = [];
  #endWatch: () => void = () => undefined;

  private constructor(tenant: ClusterProcess, host: ClusterProcess, members: readonly [Member, Member]) {
    this.#tenant = tenant;
    this.#host = host;
    this.members = members;
  }

  /** Starts everything: the first member leads, the second one stands by. */
  static async start(root: string, leaderElection: object): Promise<Pair> {
    const folder = temporaryFolder();
    const [tenant, host] = await Promise.all([startClusterProcess("tenant", folder), startClusterProcess("host", folder)]);
    await tenant.api.namespaces(SHOP);
    await host.api.namespaces(VCLUSTER.namespace);
    const member = async (name: string, begun: string): Promise<Member> => {
      const ways = { tenant: await Proxy.start(tenant.api), host: await Proxy.start(host.api) };
      const args = ["--leader-elect", "--health-address", "127.0.0.1:0"];
      const syncer = new Syncer({ folder, id: name, ...ways, ...VCLUSTER, settings: { leaderElection }, args, begun });
      await syncer.begin([], root);
      return new Member(name, ways, syncer);
    };
    const pair = new Pair(tenant, host, [await member("A", '"Leading"'), await member("B", '"Standing by"')]);
    pair.#endWatch = await host.api.watch(ENDPOINTS, VCLUSTER.namespace, (line) => pair.#copy(line));
    for (let index = 0; index < OBJECTS; index += 1) await tenant.api.create(ENDPOINTS, pair.#object(index));
    pair.#changing = pair.#change();
    await pair.arrived();
    return pair;
  }

  #object(index: number): Thing {
    this.#serial += 1;
    const annotations = { [SERIAL]: String(this.#serial) };
    const ip = `10.9.${(this.#serial >> 8) & 255}.${this.#serial & 255}`;
    return { metadata: { namespace: SHOP, name: `web-${index}`, annotations }, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] };
  }

  async #change(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const thing = this.#object((this.#serial + 1) % OBJECTS);
      await this.#tenant.api.merge(ENDPOINTS, [SHOP, thing.metadata.name], thing);
      await new Promise((go) => setTimeout(go, CHANGE_EVERY_MS));
    }
  }

  #copy(line: string): void {
    const { metadata } = (JSON.parse(line) as { object: Thing }).object;
    const [serial, before] = [Number(metadata.annotations?.[SERIAL] ?? 0), this.#copied.get(metadata.name) ?? 0];
    if (serial <= before) this.#wrong.push(`${metadata.name} was written with ${serial} after ${before}`);
    this.#copied.set(metadata.name, serial);
  }

  /** Resolves when all that the tenant has been until now is on the host. */
  async arrived(): Promise<void> {
    const serial = this.#serial;
    await until(
      "the changes are on the host",
      () => this.#copied.size === OBJECTS && [...this.#copied.values()].every((copied) => copied > serial - OBJECTS),
      () => this.#told(),
    );
  }

  #told(): string {
    return this.members.map(({ name, syncer }) => `${name}: ${syncer.log.slice(-700)}`).join("\n");
  }

  async #lease(): Promise<Lease> {
    const { holderIdentity, leaseTransitions } = (await this.#host.api.get(LEASES, VCLUSTER.namespace, `endpoint-sync-${VCLUSTER.name}`))![
      "spec"
    ] as Record<string, string>;
    return { holder: holderIdentity!, transitions: Number(leaseTransitions) };
  }

  /** Holder of the Lease. */
  async leader(): Promise<Member> {
    const { holder } = await this.#lease();
    const found = this.members.find(({ identity }) => identity === holder);
    hold(found !== undefined, `neither holds the Lease, but ${holder}`);
    return found;
  }

  /**
   * Waits until the member leads and nothing changes hands for so long, without other writes; says after how many seconds it had the
   * Lease.
   */
  async leads(wanted: Member, restMs: number): Promise<number> {
    const from = performance.now();
    const others = this.members.filter((member) => member !== wanted);
    const writes = () => others.map(({ ways }) => ways.host.accepted.length).join();
    let since: { readonly transitions: number; readonly writes: string; readonly at: number } | undefined;
    await until(
      `${wanted.name} leads and goes on leading`,
      async () => {
        const { holder, transitions } = await this.#lease();
        const now = performance.now();
        if (holder !== wanted.identity) since = undefined;
        else if (since?.transitions !== transitions || since.writes !== writes()) since = { transitions, writes: writes(), at: now };
        return since !== undefined && now - since.at >= restMs;
      },
      () => this.#told(),
    );
    return (since!.at - from) / 1000;
  }

  /** @throws Error when a copy was written twice for one change, or with an older state. */
  holdWrites(): void {
    holdNone(this.#wrong, "copies were written more than once, or went back");
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#changing;
    this.#endWatch();
    for (const { syncer, ways } of this.members) {
      await syncer.kill();
      for (const way of Object.values(ways)) way.close();
    }
    await Promise.all([this.#tenant.stop(), this.#host.stop()]);
  }
}
