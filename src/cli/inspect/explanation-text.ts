import { formatKey } from "../../kube/object/key.ts";
import type { ObjectExplanation, PendingWrite, SeenOnHost } from "../../engine/sync/inspect/explanation.ts";
import { formatTable } from "../output/table.ts";

const STATES: Readonly<Record<ObjectExplanation["state"], string>> = {
  copied: "in sync",
  absent: "there is no copy, and there should be none",
  waiting: "something else must happen first",
  left: "the host object is not changed",
  refused: "the object cannot be copied in its current form",
  stale: "the copy is from a newer version of its source than the one that was read",
};

/**
 * Formats an explanation for human readers: the objects on both sides, the decisions, and the outcome of each patch.
 *
 * @example
 * describeExplanation(explanation); // "Endpoints shop/web\n  tenant    version 12, uid …\n…"
 */
export function describeExplanation(explanation: ObjectExplanation): string {
  const { resource, key } = explanation;
  const sections = [
    section("Patches", ["#", "PATH", "OUTCOME", "MATCHES", "CHANGED", "FUEL"], patchRows(explanation)),
    section("Failures of patches", ["AT", "CODE", "WHY"], failureRows(explanation)),
    section("References", ["AT", "KIND", "TENANT", "HOST", "WHY"], referenceRows(explanation)),
    section("Notes", ["CODE", "WHY"], noteRows(explanation)),
    section("Parts that differ or changed", ["PART", "CHANGED BY", "AS WANTED"], partRows(explanation)),
    section("Pending writes", ["CLUSTER", "ACTION", "WHY"], writeRows(explanation)),
  ];
  return `${resource.kind} ${formatKey(key)}\n${indented(formatTable(facts(explanation)))}${sections.join("")}`;
}

/** Distinguishes a copy that does not exist yet, as right after the start of a syncer, from one that is in sync. */
function stateText(explanation: ObjectExplanation): string {
  const { state, writes, parts } = explanation;
  const isPending = state === "copied" && writes.length > 0;
  const isPartly = isAtRest(explanation) && parts.some(({ isAsWanted }) => !isAsWanted);
  const text = isPending ? "a write is pending; a starting syncer reads both clusters before it writes" : STATES[state];
  return `${state}: ${text}${isPartly ? ", except for parts that stay as they are on the host" : ""}`;
}

/** Reports whether the copy is in sync: a part that differs stays as it is on the host, for the reason in the notes. */
function isAtRest({ state, writes }: ObjectExplanation): boolean {
  return state === "copied" && writes.length === 0;
}

function facts(explanation: ObjectExplanation): string[][] {
  const { tenant, hostKey, host, orphans, decision, settles } = explanation;
  const place = hostKey === undefined ? "no host namespace: the tenant namespace is not mapped" : formatKey(hostKey);
  return [
    ["tenant", tenant === undefined ? "does not exist" : `version ${tenant.resourceVersion}, uid ${tenant.uid}${going(tenant.isGoing)}`],
    ["host", `${place}${host === undefined ? (hostKey === undefined ? "" : ", nothing there") : `, ${describeHost(host)}`}`],
    ...orphans.map((orphan) => ["", `${formatKey(orphan)}, a copy from before its namespace was remapped`]),
    ...(decision === undefined ? [] : [["decision", decision.action === "copy" ? "copy" : `${decision.action}: ${decision.code}`]]),
    ["state", stateText(explanation)],
    ...(settles ? [] : [["", "The object does not converge: the result of a write never matches the desired state"]]),
  ];
}

function describeHost({ whose, markers, base, resourceVersion, isGoing }: SeenOnHost): string {
  const version = `version ${resourceVersion}${going(isGoing)}`;
  if (whose === "foreign") return `${version}, not managed by this syncer`;
  if (whose === "other-copy") return `${version}, the copy of ${markers!.namespace}/${markers!.name}`;
  const from = `the copy, last written from tenant version ${markers?.resourceVersion ?? "?"} of uid ${markers?.uid ?? "?"}`;
  return `${version}, ${from}${base === "none" ? ", without a readable base" : ""}`;
}

function going(isGoing: boolean): string {
  return isGoing ? ", being deleted" : "";
}

function patchRows({ patches }: ObjectExplanation): string[][] {
  return patches.map(({ patch, path, outcome, matches, changed, fuel }) => [
    String(patch),
    path,
    outcome,
    String(matches),
    String(changed),
    String(fuel),
  ]);
}

function failureRows({ patches }: ObjectExplanation): string[][] {
  return patches.flatMap(({ failures = [] }) => failures.map(({ place, code, message }) => [place, code, message]));
}

function referenceRows({ references }: ObjectExplanation): string[][] {
  return references.map(({ place, kind, tenant, host, notes }) => [
    place,
    kind,
    formatKey(tenant),
    formatKey(host),
    notes.map(({ code, message }) => `${code}: ${message}`).join("; "),
  ]);
}

function noteRows({ notes }: ObjectExplanation): string[][] {
  return notes.map(({ code, message }) => [code, message]);
}

function partRows(explanation: ObjectExplanation): string[][] {
  const no = isAtRest(explanation) ? "no, and stays as it is" : "no";
  return explanation.parts.map(({ part, changed, isAsWanted }) => [part, changed, isAsWanted ? "yes" : no]);
}

function writeRows({ writes }: ObjectExplanation): string[][] {
  return writes.map(({ cluster, action, reason }: PendingWrite) => [cluster, action, reason]);
}

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `\n${title}\n${indented(formatTable([head, ...rows]))}`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
