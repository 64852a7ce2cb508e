/**
 * What to write where a copy exists: the parts that differ are compared three ways, with what both sides were when they last agreed.
 *
 * @module
 */
import { jsonEqual } from "../base/json.ts";
import type { KubeObject } from "../object/types.ts";
import { readMarkers } from "../translate/markers.ts";
import { agreedBase, changedSides } from "./base.ts";
import type { Base, Unit, UnitId } from "./base.ts";
import { flowBack } from "./flow-back.ts";
import { forward } from "./forward.ts";
import type { Forward } from "./forward.ts";
import { sourceOf, updatedCopy } from "./host-copy.ts";
import { rejection, reported } from "./plan-report.ts";
import { recreation } from "./plan-types.ts";
import type { Answer, CopyInput, Note, Operation, Plan } from "./plan-types.ts";
import type { Rules } from "./rules.ts";
import { unitsOf } from "./units.ts";

/** Plans what becomes of the parts that differ between a copy and what it should be. */
export function planDifference(rules: Rules, input: CopyInput & { host: KubeObject }, written: Base, answer: Answer): Plan {
  const wanted = forward(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  const units = unitsOf(rules, input.tenant, wanted.object, input.host, written);
  const base = isAnswered(rules, input) ? written : flowedBase(rules, input, { wanted, written, units });
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

/** The copy was written from this very version of the tenant object, so that its base says all; by another syncer, for example. */
function isAnswered({ translator }: Rules, { tenant, host, flowedFrom }: CopyInput & { host: KubeObject }): boolean {
  return flowedFrom === undefined || readMarkers(translator.markerPrefix, host)?.resourceVersion === tenant.metadata.resourceVersion;
}

/**
 * Where the tenant already agrees with an earlier host edit, only what the host changed after that is an edit. A part that the
 * edit took away is one that both sides lack: nothing is left to remember of it. What another syncer has written since then is as
 * its base says, and no edit.
 */
function flowedBase(
  rules: Rules,
  { tenant, host, flowedFrom }: CopyInput & { host: KubeObject },
  { wanted, written, units }: { wanted: Forward; written: Base; units: readonly Unit[] },
): Base {
  const flowed = unitsOf(rules, tenant, wanted.object, flowedFrom!, written);
  const rewritten = isWrittenSince(rules, host, flowedFrom!) ? units.filter((unit) => !changedSides(unit, written).host) : [];
  const excepted = new Set([...flowed.filter(({ desired, host }) => desired !== host), ...rewritten].map(({ id }) => id));
  const agreed = flowed.filter(({ id }) => !excepted.has(id));
  return new Map([...[...written].filter(([id]) => excepted.has(id)), ...agreedBase(agreed)]);
}

/** A syncer wrote the copy after the edit that has flowed: from another version of its source, or by another configuration. */
function isWrittenSince({ translator: { markerPrefix } }: Rules, host: KubeObject, edited: KubeObject): boolean {
  const marks = (object: KubeObject) => ({
    ...readMarkers(markerPrefix, object),
    base: object.metadata.annotations?.[`${markerPrefix}base`],
  });
  return !jsonEqual(marks(host), marks(edited));
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
