import { access, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EngineError, messageOf } from "../../base/errors.ts";
import { createFolders } from "../../apiserver/store/folders.ts";
import { PATCH_TEST_JSON_SCHEMA } from "../../workbench/patch-tests/suite/schema.ts";
import type { CommandContext } from "../process/command.ts";
import { loadConfiguration } from "../input/configuration.ts";
import { formatValue, visible } from "../output/output.ts";
import { reportWarning } from "../output/messages.ts";
import type { Terminal } from "../process/terminal.ts";
import { TEST_FILE_SUFFIX } from "./files/discover.ts";
import { samplesFor } from "./samples/sample-objects.ts";
import { SCHEMA_FILE, skeletonOf, type SkeletonFile } from "./skeleton.ts";

/** The folder for tests, below the folder of the configuration. */
const TESTS = "patch-tests";

const CONFIG = "vcluster.yaml";
const SETTINGS = "settings.yaml";

/** The virtual cluster of tests that do not specify one. */
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

/** Settings that allow only the pod addresses of most clusters. */
const FIRST_SETTINGS = `addressPolicy:
  allow: [10.0.0.0/8] # the networks of the tenant's pods
`;

const FIRST_OBJECT = `apiVersion: v1
kind: Endpoints
metadata:
  name: web
  namespace: shop
  annotations:
    example.com/team: storefront
subsets:
  - addresses:
      - { ip: 10.1.0.11, hostname: db-0 }
    ports:
      - { name: http, port: 8080 }
`;

const FIRST_README = `# Patches of the virtual cluster blue

| file | content |
|---|---|
| \`vcluster.yaml\` | the configuration of the virtual cluster: the patches are under \`sync.toHost\` |
| \`settings.yaml\` | settings of endpoint-sync: which addresses may appear on the host |
| \`endpoints.yaml\` | an object to try the patches on |
| \`patch-tests/\` | tests of every patch |

If endpoint-sync is installed in a local npm project, begin each line with \`npx\`.

\`\`\`sh
endpoint-sync validate vcluster.yaml --settings settings.yaml --laws
endpoint-sync render --config vcluster.yaml --settings settings.yaml -f endpoints.yaml --name blue --namespace vc-blue
endpoint-sync test
\`\`\`

After you change the patches, \`endpoint-sync test init\` writes tests for new patches and keeps the existing tests.
`;

/** Writes a small project: the files of {@link initTests}, with settings, an object and a README. Nothing is overwritten. */
export async function initProject(context: CommandContext, folder: string): Promise<void> {
  const files = { [CONFIG]: FIRST_CONFIG, [SETTINGS]: FIRST_SETTINGS, "endpoints.yaml": FIRST_OBJECT, "README.md": FIRST_README };
  for (const [name, text] of Object.entries(files)) await make(context.terminal, { file: join(folder, name), text });
  await writeTests(context, folder);
}

/** Writes a test for every patch of a folder's configuration, and a configuration if there is none. Nothing is overwritten. */
export async function initTests(context: CommandContext, folder: string): Promise<void> {
  await make(context.terminal, { file: join(folder, CONFIG), text: FIRST_CONFIG });
  await writeTests(context, folder);
}

async function writeTests(context: CommandContext, folder: string): Promise<void> {
  const { terminal } = context;
  const config = join(folder, CONFIG);
  const settings = (await isThere(join(folder, SETTINGS))) ? join(folder, SETTINGS) : undefined;
  const loaded = await loadConfiguration(context, { ...VCLUSTER, config: [config], ...(settings !== undefined && { settings }) });
  if (loaded === undefined) return;
  if (samplesFor(loaded).length === 0) throw noPatches(config);
  const file = join(folder, TESTS, `vcluster${TEST_FILE_SUFFIX}`);
  const names = { config: `../${CONFIG}`, ...(settings !== undefined && { settings: `../${SETTINGS}` }) };
  const read = (name: string) => terminal.read(name);
  const { objects, tests, skipped } = await skeletonOf({ loaded, file, names, read });
  for (const one of objects) await make(terminal, one);
  if (await make(terminal, tests)) for (const { it, skip } of skipped) reportWarning(terminal, skippedInWords(it, skip, file));
  await make(terminal, { file: join(folder, TESTS, SCHEMA_FILE), text: formatValue(PATCH_TEST_JSON_SCHEMA(), "json") });
  terminal.out(visible(`Run the tests with: endpoint-sync test${folder === "." ? "" : ` ${asWord(folder)}`}\n`));
}

function skippedInWords(it: string, skip: string, file: string): string {
  return `The patch ${it} is not tested yet: its test in ${file} ${skip}. Complete the test, and remove skip`;
}

/** Quotes a text, if necessary, so that a shell reads it as one word. */
function asWord(text: string): string {
  return /^[\w./@:+,%=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Writes a file unless it exists, reports this, and returns whether it wrote the file. @throws CONFIG_FILE when it cannot be written. */
async function make(terminal: Terminal, { file, text }: SkeletonFile): Promise<boolean> {
  try {
    await createFolders(dirname(file), 0o777);
    await writeFile(file, text, { flag: "wx" });
    terminal.out(visible(`Wrote ${file}\n`));
    return true;
  } catch (error) {
    const isKept = (error as NodeJS.ErrnoException).code === "EEXIST" && (await isThere(file));
    if (isKept) terminal.out(visible(`Kept ${file}\n`));
    if (isKept) return false;
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
  const hint = "Write a patch first, as docs/guides/write-patches.md describes";
  return new EngineError("USAGE", `"${config}" has no patches to test`, { details: { hint } });
}
