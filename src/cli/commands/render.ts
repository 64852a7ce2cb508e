import { Option, type Command } from "commander";
import { EngineError, isEngineError } from "../../base/errors.ts";
import type { FieldError } from "../../apiserver/types/field-error.ts";
import type { Outcome } from "../../engine/patch/types.ts";
import type { Direction } from "../../engine/patch/patch-definition.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { createPatcher, type Patched, type Patcher } from "../../engine/patcher.ts";
import { WHY_LEFT_OUT } from "../../engine/reconcile/copy/host-copy.ts";
import { collect, examples, outputOption, type CommandContext } from "../process/command.ts";
import { EXIT_FAILED } from "../process/exit-codes.ts";
import { endsEmpty, formatRefusals, patchOfRefusal, refusalsOf } from "../../workbench/host-api.ts";
import { loadConfiguration, type ConfigurationOptions, type LoadedConfiguration } from "../input/configuration.ts";
import { reportFailure, reportWarning } from "../output/messages.ts";
import { displayName, readFiles, readObject } from "../input/objects.ts";
import { addVclusterOptions, configOption, settingsOption } from "../input/options.ts";
import { formatObjects, type OutputFormat } from "../output/output.ts";
import type { Terminal } from "../process/terminal.ts";

interface RenderOptions extends ConfigurationOptions {
  readonly filename: readonly string[];
  readonly direction: Direction;
  readonly hostObject?: string;
  readonly tenantObject?: string;
  readonly output: OutputFormat;
}

/** `render`: patches objects from a file, without any cluster. */
export function defineRender(command: Command, context: CommandContext): void {
  const withFiles = command
    .addOption(configOption().makeOptionMandatory())
    .requiredOption("-f, --filename <file>", "file with objects in YAML or JSON, or - for standard input; repeatable", collect)
    .addOption(new Option("--direction <direction>", "direction of the sync").choices(["toHost", "toTenant"]).default("toHost"))
    .option("--host-object <file>", "file with the host object, for context.hostObject")
    .option(
      "--tenant-object <file>",
      "file with the tenant object, for context.virtualObject; with --direction toTenant, the result has its name",
    )
    .addOption(settingsOption());
  addVclusterOptions(withFiles)
    .addOption(outputOption().default("yaml"))
    .addHelpText(
      "after",
      examples(
        "endpoint-sync render --config vcluster.yaml -f endpoints.yaml --name blue --namespace vc-blue",
        "endpoint-sync render --config vcluster.yaml -f host.yaml --direction toTenant --tenant-object endpoints.yaml -o json",
      ),
    )
    .action((options: RenderOptions) => render(context, options));
}

async function render(context: CommandContext, options: RenderOptions): Promise<void> {
  const { terminal } = context;
  const loaded = await loadConfiguration(context, options);
  if (loaded === undefined) return;
  const objects = await readFiles(terminal, options.filename);
  const [host, tenant] = await Promise.all(
    [options.hostObject, options.tenantObject].map(async (file) => (file === undefined ? undefined : readObject(terminal, file))),
  );
  const patcher = await createPatcher(loaded);
  try {
    const apply = (object: KubeObject) =>
      toHost ? patcher.toHost(object, host && { host }) : patcher.toTenant(object, tenant && { tenant });
    const toHost = options.direction === "toHost";
    const rejection = toHost ? "would not be written" : "is shown with the tenant's body";
    const results = objects.flatMap((object) => patched(context, { patcher, kinds: loaded.kinds, object, apply, rejection, toHost }));
    terminal.out(formatObjects(results, options.output));
  } finally {
    patcher.dispose();
  }
}

/** One object to render. */
interface Rendering {
  readonly patcher: Patcher;
  readonly kinds: LoadedConfiguration["kinds"];
  readonly object: KubeObject;
  readonly apply: (object: KubeObject) => Patched;
  /** Consequence of a rejected result. */
  readonly rejection: string;
  readonly toHost: boolean;
}

/**
 * Returns the patched object, or nothing and a warning if it is not synced. An object that an API server would refuse fails the command,
 * but is still shown.
 */
function patched({ terminal, exit }: CommandContext, { patcher, kinds, object, apply, rejection, toHost }: Rendering): KubeObject[] {
  if (!patcher.knows(object)) {
    reportWarning(terminal, `${displayName(object)} is left out: objects of this kind are not synced`);
    return [];
  }
  if (!object.metadata.name) throw new EngineError("USAGE", `Cannot render ${object.kind} without metadata.name`);
  try {
    const result = apply(object);
    if (result.excluded !== undefined) {
      reportWarning(terminal, `${result.excluded.code}: ${displayName(object)} is left out: ${result.excluded.message}`);
      return [];
    }
    reportTrouble(terminal, object, result);
    // Objects for the tenant are not checked: the tenant's API server has already accepted the tenant's object.
    const refusals = toHost ? refusalsOf(result.object, kinds) : [];
    for (const refusal of refusals) reportRefusal(terminal, displayName(object), refusal, patchOfRefusal(refusal, result));
    if (refusals.length > 0) exit(EXIT_FAILED);
    if (endsEmpty(object, result)) reportWarning(terminal, `ADDRESS_REFUSED: ${displayName(object)} has no address left on the host`);
    if (result.rejected !== undefined) reportWarning(terminal, `${displayName(object)} ${rejection}: ${result.rejected}`);
    return [result.object];
  } catch (error) {
    if (!isEngineError(error, "NAME_NOT_MAPPED")) throw error;
    reportWarning(terminal, `${error.code}: ${displayName(object)} is left out: ${error.message}`);
    return [];
  }
}

function reportRefusal(terminal: Terminal, name: string, refusal: FieldError, patch: Outcome | undefined): void {
  const whose = patch === undefined ? "" : `, patch of ${patch.path}`;
  reportFailure(
    terminal,
    new EngineError("API_INVALID", `${name}${whose}: an API server refuses the result: ${formatRefusals([refusal])}`, {
      details: { hint: "The object would not be written. Change what the patch writes to the field" },
    }),
  );
}

/** Reports failures of patches, and omitted addresses, fields, labels and annotations, on standard error. */
function reportTrouble(terminal: Terminal, object: KubeObject, { outcomes, refusedAddresses, leftOut, noRoom }: Patched): void {
  const name = displayName(object);
  for (const { path, failures = [] } of outcomes) {
    for (const { place, code, message } of failures) reportWarning(terminal, `${code}: ${name}, patch of ${path}, at ${place}: ${message}`);
  }
  for (const { ip, reason } of refusedAddresses) {
    const isPatched = !JSON.stringify(object).includes(JSON.stringify(ip));
    const judged = isPatched ? "; addresses are checked after the patches" : "";
    reportWarning(terminal, `ADDRESS_REFUSED: ${name}: "${ip}" was left out: ${reason}${reason.includes("addressPolicy") ? judged : ""}`);
  }
  for (const place of leftOut) reportWarning(terminal, `FIELD_LEFT_OUT: ${name}: ${place} was left out: ${WHY_LEFT_OUT}`);
  for (const { code, message } of noRoom) reportWarning(terminal, `${code}: ${name}: ${message}`);
}
