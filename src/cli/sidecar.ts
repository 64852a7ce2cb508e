import { systemChance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import { createLineLogger } from "../base/logger.ts";
import type { LogLevel } from "../base/logger.ts";
import { createMetrics } from "../base/metrics.ts";
import type { MetricsRegistry } from "../base/metrics.ts";
import { createTranslatorFor } from "../engine.ts";
import type { ServicesMode } from "../reconcile/rules.ts";
import { createSyncer } from "../syncer.ts";
import type { Syncer } from "../syncer.ts";
import { loadKubeConfigs } from "./cluster-flags.ts";
import type { ClusterFlags, KubeConfigs } from "./cluster-flags.ts";
import { aborted } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { checkConfiguration } from "./configuration.ts";
import type { LoadedConfiguration } from "./configuration.ts";
import { EXIT_USAGE } from "./exit-codes.ts";
import { followCluster, hostScope } from "./followed-cluster.ts";
import type { FollowedCluster, Runtime } from "./followed-cluster.ts";
import { tellProblem } from "./messages.ts";
import { startProbeServer } from "./probe-server.ts";
import type { Probe, ProbeServerOptions } from "./probe-server.ts";
import { awaitClusters, whileUnreachable } from "./startup.ts";
import type { StartupOptions } from "./startup.ts";
import { atMost, createTeardown } from "./teardown.ts";
import type { Teardown } from "./teardown.ts";
import type { Terminal } from "./terminal.ts";
import { readVersion } from "./version.ts";

/** The options of `run`, as commander hands them over. */
export interface SidecarOptions extends ClusterFlags {
  readonly services: ServicesMode;
  readonly enableEndpoints?: boolean;
  readonly hostQps?: number;
  readonly metricsAddress: string;
  readonly healthAddress: string;
  readonly logFormat: "json" | "text";
  readonly logLevel: LogLevel;
}

/** Writes that are under way when it stops may take so long, in milliseconds; then their connections are closed. */
const WRITES_MS = 10_000;

/** Syncs two clusters until a stop signal. */
export async function runSidecar(context: CommandContext, options: SidecarOptions): Promise<void> {
  const { problems, loaded } = await checkConfiguration(context.terminal, options);
  // One line each, as everything else in a log.
  for (const problem of problems) tellProblem(context.terminal, problem);
  if (loaded === undefined) context.exit(EXIT_USAGE);
  const kubeConfigs = await loadKubeConfigs(options);
  if (loaded === undefined) return;
  const teardown = createTeardown();
  try {
    await sync(context.terminal, { options, loaded: withEndpoints(loaded, options), kubeConfigs, teardown });
  } finally {
    await teardown.run();
  }
}

/** `--enable-endpoints`. */
function withEndpoints(loaded: LoadedConfiguration, { enableEndpoints }: SidecarOptions): LoadedConfiguration {
  if (enableEndpoints !== true) return loaded;
  const { config } = loaded;
  return { ...loaded, config: { ...config, endpoints: { ...config.endpoints, enabled: true } } };
}

/** What a sidecar is made of. */
interface Parts {
  readonly options: SidecarOptions;
  readonly loaded: LoadedConfiguration;
  readonly kubeConfigs: KubeConfigs;
  readonly teardown: Teardown;
}

async function sync(terminal: Terminal, parts: Parts): Promise<void> {
  const { options, loaded, teardown } = parts;
  const stop = terminal.stopSignal();
  const metrics = createMetrics();
  const runtime = createRuntime(terminal, options, metrics);
  const { tenant, host } = followBoth(terminal, parts, runtime);
  for (const cluster of [tenant, host]) teardown.add(() => cluster.stop());
  const syncer = await createSyncer({ ...loaded, services: options.services, tenant: tenant.access, host: host.access, ...runtime });
  teardown.add(() => atMost(runtime.clock, WRITES_MS, syncer.stop()));
  await serve(parts, { syncer, metrics, runtime });
  tellStart(parts, { tenant, host, runtime });
  await Promise.race([begin({ tenant, host, syncer, stop, runtime }), aborted(stop)]);
  if (!stop.aborted) runtime.logger.info("Syncing");
  await aborted(stop);
  runtime.logger.info("Stopping");
}

function createRuntime(terminal: Terminal, { logFormat, logLevel }: SidecarOptions, metrics: MetricsRegistry): Runtime {
  const logger = createLineLogger({
    level: logLevel,
    format: logFormat,
    now: () => systemClock.now(),
    write: (line) => terminal.err(line),
  });
  return { clock: systemClock, chance: systemChance, logger, metrics };
}

interface Clusters {
  readonly tenant: FollowedCluster;
  readonly host: FollowedCluster;
}

function followBoth({ env }: Terminal, { options, loaded, kubeConfigs }: Parts, runtime: Runtime): Clusters {
  const shared = { environment: env, runtime };
  const scope = hostScope(createTranslatorFor(loaded));
  const qps = options.hostQps ?? loaded.settings.hostQps ?? undefined;
  return {
    tenant: followCluster({ side: "tenant", kubeConfig: kubeConfigs.tenant, ...shared }),
    host: followCluster({ side: "host", kubeConfig: kubeConfigs.host, scope, qps, ...shared }),
  };
}

/** Starts what kubelets and scrapers ask; one server when both addresses are the same. */
async function serve({ options, teardown }: Parts, { syncer, metrics, runtime }: Served): Promise<void> {
  const { metricsAddress, healthAddress } = options;
  const alive = (): ReturnType<Probe> => "ok";
  const ready = (): ReturnType<Probe> => (syncer.status().running ? "ok" : { reason: "the first lists are not complete yet" });
  const probes = { "/healthz": alive, "/livez": alive, "/readyz": ready };
  const text = () => metrics.text();
  const sites: ProbeServerOptions[] =
    metricsAddress === healthAddress
      ? [{ address: metricsAddress, metrics: text, probes }]
      : [
          { address: metricsAddress, metrics: text },
          { address: healthAddress, probes },
        ];
  for (const site of sites.filter(({ address }) => address !== "")) {
    const server = await startProbeServer(site);
    teardown.add(() => server.stop());
    runtime.logger.info("Listening", { address: server.address, paths: server.paths });
  }
}

interface Served {
  readonly syncer: Syncer;
  readonly metrics: MetricsRegistry;
  readonly runtime: Runtime;
}

function tellStart({ options, loaded }: Parts, { tenant, host, runtime: { logger } }: Clusters & { runtime: Runtime }): void {
  const { vcluster, config } = loaded;
  const servers = { tenant: tenant.server, host: host.server };
  logger.info("Starting", { version: readVersion(), ...vcluster, services: options.services, ...servers });
  if (!config.endpoints.enabled)
    logger.warn("Endpoints are not synced: the configuration switches them off; --enable-endpoints overrides it");
}

async function begin({ syncer, ...startup }: StartupOptions & { syncer: Syncer }): Promise<void> {
  await awaitClusters(startup);
  await whileUnreachable(startup.tenant, () => syncer.start(), startup);
}
