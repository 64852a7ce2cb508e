import { Command, CommanderError } from "commander";
import type { SyncedKind } from "../engine/reconcile/rules/rules.ts";
import { CONTEXT_OPTIONS, currentContext } from "./input/context-file.ts";
import { replaceable, type CommandContext } from "./process/command.ts";
import { EXIT_USAGE } from "./process/exit-codes.ts";
import { reportFailure } from "./output/messages.ts";
import { visible } from "./output/output.ts";
import type { Terminal } from "./process/terminal.ts";
import { readVersion } from "./process/version.ts";

/** Gives a command its arguments, options, help and action. */
type Define = (command: Command, context: CommandContext) => void;

/** One command. Its module is loaded only when needed, because the imports of some commands take longer than other commands run. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Define>;
}

const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "run a demonstration between two embedded clusters, with a live table",
    load: async () => (await import("./commands/demo.ts")).defineDemo,
  },
  { name: "run", summary: "sync two clusters until stopped", load: async () => (await import("./commands/run.ts")).defineRun },
  {
    name: "plan",
    summary: "show what run would write now, as diffs, without writing anything",
    load: async () => (await import("./commands/plan.ts")).definePlan,
  },
  {
    name: "why",
    summary: "explain why an object looks as it does on the host",
    load: async () => (await import("./commands/why.ts")).defineWhy,
  },
  {
    name: "audit",
    summary: "compare every copy on the host with its expected state",
    load: async () => (await import("./commands/audit.ts")).defineAudit,
  },
  {
    name: "cleanup",
    summary: "remove all copies of a virtual cluster from the host",
    load: async () => (await import("./commands/cleanup.ts")).defineCleanup,
  },
  {
    name: "render",
    summary: "show how objects would be synced, without connecting to a cluster",
    load: async () => (await import("./commands/render.ts")).defineRender,
  },
  {
    name: "eval",
    summary: "evaluate one expression as a patch would",
    load: async () => (await import("./commands/eval.ts")).defineEval,
  },
  {
    name: "match",
    summary: "show what a path selects: the concrete path and value of every match",
    load: async () => (await import("./commands/match.ts")).defineMatch,
  },
  {
    name: "test",
    summary: "run patch test files; test init creates the first one",
    load: async () => (await import("./commands/test.ts")).defineTest,
  },
  {
    name: "validate",
    summary: "report every problem and warning of a configuration, with line and column",
    load: async () => (await import("./commands/validate.ts")).defineValidate,
  },
  {
    name: "playground",
    summary: "serve a page for trying out patches, on loopback, until stopped",
    load: async () => (await import("./commands/playground.ts")).definePlayground,
  },
  {
    name: "schema",
    summary: "print the JSON schema of a file, for editors",
    load: async () => (await import("./commands/schema.ts")).defineSchema,
  },
  {
    name: "cluster",
    summary: "run one embedded cluster until stopped; its objects are kept in memory, or in a folder",
    load: async () => (await import("./commands/cluster.ts")).defineCluster,
  },
  {
    name: "management",
    summary: "run the management API until stopped; its data is kept in memory, or encrypted in a folder",
    load: async () => (await import("./commands/management.ts")).defineManagement,
  },
  {
    name: "platform-data",
    summary: "back up, restore and check the data of the management API, in a folder or in etcd",
    load: async () => (await import("./commands/platform-data.ts")).definePlatformData,
  },
  {
    name: "secret",
    summary: "read a SharedSecret of the management API, or keep a Secret up to date with it",
    load: async () => (await import("./commands/secret.ts")).defineSecret,
  },
  {
    name: "init",
    summary: "write a small project: a configuration, an object, tests, and a README",
    load: async () => (await import("./commands/init.ts")).defineInit,
  },
  {
    name: "context",
    summary: "save the flags of a virtual cluster under a name",
    load: async () => (await import("./commands/context.ts")).defineContext,
  },
  {
    name: "completion",
    summary: "print a script that completes commands, flags and values in a shell",
    load: async () => {
      const { defineCompletion } = await import("./commands/completion.ts");
      return (command, context) => defineCompletion(command, context, () => createProgram(context));
    },
  },
  {
    name: "login",
    summary: "sign in to the management API with a browser, and write a kubeconfig context",
    load: async () => (await import("./commands/login.ts")).defineLogin,
  },
  {
    name: "login-token",
    summary: "print the sign-in key for kubectl; contexts created by login --exec run this command",
    load: async () => (await import("./commands/login-token.ts")).defineLoginToken,
  },
  { name: "version", summary: "print the version", load: async () => (await import("./commands/version.ts")).defineVersion },
  {
    name: "explain",
    summary: "explain what an error code means and what to do about it",
    load: async () => (await import("./commands/explain.ts")).defineExplain,
  },
];

/**
 * Runs one command line (without `node` and the script) and returns the exit code. Never throws.
 *
 * @param kinds The kinds that can be synced. Default {@link SYNCED_KINDS}.
 */
export async function runCli(argv: readonly string[], terminal: Terminal, kinds?: readonly SyncedKind[]): Promise<number> {
  let code = 0;
  try {
    const program = await createProgram({ terminal, exit: (value) => void (code = value), ...(kinds && { kinds }) }, { named: argv });
    await applyContext(program, terminal);
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    return reportFailure(terminal, error);
  }
}

/**
 * Creates the command line. It contains the summaries of all commands, and the options and actions of the commands in `named` (default:
 * all). The reference of the command line is generated from it.
 */
export async function createProgram(context: CommandContext, { named }: { named?: readonly string[] } = {}): Promise<Command> {
  const program = withOutput(new Command("endpoint-sync"), context.terminal)
    .description(
      "Syncs Endpoints from a virtual Kubernetes cluster to its host: translates names, applies patches, and syncs host edits back",
    )
    .version(readVersion(), "-V, --version", "the version")
    .helpOption("-h, --help", "this help")
    .helpCommand("help [command]", "show help for a command")
    .exitOverride()
    .showHelpAfterError("Add --help for the options and an example.")
    .addHelpText("after", "\nEvery command has --help with examples. endpoint-sync explain CODE explains an error code.");
  for (const { name, summary, load } of COMMANDS) {
    const command = program.command(name).description(summary).helpOption("-h, --help", "this help");
    if (named?.includes(name) !== false) (await load())(command, context);
  }
  return program;
}

/**
 * Sets options from the current context if neither a flag nor a variable sets them. Prints the name of the context if a command uses one of
 * its values.
 *
 * @throws as {@link currentContext}.
 */
async function applyContext(program: Command, terminal: Terminal): Promise<void> {
  const commands = program.commands.filter(({ options }) => options.some(({ envVar }) => envVar === "ENDPOINT_SYNC_NAME"));
  const context = commands.length === 0 ? undefined : await currentContext(terminal);
  if (context === undefined) return;
  for (const command of commands) {
    const known = CONTEXT_OPTIONS.filter((name) => command.options.some((option) => option.attributeName() === name));
    for (const name of known) {
      const value = context.saved[name];
      if (value !== undefined) command.setOptionValueWithSource(name, typeof value === "string" ? value : replaceable(value), "config");
    }
    command.hook("preAction", (_program, used) => {
      if (known.some((name) => used.getOptionValueSource(name) === "config")) terminal.err(`Using context ${visible(context.name)}`);
    });
  }
}

/** Names of commands in other programs, and the corresponding commands of this one. */
const HABITS: Readonly<Record<string, string>> = {
  ...{ lint: "validate", check: "validate", verify: "validate", template: "render", build: "render", diff: "plan", preview: "plan" },
  ...{ apply: "run", sync: "run", start: "run", describe: "why", status: "audit", drift: "audit", delete: "cleanup", uninstall: "cleanup" },
};

/** Suggests the command from {@link HABITS} for an unknown command. Commander itself suggests only similar spellings. */
function withHabit(text: string): string {
  return text.replace(/^error USAGE: unknown command '(\w+)'(\n\(Did you mean [^)]*\))?/, (message, name: string, spelt = "") =>
    Object.hasOwn(HABITS, name) ? `${message.slice(0, message.length - spelt.length)}\n(Did you mean ${HABITS[name]}?)` : message,
  );
}

function withOutput(program: Command, terminal: Terminal): Command {
  const width = () => terminal.screen?.columns ?? 80;
  return program.configureOutput({
    writeOut: (text) => terminal.out(text),
    writeErr: (text) => terminal.err(text.trimEnd()),
    outputError: (text, write) => write(withHabit(text.replace(/^error: /, "error USAGE: "))),
    getOutHelpWidth: width,
    getErrHelpWidth: width,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
}
