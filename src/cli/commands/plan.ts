import type { Command } from "commander";
import type { Code } from "../../base/codes.ts";
import { formatKey } from "../../kube/object/key.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { objectChanges, type ObjectChange } from "../../engine/sync/inspect/object-changes.ts";
import type { Preview } from "../../engine/sync/inspect/preview.ts";
import { examples, type CommandContext } from "../process/command.ts";
import { EXIT_FAILED, EXIT_USAGE } from "../process/exit-codes.ts";
import type { Inspection } from "../inspect/inspection.ts";
import { describeReaders, inspectReaders } from "../inspect/backend-sources.ts";
import type { SourceSlices, ServiceSources } from "../../engine/sync/inspect/backend-sources.ts";
import { reportWarning } from "../output/messages.ts";
import { addInspectionFlags, failingWith, withInspection, type InspectionFlags } from "../inspect/open-inspection.ts";
import { parseCount } from "../input/options.ts";
import { formatValue, visible } from "../output/output.ts";
import { diffOfChange } from "../inspect/shown-object.ts";
import type { Terminal } from "../process/terminal.ts";

/** One object that the plan changes. */
interface Change {
  readonly cluster: "tenant" | "host";
  readonly action: "create" | "update" | "delete";
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** One per write. */
  readonly reasons: readonly string[];
  readonly diff: string;
}

interface Remark {
  readonly object: string;
  readonly code: Code;
  readonly message: string;
  /** Host namespace of the object's copy, if the object can have a copy. */
  readonly hostNamespace?: string;
}

/** The report that `-o` prints. */
interface PlanReport {
  readonly writes: number;
  /** True when a second run would find nothing to do. */
  readonly settled: boolean;
  readonly changes: readonly Change[];
  readonly unsettled: readonly { readonly object: string; readonly reason: string }[];
  readonly notes: readonly Remark[];
  /** Obstacles to a run, one sentence each. */
  readonly blocked: readonly string[];
  /** The current sources of slices on the host, by Service; empty if reading the slices is not allowed. */
  readonly readers: readonly { readonly service: string; readonly hostService: string; readonly told: readonly SourceSlices[] }[];
}

/** Codes of intended states, which need no warning. */
const AS_WANTED: readonly Code[] = ["EXCLUDED", "SYNC_DISABLED", "HOST_SERVICE_SELECTOR", "NAME_NOT_MAPPED"];

/** Codes of objects whose host namespace is missing. The second one is for Endpoints, which wait for their Service. */
const WAITING_FOR_NAMESPACE: readonly Code[] = ["HOST_NAMESPACE_MISSING", "HOST_SERVICE_MISSING"];

/** `plan`: shows what `run` would write. */
export function definePlan(command: Command, context: CommandContext): void {
  addInspectionFlags(command)
    .option("--confirm-deletes <number>", "use the same value as for run", parseCount)
    .addHelpText(
      "after",
      examples(
        "endpoint-sync plan --tenant-kubeconfig tenant.kubeconfig --host-kubeconfig host.kubeconfig \\\n--config vcluster.yaml --name blue --namespace vc-blue",
      ),
    )
    .action((flags: InspectionFlags) =>
      failingWith(context, EXIT_USAGE, () => withInspection(context, flags, (inspection) => plan(context, flags, inspection))),
    );
}

async function plan({ terminal, exit }: CommandContext, { output }: InspectionFlags, inspection: Inspection): Promise<void> {
  const readers = (await inspectReaders(inspection))?.services ?? [];
  const report = reportOf(inspection, await inspection.preview(), readers);
  if (report.writes > 0) exit(EXIT_FAILED);
  // A pipeline must not approve a plan that cannot be carried out.
  if (report.blocked.length > 0) exit(EXIT_USAGE);
  if (output !== undefined) return terminal.out(formatValue(report, output));
  for (const { diff } of report.changes) terminal.out(visible(diff));
  reportNotes(terminal, report.notes);
  terminal.out(visible(`${describeReaders(readers)}${summaryOf(report)}`));
}

function reportOf(inspection: Inspection, { writes, unsettled, records }: Preview, readers: readonly ServiceSources[]): PlanReport {
  const notes: Remark[] = records.flatMap(({ resource, tenantKey, hostKey, notes: own }) =>
    own.map((note) => ({ object: `${resource} ${formatKey(tenantKey)}`, ...note, ...(hostKey && { hostNamespace: hostKey.namespace }) })),
  );
  return {
    writes: writes.length,
    settled: unsettled.length === 0,
    changes: objectChanges(writes, inspection)
      .filter(({ before, after }) => before !== after)
      .map((change) => changeOf(inspection, change)),
    unsettled: unsettled.map(({ id, operation }) => ({ object: nameOfId(id), reason: operation.reason })),
    notes,
    blocked: blockersOf(notes),
    readers: readers.map(({ tenant, host, sources }) => ({ service: formatKey(tenant), hostService: formatKey(host), told: sources })),
  };
}

function nameOfId(id: string): string {
  return id.replace("|", " ");
}

function changeOf(inspection: Inspection, { side, resource, key, reasons, before, after }: ObjectChange): Change {
  const name = `${side} ${resource.kind} ${formatKey(key)}`;
  const madeUp = (text: string) => inspection.tenant.madeUp(text) || inspection.host.madeUp(text);
  const diff = diffOfChange({ name, before, after, madeUp });
  return { cluster: side, action: actionOf(before, after), kind: resource.kind, ...key, reasons, diff };
}

function actionOf(before: KubeObject | undefined, after: KubeObject | undefined): Change["action"] {
  if (before === undefined) return "create";
  return after === undefined ? "delete" : "update";
}

function reportNotes(terminal: Terminal, notes: readonly Remark[]): void {
  const held = notes.filter(({ code }) => code === "DELETE_BRAKE").length;
  const missing = missingNamespaces(notes);
  for (const { object, code, message, hostNamespace = "" } of notes) {
    const isReportedOnce = code === "DELETE_BRAKE" || (WAITING_FOR_NAMESPACE.includes(code) && missing.has(hostNamespace));
    if (!AS_WANTED.includes(code) && !isReportedOnce) reportWarning(terminal, `${code}: ${object}: ${message}`);
  }
  for (const [namespace, waiting] of missing) {
    reportWarning(
      terminal,
      `HOST_NAMESPACE_MISSING: ${waiting} ${waiting === 1 ? "copy waits" : "copies wait"} for host namespace "${namespace}", which endpoint-sync never creates`,
    );
  }
  if (held > 0) reportWarning(terminal, `DELETE_BRAKE: ${held} copies are kept, although their tenant objects are missing`);
}

/** Returns the missing host namespaces, with the number of tenant objects that wait for each. */
function missingNamespaces(notes: readonly Remark[]): ReadonlyMap<string, number> {
  const isMissing = new Set(notes.flatMap(({ code, hostNamespace = "" }) => (code === "HOST_NAMESPACE_MISSING" ? [hostNamespace] : [])));
  const counts = new Map<string, number>();
  for (const { code, hostNamespace = "" } of notes) {
    const waits = WAITING_FOR_NAMESPACE.includes(code) && isMissing.has(hostNamespace);
    if (waits) counts.set(hostNamespace, (counts.get(hostNamespace) ?? 0) + 1);
  }
  return counts;
}

function blockersOf(notes: readonly Remark[]): string[] {
  const missing = [...missingNamespaces(notes).keys()].map(
    (namespace) => `host namespace "${namespace}" does not exist. Create it, or check --namespace and the namespace mappings`,
  );
  const refused = notes
    .filter(({ code }) => code === "API_INVALID")
    .map(({ object }) => `${object} would be refused; see the warning API_INVALID`);
  return [...missing, ...refused];
}

function summaryOf({ settled, unsettled, changes, blocked }: PlanReport): string {
  const stops = blocked.map((why) => `Blocked: ${why}.\n`).join("");
  if (changes.length === 0) return stops === "" ? "Nothing to do.\n" : stops;
  const tenant = changes.filter(({ cluster }) => cluster === "tenant").length;
  const inTenant = tenant === 0 ? "" : ` (${tenant} in the tenant)`;
  const counts = (["create", "update", "delete"] as const).map(
    (action) => `${changes.filter((one) => one.action === action).length} to ${action}`,
  );
  const counted = `Plan: ${counts.join(", ")}${inTenant}.`;
  if (settled) return `${counted} Converges.\n${stops}`;
  const drifting = unsettled.map(({ object, reason }) => `  ${object}: ${reason}\n`).join("");
  return `${counted} Does not converge. These objects would be written repeatedly:\n${drifting}${stops}`;
}
