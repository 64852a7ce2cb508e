import { systemChance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import { createLineLogger } from "../base/logger.ts";
import type { LogLevel } from "../base/logger.ts";
import { createMetrics } from "../base/metrics.ts";
import { createHttpClient } from "../client/http-client.ts";
import { loadKubeConfig } from "../client/kube-config.ts";
import { createTranslatorFor } from "../engine.ts";
import type { ServicesMode } from "../reconcile/rules.ts";
import { createInformedAccess } from "../sync/informed-access.ts";
import { createSyncer } from "../syncer.ts";
import { untilStopped } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import type { ConfigurationOptions } from "./configuration.ts";
import { hostScope } from "./host-scope.ts";
import { startProbeServer } from "./probe-server.ts";

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

/** Syncs two clusters until a stop signal. */
export async function runSidecar(context: CommandContext, options: SidecarOptions): Promise<void> {
  const { terminal } = context;
  const loaded = await loadConfiguration(context, options);
  if (loaded === undefined) return;
  const logger = createLineLogger({
    level: options.logLevel,
    format: options.logFormat,
    now: () => systemClock.now(),
    write: (line) => terminal.err(line),
  });
  const metrics = createMetrics();
  const runtime = { clock: systemClock, chance: systemChance, logger, metrics };
  const config = options.enableEndpoints ? { ...loaded.config, endpoints: { ...loaded.config.endpoints, enabled: true } } : loaded.config;

  const tenantClient = createHttpClient({ kubeConfig: await kubeConfigOf(options.tenantKubeconfig, options.tenantContext), ...runtime });
  const qps = options.hostQps ?? loaded.settings.hostQps ?? undefined;
  const hostClient = createHttpClient({
    kubeConfig: await kubeConfigOf(options.hostKubeconfig, options.hostContext),
    ...runtime,
    ...(qps !== undefined && { qps }),
  });
  const tenant = createInformedAccess({ client: tenantClient, ...runtime });
  const host = createInformedAccess({ client: hostClient, scope: hostScope(createTranslatorFor({ ...loaded, config })), ...runtime });
  const syncer = await createSyncer({ ...loaded, config, services: options.services, tenant, host, ...runtime });
  const ready = () => (syncer.status().running ? "ok" : { reason: "the first lists of both clusters are not complete yet" }) as "ok";
  const servers = [
    ...(options.metricsAddress === "" ? [] : [await startProbeServer({ address: options.metricsAddress, metrics: () => metrics.text() })]),
    ...(options.healthAddress === ""
      ? []
      : [
          await startProbeServer({
            address: options.healthAddress,
            probes: { "/healthz": () => "ok", "/livez": () => "ok", "/readyz": ready },
          }),
        ]),
  ];
  try {
    const stopped = untilStopped(terminal.stopped);
    logger.info("Starting", { name: loaded.vcluster.name, namespace: loaded.vcluster.namespace, services: options.services });
    await Promise.race([syncer.start(), stopped]);
    if (!terminal.stopped.aborted) logger.info("Syncing", { metrics: options.metricsAddress, health: options.healthAddress });
    await stopped;
    logger.info("Stopping");
  } finally {
    await syncer.stop();
    await Promise.all([tenant.stop(), host.stop()]);
    await Promise.all([tenantClient.close(), hostClient.close(), ...servers.map((server) => server.stop())]);
  }
}

function kubeConfigOf(path: string | undefined, context: string | undefined) {
  return loadKubeConfig({ ...(path !== undefined && { path }), ...(context !== undefined && { context }) });
}
