/**
 * The syncer, in order of life: sources say which keys changed, a reconcile gathers what both sides look like, plans, and
 * carries the plan out.
 *
 * @module
 */
import type { Clock } from "../base/clock.ts";
import { EngineError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Metrics } from "../base/metrics.ts";
import { keyOf, sameKey } from "../object/key.ts";
import type { ObjectKey } from "../object/key.ts";
import { SERVICES } from "../object/resource.ts";
import type { KubeObject, OwnerReference, Service } from "../object/types.ts";
import { plan } from "../reconcile/plan.ts";
import type { Note, Operation, Plan, PlanInput } from "../reconcile/plan.ts";
import type { Rules } from "../reconcile/rules.ts";
import type { ClusterAccess } from "./access.ts";
import { applyOperation } from "./apply.ts";
import type { Applied, ApplyTarget } from "./apply.ts";
import { createEventRecorder } from "./events.ts";
import { createFlows } from "./flows.ts";
import { createKeyRouter } from "./key-router.ts";
import { createLatest } from "./latest.ts";
import type { Latest } from "./latest.ts";
import { createLoopGuard } from "./loop-guard.ts";
import type { LoopGuardLimits } from "./loop-guard.ts";
import { createRecords } from "./records.ts";
import type { SyncRecord } from "./records.ts";
import { parseSyncId } from "./sync-id.ts";

/** What an embedder may look at or stop. */
export interface SyncHooks {
  /** Sees every write before it happens; "refuse" leaves it out until the object changes again. */
  beforeWrite?(operation: Operation): Operation | "refuse";
  /** Sees every plan that was made. */
  onPlan?(key: ObjectKey, resource: string, plan: Plan): void;
}

/** What a syncer is made of. */
export interface SyncLoopOptions {
  readonly tenant: ClusterAccess;
  readonly host: ClusterAccess;
  /** One entry per synced kind. */
  readonly rules: readonly Rules[];
  /** Sets the owner of new copies to this host Service, if it exists. */
  readonly ownerService?: ObjectKey;
  readonly loopGuard: LoopGuardLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly hooks?: SyncHooks;
  /** Receives the keys to reconcile. */
  enqueue(id: string): void;
}

/** The syncer without its queue: whoever owns the queue calls {@link reconcile} for each id that was enqueued. */
export interface SyncLoop {
  /** Brings one object to its wanted state, from the present state only. The id is one that `enqueue` was given. */
  reconcile(id: string): Promise<{ requeueAfterMs?: number }>;
  /** True once every cache was complete for the first time. */
  readonly synced: boolean;
  /** What is known of every object that was looked at. */
  records(): readonly SyncRecord[];
  close(): void;
}

/** A write that met a changed world is planned again after this time, in milliseconds: by then the cache has usually caught up. */
const OUTDATED_RETRY_MS = 50;
/** The time doubles with every such write in a row, up to this: a cache that stays behind must not cost calls without end. */
const OUTDATED_RETRY_MAX_MS = 10_000;
/** A refused object is tried again after this time, in milliseconds, in case its obstacle vanished unseen. */
const REFUSED_RETRY_MS = 60_000;

/** Wires the caches to `enqueue` and waits for {@link SyncLoop.reconcile} to be called. Opens nothing and starts nothing. */
export function createSyncLoop(options: SyncLoopOptions): SyncLoop {
  const { tenant, host, rules, clock, logger, metrics, hooks } = options;
  const tracked = rules.map((rule) => ({
    rules: rule,
    tenant: createLatest(tenant.source(rule.kind.resource)),
    host: createLatest(host.source(rule.kind.resource)),
  }));
  const events = createEventRecorder({ writer: tenant.writer, clock, logger });
  const guard = createLoopGuard(clock, options.loopGuard);
  const flows = createFlows();
  const records = createRecords(clock);
  /** Per id the writes in a row that met a changed world. */
  const outdated = new Map<string, number>();
  const router = createKeyRouter({ tenant, host, rules, enqueue: options.enqueue, changed: (id) => records.changed(id) });

  async function reconcile(id: string): Promise<{ requeueAfterMs?: number }> {
    const { plural, key } = parseSyncId(id);
    const side = tracked.find((entry) => entry.rules.kind.resource.plural === plural);
    if (side === undefined) throw new EngineError("INTERNAL", `Broken invariant: no rules for "${plural}"`);
    const input = gather(id, side, key);
    if (records.settled(id, input)) {
      outdated.delete(id);
      return {};
    }
    router.claim(side.rules, key);
    return run(id, side, input);
  }

  function gather(id: string, side: Tracked, key: ObjectKey): PlanInput {
    const hostKey = side.rules.translator.toHost(key, side.rules.kind.resource);
    const tenantObject = side.tenant.get(key);
    return {
      key,
      tenant: tenantObject,
      flowedFrom: flows.from(id, tenantObject),
      host: hostKey && side.host.get(hostKey),
      tenantService: newest(SERVICES.plural, "tenant", key) as Service | undefined,
      hostService: hostKey && (newest(SERVICES.plural, "host", hostKey) as Service | undefined),
      owner: ownerReference(),
      strays: router.strays(side.rules, key).flatMap((strayKey) => side.host.get(strayKey) ?? []),
    };
  }

  /** Services are synced by this loop or by another syncer; either way their newest known state counts. */
  function newest(plural: string, cluster: "tenant" | "host", key: ObjectKey): KubeObject | undefined {
    const side = tracked.find((entry) => entry.rules.kind.resource.plural === plural);
    return side ? side[cluster].get(key) : options[cluster].source(SERVICES).get(key);
  }

  function ownerReference(): OwnerReference | undefined {
    const service = options.ownerService && host.source(SERVICES).get(options.ownerService);
    if (!service?.metadata.uid) return undefined;
    return { apiVersion: "v1", kind: "Service", name: service.metadata.name!, uid: service.metadata.uid };
  }

  async function run(id: string, side: Tracked, input: PlanInput): Promise<{ requeueAfterMs?: number }> {
    const planned = planOne(side, input);
    if (planned.state === "stale") return runConfirmed(id, side, input);
    return carryOut(id, side, input, planned);
  }

  function planOne(side: Tracked, input: PlanInput): Plan {
    const planned = plan(side.rules, input);
    hooks?.onPlan?.(input.key, side.rules.kind.resource.plural, planned);
    countOutcomes(planned);
    return planned;
  }

  /** The cache is older than the copy. Either it lags, then its next event brings the key back; or the cluster went back in time. */
  async function runConfirmed(id: string, side: Tracked, input: PlanInput): Promise<{ requeueAfterMs?: number }> {
    const live = await tenant.writer.get(side.rules.kind.resource, input.key);
    const confirmed = { ...input, tenant: live, sourceConfirmed: true };
    return carryOut(id, side, confirmed, planOne(side, confirmed));
  }

  async function carryOut(id: string, side: Tracked, input: PlanInput, planned: Plan): Promise<{ requeueAfterMs?: number }> {
    const notes = [...planned.notes];
    const sourceVersion = `${input.tenant?.metadata.uid}/${input.tenant?.metadata.resourceVersion}`;
    const target: ApplyTarget = {
      resource: side.rules.kind.resource,
      tenantKey: input.key,
      tenant: { writer: tenant.writer, latest: side.tenant },
      host: { writer: host.writer, latest: side.host },
    };
    let written = input;
    for (const operation of planned.operations) {
      if (isRestoration(operation) && guard.stopped(id, sourceVersion)) {
        notes.push({
          code: "LOOP_STOPPED",
          message: "Host edits keep coming back; the object is left alone until it changes in the tenant cluster",
        });
        break;
      }
      const allowed = hooks?.beforeWrite?.(operation) ?? operation;
      if (allowed === "refuse") break;
      const applied = await applyOperation(allowed, target);
      metrics.count("endpoint_sync_writes_total", { cluster: allowed.side, action: allowed.action, result: applied.result });
      logger.debug("Applied", { id, action: allowed.action, side: allowed.side, reason: allowed.reason, result: applied.result });
      if (applied.result === "outdated") return retryOutdated(id);
      if (applied.result === "refused") {
        notes.push(applied.note);
        // What comes next may rest on it: an old copy goes only when the new one is there.
        break;
      }
      if (isRestoration(allowed)) guard.restored(id, sourceVersion);
      if (applied.result === "written") noteFlow(id, allowed, applied.object, input);
      written = after(written, allowed, applied);
    }
    return settle(id, side, { input, written, planned, notes });
  }

  function retryOutdated(id: string): { requeueAfterMs: number } {
    const times = outdated.get(id) ?? 0;
    outdated.set(id, times + 1);
    return { requeueAfterMs: Math.min(OUTDATED_RETRY_MS * 2 ** times, OUTDATED_RETRY_MAX_MS) };
  }

  function noteFlow(id: string, { side }: Operation, object: KubeObject, { host }: PlanInput): void {
    if (side === "tenant") flows.flowed(id, object, host);
    else flows.forget(id);
  }

  async function settle(id: string, side: Tracked, done: Done): Promise<{ requeueAfterMs?: number }> {
    const { input, written, planned, notes } = done;
    outdated.delete(id);
    if (input.tenant === undefined) {
      flows.forget(id);
      records.forget(id);
      guard.forget(id);
      router.release(side.rules, input.key);
    } else {
      records.record(id, { resource: side.rules.kind.resource.plural, input: written, planned, notes });
    }
    if (input.tenant !== undefined) await events.record(input.tenant, notes);
    return notes.some(({ code }) => code === "HOST_NAMESPACE_MISSING" || code === "API_INVALID")
      ? { requeueAfterMs: REFUSED_RETRY_MS }
      : {};
  }

  function countOutcomes(planned: Plan): void {
    for (const { outcome } of planned.outcomes) metrics.count("endpoint_sync_patch_outcomes_total", { outcome });
  }

  return {
    reconcile,
    get synced() {
      return router.synced;
    },
    records: () => records.list(),
    close() {
      router.close();
      for (const side of tracked) for (const latest of [side.tenant, side.host]) latest.close();
    },
  };
}

interface Tracked {
  readonly rules: Rules;
  readonly tenant: Latest;
  readonly host: Latest;
}

interface Done {
  readonly input: PlanInput;
  readonly written: PlanInput;
  readonly planned: Plan;
  readonly notes: readonly Note[];
}

function isRestoration(operation: Operation): boolean {
  return operation.action === "update" && operation.restores === true;
}

/** What both sides look like after a write. */
function after(input: PlanInput, operation: Operation, applied: Applied): PlanInput {
  if (applied.result === "deleted") return isHost(input, operation) ? { ...input, host: undefined } : input;
  return applied.result === "written" ? { ...input, [operation.side]: applied.object } : input;
}

function isHost({ host }: PlanInput, operation: Operation): boolean {
  return operation.action === "delete" && host !== undefined && sameKey(operation.key, keyOf(host));
}
