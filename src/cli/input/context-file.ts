/**
 * Contexts: saved values for the flags of a virtual cluster, under a name.
 *
 * @module
 */
import { rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { dump } from "js-yaml";
import { EngineError, isEngineError, messageOf } from "../../base/errors.ts";
import { createFolders } from "../../apiserver/store/folders.ts";
import { decode } from "../../schema/decode.ts";
import { formatProblem, Report } from "../../schema/problem.ts";
import type { Infer, ObjectSchema } from "../../schema/schema.ts";
import { readYaml } from "../../schema/yaml.ts";
import type { Terminal } from "../process/terminal.ts";

const text = (description: string) => ({ type: "string", minLength: 1, maxLength: 4_096, description }) as const;

const CONTEXT_FIELDS = {
  tenantKubeconfig: text("As --tenant-kubeconfig."),
  tenantContext: text("As --tenant-context."),
  hostKubeconfig: text("As --host-kubeconfig."),
  hostContext: text("As --host-context."),
  config: { type: "list", maxItems: 100, items: text("A file."), description: "The files of --config, in order." },
  settings: text("As --settings."),
  name: text("As --name."),
  namespace: text("As --namespace."),
  fromDeployment: text("As --from-deployment."),
} as const;

/** Maximum number of contexts in the file. */
const CONTEXTS_MAX = 1_000;

const CONTEXTS = {
  type: "object",
  description: "Contexts of endpoint-sync.",
  default: {},
  fields: {
    current: { type: "string", maxLength: 253, description: "The context that commands use." },
    contexts: {
      type: "map",
      default: {},
      description: "Contexts by name.",
      values: { type: "object", description: "One virtual cluster.", fields: CONTEXT_FIELDS },
    },
  },
} as const satisfies ObjectSchema;

/** Values of one context, used in place of flags. */
export type SavedContext = Infer<(typeof CONTEXTS)["fields"]["contexts"]["values"]>;

/** The whole file. */
export type SavedContexts = Infer<typeof CONTEXTS>;

/** Options with files, whose paths are saved as absolute paths. */
export const CONTEXT_FILES: readonly (keyof SavedContext)[] = ["tenantKubeconfig", "hostKubeconfig", "config", "settings"];

/** Every option that a context can set. */
export const CONTEXT_OPTIONS = Object.keys(CONTEXT_FIELDS) as readonly (keyof SavedContext)[];

/**
 * Returns the path of the file: `ENDPOINT_SYNC_CONTEXTS`, or a file in the user's configuration folder; undefined without a home folder.
 */
function contextsFile(env: Terminal["env"]): string | undefined {
  const { ENDPOINT_SYNC_CONTEXTS: named, XDG_CONFIG_HOME: config, HOME: home } = env;
  if (named) return named;
  const folder = config || (home ? join(home, ".config") : undefined);
  return folder && join(folder, "endpoint-sync", "contexts.yaml");
}

/**
 * Reads the contexts; there are none if the file does not exist.
 *
 * @throws CONFIG_FILE when the file cannot be read; CONFIG_VALUE if its content is invalid.
 */
export async function readContexts(terminal: Pick<Terminal, "env" | "read">): Promise<SavedContexts> {
  const file = contextsFile(terminal.env);
  const content = file === undefined ? "" : await terminal.read(file).catch(nothingThere);
  const report = new Report();
  const node = readYaml(content, { file: file ?? "contexts.yaml", report });
  const contexts = node && decode(CONTEXTS, node, { report });
  const problem = report.problems.find(({ severity }) => severity === "error");
  if (problem === undefined && contexts !== undefined) return contexts;
  const hint = "Correct the file, or remove it";
  throw new EngineError("CONFIG_VALUE", `Cannot use the contexts: ${formatProblem(problem!)}`, { details: { hint } });
}

function nothingThere(error: unknown): string {
  const isMissing = isEngineError(error, "CONFIG_FILE") && (error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  if (isMissing) return "";
  throw error;
}

/**
 * Returns the context that commands use: the one that `ENDPOINT_SYNC_CONTEXT` names, or the current context. An empty variable selects
 * none.
 *
 * @throws USAGE when no context has that name, and the errors of {@link readContexts}.
 */
export async function currentContext(
  terminal: Pick<Terminal, "env" | "read">,
): Promise<{ readonly name: string; readonly saved: SavedContext } | undefined> {
  const asked = terminal.env["ENDPOINT_SYNC_CONTEXT"];
  if (asked === "") return undefined;
  const { current, contexts } = await readContexts(terminal);
  const name = asked ?? current;
  return name === undefined ? undefined : { name, saved: contextNamed(name, contexts) };
}

/** Returns the context with a name. @throws USAGE when there is none. */
export function contextNamed(name: string, contexts: SavedContexts["contexts"]): SavedContext {
  const saved = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (saved !== undefined) return saved;
  const names = Object.keys(contexts);
  const hint = names.length === 0 ? "No context exists yet. Create one: endpoint-sync context set NAME" : `Contexts: ${names.join(", ")}`;
  throw new EngineError("USAGE", `There is no context "${name}"`, { details: { hint } });
}

/**
 * Writes the contexts atomically to their file, readable only by this user.
 *
 * @throws USAGE when there is no place for the file, or there are too many contexts; CONFIG_FILE when the file cannot be written.
 */
export async function writeContexts(env: Terminal["env"], contexts: SavedContexts): Promise<void> {
  const file = contextsFile(env);
  if (file === undefined)
    throw new EngineError("USAGE", "Cannot save contexts, because there is no home folder: set ENDPOINT_SYNC_CONTEXTS to a file");
  if (Object.keys(contexts.contexts).length > CONTEXTS_MAX)
    throw new EngineError("USAGE", `Cannot save more than ${CONTEXTS_MAX} contexts; remove some`);
  const draft = `${file}.new`;
  try {
    await createFolders(dirname(file));
    await writeFile(draft, dump(contexts, { lineWidth: -1, noRefs: true }), { mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    throw new EngineError("CONFIG_FILE", `Cannot write "${file}": ${messageOf(error)}`, { cause: error });
  }
}
