import type { Command } from "commander";
import { formatKey, type ObjectKey } from "../../kube/object/key.ts";
import { auditCopies, type AuditFinding } from "../../engine/sync/inspect/audit.ts";
import { findMarkedCopies } from "../../engine/sync/inspect/marked-copies.ts";
import { reportNarrowed } from "../inspect/narrowed.ts";
import { whose } from "../../engine/translate/identity.ts";
import { examples, type CommandContext } from "../process/command.ts";
import { copyKinds } from "../inspect/copy-kinds.ts";
import { EXIT_FAILED, EXIT_USAGE } from "../process/exit-codes.ts";
import type { Inspection } from "../inspect/inspection.ts";
import type { ServiceSources } from "../../engine/sync/inspect/backend-sources.ts";
import { describeReaders, inspectReaders, summariseReaders } from "../inspect/backend-sources.ts";
import { slicesLeft } from "../../engine/sync/backends/left-slices.ts";
import { reportWarning } from "../output/messages.ts";
import { inspectVisibility } from "../inspect/visibility.ts";
import { addInspectionFlags, failingWith, withInspection, type InspectionFlags } from "../inspect/open-inspection.ts";
import { formatValue } from "../output/output.ts";
import { formatTable } from "../output/table.ts";

/** `audit`: reports the differences between the host and its expected state. */
export function defineAudit(command: Command, context: CommandContext): void {
  addInspectionFlags(command)
    .addHelpText(
      "after",
      examples(
        "endpoint-sync audit --tenant-kubeconfig tenant.kubeconfig --host-kubeconfig host.kubeconfig \\\n--config vcluster.yaml --name blue --namespace vc-blue",
      ),
    )
    .action((flags: InspectionFlags) =>
      failingWith(context, EXIT_USAGE, () => withInspection(context, flags, (inspection) => audit(context, flags, inspection))),
    );
}

async function audit({ terminal, exit }: CommandContext, { output }: InspectionFlags, inspection: Inspection): Promise<void> {
  const { tenant, host, engine, rules, hostReads } = inspection;
  const kinds = copyKinds(engine.settings, inspection.kinds);
  const { translator } = engine;
  const found = await findMarkedCopies({ reads: hostReads, translator, kinds });
  const copies = found.copies.filter(({ source }) => whose(rules[0]!, source) === "ours");
  const preview = await inspection.preview();
  // Kinds that are not synced may be unreadable, because the roles in the guide grant only what is needed.
  for (const { resource, error } of found.hidden)
    reportWarning(terminal, `${error.code}: ${resource.kind} objects were not checked: ${error.message}`);
  reportNarrowed(terminal, found);
  const invisible = await inspectVisibility(terminal, inspection);
  const readers = await inspectReaders(inspection);
  const left = slicesLeft(rules, readers?.slices ?? []);
  const findings = auditCopies({ preview, tenant, host, translator, kinds, copies, invisible, left });
  if (findings.length > 0) exit(EXIT_FAILED);
  if (output !== undefined) return terminal.out(formatValue(findings.map(shown), output));
  terminal.out(describe(findings, copies.length, readers?.services ?? []));
}

function describe(findings: readonly AuditFinding[], copies: number, services: readonly ServiceSources[]): string {
  if (findings.length === 0)
    return `No drift: ${copies} ${copies === 1 ? "copy is" : "copies are"} in sync.${summariseReaders(services)}\n`;
  const rows = findings.map(shown).map((one) => [one.finding, one.kind, one.host ?? "-", one.tenant, one.message]);
  return `${formatTable([["FINDING", "KIND", "HOST", "TENANT", "WHY"], ...rows])}${describeReaders(services)}`;
}

function shown({ finding, resource, host, tenant, message }: AuditFinding) {
  return { finding, kind: resource.kind, host: host && place(host), tenant: place(tenant), message };
}

function place(key: ObjectKey): string {
  return formatKey(key);
}
