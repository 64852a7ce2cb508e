/**
 * What to do about one tenant object, decided from both sides' present state alone. Pure: it reads nothing else and writes
 * nothing; operations are data.
 *
 * @module
 */
import type { Code } from "../base/codes.ts";
import type { DeletePreconditions } from "../object/cluster-client.ts";
import { formatKey, sameKey } from "../object/key.ts";
import type { ObjectKey } from "../object/key.ts";
import { ENDPOINTS } from "../object/resource.ts";
import { compareResourceVersions } from "../object/resource-version.ts";
import type { KubeObject, OwnerReference } from "../object/types.ts";
import type { FoundReference, Outcome } from "../patch/types.ts";
import { formatKind, isOurs, managedByValue, MANAGED_BY, NAMESPACE, readMarkers } from "../translate/markers.ts";
import type { Source } from "../translate/markers.ts";
import { agreement, changedSides, readBase } from "./base.ts";
import type { Base, Unit, UnitId } from "./base.ts";
import { MANAGED_BY_CONTROLLER } from "./excluded-keys.ts";
import { flowBack } from "./flow-back.ts";
import { forward } from "./forward.ts";
import type { Forward, ForwardInput } from "./forward.ts";
import { gate } from "./gate.ts";
import { copyOf, rebuiltCopy, strippedCopy, updatedCopy } from "./host-copy.ts";
import type { Rules, Surroundings } from "./rules.ts";
import { unitsOf } from "./units.ts";

/** Everything a plan looks at. */
export interface PlanInput extends Surroundings {
  /** The tenant key that is reconciled. */
  readonly key: ObjectKey;
  readonly tenant: KubeObject | undefined;
  /** The object at the host key, whoever's it is. */
  readonly host: KubeObject | undefined;
  /** Copies of this tenant object at other host keys, from before its namespace was mapped anew. */
  readonly strays?: readonly KubeObject[];
  /** Owner of new copies, so that uninstalling the virtual cluster collects them. */
  readonly owner?: OwnerReference | undefined;
  /** True when a live read said that the tenant object is no newer than this one. */
  readonly sourceConfirmed?: boolean;
  /** The host object whose edits this very version of the tenant object took over, while the copy's base does not say so yet. */
  readonly flowedFrom?: KubeObject | undefined;
}

/** One intended write. */
export type Operation =
  | { readonly action: "create"; readonly side: "host"; readonly object: KubeObject; readonly reason: string }
  | {
      readonly action: "update";
      readonly side: "host" | "tenant";
      readonly object: KubeObject;
      readonly reason: string;
      readonly restores?: boolean;
    }
  | {
      readonly action: "delete";
      readonly side: "host";
      readonly key: ObjectKey;
      readonly preconditions: DeletePreconditions;
      readonly reason: string;
      /** The delete may happen only if a live read finds no tenant object under the planned key. */
      readonly confirmAbsent: boolean;
    };

/** Something that people should know: shown in `why` and, unless it is a passing state, as an Event on the tenant object. */
export interface Note {
  readonly code: Code;
  readonly message: string;
}

/** What the plan amounts to. */
export type PlanState =
  /** The copy exists and is right once the operations are done. */
  | "copied"
  /** There is no copy, and there should be none. */
  | "absent"
  /** Something else must happen first. */
  | "waiting"
  /** Nothing is touched. */
  | "left"
  /** The object can not be copied as it is. */
  | "refused"
  /** The cached tenant object is older than what was copied already. */
  | "stale";

/** The answer of {@link plan}. */
export interface Plan {
  readonly state: PlanState;
  readonly hostKey: ObjectKey | undefined;
  readonly operations: readonly Operation[];
  readonly notes: readonly Note[];
  readonly outcomes: readonly Outcome[];
  readonly references: readonly FoundReference[];
}

/** Decides what to do about one key. Applying the operations and planning again yields none. */
export function plan(rules: Rules, input: PlanInput): Plan {
  const planned = planAtHostKey(rules, input);
  const { strays = [], tenant } = input;
  // The new copy first: where it can not be made yet, the old one stays.
  if (strays.length === 0 || !rules.enabled || !["copied", "absent"].includes(planned.state)) return planned;
  const gone = strays.filter(({ metadata }) => !metadata.deletionTimestamp);
  const deletions = gone.map((stray) => deletion(stray, "The tenant object translates to another host name now", tenant === undefined));
  return { ...planned, operations: [...planned.operations, ...deletions] };
}

function planAtHostKey(rules: Rules, input: PlanInput): Plan {
  const hostKey = rules.translator.toHost(input.key, rules.kind.resource);
  const answer: Answer = (state, parts = {}) => ({ state, hostKey, operations: [], notes: [], outcomes: [], references: [], ...parts });
  const { tenant } = input;
  if (tenant === undefined) return planAbsent(rules, input, answer);

  const decision = gate(rules, input.key, tenant, input);
  const rewrites = decision.action === "copy" || decision.action === "remove";
  if (rewrites && isStale(rules, { ...input, tenant })) return answer("stale");
  if (decision.action === "copy" && hostKey !== undefined) return planCopy(rules, { ...input, tenant, hostKey }, answer);
  if (decision.action === "copy") return answer("left");
  const notes = [{ code: decision.code, message: decision.message }];
  const waiting = decision.code === "HOST_SERVICE_MISSING";
  switch (decision.action) {
    case "leave":
      return answer(waiting ? "waiting" : "left", { notes });
    case "remove":
      return { ...planRemoval(rules, input, answer, decision.message, false), notes };
    case "hand-over":
      return { ...planHandOver(rules, input, answer), notes };
  }
}

type Answer = (state: PlanState, parts?: Partial<Plan>) => Plan;
type CopyInput = ForwardInput & PlanInput & { readonly tenant: KubeObject; readonly hostKey: ObjectKey };

function planAbsent(rules: Rules, input: PlanInput, answer: Answer): Plan {
  if (!rules.enabled) return answer("left");
  return planRemoval(rules, input, answer, "The tenant object is gone", true);
}

function planRemoval(rules: Rules, { host, key }: PlanInput, answer: Answer, reason: string, confirmAbsent: boolean): Plan {
  if (host === undefined || !isCopyOf(rules, host, key) || host.metadata.deletionTimestamp) return answer("absent");
  return answer("absent", { operations: [deletion(host, reason, confirmAbsent)] });
}

function deletion(host: KubeObject, reason: string, confirmAbsent: boolean): Operation {
  const { uid, resourceVersion, name = "", namespace = "" } = host.metadata;
  const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
  return { action: "delete", side: "host", key: { namespace, name }, preconditions, reason, confirmAbsent };
}

/** What is still as we wrote it goes; what the host's controller has changed already stays, without our marks. */
function planHandOver(rules: Rules, { host, key, tenant }: PlanInput, answer: Answer): Plan {
  if (host === undefined || host.metadata.deletionTimestamp) return answer("left");
  if (!isCopyOf(rules, withMarkerLabels(rules, host, key), key)) return answer("left");
  const asWritten = isCopyOf(rules, host, key) && bodyIsAsWritten(rules, host, tenant!);
  const operation: Operation = asWritten
    ? deletion(host, "The host Service has a selector now", false)
    : { action: "update", side: "host", object: strippedCopy(rules, host), reason: "The host Service has a selector now" };
  return answer("left", { operations: [operation] });
}

/** The endpoints controller replaces all labels, marker labels included, and keeps the annotations. */
function withMarkerLabels({ translator }: Rules, host: KubeObject, { namespace }: ObjectKey): KubeObject {
  const { markerPrefix, vcluster } = translator;
  const markers = { [markerPrefix + MANAGED_BY]: managedByValue(vcluster.name), [markerPrefix + NAMESPACE]: namespace };
  return { ...host, metadata: { ...host.metadata, labels: { ...host.metadata.labels, ...markers } } };
}

function bodyIsAsWritten(rules: Rules, host: KubeObject, tenant: KubeObject): boolean {
  const base = readBase(rules.translator.markerPrefix, host);
  const body: Unit = {
    id: "body",
    tenant: rules.kind.tenantFingerprint(tenant),
    desired: undefined,
    host: rules.kind.hostFingerprint(host),
  };
  return base !== undefined && !changedSides(body, base).host;
}

/** Tells whether `host` is our copy of exactly this tenant object. */
function isCopyOf(rules: Rules, host: KubeObject, key: ObjectKey): boolean {
  const { markerPrefix, vcluster } = rules.translator;
  if (!isOurs(markerPrefix, vcluster.name, host, rules.kind.resource)) return false;
  const source = readMarkers(markerPrefix, host)!;
  return sameKey(source, key);
}

function planCopy(rules: Rules, input: CopyInput, answer: Answer): Plan {
  const { host, key } = input;
  if (host === undefined) return planCreate(rules, input, answer);
  if (isCopyOf(rules, host, key)) return planUpdate(rules, { ...input, host }, answer);
  const { markerPrefix, vcluster } = rules.translator;
  if (isOurs(markerPrefix, vcluster.name, host, rules.kind.resource)) {
    const other = formatKey(readMarkers(markerPrefix, host)!);
    return answer("refused", {
      notes: [{ code: "NAME_COLLISION", message: `"${formatKey(key)}" and "${other}" have the same host name` }],
    });
  }
  if (mayTakeOver(rules, input, host))
    return host.metadata.deletionTimestamp ? answer("waiting") : planTakeOver(rules, { ...input, host }, answer);
  return answer("refused", {
    notes: [{ code: "HOST_OBJECT_FOREIGN", message: `An object that is not ours has the host name of "${formatKey(key)}"` }],
  });
}

/** Endpoints that the host's controller left behind, beside the selector-less host Service of a tenant Service. */
function mayTakeOver(rules: Rules, { tenantService, hostService }: CopyInput, host: KubeObject): boolean {
  if (rules.kind.resource !== ENDPOINTS || tenantService === undefined || hostService === undefined) return false;
  return readMarkers(rules.translator.markerPrefix, host) === undefined;
}

function planCreate(rules: Rules, input: CopyInput, answer: Answer): Plan {
  const wanted = forward(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  const units = unitsOf(rules, input.tenant, wanted.object, wanted.object);
  const object = copyOf({ rules, desired: wanted.object, source: sourceOf(rules, input), base: agreedBase(units), owner: input.owner });
  return answer("copied", { ...parts, operations: [{ action: "create", side: "host", object, reason: "The tenant object has no copy" }] });
}

function planTakeOver(rules: Rules, input: CopyInput & { host: KubeObject }, answer: Answer): Plan {
  const reason = "Endpoints left beside a host Service without selector are taken over";
  const planned = planRebuild(rules, input, answer, reason);
  const taken = planned.operations.length > 0 ? [{ code: "TAKEN_OVER", message: reason } as const] : [];
  return { ...planned, notes: [...planned.notes, ...taken] };
}

function planUpdate(rules: Rules, input: CopyInput & { host: KubeObject }, answer: Answer): Plan {
  const { host, tenant } = input;
  const markers = readMarkers(rules.translator.markerPrefix, host)!;
  if (host.metadata.deletionTimestamp) return answer("waiting");
  if (markers.uid !== (tenant.metadata.uid ?? "")) return planRebuild(rules, input, answer, "The tenant object was created anew");
  if (isRewritten(rules, host)) return planTakeOver(rules, input, answer);
  const base = readBase(rules.translator.markerPrefix, host);
  if (base === undefined) return planRebuild(rules, input, answer, "The copy carries no readable base");
  return planDifference(rules, input, base, answer);
}

/**
 * While the host Service had a selector, if only for a moment, its controller has put its own labels and subsets into our copy.
 * Nobody meant these as edits: flowing back they would empty the tenant's object.
 */
function isRewritten({ kind, settings }: Rules, host: KubeObject): boolean {
  const labelled = Object.hasOwn(host.metadata.labels ?? {}, MANAGED_BY_CONTROLLER) && settings.excluded(MANAGED_BY_CONTROLLER);
  return kind.resource === ENDPOINTS && labelled;
}

/**
 * The fence: a cache that lags behind what was copied already must neither undo it nor take the copy away. Versions of one kind
 * are comparable across objects, so that it also tells an earlier life of the tenant object from a later one.
 */
function isStale(rules: Rules, { host, key, tenant, sourceConfirmed }: PlanInput & { readonly tenant: KubeObject }): boolean {
  if (host === undefined || sourceConfirmed || host.metadata.deletionTimestamp || !isCopyOf(rules, host, key)) return false;
  const copied = readMarkers(rules.translator.markerPrefix, host)!.resourceVersion;
  const cached = tenant.metadata.resourceVersion;
  return copied !== undefined && cached !== undefined && compareResourceVersions(cached, copied) < 0;
}

/** Everything that may cross is written anew; nothing of an earlier life of the copy stays. */
function planRebuild(rules: Rules, input: CopyInput & { host: KubeObject }, answer: Answer, reason: string): Plan {
  const wanted = forward(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  if (rules.kind.mustRecreate(input.host, wanted.object)) return answer("copied", { ...parts, operations: [recreation(input.host)] });
  const units = unitsOf(rules, input.tenant, wanted.object, wanted.object);
  const copy = copyOf({ rules, desired: wanted.object, source: sourceOf(rules, input), base: agreedBase(units), owner: input.owner });
  return answer("copied", {
    ...parts,
    operations: [{ action: "update", side: "host", object: rebuiltCopy(rules, input.host, copy), reason }],
  });
}

function recreation(host: KubeObject): Operation {
  return deletion(host, "A field that can not be changed differs; the copy is created anew", false);
}

function planDifference(rules: Rules, input: CopyInput & { host: KubeObject }, written: Base, answer: Answer): Plan {
  const wanted = forward(rules, input);
  const base = input.flowedFrom === undefined ? written : flowedBase(rules, input, wanted, written);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  const units = unitsOf(rules, input.tenant, wanted.object, input.host, written);
  const differing = units.filter((unit) => unit.desired !== unit.host);
  const edits = differing.filter((unit) => onlyHostChanged(unit, base));
  const back = flowBack(rules, input, edits);
  const notes = [...parts.notes, ...conflicts(differing, base), ...back.refusals.map(({ code, message }) => ({ code, message }))];
  const outcomes = [...parts.outcomes, ...back.outcomes];
  if (back.flowing.length > 0) {
    const reason = `Host edits of ${back.flowing.join(", ")} flow back`;
    return answer("copied", { ...parts, outcomes, notes, operations: [{ action: "update", side: "tenant", object: back.tenant, reason }] });
  }
  const left = new Set(edits.filter(isForeign).map(({ id }) => id));
  return answer("copied", {
    ...parts,
    outcomes,
    notes,
    operations: hostUpdate(rules, input, { wanted, units, left, base: written, edits }),
  });
}

/** Where the tenant already agrees with an earlier host edit, only what the host changed after that is an edit. */
function flowedBase(rules: Rules, { tenant, flowedFrom }: CopyInput, wanted: Forward, base: Base): Base {
  const agreed = unitsOf(rules, tenant, wanted.object, flowedFrom!).filter(({ desired, host }) => desired === host);
  return new Map([...base, ...agreedBase(agreed)]);
}

interface Difference {
  readonly wanted: Forward;
  readonly units: readonly Unit[];
  /** Foreign keys, which stay where they are. */
  readonly left: ReadonlySet<UnitId>;
  readonly base: Base;
  readonly edits: readonly Unit[];
}

function hostUpdate(rules: Rules, input: CopyInput & { host: KubeObject }, { wanted, units, left, base, edits }: Difference): Operation[] {
  if (rules.kind.mustRecreate(input.host, wanted.object)) return [recreation(input.host)];
  const owned = units.filter(({ id }) => !left.has(id));
  const newBase = agreedBase(owned);
  const changed = owned.filter((unit) => unit.desired !== unit.host);
  if (changed.length === 0 && sameBase(base, newBase)) return [];
  const object = updatedCopy({ rules, host: input.host, desired: wanted.object, changed, source: sourceOf(rules, input), base: newBase });
  const restores = changed.length > 0 && changed.every(({ id }) => edits.some((edit) => edit.id === id));
  const reason =
    changed.length === 0 ? "Both sides agree anew" : restores ? "Host edits are undone" : "The tenant object or the configuration changed";
  return [{ action: "update", side: "host", object, reason, ...(restores && { restores }) }];
}

function agreedBase(units: readonly Unit[]): Base {
  const entries = units.map(({ id, tenant, desired }) => [id, agreement(tenant, desired)] as const);
  return new Map(entries.filter((entry): entry is readonly [UnitId, string] => entry[1] !== undefined));
}

function sameBase(left: Base, right: Base): boolean {
  return left.size === right.size && [...left].every(([id, text]) => right.get(id) === text);
}

function onlyHostChanged(unit: Unit, base: Base): boolean {
  const changed = changedSides(unit, base);
  return changed.host && !changed.tenant;
}

/** A key that neither the tenant nor a patch knows. */
function isForeign({ tenant, desired }: Unit): boolean {
  return tenant === undefined && desired === undefined;
}

function conflicts(differing: readonly Unit[], base: Base): Note[] {
  const both = differing.filter((unit) => {
    const changed = changedSides(unit, base);
    return changed.host && changed.tenant;
  });
  return both.map(({ id }) => ({ code: "BOTH_SIDES_CHANGED", message: `${id} changed on both sides; the tenant's value was taken` }));
}

function reported(wanted: Forward): Pick<Plan, "outcomes" | "references" | "notes"> {
  const refused = wanted.refusedAddresses.map(({ ip, reason }): Note => ({
    code: "ADDRESS_REFUSED",
    message: `Address "${ip}" was left out: ${reason}`,
  }));
  const failed = wanted.outcomes.flatMap((outcome) =>
    (outcome.failures ?? []).map(({ code, message, place }): Note => ({ code, message: `${place}: ${message}` })),
  );
  return { outcomes: wanted.outcomes, references: wanted.references, notes: [...refused, ...failed] };
}

function rejection(wanted: Forward): Note[] {
  const notes = reported(wanted).notes;
  return notes.length > 0 ? [...notes] : [{ code: "EXPRESSION_RESULT", message: `The object is not written: ${wanted.rejected}` }];
}

function sourceOf(rules: Rules, { tenant, key, hostKey }: CopyInput): Source {
  const { resourceVersion, uid = "" } = tenant.metadata;
  return {
    vcluster: rules.translator.vcluster.name,
    kind: formatKind(rules.kind.resource),
    ...key,
    uid,
    hostName: hostKey.name,
    hostNamespace: hostKey.namespace,
    ...(resourceVersion !== undefined && { resourceVersion }),
    configHash: rules.configHash,
    ...(rules.clusterUid !== undefined && { clusterUid: rules.clusterUid }),
  };
}
