import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { systemChance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import { createLineLogger, LOG_LEVELS } from "../../base/logger.ts";
import type { LogLevel } from "../../base/logger.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createHttpClient } from "../../client/http-client.ts";
import { loadKubeConfig } from "../../client/kubeconfig.ts";
import { createTranslatorFor } from "../../engine.ts";
import type { ServicesMode } from "../../reconcile/rules.ts";
import { createInformedAccess } from "../../sync/informed-access.ts";
import { createSyncer } from "../../syncer.ts";
import type { CommandContext } from "../command.ts";
import { collect, loadConfiguration } from "../configuration.ts";
import type { ConfigurationOptions } from "../configuration.ts";
import { hostScope } from "../host-scope.ts";
import { startProbeServer } from "../probe-server.ts";
import { untilStopped } from "./cluster.ts";

interface RunOptions extends ConfigurationOptions {
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

/** `run`: the sidecar between two clusters. */
export function addRunCommand(program: Command, context: CommandContext): void {
  program
    .command("run")
    .description("sync two clusters until stopped")
    .option("--tenant-kubeconfig <file>", "tenant cluster; in-cluster credentials when left out")
    .option("--tenant-context <context>", "context in that file; its current one when left out")
    .option("--host-kubeconfig <file>", "host cluster; in-cluster credentials when left out")
    .option("--host-context <context>", "context in that file; its current one when left out")
    .requiredOption("--config <file>", "vcluster.yaml; may be given several times, later ones win", collect)
    .option("--settings <file>", "settings of the engine")
    .requiredOption("--name <name>", "name of the virtual cluster")
    .requiredOption("--namespace <namespace>", "host namespace of the virtual cluster")
    .addOption(new Option("--services <who>", "who makes host Services: this syncer, or another one beside it").choices(["managed", "external"]).default("managed"))
    .option("--enable-endpoints", "sync Endpoints even if the configuration tells another syncer not to")
    .option("--host-qps <number>", "at most so many writes a second to the host; no limit when left out", parseRate)
    .option("--metrics-address <address>", "where /metrics is served; empty for nowhere", ":8080")
    .option("--health-address <address>", "where /healthz and /readyz are served; empty for nowhere", ":8081")
    .addOption(new Option("--log-format <format>", "form of log lines").choices(["json", "text"]).default("text"))
    .addOption(new Option("--log-level <level>", "lines below it are dropped").choices(LOG_LEVELS).default("info"))
    .addHelpText(
      "after",
      "\nExample:\n  endpoint-sync run --tenant-kubeconfig tenant.kubeconfig --host-kubeconfig host.kubeconfig \\\n    --config vcluster.yaml --name blue --namespace vc-blue",
    )
    .action((options: RunOptions) => run(context, options));
}

async function run(context: CommandContext, options: RunOptions): Promise<void> {
  const { terminal } = context;
  const loaded = await loadConfiguration(context, options);
  if (loaded === undefined) return;
  const logger = createLineLogger({ level: options.logLevel, format: options.logFormat, now: () => systemClock.now(), write: (line) => terminal.err(line) });
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
      : [await startProbeServer({ address: options.healthAddress, probes: { "/healthz": () => "ok", "/livez": () => "ok", "/readyz": ready } })]),
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

function parseRate(text: string): number {
  const rate = Number(text);
  if (Number.isFinite(rate) && rate > 0) return rate;
  throw new InvalidArgumentError("Wanted a number above 0.");
}
