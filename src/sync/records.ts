import type { Clock } from "../base/clock.ts";
import type { ObjectKey } from "../object/key.ts";
import type { KubeObject } from "../object/types.ts";
import type { Outcome } from "../patch/types.ts";
import type { Note, Plan, PlanInput, PlanState } from "../reconcile/plan.ts";
import { parseSyncId } from "./sync-id.ts";

/** What is known of one object after it was last looked at. */
export interface SyncRecord {
  /** Plural of the kind, `endpoints` for example. */
  readonly resource: string;
  readonly tenantKey: ObjectKey;
  readonly hostKey: ObjectKey | undefined;
  readonly state: PlanState;
  readonly tenantVersion: string | undefined;
  readonly hostVersion: string | undefined;
  /** Milliseconds from the tenant's change event to the host write that it caused. */
  readonly lagMs: number | undefined;
  readonly notes: readonly Note[];
  readonly outcomes: readonly Outcome[];
}

/** The records of a syncer, one per object. */
export interface Records {
  /** Notes that the tenant object changed just now. */
  changed(id: string): void;
  record(id: string, facts: { resource: string; input: PlanInput; planned: Plan; notes: readonly Note[] }): void;
  /** True when exactly these inputs were planned before and left nothing to do. */
  settled(id: string, input: PlanInput): boolean;
  forget(id: string): void;
  list(): readonly SyncRecord[];
}

/** No records yet. */
export function createRecords(clock: Clock): Records {
  const records = new Map<string, SyncRecord & { readonly fingerprint: string }>();
  const changedAt = new Map<string, number>();

  function lag(id: string, planned: Plan): number | undefined {
    const wrote = planned.operations.some(({ side }) => side === "host");
    const since = changedAt.get(id);
    // The wait for something else, a Service for example, is part of the lag.
    if (planned.state !== "waiting" && planned.state !== "stale") changedAt.delete(id);
    return wrote && since !== undefined ? clock.monotonic() - since : records.get(id)?.lagMs;
  }

  return {
    changed(id) {
      if (!changedAt.has(id)) changedAt.set(id, clock.monotonic());
    },
    record(id, { resource, input, planned, notes }) {
      records.set(id, {
        resource,
        tenantKey: parseSyncId(id).key,
        hostKey: planned.hostKey,
        state: planned.state,
        tenantVersion: input.tenant?.metadata.resourceVersion,
        hostVersion: input.host?.metadata.resourceVersion,
        lagMs: lag(id, planned),
        notes,
        outcomes: planned.outcomes,
        // A plan with operations must be looked at once more: only a plan without any proves that nothing is left to do.
        fingerprint: planned.operations.length === 0 ? fingerprintOf(input) : "",
      });
    },
    settled(id, input) {
      if (records.get(id)?.fingerprint !== fingerprintOf(input)) return false;
      changedAt.delete(id);
      return true;
    },
    forget(id) {
      records.delete(id);
      changedAt.delete(id);
    },
    list: () => [...records.values()],
  };
}

/** Versions of everything that a plan looks at. Two inputs with equal fingerprints give equal plans. */
function fingerprintOf({ tenant, host, tenantService, hostService, owner, strays = [] }: PlanInput): string {
  return [tenant, host, tenantService, hostService, ...strays]
    .map(versionOf)
    .concat(owner?.uid ?? "")
    .join(" ");
}

function versionOf(object: KubeObject | undefined): string {
  return object === undefined ? "-" : `${object.metadata.uid ?? ""}@${object.metadata.resourceVersion ?? ""}`;
}
