/**
 * What both sides must agree on, kept by who changes them: a tester that remembers every change it has made on either side.
 *
 * @module
 */
import { ENDPOINTS, SERVICES } from "../outside/api.ts";
import type { Api, Kind, Thing } from "../outside/api.ts";
import type { Chance } from "../outside/cases.ts";
import { hostPlace } from "../outside/names.ts";
import type { Place } from "../outside/names.ts";

export const VCLUSTER = { name: "blue", namespace: "vc-blue" };
export const NAMESPACE = "shop";
const NOTES = ["example.com/a", "example.com/b", "example.com/c"];
const LABELS = ["tier", "zone"];
/** A patch rewrites it on the way, and back. */
const TEAM = "example.com/team";
/** Keys below it are the syncer's own, on either side. */
const OWN = "sync.platform/";

/** `vcluster.yaml` of both versions. */
export const CONFIG = {
  sync: {
    toHost: {
      endpoints: {
        patches: [
          { path: `metadata.annotations["${TEAM}"]`, expression: '"blue-" + value', reverseExpression: 'value.replace(/^blue-/, "")' },
        ],
      },
    },
  },
};

/** A tenant object as it must be, on both sides. */
interface Known {
  readonly annotations: Map<string, string>;
  readonly labels: Map<string, string>;
  ip: string;
  /** Undefined: it has no Service. */
  port: number | undefined;
}

/** Makes changes, and knows what must come of all of them. */
export class Model {
  readonly #tenant: Api;
  readonly #host: Api;
  readonly #chance: Chance;
  readonly #known = new Map<string, Known>();
  /** What was changed since both sides agreed last. The same is not changed on the other side before they agree again. */
  readonly #touched = new Set<string>();
  #made = 0;
  #value = 0;

  constructor(tenant: Api, host: Api, chance: Chance) {
    this.#tenant = tenant;
    this.#host = host;
    this.#chance = chance;
  }

  async begin(objects: number): Promise<void> {
    for (let left = objects; left > 0; left -= 1) await this.#create();
  }

  /** Makes so many changes, and says what they were. */
  async change(count: number): Promise<string[]> {
    const done: string[] = [];
    while (done.length < count) {
      const what = await this.#one();
      if (what !== undefined) done.push(what);
    }
    return done;
  }

  async #one(): Promise<string | undefined> {
    const dice = this.#chance.below(20);
    if (dice === 0) return this.#create();
    const name = this.#chance.one([...this.#known.keys()]);
    if (dice === 1) return this.#remove(name);
    if (dice === 2) return this.#removeCopy(name);
    if (dice === 3) return this.#setPort(name);
    const side = dice % 2 === 0 ? "tenant" : "host";
    if (dice < 8) return this.#setBody(side, name);
    return this.#setKey(side, name);
  }

  async #create(): Promise<string> {
    this.#made += 1;
    const name = `o-${this.#made}`;
    const known: Known = { annotations: new Map(), labels: new Map(), ip: this.#ip(), port: undefined };
    for (const key of [...NOTES, TEAM]) if (this.#chance.below(2) === 0) known.annotations.set(key, this.#text());
    if (this.#chance.below(2) === 0) {
      known.port = 1 + this.#chance.below(60_000);
      const spec = { ports: [{ port: known.port }] };
      await this.#tenant.create(SERVICES, { metadata: { namespace: NAMESPACE, name }, spec });
    }
    const metadata = { namespace: NAMESPACE, name, annotations: Object.fromEntries(known.annotations) };
    await this.#tenant.create(ENDPOINTS, { metadata, ...subsetsOf(known.ip) });
    this.#known.set(name, known);
    this.#touch(name);
    return `create ${name}`;
  }

  async #remove(name: string): Promise<string | undefined> {
    if (this.#known.size < 4 || this.#isTouched(name)) return undefined;
    const { port } = this.#known.get(name)!;
    await this.#tenant.remove(ENDPOINTS, NAMESPACE, name);
    if (port !== undefined) await this.#tenant.remove(SERVICES, NAMESPACE, name);
    this.#known.delete(name);
    return `delete ${name}`;
  }

  /** A deletion of the copy on the host. What was changed on it and has not come to the tenant would be gone rightly. */
  async #removeCopy(name: string): Promise<string | undefined> {
    if (this.#isTouched(name)) return undefined;
    await this.#host.remove(ENDPOINTS, ...hostPlaceOf(name));
    this.#touch(name);
    return `delete the copy of ${name}`;
  }

  async #setPort(name: string): Promise<string | undefined> {
    const known = this.#known.get(name)!;
    if (known.port === undefined || this.#isTouched(name)) return undefined;
    known.port = 1 + this.#chance.below(60_000);
    await this.#tenant.merge(SERVICES, [NAMESPACE, name], { spec: { ports: [{ port: known.port }] } });
    this.#touch(name, "port");
    return `port of ${name}`;
  }

  async #setBody(side: Side, name: string): Promise<string | undefined> {
    if (this.#isTouched(name, "body")) return undefined;
    const known = this.#known.get(name)!;
    known.ip = this.#ip();
    await this.#merge(side, name, subsetsOf(known.ip));
    this.#touch(name, "body");
    return `addresses of ${name} on the ${side}`;
  }

  async #setKey(side: Side, name: string): Promise<string | undefined> {
    const field = this.#chance.below(3) === 0 ? "labels" : "annotations";
    const key = this.#chance.one(field === "labels" ? LABELS : [...NOTES, TEAM]);
    if (this.#isTouched(name, key)) return undefined;
    const values = this.#known.get(name)![field];
    const away = values.has(key) && this.#chance.below(3) === 0;
    const text = this.#text();
    if (away) values.delete(key);
    else values.set(key, text);
    const value = away ? null : side === "host" && key === TEAM ? `blue-${text}` : text;
    await this.#merge(side, name, { metadata: { [field]: { [key]: value } } });
    this.#touch(name, key);
    return `${away ? "remove" : "set"} ${key} of ${name} on the ${side}`;
  }

  async #merge(side: Side, name: string, patch: object): Promise<void> {
    if (side === "tenant") await this.#tenant.merge(ENDPOINTS, [NAMESPACE, name], patch);
    else await this.#host.merge(ENDPOINTS, hostPlaceOf(name), patch);
  }

  #touch(name: string, what = "all"): void {
    this.#touched.add(`${name} ${what}`);
  }

  /** With no part: anything of it. */
  #isTouched(name: string, what?: string): boolean {
    if (this.#touched.has(`${name} all`)) return true;
    return what === undefined ? [...this.#touched].some((one) => one.startsWith(`${name} `)) : this.#touched.has(`${name} ${what}`);
  }

  /** What is not as it must be. When nothing is, both sides agree. */
  async differences(): Promise<string[]> {
    const [tenant, host] = [await look(this.#tenant, NAMESPACE), await look(this.#host, VCLUSTER.namespace)];
    const wanted = new Map<string, string>();
    const copies = new Map<string, string>();
    for (const [name, known] of this.#known) {
      const [, hostName] = hostPlaceOf(name);
      wanted.set(`endpoints ${name}`, textOf(known));
      copies.set(`endpoints ${hostName}`, textOf(known, "blue-"));
      if (known.port === undefined) continue;
      wanted.set(`services ${name}`, String(known.port));
      copies.set(`services ${hostName}`, String(known.port));
    }
    const wrong = [...compare("tenant", wanted, tenant), ...compare("host", copies, host), ...(await this.#crossed())];
    if (wrong.length === 0) this.#touched.clear();
    return wrong;
  }

  /** What a syncer keeps on a tenant object for itself is not on the copy too. */
  async #crossed(): Promise<string[]> {
    const copies = new Map((await this.#host.list(ENDPOINTS, VCLUSTER.namespace)).map(({ metadata }) => [metadata.name, metadata]));
    return (await this.#tenant.list(ENDPOINTS, NAMESPACE)).flatMap(({ metadata: { name, annotations = {} } }) => {
      const copied = copies.get(hostPlaceOf(name)[1])?.annotations ?? {};
      const own = Object.keys(annotations).filter((key) => key.startsWith(OWN) && Object.hasOwn(copied, key));
      return own.map((key) => `${key} of ${name} is on the host too`);
    });
  }

  #ip(): string {
    this.#value += 1;
    return `10.8.${Math.floor(this.#value / 250)}.${(this.#value % 250) + 1}`;
  }

  #text(): string {
    this.#value += 1;
    return `v${this.#value}`;
  }
}

type Side = "tenant" | "host";

function hostPlaceOf(name: string): Place {
  return hostPlace(VCLUSTER, [NAMESPACE, name]);
}

function subsetsOf(ip: string): { subsets: object[] } {
  return { subsets: [{ addresses: [{ ip }], ports: [{ port: 80, protocol: "TCP" }] }] };
}

function textOf({ annotations, labels, ip }: Known, prefix = ""): string {
  const shown = [...annotations].map(([key, value]): [string, string] => [key, key === TEAM ? prefix + value : value]);
  return JSON.stringify({ ip, annotations: sorted(shown), labels: sorted([...labels]) });
}

async function look(api: Api, namespace: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const kind of [ENDPOINTS, SERVICES]) {
    for (const thing of await api.list(kind, namespace)) found.set(`${kind.plural} ${thing.metadata.name}`, shown(kind, thing));
  }
  return found;
}

/** What people see of an object: everything but what syncers keep there for themselves. */
function shown(kind: Kind, thing: Thing): string {
  if (kind === SERVICES) return String((thing["spec"] as { ports: { port: number }[] }).ports[0]!.port);
  const users = (map: Readonly<Record<string, string>> = {}) =>
    sorted(Object.entries(map).filter(([key]) => !key.startsWith(OWN) && !key.startsWith("endpoints.kubernetes.io/")));
  const subsets = thing["subsets"] as { addresses: { ip: string }[] }[] | undefined;
  const { annotations, labels } = thing.metadata;
  return JSON.stringify({ ip: subsets?.[0]?.addresses[0]?.ip, annotations: users(annotations), labels: users(labels) });
}

function sorted(entries: [string, string][]): [string, string][] {
  return entries.sort(([left], [right]) => (left < right ? -1 : 1));
}

function compare(side: Side, wanted: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string[] {
  const missing = [...wanted].filter(([id, text]) => found.get(id) !== text);
  const extra = [...found.keys()].filter((id) => !wanted.has(id));
  return [
    ...missing.map(([id, text]) => `${id} of the ${side} is ${found.get(id)}, not ${text}`),
    ...extra.map((id) => `${id} of the ${side} is too much`),
  ];
}
