import { Option } from "commander";
import type { Command } from "commander";
import { LOG_LEVELS } from "../../base/logger.ts";
import { examples } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import { addClusterFlags } from "../input/cluster-flags.ts";
import { parseCount, parseRate } from "../input/options.ts";
import type { SidecarOptions } from "../run/sidecar.ts";

/** `run`: the sidecar between two clusters. */
export function defineRun(command: Command, context: CommandContext): void {
  addClusterFlags(command)
    .addOption(
      new Option("--services <who>", "who makes host Services: this syncer, or another one beside it")
        .choices(["managed", "external"])
        .default("managed"),
    )
    .option("--enable-endpoints", "sync Endpoints even if the configuration tells another syncer not to")
    .option("--adopt <prefix>", "take over the copies of another syncer, which is stopped, by the prefix of its markers")
    .option("--adopt-cluster <uid>", "this virtual cluster was rebuilt: its copies from the tenant cluster of this uid are ours")
    .option("--confirm-deletes <number>", "allow up to N deletions held by the delete brake", parseCount)
    .option("--host-qps <number>", "at most so many writes a second to the host; no limit when left out", parseRate)
    .option("--leader-elect", "of several processes for one virtual cluster, let one write and the others stand by")
    .option("--allow-empty", "take an empty configuration or settings file for one that sets nothing, also when it is read again")
    .option("--no-laws", "disable the background check for oscillating patches")
    .option("--metrics-address <address>", "where /metrics is served; empty for nowhere", ":8080")
    .option("--health-address <address>", "where /healthz, /livez and /readyz are served; empty for nowhere", ":8081")
    .addOption(new Option("--log-format <format>", "form of log lines").choices(["json", "text"]).default("text"))
    .addOption(new Option("--log-level <level>", "lines below it are dropped").choices(LOG_LEVELS).default("info"))
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
