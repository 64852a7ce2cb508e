/**
 * Two clusters and a syncer between them, whose writes can be stopped half-way. A batch of objects is edited on the host, and every edit is
 * followed to its end.
 *
 * @module
 */
import { ENDPOINTS, SERVICES, type Api, type Kind, type Thing } from "../outside/api.ts";
import { hold, type Chance } from "../outside/cases.ts";
import { startClusterProcess, type ClusterProcess } from "../outside/cluster.ts";
import { hostPlace } from "../outside/names.ts";
import { temporaryFolder, until } from "../outside/processes.ts";
import { Proxy, type Way, type Write } from "../outside/proxy.ts";
import { Syncer } from "../outside/syncer.ts";
import { CONFIG, PARTS, PLAIN_PARTS, subsetsOf, type Part } from "./parts.ts";

/** Fault between an edit and its end. */
export type Trouble =
  | "no fault"
  /** The tenant's server stores the write, and the connection breaks. */
  | "answer lost"
  /** The same, also with the next write. */
  | "two answers lost"
  /** kill -9 while the answer of the tenant's server is on its way. */
  | "killed before the answer"
  /** kill -9 when the tenant's server has answered and the host has not been updated. */
  | "killed before the base"
  /** The answer is lost, then kill -9 before the host is updated. */
  | "lost and killed";

/** Edits on the host, or in the tenant; the last of several comes while the first is in progress. */
export type Doing = readonly ("set" | "set another part" | "remove" | "tenant sets another part" | "tenant sets it back")[];

const VCLUSTER = { name: "blue", namespace: "vc-blue" };
const NAMESPACE = "shop";
const EVENTS: Kind = { kind: "Event", plural: "events", base: "api/v1" };
/** A syncer that has nothing to tell the host any more is killed after so long, in milliseconds. */
const NOTHING_MS = 2_000;

/** One object and what was done to it. */
interface Subject {
  readonly name: string;
  readonly kind: Kind;
  readonly part: Part;
  readonly other: Part;
  /** Expected final value of each edited part; undefined: absent. */
  readonly wanted: Map<Part, { readonly side: "tenant" | "host"; readonly value: string | undefined }>;
  /** Initial value of the first part. */
  before: string | undefined;
  /** Writes to the tenant that went through. */
  through: number;
  told: boolean;
  go(): void;
  readonly released: Promise<void>;
}

/** Result of a batch. */
export interface Followed {
  readonly edits: number;
  readonly lost: readonly string[];
  /** Events that tell of a change by the tenant, of which there was none. */
  readonly blamed: readonly string[];
}

/** One pair of clusters. */
export class Bench {
  readonly #tenant: ClusterProcess;
  readonly #host: ClusterProcess;
  readonly #proxies: Record<"tenant" | "host", Proxy>;
  readonly #syncer: Syncer;
  #made = 0;
  #value = 0;

  private constructor(tenant: ClusterProcess, host: ClusterProcess, proxies: Record<"tenant" | "host", Proxy>, folder: string) {
    this.#tenant = tenant;
    this.#host = host;
    this.#proxies = proxies;
    this.#syncer = new Syncer({ folder, id: "edits", ...proxies, ...VCLUSTER, config: CONFIG });
  }

  static async start(): Promise<Bench> {
    const folder = temporaryFolder();
    const [tenant, host] = await Promise.all([startClusterProcess("tenant", folder), startClusterProcess("host", folder)]);
    await tenant.api.namespaces(NAMESPACE);
    await host.api.namespaces(VCLUSTER.namespace);
    const bench = new Bench(tenant, host, { tenant: await Proxy.start(tenant.api), host: await Proxy.start(host.api) }, folder);
    await bench.#syncer.begin();
    return bench;
  }

  /** Plays one batch of so many objects. */
  async play(size: number, trouble: Trouble, doing: Doing, chance: Chance): Promise<Followed> {
    const subjects = Array.from({ length: size }, () => this.#subject(doing, chance));
    const byName = new Map(subjects.map((subject) => [subject.name, subject]));
    await Promise.all(subjects.map((subject) => this.#prepare(subject)));
    await this.#agreed(subjects);
    const kill = trouble.includes("kill");
    const marks = [this.#proxies.tenant.writes.length, this.#proxies.host.writes.length] as const;
    this.#proxies.tenant.fault = (write) => faultOf(byName.get(write.name), trouble);
    if (kill) this.#proxies.host.fault = (write) => withheld(subjects, write, trouble);
    const [first, ...later] = doing;
    await Promise.all(subjects.map((subject) => this.#edit(subject, first!)));
    await until(
      "the edits reach the tenant",
      () => subjects.every(({ through }) => through > 0),
      () => this.#syncer.log.slice(-500),
    );
    // Of a kill, some hear of the second edit before it and some after it.
    const late = kill ? subjects.filter(() => chance.below(2) === 0) : [];
    const early = subjects.filter((subject) => !late.includes(subject));
    for (const what of later) await Promise.all(early.map((subject) => this.#edit(subject, what)));
    for (const { go } of subjects) go();
    if (kill) {
      if (trouble !== "killed before the answer") await settled(subjects);
      await this.#syncer.kill();
    }
    for (const proxy of Object.values(this.#proxies)) proxy.fault = () => undefined;
    for (const what of later) await Promise.all(late.map((subject) => this.#edit(subject, what)));
    if (kill) await this.#syncer.begin();
    const lost = await this.#follow(subjects);
    const blamed = doing.some((what) => what === "tenant sets it back") ? [] : await this.#blamed(byName);
    // The stamp of an edit that flows is in the write that it needs anyway.
    if (trouble === "no fault" && doing.length === 1) await this.#wroteOnce(size, marks);
    await this.#remove(subjects);
    return { edits: size * doing.length, lost, blamed };
  }

  /** Edits while the syncer is down, and each time it is killed again over them: the host never gets any before the last. */
  async playKills(size: number, kills: number, chance: Chance): Promise<Followed> {
    const subjects = Array.from({ length: size }, () => this.#subject(["remove"], chance));
    const byName = new Map(subjects.map((subject) => [subject.name, subject]));
    await Promise.all(subjects.map((subject) => this.#prepare(subject)));
    await this.#agreed(subjects);
    await this.#syncer.kill();
    const unavailable = { status: 503, type: "application/json", text: '{"kind":"Status","code":503,"reason":"ServiceUnavailable"}' };
    this.#proxies.host.fault = ({ name }) => {
      const subject = subjects.find((one) => copyOf(one.name) === name);
      return subject && (async ({ tell }) => tell(unavailable));
    };
    for (const { go } of subjects) go();
    for (let left = kills; left > 0; left -= 1) {
      const trouble = chance.one<Trouble>(["killed before the answer", "killed before the base", "lost and killed"]);
      for (const subject of subjects) {
        subject.through = 0;
        const isAway = subject.wanted.has(subject.part) && subject.wanted.get(subject.part)!.value === undefined;
        await this.#edit(subject, chance.one(isAway ? ["set", "set another part"] : ["set", "set another part", "remove"]));
      }
      this.#proxies.tenant.fault = (write) => faultOf(byName.get(write.name), trouble);
      await this.#syncer.begin();
      await until(
        "the edits reach the tenant",
        () => subjects.every(({ through }) => through > 0),
        () => this.#syncer.log.slice(-500),
      );
      await this.#syncer.kill();
    }
    for (const proxy of Object.values(this.#proxies)) proxy.fault = () => undefined;
    await this.#syncer.begin();
    const lost = await this.#follow(subjects);
    const blamed = await this.#blamed(byName);
    await this.#remove(subjects);
    return { edits: size * kills, lost, blamed };
  }

  /** Each edit is one write to the tenant and one to the host. */
  async #wroteOnce(edits: number, [tenant, host]: readonly [number, number]): Promise<void> {
    const made = () => [this.#proxies.tenant.writes.length - tenant, this.#proxies.host.writes.length - host] as const;
    await until("the host is told", () => made()[1] >= edits);
    const [toTenant, toHost] = made();
    hold(toTenant === edits && toHost === edits, `${edits} edits took ${toTenant} writes to the tenant and ${toHost} to the host`);
  }

  async #remove(subjects: readonly Subject[]): Promise<void> {
    await Promise.all(subjects.map(({ kind, name }) => this.#tenant.api.remove(kind, NAMESPACE, name)));
    await until("the copies go", async () => (await this.#both(subjects)).every(({ host }) => host === undefined));
  }

  #subject(doing: Doing, chance: Chance): Subject {
    const kind = chance.below(4) === 0 ? SERVICES : ENDPOINTS;
    const all = kind === SERVICES ? PLAIN_PARTS : PARTS;
    const part = chance.one(doing.includes("remove") ? all.filter(({ removable }) => removable) : all);
    const other = chance.one(all.filter((one) => one !== part));
    let go = () => undefined as void;
    const released = new Promise<void>((release) => (go = release));
    this.#made += 1;
    const name = `e-${this.#made}`;
    return { name, kind, part, other, wanted: new Map(), before: undefined, through: 0, told: false, go: () => go(), released };
  }

  async #prepare(subject: Subject): Promise<void> {
    const { name, kind, part } = subject;
    const metadata = {
      namespace: NAMESPACE,
      name,
      labels: { tier: this.#next() },
      annotations: { "example.com/note": this.#next(), "example.com/team": this.#next() },
    };
    const rest = kind === SERVICES ? { spec: { ports: [{ port: 80 }] } } : subsetsOf(this.#next());
    subject.before = part.ofTenant(await this.#tenant.api.create(kind, { metadata, ...rest }));
  }

  #next(): string {
    this.#value += 1;
    return String(this.#value);
  }

  async #edit(subject: Subject, what: Doing[number]): Promise<void> {
    const part = what.endsWith("another part") ? subject.other : subject.part;
    const side = what.startsWith("tenant") ? "tenant" : "host";
    const value = what === "remove" ? null : what === "tenant sets it back" ? subject.before! : this.#next();
    subject.wanted.set(part, { side, value: value ?? undefined });
    const { name, kind } = subject;
    if (side === "tenant") await this.#tenant.api.merge(kind, [NAMESPACE, name], part.onTenant(value));
    else await this.#host.api.merge(kind, hostPlace(VCLUSTER, [NAMESPACE, name]), part.onHost(value));
  }

  /** Both sides of each object. */
  async #both(subjects: readonly Subject[]): Promise<{ subject: Subject; tenant: Thing | undefined; host: Thing | undefined }[]> {
    const tenants = await found(this.#tenant.api, NAMESPACE);
    const copies = await found(this.#host.api, VCLUSTER.namespace);
    return subjects.map((subject) => {
      const { kind, name } = subject;
      return { subject, tenant: tenants.get(`${kind.plural} ${name}`), host: copies.get(`${kind.plural} ${copyOf(name)}`) };
    });
  }

  async #agreed(subjects: readonly Subject[]): Promise<void> {
    await until("both sides agree", async () =>
      (await this.#both(subjects)).every(
        ({ subject: { kind }, tenant, host }) =>
          tenant && host && (kind === SERVICES ? PLAIN_PARTS : PARTS).every((part) => part.ofTenant(tenant) === part.ofHost(host)),
      ),
    );
  }

  /** An edit has come to its end when both sides have it; it is lost when the side where it was made has it no more. */
  async #follow(subjects: readonly Subject[]): Promise<string[]> {
    const lost = new Map<string, string>();
    await until(
      "every edit comes to its end",
      async () => {
        let open = 0;
        for (const { subject, tenant, host } of await this.#both(subjects)) {
          for (const [part, { side, value }] of subject.wanted) {
            const now = { tenant: tenant && part.ofTenant(tenant), host: host && part.ofHost(host) };
            const id = `${part.name} of ${subject.name}`;
            if (now[side] !== value) lost.set(id, `${id} was to be ${value}, and the ${side} says ${now[side]}`);
            else if (now.tenant !== value || now.host !== value) open += 1;
          }
        }
        return open === 0;
      },
      () => this.#syncer.log.slice(-500),
    );
    return [...lost.values()];
  }

  /** Events that tell of a change by the tenant, which there was none of. */
  async #blamed(byName: ReadonlyMap<string, Subject>): Promise<string[]> {
    const events = await this.#tenant.api.list(EVENTS, NAMESPACE);
    return events.flatMap((event) => {
      const { name = "" } = event["involvedObject"] as { name?: string };
      return event["reason"] === "BothSidesChanged" && byName.has(name) ? [`an Event of ${name} says ${String(event["message"])}`] : [];
    });
  }

  async close(): Promise<void> {
    await this.#syncer.kill();
    for (const proxy of Object.values(this.#proxies)) proxy.close();
    await Promise.all([this.#tenant.stop(), this.#host.stop()]);
  }
}

function copyOf(name: string): string {
  return hostPlace(VCLUSTER, [NAMESPACE, name])[1];
}

/** Contents of a namespace, by plural and name. */
async function found(api: Api, namespace: string): Promise<ReadonlyMap<string, Thing>> {
  const lists = await Promise.all(
    [SERVICES, ENDPOINTS].map(async (kind) =>
      (await api.list(kind, namespace)).map((thing): [string, Thing] => [`${kind.plural} ${thing.metadata.name}`, thing]),
    ),
  );
  return new Map(lists.flat());
}

/** Fate of the first writes of an object to the tenant. */
function faultOf(subject: Subject | undefined, trouble: Trouble): ((way: Way) => Promise<void>) | undefined {
  if (subject === undefined) return undefined;
  if (subject.through >= (trouble === "two answers lost" ? 2 : 1)) {
    subject.told = true;
    return undefined;
  }
  return async ({ ask, tell, reset }) => {
    const answer = await ask();
    if (answer.status >= 300) return tell(answer);
    subject.through += 1;
    await subject.released;
    if (trouble.includes("lost")) reset();
    else if (trouble !== "killed before the answer") tell(answer);
  };
}

/** The host does not get the accepted edit. */
function withheld(subjects: readonly Subject[], { name }: Write, trouble: Trouble): (() => Promise<void>) | undefined {
  const subject = subjects.find((one) => copyOf(one.name) === name);
  if (subject === undefined || trouble === "no fault") return undefined;
  return async () => {
    subject.told = true;
  };
}

/** Waits until the syncer was about to write again for each of them. One that need not is not waited for. */
async function settled(subjects: readonly Subject[]): Promise<void> {
  const from = performance.now();
  await until("the syncer goes on", () => subjects.every(({ told }) => told) || performance.now() - from > NOTHING_MS);
}
