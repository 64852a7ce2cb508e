/** A history of the simulator that is written by hand, write by write, for oracles that watch what readers of slices see. */
import { resolveConfig } from "../../../src/engine/config/config.ts";
import type { BackendsMode } from "../../../src/engine/config/backends-mode.ts";
import { resolveSettings } from "../../../src/engine/config/settings.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { slicesOfCopy } from "../../../src/engine/kinds/made-slices.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { deletion, type Operation } from "../../../src/engine/reconcile/plan-types.ts";
import { createSyncCore } from "../../../src/engine/sync/core.ts";
import type { ReconcileRun } from "../../../src/engine/sync/run/reconcile.ts";
import { formatKey, type ObjectKey } from "../../../src/kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../src/kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject, Service } from "../../../src/kube/object/types.ts";
import type { Generation } from "../../../src/workbench/simulator/model/generation.ts";
import type { Oracle } from "../../../src/workbench/simulator/model/history.ts";
import type { CreateCore } from "../../../src/workbench/simulator/model/replica.ts";
import { mirror } from "../../../src/workbench/simulator/users/mirror-users.ts";
import { createWorld, type World } from "../../../src/workbench/simulator/world.ts";

/** The only Service of a history, and its place on the host. */
export const WEB: ObjectKey = { namespace: "shop", name: "web" };
export const PLACE: ObjectKey = { namespace: "vc", name: "web-x-shop-x-blue" };

const PORTS = [{ name: "http", port: 80 }];
export const SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";
export const TENANT_MIRROR = { "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io" };

/** Endpoints of the Service with these addresses. */
export function endpointsWith(...addresses: readonly string[]): KubeObject {
  const subsets = addresses.length === 0 ? [] : [{ addresses: addresses.map((ip) => ({ ip })), ports: PORTS }];
  return { apiVersion: "v1", kind: "Endpoints", metadata: { ...WEB }, subsets };
}

/** A slice of the Service with these addresses. */
export function sliceWith(labels: Readonly<Record<string, string>>, ...addresses: readonly string[]): KubeObject {
  const metadata = { namespace: WEB.namespace, name: `${WEB.name}-a`, labels: { ...labels, "kubernetes.io/service-name": WEB.name } };
  const endpoints = addresses.map((address) => ({ addresses: [address] }));
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata, addressType: "IPv4", endpoints, ports: PORTS };
}

/** The object with a user's annotation. */
export function tagged(object: KubeObject, value: string): KubeObject {
  const annotations = { ...object.metadata.annotations, "example.com/tag": value };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** How a replica comes to write. */
export interface Reason {
  /** Revision of the host when its reconcile began. Default: that of now. */
  readonly since?: number;
  /** By which value of the setting. Default: that of now. */
  readonly by?: BackendsMode;
  readonly id?: string;
  /** Which replica. Default 0. */
  readonly index?: number;
}

/** A world in which nothing happens by itself. */
export class History {
  readonly world: World;
  readonly #modes: ReadonlyMap<BackendsMode, Generation>;

  constructor(world: World, modes: ReadonlyMap<BackendsMode, Generation>) {
    this.world = world;
    this.#modes = modes;
  }

  /** The setting has this value from now on. */
  change(mode: BackendsMode): void {
    this.world.generation = this.#modes.get(mode)!;
    for (const replica of this.world.replicas) replica.reload(this.world.generation);
    this.world.notice("backends");
  }

  /** The host's own revision. */
  get revision(): number {
    return this.world.clusters.host.revision;
  }

  at(side: "tenant" | "host", resource: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.world.clusters[side].objects(resource).get(formatKey(key));
  }

  get copy(): Endpoints {
    return this.at("host", ENDPOINTS, PLACE) as Endpoints;
  }

  /** Slices on the host whose name has this part. */
  slices(part: string): readonly KubeObject[] {
    return [...this.world.clusters.host.objects(ENDPOINT_SLICES).values()].filter(({ metadata }) => metadata.name!.includes(part));
  }

  /** Users of a cluster write an object, or take it away. */
  async user(side: "tenant" | "host", resource: ResourceType, object: KubeObject): Promise<void> {
    const key = { namespace: object.metadata.namespace!, name: object.metadata.name! };
    const before = this.at(side, resource, key);
    const { resourceVersion: _old, ...metadata } = object.metadata;
    const done = await this.world.write(side, (writer) =>
      before === undefined
        ? writer.create(resource, object)
        : writer.update(resource, {
            ...object,
            metadata: { ...metadata, uid: before.metadata.uid!, resourceVersion: before.metadata.resourceVersion! },
          }),
    );
    if (!done) throw new Error("A user's write is refused");
  }

  async userDeletes(side: "tenant" | "host", resource: ResourceType, key: ObjectKey): Promise<void> {
    if (!(await this.world.write(side, (writer) => writer.delete(resource, key)))) throw new Error("A user's deletion is refused");
  }

  #flight(
    resource: ResourceType,
    operation: Operation,
    { since = this.revision, by, id = "endpoints|shop/web" }: Reason = {},
  ): Parameters<World["transmit"]>[0] {
    const generation = by === undefined ? this.world.generation : this.#modes.get(by)!;
    const at = { tenant: this.world.clusters.tenant.revision, host: since };
    return { id, reconcile: { resource } as ReconcileRun, request: { type: "write", operation }, generation, since: at };
  }

  /** The replica writes. */
  async write(resource: ResourceType, operation: Operation, reason?: Reason): Promise<void> {
    const { type } = await this.world.transmit(this.#flight(resource, operation, reason), { index: reason?.index ?? 0, unanswered: false });
    if (type !== "object" && type !== "absent") throw new Error(`A write of the replica is answered ${type}`);
  }

  /** The replica copies an object as the tenant has it. */
  async copies(resource: ResourceType, key: ObjectKey, reason?: Reason): Promise<void> {
    const rules = this.world.generation.rules.find(({ kind }) => kind.resource === resource)!;
    const hostKey = rules.translator.toHost(key, resource)!;
    const [tenantService, hostService] = [this.at("tenant", SERVICES, WEB) as Service, this.at("host", SERVICES, PLACE) as Service];
    const input = { key, tenant: this.at("tenant", resource, key), host: this.at("host", resource, hostKey), tenantService, hostService };
    const [operation] = plan(rules, { ...input, backends: { isSource: true, mayGo: true, skipMirror: undefined } }).operations;
    if (operation === undefined) throw new Error("There is nothing to copy");
    await this.write(resource, operation, reason);
  }

  /** Writes of slices of the copy of Endpoints. */
  #making(): readonly Operation[] {
    const { markerPrefix } = this.world.generation.rules[0]!.translator;
    return slicesOfCopy(markerPrefix, this.copy, []).map((object) => ({ action: "create", side: "host", object, reason: "" }));
  }

  /** The replica makes slices of its copy of Endpoints. */
  async makes(reason?: Reason): Promise<void> {
    for (const operation of this.#making()) await this.write(ENDPOINT_SLICES, operation, reason);
  }

  /** It does so too, but the host begins only after so many milliseconds, when nothing waits for its answer any more. */
  async makesLate(ms: number): Promise<void> {
    for (const operation of this.#making()) this.world.delay(this.#flight(ENDPOINT_SLICES, operation), 0);
    this.world.now += ms;
    for (const late of this.world.late.splice(0)) await this.world.landLate(late);
  }

  /** The replica deletes slices whose name has this part. */
  async removes(part: string, reason?: Reason): Promise<void> {
    for (const slice of this.slices(part)) await this.write(ENDPOINT_SLICES, deletion(slice as EndpointSlice, "", "none"), reason);
  }

  /** The copy of Endpoints gets a label, or loses it. */
  async labels(value: string | undefined, reason?: Reason): Promise<void> {
    const { [SKIP_MIRROR]: _before, ...labels } = this.copy.metadata.labels ?? {};
    const metadata = { ...this.copy.metadata, labels: { ...labels, ...(value !== undefined && { [SKIP_MIRROR]: value }) } };
    await this.write(ENDPOINTS, { action: "update", side: "host", object: { ...this.copy, metadata }, reason: "" }, reason);
  }

  /** The host's mirror does all that it has to do. */
  async mirrors(): Promise<void> {
    this.world.mirroring = true;
    await mirror(this.world, "host");
  }

  /** Caches show all that there is. */
  shows(): void {
    for (const { caches } of this.world.replicas) for (const cache of caches) while (!cache.idle) cache.deliver();
  }

  /** What is broken, so far. */
  get wrong(): string | undefined {
    return this.world.violation?.message;
  }
}

/** A Service with Endpoints of one address and their copy, under the first of these values of the setting. */
export async function createHistory(oracle: (world: World) => Oracle, ...values: readonly [BackendsMode, ...BackendsMode[]]) {
  const modes = new Map(await Promise.all(values.map(async (mode) => [mode, await generationOf(mode)] as const)));
  const setting = { name: "by hand", generations: [...modes.values()], choosesBackends: true };
  const oracles = (world: World) => [oracle(world)];
  // What a replica has to do is said by the history.
  const createCore: CreateCore = (options) => createSyncCore({ ...options, enqueue: () => undefined });
  const world = await createWorld({ setting, oracles, createCore, replicas: 1, workers: 2, names: [WEB], inOrder: true });
  const history = new History(world, modes);
  const service = { apiVersion: "v1", kind: "Service", metadata: { ...WEB }, spec: { ports: PORTS } };
  await history.user("tenant", SERVICES, service);
  await history.user("tenant", ENDPOINTS, endpointsWith("10.0.0.1"));
  await history.copies(SERVICES, WEB);
  if (values[0] !== "slices") await history.copies(ENDPOINTS, WEB);
  return history;
}

async function generationOf(backends: BackendsMode): Promise<Generation> {
  const vcluster = { name: "blue", namespace: "vc" };
  const settings = resolveSettings({ backends });
  const config = settings.ok ? resolveConfig({}, { settings: settings.settings, vcluster }) : undefined;
  if (!settings.ok || config?.ok !== true) throw new Error("The configuration is refused");
  const engine = await createEngine({ config: config.config, settings: settings.settings, vcluster, services: "managed" });
  const { rules, references, settings: resolved } = engine;
  return { rules, references, backends: engine.backends, loopGuard: resolved.loopGuard, deleteBrake: resolved.deleteBrake };
}

/** Reads the recorded acts of a replay: an act and its salt on each line. */
export function decisionsOf(text: string): readonly { readonly act: string; readonly salt: number }[] {
  return text
    .trim()
    .split("\n")
    .map((line) => /^\s*(.*) (\d+)$/.exec(line)!)
    .map(([, act, salt]) => ({ act: act!, salt: Number(salt) }));
}
