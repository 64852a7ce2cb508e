/**
 * Decides, for each Service, from which objects readers get its backends, with `backends: auto`. The decision has its own key in the queue,
 * next to the objects of the Service. It uses the known state of all these objects, enqueues those that have to change, and writes the
 * slices that are made from a copy of Endpoints.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { finish } from "../../../base/finish.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { formatKey, sameKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import { KeyMap } from "../../../kube/runtime/informer/object-cache.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Endpoints, EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { controllerOf, MIRROR, serviceOfSlice, SKIP_MIRROR } from "../../kinds/slice-labels.ts";
import { decideCopy } from "../../reconcile/predicate/should-copy.ts";
import { createMachine } from "../../reconcile/machine.ts";
import { writtenKey } from "../../reconcile/plan-types.ts";
import type { Note } from "../../reconcile/plan-types.ts";
import type { Rules, ServedBackends } from "../../reconcile/rules/rules.ts";
import { ourMarkers } from "../../translate/identity.ts";
import type { WriteLimiter } from "../guards/write-limiter.ts";
import type { EventHandlers } from "../run/event-handlers.ts";
import type { BackendsObserver, PlannedObject } from "../run/gather.ts";
import { beginReconcile, createNoticeReconcile } from "../run/reconcile.ts";
import type { ReconcileRun, SyncHooks, Tracked } from "../run/reconcile.ts";
import { BACKENDS, syncId } from "../state/sync-id.ts";
import { EVENT_SILENCE_MS } from "../report/events.ts";
import { aroundOf, collectBackends } from "./collect-backends.ts";
import type { CollectedBackends, KnownBackends } from "./collect-backends.ts";
import { awaitsOthers } from "./moved-endpoints.ts";
import type { CopiedSlice } from "./moved-endpoints.ts";
import { decideBackends } from "./decide-backends.ts";
import type { BackendsDecision } from "./decide-backends.ts";
import {
  editNote,
  followsCopy,
  isSameCopy,
  lacksCopy,
  lacksOthers,
  newService,
  nextWaitMs,
  noteLook,
  sendsMirrorAway,
  skipsMirror,
  tellRefusal,
  undoneEdits,
  wasOver,
  withUnseen,
} from "./remembered-service.ts";
import type { RememberedService } from "./remembered-service.ts";
import { madeSlicesStrategy, planMadeSlices } from "./plan-made-slices.ts";
import type { MadeWrites } from "./plan-made-slices.ts";
import { standInsFor, standInsOf } from "./stand-ins.ts";
import { createUnpatchedSlices } from "./unpatched-slices.ts";
import type { UnpatchedSlices } from "./unpatched-slices.ts";

/** A mirror has so long to make slices of a copy, in milliseconds; where none works, that is known from then on. */
const MIRROR_WAIT_MS = 3_000;
/** What takes the place of something may take so long to be seen, in milliseconds: then that goes nevertheless. */
const RELEASE_WAIT_MS = 5_000;

/** After so many outdated reconciles in a row the caches are listed again. */
const CONTRADICTIONS_MIN = 4;

/** See the module comment. */
export interface ServiceBackends extends BackendsObserver {
  /** Begins a reconcile of the unit of one Service. */
  begin(service: ObjectKey, logger: Logger): ReconcileRun;
}

/** What the units work with. */
export interface ServiceBackendsOptions {
  readonly tracked: readonly Tracked[];
  readonly router: EventHandlers;
  readonly writeLimiter: WriteLimiter;
  readonly hooks: SyncHooks;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** A slice of the host as its cache has it. */
  shown(hostKey: ObjectKey): KubeObject | undefined;
  /** Services of either side, as they are known now. */
  service(side: "tenant" | "host", key: ObjectKey): KubeObject | undefined;
  enqueue(id: string): void;
}

/** Creates the decisions about Services; there are none at first. */
export function createServiceBackends(options: ServiceBackendsOptions): ServiceBackends {
  return new DecidedBackends(options);
}

class DecidedBackends implements ServiceBackends {
  readonly #options: ServiceBackendsOptions;
  readonly #known = new KeyMap<RememberedService>();
  readonly #slices: Tracked;
  readonly #endpoints: Tracked;
  readonly #unpatched: UnpatchedSlices;
  /** The host's mirror had its time for some copy, and has made nothing of it. */
  #mirrorRests = false;

  constructor(options: ServiceBackendsOptions) {
    this.#options = options;
    const side = (resource: ResourceType) => options.tracked.find(({ rules }) => rules.kind.resource === resource)!;
    this.#slices = side(ENDPOINT_SLICES);
    this.#endpoints = side(ENDPOINTS);
    this.#unpatched = createUnpatchedSlices(this.#endpoints, this.#slices, options.router.slices!.of);
  }

  around(id: string, { kind }: Rules, { key, tenant, host }: PlannedObject): ServedBackends | undefined {
    if (kind.resource === SERVICES) return undefined;
    const isSlice = kind.resource === ENDPOINT_SLICES;
    const service = isSlice ? this.#serviceOf(tenant, host) : key;
    if (service === undefined) return undefined;
    const writer = tenant && isSlice ? kind.writerOf(tenant) : undefined;
    const sourceBy = ({ copiesDerived }: BackendsDecision) => writer === undefined || (copiesDerived && writer !== MIRROR);
    let known = this.#decide(service);
    // Nothing goes by what was decided before the last change, and no copy sends the host's mirror away by that.
    if (host !== undefined && (tenant === undefined || !sourceBy(known.decision) || sendsMirrorAway(known, host)))
      known = this.#decideAgain(service, known);
    const { decision } = known;
    const isSource = sourceBy(decision);
    const released = isSlice ? decision.releasesSlices : decision.releasesCopy;
    const isKept = writer === MIRROR && decision.keepsMirrored === true;
    // While the mirror has its time, what it is about to show is waited for.
    const mayGo = !isKept && (released || (known.mirrorBehindSince === undefined && wasOver(known, known.heldSince, RELEASE_WAIT_MS)));
    if (mayGo || isKept || host === undefined || (tenant !== undefined && isSource)) known.held.delete(id);
    else this.#hold(service, known, id);
    const awaitsMove = isSlice && isSource && this.#awaitsMove(service, known, { id, key, tenant, host });
    const isReplaced = host !== undefined && ((mayGo && released && (tenant === undefined || !isSource)) || sendsMirrorAway(known, host));
    return {
      ...(isReplaced && { standIns: standInsFor({ key, tenant, host }, this.#collect(service, known.made), decision.teller) }),
      isSource,
      isKept,
      mayGo: (mayGo || host === undefined) && !awaitsMove,
      awaitsMove,
      // While slices that were made are there, the label goes on telling the next process that some may be left.
      skipMirror: skipsMirror(known, host)
        ? "true"
        : known.hasMade && host?.metadata.labels?.[SKIP_MIRROR] === "false"
          ? "false"
          : undefined,
    };
  }

  /** Its copy would lose what copies of other slices of the Service do not show yet. */
  #awaitsMove(service: ObjectKey, known: RememberedService, { id, key, tenant, host }: PlannedObject & { readonly id: string }): boolean {
    const slice = { tenant, host } as CopiedSlice;
    const { moving } = known;
    if (host === undefined || host.metadata.deletionTimestamp || !awaitsOthers(slice, () => this.#besideSlice(service, key))) {
      moving.delete(id);
      return false;
    }
    const since = moving.get(id) ?? this.#options.clock.monotonic();
    if (!moving.has(id)) this.#options.enqueue(syncId(BACKENDS, service));
    moving.set(id, since);
    return !wasOver(known, since, RELEASE_WAIT_MS);
  }

  /** The other slices of the tenant that are copied, as the host shows their copies. */
  *#besideSlice(service: ObjectKey, key: ObjectKey): Generator<CopiedSlice> {
    const { rules, tenant } = this.#slices;
    const around = aroundOf(this.#servicesOf(service));
    const { copiesDerived } = this.#decide(service).decision;
    for (const other of this.#options.router.slices!.of(service)) {
      const slice = sameKey(other, key) ? undefined : (tenant.get(other) as EndpointSlice | undefined);
      const place = slice && rules.translator.toHost(other, ENDPOINT_SLICES);
      if (slice === undefined || place === undefined) continue;
      const controller = controllerOf(slice);
      if (controller !== undefined && (controller === MIRROR || !copiesDerived)) continue;
      if (decideCopy(rules, other, slice, around).action !== "copy") continue;
      yield { tenant: slice, host: this.#options.shown(place) as EndpointSlice | undefined };
    }
  }

  /** The tenant Service that a slice or its copy belongs to. */
  #serviceOf(tenant: KubeObject | undefined, host: KubeObject | undefined): ObjectKey | undefined {
    if (tenant !== undefined) return serviceOfSlice(tenant);
    const hostService = host && serviceOfSlice(host);
    if (hostService === undefined) return undefined;
    const source = ourMarkers(this.#slices.rules, host!, ENDPOINT_SLICES);
    return this.#options.router.backends!.servicesAt(hostService).find(({ namespace }) => namespace === source?.namespace);
  }

  #hold(service: ObjectKey, known: RememberedService, id: string): void {
    known.held.add(id);
    // What was released for a moment only is held from now on.
    if (known.heldSince !== undefined) return;
    known.heldSince = this.#options.clock.monotonic();
    this.#options.enqueue(syncId(BACKENDS, service));
  }

  /** The last decision; the first one is made at once, so that nothing is planned without one. */
  #decide(service: ObjectKey): RememberedService {
    return this.#known.get(service) ?? this.#look(service).known;
  }

  #decideAgain(service: ObjectKey, known: RememberedService): RememberedService {
    if (known.version === this.#version(service)) return known;
    // What begins to wait now is waited for by the unit.
    this.#options.enqueue(syncId(BACKENDS, service));
    return this.#lookAndTell(service).known;
  }

  #look(service: ObjectKey): { readonly known: RememberedService; readonly collected: CollectedBackends } {
    const before = this.#known.get(service);
    const version = this.#version(service);
    const collected = this.#collect(service, before?.made ?? new Map());
    const { seen } = collected;
    const now = this.#options.clock.monotonic();
    const isOver = (since: number | undefined, ms: number) => since !== undefined && now - since >= ms;
    const since = before?.mirrorBehindSince;
    const mirrorWaited = this.#mirrorRests || isOver(since, MIRROR_WAIT_MS);
    const othersBehindSince = lacksOthers(collected) ? (before?.othersBehindSince ?? now) : undefined;
    const copylessSince = lacksCopy(collected) ? (before?.copylessSince ?? now) : undefined;
    const copyWaited = isOver(copylessSince, RELEASE_WAIT_MS);
    const decision = decideBackends({ ...seen, mirrorWaited, copyWaited, othersWaited: isOver(othersBehindSince, MIRROR_WAIT_MS) });
    const known = before ?? newService(version, decision);
    // What has only just come, or only now begins to be made, has its own time to be seen.
    const begins = (!known.hasCopy && collected.copy !== undefined) || (decision.makes && !known.decision.makes);
    if (known.heldSince !== undefined && begins) known.heldSince = now;
    noteLook(known, collected, { decision, version, lookedAt: now, copylessSince, othersBehindSince });
    if (seen.mirror === "equal" && collected.copy !== undefined) this.#mirrorRests = false;
    // Slices that have begun to be made say that the mirror had its time, whatever it does now.
    if (decision.teller === "made" && isOver(since, MIRROR_WAIT_MS) && seen.mirror === "none") this.#mirrorRests = true;
    known.mirrorBehindSince = decision.waitsForMirror ? (since ?? now) : undefined;
    if (before === undefined) this.#known.set(service, known);
    return { known, collected };
  }

  /** Another one after each change. What this process writes to the copy is known before the cluster tells of it. */
  #version(service: ObjectKey): string {
    return `${this.#options.router.backends!.version(service)} ${this.#atHost(service)?.metadata.resourceVersion}`;
  }

  #collect(service: ObjectKey, made: ReadonlyMap<string, ObjectKey>): CollectedBackends {
    const { router } = this.#options;
    const { rules } = this.#endpoints;
    const hostKey = rules.translator.toHost(service, ENDPOINTS);
    const hostService = rules.translator.toHost(service, SERVICES);
    return collectBackends({
      ...{ service, hostKey, hostService },
      endpoints: { rules, tenant: this.#endpoints.tenant.get(service) as Endpoints | undefined, host: this.#atHost(service) },
      slices: this.#slices,
      tenantSlices: router.slices!.of(service),
      hostSlices: withUnseen(router.backends!.of(service), made),
      shown: (place) => this.#options.shown(place),
      isClaimed: (place) => router.isClaimed(this.#slices.rules, place),
      services: this.#servicesOf(service),
    });
  }

  #servicesOf(service: ObjectKey): KnownBackends["services"] {
    const { rules } = this.#endpoints;
    const hostService = rules.translator.toHost(service, SERVICES);
    return {
      tenant: this.#options.service("tenant", service),
      host: hostService && this.#options.service("host", hostService),
      ownsHost: hostService && rules.services === "external" ? this.#options.hooks.ownsHostService?.(hostService) : undefined,
    };
  }

  #atHost(service: ObjectKey): KubeObject | undefined {
    const hostKey = this.#endpoints.rules.translator.toHost(service, ENDPOINTS);
    return hostKey && this.#endpoints.host.get(hostKey);
  }

  begin(service: ObjectKey, logger: Logger): ReconcileRun {
    const { hooks, metrics, router, writeLimiter } = this.#options;
    this.#unpatched.look(service, logger, () => aroundOf(this.#servicesOf(service)));
    if (this.#isSimple(service)) return createNoticeReconcile({ resource: ENDPOINT_SLICES });
    const { known, collected } = this.#lookAndTell(service);
    const writes = this.#plan(known, collected);
    if (writes.operations.length === 0) {
      Object.assign(known, { outdatedTimes: 0, refusal: undefined });
      if (followsCopy(known, collected)) router.backends!.rests(service);
      return createNoticeReconcile({ resource: ENDPOINT_SLICES, requeueAfterMs: this.#againInMs(service, known, 0) });
    }
    // The version of the tenant's Endpoints that the copy has, and what was made of it should have: both share what they write unasked.
    const version = (collected.copy && ourMarkers(this.#endpoints.rules, collected.copy, ENDPOINTS)?.resourceVersion) ?? "";
    const shared = syncId(ENDPOINTS.plural, service);
    const { writeWaitMs } = writeLimiter.restraint(shared, version, "made");
    const operations = writeWaitMs > 0 ? [] : writes.operations;
    const undone = this.#undone(service, known, undoneEdits(this.#slices.rules, known, collected, operations));
    const isStill = (found: KubeObject | undefined) => isSameCopy(collected.copy, found, this.#endpoints.rules, service);
    const reconcile = beginReconcile({
      ...{ id: syncId(BACKENDS, service), hooks, logger, metrics, resource: ENDPOINT_SLICES },
      machine: createMachine(madeSlicesStrategy({ reader: undone?.object, isStill })),
      start: { input: { ...writes, operations, notes: undone?.notes ?? [] }, outdatedTimes: known.outdatedTimes },
      known: { host: this.#slices.host },
      observer: {
        answered: (operation, response) => {
          const key = writtenKey(operation);
          if (response.type === "refused") tellRefusal(logger, known, { slice: formatKey(key), ...response.note });
          if (response.type === "absent") known.made.delete(formatKey(key));
          if (response.type !== "object") return;
          known.made.set(formatKey(key), key);
          router.backends!.expect(key, service);
        },
        ended: (ending, { index }) => {
          if (ending.result === "outdated") this.#contradicted(known, writtenKey(operations[index]!), collected.hostKey);
          if (ending.result !== "settled" || index < operations.length) return undefined;
          known.outdatedTimes = 0;
          if (writes.operations.length === index) known.refusal = undefined;
          if (index > 0) writeLimiter.wrote(shared, version, "made");
          if (writeWaitMs > 0) writeLimiter.held(shared, "made");
          return this.#againInMs(service, known, writeWaitMs);
        },
      },
    });
    return finish(reconcile);
  }

  /** What to tell people of edits that are undone: once, however often they come, until there was none for a while. */
  #undone(service: ObjectKey, known: RememberedService, edits: readonly ObjectKey[]) {
    if (edits.length === 0) return undefined;
    const now = this.#options.clock.monotonic();
    const isNews = known.editedAt === undefined || now - known.editedAt >= EVENT_SILENCE_MS;
    known.editedAt = now;
    const object = this.#options.service("tenant", service) ?? this.#endpoints.tenant.get(service);
    return isNews && object !== undefined ? { object, notes: [editNote(edits)] as readonly Note[] } : undefined;
  }

  /** Slices alone: each is copied for itself, however many there are, and nothing has to be decided before one goes. */
  #isSimple(service: ObjectKey): boolean {
    const known = this.#known.get(service);
    if (known !== undefined && (known.held.size > 0 || known.moving.size > 0 || known.made.size > 0)) return false;
    const hasEndpoints = this.#endpoints.tenant.get(service) !== undefined || this.#atHost(service) !== undefined;
    const isSimple = !hasEndpoints && !this.#options.router.backends!.hasMade(service);
    return isSimple && known?.decision.copiesDerived !== false;
  }

  /** A cache that lags catches up within moments; one that still says otherwise has missed something. */
  #contradicted(known: RememberedService, key: ObjectKey, hostKey: ObjectKey | undefined): void {
    known.outdatedTimes += 1;
    if (known.outdatedTimes < CONTRADICTIONS_MIN) return;
    this.#slices.host.doubt(key);
    if (hostKey !== undefined) this.#endpoints.host.doubt(hostKey);
  }

  /** Decides again, and brings back what has something to do then. */
  #lookAndTell(service: ObjectKey): { readonly known: RememberedService; readonly collected: CollectedBackends } {
    const { decision: before, hasMade = false, hasCopy = false } = this.#known.get(service) ?? {};
    const looked = this.#look(service);
    const { known, collected } = looked;
    const { decision } = known;
    const { enqueue, router } = this.#options;
    const isChanged = (...names: readonly (keyof BackendsDecision)[]) => names.some((name) => before?.[name] !== decision[name]);
    // The decision was made before the copy came, so that the decision itself has not changed.
    const isNewlySeen = !hasCopy && collected.copy !== undefined && sendsMirrorAway(known, collected.copy);
    const released = decision.releasesSlices && decision.releasesCopy;
    if (isChanged("skipsMirror") || isNewlySeen || (hasMade && !known.hasMade)) enqueue(syncId(ENDPOINTS.plural, service));
    if (isChanged("copiesDerived", "releasesSlices", "keepsMirrored"))
      for (const slice of router.slices!.of(service)) enqueue(syncId(ENDPOINT_SLICES.plural, slice));
    if (released || wasOver(known, known.heldSince, RELEASE_WAIT_MS)) for (const id of known.held) enqueue(id);
    for (const id of known.moving.keys()) enqueue(id);
    if (released || known.held.size === 0) known.heldSince = undefined;
    return looked;
  }

  #plan(known: RememberedService, collected: CollectedBackends): MadeWrites {
    const { decision } = known;
    const { rules } = this.#slices;
    const { copy, made, mirrored, hostKey } = collected;
    const now = this.#options.clock.monotonic();
    const owes = decision.dropsMirrored || (copy !== undefined && collected.seen.mirror === "behind");
    known.mirrorOwesSince = owes ? (known.mirrorOwesSince ?? now) : undefined;
    // What readers see does not follow an edit that the tenant has not made: what was made waits until there is none.
    const waits = collected.seen.made === "behind" && collected.isEdited();
    const makes = decision.makes && copy !== undefined && !waits;
    return planMadeSlices({
      rules,
      made,
      desired: makes ? collected.desired() : decision.dropsMade ? [] : made,
      shown: !makes || collected.seen.madeShown,
      left: decision.dropsMirrored && now - known.mirrorOwesSince! >= MIRROR_WAIT_MS ? mirrored : [],
      confirms: hostKey && { key: hostKey, copy },
      // What was made of a copy that is gone goes with it.
      standIns: () => (copy === undefined ? [] : standInsOf(collected, decision.teller)),
      madeBefore: known.made,
    });
  }

  #againInMs(service: ObjectKey, known: RememberedService, writeWaitMs: number): number | undefined {
    const times = { mirrorMs: MIRROR_WAIT_MS, releaseMs: RELEASE_WAIT_MS, writeMs: writeWaitMs };
    const waitMs = nextWaitMs(known, this.#options.clock.monotonic(), times);
    if (waitMs !== undefined) return waitMs;
    this.#forgetRested(service, known);
    return this.#options.writeLimiter.rests(syncId(ENDPOINTS.plural, service), "made");
  }

  /** Nothing of the Service is left that a later look would have to know of. */
  #forgetRested(service: ObjectKey, known: RememberedService): void {
    const isGone = this.#endpoints.tenant.get(service) === undefined && this.#options.router.slices!.of(service).length === 0;
    if (isGone && known.held.size === 0 && known.moving.size === 0 && this.#options.router.backends!.of(service).length === 0)
      this.#known.delete(service);
  }
}
