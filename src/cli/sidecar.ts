import { systemChance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import { EngineError, isEngineError } from "../base/errors.ts";
import { createLineLogger } from "../base/logger.ts";
import type { Logger, LogLevel } from "../base/logger.ts";
import { createMetrics } from "../base/metrics.ts";
import type { MetricsRegistry } from "../base/metrics.ts";
import { loadKubeConfig } from "../client/kube-config.ts";
import { createTranslatorFor } from "../engine.ts";
import type { ServicesMode } from "../reconcile/rules.ts";
import { createSyncer } from "../syncer.ts";
import type { Syncer } from "../syncer.ts";
import { aborted } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { EXIT_USAGE } from "./exit-codes.ts";
import { checkConfiguration } from "./configuration.ts";
import type { ConfigurationOptions, LoadedConfiguration } from "./configuration.ts";
import { followCluster, hostScope } from "./followed-cluster.ts";
import type { KubeConfig, Runtime } from "./followed-cluster.ts";
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
export interface SidecarOptions extends ConfigurationOptions {
  readonly tenantKubeconfig?: string;
  readonly tenantContext?: string;
  readonly hostKubeconfig?: string;
  readonly hostContext?: string;
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
  const { terminal } = context;
  const { problems, loaded } = await checkConfiguration(terminal, options);
  // One line each, as everything else in a log.
  for (const problem of problems) tellProblem(terminal, problem);
  if (loaded === undefined) context.exit(EXIT_USAGE);
  const kubeConfigs = await loadKubeConfigs(options);
  if (loaded === undefined) return;
  const teardown = createTeardown();
  try {
    await sync(terminal, { options, loaded: withEndpoints(loaded, options), kubeConfigs, teardown });
  } finally {
    await teardown.run();
  }
}

interface KubeConfigs {
  readonly tenant: KubeConfig;
  readonly host: KubeConfig;
}

interface ServeInput {
  readonly options: SidecarOptions;
  readonly logger: Logger;
  readonly syncer: Syncer;
  readonly metrics: MetricsRegistry;
  readonly teardown: Teardown;
}

interface SyncInput {
  readonly options: SidecarOptions;
  readonly loaded: LoadedConfiguration;
  readonly kubeConfigs: KubeConfigs;
  readonly teardown: Teardown;
}

async function sync(terminal: Terminal, { options, loaded, kubeConfigs, teardown }: SyncInput): Promise<void> {
  const stop = terminal.stopSignal();
  const metrics = createMetrics();
  const logger = createLineLogger({
    level: options.logLevel,
    format: options.logFormat,
    now: () => systemClock.now(),
    write: (line) => terminal.err(line),
  });
  const runtime: Runtime = { clock: systemClock, chance: systemChance, logger, metrics };
  const shared = { environment: terminal.env, runtime };
  const tenant = followCluster({ side: "tenant", kubeConfig: kubeConfigs.tenant, ...shared });
  const qps = options.hostQps ?? loaded.settings.hostQps ?? undefined;
  const host = followCluster({ side: "host", kubeConfig: kubeConfigs.host, scope: hostScope(createTranslatorFor(loaded)), qps, ...shared });
  for (const cluster of [tenant, host]) teardown.add(() => cluster.stop());
  const syncer = await createSyncer({ ...loaded, services: options.services, tenant: tenant.access, host: host.access, ...runtime });
  teardown.add(() => atMost(systemClock, WRITES_MS, syncer.stop()));
  await serve({ options, logger, syncer, metrics, teardown });
  const { name, namespace } = loaded.vcluster;
  logger.info("Starting", {
    version: readVersion(),
    name,
    namespace,
    services: options.services,
    tenant: tenant.server,
    host: host.server,
  });
  if (!loaded.config.endpoints.enabled)
    logger.warn("Endpoints are not synced: the configuration switches them off; --enable-endpoints overrides it");
  await Promise.race([begin({ tenant, host, syncer, stop, runtime }), aborted(stop)]);
  if (!stop.aborted) logger.info("Syncing");
  await aborted(stop);
  logger.info("Stopping");
}

async function begin({ syncer, ...startup }: StartupOptions & { syncer: Syncer }): Promise<void> {
  await awaitClusters(startup);
  await whileUnreachable(startup.tenant, () => syncer.start(), startup);
}

/** `--enable-endpoints`. */
function withEndpoints(loaded: LoadedConfiguration, { enableEndpoints }: SidecarOptions): LoadedConfiguration {
  if (enableEndpoints !== true) return loaded;
  const { config } = loaded;
  return { ...loaded, config: { ...config, endpoints: { ...config.endpoints, enabled: true } } };
}

/** Both files, or what is wrong with both. */
async function loadKubeConfigs(options: SidecarOptions): Promise<KubeConfigs> {
  const [tenant, host] = await Promise.allSettled([
    loadSide("tenant", options.tenantKubeconfig, options.tenantContext),
    loadSide("host", options.hostKubeconfig, options.hostContext),
  ]);
  if (tenant.status === "fulfilled" && host.status === "fulfilled") return { tenant: tenant.value, host: host.value };
  throw new AggregateError([tenant, host].flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : [])));
}

async function loadSide(side: "tenant" | "host", path: string | undefined, context: string | undefined): Promise<KubeConfig> {
  try {
    if (path === undefined && context !== undefined) throw new EngineError("USAGE", `--${side}-context needs --${side}-kubeconfig`);
    return await loadKubeConfig(path === undefined ? { inCluster: true } : { path, ...(context !== undefined && { context }) });
  } catch (error) {
    if (!isEngineError(error)) throw error;
    const hint =
      path === undefined ? `Outside of a Pod, name a file with --${side}-kubeconfig` : `Check --${side}-kubeconfig and --${side}-context`;
    const given = path === undefined ? "" : ` (--${side}-kubeconfig ${path})`;
    throw new EngineError(error.code, `Cannot reach the ${side} cluster${given}: ${error.message}`, { cause: error, details: { hint } });
  }
}

/** Starts what kubelets and scrapers ask; one server when both addresses are the same. */
async function serve({ options, logger, syncer, metrics, teardown }: ServeInput): Promise<void> {
  const { metricsAddress, healthAddress } = options;
  const readiness = (): ReturnType<Probe> => (syncer.status().running ? "ok" : { reason: "the first lists are not complete yet" });
  const alive = (): ReturnType<Probe> => "ok";
  const scraped = { metrics: () => metrics.text() };
  const probed = { probes: { "/healthz": alive, "/livez": alive, "/readyz": readiness } };
  const sites: ProbeServerOptions[] =
    metricsAddress === healthAddress
      ? [{ address: metricsAddress, ...scraped, ...probed }]
      : [
          { address: metricsAddress, ...scraped },
          { address: healthAddress, ...probed },
        ];
  for (const site of sites.filter(({ address }) => address !== "")) {
    const server = await startProbeServer(site);
    teardown.add(() => server.stop());
    logger.info("Listening", { address: server.address, paths: server.paths });
  }
}
