/**
 * Checks before a syncer starts. The checks wait for a cluster that does not respond, because sidecars often start before the API server
 * next to them; errors that waiting cannot fix end the start.
 *
 * @module
 */
import { backoffDelay } from "../../base/backoff.ts";
import { delay } from "../../base/clock.ts";
import { EngineError, isEngineError, messageOf } from "../../base/errors.ts";
import { ENDPOINTS, NAMESPACES, SERVICES, type ResourceType } from "../../kube/object/resource.ts";
import type { FollowedCluster, Runtime } from "../input/followed-cluster.ts";

/** Delays between attempts. They are short in the first seconds, because the API server next to a sidecar starts at the same time. */
const BACKOFF = { initialMs: 250, maximumMs: 15_000, factor: 1.15, jitter: 0.2 };

/** Time, in milliseconds, for which an API server may refuse allowed requests after its start, because it has not loaded its roles yet. */
const WARMING_UP_MS = 30_000;

/** Kinds that are read on both sides by default. */
const USUALLY_READ = [SERVICES, ENDPOINTS];

/** Errors about a server's certificate that has expired or does not match the kubeconfig. */
const CERTIFICATE_FAULTS = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "CERT_HAS_EXPIRED",
]);

/** Dependencies of a start. */
export interface StartupOptions {
  readonly tenant: FollowedCluster;
  readonly host: FollowedCluster;
  /** Kinds that are read on both sides. Default Services and Endpoints. */
  readonly kinds?: readonly ResourceType[];
  /** Ends the wait. */
  readonly stop: AbortSignal;
  readonly runtime: Runtime;
}

/**
 * Waits until both clusters respond and can be read, and checks that they are different clusters. Only warns about a missing host
 * namespace, which can be created later. Resolves early when `stop` aborts.
 *
 * @throws API_UNAUTHORIZED, API_FORBIDDEN and others when a cluster refuses; API_UNAVAILABLE when its certificate cannot be trusted.
 * @throws CONFIG_VALUE when both sides are the same cluster.
 */
export async function awaitClusters(options: StartupOptions): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([options.stop, failed.signal]);
  try {
    await Promise.all([options.tenant, options.host].map((cluster) => awaitCluster(cluster, { ...options, stop })));
    if (stop.aborted) return;
    await refuseSameCluster(options);
    await warnOfMissingNamespace(options);
  } finally {
    failed.abort();
  }
}

/** Waits until `attempt` succeeds; resolves early when `stop` aborts. @throws errors that another attempt would not change. */
export async function whileUnreachable(
  cluster: FollowedCluster,
  attempt: () => Promise<void>,
  { stop, runtime }: Pick<StartupOptions, "stop" | "runtime">,
): Promise<void> {
  const { clock, chance } = runtime;
  const reporter = createWaitReporter(cluster, runtime);
  let awayAt: number | undefined;
  for (let failures = 0; !stop.aborted; failures += 1) {
    try {
      await attempt();
      return reporter.answered();
    } catch (error) {
      if (stop.aborted) return;
      if (isEngineError(error, "API_UNAVAILABLE")) awayAt = clock.monotonic();
      const isWarmingUp = awayAt !== undefined && clock.monotonic() - awayAt < WARMING_UP_MS;
      if (!isPassing(error) && !(isWarmingUp && isRefusal(error))) throw withCluster(cluster, error);
      const retryMs = Math.round(backoffDelay(BACKOFF, failures, () => chance.fraction()));
      reporter.failed(error);
      await delay(clock, retryMs, stop);
    }
  }
}

/** Interval at which a continuing wait is logged again, in milliseconds. */
const REPORT_AGAIN_MS = 60_000;

/** Logs a failure once, again when the reason changes, and then from time to time with the number of attempts. */
function createWaitReporter({ side, server }: FollowedCluster, { clock, logger }: Pick<StartupOptions["runtime"], "clock" | "logger">) {
  const since = clock.now();
  const where = { cluster: side, server };
  let attempts = 0;
  let reported: { readonly reason: string; readonly at: number } | undefined;
  return {
    failed({ code, message }: EngineError): void {
      attempts += 1;
      const now = clock.now();
      const reason = `${code} ${message}`;
      if (reported?.reason === reason && now - reported.at < REPORT_AGAIN_MS) return;
      const counted = reported?.reason === reason ? { attempts, seconds: Math.round((now - since) / 1_000) } : {};
      reported = { reason, at: now };
      logger.warn("Waiting for the API server", { ...where, code, error: message, ...counted });
    },
    answered(): void {
      if (reported !== undefined) logger.info("The API server responds", { ...where, attempts: attempts + 1 });
    },
  };
}

async function awaitCluster(cluster: FollowedCluster, options: StartupOptions): Promise<void> {
  await whileUnreachable(
    cluster,
    async () => {
      for (const kind of options.kinds ?? USUALLY_READ)
        await cluster.client.list(kind, { ...cluster.scope, limit: 1, signal: options.stop });
    },
    options,
  );
}

/** A reachable cluster, and its address for messages. */
export interface AnsweringCluster extends Pick<FollowedCluster, "side" | "server"> {
  readonly client: Pick<FollowedCluster["client"], "get">;
}

/**
 * Refuses to sync a cluster with itself, because every copy would look like a tenant object and be copied again.
 *
 * @throws CONFIG_VALUE when both sides are the same cluster.
 */
export async function refuseSameCluster({ tenant, host }: Record<"tenant" | "host", AnsweringCluster>): Promise<void> {
  const [tenantUid, hostUid] = await Promise.all([tenant, host].map(async (cluster) => (await look(cluster, "kube-system")).uid));
  if (tenantUid === undefined || tenantUid !== hostUid) return;
  throw new EngineError("CONFIG_VALUE", `Cannot sync ${tenant.server} with ${host.server}: tenant and host are the same cluster`, {
    details: { hint: "Check --tenant-kubeconfig, --tenant-context, --host-kubeconfig and --host-context" },
  });
}

async function warnOfMissingNamespace({ host, runtime }: StartupOptions): Promise<void> {
  const { namespace } = host.scope;
  if (namespace === undefined || (await look(host, namespace)).seen !== "absent") return;
  runtime.logger.warn("The host namespace does not exist; nothing is copied until it is created", { namespace });
}

/** Looks up a namespace. It is "hidden" if this process may not read Namespaces, as with a role in a single namespace. */
async function look(
  { client }: Pick<AnsweringCluster, "client">,
  name: string,
): Promise<{ seen: "present" | "absent" | "hidden"; uid?: string | undefined }> {
  try {
    const namespace = await client.get(NAMESPACES, { namespace: "", name });
    return namespace === undefined ? { seen: "absent" } : { seen: "present", uid: namespace.metadata.uid };
  } catch (error) {
    if (isEngineError(error, "API_FORBIDDEN", "API_UNAVAILABLE", "API_TOO_MANY_REQUESTS")) return { seen: "hidden" };
    throw error;
  }
}

function isPassing(error: unknown): error is EngineError {
  if (!isEngineError(error, "API_UNAVAILABLE", "API_TOO_MANY_REQUESTS")) return false;
  return !isCertificateFault(error);
}

function isRefusal(error: unknown): error is EngineError {
  return isEngineError(error, "API_FORBIDDEN", "API_UNAUTHORIZED");
}

function certificateHint(side: string, { cause }: EngineError): string {
  const isOver = (cause as { code?: unknown }).code === "CERT_HAS_EXPIRED";
  return isOver
    ? `Renew the certificate of the ${side} cluster's API server; the kubeconfig is correct`
    : `Check server and certificate-authority in the kubeconfig of the ${side} cluster`;
}

function isCertificateFault({ cause }: EngineError): boolean {
  return cause instanceof Error && CERTIFICATE_FAULTS.has(String((cause as { code?: unknown }).code));
}

/** Adds the name of the cluster to the error of an API server. Other errors are unchanged. */
export function withCluster({ side, server }: Pick<FollowedCluster, "side" | "server">, error: unknown): unknown {
  if (!isEngineError(error) || !error.code.startsWith("API_")) return error;
  const fault = isCertificateFault(error) && { hint: certificateHint(side, error) };
  const cluster = `${side} cluster ${server}`;
  const what = error.code === "API_UNAUTHORIZED" ? `The ${cluster} rejected the credentials` : `Cannot use the ${cluster}`;
  return new EngineError(error.code, `${what}: ${messageOf(error)}`, {
    cause: error,
    details: { ...error.details, ...fault },
  });
}
