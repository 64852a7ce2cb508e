import { Option } from "commander";
import type { Command } from "commander";
import { EngineError, isEngineError } from "../../base/errors.ts";
import { loadKubeConfig } from "../../kube/client/kube-config.ts";
import type { Environment } from "../../kube/client/kube-config.ts";
import type { ConfigurationOptions } from "./configuration.ts";
import type { KubeConfig } from "./followed-cluster.ts";
import { addRequiredVclusterOptions, configOption, settingsOption } from "./options.ts";

/** The options of commands that work on two clusters, as commander hands them over. */
export interface ClusterFlags extends ConfigurationOptions {
  readonly tenantKubeconfig?: string;
  readonly tenantContext?: string;
  readonly hostKubeconfig?: string;
  readonly hostContext?: string;
}

/** Two loaded kubeconfigs. */
export interface KubeConfigs {
  readonly tenant: KubeConfig;
  readonly host: KubeConfig;
}

/** Which clusters, which configuration, which virtual cluster. */
export function addClusterFlags(command: Command): Command {
  const withFiles = command
    .addOption(
      new Option("--tenant-kubeconfig <file>", "tenant cluster; in-cluster credentials when left out").env(
        "ENDPOINT_SYNC_TENANT_KUBECONFIG",
      ),
    )
    .addOption(
      new Option("--tenant-context <context>", "context in that file; its current one when left out").env("ENDPOINT_SYNC_TENANT_CONTEXT"),
    )
    .addOption(
      new Option("--host-kubeconfig <file>", "host cluster; in-cluster credentials when left out").env("ENDPOINT_SYNC_HOST_KUBECONFIG"),
    )
    .addOption(
      new Option("--host-context <context>", "context in that file; its current one when left out").env("ENDPOINT_SYNC_HOST_CONTEXT"),
    )
    .addOption(configOption().makeOptionMandatory())
    .addOption(settingsOption());
  return addRequiredVclusterOptions(withFiles);
}

/**
 * Loads both kubeconfigs, and checks both before it fails.
 *
 * @throws AggregateError of USAGE and those of `loadKubeConfig`, each naming its side and file.
 */
export async function loadKubeConfigs(flags: ClusterFlags, environment: Environment): Promise<KubeConfigs> {
  const [tenant, host] = await Promise.allSettled([
    loadSide({ side: "tenant", path: flags.tenantKubeconfig, context: flags.tenantContext, environment }),
    loadSide({ side: "host", path: flags.hostKubeconfig, context: flags.hostContext, environment }),
  ]);
  if (tenant.status === "fulfilled" && host.status === "fulfilled") return { tenant: tenant.value, host: host.value };
  throw new AggregateError([tenant, host].flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : [])));
}

/**
 * Loads the host's kubeconfig alone, for what must work although the tenant cluster is gone.
 *
 * @throws USAGE and those of `loadKubeConfig`, naming side and file.
 */
export async function loadHostKubeConfig(flags: ClusterFlags, environment: Environment): Promise<KubeConfig> {
  return loadSide({ side: "host", path: flags.hostKubeconfig, context: flags.hostContext, environment });
}

interface Side {
  readonly side: "tenant" | "host";
  readonly path: string | undefined;
  readonly context: string | undefined;
  readonly environment: Environment;
}

async function loadSide(wanted: Side): Promise<KubeConfig> {
  const { side, path, context, environment } = wanted;
  try {
    if (path === undefined && context !== undefined) throw new EngineError("USAGE", `--${side}-context needs --${side}-kubeconfig`);
    return await loadKubeConfig(
      path === undefined ? { inCluster: true, environment } : { path, ...(context !== undefined && { context }) },
    );
  } catch (error) {
    throw isEngineError(error) ? withSide(wanted, error) : error;
  }
}

function withSide({ side, path }: Side, cause: EngineError): EngineError {
  const file = path === undefined ? "" : ` (--${side}-kubeconfig ${path})`;
  const hint =
    path === undefined ? `Outside of a Pod, name a file with --${side}-kubeconfig` : `Check --${side}-kubeconfig and --${side}-context`;
  return new EngineError(cause.code, `Cannot reach the ${side} cluster${file}: ${cause.message}`, { cause, details: { hint } });
}
