import type { Command } from "commander";
import { EngineError, isEngineError } from "../../base/errors.ts";
import type { KubeObject } from "../../object/types.ts";
import { compilePath } from "../../path/path.ts";
import { createSandbox } from "../../sandbox/sandbox.ts";
import type { Scope } from "../../sandbox/sandbox.ts";
import { outputOption } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { collect, loadConfiguration, parseJsonOption } from "../configuration.ts";
import type { ConfigurationOptions, LoadedConfiguration } from "../configuration.ts";
import { createTranslatorFor } from "../../engine.ts";
import { readObjects } from "../objects.ts";
import { formatValue } from "../output.ts";
import type { OutputFormat } from "../output.ts";

interface EvalOptions extends ConfigurationOptions {
  readonly value?: string;
  readonly object?: string;
  readonly path?: string;
  readonly hostObject?: string;
  readonly output?: OutputFormat;
}

/** `eval`: one expression on one value. */
export function addEvalCommand(program: Command, context: CommandContext): void {
  program
    .command("eval")
    .description("evaluate one expression as a patch would")
    .argument("<expression>", "the expression")
    .option("--value <json>", "the value that the expression sees")
    .option("--object <file>", "the tenant object, for context.virtualObject and, with --path, for value")
    .option("--path <path>", "where in the object the value is; the expression runs once per match")
    .option("--host-object <file>", "the host object, for context.hostObject")
    .option("--config <file>", "vcluster.yaml, for context.vcluster.config", collect)
    .option("--settings <file>", "settings of the engine, for the limits")
    .option("--name <name>", "name of the virtual cluster", "vcluster")
    .option("--namespace <namespace>", "host namespace of the virtual cluster", "default")
    .addOption(outputOption())
    .addHelpText("after", `\nExample:\n  endpoint-sync eval '"blue-" + value' --value '"web"'`)
    .action((text: string, options: EvalOptions) => evaluate(context, text, options));
}

async function evaluate(context: CommandContext, text: string, options: EvalOptions): Promise<void> {
  const loaded = await loadConfiguration(context, options);
  if (loaded === undefined) return;
  const translator = createTranslatorFor(loaded);
  using sandbox = disposing(await createSandbox({ limits: loaded.settings.limits, toHostDns: (name) => translator.dns(name) }));
  for (const scope of await scopesOf(context, options, loaded)) {
    try {
      const expression = sandbox.compile(text);
      const { value, fuel } = sandbox.evaluate(expression, scope);
      context.terminal.out(options.output === "json" ? `${JSON.stringify({ result: value, fuel })}\n` : formatValue(value, "yaml"));
    } catch (error) {
      if (!isEngineError(error) || options.output !== "json") throw error;
      context.terminal.out(`${JSON.stringify({ error: { code: error.code, message: error.message } })}\n`);
      context.exit(1);
    }
  }
}

function disposing<T extends { dispose(): void }>(resource: T): T & Disposable {
  return Object.assign(resource, { [Symbol.dispose]: () => resource.dispose() });
}

async function scopesOf({ terminal }: CommandContext, options: EvalOptions, loaded: LoadedConfiguration): Promise<Scope[]> {
  const virtualObject =
    options.object === undefined ? null : await onlyObject(() => readObjects(terminal, options.object!), options.object);
  const hostObject =
    options.hostObject === undefined ? null : await onlyObject(() => readObjects(terminal, options.hostObject!), options.hostObject);
  const vcluster = { ...loaded.vcluster, config: loaded.config.merged };
  const scope = (value: unknown, path: string): Scope => ({
    value,
    valueExists: true,
    context: { vcluster, hostObject, virtualObject, path },
  });
  if (options.path === undefined || virtualObject === null) {
    return [scope(options.value === undefined ? null : parseJsonOption(options.value, "--value"), options.path ?? "")];
  }
  const matches = compilePath(options.path).find(virtualObject);
  if (matches.length === 0) throw new EngineError("USAGE", `Cannot evaluate: "${options.path}" matches nothing in "${options.object}"`);
  return matches.map(({ value, path }) => scope(value, path));
}

async function onlyObject(read: () => Promise<KubeObject[]>, file: string): Promise<KubeObject> {
  const [object, ...others] = await read();
  if (object === undefined || others.length > 0) throw new EngineError("USAGE", `Cannot use "${file}": wanted exactly one object`);
  return object;
}
