import type { Command } from "commander";
import { EngineError, isEngineError } from "../../base/errors.ts";
import { createTranslatorFor } from "../../engine/engine.ts";
import { compilePath } from "../../engine/path/path.ts";
import { createSandbox, type Sandbox, type Scope } from "../../engine/sandbox/sandbox.ts";
import { examples, outputOption, type CommandContext } from "../process/command.ts";
import { EXIT_FAILED } from "../process/exit-codes.ts";
import { loadConfiguration, type ConfigurationOptions, type LoadedConfiguration } from "../input/configuration.ts";
import { readObject } from "../input/objects.ts";
import { addVclusterOptions, configOption, settingsOption } from "../input/options.ts";
import { formatDocuments, type OutputFormat } from "../output/output.ts";
import type { Terminal } from "../process/terminal.ts";

interface EvalOptions extends ConfigurationOptions {
  readonly value?: string;
  readonly object?: string;
  readonly path?: string;
  readonly hostObject?: string;
  readonly output?: OutputFormat;
}

/** Structured output of one evaluation. */
type Answer = { readonly result: unknown; readonly fuel: number } | { readonly error: { readonly code: string; readonly message: string } };

/** `eval`: evaluates one expression on one value. */
export function defineEval(command: Command, context: CommandContext): void {
  const withFiles = command
    .argument("<expression>", "JavaScript expression, as in a patch")
    .option("--value <json>", 'the variable "value", as JSON, or - for standard input')
    .option("--object <file>", 'file with the tenant object, for context.virtualObject and, with --path, for the variable "value"')
    .option("--path <path>", "path of the value in the object; the expression runs once per match")
    .option("--host-object <file>", "file with the host object, for context.hostObject")
    .addOption(configOption("for context.vcluster.config"))
    .addOption(settingsOption());
  addVclusterOptions(withFiles)
    .addOption(outputOption())
    .addHelpText(
      "after",
      examples(
        `endpoint-sync eval '"blue-" + value' --value '"web"'`,
        "endpoint-sync eval 'value + \".\" + context.vcluster.name' --object endpoints.yaml --path 'subsets[*].addresses[*].ip' -o json",
      ),
    )
    .action((text: string, options: EvalOptions) => evaluate(context, text, options));
}

async function evaluate(context: CommandContext, text: string, options: EvalOptions): Promise<void> {
  const { terminal, exit } = context;
  const loaded = await loadConfiguration(context, options);
  if (loaded === undefined) return;
  const scopes = await scopesOf(terminal, options, loaded);
  const translator = createTranslatorFor(loaded);
  const sandbox = await createSandbox({ limits: loaded.settings.limits, toHostDns: (name) => translator.dns(name) });
  try {
    if (options.output === undefined) return terminal.out(formatDocuments(scopes.map((scope) => runIn(sandbox, text, scope).value)));
    const answers = scopes.map((scope) => answerOf(sandbox, text, scope));
    if (answers.some((answer) => "error" in answer)) exit(EXIT_FAILED);
    terminal.out(options.output === "json" ? answers.map((answer) => `${JSON.stringify(answer)}\n`).join("") : formatDocuments(answers));
  } finally {
    sandbox.dispose();
  }
}

function runIn(sandbox: Sandbox, text: string, scope: Scope) {
  return sandbox.evaluate(sandbox.compile(text), scope);
}

function answerOf(sandbox: Sandbox, text: string, scope: Scope): Answer {
  try {
    const { value, fuel } = runIn(sandbox, text, scope);
    return { result: value, fuel };
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

async function scopesOf(terminal: Terminal, options: EvalOptions, loaded: LoadedConfiguration): Promise<Scope[]> {
  const virtualObject = options.object === undefined ? null : await readObject(terminal, options.object);
  const hostObject = options.hostObject === undefined ? null : await readObject(terminal, options.hostObject);
  const vcluster = { ...loaded.vcluster, config: loaded.config.merged };
  const scope = (value: unknown, path: string): Scope => ({ value, context: { vcluster, hostObject, virtualObject, path } });
  const { value, object, path } = options;
  if (value !== undefined || virtualObject === null || path === undefined) {
    return [scope(value === undefined ? null : await jsonValue(terminal, value), path ?? "")];
  }
  const matches = compilePath(path).find(virtualObject);
  if (matches.length > 0) return matches.map((match) => scope(match.value, match.path));
  throw new EngineError("USAGE", `Cannot evaluate: "${path}" matches nothing in "${object}"`, {
    details: { hint: "endpoint-sync match shows how much of the path exists" },
  });
}

async function jsonValue(terminal: Terminal, given: string): Promise<unknown> {
  const text = given === "-" ? await terminal.read("-") : given;
  try {
    return withFiniteNumbers(JSON.parse(text));
  } catch (error) {
    const hint = error instanceof RangeError ? "Pass the number as a string" : `A string needs its own quotes: --value '"text"'`;
    throw new EngineError("USAGE", `Cannot read --value: ${(error as Error).message}`, {
      cause: error,
      details: { hint },
    });
  }
}

/** Returns a parsed JSON value unchanged. @throws RangeError if it contains a number that is too large for expressions. */
function withFiniteNumbers(value: unknown): unknown {
  const open = [value];
  while (open.length > 0) {
    const part = open.pop();
    if (typeof part === "number" && !Number.isFinite(part))
      throw new RangeError(`a number is beyond ${Number.MAX_VALUE}, the largest that expressions can use`);
    if (typeof part === "object" && part !== null) for (const member of Object.values(part)) open.push(member);
  }
  return value;
}
