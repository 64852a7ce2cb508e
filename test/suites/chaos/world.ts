/**
 * Two virtual clusters of one name on one host, an operator's own objects between them, and storms: random changes on all sides while
 * requests meet faults and processes die. After each storm both sides must be what the testers made of them, nothing that belongs to
 * other owners may have changed, and nothing is written any more.
 *
 * @module
 */
import { CONFIG_MAPS, ENDPOINTS, SECRETS, SERVICES, type Kind, type Thing } from "../outside/api.ts";
import { Chance, holdNone } from "../outside/cases.ts";
import { startClusterProcess, type ClusterProcess } from "../outside/cluster.ts";
import { Model, PATCHES } from "../outside/model.ts";
import { mappingConfig, type Virtual } from "../outside/names.ts";
import { ROOT, temporaryFolder, until } from "../outside/processes.ts";
import { Syncer } from "../outside/syncer.ts";
import { FAULTS, LINE_FAULTS } from "./faults.ts";
import { ChaosProxy, pause, type Fault, type LineFault } from "./proxy.ts";
import { LONG_QUIET_MS, QUIET_MS, Quiet, SLOWED, SLOWEST_MINUTES } from "./rest.ts";

const NAME = "blue";
const VIRTUALS: readonly Virtual[] = [
  { name: NAME, namespace: "vc-a", mappings: { "team-*": "h-team-*" } },
  { name: NAME, namespace: "vc-b" },
];
const NAMESPACES = ["shop", "team-a"];
const HOST_NAMESPACES = ["vc-a", "vc-b", "h-team-a"];
/** Initial state of each tester. */
const OBJECTS = 8;
/**
 * So long, in milliseconds, may it take after a storm until both sides agree. A server that says again and again that it has made a copy,
 * and does not have it, looks like a client that keeps deleting it: the syncer makes that copy every two minutes then.
 */
const AGREED_MS = 240_000;
/** So long, in milliseconds, may it take until nothing is written any more: attempts that follow each other ever more slowly end before. */
const RESTED_MS = 300_000;
/** A patch without end: it finds its own result on the host, and turns it over. The model does not look at what it changes. */
const LOOP = {
  services: { patches: [{ path: "spec.ports[*].targetPort", expression: "context.hostObject?.spec.ports[0].targetPort === 1 ? 2 : 1" }] },
};
/** Kinds of fault in one storm on one way, at most. */
const KINDS_MAX = 4;
/** Lines of the journal that a failure prints. */
const REPORTED_MAX = 120;
/** Last lines of each log that a failure prints. */
const LOG_LINES = 12;

/** One virtual cluster with its tester and its ways to both clusters. */
interface Member {
  readonly virtual: Virtual;
  readonly model: Model;
  readonly syncer: Syncer<ChaosProxy>;
  readonly ways: { readonly tenant: ChaosProxy; readonly host: ChaosProxy };
  /** Its process stands still. */
  paused: boolean;
  /** Length of the log of its process when it was seen to rest for long. */
  rested: number;
}

/** How a world is made. */
export interface WorldOptions {
  readonly seed: number;
  /** Where the version is that is looked at. */
  readonly root: string;
  /** Names of the faults that may happen. Default: all. */
  readonly only?: string;
  /** The host has one virtual cluster, not two of one name. */
  readonly alone?: boolean;
  /** A patch never comes to rest: the run must fail. */
  readonly loop?: boolean;
}

/** Events in a world. */
export class World {
  readonly #options: WorldOptions;
  readonly #chance: Chance;
  readonly #journal: string[] = [];
  readonly #clusters: ClusterProcess[] = [];
  readonly #members: Member[] = [];
  /** Faults of processes, by name. */
  readonly #counts = new Map<string, number>();
  readonly #acts: readonly (readonly [name: string, act: (member: Member) => void | Promise<void>])[] = [
    ["kill -9", (member) => this.#kill(member)],
    ["SIGTERM", (member) => this.#stop(member)],
    ["SIGSTOP or SIGCONT", (member) => this.#pause(member, !member.paused)],
    ["a cluster stands still", (member) => this.#freeze(member)],
    ["connections are reset", (member) => this.#eachWay(member, (way) => way.reset())],
    ["a cluster is down", (member) => this.#refuse(member)],
    ["watches end", (member) => this.#eachWay(member, (way) => way.endWatches())],
  ];
  #operators: readonly Thing[] = [];
  #host!: ClusterProcess;
  changes = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#chance = new Chance(options.seed);
  }

  /** Starts everything, in fair weather. @throws Error when both sides do not come to agree. */
  async begin(): Promise<void> {
    const folder = temporaryFolder();
    const host = (this.#host = await startClusterProcess("host", folder));
    this.#clusters.push(host);
    await host.api.namespaces(...HOST_NAMESPACES);
    await this.#operate();
    for (const [number, virtual] of VIRTUALS.slice(this.#options.alone === true ? 1 : 0).entries()) {
      const tenant = await startClusterProcess(`tenant-${number}`, folder);
      this.#clusters.push(tenant);
      await tenant.api.namespaces(...NAMESPACES);
      const note = (text: string) => this.#note(text);
      const chance = () => new Chance(this.#chance.below(2 ** 31));
      const ways = {
        tenant: await ChaosProxy.start("tenant", virtual.namespace, { api: tenant.api, chance: chance(), note }),
        host: await ChaosProxy.start("host", virtual.namespace, { api: host.api, chance: chance(), note }),
      };
      const config = { sync: { toHost: { ...mappingConfig(virtual), ...PATCHES, ...(this.#options.loop === true && LOOP) } } };
      // Earlier versions do not know the setting.
      const settings = this.#options.root === ROOT ? { loopGuard: { slowestMinutes: SLOWEST_MINUTES } } : undefined;
      const syncer = new Syncer({ folder, id: `vc-${number}`, ...ways, name: NAME, namespace: virtual.namespace, config, settings });
      const isForeign = (id: string) => !model.owned.has(id);
      const common = { virtual, host: host.api, tenant: tenant.api, namespaces: NAMESPACES, number: number + 1, again: true };
      const model: Model = new Model({ ...common, chance: chance(), isForeign });
      await model.begin(OBJECTS);
      await syncer.begin([], this.#options.root);
      this.#members.push({ virtual, model, syncer, ways, paused: false, rested: 0 });
    }
    await this.#explained(() => this.#agreed());
  }

  /** Objects of the host's operator: beside the copies, under names that look like theirs, and with a Service that wants backends. */
  async #operate(): Promise<void> {
    const subsets = [{ addresses: [{ ip: "10.200.0.1" }], ports: [{ port: 80, protocol: "TCP" }] }];
    const create = (kind: Kind, namespace: string, name: string, rest: object) =>
      this.#host.api.create(kind, { metadata: { namespace, name }, ...rest });
    for (const namespace of HOST_NAMESPACES) {
      await create(SERVICES, namespace, "legacy", { spec: { ports: [{ port: 80 }] } });
      await create(ENDPOINTS, namespace, "legacy", { subsets });
      await create(ENDPOINTS, namespace, "alone-x-shop-x-blue", { subsets });
      await create(SERVICES, namespace, "waiting-x-shop-x-blue", { spec: { ports: [{ port: 80 }] } });
      await create(SECRETS, namespace, "tls-x-shop-x-blue", { data: { text: "b3BlcmF0b3I=" } });
      await create(CONFIG_MAPS, namespace, "settings", { data: { text: "operator" } });
    }
    this.#operators = await this.#ofOperator();
  }

  async #ofOperator(): Promise<Thing[]> {
    const found: Thing[] = [];
    for (const kind of [SERVICES, ENDPOINTS, SECRETS, CONFIG_MAPS]) {
      for (const namespace of HOST_NAMESPACES) {
        for (const thing of await this.#host.api.list(kind, namespace)) {
          const id = `${kind.plural} ${namespace}/${thing.metadata.name}`;
          if (!this.#members.some(({ model }) => model.owned.has(id))) found.push(thing);
        }
      }
    }
    return found;
  }

  /** One storm, and the calm after it. @throws Error with what is wrong, and what happened around it. */
  async storm(): Promise<string> {
    const kinds = this.#stormy();
    await this.#explained(async () => {
      const steps = 10 + this.#chance.below(30);
      for (let step = 0; step < steps; step += 1) await this.#step();
      await this.#calm();
      await this.#agreed();
      await this.#rests();
      holdNone(await this.#foreign(), "not the syncer's own");
    });
    this.#journal.length = 0;
    return kinds.join(", ");
  }

  /** The end of a run, after its last storm: not even what is written rarely is written. @throws Error if it is. */
  async end(): Promise<void> {
    await this.#explained(async () => {
      await this.#rests(true);
      await this.#agreed();
      holdNone(await this.#foreign(), "not the syncer's own");
    });
  }

  /** Adds to a failure what happened around the object that it names. */
  async #explained(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.#around((error as Error).message)}`, { cause: error });
    }
  }

  /** Sets the weather of every way. */
  #stormy(): readonly string[] {
    const all = stormy(this.#options.only);
    const names = new Set<string>();
    for (const { ways } of this.#members) {
      for (const way of Object.values(ways)) {
        const kinds = Array.from({ length: 1 + this.#chance.below(KINDS_MAX) }, () => this.#chance.one(all));
        // Most storms are weak: where everything fails, nothing happens.
        way.weather = kinds.map((kind) => [kind, this.#chance.fraction() ** 2]);
        for (const { name } of kinds) names.add(name);
      }
    }
    return [...names];
  }

  async #step(): Promise<void> {
    const member = this.#chance.one(this.#members);
    this.#supervise();
    const dice = this.#chance.below(40);
    const [name, act] = this.#acts[dice] ?? [];
    if (act !== undefined) {
      this.#counts.set(name!, (this.#counts.get(name!) ?? 0) + 1);
      this.#note(`${member.virtual.namespace}: ${name}`);
      await act(member);
    } else {
      for (const done of await member.model.change(1 + this.#chance.below(3))) {
        this.changes += 1;
        this.#note(`${member.virtual.namespace}: ${done}`);
      }
    }
    await pause(this.#chance.below(300));
  }

  #eachWay({ ways }: Member, act: (way: ChaosProxy) => void): void {
    for (const way of Object.values(ways)) act(way);
  }

  async #kill(member: Member): Promise<void> {
    this.#pause(member, false);
    await member.syncer.kill();
  }

  /** Its exit does not matter here: a cluster may be away. */
  async #stop(member: Member): Promise<void> {
    this.#pause(member, false);
    member.syncer.signal("SIGTERM");
    await until("the syncer ends", () => !member.syncer.running);
  }

  #pause(member: Member, paused: boolean): void {
    if (member.syncer.running) member.syncer.signal(paused ? "SIGSTOP" : "SIGCONT");
    member.paused = paused && member.syncer.running;
  }

  async #freeze({ ways }: Member): Promise<void> {
    const way = this.#chance.one(Object.values(ways));
    way.freeze();
    await pause(500 + this.#chance.below(4_000));
    way.thaw();
  }

  async #refuse({ ways }: Member): Promise<void> {
    const way = this.#chance.one(Object.values(ways));
    await way.refuse();
    await pause(500 + this.#chance.below(4_000));
    await way.open();
  }

  /** Starts again what has ended, as a kubelet does. */
  #supervise(): void {
    for (const member of this.#members) {
      const { syncer } = member;
      if (syncer.running) continue;
      member.rested = 0;
      void syncer.start([], this.#options.root).catch(() => undefined);
    }
  }

  async #calm(): Promise<void> {
    this.#note("calm");
    for (const member of this.#members) {
      this.#pause(member, false);
      for (const way of Object.values(member.ways)) {
        way.weather = [];
        way.release();
        await way.open();
      }
    }
    this.#supervise();
  }

  /** Waits until both sides of every pair are what the testers made of them. */
  async #agreed(): Promise<void> {
    let wrong: string[] = [];
    await until(
      "both sides are as they must be",
      async () => {
        this.#supervise();
        wrong = (await Promise.all(this.#members.map(({ model }) => model.differences()))).flat();
        return wrong.length === 0;
      },
      () => wrong.slice(0, 6).join("; "),
      AGREED_MS,
    );
  }

  /**
   * Waits until nothing is written for a while, and for longer than the longest delay of a loop if `long` or if a syncer has slowed down
   * anything since it last rested for so long.
   */
  async #rests(long = false): Promise<void> {
    const written = () => this.#ways().reduce((sum, { stored }) => sum + stored.length, 0);
    const isLong = () => long || this.#members.some(({ syncer, rested }) => syncer.log.includes(SLOWED, rested));
    const before = this.#ways().map(({ stored }) => stored.length);
    const quiet = new Quiet();
    let quietMs = 0;
    await until(
      "nothing is written at rest",
      () => {
        quietMs = isLong() ? LONG_QUIET_MS : QUIET_MS;
        return quiet.lastsMs(written(), performance.now()) > quietMs;
      },
      () =>
        this.#ways().flatMap(({ name, stored }, index) =>
          stored
            .slice(Math.max(before[index]!, stored.length - 3))
            .map(({ method, plural, name: of }) => `${name}: ${method} ${plural} ${of}`),
        ),
      RESTED_MS,
    );
    if (quietMs === LONG_QUIET_MS) for (const member of this.#members) member.rested = member.syncer.log.length;
  }

  /** Foreign objects that have changed. */
  async #foreign(): Promise<string[]> {
    const now = new Map((await this.#ofOperator()).map((thing) => [thing.metadata.uid, thing]));
    const changed = this.#operators.filter(
      ({ metadata: { uid, resourceVersion } }) => now.get(uid)?.metadata.resourceVersion !== resourceVersion,
    );
    const writes = this.#members.flatMap(({ virtual, model, ways: { host } }) =>
      host.stored
        .splice(0)
        .filter(({ status, plural, namespace, name }) => status < 300 && !isOwn(model, plural, `${namespace}/${name}`))
        .map(({ method, plural, namespace, name }) => `${virtual.namespace} did ${method} ${plural} ${namespace}/${name}`),
    );
    for (const { ways } of this.#members) ways.tenant.stored.length = 0;
    return [...changed.map(({ metadata }) => `${metadata.namespace}/${metadata.name} of the operator was changed`), ...writes];
  }

  #ways(): readonly ChaosProxy[] {
    return this.#members.flatMap(({ ways }) => Object.values(ways));
  }

  #note(text: string): void {
    this.#journal.push(`${(performance.now() / 1_000).toFixed(2)} ${text}`);
  }

  /** History of the objects that a failure names, and the last output of the syncers. */
  #around(message: string): string {
    const names = [...new Set(message.match(/\bo-\d+\b/g) ?? [])].slice(0, 3);
    // Whose cluster it is, is asked before most writes.
    const told = this.#journal.filter((line) => !line.includes("/namespaces/kube-system"));
    const about = told.filter((line) => names.length === 0 || !/\bo-\d+\b/.test(line) || names.some((name) => named(line, name)));
    const logs = this.#members.flatMap(({ virtual, syncer }) => {
      const lines = syncer.log.trim().split("\n");
      const own = lines.slice(0, -LOG_LINES).filter((line) => names.some((name) => named(line, name)));
      return [`log of ${virtual.namespace}:`, ...own.slice(-REPORTED_MAX), ...lines.slice(-LOG_LINES)];
    });
    return [`What happened to ${names.join(", ") || "everything"}:`, ...about.slice(-REPORTED_MAX), ...logs].join("\n  ");
  }

  /** How often each fault happened, also those that never did. */
  get counts(): ReadonlyMap<string, number> {
    const names = [...stormy(this.#options.only), ...this.#acts.map(([name]) => ({ name }))];
    const all = new Map(names.map(({ name }) => [name, this.#counts.get(name) ?? 0]));
    for (const { counts } of this.#ways()) for (const [name, count] of counts) all.set(name, (all.get(name) ?? 0) + count);
    return all;
  }

  async close(): Promise<void> {
    for (const { syncer } of this.#members) await syncer.kill();
    for (const way of this.#ways()) way.close();
    for (const cluster of this.#clusters) await cluster.stop();
  }
}

/** Faults of requests, of answers and of watches. */
function stormy(only = ""): readonly (Fault | LineFault)[] {
  return [...FAULTS, ...LINE_FAULTS].filter(({ name }) => name.includes(only));
}

/** Copies, and slices that a syncer makes of them where the host's mirror takes too long. */
function isOwn({ owned }: Model, plural: string, place: string): boolean {
  const madeOf = plural === "endpointslices" ? /^(.+)-[0-9a-f]{8}-\d+$/.exec(place)?.[1] : undefined;
  return owned.has(`${plural} ${place}`) || (madeOf !== undefined && owned.has(`endpoints ${madeOf}`));
}

function named(line: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(line);
}
