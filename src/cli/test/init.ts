import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EngineError, messageOf } from "../../base/errors.ts";
import { PATCH_TEST_JSON_SCHEMA } from "../../workbench/patch-tests/suite/schema.ts";
import type { CommandContext } from "../process/command.ts";
import { loadConfiguration } from "../input/configuration.ts";
import { formatValue, visible } from "../output/output.ts";
import type { Terminal } from "../process/terminal.ts";
import { TEST_FILE_SUFFIX } from "./files/discover.ts";
import { samplesFor } from "./samples/sample-objects.ts";
import { SCHEMA_FILE, skeletonOf } from "./skeleton.ts";
import type { SkeletonFile } from "./skeleton.ts";

/** Where tests go, below the folder of the configuration. */
const TESTS = "patch-tests";

const CONFIG = "vcluster.yaml";
const SETTINGS = "settings.yaml";

/** The virtual cluster that tests are about when they name none. */
const VCLUSTER = { name: "blue", namespace: "vc-blue" };

/** A configuration to begin with. */
const FIRST_CONFIG = `sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: context.vcluster.name + "-" + value
          reverseExpression: value.slice(context.vcluster.name.length + 1)
`;

/** Writes a test of every patch of a folder's configuration, and a configuration where there is none. Nothing is overwritten. */
export async function initTests(context: CommandContext, folder: string): Promise<void> {
  const { terminal } = context;
  const config = join(folder, CONFIG);
  const settings = (await isThere(join(folder, SETTINGS))) ? join(folder, SETTINGS) : undefined;
  await make(terminal, { file: config, text: FIRST_CONFIG });
  const loaded = await loadConfiguration(context, { ...VCLUSTER, config: [config], ...(settings !== undefined && { settings }) });
  if (loaded === undefined) return;
  if (samplesFor(loaded.config).length === 0) throw noPatches(config);
  const file = join(folder, TESTS, `vcluster${TEST_FILE_SUFFIX}`);
  const names = { config: `../${CONFIG}`, ...(settings !== undefined && { settings: `../${SETTINGS}` }) };
  const read = (name: string) => terminal.read(name);
  const files = await skeletonOf({ loaded, file, names, read });
  const schema = { file: join(folder, TESTS, SCHEMA_FILE), text: formatValue(PATCH_TEST_JSON_SCHEMA(), "json") };
  for (const one of [...files, schema]) await make(terminal, one);
  terminal.out(visible(`Run them with: endpoint-sync test${folder === "." ? "" : ` ${folder}`}\n`));
}

/** Writes a file unless there is one, and tells which. @throws CONFIG_FILE when it cannot be written. */
async function make(terminal: Terminal, { file, text }: SkeletonFile): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx" });
    terminal.out(visible(`Wrote ${file}\n`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && (await isThere(file))) return terminal.out(visible(`Kept ${file}\n`));
    throw new EngineError("CONFIG_FILE", `Cannot write "${file}": ${messageOf(error)}`, { cause: error });
  }
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function noPatches(config: string): EngineError {
  const hint = "Write a patch first: docs/guides/write-patches.md";
  return new EngineError("USAGE", `"${config}" has no patches that could be tested`, { details: { hint } });
}
