/**
 * Shared parts of the commands that inspect two clusters: their options, and the function that turns these into an {@link Inspection}.
 *
 * @module
 */
import { Option, type Command } from "commander";
import { delay, systemClock } from "../../base/clock.ts";
import { resolveConnection } from "../../kube/client/connection.ts";
import { createHttpClient } from "../../kube/client/http-client.ts";
import type { ClusterClient } from "../../kube/object/cluster-client.ts";
import { addOptionalClusterFlags, loadKubeConfigs, type ClusterFlags } from "../input/cluster-flags.ts";
import { outputOption, type CommandContext } from "../process/command.ts";
import { loadConfiguration, withEndpoints } from "../input/configuration.ts";
import type { KubeConfig } from "../input/followed-cluster.ts";
import { inspect, type Inspection, type InspectionOptions, type ReadClient } from "./inspection.ts";
import { reportFailure, reportWarning } from "../output/messages.ts";
import type { OutputFormat } from "../output/output.ts";
import { refuseSameCluster, withCluster } from "../run/startup.ts";
import { completeFlags, dropUnsaid, readingAlso, type StartedFlags } from "../input/deployment.ts";
import { createTeardown, type Teardown } from "../process/teardown.ts";

/** The options of commands that inspect clusters, as commander parses them. */
export interface InspectionFlags extends ClusterFlags, StartedFlags {
  readonly confirmDeletes?: number;
  readonly output?: OutputFormat;
}

/** Time between two reads of a command that waits, in milliseconds. */
const AGAIN_AFTER_MS = 500;

/** Adds the options for the clusters and the configuration, and those of `run` that affect the result. */
export function addInspectionFlags(command: Command): Command {
  return addOptionalClusterFlags(command)
    .hook("preAction", (_program, action) => dropUnsaid(action))
    .addOption(new Option("--services <who>", "use the same value as for run").choices(["managed", "external"]).default("managed"))
    .option("--enable-endpoints", "use this option if run uses it")
    .option("--adopt <prefix>", "use the same value as for run")
    .option("--adopt-cluster <uid>", "use the same value as for run")
    .addOption(outputOption());
}

/**
 * Inspects both clusters and passes the result to `use`. If the configuration has errors, they are reported, and `use` is not called.
 *
 * @param use Returns `again` if both clusters must be read once more, after a moment.
 * @throws as `run` does: errors that name their cluster; CLUSTER_IDENTITY; CONFIG_VALUE.
 */
export async function withInspection(
  context: CommandContext,
  given: InspectionFlags,
  use: (inspection: Inspection) => Promise<void | "again">,
): Promise<void> {
  const { terminal } = context;
  const flags = await completeFlags(given, terminal);
  const reading = { ...context, terminal: readingAlso(terminal, flags.texts) };
  const loaded = await loadConfiguration(reading, flags);
  const kubeConfigs = await loadKubeConfigs(flags, terminal.env);
  if (loaded === undefined) return;
  const teardown = createTeardown();
  const look = async (options: InspectionOptions, first: boolean) => {
    const inspection = await inspect(options);
    try {
      if (first && inspection.fallback !== undefined) reportWarning(terminal, inspection.fallback);
      return await use(inspection);
    } finally {
      inspection.dispose();
    }
  };
  try {
    const { env } = context.terminal;
    const tenant = reachCluster({ side: "tenant", kubeConfig: kubeConfigs.tenant, env, teardown });
    const host = reachCluster({ side: "host", kubeConfig: kubeConfigs.host, env, teardown });
    await refuseSameCluster({ tenant, host });
    const { services = "managed", adopt, adoptCluster, confirmDeletes } = flags;
    const adopted = { ...(adopt !== undefined && { adopt }), ...(adoptCluster !== undefined && { adoptCluster }) };
    const asked = { services, confirmDeletes, ...adopted };
    const clients = { tenant: tenant.client, host: host.client };
    const options = { ...withEndpoints(loaded, flags), ...clients, ...asked, ...ambience() };
    for (let first = true; (await look(options, first)) === "again"; first = false) await delay(systemClock, AGAIN_AFTER_MS);
  } finally {
    await teardown.run();
  }
}

/** Returns the clock, and a signal that never aborts, because the command ends by itself. */
function ambience(): { signal: AbortSignal; clock: typeof systemClock } {
  return { signal: new AbortController().signal, clock: systemClock };
}

/** One cluster, and a client for it. */
export interface ReachedCluster<Client = ReadClient> {
  readonly side: "tenant" | "host";
  /** Address of the API server, for messages. */
  readonly server: string;
  /** Its errors name the cluster that failed. */
  readonly client: Client;
}

interface ReachOptions {
  readonly side: "tenant" | "host";
  readonly kubeConfig: KubeConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Closes the client. */
  readonly teardown: Teardown;
}

/** Opens a cluster for reading and deleting. */
export function reachCluster({
  side,
  kubeConfig,
  env,
  teardown,
}: ReachOptions): ReachedCluster<ReadClient & Pick<ClusterClient, "delete">> {
  const { origin, basePath } = resolveConnection(kubeConfig);
  const server = origin + basePath;
  const client = createHttpClient({ kubeConfig, environment: env, clock: systemClock });
  teardown.add(() => client.close());
  const naming = async <Result>(call: Promise<Result>): Promise<Result> => {
    try {
      return await call;
    } catch (error) {
      throw withCluster({ side, server }, error);
    }
  };
  return {
    side,
    server,
    client: {
      get: (resource, key) => naming(client.get(resource, key)),
      list: (resource, options) => naming(client.list(resource, options)),
      delete: (resource, key, preconditions) => naming(client.delete(resource, key, preconditions)),
    },
  };
}

/** Runs a command whose exit code 1 means findings. Failures get an exit code of at least `code`. */
export async function failingWith({ terminal, exit }: CommandContext, code: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    exit(Math.max(reportFailure(terminal, error), code));
  }
}
