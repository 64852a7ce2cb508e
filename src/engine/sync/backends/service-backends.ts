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
import { formatKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import { KeyMap } from "../../../kube/runtime/informer/object-cache.ts";
import type { Endpoints, EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { MIRROR, serviceOfSlice } from "../../kinds/slice-labels.ts";
import { CONTRADICTIONS_MIN, createMachine } from "../../reconcile/machine.ts";
import { writtenKey } from "../../reconcile/plan-types.ts";
import type { Rules, ServedBackends } from "../../reconcile/rules/rules.ts";
import { ourMarkers } from "../../translate/identity.ts";
import type { WriteLimiter } from "../guards/write-limiter.ts";
import type { EventHandlers } from "../run/event-handlers.ts";
import type { BackendsObserver, PlannedObject } from "../run/gather.ts";
import { beginReconcile, createNoticeReconcile, type ReconcileRun, type SyncHooks, type Tracked } from "../run/reconcile.ts";
import { BACKENDS, parseSyncId, syncId } from "../state/sync-id.ts";
import { aroundOf, collectBackends, type CollectedBackends, type KnownBackends } from "./collect-backends.ts";
import { awaitsOthers, copiesBeside, isNeedless, unseenOfEndpoints, type CopiedSlice } from "./moved-endpoints.ts";
import { decideBackends, isSource, type BackendsDecision } from "./decide-backends.ts";
import {
  beginsMove,
  followsCopy,
  isSameCopy,
  isUndoing,
  lacksCopy,
  lacksOthers,
  newService,
  newsOfEdits,
  isAllWritten,
  nextWaitMs,
  noteLook,
  planWrites,
  sendsMirrorAway,
  skipMirrorLabel,
  logRefusal,
  undoneEdits,
  wasOver,
  withUnseen,
  type OtherWaits,
  type RememberedService,
} from "./remembered-service.ts";
import { madeSlicesStrategy } from "./plan-made-slices.ts";
import { standInsFor, standInsForUnknown } from "./stand-ins.ts";
import { createUnpatchedSlices, type UnpatchedSlices } from "./unpatched-slices.ts";

/** Time that a mirror has to make slices from a copy, in milliseconds; after that, the host counts as one without a working mirror. */
const MIRROR_WAIT_MS = 3_000;
/** Maximum wait for a replacement to be seen, in milliseconds; after that, the replaced object is deleted nevertheless. */
const RELEASE_WAIT_MS = 5_000;

/** Decides the backends of Services, and writes made slices. */
export interface ServiceBackends extends BackendsObserver {
  /** Begins a reconcile of the backends of one Service. */
  begin(service: ObjectKey, logger: Logger): ReconcileRun;
}

/** Dependencies of the decisions. */
export interface ServiceBackendsOptions {
  readonly tracked: readonly Tracked[];
  readonly router: EventHandlers;
  readonly writeLimiter: WriteLimiter;
  readonly hooks: SyncHooks;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Returns a slice of the host as its cache has it. */
  shown(hostKey: ObjectKey): KubeObject | undefined;
  /** Reports whether the engine itself refuses to copy an object. */
  isRejected(id: string): boolean;
  /** Returns the known state of a Service on either side. */
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
  /** True if the host's mirror has not made slices from some copy in time. */
  #mirrorRests = false;

  constructor(options: ServiceBackendsOptions) {
    this.#options = options;
    const side = (resource: ResourceType) => options.tracked.find(({ rules }) => rules.kind.resource === resource)!;
    this.#slices = side(ENDPOINT_SLICES);
    this.#endpoints = side(ENDPOINTS);
    this.#unpatched = createUnpatchedSlices(this.#endpoints, this.#slices, options.router.slices!.of, options.clock);
  }

  around(id: string, { kind }: Rules, { key, tenant, host }: PlannedObject): ServedBackends | undefined {
    if (kind.resource === SERVICES) return undefined;
    const isSlice = kind.resource === ENDPOINT_SLICES;
    const service = isSlice ? this.#serviceOf(tenant, host) : key;
    // Without the object and its copy, there is nothing to decide, and nothing to remember.
    if (tenant === undefined && host === undefined) return undefined;
    if (service === undefined) return this.#besideUnknown(host);
    const writer = tenant && isSlice ? kind.writerOf(tenant) : undefined;
    let known = this.#decide(service);
    // A decision from before the last change must neither delete a copy nor disable the host's mirror.
    if (host !== undefined && (tenant === undefined || !isSource(known.decision, writer) || sendsMirrorAway(known, host)))
      known = this.#decideAgain(service, known);
    const { decision } = known;
    const copies = isSource(decision, writer);
    const isKept = writer === MIRROR && decision.keepsMirrored === true;
    const [isGone, isReleased] = isSlice ? [tenant === undefined, decision.releasesSlices] : [false, decision.releasesCopy];
    const released = isReleased || (isGone && isNeedless(this.#collect(service, known.made), decision.source, host as EndpointSlice));
    // While the mirror still has time, its slices are waited for.
    const mayGo = !isKept && (released || (known.mirrorBehindSince === undefined && wasOver(known, known.heldSince, RELEASE_WAIT_MS)));
    if (mayGo || isKept || host === undefined || (tenant !== undefined && copies)) known.held.delete(id);
    else this.#hold(service, known, id);
    if (!copies) known.moving.delete(id);
    const awaitsMove = isSlice && copies && this.#awaitsMove(service, known, { id, key, tenant, host });
    const isReplaced = host !== undefined && ((mayGo && released && (tenant === undefined || !copies)) || sendsMirrorAway(known, host));
    return {
      ...(isReplaced && { service, standIns: standInsFor({ key, tenant, host }, this.#collect(service, known.made), decision.source) }),
      isSource: copies,
      isKept,
      mayGo: (mayGo || host === undefined) && !awaitsMove,
      awaitsMove,
      skipMirror: skipMirrorLabel(known, host),
    };
  }

  /** Reports whether the copy of a slice must wait: it would lose endpoints that readers do not see in the other objects of the Service yet. */
  #awaitsMove(service: ObjectKey, known: RememberedService, { id, key, tenant, host }: PlannedObject & { readonly id: string }): boolean {
    const [slice, { moving, made, decision }] = [{ tenant, host } as CopiedSlice, known];
    const unseen = () => unseenOfEndpoints(this.#collect(service, made), decision.source, host!.metadata.name!);
    if (
      host === undefined ||
      host.metadata.deletionTimestamp ||
      !awaitsOthers(slice, () => copiesBeside(this.#knownOf(service, made), this.#decide(service).decision, key), unseen)
    ) {
      moving.delete(id);
      return false;
    }
    const version = ourMarkers(this.#slices.rules, host, ENDPOINT_SLICES)?.resourceVersion;
    if (beginsMove(known, id, { version, now: this.#options.clock.monotonic() })) this.#options.enqueue(syncId(BACKENDS, service));
    const { since } = moving.get(id)!;
    // A copy that is to follow its slice waits by the clock, because it lacks other changes meanwhile.
    return tenant === undefined ? !wasOver(known, since, RELEASE_WAIT_MS) : known.lookedAt - since < RELEASE_WAIT_MS;
  }

  /** Returns the tenant Service that a slice or its copy belongs to. */
  #serviceOf(tenant: KubeObject | undefined, host: KubeObject | undefined): ObjectKey | undefined {
    if (tenant !== undefined) return serviceOfSlice(tenant);
    return host && this.#options.router.backends!.serviceOf(host);
  }

  /** Decides about the copy of a slice that is gone, and of whose tenant Service no cache has anything. */
  #besideUnknown(copy: KubeObject | undefined): ServedBackends | undefined {
    const key = copy && serviceOfSlice(copy);
    if (key === undefined) return undefined;
    const standIns = standInsForUnknown(key, this.#options.service("host", key), this.#endpoints.host.get(key));
    return { isSource: false, mayGo: true, skipMirror: undefined, standIns };
  }

  #hold(service: ObjectKey, known: RememberedService, id: string): void {
    known.held.add(id);
    // After a release, even a short one, the wait begins again.
    if (known.heldSince !== undefined) return;
    known.heldSince = this.#options.clock.monotonic();
    this.#options.enqueue(syncId(BACKENDS, service));
  }

  /** Returns the last decision. The first one is made immediately, so that nothing is planned without one. */
  #decide(service: ObjectKey): RememberedService {
    return this.#known.get(service) ?? this.#look(service).known;
  }

  #decideAgain(service: ObjectKey, known: RememberedService): RememberedService {
    if (known.version === this.#version(service)) return known;
    // If a wait begins now, the reconcile of the Service ends it.
    this.#options.enqueue(syncId(BACKENDS, service));
    return this.#lookAndEnqueue(service).known;
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
    const known = before ?? newService(version, decision, { now, made: collected.made });
    // A new copy, or slices that are made from now on, get the full time to be seen.
    const begins = (!known.hasCopy && collected.copy !== undefined) || (decision.makes && !known.decision.makes);
    if (known.heldSince !== undefined && begins) known.heldSince = now;
    noteLook(known, collected, { decision, version, lookedAt: now, copylessSince, othersBehindSince });
    if (seen.mirror === "equal" && collected.copy !== undefined) this.#mirrorRests = false;
    // Once we have begun to make slices, the mirror's time is over, whatever it does now.
    if (decision.source === "made" && isOver(since, MIRROR_WAIT_MS) && seen.mirror === "none") this.#mirrorRests = true;
    known.mirrorBehindSince = decision.waitsForMirror ? (since ?? now) : undefined;
    if (before === undefined) this.#known.set(service, known);
    return { known, collected };
  }

  /** Returns a text that differs after each change. This process's own writes to the copy count before a cache shows them. */
  #version(service: ObjectKey): string {
    return `${this.#options.router.backends!.version(service)} ${this.#atHost(service)?.metadata.resourceVersion}`;
  }

  #collect(service: ObjectKey, made: ReadonlyMap<string, ObjectKey>): CollectedBackends {
    return collectBackends(this.#knownOf(service, made));
  }

  #knownOf(service: ObjectKey, made: ReadonlyMap<string, ObjectKey>): KnownBackends {
    const { router } = this.#options;
    const { rules } = this.#endpoints;
    const hostKey = router.backends!.hostKeyOf(service);
    return {
      ...{ service, hostKey, hostService: hostKey },
      endpoints: { rules, tenant: this.#endpoints.tenant.get(service) as Endpoints | undefined, host: this.#atHost(service) },
      slices: this.#slices,
      tenantSlices: router.slices!.of(service),
      hostSlices: withUnseen(router.backends!.of(service), made),
      shown: (place) => this.#options.shown(place),
      isClaimed: (place) => router.isClaimed(this.#slices.rules, place),
      services: this.#servicesOf(service),
    };
  }

  #servicesOf(service: ObjectKey): KnownBackends["services"] {
    const hostService = this.#options.router.backends!.hostKeyOf(service);
    const isAsked = hostService !== undefined && this.#endpoints.rules.services === "external";
    return {
      tenant: this.#options.service("tenant", service),
      host: hostService && this.#options.service("host", hostService),
      ownsHost: isAsked ? this.#options.hooks.ownsHostService?.(hostService) : undefined,
    };
  }

  #atHost(service: ObjectKey): KubeObject | undefined {
    const hostKey = this.#options.router.backends!.hostKeyOf(service);
    return hostKey && this.#endpoints.host.get(hostKey);
  }

  begin(service: ObjectKey, logger: Logger): ReconcileRun {
    const { hooks, metrics, router, writeLimiter } = this.#options;
    const looked = this.#isSimple(service) ? undefined : this.#lookAndEnqueue(service);
    const copiesDerived = looked?.known.decision.copiesDerived !== false;
    const unpatchedMs = this.#unpatched.look(service, logger, { copiesDerived, around: () => aroundOf(this.#servicesOf(service)) });
    if (looked === undefined) {
      this.#forgetGone(service);
      return createNoticeReconcile({ resource: ENDPOINT_SLICES, requeueAfterMs: unpatchedMs });
    }
    const { known, collected } = looked;
    const [now, decided] = [this.#options.clock.monotonic(), known.version];
    const shared = syncId(ENDPOINTS.plural, service);
    const writes = planWrites(known, collected, { rules: this.#slices.rules, now, mirrorMs: MIRROR_WAIT_MS });
    const waits = { isDone: isAllWritten(known, collected, this.#options.isRejected(shared)), lookMs: unpatchedMs };
    if (writes.operations.length === 0) {
      Object.assign(known, { outdatedTimes: 0, refusal: undefined });
      if (waits.isDone) this.#noteDone(known, decided);
      if (followsCopy(known, collected)) router.backends!.rests(service);
      return createNoticeReconcile({ resource: ENDPOINT_SLICES, requeueAfterMs: this.#againInMs(service, known, waits) });
    }
    // The version of the tenant's Endpoints in the copy, which made slices should also have: the copy and its slices share a write limit.
    const version = (collected.copy && ourMarkers(this.#endpoints.rules, collected.copy, ENDPOINTS)?.resourceVersion) ?? "";
    const { writeWaitMs } = writeLimiter.restraint(shared, version, "made");
    const isDone = waits.isDone && writeWaitMs <= 0;
    const operations = writeWaitMs > 0 ? [] : writes.operations;
    const notes = newsOfEdits(known, undoneEdits(this.#slices.rules, known, collected, operations), now);
    const reader = notes.length === 0 ? undefined : (this.#options.service("tenant", service) ?? this.#endpoints.tenant.get(service));
    let isShown = true; // False once the host's cache does not show what was answered; its event begins another reconcile.
    const isStill = (found: KubeObject | undefined) => isSameCopy(collected.copy, found, this.#endpoints.rules, service);
    const reconcile = beginReconcile({
      ...{ id: syncId(BACKENDS, service), hooks, logger, metrics, resource: ENDPOINT_SLICES },
      machine: createMachine(madeSlicesStrategy({ reader, isStill })),
      start: { input: { ...writes, operations, notes: reader === undefined ? [] : notes }, outdatedTimes: known.outdatedTimes },
      known: { host: this.#slices.host },
      observer: {
        answered: (operation, response) => {
          const key = writtenKey(operation);
          if (response.type === "refused") logRefusal(logger, known, { slice: formatKey(key), ...response.note });
          // Another writer deletes what this one makes, or the reverse: one of the two may lack an object that a list has omitted.
          if (isUndoing(operation, response, known.made.has(formatKey(key))) && (known.undone += 1) >= CONTRADICTIONS_MIN)
            this.#doubt(known, collected, key);
          const stored = response.type === "object" ? response.object.metadata.resourceVersion : undefined;
          isShown &&= this.#options.shown(key)?.metadata.resourceVersion === stored;
          if (response.type === "absent") known.made.delete(formatKey(key));
          if (response.type !== "object") return;
          known.made.set(formatKey(key), key);
          router.backends!.expect(key, service);
        },
        ended: (ending, { index }) => {
          if (ending.result === "outdated" && (known.outdatedTimes += 1) >= CONTRADICTIONS_MIN)
            this.#doubt(known, collected, writtenKey(operations[index]!));
          if (ending.result !== "settled") return undefined;
          // The host has refused a slice: it is tried again after the machine's time, or when a wait of the Service ends.
          if (index < operations.length)
            return Math.min(ending.requeueAfterMs!, this.#againInMs(service, known, { ...waits, isDone: false }) ?? Infinity);
          if (isDone && isShown) this.#noteDone(known, decided);
          Object.assign(known, { outdatedTimes: 0, ...(writes.operations.length === index && { refusal: undefined }) });
          if (index > 0) writeLimiter.wrote(shared, version, "made");
          if (writeWaitMs > 0) writeLimiter.held(shared, "made");
          return this.#againInMs(service, known, { ...waits, isDone: isDone && isShown, writeMs: writeWaitMs });
        },
      },
    });
    return finish(reconcile);
  }

  /** Records that everything that readers should see in a version has been written: copies that wait for it have had their time up to now. */
  #noteDone(known: RememberedService, doneVersion: string): void {
    Object.assign(known, { doneAt: this.#options.clock.monotonic(), doneVersion });
    for (const id of known.held) if (wasOver(known, known.heldSince, RELEASE_WAIT_MS)) this.#options.enqueue(id);
    for (const [id, { since }] of known.moving) if (wasOver(known, since, RELEASE_WAIT_MS)) this.#options.enqueue(id);
  }

  /** Reports whether a Service has only slices: each is copied on its own, and a copy is deleted without a decision. */
  #isSimple(service: ObjectKey): boolean {
    const known = this.#known.get(service);
    if (known !== undefined && (known.held.size > 0 || known.moving.size > 0 || known.made.size > 0)) return false;
    if (known?.decision.keepsMirrored === true || known?.decision.copiesMirrored === true) return false;
    const hasEndpoints = this.#endpoints.tenant.get(service) !== undefined || this.#atHost(service) !== undefined;
    return !hasEndpoints && !this.#options.router.backends!.hasMade(service) && known?.decision.copiesDerived !== false;
  }

  /** Lists the caches again: a lagging cache catches up within moments, so one has missed a change. */
  #doubt(known: RememberedService, { service, hostKey }: CollectedBackends, written: ObjectKey): void {
    known.undone = 0;
    this.#slices.host.doubt(written);
    this.#slices.tenant.doubt(service);
    this.#endpoints.tenant.doubt(service);
    if (hostKey !== undefined) this.#endpoints.host.doubt(hostKey);
  }

  /** Decides again, and enqueues the objects that the decision affects. */
  #lookAndEnqueue(service: ObjectKey): { readonly known: RememberedService; readonly collected: CollectedBackends } {
    const { decision: before, hasMade = false, hasCopy = false } = this.#known.get(service) ?? {};
    const looked = this.#look(service);
    const { known, collected } = looked;
    const { decision } = known;
    const { enqueue, router } = this.#options;
    const isChanged = (...names: readonly (keyof BackendsDecision)[]) => names.some((name) => before?.[name] !== decision[name]);
    // The decision was made before the copy appeared, so the decision itself has not changed.
    const isNewlySeen = !hasCopy && collected.copy !== undefined && sendsMirrorAway(known, collected.copy);
    const released = decision.releasesSlices && decision.releasesCopy;
    if (isChanged("skipsMirror") || isNewlySeen || (hasMade && !known.hasMade)) enqueue(syncId(ENDPOINTS.plural, service));
    if (isChanged("copiesDerived", "copiesMirrored", "releasesSlices", "keepsMirrored"))
      for (const slice of router.slices!.of(service)) enqueue(syncId(ENDPOINT_SLICES.plural, slice));
    if (released || wasOver(known, known.heldSince, RELEASE_WAIT_MS)) for (const id of known.held) enqueue(id);
    for (const id of known.held) if (!this.#isOf(service, id)) known.held.delete(id);
    for (const id of known.moving.keys()) if (!this.#isOf(service, id)) known.moving.delete(id);
    for (const id of known.moving.keys()) enqueue(id);
    if (released || known.held.size === 0) known.heldSince = undefined;
    return looked;
  }

  /** Reports whether the object with an id, or its copy, still exists and belongs to a Service. */
  #isOf(service: ObjectKey, id: string): boolean {
    const { plural, key } = parseSyncId(id);
    const { tenant, host, rules } = plural === ENDPOINTS.plural ? this.#endpoints : this.#slices;
    const place = rules.translator.toHost(key, rules.kind.resource);
    const [object, copy] = [tenant.get(key), place && host.get(place)];
    if (plural === ENDPOINTS.plural) return object !== undefined || copy !== undefined;
    const found = this.#serviceOf(object, copy);
    return found !== undefined && sameKey(found, service);
  }

  #againInMs(service: ObjectKey, known: RememberedService, waits: OtherWaits): number | undefined {
    const times = { mirrorMs: MIRROR_WAIT_MS, releaseMs: RELEASE_WAIT_MS, ...waits };
    const waitMs = nextWaitMs(known, this.#options.clock.monotonic(), times);
    if (waitMs !== undefined) return waitMs;
    this.#forgetGone(service);
    return this.#options.writeLimiter.rests(syncId(ENDPOINTS.plural, service), "made");
  }

  /** Forgets a Service of which neither cluster has anything left that a decision is about. */
  #forgetGone(service: ObjectKey): void {
    const { router } = this.#options;
    const known = this.#known.get(service);
    const waits = known !== undefined && (known.held.size > 0 || known.moving.size > 0);
    const isThere = this.#endpoints.tenant.get(service) !== undefined || this.#atHost(service) !== undefined;
    if (waits || isThere || router.slices!.of(service).length > 0 || router.backends!.of(service).length > 0) return;
    this.#known.delete(service);
    router.backends!.forget(service);
  }
}
