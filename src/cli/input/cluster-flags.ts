import { Option, type Command } from "commander";
import { EngineError, isEngineError } from "../../base/errors.ts";
import { loadKubeConfig, type Environment } from "../../kube/client/kube-config.ts";
import type { ConfigurationOptions } from "./configuration.ts";
import type { KubeConfig } from "./followed-cluster.ts";
import { configOption, settingsOption, vclusterOptions } from "./options.ts";

/** The options of commands that work on two clusters, as commander parses them. */
export interface ClusterFlags extends ConfigurationOptions {
  readonly tenantKubeconfig?: string;
  readonly tenantContext?: string;
  /** Several files if `KUBECONFIG` names them: they are read as one. */
  readonly hostKubeconfig?: string | readonly string[];
  readonly hostContext?: string;
  readonly fromDeployment?: string;
  /** Texts of files that are not on a disk, by the names that the other flags use for them. */
  readonly texts?: ReadonlyMap<string, string>;
}

/** Two loaded kubeconfigs. */
export interface KubeConfigs {
  readonly tenant: KubeConfig;
  readonly host: KubeConfig;
}

/** Options without which a command cannot work on clusters. */
export const REQUIRED_FLAGS = ["config", "name", "namespace"] as const;

/** Adds the options for the clusters, the configuration and the virtual cluster. */
export function addClusterFlags(command: Command): Command {
  for (const option of clusterOptions())
    command.addOption(REQUIRED_FLAGS.some((name) => name === option.attributeName()) ? option.makeOptionMandatory() : option);
  return command;
}

/**
 * The same options, none of them required, for commands that can take missing flags from a Deployment. These commands check for missing
 * flags themselves.
 */
export function addOptionalClusterFlags(command: Command): Command {
  for (const option of [...clusterOptions(), deploymentOption()]) command.addOption(option);
  return command;
}

/** The same options for `context set`, which takes no values from environment variables. */
export function addContextFlags(command: Command): Command {
  for (const option of [...clusterOptions(), deploymentOption()]) {
    delete option.envVar;
    command.addOption(option);
  }
  return command;
}

function deploymentOption(): Option {
  return new Option(
    "--from-deployment <namespace/name>",
    "read missing flags from a running Deployment on the host: kubeconfigs, names, configuration, and the options of run",
  ).env("ENDPOINT_SYNC_FROM_DEPLOYMENT");
}

function clusterOptions(): readonly Option[] {
  return [
    new Option("--tenant-kubeconfig <file>", "kubeconfig of the tenant cluster (default: in-cluster credentials)").env(
      "ENDPOINT_SYNC_TENANT_KUBECONFIG",
    ),
    new Option("--tenant-context <context>", "context in the --tenant-kubeconfig file (default: its current context)").env(
      "ENDPOINT_SYNC_TENANT_CONTEXT",
    ),
    new Option("--host-kubeconfig <file>", "kubeconfig of the host cluster (default: in-cluster credentials)").env(
      "ENDPOINT_SYNC_HOST_KUBECONFIG",
    ),
    new Option("--host-context <context>", "context in the --host-kubeconfig file (default: its current context)").env(
      "ENDPOINT_SYNC_HOST_CONTEXT",
    ),
    configOption(),
    settingsOption(),
    ...vclusterOptions(),
  ];
}

/**
 * Loads both kubeconfigs, and reports the errors of both.
 *
 * @throws AggregateError with USAGE and the errors of `loadKubeConfig`. Each message names the side and the file.
 */
export async function loadKubeConfigs(flags: ClusterFlags, environment: Environment): Promise<KubeConfigs> {
  const [tenant, host] = await Promise.allSettled([
    loadSide({ side: "tenant", path: flags.tenantKubeconfig, context: flags.tenantContext, environment, texts: flags.texts }),
    loadSide({ side: "host", path: flags.hostKubeconfig, context: flags.hostContext, environment, texts: flags.texts }),
  ]);
  if (tenant.status === "fulfilled" && host.status === "fulfilled") return { tenant: tenant.value, host: host.value };
  throw new AggregateError([tenant, host].flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : [])));
}

/**
 * Loads only the host's kubeconfig, for commands that must work without the tenant cluster.
 *
 * @throws USAGE and the errors of `loadKubeConfig`. The message names the side and the file.
 */
export async function loadHostKubeConfig(flags: ClusterFlags, environment: Environment): Promise<KubeConfig> {
  return loadSide({ side: "host", path: flags.hostKubeconfig, context: flags.hostContext, environment, texts: flags.texts });
}

interface Side {
  readonly side: "tenant" | "host";
  readonly path: string | readonly string[] | undefined;
  readonly context: string | undefined;
  readonly environment: Environment;
  readonly texts: ReadonlyMap<string, string> | undefined;
}

async function loadSide(wanted: Side): Promise<KubeConfig> {
  const { side, path, context, environment, texts } = wanted;
  try {
    if (path === undefined && context !== undefined) throw new EngineError("USAGE", `--${side}-context needs --${side}-kubeconfig`);
    if (path === undefined) return await loadKubeConfig({ inCluster: true, environment });
    const text = typeof path === "string" ? texts?.get(path) : undefined;
    return await loadKubeConfig({ ...(text === undefined ? { path } : { text }), ...(context !== undefined && { context }) });
  } catch (error) {
    throw isEngineError(error) ? withSide(wanted, error) : error;
  }
}

function withSide({ side, path }: Side, cause: EngineError): EngineError {
  const file = path === undefined ? "" : ` (--${side}-kubeconfig ${[path].flat().join(", ")})`;
  const hint =
    path === undefined ? `Outside a Pod, specify a file with --${side}-kubeconfig` : `Check --${side}-kubeconfig and --${side}-context`;
  return new EngineError(cause.code, `Cannot reach the ${side} cluster${file}: ${cause.message}`, { cause, details: { hint } });
}
