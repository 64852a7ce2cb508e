import { Option } from "commander";
import type { Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import { createTranslatorFor } from "../../engine.ts";
import { formatKey, keyOf } from "../../object/key.ts";
import { ENDPOINTS, SERVICES } from "../../object/resource.ts";
import { removeCopies } from "../../sync/cleanup.ts";
import type { Removal } from "../../sync/cleanup.ts";
import { createClusterReads } from "../../sync/cluster-reads.ts";
import { findOurCopies } from "../../sync/our-copies.ts";
import type { OurCopy } from "../../sync/our-copies.ts";
import { readMarkers } from "../../translate/markers.ts";
import type { Translator } from "../../translate/translator.ts";
import { addClusterFlags, loadHostKubeConfig } from "../cluster-flags.ts";
import type { ClusterFlags } from "../cluster-flags.ts";
import { collect, examples, outputOption } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { loadConfiguration } from "../configuration.ts";
import type { LoadedConfiguration } from "../configuration.ts";
import { copyKinds } from "../inspect/copy-kinds.ts";
import { hostScope } from "../followed-cluster.ts";
import { tellWarning } from "../output/messages.ts";
import { findKind } from "../inspect/object-kind.ts";
import { reachCluster } from "../inspect/open-inspection.ts";
import type { ReachedCluster } from "../inspect/open-inspection.ts";
import { formatValue } from "../output/output.ts";
import type { OutputFormat } from "../output/output.ts";
import { formatTable } from "../output/table.ts";
import { createTeardown } from "../teardown.ts";
import type { Terminal } from "../terminal.ts";

interface CleanupFlags extends ClusterFlags {
  readonly kind?: readonly string[];
  readonly yes?: boolean;
  readonly output?: OutputFormat;
}

/** `cleanup`: removes what is ours from the host. */
export function defineCleanup(command: Command, context: CommandContext): void {
  addClusterFlags(command)
    .addOption(new Option("--kind <kind>", "only copies of this kind; may be given several times").argParser(collect))
    .option("--yes", "remove without asking")
    .addOption(outputOption())
    .addHelpText("after", "\nStop the syncer first, or it makes the copies anew. The tenant cluster is not asked, and need not be there.")
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
  const copies = await findCopies(terminal, flags, { loaded, host, translator });
  if (copies.length > 0) await confirm(terminal, flags, { copies, translator });
  const removals: Removal[] = [];
  try {
    for await (const removal of removeCopies(copies, { client: host.client, translator })) removals.push(removal);
  } finally {
    // Also what was done before a failure.
    tellRemovals(terminal, flags, removals);
  }
}

async function findCopies(
  terminal: Terminal,
  { kind }: CleanupFlags,
  { loaded, host, translator }: { loaded: LoadedConfiguration; host: ReachedCluster; translator: Translator },
): Promise<readonly OurCopy[]> {
  const all = copyKinds(loaded.settings);
  const kinds = kind === undefined ? all : kind.map((name) => findKind(name, all));
  const reads = createClusterReads({ client: host.client, signal: new AbortController().signal });
  const { copies, hidden } = await findOurCopies({ reads, scope: hostScope(translator), translator, kinds });
  for (const { resource, error } of hidden) {
    // These always have copies, and a kind that was asked for must be looked at.
    if (kind !== undefined || resource === ENDPOINTS || resource === SERVICES) throw error;
    tellWarning(terminal, `${error.code}: ${resource.kind} objects were not looked at: ${error.message}`);
  }
  return copies;
}

async function confirm(
  terminal: Terminal,
  { yes, output }: CleanupFlags,
  { copies, translator }: { copies: readonly OurCopy[]; translator: Translator },
): Promise<void> {
  const rows = copies.map(({ resource, object }) => {
    const { namespace, name } = readMarkers(translator.markerPrefix, object)!;
    return [resource.kind, formatKey(keyOf(object)), formatKey({ namespace, name })];
  });
  const table = formatTable([["KIND", "HOST", "COPY OF"], ...rows]);
  if (output === undefined) terminal.out(table);
  if (yes === true) return;
  // Nobody says yes to what he has not seen.
  if (output !== undefined) terminal.err(table.trimEnd());
  const answer = await terminal.ask?.(`Remove ${copies.length} objects from the host? Type yes: `);
  if (answer?.trim() === "yes") return;
  const hint = "Say --yes, once the list is what should go";
  throw new EngineError("USAGE", `Nothing was removed: ${copies.length} objects wait for a confirmation`, { details: { hint } });
}

function tellRemovals(terminal: Terminal, { output }: CleanupFlags, removals: readonly Removal[]): void {
  const of = (wanted: Removal["result"]) => removals.filter(({ result }) => result === wanted).map(({ copy }) => copy);
  const report = { removed: of("removed").map(shown), held: of("held").map(shown), left: of("left").map(shown) };
  if (output !== undefined) return terminal.out(formatValue(report, output));
  for (const { kind, host, finalizers } of report.held) {
    tellWarning(terminal, `${kind} ${host} goes when its finalizers let it: ${finalizers.join(", ")}`);
  }
  for (const { kind, host } of report.left) tellWarning(terminal, `${kind} ${host} changed meanwhile and was left alone`);
  if (removals.length === 0) return terminal.out("Nothing to remove.\n");
  const { length } = report.removed;
  terminal.out(`Removed ${length} object${length === 1 ? "" : "s"}.\n`);
}

function shown({ resource, object }: OurCopy): { kind: string; host: string; finalizers: readonly string[] } {
  return { kind: resource.kind, host: formatKey(keyOf(object)), finalizers: object.metadata.finalizers ?? [] };
}
