/**
 * Two clusters, a syncer between them with probes and a Lease, and a namespace whose objects change at a steady pace.
 *
 * @module
 */
import { ENDPOINTS, type Kind, type Thing } from "../outside/api.ts";
import { startClusterProcess, type ClusterProcess } from "../outside/cluster.ts";
import { temporaryFolder, until } from "../outside/processes.ts";
import { Syncer } from "../outside/syncer.ts";
import { ATTACKER, type Attack } from "./attacks.ts";

const VCLUSTER = { name: "blue", namespace: "vc-blue" };
const VICTIM = "victim";
const LEASES: Kind = { kind: "Lease", plural: "leases", base: "apis/coordination.k8s.io/v1" };
const OBJECTS = 10;
const CHANGES_PER_SECOND = 10;
const PROBE_EVERY_MS = 50;
const SERIAL = "example.com/serial";
/** The syncer does not select what has this label. */
const IGNORED = "example.com/ignored";

/** Whether the attacker acts, and whether the syncer is to mind it. */
export type Company = "none" | "ignored" | "attacker";

/** Measurements of a period. Times are milliseconds. */
export interface Period {
  readonly changes: number;
  readonly p50: number;
  readonly p99: number;
  readonly probe: number;
  /** Longest time between two renewals of the Lease. */
  readonly renewal: number;
  /** Writes of the attacker, and writes to the host beside the victim's copies. */
  readonly acts: number;
  readonly writes: number;
}

interface Renewal {
  readonly holder: string;
  readonly transitions: number;
  readonly at: number;
}

/** One attack's ground. */
export class Ground {
  readonly #attack: Attack;
  readonly #tenant: ClusterProcess;
  readonly #host: ClusterProcess;
  readonly #syncer: Syncer<ClusterProcess>;
  readonly #ends: (() => void)[] = [];
  readonly #renewals: Renewal[] = [];
  /** Changes that have not arrived, by object. */
  readonly #waiting = new Map<string, { readonly serial: number; readonly from: number }[]>();
  #latencies: number[] = [];
  #serial = 0;
  #acts = 0;
  #writes = 0;
  #probes: string[] = [];

  private constructor(attack: Attack, tenant: ClusterProcess, host: ClusterProcess, syncer: Syncer<ClusterProcess>) {
    this.#attack = attack;
    this.#tenant = tenant;
    this.#host = host;
    this.#syncer = syncer;
  }

  /** Starts everything, and waits until the victim's objects are on the host. `root` holds the version of the syncer. */
  static async start(attack: Attack, { root, lease }: { readonly root: string; readonly lease: object }): Promise<Ground> {
    const folder = temporaryFolder();
    const [tenant, host] = await Promise.all([startClusterProcess("tenant", folder), startClusterProcess("host", folder)]);
    await tenant.api.namespaces(VICTIM, ATTACKER);
    await host.api.namespaces(VCLUSTER.namespace);
    const config = { sync: { toHost: { endpoints: { patches: attack.patches } } } };
    const settings = { selector: { matchExpressions: [{ key: IGNORED, operator: "DoesNotExist" }] }, leaderElection: lease };
    const args = ["--leader-elect", "--health-address", "127.0.0.1:0"];
    const syncer = new Syncer({ folder, id: "attackers", tenant, host, ...VCLUSTER, config, settings, args });
    const ground = new Ground(attack, tenant, host, syncer);
    ground.#ends.push(
      await host.api.watch(LEASES, VCLUSTER.namespace, (line) => ground.#renewed(line)),
      await host.api.watch(ENDPOINTS, VCLUSTER.namespace, (line) => ground.#written(line)),
    );
    await syncer.begin([], root);
    const [, address] = /"address":"([^"]+)","paths":\["\/healthz/.exec(syncer.log)!;
    ground.#probes = ["healthz", "readyz"].map((path) => `http://${address}/${path}`);
    for (let index = 0; index < OBJECTS; index += 1) {
      await tenant.api.create(ENDPOINTS, { metadata: { namespace: VICTIM, name: `v-${index}` }, ...subsetsOf(0) });
    }
    await attack.prepare(tenant.api, { [IGNORED]: "yes" });
    // The first changes of all objects are no measurement.
    await Promise.all(Array.from({ length: OBJECTS }, () => ground.#change()));
    await ground.#arrived();
    return ground;
  }

  #renewed(line: string): void {
    const { object } = JSON.parse(line) as { object: Thing };
    const { holderIdentity, leaseTransitions, renewTime } = object["spec"] as Record<string, string>;
    this.#renewals.push({ holder: holderIdentity!, transitions: Number(leaseTransitions), at: Date.parse(renewTime!) });
  }

  /** Something was written on the host. */
  #written(line: string): void {
    if (line.includes(`-x-${VICTIM}-x-`)) return this.#copied((JSON.parse(line) as { object: Thing }).object);
    this.#writes += 1;
    const { answer } = this.#attack;
    if (answer === undefined) return;
    // A copy that was written again meanwhile, or is gone: the next event tells.
    answer(this.#host.api, (JSON.parse(line) as { object: Thing }).object).catch(() => undefined);
  }

  #copied({ metadata: { name, annotations } }: Thing): void {
    const now = performance.now();
    const serial = Number.parseInt(annotations?.[SERIAL] ?? "0", 10);
    const waiting = this.#waiting.get(name.split("-x-")[0]!) ?? [];
    while (waiting.length > 0 && waiting[0]!.serial <= serial) this.#latencies.push(now - waiting.shift()!.from);
  }

  /** The next change of the victim. */
  async #change(): Promise<void> {
    this.#serial += 1;
    const serial = this.#serial;
    const name = `v-${serial % OBJECTS}`;
    this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), { serial, from: performance.now() }]);
    const patch = { metadata: { annotations: { [SERIAL]: String(serial) } }, ...subsetsOf(serial) };
    await this.#tenant.api.merge(ENDPOINTS, [VICTIM, name], patch);
  }

  #arrived(): Promise<void> {
    return until(
      "every change of the victim is on the host",
      () => [...this.#waiting.values()].every(({ length }) => length === 0),
      () => this.#syncer.log.slice(-1_000),
    );
  }

  /** Measures so long, and until every change of the victim has arrived. */
  async period(seconds: number, company: Company): Promise<Period> {
    this.#latencies = [];
    const [from, acts, writes] = [Date.now(), this.#acts, this.#writes];
    const over = AbortSignal.timeout(seconds * 1000);
    const labels = { [IGNORED]: company === "ignored" ? "yes" : null };
    const changes: Promise<void>[] = [];
    const [, , probe] = await Promise.all([
      every(1000 / CHANGES_PER_SECOND, over, async () => void changes.push(this.#change())),
      company === "none" ? undefined : every(1000 / this.#attack.pace, over, () => this.#act(labels)),
      this.#probe(over),
    ]);
    await Promise.all(changes);
    await this.#arrived();
    const [p50, p99] = [quantile(this.#latencies, 0.5), quantile(this.#latencies, 0.99)];
    const counts = { changes: changes.length, acts: this.#acts - acts, writes: this.#writes - writes };
    return { ...counts, p50, p99, probe, renewal: this.#longestRenewal(from) };
  }

  async #act(labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#attack.act(this.#tenant.api, this.#acts, labels);
    this.#acts += 1;
  }

  /** Asks until it is over, and says how long the slowest answer took. */
  async #probe(over: AbortSignal): Promise<number> {
    let slowest = 0;
    await every(PROBE_EVERY_MS, over, async () => {
      for (const url of this.#probes) {
        const from = performance.now();
        const answer = await fetch(url).catch(() => undefined);
        if (answer === undefined) throw new Error(`no answer to a probe: ${this.#syncer.log.slice(-500)}`);
        await answer.text();
        slowest = Math.max(slowest, performance.now() - from);
      }
    });
    return slowest;
  }

  #longestRenewal(from: number): number {
    const before = this.#renewals.filter(({ at }) => at < from).slice(-1);
    const times = [...before, ...this.#renewals.filter(({ at }) => at >= from)].map(({ at }) => at);
    return Math.max(...[...times.slice(1), Date.now()].map((at, index) => at - times[index]!));
  }

  /** The one who held the Lease, and how often it changed hands. */
  get holders(): readonly string[] {
    return [...new Set(this.#renewals.map(({ holder, transitions }) => `${holder} ${transitions}`))];
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#syncer.kill();
    await Promise.all([this.#tenant.stop(), this.#host.stop()]);
  }
}

/** Begins at even distances, one after the other, until it is over. */
async function every(distanceMs: number, over: AbortSignal, act: () => Promise<void>): Promise<void> {
  let next = performance.now();
  while (!over.aborted) {
    await act();
    next = Math.max(next + distanceMs, performance.now());
    await new Promise((go) => setTimeout(go, next - performance.now()));
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}

function subsetsOf(serial: number): { subsets: object[] } {
  return { subsets: [{ addresses: [{ ip: `10.9.${(serial >> 8) & 255}.${serial & 255}` }], ports: [{ port: 80 }] }] };
}
