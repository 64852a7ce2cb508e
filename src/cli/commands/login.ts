import type { Command } from "commander";
import { examples, type CommandContext } from "../process/command.ts";
import { parseLabel, parsePositive, parseUrl } from "../input/options.ts";
import { LOGIN_TIMEOUT_SECONDS } from "../management/clients/exec-credential.ts";
import type { LoginFlags } from "../management/clients/login-run.ts";

/** `login`: signs you in to a platform with a browser. */
export function defineLogin(command: Command, context: CommandContext): void {
  command
    .requiredOption("--server <url>", "URL of the management API", parseUrl)
    .option("--ca <file>", "certificate authority of the server (PEM; default: the system's)")
    .option("--connector <id>", "provider to sign in with (default: choose one on the page)")
    .option("--context <name>", "name of the kubeconfig's context, cluster and user", parseLabel, "platform")
    .option("--kubeconfig <file>", "file to write the context to; its other contexts are kept (default: <context>.kubeconfig)")
    .option("--exec", "write a context without a key: it runs endpoint-sync login-token, which signs you in again when the key expires")
    .option("--timeout <seconds>", "how long to wait for the sign-in", parsePositive, LOGIN_TIMEOUT_SECONDS)
    .option("--no-browser", "only print the URL, do not open a browser")
    .addHelpText(
      "after",
      examples(
        "endpoint-sync login --server https://platform.example.com --kubeconfig platform.kubeconfig",
        "endpoint-sync login --server https://platform.example.com --kubeconfig platform.kubeconfig --exec",
      ),
    )
    .action(async (flags: LoginFlags) => (await import("../management/clients/login-run.ts")).runLogin(context, flags));
}
