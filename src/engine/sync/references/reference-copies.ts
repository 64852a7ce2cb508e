/**
 * Copies the objects that reference patches name: tracks references, one cache per name and side, and copies that are no longer
 * referenced. Referenced objects have their own ids in the queue, next to the objects that refer to them.
 *
 * @module
 */
import type { Clock } from "../../../base/clock.ts";
import { finish } from "../../../base/finish.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { formatKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { qualifiedPlural, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject, OwnerReference } from "../../../kube/object/types.ts";
import type { FoundReference } from "../../patch/types.ts";
import { CONTRADICTIONS_MIN, createMachine, GONE_RETRY_MS, type Ending, type ReconcileState } from "../../reconcile/machine.ts";
import { compareVersions } from "../../../kube/object/resource-version.ts";
import { isRestoration, sourceVersion, type Note, type Plan, type PlanInput } from "../../reconcile/plan-types.ts";
import { isReferenceCopy, sourceSide, targetSide, type ReferencePlan } from "../../reconcile/references/reference-copy.ts";
import type { ReferenceInput, ReferenceKind, ReferenceRules } from "../../reconcile/references/reference-rules.ts";
import { isRecreation, referenceStrategy, type ReferenceUser } from "../../reconcile/references/reference-strategy.ts";
import { referencesInUse } from "../../reconcile/references/references-in-use.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { readMarkers } from "../../translate/markers.ts";
import { followOne, type ClusterCaches } from "../cluster/access.ts";
import { createExpectations } from "../state/expectations.ts";
import type { DeleteBrake } from "../guards/delete-brake.ts";
import type { LoopGuard } from "../guards/loop-guard.ts";
import type { SyncRecord } from "../state/status-records.ts";
import { createFirstPlans, mayRefer, type FirstPlans } from "./first-plans.ts";
import { cachedCopy, mayHaveCopy, newEntryState, recordOf, waitFor, type ReferenceEntry } from "./reference-entry.ts";
import { createReferencePlaces, type ReferencePlaces } from "./reference-places.ts";
import { createReferences } from "./references.ts";
import { namespaceOfId, parseSyncId, syncId } from "../state/sync-id.ts";
import { countNotes, beginReconcile, createNoticeReconcile, showPlan, type SyncHooks, type ReconcileRun } from "../run/reconcile.ts";
import type { ReferenceObserver } from "../run/object-reconcile.ts";
import { LATE_WRITES_MS, mayHappenLater } from "../run/apply.ts";
import type { WriteLimiter } from "../guards/write-limiter.ts";

/** The copies of the objects that reference patches name. */
export interface ReferenceCopies extends ReferenceObserver {
  /** Records a copy that an earlier process made. */
  found(kind: ReferenceKind, copy: KubeObject): void;
  /** Begins a reconcile if `id` belongs to a referenced object; undefined otherwise. Log lines go to `logger`. */
  begin(id: string, logger: Logger): ReconcileRun | undefined;
  records(): readonly SyncRecord[];
  /** Number of open caches. */
  readonly followed: number;
  /** Lets the retention times begin again: while another process is at work, references come unseen. */
  standBy(): void;
  close(): void;
}

/** Dependencies of the copies. */
export interface ReferenceCopiesOptions {
  readonly rules: ReferenceRules;
  /** The rules of all synced kinds. */
  readonly synced: readonly Rules[];
  readonly tenant: ClusterCaches;
  readonly host: ClusterCaches;
  readonly guard: LoopGuard;
  readonly writeLimiter: WriteLimiter;
  readonly brake: Pick<DeleteBrake, "isEngaged">;
  readonly hooks: SyncHooks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Returns the known state of a tenant object by its id. */
  user(id: string): ReferenceUser | undefined;
  /** Owner of copies on the host. */
  owner(): OwnerReference | undefined;
  enqueue(id: string): void;
  /** Called when a cluster has contradicted the known state of one of its objects for a while. */
  doubt(side: "tenant" | "host", resource: ResourceType, key: ObjectKey): void;
}

type ReferenceState = ReconcileState<ReferenceInput, ReferencePlan>;
type Settled = Extract<Ending, { result: "settled" }>;

/** Creates the copies of referenced objects; follows none at first. */
export function createReferenceCopies(options: ReferenceCopiesOptions): ReferenceCopies {
  return new FollowedReferences(options);
}

class FollowedReferences implements ReferenceCopies {
  readonly #options: ReferenceCopiesOptions;
  readonly #references = createReferences();
  readonly #entries = new Map<string, ReferenceEntry>();
  readonly #records = new Map<string, SyncRecord>();
  /** Copies that are not followed yet: those of an earlier process, and those of evicted objects. Undefined for one that may exist. */
  readonly #found = new Map<string, KubeObject | undefined>();
  readonly #places: ReferencePlaces;
  readonly #firstPlans: FirstPlans;

  constructor(options: ReferenceCopiesOptions) {
    this.#options = options;
    this.#places = createReferencePlaces(options.rules.objectsMax, (id) => !mayHaveCopy(this.#entries.get(id)));
    this.#firstPlans = createFirstPlans({ ...options, over: () => this.#usersAreKnown() });
  }

  get followed(): number {
    return 2 * this.#entries.size;
  }

  records(): readonly SyncRecord[] {
    return [...this.#records.values()];
  }

  planned(id: string, rules: Rules, input: PlanInput, plan: Plan): void {
    if (!mayRefer(rules)) return;
    const references = referencesInUse(rules, input, plan);
    if (references === undefined) return;
    const ids = references.flatMap((reference) => this.#idOf(reference) ?? []);
    for (const changed of this.#references.refer(id, ids)) {
      const entry = this.#entries.get(changed);
      if (entry !== undefined) entry.lastUser = id;
      this.#options.enqueue(changed);
    }
  }

  settled(id: string, rules: Rules, input: PlanInput, plan: Plan): void {
    if (!mayRefer(rules) || this.#firstPlans.areOver) return;
    if (referencesInUse(rules, input, plan) !== undefined) this.#firstPlans.planned(id);
  }

  #usersAreKnown(): void {
    for (const id of this.#entries.keys()) if (this.#references.users(id).length === 0) this.#options.enqueue(id);
  }

  #idOf({ apiVersion, kind, tenant }: FoundReference): string | undefined {
    const known = this.#options.rules.kinds.find(({ resource }) => resource.apiVersion === apiVersion && resource.kind === kind);
    return known && syncId(qualifiedPlural(known.resource), tenant);
  }

  found(kind: ReferenceKind, copy: KubeObject): void {
    const { rules } = this.#options;
    const markers = readMarkers(rules.translator.markerPrefix, copy);
    if (markers === undefined) return;
    const key = { namespace: markers.namespace, name: markers.name };
    const hostKey = rules.translator.toHost(key, kind.resource);
    const place = { namespace: copy.metadata.namespace ?? "", name: copy.metadata.name ?? "" };
    if (hostKey === undefined || !sameKey(place, kind.direction === "toHost" ? hostKey : key)) return;
    if (!isReferenceCopy(rules, { kind, key, hostKey }, copy)) return;
    const id = syncId(qualifiedPlural(kind.resource), key);
    const entry = this.#entries.get(id);
    if (entry === undefined) this.#found.set(id, copy);
    else entry.known ??= copy;
    this.#options.enqueue(id);
  }

  begin(id: string, logger: Logger): ReconcileRun | undefined {
    const { plural, key } = parseSyncId(id);
    const kind = this.#options.rules.kinds.find(({ resource }) => qualifiedPlural(resource) === plural);
    if (kind === undefined) return undefined;
    const users = this.#references.users(id);
    const entry = this.#entries.get(id) ?? this.#open({ id, kind, key, users });
    if (entry === undefined) return this.#notFollowed(kind, { id, key }, users);
    if (!entry.source.synced || !entry.target.synced)
      return createNoticeReconcile({ resource: kind.resource, requeueAfterMs: waitFor(entry) });
    // Its users may not have been planned yet.
    if (users.length === 0 && !this.#firstPlans.areOver) return createNoticeReconcile({ resource: kind.resource });
    return this.#reconcile(id, entry, { users, logger });
  }

  #open({
    id,
    kind,
    key,
    users,
  }: {
    id: string;
    kind: ReferenceKind;
    key: ObjectKey;
    users: readonly string[];
  }): ReferenceEntry | undefined {
    const { rules } = this.#options;
    const hostKey = rules.translator.toHost(key, kind.resource);
    const wanted = users.length > 0 || this.#found.has(id);
    if (!wanted) this.#release(id);
    if (!wanted || hostKey === undefined) return undefined;
    const place = this.#places.take(id, shareOf(key, users));
    if (place === "waits") return undefined;
    if (place.evicted !== undefined) this.#evict(place.evicted);
    // Several places may have become free at once, for which the same object was enqueued.
    const next = this.#places.next();
    if (next !== undefined) this.#options.enqueue(next);
    const entry = this.#follow({ id, kind, key, hostKey });
    entry.known = this.#found.get(id);
    if (this.#found.delete(id) && entry.known === undefined) entry.provenFrom = this.#options.clock.monotonic() + LATE_WRITES_MS;
    this.#entries.set(id, entry);
    return entry;
  }

  /** Stops following an object. Its copy, if there is one, stays as it is until the object has a place again. */
  #evict(id: string): void {
    const entry = this.#entries.get(id)!;
    entry.stop();
    this.#entries.delete(id);
    if (mayHaveCopy(entry)) this.#found.set(id, entry.known);
    this.#options.enqueue(id);
  }

  #follow({ id, kind, key, hostKey }: { id: string; kind: ReferenceKind; key: ObjectKey; hostKey: ObjectKey }): ReferenceEntry {
    const open = (side: "tenant" | "host") => {
      const place = side === "tenant" ? key : hostKey;
      const source = followOne(this.#options[side], kind.resource, place);
      const unsubscribe = source.onChange((changed, sign) => {
        if (!sameKey(changed, place)) return;
        const entry = this.#entries.get(id);
        // A cache that has passed the version of a copy, and has another object there, is right: the copy never existed.
        if (sign === "missed" && entry?.target === source) entry.known = source.get(place) ?? entry.known;
        this.#options.enqueue(id);
      });
      return { source, unsubscribe };
    };
    const [source, target] = [open(sourceSide({ kind })), open(targetSide({ kind }))];
    const latest = createExpectations(target.source);
    const stop = () => {
      latest.close();
      for (const opened of [source, target]) {
        opened.unsubscribe();
        void opened.source.stop();
      }
    };
    return { kind, key, hostKey, source: source.source, target: target.source, latest, stop, ...newEntryState() };
  }

  /** Returns the reconcile of an object that is not followed: it is not needed, or there are too many objects. */
  #notFollowed(kind: ReferenceKind, { id, key }: { id: string; key: ObjectKey }, users: readonly string[]): ReconcileRun {
    if (!this.#places.isWaiting(id)) {
      this.#records.delete(id);
      return createNoticeReconcile({ resource: kind.resource });
    }
    const { objectsMax } = this.#options.rules;
    const reason = `more than ${objectsMax} objects are referenced, and namespace "${shareOf(key, users)}" has used its share`;
    const message = `${kind.resource.kind} "${formatKey(key)}" is not copied: ${reason}`;
    const notes: readonly Note[] = [{ code: "REFERENCE_LIMIT", message }];
    this.#records.set(id, recordOf({ kind, key }, { state: "refused", hostKey: undefined, notes }));
    return createNoticeReconcile({ resource: kind.resource, users: this.#objectsOf(users), notes });
  }

  #objectsOf(users: readonly string[]): readonly KubeObject[] {
    return users.flatMap((user) => this.#options.user(user)?.object ?? []);
  }

  #reconcile(id: string, entry: ReferenceEntry, { users, logger }: { users: readonly string[]; logger: Logger }): ReconcileRun {
    const { rules, clock, guard, writeLimiter, hooks, metrics } = this.#options;
    entry.unusedSince = users.length > 0 ? undefined : (entry.unusedSince ?? clock.monotonic());
    const { kind, key, hostKey, source, latest, unusedSince, lastUser, writtenFrom } = entry;
    const [sourceKey, targetKey] = kind.direction === "toHost" ? [key, hostKey] : [hostKey, key];
    const from = source.get(sourceKey);
    const version = sourceVersion(from);
    const target = latest.get(targetKey);
    if (target !== undefined && isReferenceCopy(rules, entry, target)) entry.known = target;
    const input: ReferenceInput = {
      ...{ kind, key, hostKey, writtenFrom, target },
      source: from,
      unusedMs: unusedSince === undefined ? undefined : clock.monotonic() - unusedSince,
      owner: this.#options.owner(),
      known: entry.known,
      unprovenMs: entry.provenFrom && Math.max(0, entry.provenFrom - clock.monotonic()),
      deletesHeld: kind.direction === "toHost" && this.#options.brake.isEngaged(),
    };
    // A write to the tenant cluster also makes a copy: it is not a host edit that is synced back.
    const { writeWaitMs, slowed } = writeLimiter.restraint(id, version);
    const limits = { writeWaitMs, flowWaitMs: writeWaitMs, ...(slowed && { slowed }) };
    const fights = { stoppedAt: guard.stoppedAt(id), recreationWaitMs: guard.recreationWaitMs(id, version) };
    const userId = users[0] ?? lastUser;
    const user = userId === undefined ? undefined : this.#options.user(userId);
    const reconcile = beginReconcile({
      ...{ id, hooks, logger, metrics, resource: kind.resource },
      machine: createMachine(referenceStrategy(rules, { users: this.#objectsOf(users), user })),
      start: { input, ...limits, ...fights, outdatedTimes: entry.outdatedTimes },
      known: { [targetSide(entry)]: latest },
      observer: {
        planned: ({ planned }) => {
          if (planned.restsOnNamespaces === undefined) showPlan(this.#options, kind.resource, key, planned);
        },
        answered: (operation, response, state) => {
          if (operation.action === "create" && mayHappenLater(response)) this.#noteUnanswered(id, entry);
          if (response.type !== "object" && response.type !== "absent") return;
          writeLimiter.wrote(id, version);
          if (isRestoration(operation)) guard.restored(id, version);
          if (isRecreation(input, operation)) guard.recreated(id, version);
          // Another replica may delete what this one makes because one of the two has missed a change.
          if (guard.recreationWaitMs(id, version) > 0) for (const cache of [source, entry.target]) cache.relist?.();
          entry.writtenFrom = operation.action === "delete" ? undefined : version;
          if (operation.side === targetSide(entry))
            this.#noteCopy(id, entry, response.type === "object" ? response.object : undefined, state);
        },
        ended: (ending, state) => {
          const isGone = ending.result === "settled" && from !== undefined && state.input.source === undefined;
          if (ending.result === "outdated" || isGone) this.#noteContradiction(entry, isGone ? undefined : user);
          else if (ending.result === "settled") entry.outdatedTimes = 0;
          return ending.result === "settled" ? this.#settled(id, entry, state, ending) : undefined;
        },
      },
    });
    return finish(reconcile);
  }

  /** Records that a creation may take place unseen. */
  #noteUnanswered(id: string, entry: ReferenceEntry): void {
    entry.provenFrom = this.#options.clock.monotonic() + LATE_WRITES_MS;
    if (this.#entries.get(id) !== entry && !this.#found.has(id)) this.#found.set(id, undefined);
  }

  /** Records the copy as a write has left it. */
  #noteCopy(id: string, entry: ReferenceEntry, copy: KubeObject | undefined, { input }: ReferenceState): void {
    // The answer to a deletion can be false. If the cache does not show the copy, it shows nothing of that later either.
    const isUnseen = input.sourceConfirmed === true || (entry.unusedSince !== undefined && cachedCopy(entry) === undefined);
    entry.known = copy ?? (isUnseen ? input.target : undefined);
    // While the object is referenced, nothing else asks again about a copy that a later list lacks.
    if (copy === undefined && entry.unusedSince === undefined) entry.provenFrom ??= this.#options.clock.monotonic();
    if (this.#entries.get(id) === entry) return;
    // Another object has taken the place of this one in the meantime.
    if (copy === undefined) this.#found.delete(id);
    else this.#found.set(id, copy);
    this.#options.enqueue(id);
  }

  /** Lists the caches again after several contradictions: a lagging cache catches up within moments, so one has missed a change. */
  #noteContradiction(entry: ReferenceEntry, user: ReferenceUser | undefined): void {
    entry.outdatedTimes += 1;
    if (entry.outdatedTimes < CONTRADICTIONS_MIN) return;
    for (const cache of [entry.source, entry.target]) cache.relist?.();
    if (user !== undefined) this.#options.doubt("tenant", user.resource, user.key);
  }

  #settled(id: string, entry: ReferenceEntry, state: ReferenceState, { requeueAfterMs }: Settled): number | undefined {
    const { metrics, writeLimiter } = this.#options;
    countNotes(metrics, entry.kind.resource, state.notes);
    this.#record(id, entry, state, requeueAfterMs !== undefined);
    const isSlowed = state.notes.some(({ code }) => code === "WRITES_SLOWED");
    if (isSlowed) writeLimiter.held(id);
    const restMs = isSlowed ? undefined : writeLimiter.rests(id);
    return requeueAfterMs ?? (isUnproven(entry, state) ? GONE_RETRY_MS : restMs);
  }

  #record(id: string, entry: ReferenceEntry, state: ReferenceState, isTriedAgain: boolean): void {
    const { planned: plan, notes, start } = state;
    const { input } = start;
    if (this.#entries.get(id) !== entry) return;
    this.#records.set(id, recordOf(entry, { state: plan.state, hostKey: plan.hostKey, notes, input }));
    // It may have been referenced since the reconcile began.
    const isKept = plan.state !== "absent" || isTriedAgain || isUnproven(entry, state) || this.#isBehind(entry);
    if (entry.unusedSince === undefined || isKept || this.#references.users(id).length > 0) return;
    this.#close(id, entry);
  }

  /** Reports whether the cache shows less than is known: it still has a copy that was deleted, or what was in the place of a copy before. */
  #isBehind(entry: ReferenceEntry): boolean {
    const { kind, key, hostKey, target, known } = entry;
    const cached = cachedCopy(entry);
    if (cached === undefined) return false;
    // The answer to a deletion may be false: only the cache shows that the copy is gone.
    if (known === undefined) return isReferenceCopy(this.#options.rules, { kind, key, hostKey }, cached);
    const isBefore = cached.metadata.uid !== known.metadata.uid && compareVersions(cached, known) < 0;
    if (isBefore) target.expect?.(known, "stored");
    return isBefore;
  }

  #close(id: string, entry: ReferenceEntry): void {
    entry.stop();
    this.#entries.delete(id);
    this.#records.delete(id);
    this.#options.guard.forget(id);
    this.#release(id);
  }

  #release(id: string): void {
    const next = this.#places.release(id);
    if (next !== undefined) this.#options.enqueue(next);
  }

  standBy(): void {
    for (const entry of this.#entries.values()) entry.unusedSince = undefined;
  }

  close(): void {
    for (const entry of this.#entries.values()) entry.stop();
    this.#entries.clear();
  }
}

/** Returns the namespace that is charged for a followed object: that of the first object that refers to it. */
function shareOf(key: ObjectKey, [user]: readonly string[]): string {
  return user === undefined ? key.namespace : namespaceOfId(user);
}

/** Reports whether the copy of what nothing refers to may still exist after its deletion, because no cache shows the effect. */
function isUnproven({ known }: ReferenceEntry, { planned: { state, operations }, index }: ReferenceState): boolean {
  return state === "absent" && operations.length > 0 && index === operations.length && known !== undefined;
}
