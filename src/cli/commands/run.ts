import { Option, type Command } from "commander";
import { LOG_LEVELS } from "../../base/logger.ts";
import { examples, type CommandContext } from "../process/command.ts";
import { addClusterFlags } from "../input/cluster-flags.ts";
import { parseCount, parseRate } from "../input/options.ts";
import type { SidecarOptions } from "../run/sidecar.ts";

/** `run`: runs the sidecar that syncs two clusters. */
export function defineRun(command: Command, context: CommandContext): void {
  addClusterFlags(command)
    .addOption(
      new Option("--services <who>", "creator of host Services: this syncer (managed) or another one (external)")
        .choices(["managed", "external"])
        .default("managed"),
    )
    .option("--enable-endpoints", "sync Endpoints even if sync.toHost.endpoints.enabled is false in the configuration")
    .option("--adopt <prefix>", "take over the copies of a stopped syncer whose markers have this prefix")
    .option("--adopt-cluster <uid>", "take over the copies from the tenant cluster with this uid, after the virtual cluster was rebuilt")
    .option("--confirm-deletes <number>", "allow up to this many of the deletes that the delete brake holds", parseCount)
    .option("--host-qps <number>", "maximum writes per second to the host (default: no limit)", parseRate)
    .option("--leader-elect", "elect a leader among the processes of a virtual cluster; only the leader writes")
    .option("--allow-empty", "accept an empty configuration or settings file, at startup and on reload")
    .addOption(new Option("--no-laws", "accepted for compatibility with earlier versions; has no effect").hideHelp())
    .option("--metrics-address <address>", "address that serves /metrics; empty to disable", ":8080")
    .option("--health-address <address>", "address that serves /healthz, /livez and /readyz; empty to disable", ":8081")
    .addOption(new Option("--log-format <format>", "format of log lines").choices(["json", "text"]).default("text"))
    .addOption(new Option("--log-level <level>", "minimum level of log lines").choices(LOG_LEVELS).default("info"))
    .addHelpText(
      "after",
      examples(
        "endpoint-sync run --tenant-kubeconfig tenant.kubeconfig --host-kubeconfig host.kubeconfig \\\n--config vcluster.yaml --name blue --namespace vc-blue",
      ),
    )
    .action(async (options: SidecarOptions) => {
      const { runSidecar } = await import("../run/sidecar.ts");
      await runSidecar(context, options);
    });
}
