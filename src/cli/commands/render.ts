import { Option } from "commander";
import type { Command } from "commander";
import type { Direction } from "../../object/patch-definition.ts";
import { createPatcher } from "../../patcher.ts";
import type { Patched } from "../../patcher.ts";
import { outputOption } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { collect, loadConfiguration } from "../configuration.ts";
import type { ConfigurationOptions } from "../configuration.ts";
import { readObjects } from "../objects.ts";
import { formatObjects } from "../output.ts";
import type { OutputFormat } from "../output.ts";

interface RenderOptions extends ConfigurationOptions {
  readonly filename: string;
  readonly direction: Direction;
  readonly hostObject?: string;
  readonly tenantObject?: string;
  readonly output?: OutputFormat;
}

/** `render`: objects in, patched objects out, no cluster. */
export function addRenderCommand(program: Command, context: CommandContext): void {
  program
    .command("render")
    .description("show what objects look like on the other side, without any cluster")
    .requiredOption("--config <file>", "vcluster.yaml; may be given several times, later ones win", collect)
    .requiredOption("-f, --filename <file>", "objects in YAML or JSON; - is standard input")
    .addOption(new Option("--direction <direction>", "which way").choices(["toHost", "toTenant"]).default("toHost"))
    .option("--host-object <file>", "the object on the host, for context.hostObject")
    .option("--tenant-object <file>", "the object in the tenant cluster, for context.virtualObject; gives the name on the way back")
    .option("--settings <file>", "settings of the engine")
    .option("--name <name>", "name of the virtual cluster", "vcluster")
    .option("--namespace <namespace>", "host namespace of the virtual cluster", "default")
    .addOption(outputOption())
    .addHelpText("after", "\nExample:\n  endpoint-sync render --config vcluster.yaml -f endpoints.yaml")
    .action((options: RenderOptions) => render(context, options));
}

async function render(context: CommandContext, options: RenderOptions): Promise<void> {
  const { terminal } = context;
  const loaded = await loadConfiguration(context, options);
  if (loaded === undefined) return;
  const [host, tenant] = await Promise.all(
    [options.hostObject, options.tenantObject].map(async (file) => (file ? (await readObjects(terminal, file))[0] : undefined)),
  );
  const patcher = await createPatcher(loaded);
  try {
    const objects = await readObjects(terminal, options.filename);
    const known = objects.filter((object) => patcher.knows(object));
    for (const object of objects.filter((other) => !known.includes(other))) {
      terminal.err(`warning: ${object.kind} ${object.metadata.name ?? ""} is left out: objects of this kind are not synced`);
    }
    const results = known.map((object) =>
      options.direction === "toHost" ? patcher.toHost(object, host && { host }) : patcher.toTenant(object, tenant && { tenant }),
    );
    for (const result of results) reportTrouble(context, result);
    terminal.out(
      formatObjects(
        results.map(({ object }) => object),
        options.output ?? "yaml",
      ),
    );
  } finally {
    patcher.dispose();
  }
}

/** What did not go as the configuration says, on standard error beside the result. */
function reportTrouble({ terminal }: CommandContext, { object, outcomes, refusedAddresses, rejected }: Patched): void {
  const name = `${object.kind} ${object.metadata.name ?? ""}`;
  for (const { path, failures = [] } of outcomes) {
    for (const { place, code, message } of failures) terminal.err(`warning ${code}: ${name}, patch of ${path}, at ${place}: ${message}`);
  }
  for (const { ip, reason } of refusedAddresses) terminal.err(`warning ADDRESS_REFUSED: ${name}: "${ip}" was left out: ${reason}`);
  if (rejected !== undefined) terminal.err(`warning: ${name} would not be written: ${rejected}`);
}
