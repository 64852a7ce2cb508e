/**
 * Plans the write for a tenant object that is to be copied: a new copy, a changed one, or one built again.
 *
 * @module
 */
import { formatKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { ourMarkers } from "../../translate/identity.ts";
import { readMarkers, writeMarkers } from "../../translate/markers.ts";
import { agreedBase, readBase } from "../agreement/base.ts";
import { withoutKeys } from "../rules/excluded-keys.ts";
import { toHostInPieces } from "../convert/to-host.ts";
import { copyOf, rebuiltCopy, copySourceOf } from "./host-copy.ts";
import { isMappedElsewhere } from "../predicate/mapped-elsewhere.ts";
import { isCopyOf, isRewritten, mayAdopt, mayTakeOver, withoutForeignMarks } from "./ownership.ts";
import { planDifference } from "./plan-difference.ts";
import { rejection, reported } from "./plan-report.ts";
import { recreation } from "../plan-types.ts";
import type { MakePlan, CopyInput, Note, Plan } from "../plan-types.ts";
import { roomNotes, unitsWithoutRoom, withoutUnits } from "./room.ts";
import type { Rules } from "../rules/rules.ts";
import { comparedFields } from "../agreement/fields.ts";

/** Plans the copy of one object, considering any object at its host key. */
export function* planCopy(rules: Rules, input: CopyInput, answer: MakePlan): Generator<undefined, Plan> {
  const { host, key } = input;
  if (host === undefined) return yield* planCreate(rules, input, answer);
  if (isCopyOf(rules, host, key)) return yield* planUpdate(rules, { ...input, host }, answer);
  const other = ourMarkers(rules, host, rules.kind.resource);
  if (other !== undefined && isMappedElsewhere(rules.translator, rules.kind.resource, other, input.hostKey))
    return yield* planReplacement(rules, { ...input, host }, answer);
  if (other !== undefined) {
    const message = `"${formatKey(key)}" and "${formatKey(other)}" have the same host name`;
    return answer("refused", { notes: [{ code: "NAME_COLLISION", message }] });
  }
  if (mayAdopt(rules, host, input.tenant)) return yield* planAdoption(rules, { ...input, host }, answer);
  if (mayTakeOver(rules, input, host))
    return host.metadata.deletionTimestamp ? answer("waiting") : yield* planTakeOver(rules, { ...input, host }, answer);
  return answer("refused", {
    notes: [{ code: "HOST_OBJECT_FOREIGN", message: `An object that the syncer does not manage has the host name of "${formatKey(key)}"` }],
  });
}

function* planCreate(rules: Rules, input: CopyInput, answer: MakePlan): Generator<undefined, Plan> {
  const wanted = yield* toHostInPieces(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  const { copy, notes } = newCopy(rules, input, wanted.object);
  const operations = [{ action: "create", side: "host", object: copy, reason: "The tenant object has no copy" }] as const;
  // A client that deleted the copy may know that its source is gone. A stale cache would bring the copy back forever.
  const rests = { restsOnSource: input.vanished === true, restsOnServices: servicesBeside(rules, input) };
  return answer("copied", { ...parts, notes: [...parts.notes, ...notes], operations, ...rests });
}

/** A copy without anything of an earlier one, as far as there is room for its content. */
function newCopy(rules: Rules, input: CopyInput, desired: KubeObject): { copy: KubeObject; notes: readonly Note[] } {
  const source = copySourceOf(rules, input);
  const units = comparedFields(rules, input.tenant, desired, desired);
  const excluded = (key: string) => rules.settings.excluded(key);
  const kept = withoutKeys(input.host?.metadata.annotations ?? {}, (key) => !excluded(key));
  const others = () => ({ ...kept, ...writeMarkers(rules.translator.markerPrefix, source).annotations });
  const left = unitsWithoutRoom(rules, { units, edits: [], standing: kept, others, fresh: true });
  const base = agreedBase(units.filter(({ id }) => !left.has(id)));
  return { copy: copyOf({ rules, desired: withoutUnits(desired, left), source, base, owner: input.owner }), notes: roomNotes(left) };
}

/**
 * Where another syncer takes its Service away, its Endpoints must not come back for a moment. Where a list lacks a Service of
 * another owner, a copy would give it backends. If a writer with newer knowledge of the Services deletes the copy, it would come back
 * for as long as the cache is wrong.
 */
function servicesBeside({ services, kind, settings }: Rules, { hostService, vanished }: CopyInput): Plan["restsOnServices"] & {} {
  if (!kind.besideService) return [];
  const host = services === "external" || hostService === undefined || vanished === true;
  return [...(host ? (["host"] as const) : []), ...(vanished === true && settings.requireService ? (["tenant"] as const) : [])];
}

function* planTakeOver(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan): Generator<undefined, Plan> {
  const reason = "Endpoints left beside a host Service without selector are taken over";
  const planned = yield* planRebuild(rules, input, answer, reason);
  const taken = planned.operations.length > 0 ? [{ code: "TAKEN_OVER", message: reason } as const] : [];
  return { ...planned, notes: [...planned.notes, ...taken], restsOnServices: ["host", "tenant"] };
}

/**
 * The copy of an object that belongs elsewhere becomes ours in one write. Waiting for its deletion would never end if two objects
 * have changed places: each would wait for the other.
 */
function* planReplacement(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan): Generator<undefined, Plan> {
  if (input.host.metadata.deletionTimestamp) return answer("waiting");
  const planned = yield* planRebuild(rules, input, answer, "The tenant object of the copy that was here is now mapped to another place");
  return { ...planned, restsOnSource: true };
}

/** The tenant wins, silently: the base of the other syncer is not known. */
function* planAdoption(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan): Generator<undefined, Plan> {
  if (input.host.metadata.deletionTimestamp) return answer("waiting");
  const reason = `The copy of another syncer (${rules.adopt}) is adopted`;
  const planned = yield* planRebuild(rules, { ...input, host: withoutForeignMarks(rules, input.host) }, answer, reason);
  const adopted = planned.operations.length > 0 ? [{ code: "ADOPTED", message: reason } as const] : [];
  return { ...planned, notes: [...planned.notes, ...adopted] };
}

function* planUpdate(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan): Generator<undefined, Plan> {
  const { host, tenant } = input;
  const markers = readMarkers(rules.translator.markerPrefix, host)!;
  if (host.metadata.deletionTimestamp) return answer("waiting");
  if (markers.uid !== (tenant.metadata.uid ?? "")) return yield* planRebuild(rules, input, answer, "The tenant object was recreated");
  if (isRewritten(rules, host)) return yield* planTakeOver(rules, input, answer);
  const base = readBase(rules.translator.markerPrefix, host);
  if (base === undefined) return yield* planRebuild(rules, input, answer, "The copy has no readable base");
  return yield* planDifference(rules, input, base, answer);
}

/** Everything that may cross is written again; nothing of an earlier life of the copy stays. */
function* planRebuild(rules: Rules, input: CopyInput & { host: KubeObject }, answer: MakePlan, reason: string): Generator<undefined, Plan> {
  const wanted = yield* toHostInPieces(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  if (rules.kind.mustRecreate(input.host, wanted.object)) return answer("copied", { ...parts, operations: [recreation(input.host)] });
  const { copy, notes } = newCopy(rules, input, wanted.object);
  return answer("copied", {
    ...parts,
    notes: [...parts.notes, ...notes],
    operations: [{ action: "update", side: "host", object: rebuiltCopy(rules, input.host, copy), reason }],
  });
}
