/**
 * The management API as a process: files, first key, configuration, and shutdown.
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { systemClock } from "../../base/clock.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import { createLineLogger, type Logger, type LogLevel } from "../../base/logger.ts";
import { createMetrics, noMetrics, type Metrics } from "../../base/metrics.ts";
import { createAuditLog, type AuditLog } from "../../management/audit/audit-log.ts";
import { parseManagementConfig } from "../../management/config/config.ts";
import type { ManagementConfig } from "../../management/config/effective.ts";
import { followConfigFile } from "../../management/config/follow.ts";
import { startManagement, type Management, type ManagementOptions } from "../../management/api/management.ts";
import { createProviderFetch } from "../../management/sign-in/oidc/provider-fetch.ts";
import { readProxies, type ProxyFor } from "../../management/sign-in/oidc/proxies.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import { createMemoryStore } from "../../apiserver/store/memory/memory-store.ts";
import { startResealing } from "../../apiserver/store/resealing.ts";
import { aborted, type CommandContext } from "../process/command.ts";
import { EXIT_USAGE } from "../process/exit-codes.ts";
import { serveFolder } from "./folder-socket.ts";
import { checkKubeconfigFile, writeKubeconfigFile } from "../files/kubeconfig-file.ts";
import { openSharedStore, type EtcdFlags, type SharedStore } from "./management-etcd.ts";
import { openManagementFolder, type ManagementFolder } from "./management-folder.ts";
import { METRIC_HELP } from "../process/metric-help.ts";
import { exposeProcess } from "../process/process-metrics.ts";
import { startProbeServer } from "../process/probe-server.ts";
import { reportProblem } from "../output/messages.ts";
import { memoryOf, namesEtcd } from "./store-flags.ts";
import type { Terminal } from "../process/terminal.ts";

/** The options of `management`, as commander parses them. */
export interface ManagementFlags extends EtcdFlags {
  readonly memory?: boolean;
  readonly port?: number;
  readonly host: string;
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  readonly maxWatches: number;
  readonly maxConnections: number;
  /** In MiB. */
  readonly maxBodiesInflight: number;
  readonly maxBodyValues: number;
  readonly maxObjectsPerOwner: number;
  /** In MiB. */
  readonly maxBytesPerOwner: number;
  /** In MiB, as `maxHistory`. */
  readonly maxStored: number;
  /** In seconds. */
  readonly requestTimeout: number;
  readonly readTimeout: number;
  readonly publicUrl?: string;
  readonly trustedProxies?: readonly string[];
  readonly config?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly http?: boolean;
  readonly adminKeyFile?: string;
  /** Empty: metrics are not served. */
  readonly metricsAddress: string;
  readonly name: string;
  readonly kubeconfig?: string;
  readonly logFormat: "json" | "text";
  readonly logLevel: LogLevel;
}

function limitsOf(flags: ManagementFlags): ManagementOptions["limits"] & {} {
  return {
    reads: flags.maxRequestsInflight,
    writes: flags.maxMutatingRequestsInflight,
    watches: flags.maxWatches,
    connections: flags.maxConnections,
    bytes: flags.maxBodiesInflight * 1024 * 1024,
    bodyValues: flags.maxBodyValues,
    requestMs: flags.requestTimeout * 1_000,
    readMs: flags.readTimeout * 1_000,
  };
}

function quotaOf({ maxObjectsPerOwner, maxBytesPerOwner }: ManagementFlags): ManagementOptions["quota"] & {} {
  return { objects: maxObjectsPerOwner, bytes: maxBytesPerOwner * 1024 * 1024 };
}

const LOOPBACK = /^(localhost|127\.[0-9.]+|::1)$/;

/** Serves the management API until a stop signal. @throws errors of the files and the port. */
export async function runManagement(context: CommandContext, flags: ManagementFlags): Promise<void> {
  const { terminal } = context;
  const { name, kubeconfig = `${name}.kubeconfig` } = flags;
  checkFlags(flags);
  const proxyFor = readProxies(terminal.env);
  const config = await readConfig(context, flags);
  if (config === "bad") return context.exit(EXIT_USAGE);
  await checkKubeconfigFile({ path: kubeconfig, name });
  const logger = createLineLogger({
    write: (line) => terminal.err(line),
    now: () => systemClock.now(),
    format: flags.logFormat,
    level: flags.logLevel,
  });
  const stop = terminal.stopSignal();
  const adminKey = await readAdminKey(terminal, flags);
  const certificate = await givenCertificate(terminal, flags);
  const { metrics, ...measuring } = await startMeasuring(flags, logger);
  const auditLog = createAuditLog({ clock: systemClock, logger, metrics });
  try {
    await auditLog.configure(config.config.audit);
    const shared = namesEtcd(flags) ? await openSharedStore(terminal, { ...flags, kubeconfig }, { logger, metrics }) : undefined;
    const folder = shared === undefined ? await openFolder(terminal, flags) : undefined;
    if (folder !== undefined) metrics.beforeRead(() => metrics.gauge("apiserver_storage_size_bytes", folder.size()));
    const management = await start(terminal, flags, {
      folder,
      shared,
      proxyFor,
      logger,
      metrics,
      config: config.config,
      adminKey,
      certificate,
      auditLog,
    });
    const { config: file } = flags;
    const followed = file === undefined ? undefined : follow(terminal, file, { text: config.text, logger, metrics, management, auditLog });
    const upkeep = folder && (await startUpkeep(folder, logger));
    let kept: { stop(): Promise<void> } | undefined;
    try {
      await folder?.keep(Number(new URL(management.url).port));
      kept = await shared?.keep();
      await printAddress(terminal, { management, kubeconfig, folder, adminKeyFile: flags.adminKeyFile });
      await aborted(stop);
    } finally {
      await followed?.stop();
      await upkeep?.stop();
      await management.stop();
      // After the last write, so that the record contains its revision.
      await kept?.stop();
    }
  } finally {
    await auditLog.stop();
    await measuring.stop();
  }
}

interface Measuring {
  readonly metrics: Metrics;
  stop(): Promise<void>;
}

/** Metrics are counted only if they can be scraped. */
async function startMeasuring({ metricsAddress }: ManagementFlags, logger: Logger): Promise<Measuring> {
  if (metricsAddress === "") return { metrics: noMetrics, stop: async () => {} };
  const metrics = createMetrics(METRIC_HELP);
  const { address, paths, stop } = await startProbeServer({ address: metricsAddress, metrics: () => metrics.text() });
  logger.info("Listening", { address, paths });
  const stopProcess = exposeProcess(metrics, systemClock);
  return {
    metrics,
    async stop() {
      stopProcess();
      await stop();
    },
  };
}

function checkFlags({ http, host, tlsCert, tlsKey, memory, data, etcd }: ManagementFlags): void {
  if (memory === true && etcd !== undefined) throw new EngineError("USAGE", "--memory and --etcd cannot be combined");
  if (memory === true && data !== undefined) throw new EngineError("USAGE", "--memory stores nothing on disk; omit --data");
  if (http === true && !LOOPBACK.test(host)) throw new EngineError("USAGE", `--http serves loopback addresses only, not ${host}`);
  if (http === true && (tlsCert ?? tlsKey) !== undefined)
    throw new EngineError("USAGE", "--http uses no certificate; omit --tls-cert and --tls-key");
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new EngineError("USAGE", "--tls-cert and --tls-key must be specified together");
}

interface ReadConfig {
  readonly text: string;
  readonly config: ManagementConfig;
}

async function readConfig({ terminal }: CommandContext, { config: file }: ManagementFlags): Promise<ReadConfig | "bad"> {
  const text = file === undefined ? "" : await terminal.read(file);
  const result = parseManagementConfig(text, { ...(file !== undefined && { file }), environment: terminal.env });
  for (const problem of result.ok ? result.warnings : result.problems) reportProblem(terminal, problem);
  return result.ok ? { text, config: result.config } : "bad";
}

async function openFolder(
  terminal: Terminal,
  { memory, name, data = `${name}-data`, encryptionKeyFile, acceptDataLoss = false, ...flags }: ManagementFlags,
): Promise<ManagementFolder | undefined> {
  if (memory === true) return undefined;
  return openManagementFolder({
    path: data,
    name,
    terminal,
    acceptDataLoss,
    memory: memoryOf(flags),
    ...(encryptionKeyFile !== undefined && { encryptionKeyFile }),
  });
}

/** Starts the background work: re-encrypts values with the first key, and serves the requests of commands. */
async function startUpkeep(folder: ManagementFolder, logger: Logger): Promise<{ stop(): Promise<void> }> {
  const resealing = startResealing({ store: folder.store, clock: systemClock, logger });
  const socket = await serveFolder({ ...folder, logger });
  return {
    async stop() {
      await resealing.stop();
      await socket.close();
    },
  };
}

interface Started {
  readonly folder: ManagementFolder | undefined;
  readonly shared: SharedStore | undefined;
  readonly proxyFor: ProxyFor;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly config: ManagementConfig;
  readonly adminKey: string | undefined;
  readonly certificate: Pick<ManagementOptions, "tls">;
  readonly auditLog: AuditLog;
}

async function start(
  terminal: Terminal,
  flags: ManagementFlags,
  { folder, shared, proxyFor, logger, metrics, config, adminKey, certificate, auditLog }: Started,
): Promise<Management> {
  const port = flags.port ?? folder?.port;
  const given: ManagementOptions = {
    limits: limitsOf(flags),
    quota: quotaOf(flags),
    ...{
      name: flags.name,
      host: flags.host,
      logger,
      metrics,
      config,
      readFile: (path) => terminal.read(path),
      reachProviders: (how) => createProviderFetch({ ...how, proxyFor }),
      audit: auditLog.audit,
      auditEvents: auditLog.events,
    },
    ...(port !== undefined && { port }),
    ...(flags.trustedProxies !== undefined && { trustedProxies: flags.trustedProxies }),
    ...(flags.publicUrl !== undefined && { publicUrl: flags.publicUrl }),
    ...(adminKey !== undefined && { adminKey }),
    ...(flags.memory === true && { store: createMemoryStore({ memory: memoryOf(flags) }) }),
    ...(folder !== undefined && { store: folder.store, tls: folder.certificate }),
    ...(shared !== undefined && { store: shared.store, sharing: shared.sharing }),
  };
  const tls = flags.http === true ? { tls: false as const } : certificate;
  try {
    return await startManagement({ ...given, ...tls });
  } catch (error) {
    if (!["EADDRINUSE", "EACCES", "EADDRNOTAVAIL"].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    const details = { hint: "Choose another address with --port and --host; earlier kubeconfigs do not contain the new address" };
    throw new EngineError("USAGE", `Cannot listen on ${flags.host}:${port}: ${messageOf(error)}`, { cause: error, details });
  }
}

async function readAdminKey(terminal: Terminal, { adminKeyFile }: ManagementFlags): Promise<string | undefined> {
  if (adminKeyFile === undefined) return undefined;
  const key = (await terminal.read(adminKeyFile)).trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new EngineError("CONFIG_VALUE", `"${adminKeyFile}" contains no access key: expected one word of printable ASCII`);
}

/** Reads the specified certificate and key. If the certificate is self-signed, clients must trust it directly. */
async function givenCertificate(terminal: Terminal, { tlsCert, tlsKey }: ManagementFlags): Promise<Pick<ManagementOptions, "tls">> {
  if (tlsCert === undefined || tlsKey === undefined) return {};
  const [certPem, keyPem] = [await terminal.read(tlsCert), await terminal.read(tlsKey)];
  try {
    createSecureContext({ cert: certPem, key: keyPem });
    const certificate = new X509Certificate(certPem);
    return { tls: { certPem, keyPem, ...(certificate.checkIssued(certificate) && { caPem: certPem }) } };
  } catch (error) {
    const message = `"${tlsCert}" and "${tlsKey}" are not a certificate and its key: ${messageOf(error)}`;
    throw new EngineError("CONFIG_FILE", message, { cause: error });
  }
}

interface Followed {
  readonly text: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly management: Management;
  readonly auditLog: AuditLog;
}

/** Follows the configuration file. Errors are reported, and the previous configuration stays in effect. */
function follow(terminal: Terminal, file: string, { text, logger, metrics, management, auditLog }: Followed) {
  metrics.count("management_config_reload_failures_total", {}, 0);
  return followConfigFile({
    ...{ clock: systemClock, text, file, environment: terminal.env },
    read: () => terminal.read(file),
    async onChange(config) {
      // First, because files of the audit log can fail.
      await auditLog.configure(config.audit);
      await management.configure(config);
      logger.info("The configuration has changed");
    },
    onUnchanged: () => void management.showRefusal(undefined),
    onProblem({ message, problems }) {
      void management.showRefusal(
        [message, ...problems.slice(0, REPORTED_MAX).map(({ field, message }) => `${field}: ${message}`)].join("; "),
      );
      logger.error(message, { code: "CONFIG_VALUE", file });
      metrics.count("management_config_reload_failures_total");
      for (const problem of problems) reportProblem(terminal, problem);
    },
  });
}

/** Maximum number of a file's problems in the condition; the log contains all. */
const REPORTED_MAX = 10;

/** Path of the example request. */
const TEAMS_PATH = "/kubernetes/management/apis/management.platform/v1/teams";

interface PrintedAddress {
  readonly management: Management;
  readonly kubeconfig: string;
  readonly folder: ManagementFolder | undefined;
  readonly adminKeyFile: string | undefined;
}

/** Prints the address and the first access key. The key is shown once, because it cannot be read later. */
async function printAddress(terminal: Terminal, { management, kubeconfig, folder, adminKeyFile }: PrintedAddress): Promise<void> {
  const { url, adminKey, adminKeyEnd } = management;
  if (folder?.keyIsBeside) terminal.err("The encryption key is stored with the data. Keep it elsewhere with --encryption-key-file");
  terminal.out(`The management API serves ${url}/kubernetes/management\n`);
  if (adminKey === undefined) return terminal.out("The administrator's key has not changed since the first start\n");
  const where = adminKeyFile === undefined ? `, shown once: ${adminKey}` : ` is the one in ${adminKeyFile}`;
  try {
    await writeKubeconfigFile(kubeconfig, management.kubeconfig(adminKey));
  } finally {
    // The key exists even if the file cannot be written.
    terminal.out(`Access key of the administrator${where}\n`);
    if (adminKeyEnd !== undefined) terminal.out(`It expires at ${timestamp(adminKeyEnd)}; use it to create another key before then\n`);
  }
  // kubectl sends no key over an unencrypted connection.
  if (url.startsWith("https:")) return terminal.out(`kubectl --kubeconfig ${kubeconfig} get teams\n`);
  terminal.out(`With the access key in the variable KEY:\ncurl -H "Authorization: Bearer $KEY" ${url}${TEAMS_PATH}\n`);
}
