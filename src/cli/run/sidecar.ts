import { hostname } from "node:os";
import { systemChance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import { jsonEqual } from "../../base/json.ts";
import { createLineLogger, type Logger, type LogLevel } from "../../base/logger.ts";
import { createMetrics, type MetricsRegistry } from "../../base/metrics.ts";
import { createHttpClient } from "../../kube/client/http-client.ts";
import { effectiveBackends } from "../../engine/config/backends-mode.ts";
import { readKinds } from "../../engine/config/backends.ts";
import { createTranslatorFor } from "../../engine/engine.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, SERVICES } from "../../kube/object/resource.ts";
import type { Problem } from "../../schema/problem.ts";
import type { ServicesMode } from "../../engine/reconcile/rules/rules.ts";
import { createLeaderElection, type LeaderElection } from "../../kube/runtime/election/leader-election.ts";
import { CLUSTER_NAMESPACE } from "../../engine/sync/cluster/identity.ts";
import { electionPermissions } from "../../engine/sync/cluster/permissions.ts";
import { createSyncer, type Syncer } from "../../engine/syncer.ts";
import { loadKubeConfigs, type ClusterFlags, type KubeConfigs } from "../input/cluster-flags.ts";
import { aborted, type CommandContext } from "../process/command.ts";
import {
  checkConfiguration,
  withEndpoints,
  withKinds,
  type ConfigurationOptions,
  type LoadedConfiguration,
} from "../input/configuration.ts";
import { EXIT_USAGE } from "../process/exit-codes.ts";
import { followCluster, hostScope, type FollowedCluster, type KubeConfig, type Runtime } from "../input/followed-cluster.ts";
import { watchBackends, type BackendWatch, type WatchedConfiguration } from "./backend-watch.ts";
import { giveBack } from "../process/lean-start.ts";
import { startProbeServer, type ProbeAnswer, type ProbeServerOptions } from "../process/probe-server.ts";
import { createProblemReporter } from "./problem-reporter.ts";
import { createSyncerReadiness, type Readiness } from "./readiness.ts";
import { createClusterSight, keepAsking, leastOf, type ClusterSight, type SightTimes } from "./sight.ts";
import { watchConfiguration } from "./reload.ts";
import { awaitClusters, whileUnreachable, type StartupOptions } from "./startup.ts";
import { atMost, createTeardown, type Teardown } from "../process/teardown.ts";
import type { Terminal } from "../process/terminal.ts";
import { METRIC_HELP } from "../process/metric-help.ts";
import { exposeProcess } from "../process/process-metrics.ts";
import { readVersion } from "../process/version.ts";

/** The options of `run`, as commander parses them. */
export interface SidecarOptions extends ClusterFlags {
  readonly services: ServicesMode;
  readonly enableEndpoints?: boolean;
  readonly hostQps?: number;
  readonly adopt?: string;
  readonly adoptCluster?: string;
  readonly confirmDeletes?: number;
  readonly leaderElect?: boolean;
  readonly allowEmpty?: boolean;
  /** False: `--no-laws`, which has no effect. */
  readonly laws: boolean;
  readonly metricsAddress: string;
  readonly healthAddress: string;
  readonly logFormat: "json" | "text";
  readonly logLevel: LogLevel;
}

/** Time for writes in progress when the sidecar stops, in milliseconds; then their connections are closed. */
const WRITES_MS = 10_000;

/** Syncs two clusters until a stop signal. */
export async function runSidecar(context: CommandContext, given: SidecarOptions): Promise<void> {
  const options = withKinds(context, given);
  const { problems, loaded } = await checkConfiguration(context.terminal, filesOf(options));
  // Each problem is one line, like all other log output.
  const logger = createLogger(context.terminal, options);
  if (!options.laws) logger.warn("--no-laws has no effect", { hint: "Remove the option; validate --laws checks the patches" });
  const report = problemReporter(context.terminal, options, logger);
  for (const problem of problems) report(problem);
  if (loaded === undefined) context.exit(EXIT_USAGE);
  const kubeConfigs = await loadKubeConfigs(options, context.terminal.env);
  if (loaded === undefined) return;
  const teardown = createTeardown();
  try {
    await sync(context.terminal, { options, loaded: withEndpoints(loaded, options), kubeConfigs, teardown });
  } finally {
    await teardown.run();
  }
}

function filesOf({ allowEmpty, ...files }: SidecarOptions): ConfigurationOptions {
  return { ...files, refuseEmpty: allowEmpty !== true };
}

/** Returns the configuration with the setting `backends` that the syncer applies. */
function withBackends(loaded: LoadedConfiguration, { backends }: Pick<Syncer, "backends">): WatchedConfiguration {
  const lacksPermissions = backends !== effectiveBackends(loaded.settings.backends, loaded.config);
  return { ...loaded, settings: { ...loaded.settings, backends }, lacksPermissions };
}

/** Reads the files again when they change or on SIGHUP, and passes the new configuration to the syncer. */
function followConfiguration(terminal: Terminal, { options, loaded }: Parts, { syncer, readiness, runtime, backends, follow }: Working) {
  const scope = hostScope(createTranslatorFor(loaded));
  return watchConfiguration({
    terminal,
    files: filesOf(options),
    ...runtime,
    report: problemReporter(terminal, options, runtime.logger),
    async apply(changed) {
      // The scope that is followed on the host is fixed at the start.
      if (!jsonEqual(hostScope(createTranslatorFor(changed)), scope))
        throw new EngineError("CONFIG_VALUE", "Cannot change which host namespaces are followed while the syncer runs", {
          details: { hint: "Restart the syncer with the new configuration" },
        });
      const next = withEndpoints(changed, options);
      const { config, settings } = next;
      const result = await syncer.reload({ config, settings });
      if (result === "changed") {
        follow(next);
        readiness.askAgain();
        backends?.follow(withBackends(next, syncer));
      }
      return result;
    },
  });
}

/** Parts of a sidecar. */
interface Parts {
  readonly options: SidecarOptions;
  readonly loaded: LoadedConfiguration;
  readonly kubeConfigs: KubeConfigs;
  readonly teardown: Teardown;
}

async function sync(terminal: Terminal, parts: Parts): Promise<void> {
  const { options, loaded, teardown } = parts;
  const stop = terminal.stopSignal();
  const metrics = createMetrics(METRIC_HELP);
  teardown.add(exposeProcess(metrics, systemClock));
  const runtime = createRuntime(terminal, options, metrics);
  const mayWrite = options.leaderElect === true ? () => election?.leading === true : undefined;
  const { tenant, host } = followBoth(terminal, parts, { runtime, mayWrite, onForbidden: () => readiness.askAgain() });
  for (const cluster of [tenant, host]) teardown.add(() => cluster.stop());
  const times = sightTimes(loaded);
  const sights = { tenant: createClusterSight(tenant, times, runtime), host: createClusterSight(host, times, runtime) };
  const election: LeaderElection | undefined = mayWrite && joinElection(terminal, parts, { runtime, sights });
  const access = { tenant: tenant.access, host: host.access };
  const { services, adopt, adoptCluster, confirmDeletes } = options;
  const adopted = { ...(adopt !== undefined && { adopt }), ...(adoptCluster !== undefined && { adoptCluster }) };
  const asked = { services, ...adopted, ...(confirmDeletes !== undefined && { confirmDeletes }) };
  const syncer = await createSyncer({ ...loaded, ...asked, ...access, ...runtime, ...(mayWrite && { mayWrite }) });
  teardown.add(() => atMost(runtime.clock, WRITES_MS, syncer.stop()));
  const seen: { backends?: BackendWatch | undefined; loaded: LoadedConfiguration } = { loaded };
  const readiness = createSyncerReadiness({
    clusters: [tenant, host],
    permissions: () => [...syncer.permissions(), ...(election === undefined ? [] : electionPermissions(leaseOf(loaded)))],
    prepared: () => syncer.status().prepared,
    contradicted: () => syncer.status().contradicted,
    invisible: () => seen.backends?.invisible() ?? [],
    left: () => seen.backends?.left() ?? [],
    outOfSight: () => [...sights.tenant.lost(), ...sights.host.lost()],
    runtime,
  });
  teardown.add(() => readiness.stop());
  await serve(parts, { ready: readiness.probe, metrics, runtime });
  logStart(parts, { tenant, host, runtime });
  const read = readKinds({ kinds: loaded.kinds, backends: syncer.backends, config: loaded.config, services });
  const readTypes = new Set(read.map(({ kind }) => kind.resource));
  const kinds = [SERVICES, ...loaded.kinds.flatMap(({ resource }) => (resource !== SERVICES && readTypes.has(resource) ? [resource] : []))];
  const works = () => isReady(readiness.probe) && syncer.status().running;
  const backends = [ENDPOINTS, ENDPOINT_SLICES].some((resource) => readTypes.has(resource))
    ? watchBackends(withBackends(loaded, syncer), { tenant, host, services, runtime, ready: works, objects: () => syncer.status().objects })
    : undefined;
  seen.backends = backends;
  if (backends !== undefined) teardown.add(() => backends.stop());
  teardown.add(followConfiguration(terminal, parts, { syncer, readiness, runtime, backends, follow: (next) => void (seen.loaded = next) }));
  const prepared = () => {
    readiness.askAgain();
    backends?.follow(withBackends(seen.loaded, syncer));
  };
  const work = begin({ tenant, host, kinds, syncer, election, stop, runtime, readiness, prepared });
  await Promise.race([work, aborted(stop)]);
  if (!stop.aborted) runtime.logger.info("Syncing");
  await aborted(stop);
  runtime.logger.info("Stopping");
  // A leader finishes its writes and gives the lease back before its connections are closed.
  if (election !== undefined) await atMost(runtime.clock, WRITES_MS, work);
}

function isReady(probe: ProbeAnswer): boolean {
  const answer = probe();
  return answer === "ok" || !("reason" in answer);
}

function leaseOf({ vcluster: { name, namespace } }: LoadedConfiguration): ObjectKey {
  return { namespace, name: `endpoint-sync-${name}` };
}

/** A cluster is lost after half the renew deadline, so that a leader hands the Lease over before it could lose it. */
function sightTimes({ settings: { leaderElection } }: LoadedConfiguration): SightTimes {
  return { lostAfterMs: leaderElection.renewDeadlineSeconds * 500, clearAfterMs: leaderElection.retryPeriodSeconds * 1_000 };
}

interface Electing {
  readonly runtime: Runtime;
  readonly sights: Readonly<Record<"tenant" | "host", ClusterSight>>;
}

/**
 * Creates the election. It has its own clients, so that renewals wait neither for writes nor for `--host-qps`. Requests for the Lease show
 * whether the host can be reached; the tenant is probed at the same interval.
 */
function joinElection(terminal: Terminal, { loaded, kubeConfigs, teardown }: Parts, { runtime, sights }: Electing): LeaderElection {
  const times = loaded.settings.leaderElection;
  const open = (kubeConfig: KubeConfig, timeoutMs: number) => {
    const limits = { connectionsMax: 1, timeoutMs, connectTimeoutMs: timeoutMs };
    const client = createHttpClient({ kubeConfig, environment: terminal.env, ...runtime, ...limits });
    teardown.add(() => client.close());
    return client;
  };
  const client = open(kubeConfigs.host, times.renewDeadlineSeconds * 500);
  const tenant = open(kubeConfigs.tenant, times.renewDeadlineSeconds * 250);
  const ask = () => tenant.get(NAMESPACES, CLUSTER_NAMESPACE);
  teardown.add(keepAsking({ reach: sights.tenant, ask, everyMs: times.retryPeriodSeconds * 1_000, runtime }));
  const seen = { sight: () => leastOf(Object.values(sights)), reach: sights.host };
  const identity = `${hostname()}_${runtime.chance.uuid()}`;
  return createLeaderElection({ client, lease: leaseOf(loaded), identity, times, ...seen, ...runtime });
}

function createRuntime(terminal: Terminal, options: SidecarOptions, metrics: MetricsRegistry): Runtime {
  return { clock: systemClock, chance: systemChance, logger: createLogger(terminal, options), metrics };
}

function createLogger(terminal: Terminal, { logFormat, logLevel }: SidecarOptions): Logger {
  return createLineLogger({
    level: logLevel,
    format: logFormat,
    now: () => systemClock.now(),
    write: (line) => terminal.err(line),
  });
}

function problemReporter(terminal: Terminal, { logFormat }: SidecarOptions, logger: Logger): (problem: Problem) => void {
  return createProblemReporter({ terminal, logger, format: logFormat });
}

interface Clusters {
  readonly tenant: FollowedCluster;
  readonly host: FollowedCluster;
}

interface Following {
  readonly runtime: Runtime;
  readonly mayWrite: (() => boolean) | undefined;
  readonly onForbidden: () => void;
}

function followBoth({ env }: Terminal, { options, loaded, kubeConfigs }: Parts, following: Following): Clusters {
  const shared = { environment: env, ...following };
  const scope = hostScope(createTranslatorFor(loaded));
  const qps = options.hostQps ?? loaded.settings.hostQps ?? undefined;
  return {
    tenant: followCluster({ side: "tenant", kubeConfig: kubeConfigs.tenant, ...shared }),
    host: followCluster({ side: "host", kubeConfig: kubeConfigs.host, scope, qps, ...shared }),
  };
}

/** Starts the servers for kubelets and scrapers; one server if both addresses are the same. */
async function serve({ options, teardown }: Parts, { ready, metrics, runtime }: Served): Promise<void> {
  const { metricsAddress, healthAddress } = options;
  const alive = (): ReturnType<ProbeAnswer> => "ok";
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

interface Working {
  readonly syncer: Syncer;
  readonly readiness: Readiness;
  readonly runtime: Runtime;
  /** Undefined if neither Endpoints nor slices are read. */
  readonly backends: BackendWatch | undefined;
  /** Called with each configuration that replaces the previous one. */
  follow(next: LoadedConfiguration): void;
}

interface Served {
  readonly ready: ProbeAnswer;
  readonly metrics: MetricsRegistry;
  readonly runtime: Runtime;
}

function logStart({ options, loaded }: Parts, { tenant, host, runtime: { logger } }: Clusters & { runtime: Runtime }): void {
  const { vcluster, config } = loaded;
  const servers = { tenant: tenant.server, host: host.server };
  logger.info("Starting", { version: readVersion(), ...vcluster, services: options.services, ...servers });
  if (!config.endpoints.enabled)
    logger.warn("Endpoints are not synced: the configuration disables them; --enable-endpoints overrides this");
}

interface Beginning extends StartupOptions {
  readonly syncer: Syncer;
  readonly election: LeaderElection | undefined;
  readonly readiness: Readiness;
  /** Called once the permissions on both clusters are known. */
  prepared(): void;
}

/** Starts the syncer. Resolves when it runs or, with an election, when it has stopped. */
async function begin({ syncer, election, readiness, prepared, ...startup }: Beginning): Promise<void> {
  await awaitClusters(startup);
  readiness.start();
  await whileUnreachable(startup.tenant, () => (election === undefined ? syncer.start() : syncer.prepare()), startup);
  prepared();
  giveBack();
  await election?.run((lost) => syncer.lead(lost), startup.stop);
}
