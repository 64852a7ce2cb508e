import type { Command } from "commander";
import { collect, examples } from "../process/command.ts";
import type { CommandContext } from "../process/command.ts";
import { parseLabel } from "../input/options.ts";
import type { SecretGetFlags, SecretSyncFlags } from "../management/secret-run.ts";

/** `secret get` and `secret sync`. */
export function defineSecret(command: Command, context: CommandContext): void {
  command.addHelpText("after", examples("endpoint-sync secret get db -n shop --key password --platform-kubeconfig platform.kubeconfig"));
  withPlatform(command.command("get").argument("<name>", "name of the SharedSecret").description("print the values of a SharedSecret"))
    .option("--key <key>", "print this value alone, as it is")
    .addHelpText("after", examples("endpoint-sync secret get db -n shop --key password --platform-kubeconfig platform.kubeconfig"))
    .action(async (name: string, flags: SecretGetFlags) => (await import("../management/secret-run.ts")).getSecret(context, name, flags));
  withPlatform(
    command
      .command("sync")
      .argument("<name>", "name of the SharedSecret")
      .description("keep a Secret of a connected cluster equal to a SharedSecret, until stopped"),
  )
    .option("--to <namespace/name>", "the Secret; that of the same namespace and name when left out")
    .option("--kubeconfig <file>", "the connected cluster; in-cluster credentials when left out")
    .option("--context <context>", "context in that file; its current one when left out")
    .option("--adopt", "take over a Secret of that name that follows nothing")
    .addHelpText(
      "after",
      examples(
        "endpoint-sync secret sync db -n shop --to web/db --platform-kubeconfig platform.kubeconfig --kubeconfig cluster.kubeconfig",
      ),
    )
    .action(async (name: string, flags: SecretSyncFlags) => (await import("../management/secret-run.ts")).syncSecret(context, name, flags));
}

function withPlatform(command: Command): Command {
  return command
    .helpOption("-h, --help", "this help")
    .option("-n, --namespace <namespace>", "namespace of the SharedSecret", parseLabel, "default")
    .option("--platform-kubeconfig <file>", "the management API and an access key", collect)
    .option("--platform-url <url>", "the management API, in place of a kubeconfig; the key is in ENDPOINT_SYNC_ACCESS_KEY")
    .option("--platform-ca <file>", "certificate authority of that address (PEM)");
}
