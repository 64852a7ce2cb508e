/**
 * Two embedded clusters with the engine between them, on a clock that moves only here: what `scenario.ts` tells happens in a
 * world.
 *
 * @module
 */
import { dump } from "js-yaml";
import { systemChance } from "../../src/base/chance.ts";
import { delay } from "../../src/base/clock.ts";
import type { Clock } from "../../src/base/clock.ts";
import { isRecord } from "../../src/base/json.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { noMetrics } from "../../src/base/metrics.ts";
import { createEmbeddedCluster } from "../../src/clusters/cluster.ts";
import type { EmbeddedCluster } from "../../src/clusters/cluster.ts";
import { resolveConfig } from "../../src/config/config.ts";
import { resolveSettings } from "../../src/config/settings.ts";
import type { ClusterClient } from "../../src/object/cluster-client.ts";
import { formatKey, keyOf, parseKey } from "../../src/object/key.ts";
import type { ObjectKey } from "../../src/object/key.ts";
import { ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../src/object/resource.ts";
import type { ResourceType } from "../../src/object/resource.ts";
import { repackSubsets } from "../../src/object/subsets.ts";
import type { EndpointSubset, KubeObject, StringMap } from "../../src/object/types.ts";
import { createSyncer } from "../../src/syncer.ts";
import type { Syncer } from "../../src/syncer.ts";
import { createInformedAccess } from "../../src/sync/informed-access.ts";
import type { InformedAccess } from "../../src/sync/informed-access.ts";
import { isMarkerKey, isOurs, readMarkers } from "../../src/translate/markers.ts";
import { createFakeClock } from "./fake-clock.ts";
import type { Story, StoryEngine, StoryObject, StoryObjects, StoryStep, StoryWrites } from "./scenario.ts";

/** One of the two clusters. */
type Side = "tenant" | "host";

/** What an engine asked of one cluster through its writer. */
interface Calls {
  /** Writes that the cluster accepted, Events aside. */
  writes: number;
  /** Events that the cluster accepted. */
  events: number;
  /** Calls of any kind, refused ones included. */
  all: number;
}

/** How the copies of a story's engine are marked. */
interface Marks {
  readonly vcluster: string;
  readonly prefix: string;
}

/** A running engine and how to end it. */
interface Running {
  readonly syncer: Syncer;
  stop(): Promise<void>;
}

/** The world of one story. */
export interface World {
  /** Plays the steps one after the other; all is at rest afterwards. */
  play(steps: readonly StoryStep[]): Promise<void>;
  /** What both clusters hold, in the words of `want`, as text. */
  seen(): Promise<string>;
  /** What the story wants them to hold, as text. */
  wanted(): string;
  /** Notes in the engine's status, by object. */
  notes(): Record<string, string[]>;
  /** Accepted writes since the last step began. */
  writes(): StoryWrites;
  /** Calls to either cluster while nothing happens for half a minute. */
  callsAtRest(): Promise<StoryWrites>;
  /** Accepted writes of another engine that starts on the same clusters, Events included. */
  writesOfRestart(): Promise<StoryWrites>;
  close(): Promise<void>;
}

/** Kinds that stories speak of. */
const KINDS: readonly ResourceType[] = [SERVICES, ENDPOINTS, NAMESPACES];
/** Longer than any delay after which the engine looks again by itself, but for refused objects. Virtual milliseconds. */
const QUIET_MS = 2_000;
/** Shorter than the minute after which a refused object is tried again. */
const REST_MS = 30_000;
/** Rounds after which a world that is still not at rest never will be. */
const ROUNDS_MAX = 50;

/** How the world is. */
export interface WorldOptions {
  /** Events reach the engine this much later than they happen, in virtual milliseconds. Default 0. */
  readonly lagMs?: number;
}

/** Makes both clusters with what the story says they hold, and starts the engine. */
export async function createWorld(story: Story, { lagMs = 0 }: WorldOptions = {}): Promise<World> {
  const clock = createFakeClock();
  const clusters = { tenant: await createEmbeddedCluster({ clock }), host: await createEmbeddedCluster({ clock }) };
  const calls: Record<Side, Calls> = { tenant: noCalls(), host: noCalls() };
  /** Tenant writes since the world began. */
  let tenantWrites = 0;
  let engine: StoryEngine = story;
  const marks = { vcluster: story.vcluster.name, prefix: String(story.settings?.["markerPrefix"] ?? "sync.platform/") };
  let running: Running | undefined;

  async function start(): Promise<void> {
    const options = engineOptions(story, engine);
    const access = (side: Side) => informed(countCalls(delayEvents(clusters[side].client, { lagMs, clock }), calls[side]));
    const informed = (client: ClusterClient) =>
      createInformedAccess({ client, clock, chance: systemChance, logger: silentLogger, metrics: noMetrics });
    const accesses: Record<Side, InformedAccess> = { tenant: access("tenant"), host: access("host") };
    const syncer = await createSyncer({ ...options, ...accesses, clock });
    running = {
      syncer,
      async stop() {
        await syncer.stop();
        await Promise.all([accesses.tenant.stop(), accesses.host.stop()]);
      },
    };
    let started = false;
    const starting = syncer.start().finally(() => (started = true));
    while (!started) await clock.advance(5);
    await starting;
    await settle();
  }

  async function stop(): Promise<void> {
    await running?.stop();
    running = undefined;
  }

  /** Waits until nothing has happened for a while. */
  async function settle(): Promise<void> {
    for (let round = 0, before = ""; round < ROUNDS_MAX; round++) {
      await clock.advance(QUIET_MS);
      await Promise.all([clusters.tenant.settled(), clusters.host.settled()]);
      const now = JSON.stringify([await revisionOf(clusters.tenant), await revisionOf(clusters.host), running?.syncer.status().waiting]);
      if (now === before) return;
      before = now;
    }
    throw new Error(`The clusters do not come to rest: ${JSON.stringify(calls)}`);
  }

  function resetCalls(): void {
    tenantWrites += calls.tenant.writes;
    Object.assign(calls.tenant, noCalls());
    Object.assign(calls.host, noCalls());
  }

  async function playStep(step: StoryStep): Promise<void> {
    resetCalls();
    await act(step);
    await settle();
  }

  async function act(step: StoryStep): Promise<void> {
    if (step.tenant) await applyAll(clusters.tenant.client, step.tenant);
    if (step.host) await applyAll(clusters.host.client, step.host);
    if (step.wait !== undefined) await clock.advance(step.wait * 1000);
    if (step.restart) await restart(step.restart);
    if (step.lost) await loseConnections(step.lost.meanwhile);
  }

  /** No time passes before all is done, so that nobody connects again in between; then the history is gone. */
  async function loseConnections(meanwhile: readonly StoryStep[]): Promise<void> {
    for (const { client } of [clusters.tenant, clusters.host]) client.disconnect();
    for (const step of meanwhile) await act(step);
    for (const cluster of [clusters.tenant, clusters.host]) await cluster.compact();
  }

  async function restart({ meanwhile = [], ...changed }: NonNullable<StoryStep["restart"]>): Promise<void> {
    await stop();
    for (const step of meanwhile) await act(step);
    await settle();
    engine = { ...engine, ...changed };
    await start();
  }

  async function stateOf(side: Side, wanted: StoryObjects): Promise<StoryObjects> {
    const lists = await Promise.all([SERVICES, ENDPOINTS].map((type) => clusters[side].client.list(type)));
    const objects = lists.flatMap(({ items }) => items).filter((object) => formatKey(keyOf(object)) !== "default/kubernetes");
    const uids = side === "host" ? await tenantUids(clusters.tenant.client) : new Map<string, string>();
    return Object.fromEntries(
      objects.map((object) => {
        const id = idOf(object);
        return [id, seenObject(object, { side, marks, uids, wanted: wanted[id] ?? {} })];
      }),
    );
  }

  await applyAll(clusters.host.client, { [`Namespace ${story.vcluster.namespace}`]: {}, ...story.host });
  await applyAll(clusters.tenant.client, story.tenant);
  await Promise.all([clusters.tenant.settled(), clusters.host.settled()]);
  await start();

  return {
    async play(steps) {
      for (const step of steps) await playStep(step);
    },
    async seen() {
      const { tenant, host } = story.want;
      return asText({
        tenant: tenant ? await stateOf("tenant", tenant) : `${tenantWrites + calls.tenant.writes} writes`,
        host: await stateOf("host", host),
        events: withoutOptional(await eventsIn(clusters.tenant.client), story.want.events ?? {}),
      });
    },
    wanted() {
      const { tenant, host, events = {} } = story.want;
      return asText({
        tenant: tenant ? wantedObjects(tenant) : "0 writes",
        host: wantedObjects(host),
        events: withoutOptional(sortedLists(events), events),
      });
    },
    notes() {
      const found: Record<string, string[]> = {};
      for (const { resource, tenantKey, notes } of running?.syncer.status().objects ?? []) {
        const kind = KINDS.find(({ plural }) => plural === resource)!.kind;
        found[`${kind} ${formatKey(tenantKey)}`] = notes.map(({ code }) => code);
      }
      return found;
    },
    writes: () => ({ host: calls.host.writes, tenant: calls.tenant.writes }),
    async callsAtRest() {
      resetCalls();
      await clock.advance(REST_MS);
      return { host: calls.host.all, tenant: calls.tenant.all };
    },
    async writesOfRestart() {
      await stop();
      resetCalls();
      await start();
      return { host: calls.host.writes, tenant: calls.tenant.writes + calls.tenant.events };
    },
    async close() {
      await stop();
      await Promise.all([clusters.tenant.stop(), clusters.host.stop()]);
    },
  };
}

function noCalls(): Calls {
  return { writes: 0, events: 0, all: 0 };
}

/** The client of a cluster that is far away, as seen by its watchers. */
function delayEvents(client: ClusterClient, { lagMs, clock }: { lagMs: number; clock: Clock }): ClusterClient {
  if (lagMs === 0) return client;
  return {
    ...bound(client),
    async *watch(type, options) {
      for await (const event of client.watch(type, options)) {
        await delay(clock, lagMs, options.signal);
        yield event;
      }
    },
  };
}

function bound(client: ClusterClient): ClusterClient {
  return countCalls(client, noCalls());
}

/** Counts what goes through the writer; lists and watches are the informers'. */
function countCalls(client: ClusterClient, calls: Calls): ClusterClient {
  const count = async <Result>(type: ResourceType, call: Promise<Result>, isWrite: boolean): Promise<Result> => {
    calls.all += 1;
    const result = await call;
    if (isWrite) calls[type === EVENTS ? "events" : "writes"] += 1;
    return result;
  };
  return {
    get: (type, key) => count(type, client.get(type, key), false),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object) => count(type, client.create(type, object), true),
    update: (type, object) => count(type, client.update(type, object), true),
    patch: (type, key, how, body) => count(type, client.patch(type, key, how, body), true),
    delete: (type, key, preconditions) => count(type, client.delete(type, key, preconditions), true),
    close: () => client.close(),
  };
}

function engineOptions({ vcluster, services }: Story, { config = {}, patches, settings = {} }: StoryEngine) {
  const resolvedSettings = resolveSettings(settings);
  if (!resolvedSettings.ok) throw new Error(`The settings are refused: ${JSON.stringify(resolvedSettings.problems)}`);
  const resolved = resolveConfig(withPatches(config, patches), { settings: resolvedSettings.settings, vcluster });
  if (!resolved.ok) throw new Error(`The configuration is refused: ${JSON.stringify(resolved.problems)}`);
  return { config: resolved.config, settings: resolvedSettings.settings, vcluster, services };
}

function withPatches(config: Readonly<Record<string, unknown>>, patches: readonly unknown[] | undefined): unknown {
  if (patches === undefined) return config;
  const sync = recordAt(config, "sync");
  const toHost = recordAt(sync, "toHost");
  return { ...config, sync: { ...sync, toHost: { ...toHost, endpoints: { ...recordAt(toHost, "endpoints"), patches } } } };
}

function recordAt(value: Readonly<Record<string, unknown>>, field: string): Record<string, unknown> {
  const found = value[field];
  return isRecord(found) ? found : {};
}

/** Carries out changes as `kubectl` users would, one after the other. */
async function applyAll(client: ClusterClient, objects: StoryObjects): Promise<void> {
  for (const [id, object] of Object.entries(objects)) await applyOne(client, id, object);
}

async function applyOne(client: ClusterClient, id: string, object: StoryObject): Promise<void> {
  const { type, key } = parseId(id);
  if (object === null) {
    if ((await client.delete(type, key)) === "absent") throw new Error(`The story deletes what is not there: ${id}`);
    return;
  }
  const { labels, annotations, finalizers, ...body } = object;
  const metadata = Object.fromEntries(Object.entries({ labels, annotations, finalizers }).filter(([, value]) => value !== undefined));
  if ((await client.get(type, key)) !== undefined) return void (await client.patch(type, key, "merge", { metadata, ...body }));
  if (type.namespaced && (await client.get(NAMESPACES, { namespace: "", name: key.namespace })) === undefined) {
    await applyOne(client, `Namespace ${key.namespace}`, {});
  }
  const { name, namespace } = key;
  await client.create(type, { apiVersion: type.apiVersion, kind: type.kind, metadata: { ...metadata, name, namespace }, ...body });
}

function parseId(id: string): { type: ResourceType; key: ObjectKey } {
  const space = id.indexOf(" ");
  const type = KINDS.find(({ kind }) => kind === id.slice(0, space));
  if (type === undefined) throw new Error(`Stories know no such object: ${id}`);
  return { type, key: parseKey(id.slice(space + 1)) };
}

function idOf(object: KubeObject): string {
  return `${object.kind} ${formatKey(keyOf(object))}`;
}

async function revisionOf({ client }: EmbeddedCluster): Promise<string> {
  return (await client.list(NAMESPACES, { limit: 1 })).resourceVersion;
}

async function tenantUids(client: ClusterClient): Promise<Map<string, string>> {
  const lists = await Promise.all([SERVICES, ENDPOINTS].map((type) => client.list(type)));
  return new Map(lists.flatMap(({ items }) => items.map((object) => [idOf(object), object.metadata.uid!] as const)));
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

/** An object in the words of stories. */
function seenObject(
  object: KubeObject,
  about: { side: Side; marks: Marks; uids: ReadonlyMap<string, string>; wanted: StoryObject },
): StoryObject {
  const ours = about.side === "host" && isOurs(about.marks.prefix, about.marks.vcluster, object, object);
  const own = (map: StringMap | undefined) =>
    Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !ours || !isMarkerKey(about.marks.prefix, key)));
  const { labels, annotations, finalizers = [], ownerReferences = [] } = object.metadata;
  return tidy({
    ...(ours && { copyOf: sourceOf(object, about) }),
    owner: ownerReferences.map(({ kind, name }) => `${kind} ${name}`).join(", ") || undefined,
    labels: own(labels),
    annotations: own(annotations),
    finalizers,
    ...bodyOf(object, about.wanted),
  });
}

function sourceOf(object: KubeObject, { marks, uids }: { marks: Marks; uids: ReadonlyMap<string, string> }): string {
  const source = readMarkers(marks.prefix, object)!;
  const key = formatKey(source);
  const uid = uids.get(`${object.kind} ${key}`);
  return uid === undefined || uid === source.uid ? key : `${key}, an earlier one`;
}

function bodyOf(object: KubeObject, wanted: StoryObject): Record<string, unknown> {
  if (object.kind === ENDPOINTS.kind) return { subsets: repackSubsets((object["subsets"] ?? []) as EndpointSubset[]) };
  return wanted?.["spec"] === undefined ? {} : { spec: named(object["spec"], wanted["spec"]) };
}

/** Of `value` only what `wanted` names; what is not there is null. */
function named(value: unknown, wanted: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(value)) return value.map((item, index) => named(item, wanted[index]));
  if (!isRecord(wanted) || !isRecord(value)) return value ?? null;
  return Object.fromEntries(Object.keys(wanted).map((field) => [field, named(value[field], wanted[field])]));
}

function wantedObjects(objects: StoryObjects): StoryObjects {
  return Object.fromEntries(
    Object.entries(objects).map(([id, object]) => {
      const { subsets = [], ...rest } = object ?? {};
      return [id, tidy({ ...rest, ...(id.startsWith(ENDPOINTS.kind) && { subsets: repackSubsets(subsets as EndpointSubset[]) }) })];
    }),
  );
}

/** Without members that say nothing. */
function tidy(object: Record<string, unknown>): Record<string, unknown> {
  const says = (value: unknown) => value !== undefined && !(typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(object).filter(([, value]) => says(value)));
}

/** Reasons but for those that `wanted` has with a question mark. */
function withoutOptional(found: Record<string, string[]>, wanted: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  const counts = (id: string) => (reason: string) => !reason.endsWith("?") && !wanted[id]?.includes(`${reason}?`);
  const kept = Object.entries(found).map(([id, reasons]) => [id, reasons.filter(counts(id))] as const);
  return Object.fromEntries(kept.filter(([, reasons]) => reasons.length > 0));
}

/** Each list once and in order. */
function sortedLists(lists: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(lists).map(([id, list]) => [id, [...new Set(list)].sort()]));
}

function asText(value: unknown): string {
  return dump(value, { sortKeys: true, noRefs: true, lineWidth: -1 });
}
