import type { Command } from "commander";
import { EngineError, messageOf } from "../../base/errors.ts";
import type { Cluster } from "../../clusters/cluster.ts";
import { aborted, examples } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { checkKubeconfigFile, writeKubeconfigFile } from "../kubeconfig-file.ts";
import { parseLabel, parsePort } from "../options.ts";

interface ClusterOptions {
  readonly name: string;
  readonly port?: number;
  readonly kubeconfig?: string;
}

/** `cluster`: one embedded cluster until it is stopped. */
export function defineCluster(command: Command, context: CommandContext): void {
  command
    .requiredOption("--name <name>", "name of the cluster, its context and its user", parseLabel)
    .option("--port <port>", "TCP port on loopback; a free one when left out", parsePort)
    .option("--kubeconfig <file>", "where to write the kubeconfig; <name>.kubeconfig when left out")
    .addHelpText(
      "after",
      examples("endpoint-sync cluster --name tenant --port 7001", "kubectl --kubeconfig tenant.kubeconfig get namespaces"),
    )
    .action((options: ClusterOptions) => runCluster(context, options));
}

async function runCluster({ terminal }: CommandContext, { name, port, kubeconfig = `${name}.kubeconfig` }: ClusterOptions): Promise<void> {
  await checkKubeconfigFile({ path: kubeconfig, name });
  const stop = terminal.stopSignal();
  const cluster = await startCluster(name, port);
  try {
    await writeKubeconfigFile(kubeconfig, cluster.kubeconfig);
    terminal.out(`Cluster "${name}" serves ${cluster.url}\nkubectl --kubeconfig ${kubeconfig} get namespaces\n`);
    await aborted(stop);
  } finally {
    await cluster.stop();
  }
}

async function startCluster(name: string, port: number | undefined): Promise<Cluster> {
  const clusters = await import("../../clusters/cluster.ts");
  try {
    return await clusters.startCluster({ name, ...(port !== undefined && { port }) });
  } catch (error) {
    if (!["EADDRINUSE", "EACCES"].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    const hint = "Choose another port, or leave --port out for a free one";
    throw new EngineError("USAGE", `Cannot listen on port ${port}: ${messageOf(error)}`, { cause: error, details: { hint } });
  }
}
