import { Command, CommanderError } from "commander";
import { EngineError, isEngineError, messageOf } from "../base/errors.ts";
import { addClusterCommand } from "./commands/cluster.ts";
import { addDemoCommand } from "./commands/demo.ts";
import { addEvalCommand } from "./commands/eval.ts";
import { addExplainCommand } from "./commands/explain.ts";
import { addMatchCommand } from "./commands/match.ts";
import { addRenderCommand } from "./commands/render.ts";
import { addRunCommand } from "./commands/run.ts";
import { addSchemaCommand } from "./commands/schema.ts";
import { addValidateCommand } from "./commands/validate.ts";
import { EXIT_INTERNAL, EXIT_USAGE } from "./command.ts";
import type { CommandContext } from "./command.ts";
import type { Terminal } from "./terminal.ts";

/** Runs one command line (without `node` and the script) and answers the exit code. Never throws. */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  let code = 0;
  const program = createProgram({ terminal, exit: (value) => void (code = value) });
  try {
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    return report(error, terminal);
  }
}

/** Every command with its options; also what the reference of the command line is made from. */
export function createProgram(context: CommandContext): Command {
  const { terminal } = context;
  const program = new Command("endpoint-sync")
    .description("Endpoints of a virtual Kubernetes cluster on its host: translated, patched, and back again")
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text.trimEnd()) })
    .showHelpAfterError("Add --help for the options and an example.");
  const add = [
    addDemoCommand,
    addRunCommand,
    addRenderCommand,
    addEvalCommand,
    addMatchCommand,
    addValidateCommand,
    addSchemaCommand,
    addClusterCommand,
    addExplainCommand,
  ];
  for (const addCommand of add) addCommand(program, context);
  return program;
}

/** Tells people what went wrong, once, with the code and where to read on. */
function report(error: unknown, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (!isEngineError(error)) {
    terminal.err(`error INTERNAL: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`);
    return EXIT_INTERNAL;
  }
  terminal.err(`error ${error.code}: ${error.message}`);
  const hint = error.details["hint"];
  if (typeof hint === "string" && !error.message.includes(hint)) terminal.err(`  ${hint}`);
  terminal.err(`  More: endpoint-sync explain ${error.code}`);
  return exitCodeOf(error);
}

function exitCodeOf(error: EngineError): number {
  if (error.code === "INTERNAL") return EXIT_INTERNAL;
  return error.code === "USAGE" || error.code.startsWith("CONFIG_") || error.code.startsWith("PATH_") ? EXIT_USAGE : 1;
}
