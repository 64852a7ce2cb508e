import { readFile } from "node:fs/promises";
import { dump, load } from "js-yaml";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { formatKubeconfig, type KubeconfigOptions } from "../../../apiserver/access/kubeconfig.ts";
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
 * Adds a context to the text of a kubeconfig, or replaces the context with this name. It becomes the current context. Everything else is
 * unchanged.
 *
 * @throws CONFIG_FILE when the text is not a kubeconfig, or its context with this name points to another server.
 */
export function withContext(text: string, options: WrittenContext): string {
  const plain = load(formatKubeconfig(options)) as Document;
  const own = options.exec === undefined ? plain : { ...plain, users: [{ name: options.name, user: { exec: options.exec } }] };
  const before = text.trim() === "" ? {} : parsed(text);
  const { name, url } = options;
  const [cluster] = itemsOf(before, "clusters").filter((item) => item["name"] === name);
  const server = isRecord(cluster?.["cluster"]) ? cluster["cluster"]["server"] : undefined;
  if (server !== undefined && server !== url)
    throw new EngineError("CONFIG_FILE", `The context "${name}" of the kubeconfig points to ${String(server)}`, {
      details: { hint: "Choose another context name with --context" },
    });
  const lists = LISTS.map((list) => [list, [...itemsOf(before, list).filter((item) => item["name"] !== name), ...itemsOf(own, list)]]);
  return dump({ ...own, ...before, ...Object.fromEntries(lists), "current-context": name });
}

/**
 * Writes the context into a file, readable only by its owner.
 *
 * @throws CONFIG_FILE as {@link withContext} does, or when the file cannot be read or written.
 */
export async function writeContext(path: string, options: WrittenContext): Promise<void> {
  await writeKubeconfigFile(path, withContext(await textOfFile(path), options));
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
