import type { Clock } from "../../../base/clock.ts";
import type { Code } from "../../../base/codes.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Outcome } from "../../patch/types.ts";
import type { Note, Plan, PlanInput, PlanState } from "../../reconcile/plan-types.ts";
import { parseSyncId } from "./sync-id.ts";

/** Status of one object after it was last processed. */
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

/** Notes with which the host refuses a write, and the state of an object whose copy is not written for that reason. */
const REFUSED_BY_HOST: ReadonlyMap<Code, PlanState> = new Map([
  ["HOST_NAMESPACE_MISSING", "waiting"],
  ["API_INVALID", "refused"],
]);

/** Notes that the place of a copy is taken. The copy is made as soon as the place is free. */
const PLACE_TAKEN: ReadonlySet<Code> = new Set(["HOST_OBJECT_FOREIGN", "NAME_COLLISION"]);

/** Returns the state of an object after its plan was tried: that of the plan, unless the host refused the write. */
export function stateAfter({ state, operations }: Plan, notes: readonly Note[]): PlanState {
  if (state !== "copied" || !operations.some(({ side }) => side === "host")) return state;
  return notes.flatMap(({ code }) => REFUSED_BY_HOST.get(code) ?? [])[0] ?? state;
}

/** Result of processing one object. */
export interface RecordedStatus {
  readonly resource: string;
  readonly input: PlanInput;
  readonly planned: Plan;
  readonly notes: readonly Note[];
  /** True if a plan of this input is known to have no operations. */
  readonly complete: boolean;
  /** The plan was not carried out. Default false. */
  readonly failed?: boolean;
}

/** The records of a syncer, one per object. */
export interface StatusRecords {
  /** Records that the tenant object has just changed. */
  readonly changed: (id: string) => void;
  /** Records the status of an object. Returns the lag if this plan ended it. */
  record(id: string, facts: RecordedStatus): number | undefined;
  /** True if exactly this input was planned before and nothing was left to do. */
  settled(id: string, input: PlanInput): boolean;
  /** True if there was a copy at the host key when the object was last processed. */
  hadCopy(id: string): boolean;
  /** True if the engine itself refused to copy the object when it was last processed, as a failed patch or a rule for addresses can require. */
  readonly isRejected: (id: string) => boolean;
  /** Records that a later plan was not carried out, so that the earlier plan no longer proves that nothing is left to do. */
  unsettle(id: string): void;
  forget(id: string): void;
  list(): readonly SyncRecord[];
}

/** Creates an empty set of status records. Calls `rejected` when the engine begins to refuse an object. */
export function createStatusRecords(clock: Clock, rejected: (id: string) => void = () => {}): StatusRecords {
  const records = new Map<string, SyncRecord & { readonly fingerprint: Fingerprint; readonly isRejected: boolean }>();
  const changedAt = new Map<string, number>();

  return {
    changed(id) {
      if (!changedAt.has(id)) changedAt.set(id, clock.monotonic());
    },
    record(id, { resource, input, planned, notes, complete, failed = false }) {
      const state = stateAfter(planned, notes);
      const since = failed ? undefined : changedAt.get(id);
      // The wait for another object, for example a Service, is part of the lag.
      if (!failed && state !== "waiting" && state !== "stale") changedAt.delete(id);
      const wrote = planned.operations.some(({ side }) => side === "host");
      const isRejected = planned.state === "refused" && !failed && !planned.notes.some(({ code }) => PLACE_TAKEN.has(code));
      if (isRejected && records.get(id)?.isRejected !== true) rejected(id);
      const lagMs = wrote && since !== undefined ? clock.monotonic() - since : undefined;
      records.set(id, {
        resource,
        tenantKey: parseSyncId(id).key,
        hostKey: planned.hostKey,
        state,
        tenantVersion: input.tenant?.metadata.resourceVersion,
        hostVersion: input.host?.metadata.resourceVersion,
        lagMs: lagMs ?? records.get(id)?.lagMs,
        notes,
        outcomes: planned.outcomes,
        // After a write whose answer did not prove that nothing is left to do, the object must be planned again.
        fingerprint: complete ? fingerprintOf(input) : UNSETTLED,
        isRejected,
      });
      return lagMs;
    },
    settled(id, input) {
      const [known, now] = [records.get(id)?.fingerprint ?? UNSETTLED, fingerprintOf(input)];
      if (known.length !== now.length || known.some((part, at) => part !== now[at])) return false;
      changedAt.delete(id);
      return true;
    },
    hadCopy: (id) => records.get(id)?.hostVersion !== undefined,
    isRejected: (id) => records.get(id)?.isRejected === true,
    unsettle(id) {
      const record = records.get(id);
      if (record !== undefined) records.set(id, { ...record, fingerprint: UNSETTLED, isRejected: false });
    },
    forget(id) {
      records.delete(id);
      changedAt.delete(id);
    },
    list: () => [...records.values()],
  };
}

/** Versions of all inputs of a plan. Inputs with equal fingerprints give equal plans. A list is cheap enough for every reconcile. */
type Fingerprint = readonly unknown[];

/** A fingerprint that no input has. */
const UNSETTLED: Fingerprint = [];

function fingerprintOf({
  tenant,
  host,
  tenantService,
  hostService,
  ownsHostService,
  slices,
  owner,
  deletesHeld,
  backends,
  orphans = [],
}: PlanInput): Fingerprint {
  const versions: unknown[] = [
    uidOf(tenant),
    tenant?.metadata.resourceVersion,
    uidOf(host),
    host?.metadata.resourceVersion,
    uidOf(tenantService),
    tenantService?.metadata.resourceVersion,
    uidOf(hostService),
    hostService?.metadata.resourceVersion,
    ownsHostService === true,
    slices?.copied,
    slices?.total,
    owner?.uid,
    tenant === undefined && deletesHeld === true,
    backends?.isSource,
    backends?.mayGo,
    backends?.isKept,
    backends?.awaitsMove,
    backends?.skipMirror,
  ];
  for (const orphan of orphans) versions.push(uidOf(orphan), orphan.metadata.resourceVersion);
  return versions;
}

/** Distinguishes an object without a uid from an absent object. */
function uidOf(object: KubeObject | undefined): string | undefined {
  return object && (object.metadata.uid ?? "");
}
