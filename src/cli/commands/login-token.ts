import type { Command } from "commander";
import { examples, type CommandContext } from "../process/command.ts";
import { parsePositive, parseUrl } from "../input/options.ts";
import { LOGIN_TIMEOUT_SECONDS, type LoginTokenFlags } from "../management/clients/exec-credential.ts";

/** `login-token`: the credential plugin in contexts that `login --exec` writes. */
export function defineLoginToken(command: Command, context: CommandContext): void {
  command
    .requiredOption("--server <url>", "URL of the management API", parseUrl)
    .option("--ca <file>", "certificate authority of the server (PEM; default: the kubeconfig's, or the system's)")
    .option("--connector <id>", "provider to sign in with (default: choose one on the page)")
    .option("--timeout <seconds>", "how long to wait for the sign-in", parsePositive, LOGIN_TIMEOUT_SECONDS)
    .option("--no-browser", "only print the URL, do not open a browser")
    .addHelpText("after", examples("endpoint-sync login-token --server https://platform.example.com"))
    .action(async (flags: LoginTokenFlags) => (await import("../management/clients/login-token-run.ts")).runLoginToken(context, flags));
}
