/**
 * The backends that readers of slices on the host see, with `backends: auto` and with the other modes. The comparison uses the contents of
 * both servers and its own reader.
 *
 * @module
 */
import { formatKey, keyOf, parseKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import type { BackendsMode } from "../../../engine/config/backends-mode.ts";
import { hasReaders } from "../model/generation.ts";
import type { Oracle, Write } from "../model/history.ts";
import type { World } from "../world.ts";
import { SKIP_MIRROR_LABEL } from "./equal.ts";
import { decidesBackends, isCopy, madeOf, mirroredFrom, translatorOf } from "./marks.ts";

/** Codes of what waits or is refused, so what readers see is not what it should be. */
const EXCUSES = [
  "EXCLUDED",
  "HOST_SERVICE_MISSING",
  "LOOP_STOPPED",
  "API_INVALID",
  "WRITES_SLOWED",
  "DELETE_BRAKE",
  "HOST_OBJECT_FOREIGN",
  "NAME_COLLISION",
];

/** One text per address, port and readiness that a reader takes from these slices. */
function readBy(slices: Iterable<KubeObject>): Set<string> {
  const ready = new Set<string>();
  const notReady = new Set<string>();
  for (const slice of slices) {
    const { endpoints, ports } = slice as EndpointSlice;
    for (const { addresses, conditions } of endpoints ?? []) {
      for (const { name = "", port, protocol = "TCP" } of ports ?? [])
        (conditions?.ready === false ? notReady : ready).add(`${addresses?.[0]}:${port}/${protocol}/${name}`);
    }
  }
  return new Set([...ready, ...[...notReady].filter((text) => !ready.has(text)).map((text) => `${text}!`)]);
}

/** The same of Endpoints, as they are stored. */
function readOf({ subsets = [] }: Endpoints): Set<string> {
  const slices = subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => ({
    ports,
    endpoints: [
      ...addresses.map(({ ip }) => ({ addresses: [ip] })),
      ...notReadyAddresses.map(({ ip }) => ({ addresses: [ip], conditions: { ready: false } })),
    ],
  }));
  return readBy(slices as unknown as KubeObject[]);
}

function slicesBeside(world: World, { namespace, name }: ObjectKey): KubeObject[] {
  return [...world.clusters.host.objects(ENDPOINT_SLICES).values()].filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
  );
}

/** Readers come by a Service. */
export function isServed(world: World, place: ObjectKey): boolean {
  return world.clusters.host.objects(SERVICES).has(formatKey(place));
}

/** The Service there is the copy of another one of the tenant: its readers are to see nothing of this one. */
export function isAnothers(world: World, place: ObjectKey, service: string | undefined): boolean {
  const found = world.clusters.host.objects(SERVICES).get(formatKey(place));
  const source = found && isCopy(world, found)?.source;
  return source !== undefined && source !== service;
}

/**
 * All that the tenant said of a Service when the slice was written of which a copy says the same now; undefined where it is no such write. A host
 * that is late goes through what the tenant went through: what went there and came back may go and come back here.
 */
function toldByTenant(world: World, { before, after }: Write): Set<string> | undefined {
  // What patches make of addresses cannot be compared with what the tenant says.
  if (world.generation.rules.some(({ patches }) => patches.length > 0)) return undefined;
  const [was, is] = [before, after].map((slice) => slice && isCopy(world, slice));
  const version = is?.resourceVersion ?? 0;
  if (is === undefined || (was?.source === is.source && was.resourceVersion === version)) return undefined;
  const { tenant } = world.clusters;
  const at = (resource: typeof ENDPOINTS) =>
    tenant.objects(resource, tenant.changes(resource).filter(({ revision }) => revision <= version).length);
  const slices = at(ENDPOINT_SLICES);
  const { namespace, labels } = slices.get(is.source)?.metadata ?? {};
  const name = labels?.["kubernetes.io/service-name"];
  if (name === undefined) return undefined;
  const beside = [...slices.values()].filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
  );
  const endpoints = at(ENDPOINTS).get(`${namespace}/${name}`);
  return new Set([...readBy(beside), ...(endpoints === undefined ? [] : readOf(endpoints as Endpoints))]);
}

/** Our copy of the Endpoints of a Service. */
function copyAt(world: World, service: ObjectKey, place: ObjectKey): Endpoints | undefined {
  const found = world.clusters.host.objects(ENDPOINTS).get(formatKey(place));
  return found !== undefined && isCopy(world, found)?.source === formatKey(service) ? (found as Endpoints) : undefined;
}

/**
 * L7: at rest, readers of each Service see exactly the content of its copies, apart from slices that are unrelated to us or our mirror. If
 * backends are not decided per Service, a working mirror determines this content, and the copies of slices contain nothing from Endpoints.
 */
export function checkReaders(world: World): { readonly oracle: string; readonly message: string } | undefined {
  const { setting } = world.options;
  const decides = decidesBackends(world);
  if (!hasReaders(setting) || (!decides && (!world.mirroring || world.generation.backends === "slices"))) return undefined;
  for (const service of world.options.names) {
    const place = translatorOf(world).toHost(service, SERVICES);
    if (place === undefined || !isServed(world, place) || isExcused(world, service)) continue;
    const beside = slicesBeside(world, place);
    const copies = beside.filter((slice) => isCopy(world, slice) !== undefined);
    const source = formatKey(service);
    const copy = copyAt(world, service, place);
    // Of Endpoints that are not ours any more, a mirror's slices are not ours to look after; others that say they are a mirror's never are.
    const isMirrors = ({ metadata: { name = "" } }: KubeObject) => copy !== undefined && /-m[0-9]+$/.test(name);
    const derivedFrom = (slice: KubeObject) => madeOf(world, slice) ?? (isMirrors(slice) ? mirroredFrom(world, slice) : undefined);
    const isUnknown = (slice: KubeObject) =>
      world.generation.backends === "endpoints" && madeOf(world, slice) && isUntraced(world, slice, place);
    const derived = beside.filter((slice) => derivedFrom(slice)?.source === source && !isUnknown(slice));
    // Where slices are copied without a decision, they take the place of the Endpoints beside them.
    const told = copy !== undefined && (decides || !skipsMirror(copy)) ? readOf(copy) : [];
    const wanted = new Set([...readBy(copies), ...told]);
    const seen = readBy([...copies, ...derived]);
    // A slice of others that claims to be the mirror's, and says the same, is read as well as one of the mirror, and so is another syncer's.
    const isRead = (slice: KubeObject) => mirroredFrom(world, slice)?.source === source || (decides && isAnotherSyncers(slice));
    const read = readBy([...copies, ...derived, ...beside.filter(isRead)]);
    const missing = [...wanted].filter((text) => !read.has(text) && !read.has(text.replace(/!$/, "")));
    const surplus = [...seen].filter((text) => !wanted.has(text));
    const what = `readers of ${formatKey(service)}`;
    if (missing.length > 0) return { oracle: "L7", message: `${what} miss ${missing.join(", ")}` };
    if (surplus.length > 0) return { oracle: "L7", message: `${what} see ${surplus.join(", ")}, which no copy contains` };
    const twice =
      copy !== undefined && derived.some((slice) => madeOf(world, slice)) && derived.some((slice) => mirroredFrom(world, slice));
    if (twice) return { oracle: "L7", message: `${what} get slices from the mirror and from us` };
    const left = world.mirroring ? [] : derived.filter((slice) => copy === undefined && mirroredFrom(world, slice) === undefined);
    if (left.length > 0) return { oracle: "L7", message: `${what} get slices of Endpoints that have no copy` };
  }
  return undefined;
}

/** A syncer has marked it, and no controller of slices looks after it. */
function isAnotherSyncers({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean {
  const isMarked = Object.keys(annotations).some((key) => key.endsWith("/object-name"));
  return isMarked && labels["endpointslice.kubernetes.io/managed-by"] === undefined;
}

/** What ended between the slices and the label of their copy leaves no trace for where Endpoints alone are followed: it is told as left. */
function isUntraced(world: World, slice: KubeObject, place: ObjectKey): boolean {
  const { host } = world.clusters;
  const born = host.changes(ENDPOINT_SLICES).findLast(({ type, object }) => type === "ADDED" && object.metadata.uid === slice.metadata.uid);
  const states = statesSince(world, ENDPOINTS, formatKey(place), born?.revision ?? 0);
  // One that others have deleted took the trace along, and so did the host's controller, which keeps no label.
  const isOver = (copy: KubeObject | undefined) =>
    copy === undefined || (isCopy(world, copy) === undefined && copy.metadata.labels?.[SKIP_MIRROR_LABEL] === undefined);
  const life = states.slice(states.findLastIndex((copy, index) => isOver(copy) && index < states.length - 1) + 1);
  return life.every((copy) => copy?.metadata.labels?.[SKIP_MIRROR_LABEL] === undefined);
}

/** A replica says of the Service, or of a slice of it, that something waits or is refused. */
export function isExcused(world: World, service: ObjectKey): boolean {
  const slices = [...world.clusters.tenant.objects(ENDPOINT_SLICES).values()].filter(
    ({ metadata }) => metadata.namespace === service.namespace && metadata.labels?.["kubernetes.io/service-name"] === service.name,
  );
  // Slices that are told of by Endpoints are excluded in their place.
  const own = slices.filter(({ metadata }) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === undefined);
  const objects = [[ENDPOINTS.plural, service] as const, ...own.map((slice) => [ENDPOINT_SLICES.plural, keyOf(slice)] as const)];
  return objects.some(([plural, key]) =>
    world.replicas.some((replica) => replica.notes(plural, key).some((code) => EXCUSES.includes(code))),
  );
}

/**
 * S15: a backend that a copy of Endpoints, or a slice of the tenant, has contained since the reconcile began is never hidden from readers,
 * neither by a write of a replica nor because a replica has switched off the mirror.
 */
export function readers(world: World): Oracle {
  /** Host Services beside which others have written: what readers see there is not by us alone, until all is right again. */
  const touched = new Set<string>();
  /** When others last wrote there, as a revision of the host: what a replica had decided before it saw that is not by it alone, however late it lands. */
  const touchedAt = new Map<string, number>();
  /** What a replica had seen of the host when it sent the mirror away from a copy. */
  const sentAwaySince = new Map<string, number>();
  /** And by which value of the setting it did so. */
  const sentAwayBy = new Map<string, BackendsMode | undefined>();

  function placeOf({ plural, before, after }: Write): ObjectKey | undefined {
    const { namespace = "", name = "", labels = {} } = (after ?? before!).metadata;
    if (plural === ENDPOINTS.plural || plural === SERVICES.plural) return { namespace, name };
    const service = labels["kubernetes.io/service-name"] ?? before?.metadata.labels?.["kubernetes.io/service-name"];
    return plural === ENDPOINT_SLICES.plural && service !== undefined ? { namespace, name: service } : undefined;
  }

  /** What a copy of Endpoints, or of a slice, has said all the time since a revision of the host. */
  function saidSince(place: ObjectKey, since: number, source: string | undefined): Set<string> {
    const said = new Set<string>();
    const endpoints = statesSince(world, ENDPOINTS, formatKey(place), since);
    if (endpoints.every((state) => state !== undefined && isCopy(world, state)?.source === source))
      for (const text of common(endpoints.map((state) => readOf(state as Endpoints)))) said.add(text);
    return said;
  }

  /** The tenant's Endpoints that a slice tells of. */
  function sourceOf(slice: KubeObject): string | undefined {
    return (madeOf(world, slice) ?? mirroredFrom(world, slice))?.source ?? copiedService(slice);
  }

  /** A copied slice that is no source tells of the Endpoints of its Service. */
  function copiedService(slice: KubeObject): string | undefined {
    const source = isCopy(world, slice)?.source;
    const tenant = source === undefined ? undefined : world.clusters.tenant.objects(ENDPOINT_SLICES).get(source);
    return tenant && `${tenant.metadata.namespace}/${tenant.metadata.labels?.["kubernetes.io/service-name"]}`;
  }

  return {
    name: "S15",
    noticed(event) {
      // What was on its way when the tenant was emptied arrives nevertheless.
      if (event === "configuration" || event === "backends") touched.clear();
    },
    saw(write) {
      const { author, side, plural, before, after } = write;
      const place = hasReaders(world.options.setting) && side === "host" ? placeOf(write) : undefined;
      if (place === undefined) return undefined;
      const id = formatKey(place);
      const copy = world.clusters.host.objects(ENDPOINTS).get(id);
      const byMirror = author.kind === "host" && world.mirrorWrites && skipsMirror(copy);
      if (author.kind !== "replica" && !byMirror) {
        // What the host does to copies of Endpoints is a change like one of the tenant.
        if (plural === ENDPOINT_SLICES.plural && !world.mirrorWrites) {
          touched.add(id);
          touchedAt.set(id, world.clusters.host.changes(ENDPOINT_SLICES).at(-1)!.revision);
        }
        return undefined;
      }
      if (author.kind === "replica" && plural === ENDPOINTS.plural && skipsMirror(after) && !skipsMirror(before)) {
        sentAwaySince.set(id, author.since.host);
        sentAwayBy.set(id, author.generation.backends);
      }
      if (plural !== ENDPOINT_SLICES.plural || before === undefined || !tellsOfEndpoints(world, before)) return undefined;
      const now = slicesBeside(world, place);
      const seen = readBy(now);
      const lost = [...readBy([...now.filter(({ metadata }) => metadata.name !== before.metadata.name), before])].filter(
        (text) => !seen.has(text) && !text.endsWith("!"),
      );
      const mode = author.kind === "replica" ? author.generation.backends : (sentAwayBy.get(id) ?? world.generation.backends);
      const decided = author.kind === "replica" ? author.since.host : (sentAwaySince.get(id) ?? Infinity);
      if (lost.length === 0 || touched.has(id) || decided < (touchedAt.get(id) ?? 0) || !isServed(world, place)) return undefined;
      const source = sourceOf(before);
      if (isAnothers(world, place, source)) return undefined;
      // By an answer that was false, copies of slices count as being there.
      if (isReplaced(mode, now, world) || (mode === "both" && author.kind !== "replica")) return undefined;
      // A mirror can be so late that copies of slices have taken the place of what it was sent away for.
      if (author.kind !== "replica" && isReplaced(world.generation.backends, now, world)) return undefined;
      // What a mirror made of an earlier life of the Endpoints goes with that: the host has deleted them.
      const since = author.kind === "replica" ? author.since.host : Number(before.metadata.resourceVersion);
      const said = saidSince(place, since, source);
      const told = toldByTenant(world, write);
      const wrong = lost.filter((text) => said.has(text) && told?.has(text) !== false);
      return wrong.length === 0
        ? undefined
        : `readers of ${id} lose ${wrong.join(", ")} because of ${author.kind} ${formatKey(parseKey(write.key))}`;
    },
  };
}

/**
 * With both kinds, the slices of the tenant are what its readers see: where they have copies, Endpoints that say more are told of no longer. With
 * slices alone there are no Endpoints.
 */
function isReplaced(mode: BackendsMode | undefined, beside: readonly KubeObject[], world: World): boolean {
  if (mode === "slices") return true;
  return mode === "both" && beside.some((slice) => isCopy(world, slice) !== undefined);
}

function skipsMirror(object: KubeObject | undefined): boolean {
  return object?.metadata.labels?.[SKIP_MIRROR_LABEL] === "true";
}

/** It was made of a copy of Endpoints, or copied of what the tenant's cluster made of them: of the very slice, not of another life of its name. */
function tellsOfEndpoints(world: World, slice: KubeObject): boolean {
  const uid = isCopy(world, slice)?.uid;
  const lives = uid === undefined ? [] : world.clusters.tenant.changes(ENDPOINT_SLICES);
  const tenant = lives.findLast(({ object }) => object.metadata.uid === uid)?.object;
  const isDerived = tenant?.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] !== undefined;
  return isDerived || (madeOf(world, slice) ?? mirroredFrom(world, slice)) !== undefined;
}

function common(sets: readonly ReadonlySet<string>[]): readonly string[] {
  const [first, ...rest] = sets;
  return first === undefined ? [] : [...first].filter((text) => rest.every((set) => set.has(text)));
}

/** What one object of the host was at a revision, and every state after it. */
function statesSince(world: World, resource: typeof ENDPOINTS, id: string, since: number): readonly (KubeObject | undefined)[] {
  const changes = world.clusters.host.changes(resource).filter(({ object }) => formatKey(keyOf(object)) === id);
  const state = ({ type, object }: (typeof changes)[number]) => (type === "DELETED" ? undefined : object);
  const before = changes.findLast(({ revision }) => revision <= since);
  return [before && state(before), ...changes.filter(({ revision }) => revision > since).map(state)];
}
