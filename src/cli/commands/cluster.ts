import type { Command } from "commander";
import { systemClock } from "../../base/clock.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import { createLineLogger } from "../../base/logger.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import type { PlatformTrust } from "../../cluster/tokens/platform-tokens.ts";
import { aborted, collect, examples, type CommandContext } from "../process/command.ts";
import type { DataFolder } from "../files/data-folder.ts";
import { createMissing } from "../input/first-objects.ts";
import { checkKubeconfigFile, writeKubeconfigFile } from "../files/kubeconfig-file.ts";
import { readFiles } from "../input/objects.ts";
import { parseControllers, parseLabel, parsePort } from "../input/options.ts";
import { addPlatformFlags, readPlatformFlags, type PlatformFlags } from "../input/platform-flags.ts";
import type { Terminal } from "../process/terminal.ts";

interface ClusterOptions extends PlatformFlags {
  readonly name: string;
  readonly port?: number;
  readonly kubeconfig?: string;
  readonly data?: string;
  readonly filename?: readonly string[];
  readonly controllers?: readonly string[];
}

/** `cluster`: runs one embedded cluster until it is stopped. */
export function defineCluster(command: Command, context: CommandContext): void {
  const withPlace = command
    .requiredOption("--name <name>", "name of the cluster, and of its kubeconfig context and user", parseLabel)
    .option("--port <port>", "TCP port on loopback (default: a free port, or with --data the previous port)", parsePort)
    .option("--kubeconfig <file>", "where to write the kubeconfig (default: <name>.kubeconfig)")
    .option("--data <folder>", "folder in which to keep objects and credentials for the next start (default: in memory)")
    .option(
      "-f, --filename <file>",
      "file with initial objects in YAML or JSON, or - for standard input; existing objects do not change; repeatable",
      collect,
    )
    .option(
      "--controllers <names>",
      "controllers to run, separated by commas: * means all, -name excludes one; the names are those of kube-controller-manager (default: *)",
      parseControllers,
    );
  addPlatformFlags(withPlace)
    .addHelpText(
      "after",
      examples(
        "endpoint-sync cluster --name tenant --port 7001 --data tenant-data",
        "endpoint-sync cluster --name tenant -f objects.yaml",
        "endpoint-sync cluster --name tenant --controllers '*,-endpointslice-mirroring-controller'",
        "kubectl --kubeconfig tenant.kubeconfig get namespaces",
        "endpoint-sync cluster --name c1 --platform-issuer https://platform.example --platform-keys jwks.json --platform-target cluster=c1",
      ),
    )
    .action((options: ClusterOptions) => runCluster(context, options));
}

async function runCluster({ terminal }: CommandContext, options: ClusterOptions): Promise<void> {
  const { name, kubeconfig = `${name}.kubeconfig`, data, filename = [] } = options;
  await checkKubeconfigFile({ path: kubeconfig, name });
  const objects = await readFiles(terminal, filename);
  const platform = await readPlatformFlags(options, terminal);
  const stop = terminal.stopSignal();
  const folder = data === undefined ? undefined : await (await import("../files/data-folder.ts")).openDataFolder(data, name);
  const cluster = await startCluster(options, { folder, platform, terminal });
  try {
    await folder?.keep(Number(new URL(cluster.url).port));
    await createMissing(cluster, objects);
    await writeKubeconfigFile(kubeconfig, cluster.kubeconfig);
    if (folder?.renewed) terminal.err("The certificate was about to expire and was replaced: earlier kubeconfigs no longer work");
    terminal.out(`Cluster "${name}" serves ${cluster.url}\nkubectl --kubeconfig ${kubeconfig} get namespaces\n`);
    await aborted(stop);
  } finally {
    await cluster.stop();
  }
}

interface Setting {
  readonly folder: DataFolder | undefined;
  readonly platform: PlatformTrust | undefined;
  readonly terminal: Terminal;
}

async function startCluster({ name, port: asked, controllers }: ClusterOptions, { folder, platform, terminal }: Setting): Promise<Cluster> {
  const clusters = await import("../../cluster/cluster.ts");
  const port = asked ?? folder?.port;
  const logger = createLineLogger({ level: "warn", now: systemClock.now, write: (line) => terminal.err(line) });
  try {
    return await clusters.startCluster({
      name,
      logger,
      ...(port !== undefined && { port }),
      ...(folder && { store: folder.store, credentials: folder.credentials }),
      ...(platform && { platform }),
      ...(controllers && { controllers }),
    });
  } catch (error) {
    await folder?.store.close();
    if (!["EADDRINUSE", "EACCES"].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    const hint =
      asked === undefined
        ? "The previous start used this port. Choose another port with --port; earlier kubeconfigs then no longer work"
        : "Choose another port, or omit --port to use a free one";
    throw new EngineError("USAGE", `Cannot listen on port ${port}: ${messageOf(error)}`, { cause: error, details: { hint } });
  }
}
