import type { Command } from "commander";
import { collect, examples, type CommandContext } from "../process/command.ts";
import { parseLabel } from "../input/options.ts";
import type { SecretGetFlags, SecretSyncFlags } from "../management/clients/secret-run.ts";

/** `secret get` and `secret sync`: read a SharedSecret, or sync it to a Secret. */
export function defineSecret(command: Command, context: CommandContext): void {
  command.addHelpText("after", examples("endpoint-sync secret get db -n shop --key password --platform-kubeconfig platform.kubeconfig"));
  withPlatform(command.command("get").argument("<name>", "name of the SharedSecret").description("print the values of a SharedSecret"))
    .option("--key <key>", "print only the value of this key, decoded")
    .addHelpText("after", examples("endpoint-sync secret get db -n shop --key password --platform-kubeconfig platform.kubeconfig"))
    .action(async (name: string, flags: SecretGetFlags) =>
      (await import("../management/clients/secret-run.ts")).getSecret(context, name, flags),
    );
  withPlatform(
    command
      .command("sync")
      .argument("<name>", "name of the SharedSecret")
      .description("keep a Secret in a connected cluster equal to a SharedSecret, until stopped"),
  )
    .option("--to <namespace/name>", "Secret to write (default: the namespace and name of the SharedSecret)")
    .option("--kubeconfig <file>", "kubeconfig of the connected cluster (default: in-cluster credentials)")
    .option("--context <context>", "context in the --kubeconfig file (default: its current context)")
    .option("--adopt", "take over an existing Secret that is not linked to a SharedSecret")
    .addHelpText(
      "after",
      examples(
        "endpoint-sync secret sync db -n shop --to web/db --platform-kubeconfig platform.kubeconfig --kubeconfig cluster.kubeconfig",
      ),
    )
    .action(async (name: string, flags: SecretSyncFlags) =>
      (await import("../management/clients/secret-run.ts")).syncSecret(context, name, flags),
    );
}

function withPlatform(command: Command): Command {
  return command
    .helpOption("-h, --help", "this help")
    .option("-n, --namespace <namespace>", "namespace of the SharedSecret", parseLabel, "default")
    .option("--platform-kubeconfig <file>", "kubeconfig for the management API, with an access key", collect)
    .option("--platform-url <url>", "URL of the management API instead of a kubeconfig; set the access key in ENDPOINT_SYNC_ACCESS_KEY")
    .option("--platform-ca <file>", "certificate authority for --platform-url (PEM)");
}
