/**
 * The reconcile of a synced object. Its source is read live if the cache is behind the copy or the plan rests on the cached source, then
 * the copy and the Services on which the plan rests; Before a delete, it also reads the objects that replace the copy for readers and, if
 * the source affects the decision, the source again.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import { keyOf, sameKey } from "../../kube/object/key.ts";
import { SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { operationOf, slowedMs, UNSEEN_RETRY_MS } from "./machine.ts";
import type { PlanQuestion, ReconcileState, ReconcileStrategy, LiveRead } from "./machine.ts";
import { planInPieces } from "./plan.ts";
import type { Planner } from "./plan.ts";
import { isCopying, sourceVersion } from "./plan-types.ts";
import type { Note, Plan, PlanInput } from "./plan-types.ts";
import type { Rules, StandIn } from "./rules/rules.ts";
import { jsonEqual } from "../../base/json.ts";
import { seesHostObject } from "./convert/to-host.ts";
import { sliceFingerprint } from "../../kube/object/endpoints/slices.ts";

/** Notes of what may end without a change that any cache would tell. */
const LOOKED_AT_AGAIN: ReadonlySet<Note["code"]> = new Set(["HOST_NAMESPACE_MISSING", "API_INVALID", "DELETE_BRAKE"]);
/** Delay before a write that was not stored is repeated, in milliseconds; the write limiter slows further repetitions. */
const UNSTORED_RETRY_MS = 1_000;

/** The strategy for the objects of one kind. */
export function objectStrategy(rules: Rules, planner?: Planner): ReconcileStrategy<PlanInput, Plan> {
  return {
    *plan(input) {
      return planner === undefined ? yield* planInPieces(rules, input) : planner(rules, input);
    },
    question(state) {
      const { planned, input } = state;
      // The cache is older than the copy. Either it lags, or the cluster went back in time: only the cluster knows.
      // Or the plan rests on the source, and only a cache has reported it so far.
      const restsOnSource = planned.restsOnSource === true && planned.operations.length > 0 && input.sourceConfirmed !== true;
      if (planned.state === "stale" || restsOnSource) return { name: "source", side: "tenant", key: input.key };
      // The copy is older than the edits of it that the tenant has. The same is true of it.
      if (planned.restsOnCopy === true && input.copyConfirmed === undefined) return { name: "copy", side: "host", key: planned.hostKey! };
      return serviceQuestion(rules, state);
    },
    learn({ asked, planned, input }, response) {
      const name = asked.at(-1);
      const found = response.type === "object" ? response.object : undefined;
      if (name === "source") {
        if (response.type === "failed" && !mayBelieveCache(planned, response.error)) return undefined;
        const tenant = response.type === "failed" ? input.tenant : found;
        return { ...input, ...heldBackends(input, tenant), tenant, sourceConfirmed: true };
      }
      // No role need grant it: then the copy stays until the cache shows another one.
      if (name === "copy" && response.type === "failed" && isEngineError(response.error, "API_FORBIDDEN"))
        return { ...input, copyConfirmed: false };
      if (response.type === "failed") return undefined;
      if (name === "copy") return { ...input, host: found, copyConfirmed: true };
      return { ...input, [SERVICE_OF[name as keyof typeof SERVICE_OF]]: found };
    },
    check({ input, checked }, operation) {
      // What must show readers the backends before a write removes these elsewhere: the write deletes a copy, or makes the host's mirror
      // remove its slices.
      const standIns = operation.side === "host" && operation.action !== "create" ? (input.backends?.standIns ?? []) : [];
      const standIn = standIns[checked];
      if (standIn !== undefined) return checkOf(standIn);
      if (checked > standIns.length) return undefined;
      if (operation.action !== "delete" || operation.confirm === "none") return undefined;
      const wanted = operation.confirm === "absent" ? undefined : input.tenant;
      const isAsPlanned = (found: KubeObject | undefined) => sourceVersion(found) === sourceVersion(wanted);
      return { read: { side: "tenant", key: input.key }, isAsPlanned };
    },
    fights: {
      sourceOf: ({ tenant }) => tenant,
      recreates: (_input, operation) => isCopying(operation),
      restorationStopped: "Host edits keep coming back; the object is left alone until it changes in the tenant cluster",
      recreationSlowed: "The copy keeps being deleted; it is recreated only rarely until the object changes in the tenant cluster",
    },
    // The host's copy is kept up to date whatever a tenant cluster says of edits: they wait, and it ends as if nothing else were to do.
    without(state, response) {
      const operation = operationOf(state);
      const isFlow = operation.side === "tenant" && operation.action === "update" && state.input.editsWait !== true;
      const isRefused = response.type === "failed" || (response.type === "refused" && response.note !== undefined);
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
      // A cache reports no deletion of a Service that it has never had; a list may have left it out.
      const unseen = SIDES.some((side) => asked.includes(side) && start.input[SERVICE_OF[side]] === undefined && input[SERVICE_OF[side]]);
      return refused || unseen ? UNSEEN_RETRY_MS : undefined;
    },
  };
}

/** Reports whether planning the current state again would yield no operations. */
export function isComplete(rules: Rules, { planned, index, written, refused }: ReconcileState): boolean {
  if (refused !== undefined) return false;
  if (planned.operations.length === 0) return true;
  return index === 1 && written.host !== undefined && isStoredAsPlanned(rules, planned, written.host);
}

/** Who tells readers was decided from the cached object: until the cache has the other one, its copy does not go by that. */
function heldBackends({ backends, tenant: cached }: PlanInput, tenant: KubeObject | undefined): Pick<PlanInput, "backends"> {
  const isAnother = tenant !== undefined && tenant.metadata.resourceVersion !== cached?.metadata.resourceVersion;
  return backends !== undefined && isAnother ? { backends: { ...backends, mayGo: false } } : {};
}

/**
 * A deleted copy comes back while its source cannot be asked: no other syncer removes it meanwhile, since that would
 * need an answer too. A cache that is behind the copy is never believed.
 */
function mayBelieveCache(planned: Plan, error: unknown): boolean {
  return planned.state !== "stale" && isEngineError(error, "API_UNAVAILABLE");
}

/** A live read of a Service is named after its cluster. */
const SERVICE_OF = { host: "hostService", tenant: "tenantService" } as const;
const SIDES = ["host", "tenant"] as const;

/** Reads the next Service on which the plan rests and that only a cache has reported so far; undefined when there is none. */
function serviceQuestion({ kind, translator }: Rules, { planned, input, asked }: ReconcileState): PlanQuestion | undefined {
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
  // Looking a reference up is noted for the way back, and that must not be left out.
  if (seesHostObject(rules) || rules.patches.some(({ reference }) => reference !== undefined)) return false;
  const { object: planned } = operation;
  // Equal in all that a plan compares.
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

/** Reports whether readers see of it what they are to see. */
function standsStill({ side, object, label, mayChange = false }: StandIn, found: KubeObject | undefined): boolean {
  const isGoing = side === "tenant" && found?.metadata.deletionTimestamp !== undefined;
  if (object === undefined || found === undefined || isGoing) return object === (isGoing ? undefined : found);
  if (found.metadata.deletionTimestamp || found.metadata.uid !== object.metadata.uid) return false;
  if (found.metadata.resourceVersion === object.metadata.resourceVersion) return true;
  if (label === undefined || found.metadata.labels?.[label] !== object.metadata.labels?.[label]) return false;
  return mayChange || sliceFingerprint(found) === sliceFingerprint(object);
}
