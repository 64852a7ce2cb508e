/**
 * The backends that readers of slices on the host see, with `backends: auto` and with the other modes. The comparison uses the contents of
 * both servers and its own reader.
 *
 * @module
 */
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { Endpoints, KubeObject } from "../../../kube/object/types.ts";
import type { BackendsMode } from "../../../engine/config/backends-mode.ts";
import { hasReaders } from "../model/generation.ts";
import type { Oracle, Write, WritingReplica } from "../model/history.ts";
import type { World } from "../world.ts";
import { SKIP_MIRROR_LABEL } from "./equal.ts";
import { decidesBackends, isCopy, madeOf, MIRROR_MANAGER, mirroredFrom, translatorOf } from "./marks.ts";
import { isAnothers, isServed, isUnmarked, readsCopies } from "./host-service.ts";
import { isReady, readBy, readOf, slicesFrom } from "./view.ts";

/** Codes of waiting or refused objects: readers may then see other backends than they should. */
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

function slicesBeside(world: World, { namespace, name }: ObjectKey): KubeObject[] {
  return [...world.clusters.host.objects(ENDPOINT_SLICES).values()].filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
  );
}

/** Reports whether there are patches: patched addresses cannot be compared with those of the tenant. */
function isPatched(world: World): boolean {
  return world.generation.rules.some(({ patches }) => patches.length > 0);
}

/** The tenant's objects of a kind at one of its revisions. */
function tenantAt({ clusters: { tenant } }: World, resource: ResourceType, revision: number): ReadonlyMap<string, KubeObject> {
  return tenant.objects(resource, tenant.changes(resource).filter((change) => change.revision <= revision).length);
}

/**
 * If a write brings a copy of a slice to a newer version, all backends that the tenant had for the Service at that version; otherwise undefined.
 * A late host passes through the tenant's earlier states, so a backend that was missing in the tenant for a while may also be missing here.
 */
function shownByTenant(world: World, { before, after }: Write): Set<string> | undefined {
  if (isPatched(world)) return undefined;
  const [was, is] = [before, after].map((slice) => slice && isCopy(world, slice));
  const version = is?.resourceVersion ?? 0;
  if (is === undefined || (was?.source === is.source && was.resourceVersion === version)) return undefined;
  const slices = tenantAt(world, ENDPOINT_SLICES, version);
  const { namespace, labels } = slices.get(is.source)?.metadata ?? {};
  const name = labels?.["kubernetes.io/service-name"];
  if (name === undefined) return undefined;
  const beside = [...slices.values()].filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
  );
  const endpoints = tenantAt(world, ENDPOINTS, version).get(`${namespace}/${name}`);
  return new Set([...readBy(beside), ...(endpoints === undefined ? [] : readOf(endpoints as Endpoints))]);
}

/** Our copy of the Endpoints of a Service. */
function copyAt(world: World, service: ObjectKey, place: ObjectKey): Endpoints | undefined {
  const found = world.clusters.host.objects(ENDPOINTS).get(formatKey(place));
  return found !== undefined && isCopy(world, found)?.source === formatKey(service) ? (found as Endpoints) : undefined;
}

/** The backends of a Service that readers on the host get at rest, and the objects that contain them. */
export interface ReadOnHost {
  /** Our copies of the tenant's slices. */
  readonly copies: readonly KubeObject[];
  /** Our copy of the Endpoints. */
  readonly copy: Endpoints | undefined;
  /** Slices that were made from this copy, by us or by the host's mirror. */
  readonly derived: readonly KubeObject[];
  /** What all these slices show. */
  readonly seen: ReadonlySet<string>;
  /** The same, with slices of other writers that readers use too. */
  readonly read: ReadonlySet<string>;
}

/** Collects what readers of a Service get from slices on the host. */
export function readOnHost(world: World, service: ObjectKey, place: ObjectKey): ReadOnHost {
  const beside = slicesBeside(world, place);
  const copies = beside.filter((slice) => isCopy(world, slice) !== undefined);
  const source = formatKey(service);
  const copy = copyAt(world, service, place);
  // The mirror's slices count only while the Endpoints are ours. Slices that merely claim to be the mirror's never count.
  const isMirrors = ({ metadata: { name = "" } }: KubeObject) => copy !== undefined && /-m[0-9]+$/.test(name);
  const derivedFrom = (slice: KubeObject) => madeOf(world, slice) ?? (isMirrors(slice) ? mirroredFrom(world, slice) : undefined);
  const derived = beside.filter((slice) => derivedFrom(slice)?.source === source);
  // Readers also use a foreign slice that claims to be the mirror's and has the same backends, and slices of another syncer.
  const isRead = (slice: KubeObject) =>
    mirroredFrom(world, slice)?.source === source || (decidesBackends(world) && isAnotherSyncers(slice));
  const shown = [...copies, ...derived];
  return { copies, copy, derived, seen: readBy(shown), read: readBy([...shown, ...beside.filter(isRead)]) };
}

/** Reports whether a cluster has made a slice from Pods. */
function isPods({ metadata: { labels } }: KubeObject): boolean {
  const manager = labels?.["endpointslice.kubernetes.io/managed-by"];
  return manager !== undefined && manager !== MIRROR_MANAGER;
}

/** Reports whether the tenant's cluster has made the source of a copy from Pods. */
function isOfPods(world: World): (copy: KubeObject) => boolean {
  const slices = world.clusters.tenant.objects(ENDPOINT_SLICES);
  return (copy) => {
    const source = slices.get(isCopy(world, copy)!.source);
    return source !== undefined && isPods(source);
  };
}

/**
 * L7: at rest, readers of each Service see exactly the content of its copies; slices of other writers do not count. In the modes that do
 * not decide backends per Service, this is checked only while the mirror works, and a copy that switches the mirror off does not count.
 */
export function checkReaders(world: World): { readonly oracle: string; readonly message: string } | undefined {
  const { setting } = world.options;
  const decides = decidesBackends(world);
  if (!hasReaders(setting) || (!decides && (!world.mirroring || world.generation.backends === "slices"))) return undefined;
  for (const service of world.options.names) {
    const place = translatorOf(world).toHost(service, SERVICES);
    if (place === undefined || !isServed(world, place) || isExcused(world, service)) continue;
    const { copies, copy, derived, seen, read } = readOnHost(world, service, place);
    // In modes without a decision per Service, copies of slices replace the Endpoints next to them; otherwise, slices of Pods can.
    const isReplaced = copy !== undefined && skipsMirror(copy) && (decides ? derived.length === 0 && copies.some(isOfPods(world)) : true);
    const wanted = readBy([...copies, ...(copy === undefined || isReplaced ? [] : slicesFrom(copy))]);
    const missing = [...wanted].filter((text) => !read.has(text) && !read.has(text.replace(/[~!]$/, "")));
    const surplus = [...seen].filter((text) => !wanted.has(text));
    const what = `readers of ${formatKey(service)}`;
    if (missing.length > 0) return { oracle: "L7", message: `${what} miss ${missing.join(", ")}` };
    if (surplus.length > 0) return { oracle: "L7", message: `${what} see ${surplus.join(", ")}, which no copy contains` };
    const twice =
      copy !== undefined && derived.some((slice) => madeOf(world, slice)) && derived.some((slice) => mirroredFrom(world, slice));
    if (twice) return { oracle: "L7", message: `${what} get slices from the mirror and from the syncer` };
    const left = world.mirroring ? [] : derived.filter((slice) => copy === undefined && mirroredFrom(world, slice) === undefined);
    if (left.length > 0) return { oracle: "L7", message: `${what} get slices of Endpoints that have no copy` };
  }
  return undefined;
}

/** Reports whether a syncer has marked the slice, and no slice controller manages it. */
function isAnotherSyncers({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean {
  const isMarked = Object.keys(annotations).some((key) => key.endsWith("/object-name"));
  return isMarked && labels["endpointslice.kubernetes.io/managed-by"] === undefined;
}

/** Reports whether a replica has a note that the Service, or one of its slices, is waiting or refused. */
export function isExcused(world: World, service: ObjectKey): boolean {
  const slices = [...world.clusters.tenant.objects(ENDPOINT_SLICES).values()].filter(
    ({ metadata }) => metadata.namespace === service.namespace && metadata.labels?.["kubernetes.io/service-name"] === service.name,
  );
  // Slices that a mirror made from Endpoints are covered by the Endpoints, and slices of Pods have no copies beside Endpoints.
  const managerOf = ({ metadata }: KubeObject) => metadata.labels?.["endpointslice.kubernetes.io/managed-by"];
  const copied = slices.filter((slice) => managerOf(slice) !== MIRROR_MANAGER);
  const isExcuse = (code: string, slice?: KubeObject) =>
    EXCUSES.includes(code) && !(code === "EXCLUDED" && slice !== undefined && managerOf(slice) !== undefined);
  return world.replicas.some(
    (replica) =>
      replica.notes(ENDPOINTS.plural, service).some((code) => isExcuse(code)) ||
      copied.some((slice) => replica.notes(ENDPOINT_SLICES.plural, keyOf(slice)).some((code) => isExcuse(code, slice))),
  );
}

/**
 * S15: readers never lose a backend that a copy of Endpoints, or a slice of the tenant, has contained without a gap since the reconcile
 * began: neither through a write of a replica, nor because a replica has switched the mirror off.
 */
export function readers(world: World): Oracle {
  /** Host Services whose slices others have written: readers there see not only our work until the configuration changes. */
  const touched = new Set<string>();
  /** The host's revision of the last such write. What a replica decided before it saw that write does not count, however late it lands. */
  const touchedAt = new Map<string, number>();
  /** Slices that others have written since a replica did. A backend that only they added is no loss, also after `touched` is cleared. */
  const editedSlices = new Set<string>();
  /** The reconcile of a replica that switched the mirror off for a copy. */
  const sentAway = new Map<string, WritingReplica>();
  /**
   * Copies for which a replica switched the mirror off by a configuration that had already been replaced: another replica may have removed the
   * made slices by the new one. Leader election rules out two that act at once, and such a write is undone as soon as it is seen.
   */
  const sentAwayLate = new Set<string>();

  /**
   * What replicas have removed from slices of a host Service, and when. Two that act at once can each remove what the other one has just read live;
   * leader election rules that out.
   */
  const removals: (Removal & { readonly before: KubeObject; readonly texts: readonly string[] })[] = [];

  function placeOf({ plural, before, after }: Write): ObjectKey | undefined {
    const { namespace = "", name = "", labels = {} } = (after ?? before!).metadata;
    if (plural === ENDPOINTS.plural || plural === SERVICES.plural) return { namespace, name };
    const service = labels["kubernetes.io/service-name"] ?? before?.metadata.labels?.["kubernetes.io/service-name"];
    return plural === ENDPOINT_SLICES.plural && service !== undefined ? { namespace, name: service } : undefined;
  }

  /** The backends that a copy of Endpoints has contained without a gap since a revision of the host. */
  function saidSince(place: ObjectKey, since: number, source: string | undefined): Set<string> {
    const said = new Set<string>();
    const endpoints = statesSince(world, ENDPOINTS, formatKey(place), since);
    if (endpoints.every((state) => state !== undefined && isCopy(world, state)?.source === source))
      for (const text of common(endpoints.map((state) => readOf(state as Endpoints)))) said.add(text);
    return said;
  }

  /** The tenant's Endpoints whose backends a slice contains. */
  function sourceOf(slice: KubeObject): string | undefined {
    return (madeOf(world, slice) ?? mirroredFrom(world, slice))?.source ?? copiedService(slice);
  }

  /** The Service of a copied slice, whose Endpoints have the same name. The slice itself can be gone. */
  function copiedService(slice: KubeObject): string | undefined {
    const tenant = sliceOfCopy(world, slice);
    return tenant && `${tenant.metadata.namespace}/${tenant.metadata.labels?.["kubernetes.io/service-name"]}`;
  }

  /**
   * The backends that slices of Pods, which can replace Endpoints, have contained in every state that their copies may pass through: from the
   * oldest copy until now. States without such slices do not count, since Endpoints are the source again. Who deletes other slices in favor of the
   * copies relies on the latest state. Undefined if there is no such copy.
   */
  function ofPodsSince(service: string | undefined, copies: readonly KubeObject[], isLatest: boolean): Set<string> | undefined {
    const lives = world.clusters.tenant.changes(ENDPOINT_SLICES);
    const versions = copies.flatMap((copy) => {
      const { uid, resourceVersion = 0 } = isCopy(world, copy) ?? {};
      return lives.some(({ object }) => object.metadata.uid === uid && isPods(object)) ? [resourceVersion] : [];
    });
    if (versions.length === 0) return undefined;
    if (isLatest) return readBy(tenantSlices(service, Infinity).filter(isPods));
    const since = Math.min(...versions);
    const states = lives.flatMap(({ revision }) => (revision < since ? [] : [tenantSlices(service, revision).filter(isPods)]));
    const shown = states.flatMap((slices) => (slices.length === 0 ? [] : [readBy(slices)]));
    return shown.length === 0 ? undefined : new Set(common(shown));
  }

  /**
   * A copy goes with its slice. Returns what the tenant has contained for the Service in every state since then, in other slices and in
   * Endpoints, because the tenant's own readers have lost the rest. With `both`, slices are copied one by one, and a copy does not wait for
   * that of another slice. Undefined for all other writes.
   */
  function leftInTenant(service: string | undefined, { before, after }: Write, mode: BackendsMode | undefined): Set<string> | undefined {
    const uid = after === undefined && before !== undefined ? isCopy(world, before)?.uid : undefined;
    const lives = world.clusters.tenant.changes(ENDPOINT_SLICES);
    const end = lives.find(({ type, object }) => type === "DELETED" && object.metadata.uid === uid)?.revision;
    if (end === undefined || service === undefined) return undefined;
    if (mode === "both") return new Set();
    if (isPatched(world)) return undefined;
    const later = [...lives, ...world.clusters.tenant.changes(ENDPOINTS)].filter(({ revision }) => revision >= end);
    const shown = later.map(({ revision }) => {
      const endpoints = tenantAt(world, ENDPOINTS, revision).get(service);
      return new Set([...readBy(tenantSlices(service, revision)), ...(endpoints === undefined ? [] : readOf(endpoints as Endpoints))]);
    });
    return new Set(common(shown));
  }

  /** The tenant's slices of a Service at one of its revisions. */
  function tenantSlices(service: string | undefined, revision: number): readonly KubeObject[] {
    return [...tenantAt(world, ENDPOINT_SLICES, revision).values()].filter(
      ({ metadata: { namespace, labels = {} } }) => `${namespace}/${labels["kubernetes.io/service-name"]}` === service,
    );
  }

  return {
    name: "S15",
    noticed(event) {
      // Not when the tenant is emptied: requests in transit still arrive.
      if (event === "configuration" || event === "backends") touched.clear();
    },
    saw(write) {
      const { author, side, plural, before, after } = write;
      const place = hasReaders(world.options.setting) && side === "host" ? placeOf(write) : undefined;
      if (place === undefined) return undefined;
      const id = formatKey(place);
      const copy = world.clusters.host.objects(ENDPOINTS).get(id);
      const byMirror = author.kind === "host" && world.mirrorWrites && skipsMirror(copy);
      const isEdited = plural === ENDPOINT_SLICES.plural && editedSlices.delete(write.key);
      if (author.kind !== "replica" && !byMirror) {
        // The host's changes to copies of Endpoints count like changes in the tenant.
        if (plural === ENDPOINT_SLICES.plural && !world.mirrorWrites) {
          touched.add(id);
          editedSlices.add(write.key);
          touchedAt.set(id, world.clusters.host.changes(ENDPOINT_SLICES).at(-1)!.revision);
        }
        return undefined;
      }
      if (author.kind === "replica" && plural === ENDPOINTS.plural && skipsMirror(after) && !skipsMirror(before)) {
        sentAway.set(id, author);
        if (author.generation === world.generation) sentAwayLate.delete(id);
        else sentAwayLate.add(id);
      }
      if (plural !== ENDPOINT_SLICES.plural || isEdited || before === undefined || !derivesFromEndpoints(world, before)) return undefined;
      const now = slicesBeside(world, place);
      const seen = readBy(now);
      const lost = [...readBy([...now.filter(({ metadata }) => metadata.name !== before.metadata.name), before])].filter(
        (text) => !seen.has(text) && isReady(text),
      );
      const actor = author.kind === "replica" ? author : sentAway.get(id);
      const crossing = actor === undefined ? [] : removals.filter((one) => isCrossing(one, id, actor));
      if (actor !== undefined) {
        const left = write.after === undefined ? undefined : readBy([write.after]);
        const texts = [...readBy([before])].filter((text) => left?.has(text) !== true);
        removals.push({ id, index: actor.index, revision: world.clusters.host.revision, before, texts });
      }
      const mode = (actor ?? world).generation.backends;
      const decided = actor?.since.host ?? Infinity;
      if (byMirror && sentAwayLate.has(id)) return undefined;
      if (lost.length === 0 || touched.has(id) || decided < (touchedAt.get(id) ?? 0) || !isServed(world, place)) return undefined;
      // A Service can get its first readers of copies after the reconcile began: nothing can reserve its absence or its selector.
      const services = statesSince(world, SERVICES, id, author.kind === "replica" ? author.since.host : Infinity);
      const source = sourceOf(before);
      if (!services.every(readsCopies) || isAnothers(world, place, source)) return undefined;
      // Beside the Service of another owner, Endpoints stay as they are, and copies of slices that the setting no longer copies go.
      if (after === undefined && isCopy(world, before) !== undefined && isUnmarked(world, place)) return undefined;
      // After a false response, copies of slices count as present.
      if (isReplaced(mode, now, world) || (mode === "both" && author.kind !== "replica")) return undefined;
      // If the mirror reacts late, copies of slices may already have replaced the made slices for which it was switched off.
      if (author.kind !== "replica" && isReplaced(world.generation.backends, now, world)) return undefined;
      // Slices that the mirror made from deleted Endpoints go with these, even if Endpoints with the same name exist now.
      const since = author.kind === "replica" ? author.since.host : Number(before.metadata.resourceVersion);
      const said = saidSince(place, since, source);
      const shown = shownByTenant(world, write);
      const isLatest = author.kind === "replica" && isCopy(world, before) === undefined;
      const ofPods = mode === "auto" ? ofPodsSince(source, [...now, before, ...crossing.map((one) => one.before)], isLatest) : undefined;
      const left = leftInTenant(source, write, mode);
      if (goesUnseen(world, write, source, now)) return undefined;
      const isRemoved = (text: string) => crossing.some(({ texts }) => texts.includes(text));
      const wrong = lost.filter((text) => !isRemoved(text) && [said, shown, ofPods, left].every((texts) => texts?.has(text) !== false));
      return wrong.length === 0
        ? undefined
        : `readers of ${id} lose ${wrong.join(", ")} because of ${author.kind} ${formatKey(parseKey(write.key))}`;
    },
  };
}

/** A write of a replica that removed something from slices of a host Service, and the host's revision after it. */
interface Removal {
  readonly id: string;
  readonly index: number;
  readonly revision: number;
}

/** Reports whether another replica has removed something from slices of a host Service since a reconcile began. */
function isCrossing(one: Removal, id: string, { index, since }: WritingReplica): boolean {
  return one.id === id && one.index !== index && one.revision > since.host;
}

/**
 * Reports whether copies of slices replace Endpoints for readers. With `both`, they do as soon as there is one, even if the Endpoints contain
 * more backends. With `slices`, there are no Endpoints.
 */
function isReplaced(mode: BackendsMode | undefined, beside: readonly KubeObject[], world: World): boolean {
  if (mode === "slices") return true;
  return mode === "both" && beside.some((slice) => isCopy(world, slice) !== undefined);
}

/** Reports whether the copy of a slice that is gone goes beside paused Endpoints, from whose copy nothing was made. */
function goesUnseen(world: World, { before, after }: Write, source: string | undefined, beside: readonly KubeObject[]): boolean {
  const { tenant } = world.clusters;
  const { annotations } = tenant.objects(ENDPOINTS).get(source ?? "")?.metadata ?? {};
  const uid = after === undefined ? isCopy(world, before!)?.uid : undefined;
  const stands = [...tenant.objects(ENDPOINT_SLICES).values()].some(({ metadata }) => metadata.uid === uid);
  if (annotations?.[`${translatorOf(world).markerPrefix}pause`] !== "true" || uid === undefined || stands) return false;
  return beside.every((slice) => (madeOf(world, slice) ?? mirroredFrom(world, slice)) === undefined);
}

function skipsMirror(object: KubeObject | undefined): boolean {
  return object?.metadata.labels?.[SKIP_MIRROR_LABEL] === "true";
}

/** The last state of the tenant's slice of which an object is a copy. */
function sliceOfCopy(world: World, object: KubeObject): KubeObject | undefined {
  const uid = isCopy(world, object)?.uid;
  const lives = uid === undefined ? [] : world.clusters.tenant.changes(ENDPOINT_SLICES);
  return lives.findLast((life) => life.object.metadata.uid === uid)?.object;
}

/** Reports whether a slice was made from a copy of Endpoints, or is the copy of a slice that the tenant's cluster made from Endpoints. */
function derivesFromEndpoints(world: World, slice: KubeObject): boolean {
  const isDerived = sliceOfCopy(world, slice)?.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] !== undefined;
  return isDerived || (madeOf(world, slice) ?? mirroredFrom(world, slice)) !== undefined;
}

function common(sets: readonly ReadonlySet<string>[]): readonly string[] {
  const [first, ...rest] = sets;
  return first === undefined ? [] : [...first].filter((text) => rest.every((set) => set.has(text)));
}

/** The state of a host object at a revision, and all its later states. */
function statesSince(world: World, resource: typeof ENDPOINTS, id: string, since: number): readonly (KubeObject | undefined)[] {
  const changes = world.clusters.host.changes(resource).filter(({ object }) => formatKey(keyOf(object)) === id);
  const state = ({ type, object }: (typeof changes)[number]) => (type === "DELETED" ? undefined : object);
  const before = changes.findLast(({ revision }) => revision <= since);
  return [before && state(before), ...changes.filter(({ revision }) => revision > since).map(state)];
}
