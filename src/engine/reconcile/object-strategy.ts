/**
 * The reconcile of a synced object. Its source is read live if the cache is behind the copy or the plan depends on the cached source, then
 * the copy and the Services on which the plan depends. A write that removes backends is preceded by live reads of the objects that show
 * these to readers instead; a delete also by another live read of the source, if the source affects the decision.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import { keyOf, sameKey } from "../../kube/object/key.ts";
import { SERVICES, type ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import {
  GONE_RETRY_MS,
  operationOf,
  slowedMs,
  UNSEEN_RETRY_MS,
  type PlanRead,
  type ReconcileState,
  type ReconcileStrategy,
  type LiveRead,
} from "./machine.ts";
import { planInPieces, type Planner } from "./plan.ts";
import { isCopying, sourceVersion, type Note, type Plan, type PlanInput } from "./plan-types.ts";
import type { Rules, StandIn } from "./rules/rules.ts";
import { jsonEqual } from "../../base/json.ts";
import { seesHostObject } from "./convert/to-host.ts";
import { sliceFingerprint } from "../../kube/object/endpoints/slices.ts";

/** Codes of obstacles that may disappear without a change in any cache. */
const LOOKED_AT_AGAIN: ReadonlySet<Note["code"]> = new Set(["HOST_NAMESPACE_MISSING", "API_INVALID", "DELETE_BRAKE"]);
/** Delay before a write that was not stored is repeated, in milliseconds; the write limiter slows further repetitions. */
const UNSTORED_RETRY_MS = 1_000;

/** Delay before a copy is created again that was deleted because a field of it cannot be changed, in milliseconds. */
const RECREATION_MS = 50;

/** The strategy for the objects of one kind. */
export function objectStrategy(rules: Rules, planner?: Planner): ReconcileStrategy<PlanInput, Plan> {
  return {
    *plan(input) {
      return planner === undefined ? yield* planInPieces(rules, input) : planner(rules, input);
    },
    planRead(state) {
      const { planned, input } = state;
      // Either the cache is older than the copy: it lags, or the cluster was restored to an earlier state, which only the cluster knows.
      // Or the plan depends on the source, which only a cache has reported so far.
      const restsOnSource = planned.restsOnSource === true && planned.operations.length > 0 && input.sourceConfirmed !== true;
      if (planned.state === "stale" || restsOnSource) return { name: "source", side: "tenant", key: input.key };
      // The copy is older than those of its edits that the tenant object contains: its cache lags, or its cluster was restored.
      if (planned.restsOnCopy === true && input.copyConfirmed === undefined) return { name: "copy", side: "host", key: planned.hostKey! };
      return serviceRead(rules, state);
    },
    learn({ asked, planned, input }, response) {
      const name = asked.at(-1);
      const found = response.type === "object" ? response.object : undefined;
      if (name === "source") {
        if (response.type === "failed" && !mayBelieveCache(planned, response.error)) return undefined;
        const tenant = response.type === "failed" ? input.tenant : found;
        return { ...input, ...heldBackends(input, tenant), tenant, sourceConfirmed: true };
      }
      // The permission for this read is optional: without it, the copy stays until the cache shows another version.
      if (name === "copy" && response.type === "failed" && isEngineError(response.error, "API_FORBIDDEN"))
        return { ...input, copyConfirmed: false };
      if (response.type === "failed") return undefined;
      if (name === "copy") return { ...input, host: found, copyConfirmed: true };
      return { ...input, [SERVICE_OF[name as keyof typeof SERVICE_OF]]: found };
    },
    check({ input, checked }, operation) {
      // The objects that must show the backends to readers before a write removes these elsewhere: the write deletes a copy, or makes the
      // host's mirror remove its slices.
      const standIns = operation.side === "host" && operation.action !== "create" ? (input.backends?.standIns ?? []) : [];
      const standIn = standIns[checked];
      if (standIn !== undefined) return checkOf(standIn);
      if (checked > standIns.length) return undefined;
      if (operation.action !== "delete" || operation.confirm === "none") return undefined;
      const wanted = operation.confirm === "absent" ? undefined : input.tenant;
      // An object that is being deleted cannot return, however often it changes until then.
      const isAsPlanned = (found: KubeObject | undefined) => sourceVersion(found) === sourceVersion(wanted) || isEndOf(wanted, found);
      return { read: { side: "tenant", key: input.key }, isAsPlanned };
    },
    fights: {
      sourceOf: ({ tenant }) => tenant,
      recreates: (_input, operation) => isCopying(operation),
      restorationStopped:
        "Another writer keeps editing the copy; the syncer leaves it alone until the object changes in the tenant cluster",
      recreationSlowed: "The copy keeps being deleted; it is recreated only rarely until the object changes in the tenant cluster",
    },
    // The copy is kept up to date even if the tenant cluster refuses host edits: these wait, and the reconcile ends with the refusal.
    without(state, response) {
      const operation = operationOf(state);
      const isFlow = operation.side === "tenant" && operation.action === "update" && state.input.editsWait !== true;
      const isRefused = response.type === "failed" || response.type === "refused";
      if (!isFlow || !isRefused) return undefined;
      const notes = response.type === "refused" && response.note !== undefined ? [response.note] : [];
      const ending = response.type === "failed" ? ({ result: "failed", error: response.error } as const) : undefined;
      return { input: { ...state.input, editsWait: true }, refused: { notes, ending } };
    },
    written(state, response) {
      const { written } = state;
      const operation = operationOf(state);
      if (response.type === "object") {
        // A webhook has reverted the change, or a proxy has answered instead of the cluster: no event will report it.
        const version = operation.action === "update" ? operation.object.metadata.resourceVersion : undefined;
        const isUnchanged = version !== undefined && version === response.object.metadata.resourceVersion;
        return isUnchanged ? { requeueAfterMs: UNSTORED_RETRY_MS } : { input: { ...written, [operation.side]: response.object } };
      }
      const isHost = operation.action === "delete" && written.host !== undefined && sameKey(operation.key, keyOf(written.host));
      return { input: isHost ? { ...written, host: undefined } : written };
    },
    readers: ({ input: { tenant } }) => (tenant === undefined ? [] : [tenant]),
    againInMs(state) {
      if (slowedMs(state) > 0) return slowedMs(state);
      const refused = state.notes.some(({ code }) => LOOKED_AT_AGAIN.has(code));
      const { start, input, asked } = state;
      if (goneLive(rules, state).length > 0) return GONE_RETRY_MS;
      // The event of the deletion can be lost, and the copy is to be created again.
      if (state.planned.state === "copied" && state.index > 0 && state.written.host === undefined) return RECREATION_MS;
      // A cache does not report the deletion of a Service that it has never had, because a list omitted it.
      const unseen = SIDES.some((side) => asked.includes(side) && start.input[SERVICE_OF[side]] === undefined && input[SERVICE_OF[side]]);
      return refused || unseen ? UNSEEN_RETRY_MS : slicesWaitMs(state);
    },
  };
}

/** Returns the cached objects of which a cluster has just said that they are gone. */
export function goneLive({ kind }: Rules, { start, input }: ReconcileState): readonly GoneObject[] {
  return READ_LIVE.flatMap((name) => {
    const object = start.input[name];
    const place = { side: name === "hostService" ? "host" : "tenant", resource: name === "tenant" ? kind.resource : SERVICES } as const;
    return object !== undefined && input[name] === undefined ? [{ ...place, object }] : [];
  });
}

/** A cached object that is gone according to its cluster. */
export interface GoneObject {
  readonly side: "tenant" | "host";
  readonly resource: ResourceType;
  readonly object: KubeObject;
}

/** Reports whether planning the current state again would yield no operations. */
export function isComplete(rules: Rules, state: ReconcileState): boolean {
  const { planned, index, written, refused } = state;
  if (refused !== undefined || slicesWaitMs(state) !== undefined) return false;
  if (planned.operations.length === 0) return true;
  return index === 1 && written.host !== undefined && isStoredAsPlanned(rules, planned, written.host);
}

/** Returns how long a new copy of Endpoints waits for slices at most, in milliseconds; undefined if it does not wait for them. */
function slicesWaitMs({ input, planned }: ReconcileState): number | undefined {
  return planned.state === "waiting" && planned.notes.length === 0 ? input.slices?.waitMs : undefined;
}

/** Backends were decided for the cached object: until the cache shows the newer one, or its end, that decision must not delete the copy. */
function heldBackends({ backends, tenant: cached }: PlanInput, tenant: KubeObject | undefined): Pick<PlanInput, "backends"> {
  const isAnother = tenant?.metadata.resourceVersion !== cached?.metadata.resourceVersion;
  return backends !== undefined && isAnother ? { backends: { ...backends, mayGo: false } } : {};
}

/**
 * Reports whether the cached source is enough after a failed read: a deleted copy is recreated while the cluster of its source cannot be
 * reached. No other syncer removes it in the meantime, because that also requires a live read. A cache that is behind the copy is never
 * enough.
 */
function mayBelieveCache(planned: Plan, error: unknown): boolean {
  return planned.state !== "stale" && isEngineError(error, "API_UNAVAILABLE");
}

/** Reports whether both are the same object while it is being deleted. */
function isEndOf(wanted: KubeObject | undefined, found: KubeObject | undefined): boolean {
  const isGoing = wanted?.metadata.deletionTimestamp !== undefined && found?.metadata.deletionTimestamp !== undefined;
  return isGoing && wanted.metadata.uid === found.metadata.uid;
}

/** A live read of a Service is named after its cluster. */
const SERVICE_OF = { host: "hostService", tenant: "tenantService" } as const;
const SIDES = ["host", "tenant"] as const;
/** The objects of a plan that are read live although a cache has them. The copy is not among them: its creation would be refused. */
const READ_LIVE = ["tenant", "tenantService", "hostService"] as const;

/** Returns the live read of the next Service on which the plan depends and that only a cache has reported so far; undefined if none. */
function serviceRead({ kind, translator }: Rules, { planned, input, asked }: ReconcileState): PlanRead | undefined {
  const side = planned.restsOnServices?.find((candidate) => !asked.includes(candidate));
  if (side === undefined || planned.operations.length === 0 || input.tenant === undefined) return undefined;
  const service = kind.serviceOf(input.key, input.tenant);
  const key = side === "tenant" ? service : service && translator.toHost(service, SERVICES);
  return key && { name: side, side, key, resource: SERVICES };
}

/**
 * Reports whether a plan has nothing more to do or to report once its one write is stored as `stored`, so that planning again is
 * unnecessary. False if a second plan might have a different result: because an API server or a webhook changed the object, or because
 * expressions read the host object.
 */
export function isStoredAsPlanned(rules: Rules, { state, operations, notes }: Plan, stored: KubeObject): boolean {
  const [operation] = operations;
  if (state !== "copied" || notes.length > 0 || operations.length !== 1) return false;
  if (operation === undefined || operation.action === "delete" || operation.side !== "host") return false;
  // The lookup of a reference is recorded for the reverse direction, and must not be skipped.
  if (seesHostObject(rules) || rules.patches.some(({ reference }) => reference !== undefined)) return false;
  const { object: planned } = operation;
  // Equal in everything that a plan compares.
  return (
    stored.metadata.deletionTimestamp === undefined &&
    jsonEqual(planned.metadata.labels, stored.metadata.labels) &&
    jsonEqual(planned.metadata.annotations, stored.metadata.annotations) &&
    jsonEqual({ ...planned, metadata: undefined }, { ...stored, metadata: undefined })
  );
}

/** Returns the request that reads a stand-in from the API server, and a check of its result. */
export function checkOf(standIn: StandIn) {
  const { side = "host", key, resource } = standIn;
  const read: LiveRead = { side, key, resource };
  return { read, isAsPlanned: (found: KubeObject | undefined) => standsStill(standIn, found) };
}

/** Reports whether a stand-in still shows readers what the decision expects. */
function standsStill({ side, object, label, mayChange = false }: StandIn, found: KubeObject | undefined): boolean {
  const isGoing = side === "tenant" && found?.metadata.deletionTimestamp !== undefined;
  if (object === undefined || found === undefined || isGoing) return object === (isGoing ? undefined : found);
  if (found.metadata.deletionTimestamp || found.metadata.uid !== object.metadata.uid) return false;
  if (found.metadata.resourceVersion === object.metadata.resourceVersion) return true;
  if (label === undefined || found.metadata.labels?.[label] !== object.metadata.labels?.[label]) return false;
  return mayChange || sliceFingerprint(found) === sliceFingerprint(object);
}
