/**
 * A host with virtual clusters of one name and objects of an operator, and a checker that knows whose each object is: from what the
 * tenants were given and by names of its own, never from markers.
 *
 * @module
 */
import { ENDPOINTS, SECRETS, SERVICES, CONFIG_MAPS, SLICES, type Kind, type Thing } from "../outside/api.ts";
import { startClusterProcess, type ClusterProcess } from "../outside/cluster.ts";
import { hold, holdNone } from "../outside/cases.ts";
import { hostPlace, mappingConfig, type Place, type Virtual } from "../outside/names.ts";
import { temporaryFolder, until } from "../outside/processes.ts";
import { Proxy, tell } from "../outside/proxy.ts";
import { Syncer } from "../outside/syncer.ts";

const KINDS = [SERVICES, ENDPOINTS, SECRETS, CONFIG_MAPS, SLICES];
/** The object that shows that a syncer is at work; it alone may change at any time. */
const CANARY: Place = ["shop", "canary"];

/** Kind, namespace and name of an object on the host. */
type Id = string;
const idOf = ({ plural }: Kind, [namespace, name]: Place): Id => `${plural} ${namespace}/${name}`;

/** The parts of a tenant object that its copy must have. */
interface Said {
  readonly kind: Kind;
  readonly place: Place;
  readonly text: string;
}

/** Contents of the host at one moment. */
type Look = ReadonlyMap<Id, Thing>;

/** One virtual cluster: its tenant, its syncer, and what it must have on the host. */
export class VirtualCluster {
  readonly virtual: Virtual;
  readonly label: string;
  readonly syncer: Syncer;
  tenant: ClusterProcess;
  /** Objects of its tenant, by kind and place. */
  readonly said = new Map<Id, Said>();
  /** Every host object that was ever to be its own. */
  readonly owned = new Set<Id>();
  /** Host objects that it wants and must not get. */
  readonly denied = new Set<Id>();
  readonly tenantProxy: () => Proxy;
  readonly hostProxy: Proxy;
  /** Host objects of its own about which nothing is said here. */
  readonly extra = new Set<Id>();
  /** It has been cleaned up: nothing of it may be left. */
  gone = true;
  #address = 0;
  readonly #number: number;

  constructor(parts: { label: string; number: number; virtual: Virtual; tenant: ClusterProcess; syncer: Syncer }) {
    this.label = parts.label;
    this.virtual = parts.virtual;
    this.tenant = parts.tenant;
    this.syncer = parts.syncer;
    this.#number = parts.number;
    this.tenantProxy = () => parts.syncer.options.tenant;
    this.hostProxy = parts.syncer.options.host;
  }

  /** The place of a copy. */
  host(place: Place): Place {
    return hostPlace(this.virtual, place);
  }

  /** Says what a new address of this tenant is. No two are equal in a run. */
  address(): string {
    this.#address += 1;
    return `10.${this.#number}.${Math.floor(this.#address / 250)}.${(this.#address % 250) + 1}`;
  }

  async putEndpoints([namespace, name]: Place, annotations: Record<string, string> = {}): Promise<void> {
    const ip = this.address();
    const subsets = [{ addresses: [{ ip }], ports: [{ port: 80, protocol: "TCP" }] }];
    const { api } = this.tenant;
    if (await api.get(ENDPOINTS, namespace, name)) await api.merge(ENDPOINTS, [namespace, name], { subsets });
    else await api.create(ENDPOINTS, { metadata: { namespace, name, annotations }, subsets });
    this.#say(ENDPOINTS, [namespace, name], ip);
  }

  async putService([namespace, name]: Place, port = 80): Promise<void> {
    await this.tenant.api.create(SERVICES, { metadata: { namespace, name }, spec: { ports: [{ port }] } });
    this.#say(SERVICES, [namespace, name], String(port));
  }

  async putSecret([namespace, name]: Place): Promise<void> {
    const text = Buffer.from(`${this.label} ${namespace}`).toString("base64");
    await this.tenant.api.create(SECRETS, { metadata: { namespace, name }, type: "Opaque", data: { text } });
    this.#say(SECRETS, [namespace, name], text);
  }

  async remove(kind: Kind, place: Place): Promise<void> {
    await this.tenant.api.remove(kind, ...place);
    this.said.delete(idOf(kind, place));
  }

  /** Of a tenant that was built again, nothing is said yet. */
  forget(): void {
    this.said.clear();
  }

  #say(kind: Kind, place: Place, text: string): void {
    this.said.set(idOf(kind, place), { kind, place, text });
    const id = idOf(kind, this.host(place));
    if (!this.denied.has(id)) this.owned.add(id);
  }

  /** Deviations on the host. */
  differences(look: Look): string[] {
    const wanted = new Map<Id, string>();
    if (!this.gone) {
      for (const { kind, place, text } of this.said.values()) wanted.set(idOf(kind, this.host(place)), text);
    }
    for (const id of this.denied) wanted.delete(id);
    const found = [...this.owned].filter((id) => look.has(id));
    const missing = [...wanted].filter(([id]) => !look.has(id)).map(([id]) => `${this.label} lacks ${id}`);
    const extra = found.filter((id) => !wanted.has(id) && !this.extra.has(id)).map((id) => `${this.label} still has ${id}`);
    const other = found
      .filter((id) => wanted.has(id) && textOf(look.get(id)!) !== wanted.get(id))
      .map((id) => `${id} of ${this.label} says ${textOf(look.get(id)!)}, not ${wanted.get(id)}`);
    return [...missing, ...extra, ...other];
  }
}

/** The parts of an object that must be the same on both sides. */
function textOf(thing: Thing): string {
  const spec = thing["spec"] as { ports?: { port: number }[] } | undefined;
  if (spec !== undefined) return String(spec.ports?.[0]?.port);
  const data = thing["data"] as { text?: string } | undefined;
  if (data !== undefined) return data.text ?? "";
  const subsets = (thing["subsets"] ?? []) as { addresses?: { ip: string }[] }[];
  return subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)).join(" ");
}

/** How a virtual cluster of a world is made. */
export interface Made extends Virtual {
  readonly label: string;
  readonly settings?: unknown;
  /** Below `sync.toHost`. */
  readonly toHost?: object;
  readonly args?: readonly string[];
}

/** A host, and who lives there. */
export class World {
  readonly folder: string;
  readonly host: ClusterProcess;
  readonly members: VirtualCluster[] = [];
  readonly #proxies: Proxy[] = [];
  readonly #clusters: ClusterProcess[] = [];

  private constructor(folder: string, host: ClusterProcess) {
    this.folder = folder;
    this.host = host;
    this.#clusters.push(host);
  }

  static async start(): Promise<World> {
    const folder = temporaryFolder();
    return new World(folder, await startClusterProcess("host", folder));
  }

  async cluster(name: string): Promise<ClusterProcess> {
    const cluster = await startClusterProcess(name, this.folder);
    this.#clusters.push(cluster);
    return cluster;
  }

  async proxy(to: ClusterProcess): Promise<Proxy> {
    const proxy = await Proxy.start(to.api);
    this.#proxies.push(proxy);
    return proxy;
  }

  /** Prepares a virtual cluster with an empty tenant; its syncer does not run yet. `host` is another cluster than that of the world. */
  async add({ label, settings, toHost = {}, args, ...virtual }: Made, host = this.host): Promise<VirtualCluster> {
    const number = this.members.length + 1;
    const tenant = await this.cluster(`tenant-${number}`);
    const proxies = { tenant: await this.proxy(tenant), host: await this.proxy(host) };
    const config = { sync: { toHost: { ...mappingConfig(virtual), ...toHost } } };
    const { folder } = this;
    const { name, namespace } = virtual;
    const options = { folder, id: `vc-${number}`, ...proxies, name, namespace, config, settings, ...(args && { args }) };
    const member = new VirtualCluster({ label, number, virtual, tenant, syncer: new Syncer(options) });
    this.members.push(member);
    return member;
  }

  /** Everything on the host but what follows from the rest. What the host's own controller mirrors is left out. */
  async look(): Promise<Look> {
    const found = new Map<Id, Thing>();
    for (const kind of KINDS) {
      for (const thing of await this.host.api.list(kind)) {
        const { namespace = "", name, labels = {} } = thing.metadata;
        if (labels["endpointslice.kubernetes.io/managed-by"]?.includes(".k8s.io")) continue;
        found.set(idOf(kind, [namespace, name]), thing);
      }
    }
    return found;
  }

  /** Waits until the host is what it should be for these, and looks all the time whether anything else changes. */
  async agreed(members: readonly VirtualCluster[], unchanged: (look: Look) => string[] = () => []): Promise<void> {
    let wrong: string[] = [];
    await until(
      "the host has what it should",
      async () => {
        const look = await this.look();
        holdNone(unchanged(look), "not its own");
        wrong = members.flatMap((member) => member.differences(look));
        return wrong.length === 0;
      },
      () => [...wrong.slice(0, 4), ...members.map(({ syncer }) => syncer.log.slice(-300))].join("; "),
    );
  }

  /**
   * Something happens to `acted` only. Whatever belongs to others, the operator included, must be the same objects in the same versions
   * all the time, and no syncer may write to what is not its own.
   */
  async phase(name: string, acted: readonly VirtualCluster[], act: () => Promise<void>): Promise<void> {
    const before = await this.look();
    const marks = new Map(this.members.map((member) => [member, member.hostProxy.writes.length]));
    const tenantMarks = new Map(this.members.map((member) => [member, member.tenantProxy().writes.length]));
    const canaries = new Set(this.members.flatMap((member) => idOf(ENDPOINTS, member.host(CANARY))));
    const unchanged = (look: Look) => {
      const mine = new Set(acted.flatMap(({ owned }) => [...owned]));
      const changes = [...before].flatMap(([id, was]) => (mine.has(id) ? [] : changeOf(id, was, look.get(id), canaries.has(id))));
      return [...changes, ...this.members.flatMap((member) => foreignWrites(member, marks.get(member)!))];
    };
    try {
      await act();
      for (const member of this.members.filter(({ syncer }) => syncer.running)) await this.#canary(member, unchanged);
      await this.agreed(this.members, unchanged);
      for (const member of this.members) {
        const writes = member.hostProxy.writes.slice(marks.get(member));
        if (acted.includes(member)) continue;
        const needless = writes.filter((write) => !canaries.has(`${write.plural} ${write.namespace}/${write.name}`));
        const inTenant = member.tenantProxy().writes.slice(tenantMarks.get(member));
        holdNone([...needless, ...inTenant].map(tell), `${member.label} writes although nothing happened to it`);
      }
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** A change that goes all the way shows that the syncer has seen everything before. */
  async #canary(member: VirtualCluster, unchanged: (look: Look) => string[]): Promise<void> {
    await member.putEndpoints(CANARY);
    await this.agreed([member], unchanged);
  }

  /** An object of the operator of the host. */
  async operator(kind: Kind, [namespace, name]: Place, rest: object = {}): Promise<Thing> {
    const { metadata = {}, ...body } = rest as { metadata?: object };
    return this.host.api.create(kind, { metadata: { namespace, name, ...metadata }, ...body });
  }

  async close(): Promise<void> {
    for (const { syncer } of this.members) await syncer.kill();
    for (const proxy of this.#proxies) proxy.close();
    for (const cluster of this.#clusters) await cluster.stop();
  }
}

/** Writes that the host accepted, to what is not the virtual cluster's own. */
function foreignWrites({ hostProxy, owned, label }: VirtualCluster, from: number): string[] {
  const accepted = hostProxy.writes.slice(from).filter(({ status }) => status >= 200 && status < 300);
  return accepted
    .filter((write) => !owned.has(`${write.plural} ${write.namespace}/${write.name}`))
    .map((write) => `${label}: ${tell(write)}`);
}

/** How an object differs from what it was; a canary may have another version. */
function changeOf(id: Id, was: Thing, is: Thing | undefined, mayChange: boolean): string[] {
  if (is === undefined) return [`${id} is gone`];
  if (is.metadata.uid !== was.metadata.uid) return [`${id} is another object than before`];
  if (mayChange || is.metadata.resourceVersion === was.metadata.resourceVersion) return [];
  return [`${id} was written: ${shortOf(was)} became ${shortOf(is)}`];
}

function shortOf({ metadata, ...rest }: Thing): string {
  return JSON.stringify({ ...metadata.annotations, ...rest }).slice(0, 400);
}

/** A case in a world of its own, which is gone afterwards. */
export async function inWorld(play: (world: World) => Promise<string | void>): Promise<string | void> {
  const world = await World.start();
  try {
    return await play(world);
  } finally {
    await world.close();
  }
}

/** @throws Error unless the command ended so. */
export function holdEnded({ code, output }: { code: number; output: string }, wanted: number, what: string): void {
  hold(code === wanted, `${what} ended with ${code}, not ${wanted}: ${output.slice(-700)}`);
}
