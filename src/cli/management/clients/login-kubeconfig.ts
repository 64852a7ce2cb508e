import { readFile, realpath, stat } from "node:fs/promises";
import { dump, load } from "js-yaml";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { formatKubeconfig, type KubeconfigOptions } from "../../../apiserver/access/kubeconfig.ts";
import { writeKeptFile } from "../../files/kept-file.ts";
import { writeKubeconfigFile } from "../../files/kubeconfig-file.ts";

/** Lists of a kubeconfig whose items have names. */
const LISTS = ["clusters", "users", "contexts"] as const;

/** A context to write. */
export interface WrittenContext extends KubeconfigOptions {
  /** The command that gets the key, in place of the key itself. Default: none. */
  readonly exec?: object;
}

/** A parsed kubeconfig. */
type Document = Readonly<Record<string, unknown>>;

/**
 * Adds a context to the text of a kubeconfig, or replaces the cluster and the user of the context with this name. It becomes the current
 * context. Everything else is unchanged.
 *
 * @throws CONFIG_FILE when the text is not a kubeconfig, its context with this name points to another server, or other contexts would lose
 *   their user or send the new key to their cluster.
 */
export function withContext(text: string, options: WrittenContext): string {
  const plain = load(formatKubeconfig(options)) as Document;
  const own = options.exec === undefined ? plain : { ...plain, users: [{ name: options.name, user: { exec: options.exec } }] };
  const before = text.trim() === "" ? {} : parsed(text);
  const { name, url } = options;
  const obstacle = obstacleTo(before, name, url);
  if (obstacle !== undefined)
    throw new EngineError("CONFIG_FILE", obstacle, { details: { hint: "Choose another context name with --context" } });
  const standing = bodyOf(before, "contexts", name);
  const context = { name, context: { ...bodyOf(own, "contexts", name), ...standing } };
  const news = { clusters: itemsOf(own, "clusters"), users: itemsOf(own, "users"), contexts: [context] };
  const lists = LISTS.map((list) => [list, [...itemsOf(before, list).filter((item) => item["name"] !== name), ...news[list]]]);
  return dump({ ...own, ...before, ...Object.fromEntries(lists), "current-context": name });
}

/** Returns the reason why a cluster, user and context with this name cannot be written. */
function obstacleTo(before: Document, name: string, url: string): string | undefined {
  const server = bodyOf(before, "clusters", name)?.["server"];
  if (server !== undefined && server !== url) return `The context "${name}" of the kubeconfig points to ${String(server)}`;
  const own = bodyOf(before, "contexts", name);
  if (own !== undefined && (own["cluster"] !== name || own["user"] !== name))
    return `The context "${name}" of the kubeconfig has the cluster "${String(own["cluster"])}" and the user "${String(own["user"])}"`;
  const usesOurs = ({ context }: Document) => isRecord(context) && context["user"] === name && context["cluster"] !== name;
  const other = itemsOf(before, "contexts").find(usesOurs);
  return other && `The context "${String(other["name"])}" of the kubeconfig has the user "${name}", but another cluster`;
}

/** Returns the content of a named item of a list: its `cluster`, `user` or `context`. */
function bodyOf(document: Document, list: (typeof LISTS)[number], name: string): Document | undefined {
  const body = itemsOf(document, list).find((item) => item["name"] === name)?.[list.slice(0, -1)];
  return isRecord(body) ? body : undefined;
}

/**
 * Writes the context into a file, readable only by its owner. A crash leaves either the old or the new file, because the file can contain the
 * credentials of other clusters.
 *
 * @throws CONFIG_FILE as {@link withContext} does, or when the file cannot be read or written.
 */
export async function writeContext(path: string, options: WrittenContext): Promise<void> {
  const text = withContext(await textOfFile(path), options);
  // The path can be a link, and something else than a file, such as /dev/stdout, cannot be replaced.
  const target = await realpath(path).catch(() => path);
  const isFile = await stat(target).then(
    (found) => found.isFile(),
    () => true,
  );
  if (isFile) await writeKeptFile(target, text, `${target}.${process.pid}.new`);
  else await writeKubeconfigFile(target, text);
}

/** Checks before the sign-in that the context can be written afterwards. */
export async function checkContext(path: string, options: WrittenContext): Promise<void> {
  withContext(await textOfFile(path), options);
}

async function textOfFile(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new EngineError("CONFIG_FILE", `Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  });
}

function parsed(text: string): Document {
  let document: unknown;
  try {
    document = load(text);
  } catch {
    // The parser's message quotes the text, which contains keys.
  }
  if (isRecord(document) && LISTS.every((list) => document[list] === undefined || document[list] === null || isItems(document[list])))
    return document;
  throw new EngineError("CONFIG_FILE", "The file is not a kubeconfig", { details: { hint: "Specify a different file with --kubeconfig" } });
}

function isItems(value: unknown): value is Document[] {
  return Array.isArray(value) && value.every(isRecord);
}

function itemsOf(document: Document, list: (typeof LISTS)[number]): readonly Document[] {
  const items = document[list];
  return isItems(items) ? items : [];
}
