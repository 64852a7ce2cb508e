/**
 * Reads the arguments of a running Deployment of this program: names, files and kubeconfigs, for commands that inspect the same clusters.
 *
 * @module
 */
import { delimiter, join, posix } from "node:path";
import type { Command } from "commander";
import { systemClock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { ServicesMode } from "../../engine/reconcile/rules/rules.ts";
import { createHttpClient } from "../../kube/client/http-client.ts";
import { loadKubeConfig } from "../../kube/client/kube-config.ts";
import type { ClusterClient } from "../../kube/object/cluster-client.ts";
import { parseKey } from "../../kube/object/key.ts";
import { CONFIG_MAPS, SECRETS, type ResourceType } from "../../kube/object/resource.ts";
import type { Terminal } from "../process/terminal.ts";
import { REQUIRED_FLAGS, type ClusterFlags } from "./cluster-flags.ts";
import { CONTEXT_OPTIONS } from "./context-file.ts";

const DEPLOYMENTS: ResourceType = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true };

/** Flags of `run` other than files and names, which inspecting commands need as well. */
export interface StartedFlags {
  readonly services?: ServicesMode;
  readonly enableEndpoints?: boolean;
  readonly adopt?: string;
  readonly adoptCluster?: string;
}

/**
 * Removes values from variables, contexts and defaults if `--from-deployment` is set: only the Deployment and the command line apply then.
 */
export function dropUnsaid(command: Command): void {
  if (command.getOptionValue("fromDeployment") === undefined) return;
  const kept = ["fromDeployment", "hostKubeconfig", "hostContext"];
  for (const name of [...CONTEXT_OPTIONS.filter((option) => !kept.includes(option)), "services"])
    if (command.getOptionValueSource(name) !== "cli") command.setOptionValue(name, undefined);
}

/**
 * Adds the flags of the Deployment that `--from-deployment` names. The Deployment is read through --host-kubeconfig, `KUBECONFIG` or
 * ~/.kube/config. Its cluster is the host, unless the Deployment names a different host kubeconfig.
 *
 * @throws USAGE when a flag is missing, or the Deployment does not run this program; errors of the cluster.
 */
export async function completeFlags<Flags extends ClusterFlags>(given: Flags, { env }: Pick<Terminal, "env">): Promise<Flags> {
  const { fromDeployment } = given;
  const flags = fromDeployment === undefined ? given : { ...given, ...(await flagsOfDeployment(given, fromDeployment, env)) };
  const missing = REQUIRED_FLAGS.find((name) => flags[name] === undefined);
  if (missing === undefined) return flags;
  if (fromDeployment !== undefined)
    throw new EngineError("USAGE", `Deployment "${fromDeployment}" does not set --${missing}, which endpoint-sync run needs`, {
      details: { hint: `Check that it runs endpoint-sync, or specify --${missing}` },
    });
  throw new EngineError("USAGE", `required option '--${missing} <${missing === "config" ? "file" : missing}>' not specified`);
}

/** Returns a terminal that reads the files in `texts` from there, and all others as before. */
export function readingAlso(terminal: Terminal, texts: ReadonlyMap<string, string> = new Map()): Terminal {
  const read = async (path: string) => texts.get(path) ?? terminal.read(path);
  return Object.create(terminal, { read: { value: read } }) as Terminal;
}

async function flagsOfDeployment(given: ClusterFlags, reference: string, env: Terminal["env"]): Promise<ClusterFlags & StartedFlags> {
  if (!/^[^/\s]+\/[^/\s]+$/.test(reference))
    throw new EngineError("USAGE", `Cannot read Deployment "${reference}": expected namespace/name`);
  const key = parseKey(reference);
  const path = given.hostKubeconfig ?? filesOf(env);
  const kubeConfig = await loadKubeConfig({ path, ...(given.hostContext !== undefined && { context: given.hostContext }) });
  const client = createHttpClient({ kubeConfig, environment: env, clock: systemClock });
  try {
    const template = podOf(await client.get(DEPLOYMENTS, key), reference);
    const found = await readTemplate(template, { namespace: key.namespace, reference, client });
    const files = given.hostKubeconfig ?? found.flags.hostKubeconfig ?? path;
    return { ...found.flags, ...withoutUndefined(given), hostKubeconfig: files, texts: found.texts };
  } finally {
    await client.close();
  }
}

/** The kubeconfig files that kubectl would read without flags. */
function filesOf(env: Terminal["env"]): readonly string[] {
  const named = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  return named.length > 0 ? named : [join(env["HOME"] ?? "", ".kube", "config")];
}

function withoutUndefined(flags: ClusterFlags): ClusterFlags {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

interface PodTemplate {
  readonly container: Record<string, unknown>;
  readonly volumes: readonly Record<string, unknown>[];
}

/** The container that runs `endpoint-sync run`, and the volumes of its Pod. */
function podOf(deployment: object | undefined, reference: string): PodTemplate {
  if (deployment === undefined) throw new EngineError("USAGE", `There is no Deployment "${reference}" on the host`);
  const pod = at(deployment, "spec", "template", "spec");
  const container = recordsOf(at(pod, "containers")).find((one) => wordsOf(one).includes("run"));
  if (container === undefined) throw new EngineError("USAGE", `No container of Deployment "${reference}" runs endpoint-sync run`);
  return { container, volumes: recordsOf(at(pod, "volumes")) };
}

function wordsOf(container: Record<string, unknown>): string[] {
  return [container["command"], container["args"]].flatMap((part) => (Array.isArray(part) ? part.map(String) : []));
}

interface Reading {
  readonly namespace: string;
  readonly reference: string;
  readonly client: Pick<ClusterClient, "get">;
}

/** Flags of a container that inspecting commands have as well. */
const FLAGS = {
  "--tenant-kubeconfig": "tenantKubeconfig",
  "--tenant-context": "tenantContext",
  "--host-kubeconfig": "hostKubeconfig",
  "--host-context": "hostContext",
  "--config": "config",
  "--settings": "settings",
  "--name": "name",
  "--namespace": "namespace",
  "-n": "namespace",
  "--services": "services",
  "--adopt": "adopt",
  "--adopt-cluster": "adoptCluster",
} as const;

/** Options whose values are files in the container. */
const FILES = ["tenantKubeconfig", "hostKubeconfig", "config", "settings"];

interface ReadFlags {
  readonly flags: ClusterFlags & StartedFlags;
  readonly texts: Map<string, string>;
}

async function readTemplate(template: PodTemplate, reading: Reading): Promise<ReadFlags> {
  const texts = new Map<string, string>();
  const flags: Record<string, string | string[] | boolean> = {};
  if (wordsOf(template.container).includes("--enable-endpoints")) flags["enableEndpoints"] = true;
  for (const [name, values] of valuesOf(template.container, reading)) {
    const files = FILES.includes(name) ? await Promise.all(values.map((path) => fileOf(path, template, reading))) : [];
    for (const file of files) texts.set(file.name, file.text);
    const words = files.length > 0 ? files.map((file) => file.name) : values;
    flags[name] = name === "config" ? words : words.at(-1)!;
  }
  return { flags, texts };
}

/** Values of arguments, and of environment variables where an argument is absent. */
function valuesOf(container: Record<string, unknown>, { namespace }: Reading): ReadonlyMap<string, string[]> {
  const variables = new Map(recordsOf(container["env"]).map((entry) => [String(entry["name"]), variable(entry, namespace)]));
  const expanded = (text: string) => text.replace(/\$\(([^)]+)\)/g, (whole, name: string) => variables.get(name) ?? whole);
  const values = new Map<string, string[]>();
  const words = wordsOf(container).map(expanded);
  words.forEach((word, index) => {
    const [flag = "", joined] = word.split(/=(.*)/s);
    if (!Object.hasOwn(FLAGS, flag)) return;
    const name = FLAGS[flag as keyof typeof FLAGS];
    values.set(name, [...(values.get(name) ?? []), joined ?? words[index + 1] ?? ""]);
  });
  for (const name of CONTEXT_OPTIONS) {
    const value = variables.get(`ENDPOINT_SYNC_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`);
    if (value !== undefined && !values.has(name)) values.set(name, [value]);
  }
  return values;
}

/** Returns the value of an environment variable. Without a Pod, only one field reference has a known value: the namespace. */
function variable(entry: Record<string, unknown>, namespace: string): string | undefined {
  if (typeof entry["value"] === "string") return entry["value"];
  return at(entry, "valueFrom", "fieldRef", "fieldPath") === "metadata.namespace" ? namespace : undefined;
}

interface FoundFile {
  /** For messages: the object and its key. */
  readonly name: string;
  readonly text: string;
}

/** Reads a file of the container from the Secret or ConfigMap that is mounted there. */
async function fileOf(path: string, { container, volumes }: PodTemplate, reading: Reading): Promise<FoundFile> {
  const mounts = recordsOf(container["volumeMounts"]).flatMap((mount) => mountOf(path, mount) ?? []);
  const found = mounts.sort((one, other) => other.depth - one.depth)[0];
  const volume = volumes.find(({ name }) => name === found?.mount["name"]);
  const sources = volume === undefined ? [] : [volume, ...recordsOf(at(volume, "projected", "sources"))];
  for (const source of sources) {
    const file = found && (await fileIn(source, found.inside, reading));
    if (file !== undefined) return file;
  }
  const hint = "Specify a local copy of the file with the corresponding flag, such as --config";
  throw new EngineError("CONFIG_FILE", `No Secret or ConfigMap that Deployment "${reading.reference}" mounts contains ${path}`, {
    details: { hint },
  });
}

/** A mount that holds a file, and the path of the file in its volume; `subPath` mounts one file or folder of the volume. */
function mountOf(
  path: string,
  mount: Record<string, unknown>,
): { mount: Record<string, unknown>; inside: string; depth: number } | undefined {
  const folder = posix.normalize(`${String(mount["mountPath"])}/`);
  const subPath = typeof mount["subPath"] === "string" ? mount["subPath"] : "";
  if (!`${path}/`.startsWith(folder)) return undefined;
  return { mount, inside: posix.join(subPath, path.slice(folder.length)), depth: folder.length };
}

async function fileIn(source: Record<string, unknown>, path: string, { namespace, client }: Reading): Promise<FoundFile | undefined> {
  const [part, resource] = isRecord(source["secret"]) ? [source["secret"], SECRETS] : [source["configMap"], CONFIG_MAPS];
  if (!isRecord(part)) return undefined;
  const items = recordsOf(part["items"]);
  const item = items.find((one) => one["path"] === path);
  if (items.length > 0 && item === undefined) return undefined;
  const name = String(part["secretName"] ?? part["name"]);
  const key = String(item?.["key"] ?? path);
  const object = await client.get(resource, { namespace, name });
  const value = at(object, "data", key);
  if (typeof value !== "string") return undefined;
  const text = resource === SECRETS ? Buffer.from(value, "base64").toString("utf8") : value;
  return { name: `${resource.kind} ${namespace}/${name} ${key}`, text };
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined), value);
}

function recordsOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
