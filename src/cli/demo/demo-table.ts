import { formatKey } from "../../kube/object/key.ts";
import type { SyncRecord } from "../../engine/sync/state/status-records.ts";
import { formatTable } from "../output/table.ts";

const HEAD = ["OBJECT", "VERSION", "HOST OBJECT", "VERSION", "LAG", "OUTCOMES"];

/** The table of all objects: their versions in both clusters, the time that each copy took, and the changes and omissions. */
export function demoTable(records: readonly SyncRecord[], options: { width?: number | undefined } = {}): string {
  const rows = [...records].sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1)).map(rowOf);
  return formatTable([HEAD, ...rows], options);
}

/** The lines of `after` that `before` does not have. */
export function changedLines(before: string, after: string): string {
  const known = new Set(before.split("\n"));
  return after
    .split("\n")
    .filter((line) => line !== "" && !known.has(line))
    .map((line) => `${line}\n`)
    .join("");
}

function rowOf(record: SyncRecord): string[] {
  const { tenantVersion = "-", hostKey, hostVersion, lagMs } = record;
  return [
    nameOf(record),
    tenantVersion,
    hostKey === undefined || hostVersion === undefined ? "-" : formatKey(hostKey),
    hostVersion ?? "-",
    lagMs === undefined ? "-" : `${lagMs.toFixed(1)} ms`,
    outcomesOf(record),
  ];
}

function nameOf({ resource, tenantKey }: SyncRecord): string {
  return `${resource} ${formatKey(tenantKey)}`;
}

/** Describes the state unless it is "copied", the codes of the notes, and the number of applied patches. */
function outcomesOf({ state, notes, outcomes }: SyncRecord): string {
  const applied = outcomes.filter(({ outcome }) => outcome === "applied");
  const changed = applied.reduce((sum, outcome) => sum + outcome.changed, 0);
  const parts = [
    ...(state === "copied" ? [] : [state]),
    ...new Set(notes.map(({ code }) => code)),
    ...(applied.length === 0 ? [] : [`${applied.length} patched (${changed} ${changed === 1 ? "value" : "values"})`]),
  ];
  return parts.length > 0 ? parts.join(", ") : "copied";
}
