import { writeFile } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { untilStopped } from "../command.ts";
import type { CommandContext } from "../command.ts";

interface ClusterOptions {
  readonly name: string;
  readonly port?: number;
  readonly kubeconfig?: string;
}

/** `cluster`: one embedded cluster until it is stopped. */
export function addClusterCommand(program: Command, context: CommandContext): void {
  program
    .command("cluster")
    .description("run one embedded cluster until stopped; its objects live in memory")
    .requiredOption("--name <name>", "name of the cluster, its context and its user")
    .option("--port <port>", "TCP port on loopback; a free one when left out", parsePort)
    .option("--kubeconfig <file>", "where to write the kubeconfig; <name>.kubeconfig when left out")
    .addHelpText(
      "after",
      "\nExample:\n  endpoint-sync cluster --name tenant --port 7001\n  kubectl --kubeconfig tenant.kubeconfig get namespaces",
    )
    .action((options: ClusterOptions) => runCluster(context, options));
}

async function runCluster({ terminal }: CommandContext, { name, port, kubeconfig = `${name}.kubeconfig` }: ClusterOptions): Promise<void> {
  const { startCluster } = await import("../../clusters/cluster.ts");
  const cluster = await startCluster({ name, ...(port !== undefined && { port }) });
  try {
    // The file holds the credentials of an administrator.
    await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
    terminal.out(`Cluster "${name}" serves ${cluster.url}\nkubectl --kubeconfig ${kubeconfig} get namespaces\n`);
    await untilStopped(terminal.stopped);
  } finally {
    await cluster.stop();
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^[0-9]{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("Wanted a number from 0 to 65535.");
}
