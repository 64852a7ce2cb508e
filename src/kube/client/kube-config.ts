import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { dirname, resolve } from "node:path";
import { newClusters, newContexts, newUsers, type Cluster, type Context, type User } from "@kubernetes/client-node/dist/config_types.js";
import { load } from "js-yaml";
import { EngineError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { resolveConnection, type KubeConfigView } from "./connection.ts";

/** Environment variables by name. `process.env` is one. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The source of a kubeconfig. */
export type KubeConfigSource =
  /** One file, or several that are merged as in kubectl: of entries with the same name, the first one is used. */
  | { readonly path: string | readonly string[]; readonly context?: string }
  /** The text itself; its relative paths start at `directory`, by default the working directory. */
  | { readonly text: string; readonly directory?: string; readonly context?: string }
  /** The service account of the Pod in which this process runs. The environment contains the address of the API server. */
  | { readonly inCluster: true; readonly environment: Environment };

/** A kubeconfig as data. */
interface Entries {
  readonly clusters: Cluster[];
  readonly users: User[];
  readonly contexts: Context[];
  readonly currentContext: string;
}

/** Maximum size of a kubeconfig, in bytes. */
const FILE_BYTES_MAX = 4 << 20;
/** The folder of a Pod's service account. */
const ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Loads a kubeconfig and checks that its context is complete. The context becomes the current one.
 *
 * Only client-node's parser of entries is imported: the whole package takes a quarter of a second and 45 MB, and only old
 * credential providers need it.
 *
 * @throws CONFIG_FILE when a file cannot be read; CONFIG_SYNTAX when it is not YAML; CONFIG_VALUE when it is not a kubeconfig, or
 *   the context, or its cluster or user, is missing.
 * @example
 * const kubeConfig = await loadKubeConfig({ path: "/etc/tenant/kubeconfig", context: "blue" });
 */
export async function loadKubeConfig(source: KubeConfigSource): Promise<KubeConfigView> {
  const entries = "inCluster" in source ? await readServiceAccount(source.environment) : await mergedEntries(source);
  const kubeConfig = viewOf("context" in source && source.context !== undefined ? { ...entries, currentContext: source.context } : entries);
  resolveConnection(kubeConfig);
  return kubeConfig;
}

function viewOf({ clusters, users, contexts, currentContext }: Entries): KubeConfigView {
  return {
    getCurrentContext: () => currentContext,
    getContexts: () => contexts,
    getClusters: () => clusters,
    getUsers: () => users,
  };
}

interface KubeConfigText {
  readonly text: string;
  readonly directory: string;
  /** For messages. */
  readonly name: string;
}

type TextSource = Exclude<KubeConfigSource, { inCluster: true }>;

async function textsOf(source: TextSource): Promise<KubeConfigText[]> {
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

async function mergedEntries(source: TextSource): Promise<Entries> {
  const all = (await textsOf(source)).map(readEntries);
  return {
    clusters: firstOfEachName(all.flatMap(({ clusters }) => clusters)),
    users: firstOfEachName(all.flatMap(({ users }) => users)),
    contexts: firstOfEachName(all.flatMap(({ contexts }) => contexts)),
    currentContext: all.find(({ currentContext }) => currentContext !== "")?.currentContext ?? "",
  };
}

function firstOfEachName<Entry extends { readonly name: string }>(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].reverse();
}

function readEntries({ text, directory, name }: KubeConfigText): Entries {
  const raw = parseYaml(text, name);
  try {
    return {
      clusters: newClusters(raw["clusters"]).map((cluster) => ({ ...cluster, ...absolute({ caFile: cluster.caFile }, directory) })),
      users: newUsers(raw["users"]).map((user) => readUser(user, raw, { directory, name })),
      contexts: newContexts(raw["contexts"]),
      currentContext: typeof raw["current-context"] === "string" ? raw["current-context"] : "",
    };
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw new EngineError("CONFIG_VALUE", `Cannot use ${name}: ${messageOf(cause)}`, { cause });
  }
}

function readUser(user: User, raw: Record<string, unknown>, { directory, name }: Omit<KubeConfigText, "text">): User {
  const fields = rawUser(raw, user.name);
  refuseUnknownImpersonation(fields, `user "${user.name}" of ${name}`);
  const { certFile, keyFile } = user;
  return withPaths({ ...user, ...absolute({ certFile, keyFile }, directory) }, fields, directory);
}

/** Relative paths start at the kubeconfig's own folder. */
function absolute(paths: Readonly<Record<string, string | undefined>>, directory: string): Record<string, string> {
  const given = Object.entries(paths).filter((entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "");
  return Object.fromEntries(given.map(([field, path]) => [field, resolve(directory, path)]));
}

function parseYaml(text: string, name: string): Record<string, unknown> {
  if (text.trim() === "") throw new EngineError("CONFIG_SYNTAX", `Cannot use ${name}: it is empty`);
  let raw: unknown;
  try {
    raw = load(text);
  } catch (cause) {
    // The parser's message quotes lines of the file, which may contain a token.
    const line = isRecord(cause) && isRecord(cause["mark"]) ? ` at line ${Number(cause["mark"]["line"]) + 1}` : "";
    throw new EngineError("CONFIG_SYNTAX", `Cannot read ${name}: it is not valid YAML${line}`);
  }
  if (isRecord(raw)) return raw;
  throw new EngineError("CONFIG_VALUE", `Cannot use ${name}: expected a kubeconfig`);
}

function rawUser(raw: Record<string, unknown>, name: string): Record<string, unknown> {
  const users = Array.isArray(raw["users"]) ? (raw["users"] as unknown[]) : [];
  const entry = users.find((candidate) => isRecord(candidate) && candidate["name"] === name);
  return isRecord(entry) && isRecord(entry["user"]) ? entry["user"] : {};
}

/** client-node drops these fields silently, so requests would be made as a different user than configured. */
function refuseUnknownImpersonation(raw: Record<string, unknown>, name: string): void {
  const field = ["as-groups", "as-uid", "as-user-extra"].find((candidate) => raw[candidate] !== undefined);
  if (field !== undefined) throw new EngineError("CONFIG_VALUE", `Cannot use ${name}: "${field}" is not supported; only "as" is`);
}

/**
 * Handles two cases that client-node does not: it ignores the field `tokenFile`, and it resolves commands of plugins that contain a slash
 * against the working directory, whereas kubectl resolves them against the kubeconfig's folder.
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

async function readServiceAccount(environment: Environment): Promise<Entries> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = environment;
  if (!host) throw new EngineError("CONFIG_VALUE", "This process does not run in a Pod: KUBERNETES_SERVICE_HOST is not set");
  const [caFile, tokenFile] = [`${ACCOUNT_DIRECTORY}/ca.crt`, `${ACCOUNT_DIRECTORY}/token`];
  await readText(caFile).catch((cause: unknown) => {
    throw new EngineError("CONFIG_FILE", `Cannot read the service account of this Pod: ${messageOf(cause)}`, { cause });
  });
  const name = "in-cluster";
  return {
    clusters: [{ name, caFile, server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, skipTLSVerify: false }],
    users: [{ name, authProvider: { name: "tokenFile", config: { tokenFile } } }],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  };
}
