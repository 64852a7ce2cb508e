/**
 * Two embedded clusters with the engine between them, on a clock that moves only here: the stories of `scenario.ts` happen in a
 * world.
 *
 * @module
 */
import { systemChance, type Chance } from "../../src/base/chance.ts";
import type { Clock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { noMetrics } from "../../src/base/metrics.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/cluster/cluster.ts";
import type { EngineOptions } from "../../src/engine/engine.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { formatKey, keyOf } from "../../src/kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, EVENTS, NAMESPACES, SERVICES, type ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createSyncer, type Syncer } from "../../src/engine/syncer.ts";
import { createInformedAccess, type InformedAccess } from "../../src/engine/sync/cluster/informed-access.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import type { Story, StoryEngine, StoryObjects, StoryStep, StoryWrites } from "./scenario.ts";
import {
  asText,
  generatedNames,
  idOf,
  KINDS,
  REFERENCED_KINDS,
  seenObject,
  sortedLists,
  wantedObjects,
  withoutOptional,
  withWrittenNames,
  type Side,
} from "./story-objects.ts";
import { applyAll } from "./story-users.ts";
import { countCalls, delayEvents, noCalls, type Calls } from "./measured-client.ts";
import { engineOptions, tellsOfReferences, tellsOfSlices } from "./story-engine.ts";

/** A running engine and how to end it. */
interface Running {
  readonly syncer: Syncer;
  stop(): Promise<void>;
}

/** The world of one story. */
export interface World {
  /** Plays the steps one after the other; all is at rest afterwards. */
  play(steps: readonly StoryStep[]): Promise<void>;
  /** Contents of both clusters, in the form of `want`, as text. */
  seen(): Promise<string>;
  /** Expected contents, as text. */
  wanted(): string;
  /** Notes in the engine's status, by object. */
  notes(): Promise<Record<string, string[]>>;
  /** Accepted writes since the last step began. */
  writes(): StoryWrites;
  /** Calls to either cluster while nothing happens for half a minute. */
  callsAtRest(): Promise<StoryWrites>;
  /** Accepted writes of another engine that starts on the same clusters, Events included. */
  writesOfRestart(): Promise<StoryWrites>;
  /** Starts the engine of a world that was made without one. */
  start(): Promise<void>;
  /** Both clusters, and what the engine works by now. */
  readonly clients: Readonly<Record<Side, ClusterClient>>;
  readonly options: EngineOptions;
  readonly clock: Clock;
  close(): Promise<void>;
}

/** Longer than any delay after which the engine looks again by itself, but for refused objects. Virtual milliseconds. */
const QUIET_MS = 2_000;
/** Shorter than the minute after which a refused object is tried again. */
const REST_MS = 30_000;
/** Rounds after which a world that is still not at rest never will be. */
const ROUNDS_MAX = 50;

/** A watch that is opened again asks who answers, at its first bookmark: when that is must not change from run to run. */
const EVEN_CHANCE: Chance = { ...systemChance, fraction: () => 0.5 };

/** How the world is. */
export interface WorldOptions {
  /** Events reach the engine this much later than they happen, in virtual milliseconds. Default 0. */
  readonly lagMs?: number;
  /** Makes the clusters only; {@link World.start} is still to be called. Default false. */
  readonly idle?: boolean;
}

/** Makes both clusters with what the story says they hold, and starts the engine. */
export async function createWorld(story: Story, { lagMs = 0, idle = false }: WorldOptions = {}): Promise<World> {
  const clock = createFakeClock();
  const clusters = { tenant: await createEmbeddedCluster({ clock }), host: await createEmbeddedCluster({ clock }) };
  await applyAll(clusters.host.client, { [`Namespace ${story.vcluster.namespace}`]: {}, ...story.host });
  await applyAll(clusters.tenant.client, story.tenant);
  await Promise.all([clusters.tenant.settled(), clusters.host.settled()]);
  const world = new StoryWorld({ story, clock, clusters, lagMs });
  if (!idle) await world.start();
  return world;
}

interface Parts {
  readonly story: Story;
  readonly clock: FakeClock;
  readonly clusters: Readonly<Record<Side, EmbeddedCluster>>;
  readonly lagMs: number;
}

class StoryWorld implements World {
  readonly #parts: Parts;
  readonly #calls: Record<Side, Calls> = { tenant: noCalls(), host: noCalls() };
  /** Tenant writes before the calls were last reset. */
  #tenantWrites = 0;
  #engine: StoryEngine;
  #running: Running | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#engine = parts.story;
  }

  async start(): Promise<void> {
    const { story, clock } = this.#parts;
    const [tenant, host] = [this.#access("tenant"), this.#access("host")];
    const syncer = await createSyncer({ ...engineOptions(story, this.#engine), tenant, host, clock, chance: EVEN_CHANCE });
    const stop = async () => void (await Promise.all([syncer.stop(), tenant.stop(), host.stop()]));
    this.#running = { syncer, stop };
    await this.#waitFor(syncer.start());
    await this.#settle();
  }

  #access(side: Side): InformedAccess {
    const { clusters, clock, lagMs } = this.#parts;
    const client = countCalls(delayEvents(clusters[side].client, { lagMs, clock }), this.#calls[side]);
    return createInformedAccess({ client, clock, chance: EVEN_CHANCE, logger: silentLogger, metrics: noMetrics });
  }

  /** Lets time pass until `work` is done. */
  async #waitFor(work: Promise<void>): Promise<void> {
    let done = false;
    const finish = () => void (done = true);
    work.then(finish, finish);
    while (!done) await this.#parts.clock.advance(5);
    await work;
  }

  /** Lets time pass until nothing has happened for a while, not even a call that was refused. */
  async #settle(): Promise<void> {
    const { clock, clusters } = this.#parts;
    for (let round = 0, before = ""; round < ROUNDS_MAX; round++) {
      await clock.advance(QUIET_MS);
      await Promise.all([clusters.tenant.settled(), clusters.host.settled()]);
      const revisions = await Promise.all([revisionOf(clusters.tenant), revisionOf(clusters.host)]);
      const calls = Object.values(this.#calls).map(({ all }) => all);
      const now = [...revisions, ...calls, this.#running?.syncer.status().waiting].join(" ");
      if (now === before) return;
      before = now;
    }
    throw new Error(`The clusters do not come to rest: ${JSON.stringify(this.#calls)}`);
  }

  async play(steps: readonly StoryStep[]): Promise<void> {
    for (const step of steps) {
      this.#resetCalls();
      await this.#act(step);
      await this.#settle();
    }
  }

  async #withRealNames(objects: StoryObjects): Promise<StoryObjects> {
    const names = generatedNames(await this.#slices());
    return withWrittenNames(objects, new Map([...names].map(([name, written]) => [written, name])));
  }

  #resetCalls(): void {
    this.#tenantWrites += this.#calls.tenant.writes;
    Object.assign(this.#calls.tenant, noCalls());
    Object.assign(this.#calls.host, noCalls());
  }

  async #act({ tenant, host, wait, restart, reload, lost }: StoryStep): Promise<void> {
    const { clusters, clock } = this.#parts;
    if (tenant) await applyAll(clusters.tenant.client, await this.#withRealNames(tenant));
    if (host) await applyAll(clusters.host.client, await this.#withRealNames(host));
    if (wait !== undefined) await clock.advance(wait * 1000);
    if (restart) await this.#restart(restart);
    if (reload) await this.#reload(reload);
    if (lost) await this.#lose(lost.meanwhile);
  }

  async #restart({ meanwhile = [], ...changed }: NonNullable<StoryStep["restart"]>): Promise<void> {
    await this.#running?.stop();
    for (const step of meanwhile) await this.#act(step);
    await this.#settle();
    this.#engine = { ...this.#engine, ...changed };
    await this.start();
  }

  async #reload(changed: NonNullable<StoryStep["reload"]>): Promise<void> {
    this.#engine = { ...this.#engine, ...changed };
    const { config, settings } = engineOptions(this.#parts.story, this.#engine);
    const reloading = this.#running!.syncer.reload({ config, settings });
    await this.#waitFor(reloading.then(() => undefined));
  }

  /** No time passes before all is done, so that no client reconnects in between; then the history is gone. */
  async #lose(meanwhile: readonly StoryStep[]): Promise<void> {
    const clusters = Object.values(this.#parts.clusters);
    for (const { client } of clusters) client.disconnect();
    for (const step of meanwhile) await this.#act(step);
    for (const cluster of clusters) await cluster.compact();
  }

  async seen(): Promise<string> {
    const { tenant, host, events = {} } = this.#parts.story.want;
    const names = generatedNames(await this.#slices());
    const found = withWrittenNames(await eventsIn(this.#parts.clusters.tenant.client), names);
    return asText({
      tenant: tenant
        ? withWrittenNames(await this.#stateOf("tenant", tenant), names)
        : `${this.#tenantWrites + this.#calls.tenant.writes} writes`,
      host: withWrittenNames(await this.#stateOf("host", host), names),
      events: withoutOptional(found, events),
    });
  }

  wanted(): string {
    const { tenant, host, events = {} } = this.#parts.story.want;
    return asText({
      tenant: tenant ? wantedObjects(tenant) : "0 writes",
      host: wantedObjects(host),
      events: withoutOptional(sortedLists(events), events),
    });
  }

  async #stateOf(side: Side, wanted: StoryObjects): Promise<StoryObjects> {
    const { story, clusters } = this.#parts;
    const marks = { vcluster: story.vcluster, prefix: String(story.settings?.["markerPrefix"] ?? "sync.platform/") };
    const kinds = [
      SERVICES,
      ENDPOINTS,
      ...(tellsOfSlices(story) ? [ENDPOINT_SLICES] : []),
      ...(tellsOfReferences(story) ? REFERENCED_KINDS : []),
    ];
    const sources = clusters[side === "host" ? "tenant" : "host"].client;
    const uids = new Map((await objectsIn(sources, kinds)).map((object) => [idOf(object), object.metadata.uid!]));
    const objects = (await objectsIn(clusters[side].client, kinds)).map((object) => {
      const id = idOf(object);
      return [id, seenObject(object, { side, marks, uids, wanted: wanted[id] ?? {} })] as const;
    });
    return Object.fromEntries(objects);
  }

  async #slices(): Promise<KubeObject[]> {
    if (!tellsOfSlices(this.#parts.story)) return [];
    const { tenant, host } = this.#parts.clusters;
    return [...(await objectsIn(tenant.client, [ENDPOINT_SLICES])), ...(await objectsIn(host.client, [ENDPOINT_SLICES]))];
  }

  async notes(): Promise<Record<string, string[]>> {
    const records = this.#running?.syncer.status().objects ?? [];
    const kindOf = (resource: string) => KINDS.find(({ plural }) => plural === resource)!.kind;
    const notes = Object.fromEntries(
      records.map((record) => [`${kindOf(record.resource)} ${formatKey(record.tenantKey)}`, record.notes.map(({ code }) => code)]),
    );
    return withWrittenNames(notes, generatedNames(await this.#slices()));
  }

  writes(): StoryWrites {
    return { host: this.#calls.host.writes, tenant: this.#calls.tenant.writes };
  }

  async callsAtRest(): Promise<StoryWrites> {
    this.#resetCalls();
    await this.#parts.clock.advance(REST_MS);
    return { host: this.#calls.host.all, tenant: this.#calls.tenant.all };
  }

  async writesOfRestart(): Promise<StoryWrites> {
    this.#resetCalls();
    await this.#restart({});
    const { host, tenant } = this.#calls;
    return { host: host.writes, tenant: tenant.writes + tenant.events };
  }

  get clients(): Readonly<Record<Side, ClusterClient>> {
    const { tenant, host } = this.#parts.clusters;
    return { tenant: tenant.client, host: host.client };
  }

  get options(): EngineOptions {
    return engineOptions(this.#parts.story, this.#engine);
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  async close(): Promise<void> {
    await this.#running?.stop();
    await Promise.all(Object.values(this.#parts.clusters).map((cluster) => cluster.stop()));
  }
}

async function revisionOf({ client }: EmbeddedCluster): Promise<string> {
  return (await client.list(NAMESPACES, { limit: 1 })).resourceVersion;
}

/** Objects of these kinds, but for the way to the API server, which every cluster has. */
async function objectsIn(client: ClusterClient, kinds: readonly ResourceType[]): Promise<KubeObject[]> {
  const lists = await Promise.all(kinds.map((type) => client.list(type)));
  return lists.flatMap(({ items }) => items).filter((object) => formatKey(keyOf(object)) !== "default/kubernetes");
}

async function eventsIn(client: ClusterClient): Promise<Record<string, string[]>> {
  const { items } = await client.list(EVENTS);
  const found: Record<string, string[]> = {};
  for (const event of items) {
    const { kind, namespace, name } = event["involvedObject"] as { kind: string; namespace: string; name: string };
    (found[`${kind} ${namespace}/${name}`] ??= []).push(String(event["reason"]));
  }
  return sortedLists(found);
}
