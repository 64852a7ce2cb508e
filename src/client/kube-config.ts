import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { KubeConfig, User } from "@kubernetes/client-node";
import { EngineError, messageOf } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { resolveConnection } from "./connection.ts";

/** Where a kubeconfig comes from. */
export type KubeConfigSource =
  /** One file, or several that are merged as kubectl does: of entries with the same name the first counts. */
  | { readonly path: string | readonly string[]; readonly context?: string }
  /** The text itself; its relative paths start at `directory`, by default the working directory. */
  | { readonly text: string; readonly directory?: string; readonly context?: string }
  /** The service account of the Pod this runs in. */
  | { readonly inCluster: true };

/** No kubeconfig is larger. */
const FILE_BYTES_MAX = 4 << 20;

/**
 * Loads a kubeconfig and checks that its context is complete. The context becomes the current one.
 *
 * client-node is imported here and not above, because that takes a quarter of a second and 60 MB, and only those who load a
 * kubeconfig need it.
 *
 * @throws CONFIG_FILE when a file can not be read; CONFIG_SYNTAX when it is no YAML; CONFIG_VALUE when it is no kubeconfig, or
 *   the context, or what it names, is missing.
 * @example
 * const kubeConfig = await loadKubeConfig({ path: "/etc/tenant/kubeconfig", context: "blue" });
 */
export async function loadKubeConfig(source: KubeConfigSource): Promise<KubeConfig> {
  const loaded = "inCluster" in source ? await loadServiceAccount() : await loadTexts(await textsOf(source));
  if ("context" in source && source.context !== undefined) loaded.setCurrentContext(source.context);
  resolveConnection(loaded);
  return loaded;
}

interface KubeConfigText {
  readonly text: string;
  readonly directory: string;
  /** For messages. */
  readonly name: string;
}

async function textsOf(source: Exclude<KubeConfigSource, { inCluster: true }>): Promise<KubeConfigText[]> {
  if ("text" in source) return [{ text: source.text, directory: resolve(source.directory ?? "."), name: "the kubeconfig" }];
  return Promise.all([source.path].flat().map(readText));
}

async function readText(path: string): Promise<KubeConfigText> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new EngineError("CONFIG_FILE", `Cannot read kubeconfig "${path}": ${messageOf(cause)}`, { cause });
  });
  if (bytes.length > FILE_BYTES_MAX)
    throw new EngineError("CONFIG_FILE", `Cannot read kubeconfig "${path}": it is larger than ${FILE_BYTES_MAX} bytes`);
  return { text: bytes.toString("utf8"), directory: dirname(resolve(path)), name: `kubeconfig "${path}"` };
}

async function loadTexts(texts: readonly KubeConfigText[]): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const merged = new KubeConfig();
  for (const text of texts) {
    const one = await loadText(text);
    merged.clusters = firstOfEachName(merged.clusters, one.clusters);
    merged.users = firstOfEachName(merged.users, one.users);
    merged.contexts = firstOfEachName(merged.contexts, one.contexts);
    if (!merged.currentContext && one.currentContext) merged.setCurrentContext(one.currentContext);
  }
  return merged;
}

function firstOfEachName<Entry extends { readonly name: string }>(known: readonly Entry[], more: readonly Entry[]): Entry[] {
  return [...known, ...more.filter((entry) => !known.some(({ name }) => name === entry.name))];
}

async function loadText({ text, directory, name }: KubeConfigText): Promise<KubeConfig> {
  const { KubeConfig, loadYaml } = await import("@kubernetes/client-node");
  const raw = parseYaml(text, name, loadYaml);
  const config = new KubeConfig();
  try {
    config.loadFromString(JSON.stringify(raw));
  } catch (cause) {
    throw new EngineError("CONFIG_VALUE", `Cannot use ${name}: ${messageOf(cause)}`, { cause });
  }
  config.makePathsAbsolute(directory);
  config.users = config.users.map((user) => {
    const fields = rawUser(raw, user.name);
    refuseUnknownImpersonation(fields, `user "${user.name}" of ${name}`);
    return withPaths(user, fields, directory);
  });
  return config;
}

function parseYaml(text: string, name: string, loadYaml: (text: string) => unknown): Record<string, unknown> {
  let raw: unknown;
  try {
    raw = loadYaml(text);
  } catch (cause) {
    // The parser's message quotes lines of the file, which may hold a token.
    const line = isRecord(cause) && isRecord(cause["mark"]) ? ` at line ${Number(cause["mark"]["line"]) + 1}` : "";
    throw new EngineError("CONFIG_SYNTAX", `Cannot read ${name}: it is not valid YAML${line}`);
  }
  if (isRecord(raw)) return raw;
  throw new EngineError("CONFIG_VALUE", `Cannot use ${name}: wanted a kubeconfig, found something else`);
}

function rawUser(raw: Record<string, unknown>, name: string): Record<string, unknown> {
  const users = Array.isArray(raw["users"]) ? (raw["users"] as unknown[]) : [];
  const entry = users.find((candidate) => isRecord(candidate) && candidate["name"] === name);
  return isRecord(entry) && isRecord(entry["user"]) ? entry["user"] : {};
}

/** client-node drops these fields without a word, and whoever loads them would act as somebody else than was meant. */
function refuseUnknownImpersonation(raw: Record<string, unknown>, name: string): void {
  const field = ["as-groups", "as-uid", "as-user-extra"].find((candidate) => raw[candidate] !== undefined);
  if (field !== undefined) throw new EngineError("CONFIG_VALUE", `Cannot use ${name}: "${field}" is not supported, only "as" is`);
}

/**
 * What client-node leaves out: it does not know the field `tokenFile`, and starts plugins below the working directory, where
 * kubectl starts those with a slash in their name below the kubeconfig's.
 */
function withPaths(user: User, raw: Record<string, unknown>, directory: string): User {
  const tokenFile = raw["tokenFile"];
  const file =
    typeof tokenFile === "string" && tokenFile !== ""
      ? { authProvider: { name: "tokenFile", config: { tokenFile: resolve(directory, tokenFile) } } }
      : {};
  const command = isRecord(user.exec) ? user.exec["command"] : undefined;
  const exec = typeof command === "string" && command.includes("/") ? { exec: { ...user.exec, command: resolve(directory, command) } } : {};
  return { ...user, ...file, ...exec };
}

async function loadServiceAccount(): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromCluster();
  const { caFile, server } = config.getCurrentCluster()!;
  // client-node writes the text "undefined" for variables that are not set.
  if (server.includes("undefined")) throw new EngineError("CONFIG_VALUE", "This does not run in a Pod: KUBERNETES_SERVICE_HOST is not set");
  await readText(caFile!).catch((cause: unknown) => {
    throw new EngineError("CONFIG_FILE", `Cannot read the service account of this Pod: ${messageOf(cause)}`, { cause });
  });
  return config;
}
