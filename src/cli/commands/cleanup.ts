import { Option, type Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import { createTranslatorFor } from "../../engine/engine.ts";
import { formatKey, keyOf } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../kube/object/resource.ts";
import { removeCopies, type Removal } from "../../engine/sync/inspect/cleanup.ts";
import { createClusterReads } from "../../engine/sync/inspect/cluster-reads.ts";
import { findMarkedCopies, type MarkedCopy } from "../../engine/sync/inspect/marked-copies.ts";
import { groupByOwner, type CopyOwner } from "../../engine/sync/inspect/owners.ts";
import type { Translator } from "../../engine/translate/translator.ts";
import { addClusterFlags, loadHostKubeConfig, type ClusterFlags } from "../input/cluster-flags.ts";
import { collect, examples, outputOption, type CommandContext } from "../process/command.ts";
import { loadConfiguration, type LoadedConfiguration } from "../input/configuration.ts";
import { copyKinds } from "../inspect/copy-kinds.ts";
import { reportWarning } from "../output/messages.ts";
import { reportNarrowed } from "../inspect/narrowed.ts";
import { findKind } from "../inspect/object-kind.ts";
import { reachCluster, type ReachedCluster } from "../inspect/open-inspection.ts";
import { formatValue, type OutputFormat } from "../output/output.ts";
import { formatTable } from "../output/table.ts";
import { createTeardown } from "../process/teardown.ts";
import type { Terminal } from "../process/terminal.ts";

interface CleanupFlags extends ClusterFlags {
  readonly kind?: readonly string[];
  readonly clusterUid?: string;
  readonly yes?: boolean;
  readonly output?: OutputFormat;
}

/** `cleanup`: removes copies from the host. */
export function defineCleanup(command: Command, context: CommandContext): void {
  addClusterFlags(command)
    .addOption(
      new Option("--kind <kind>", "remove only copies of this kind, such as endpoints (default: all kinds); repeatable").argParser(collect),
    )
    .option(
      "--cluster-uid <uid>",
      "remove only copies from the tenant cluster with this uid; required if there are copies from several tenant clusters",
    )
    .option("--yes", "delete without asking for confirmation")
    .addOption(outputOption())
    .addHelpText("after", "\nStop the syncer first, or it recreates the copies. The tenant cluster is not contacted and need not exist.")
    .addHelpText(
      "after",
      examples("endpoint-sync cleanup --host-kubeconfig host.kubeconfig --config vcluster.yaml --name blue --namespace vc-blue --yes"),
    )
    .action((flags: CleanupFlags) => cleanup(context, flags));
}

async function cleanup(context: CommandContext, flags: CleanupFlags): Promise<void> {
  const loaded = await loadConfiguration(context, flags);
  if (loaded === undefined) return;
  const { terminal } = context;
  const kubeConfig = await loadHostKubeConfig(flags, terminal.env);
  const teardown = createTeardown();
  try {
    const host = reachCluster({ side: "host", kubeConfig, env: terminal.env, teardown });
    await cleanHost(terminal, flags, { loaded, host });
  } finally {
    await teardown.run();
  }
}

interface Parts {
  readonly loaded: LoadedConfiguration;
  readonly host: ReturnType<typeof reachCluster>;
}

async function cleanHost(terminal: Terminal, flags: CleanupFlags, { loaded, host }: Parts): Promise<void> {
  const translator = createTranslatorFor(loaded);
  const found = await findCopies(terminal, flags, { loaded, host, translator });
  const owners = ownersToClean(terminal, flags, { translator, found });
  const copies = owners.flatMap((owner) => owner.copies);
  if (copies.length > 0) await confirm(terminal, flags, { owners, translator });
  const removals: Removal[] = [];
  try {
    for await (const removal of removeCopies(copies, { client: host.client, translator })) removals.push(removal);
  } finally {
    // After a failure, the removals before it are reported.
    reportRemovals(terminal, flags, removals);
  }
}

async function findCopies(
  terminal: Terminal,
  { kind }: CleanupFlags,
  { loaded, host, translator }: { loaded: LoadedConfiguration; host: ReachedCluster; translator: Translator },
): Promise<readonly MarkedCopy[]> {
  const all = copyKinds(loaded.settings, loaded.kinds);
  const kinds = kind === undefined ? all : kind.map((name) => findKind(name, all, loaded.kinds));
  const reads = createClusterReads({ client: host.client, signal: new AbortController().signal });
  const { copies, hidden, narrowed } = await findMarkedCopies({ reads, translator, kinds });
  reportNarrowed(terminal, { narrowed });
  const usual = [SERVICES, loaded.settings.backends === "slices" ? ENDPOINT_SLICES : ENDPOINTS];
  for (const { resource, error } of hidden) {
    // These kinds always have copies, and a requested kind must be readable.
    if (kind !== undefined || usual.includes(resource)) throw error;
    reportWarning(terminal, `${error.code}: ${resource.kind} objects were not checked: ${error.message}`);
  }
  return copies;
}

async function confirm(
  terminal: Terminal,
  { yes, output }: CleanupFlags,
  { owners, translator }: { owners: readonly CopyOwner[]; translator: Translator },
): Promise<void> {
  const copies = owners.flatMap((owner) => owner.copies);
  const table = owners.map((owner) => `${describeOwner(translator, owner)}:\n${tableOf(owner.copies)}`).join("\n");
  if (output === undefined) terminal.out(table);
  if (yes === true) return;
  // Users see the list before they confirm.
  if (output !== undefined) terminal.err(table.trimEnd());
  const answer = await terminal.ask?.(`Remove ${objectsOf(copies.length)} from the host? Type yes: `);
  if (answer?.trim() === "yes") return;
  const hint = "Pass --yes to delete the objects listed above";
  throw new EngineError("USAGE", `Nothing was removed: ${objectsOf(copies.length)} need${copies.length === 1 ? "s" : ""} confirmation`, {
    details: { hint },
  });
}

function objectsOf(count: number): string {
  return `${count} object${count === 1 ? "" : "s"}`;
}

function tableOf(copies: readonly MarkedCopy[]): string {
  const rows = copies.map(({ resource, object, source }) => [resource.kind, formatKey(keyOf(object)), formatKey(source)]);
  return formatTable([["KIND", "HOST", "COPY OF"], ...rows]);
}

/**
 * Returns the owners whose copies are deleted. Copies of other virtual clusters with the same name are reported and not deleted.
 *
 * @throws USAGE if the copies are from several tenant clusters and no uid was passed, or if no copies are from the cluster with that uid.
 */
function ownersToClean(
  terminal: Terminal,
  { clusterUid }: CleanupFlags,
  { translator, found }: { translator: Translator; found: readonly MarkedCopy[] },
): readonly CopyOwner[] {
  const owners = groupByOwner(translator, found);
  const describe = (some: readonly CopyOwner[]) => some.map((owner) => describeOwner(translator, owner, 3)).join("; ");
  // If the namespace is unknown, the passed uid identifies the owner.
  const named = (owner: CopyOwner) => owner.clusterUid === clusterUid && (owner.isOurs || owner.namespace === undefined);
  const ours = owners.filter((owner) => (clusterUid === undefined ? owner.isOurs : named(owner)));
  const uids = new Set(ours.flatMap((owner) => owner.clusterUid ?? []));
  if (uids.size > 1) {
    const message = `Nothing was removed, because the copies are from several tenant clusters: ${describe(ours)}`;
    throw new EngineError("USAGE", message, { details: { hint: "Pass --cluster-uid to choose one of these tenant clusters" } });
  }
  const others = owners.filter((owner) => !ours.includes(owner));
  if (clusterUid !== undefined && ours.length === 0) {
    const message = `Nothing was removed: no copies are from the tenant cluster ${clusterUid}`;
    throw new EngineError("USAGE", message, { details: { hint: others.length === 0 ? "" : `There are: ${describe(others)}` } });
  }
  for (const owner of others) reportWarning(terminal, `Left alone: ${describe([owner])}`);
  return ours;
}

/** Owner and number of copies, with some host keys. */
function describeOwner({ vcluster }: Translator, { namespace, clusterUid, copies }: CopyOwner, examples = 0): string {
  const where = namespace === undefined ? "of an unknown namespace" : `in namespace ${namespace}`;
  const from = clusterUid === undefined ? "an unknown tenant cluster" : `tenant cluster ${clusterUid}`;
  const keys = copies.slice(0, examples).map(({ resource, object }) => `${resource.kind} ${formatKey(keyOf(object))}`);
  const shownKeys = keys.length === 0 ? "" : ` (${keys.join(", ")}${copies.length > keys.length ? ", …" : ""})`;
  const objects = objectsOf(copies.length);
  return `${objects} of virtual cluster "${vcluster.name}" ${where}, from ${from}${shownKeys}`;
}

function reportRemovals(terminal: Terminal, { output }: CleanupFlags, removals: readonly Removal[]): void {
  const of = (wanted: Removal["result"]) => removals.filter(({ result }) => result === wanted).map(({ copy }) => copy);
  const report = { removed: of("removed").map(shown), held: of("held").map(shown), left: of("left").map(shown) };
  if (output !== undefined) return terminal.out(formatValue(report, output));
  for (const { kind, host, finalizers } of report.held) {
    reportWarning(terminal, `${kind} ${host} remains until its finalizers are removed: ${finalizers.join(", ")}`);
  }
  for (const { kind, host } of report.left) reportWarning(terminal, `${kind} ${host} changed in the meantime and was left alone`);
  if (removals.length === 0) return terminal.out("Nothing to remove.\n");
  const { length } = report.removed;
  terminal.out(`Removed ${objectsOf(length)}.\n`);
}

function shown({ resource, object }: MarkedCopy): { kind: string; host: string; finalizers: readonly string[] } {
  return { kind: resource.kind, host: formatKey(keyOf(object)), finalizers: object.metadata.finalizers ?? [] };
}
