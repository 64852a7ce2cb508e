import { resolve } from "node:path";
import type { Command } from "commander";
import { EngineError } from "../../base/errors.ts";
import { CONTEXT_FILES, CONTEXT_OPTIONS, contextNamed, readContexts, writeContexts, type SavedContext } from "../input/context-file.ts";
import { addContextFlags, type ClusterFlags } from "../input/cluster-flags.ts";
import { examples, type CommandContext } from "../process/command.ts";
import { formatValue, visible } from "../output/output.ts";
import { formatTable } from "../output/table.ts";

/** `context` and its subcommands: manage the saved flags of virtual clusters. */
export function defineContext(command: Command, context: CommandContext): void {
  const define = (name: string, summary: string, example: string) =>
    command.command(name).description(summary).helpOption("-h, --help", "this help").addHelpText("after", examples(example));
  command
    .helpCommand(false)
    .addHelpText(
      "after",
      "\nCommands take flags from the current context if neither the command line nor an ENDPOINT_SYNC_* variable sets them. ENDPOINT_SYNC_CONTEXT selects a different context, or none if the variable is empty.",
    )
    .addHelpText(
      "after",
      examples("endpoint-sync context", "endpoint-sync context set blue --name blue --namespace vc-blue --config vcluster.yaml"),
    )
    .action(() => show(context));
  define("list", "list the contexts; * marks the current one", "endpoint-sync context list").action(() => list(context));
  define("show", "print the flags of a context", "endpoint-sync context show blue")
    .argument("[name]", "name of the context (default: the current one)")
    .action((name?: string) => show(context, name));
  const set = define(
    "set",
    "write a context, and make it the current one",
    "endpoint-sync context set blue --from-deployment vc-blue/endpoint-sync-blue",
  );
  addContextFlags(set.argument("<name>", "name of the context")).action((name: string, flags: ClusterFlags) => save(context, name, flags));
  define("use", "make a context the current one", "endpoint-sync context use blue")
    .argument("[name]", "name of the context; if omitted, no context is current")
    .action((name?: string) => use(context, name));
  define("remove", "remove a context", "endpoint-sync context remove blue")
    .argument("<name>", "name of the context")
    .action((name: string) => remove(context, name));
}

async function list({ terminal }: CommandContext): Promise<void> {
  const { current, contexts } = await readContexts(terminal);
  const rows = Object.entries(contexts).map(([name, { name: vcluster = "", namespace = "", fromDeployment = "" }]) => [
    name === current ? "*" : "",
    name,
    vcluster,
    namespace,
    fromDeployment,
  ]);
  terminal.out(rows.length === 0 ? "No contexts.\n" : formatTable([["CURRENT", "NAME", "VCLUSTER", "NAMESPACE", "DEPLOYMENT"], ...rows]));
}

async function show({ terminal }: CommandContext, asked?: string): Promise<void> {
  const { current, contexts } = await readContexts(terminal);
  const name = asked ?? terminal.env["ENDPOINT_SYNC_CONTEXT"] ?? current;
  if (name === undefined || name === "") return terminal.out("No context is current.\n");
  terminal.out(visible(formatValue({ context: name, ...contextNamed(name, contexts) }, "yaml")));
}

async function save({ terminal }: CommandContext, name: string, flags: ClusterFlags): Promise<void> {
  if (!/^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/.test(name))
    throw new EngineError(
      "USAGE",
      `Cannot name a context "${name}": expected at most 63 letters, digits, - _ and ., beginning with a letter or digit`,
    );
  const given = CONTEXT_OPTIONS.filter((option) => flags[option] !== undefined);
  if (given.length === 0) throw new EngineError("USAGE", "Specify the flags to save in the context: --name, --config, …");
  const absolute = (value: unknown) => (Array.isArray(value) ? value.map((one) => resolve(String(one))) : resolve(String(value)));
  const saved = Object.fromEntries(
    given.map((option) => [option, CONTEXT_FILES.includes(option) ? absolute(flags[option]) : flags[option]]),
  ) as SavedContext;
  const { contexts } = await readContexts(terminal);
  const old = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  await writeContexts(terminal.env, { current: name, contexts: { ...contexts, [name]: saved } });
  terminal.out(`Context ${name} is ${old === undefined ? "written" : "replaced"} and is now the current one.\n`);
  const lost = CONTEXT_OPTIONS.filter((option) => old?.[option] !== undefined && saved[option] === undefined);
  // The previous values of these flags are lost, because a context is replaced as a whole.
  if (lost.length > 0) terminal.out(`It no longer sets ${lost.map(flagOf).join(", ")}.\n`);
}

/** `--tenant-kubeconfig` for `tenantKubeconfig`. */
function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

async function use({ terminal }: CommandContext, name: string | undefined): Promise<void> {
  const { contexts } = await readContexts(terminal);
  if (name !== undefined) contextNamed(name, contexts);
  await writeContexts(terminal.env, { ...(name !== undefined && { current: name }), contexts });
  terminal.out(name === undefined ? "No context is current.\n" : `Context ${name} is the current one.\n`);
}

async function remove({ terminal }: CommandContext, name: string): Promise<void> {
  const { current, contexts } = await readContexts(terminal);
  contextNamed(name, contexts);
  const others = Object.fromEntries(Object.entries(contexts).filter(([other]) => other !== name));
  await writeContexts(terminal.env, { ...(current !== undefined && current !== name && { current }), contexts: others });
  terminal.out(`Context ${name} is removed.\n`);
}
