/**
 * Model of the expected state of both sides of a virtual cluster, kept by the tester: it records every change that it has made on
 * either side. It shares nothing with the product, names included.
 *
 * @module
 */
import { ENDPOINTS, SERVICES, SLICES, type Api, type Kind, type Thing } from "./api.ts";
import type { Chance } from "./cases.ts";
import { hostPlace, type Place, type Virtual } from "./names.ts";

const NOTES = ["example.com/a", "example.com/b", "example.com/c"];
const LABELS = ["tier", "zone"];
/** A patch rewrites it on the way, and back. */
const TEAM = "example.com/team";
/** Keys below it are the syncer's own, on either side. */
const OWN = "sync.platform/";
/** Set by a syncer on a copy whose slices it makes itself, because the host's mirror took too long. What readers get is compared instead. */
const SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";
const SERVICE_NAME = "kubernetes.io/service-name";
/** A syncer slows down making a copy that keeps being deleted; the tester deletes each one less often than that. */
const COPY_REMOVALS_MAX = 2;

/** Content of `sync.toHost` in `vcluster.yaml`. */
export const PATCHES = {
  endpoints: {
    patches: [{ path: `metadata.annotations["${TEAM}"]`, expression: '"blue-" + value', reverseExpression: 'value.replace(/^blue-/, "")' }],
  },
};

/** A tenant object as it must be, on both sides. */
interface Known {
  readonly place: Place;
  readonly annotations: Map<string, string>;
  readonly labels: Map<string, string>;
  ip: string;
  /** Undefined: it has no Service. */
  port: number | undefined;
  removals: number;
}

/** Between what, and where. */
export interface ModelOptions {
  readonly virtual: Virtual;
  readonly tenant: Api;
  readonly host: Api;
  readonly chance: Chance;
  /** Namespaces of the tenant. */
  readonly namespaces: readonly string[];
  /** Tells the models of one run apart: addresses are `10.NUMBER.x.y`. */
  readonly number?: number;
  /** Objects in host namespaces that are not this virtual cluster's: `endpoints h-team-a/legacy`. Default: there are none. */
  readonly isForeign?: (id: string) => boolean;
  /** The same is changed again on the same side before it has arrived. The first version is known to lose such edits. Default false. */
  readonly again?: boolean;
}

/** Makes changes, and knows what must come of all of them. */
export class Model {
  readonly #options: ModelOptions;
  readonly #known = new Map<string, Known>();
  /** Host objects that were ever to be copies: `endpoints vc-blue/db-x-shop-x-blue`. */
  readonly owned = new Set<string>();
  /** Where what was changed since both sides agreed last. It is not changed on the other side before they agree again. */
  readonly #touched = new Map<string, Side>();
  /** The last change of a label or an annotation: the next one is often of the same, before it has arrived. */
  #again: (() => Promise<string | undefined>) | undefined;
  #made = 0;
  #value = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
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
    const { chance } = this.#options;
    const dice = chance.below(20);
    if (dice === 0 || this.#known.size === 0) return this.#create();
    const known = chance.one([...this.#known.values()]);
    if (dice === 1) return this.#remove(known);
    if (dice === 2) return this.#removeCopy(known);
    if (dice === 3) return this.#setPort(known);
    const side = dice % 2 === 0 ? "tenant" : "host";
    if (dice < 8) return this.#setBody(side, known);
    if (dice < 12 && this.#options.again === true && this.#again !== undefined) return this.#again();
    const field = chance.below(3) === 0 ? "labels" : "annotations";
    const key = chance.one(field === "labels" ? LABELS : [...NOTES, TEAM]);
    this.#again = () => this.#setKey(side, known, field, key);
    return this.#again();
  }

  async #create(): Promise<string> {
    const { chance, namespaces, tenant } = this.#options;
    this.#made += 1;
    const place: Place = [chance.one(namespaces), `o-${this.#made}`];
    const [namespace, name] = place;
    const known: Known = { place, annotations: new Map(), labels: new Map(), ip: this.#ip(), port: undefined, removals: 0 };
    for (const key of [...NOTES, TEAM]) if (chance.below(2) === 0) known.annotations.set(key, this.#text());
    this.#touch(known);
    this.#known.set(place.join("/"), known);
    this.#own(ENDPOINTS, known);
    if (chance.below(2) === 0) {
      known.port = 1 + chance.below(60_000);
      this.#own(SERVICES, known);
      await tenant.create(SERVICES, { metadata: { namespace, name }, spec: { ports: [{ port: known.port }] } });
    }
    await tenant.create(ENDPOINTS, {
      metadata: { namespace, name, annotations: Object.fromEntries(known.annotations) },
      ...subsetsOf(known.ip),
    });
    return `create ${place.join("/")}`;
  }

  #own({ plural }: Kind, { place }: Known): void {
    this.owned.add(`${plural} ${this.#copyOf(place).join("/")}`);
  }

  async #remove(known: Known): Promise<string | undefined> {
    const { tenant } = this.#options;
    if (this.#known.size < 4 || this.#isTouched(known)) return undefined;
    this.#known.delete(known.place.join("/"));
    await tenant.remove(ENDPOINTS, ...known.place);
    if (known.port !== undefined) await tenant.remove(SERVICES, ...known.place);
    return `delete ${known.place.join("/")}`;
  }

  /** A deletion of the copy on the host. What was changed on it and has not come to the tenant would be gone rightly. */
  async #removeCopy(known: Known): Promise<string | undefined> {
    if (this.#isTouched(known) || known.removals === COPY_REMOVALS_MAX) return undefined;
    known.removals += 1;
    await this.#options.host.remove(ENDPOINTS, ...this.#copyOf(known.place));
    this.#touch(known);
    return `delete the copy of ${known.place.join("/")}`;
  }

  async #setPort(known: Known): Promise<string | undefined> {
    if (known.port === undefined || this.#isTouched(known)) return undefined;
    known.port = 1 + this.#options.chance.below(60_000);
    await this.#options.tenant.merge(SERVICES, known.place, { spec: { ports: [{ port: known.port }] } });
    this.#touch(known, "port");
    return `port of ${known.place.join("/")} becomes ${known.port}`;
  }

  async #setBody(side: Side, known: Known): Promise<string | undefined> {
    if (this.#isTouched(known, "body", side)) return undefined;
    known.ip = this.#ip();
    await this.#merge(side, known, subsetsOf(known.ip));
    this.#touch(known, "body", side);
    return `address of ${known.place.join("/")} becomes ${known.ip} on the ${side}`;
  }

  async #setKey(side: Side, known: Known, field: "labels" | "annotations", key: string): Promise<string | undefined> {
    if (!this.#known.has(known.place.join("/")) || this.#isTouched(known, key, side)) return undefined;
    const values = known[field];
    const away = values.has(key) && this.#options.chance.below(3) === 0;
    const text = this.#text();
    if (away) values.delete(key);
    else values.set(key, text);
    const value = away ? null : side === "host" && key === TEAM ? `blue-${text}` : text;
    await this.#merge(side, known, { metadata: { [field]: { [key]: value } } });
    this.#touch(known, key, side);
    return `${key} of ${known.place.join("/")} ${away ? "goes" : `becomes ${text}`} on the ${side}`;
  }

  async #merge(side: Side, { place }: Known, patch: object): Promise<void> {
    if (side === "tenant") await this.#options.tenant.merge(ENDPOINTS, place, patch);
    else await this.#options.host.merge(ENDPOINTS, this.#copyOf(place), patch);
  }

  #copyOf(place: Place): Place {
    return hostPlace(this.#options.virtual, place);
  }

  #touch({ place }: Known, what = "all", side: Side = "tenant"): void {
    this.#touched.set(`${place.join("/")} ${what}`, side);
  }

  /** With no part: anything of it. With a side: only what was changed on the other one. */
  #isTouched({ place }: Known, what?: string, side?: Side): boolean {
    const name = place.join("/");
    if (this.#touched.has(`${name} all`)) return true;
    if (what === undefined) return [...this.#touched.keys()].some((one) => one.startsWith(`${name} `));
    const changed = this.#touched.get(`${name} ${what}`);
    return changed !== undefined && (this.#options.again !== true || changed !== side);
  }

  /** Deviations. If there are none, both sides agree. */
  async differences(): Promise<string[]> {
    const { tenant, host, namespaces, virtual, isForeign = () => false } = this.#options;
    const homes = new Set([virtual.namespace, ...namespaces.map((namespace) => this.#copyOf([namespace, "any"])[0])]);
    const sources = await look(tenant, namespaces);
    const copies = await look(host, [...homes]);
    const wanted = new Map<string, string>();
    const wantedCopies = new Map<string, string>();
    for (const known of this.#known.values()) {
      const copy = this.#copyOf(known.place).join("/");
      wanted.set(`endpoints ${known.place.join("/")}`, textOf(known));
      wantedCopies.set(`endpoints ${copy}`, textOf(known, "blue-"));
      if (known.port === undefined) continue;
      wanted.set(`services ${known.place.join("/")}`, String(known.port));
      wantedCopies.set(`services ${copy}`, String(known.port));
    }
    for (const id of copies.keys()) if (isForeign(id)) copies.delete(id);
    const compared = [...compare("tenant", wanted, sources), ...compare("host", wantedCopies, copies)];
    const wrong = [...compared, ...this.#crossed(sources, copies), ...(await this.#misread([...homes]))];
    if (wrong.length === 0) this.#touched.clear();
    return wrong;
  }

  /** A syncer's own marks on a tenant object are not on the copy too. */
  #crossed(sources: ReadonlyMap<string, Found>, copies: ReadonlyMap<string, Found>): string[] {
    return [...this.#known.values()].flatMap(({ place }) => {
      const copied = copies.get(`endpoints ${this.#copyOf(place).join("/")}`)?.annotations ?? {};
      const own = sources.get(`endpoints ${place.join("/")}`)?.annotations ?? {};
      const crossed = Object.keys(own).filter((key) => key.startsWith(OWN) && Object.hasOwn(copied, key));
      return crossed.map((key) => `${key} of ${place.join("/")} is on the host too`);
    });
  }

  /** Readers of slices get the address of each object that has a Service, and no other one. */
  async #misread(homes: readonly string[]): Promise<string[]> {
    const slices = (await Promise.all(homes.map((namespace) => this.#options.host.list(SLICES, namespace)))).flat();
    return [...this.#known.values()].flatMap(({ place, ip, port }) => {
      const [namespace, name] = this.#copyOf(place);
      const own = slices.filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.[SERVICE_NAME] === name);
      const addresses = new Set(
        own.flatMap((slice) => (slice["endpoints"] as { addresses: string[] }[] | null) ?? []).flatMap(({ addresses }) => addresses),
      );
      if (port === undefined || (addresses.size === 1 && addresses.has(ip))) return [];
      return [`readers of ${namespace}/${name} get ${[...addresses].join(", ") || "nothing"}, not ${ip}`];
    });
  }

  #ip(): string {
    this.#value += 1;
    return `10.${this.#options.number ?? 8}.${Math.floor(this.#value / 250) % 250}.${(this.#value % 250) + 1}`;
  }

  #text(): string {
    this.#value += 1;
    return `v${this.#value}`;
  }
}

type Side = "tenant" | "host";

function subsetsOf(ip: string): { subsets: object[] } {
  return { subsets: [{ addresses: [{ ip }], ports: [{ port: 80, protocol: "TCP" }] }] };
}

function textOf({ annotations, labels, ip }: Known, prefix = ""): string {
  const shown = [...annotations].map(([key, value]): [string, string] => [key, key === TEAM ? prefix + value : value]);
  return JSON.stringify({ ip, annotations: sorted(shown), labels: sorted([...labels]) });
}

/** Contents of one side. */
interface Found {
  readonly text: string;
  readonly annotations: Readonly<Record<string, string>>;
}

async function look(api: Api, namespaces: readonly string[]): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  for (const kind of [ENDPOINTS, SERVICES]) {
    for (const namespace of namespaces) {
      for (const thing of await api.list(kind, namespace)) {
        const { name, annotations = {} } = thing.metadata;
        found.set(`${kind.plural} ${namespace}/${name}`, { text: shown(kind, thing), annotations });
      }
    }
  }
  return found;
}

/** An object without the marks that syncers keep on it. */
function shown(kind: Kind, thing: Thing): string {
  if (kind === SERVICES) return String((thing["spec"] as { ports: { port: number }[] }).ports[0]!.port);
  const users = (map: Readonly<Record<string, string>> = {}) =>
    sorted(
      Object.entries(map).filter(([key]) => !key.startsWith(OWN) && key !== SKIP_MIRROR && !key.startsWith("endpoints.kubernetes.io/")),
    );
  const subsets = thing["subsets"] as { addresses: { ip: string }[] }[] | undefined;
  const { annotations, labels } = thing.metadata;
  return JSON.stringify({ ip: subsets?.[0]?.addresses[0]?.ip, annotations: users(annotations), labels: users(labels) });
}

function sorted(entries: [string, string][]): [string, string][] {
  return entries.sort(([left], [right]) => (left < right ? -1 : 1));
}

function compare(side: Side, wanted: ReadonlyMap<string, string>, found: ReadonlyMap<string, Found>): string[] {
  const missing = [...wanted].filter(([id, text]) => found.get(id)?.text !== text);
  const extra = [...found.keys()].filter((id) => !wanted.has(id));
  return [
    ...missing.map(([id, text]) => `${id} of the ${side} is ${found.get(id)?.text}, not ${text}`),
    ...extra.map((id) => `${id} of the ${side} is too much`),
  ];
}
