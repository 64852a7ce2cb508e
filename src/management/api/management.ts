import { systemChance, type Chance } from "../../base/chance.ts";
import { systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger, type Logger } from "../../base/logger.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import { administers } from "../access/caller.ts";
import { startApiServer, type ApiServer } from "../../apiserver/api-server.ts";
import type { ServerLimits } from "../../apiserver/http/limits/limits.ts";
import type { Audit } from "../../apiserver/access/audit.ts";
import { createServerCertificate, type ServerCertificate } from "../../apiserver/access/certificates.ts";
import { createAddressOf, type AddressOf } from "../../apiserver/http/client-address.ts";
import type { Exchange, OpenExchange } from "../../apiserver/http/exchange.ts";
import { methodNotAllowed } from "../../apiserver/types/status.ts";
import { AUDIT_EVENTS_PATH, type AuditEvents } from "../audit/audit-events.ts";
import { formatKubeconfig } from "../../apiserver/access/kubeconfig.ts";
import { createMemoryStore } from "../../apiserver/store/memory/memory-store.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import type { Store } from "../../apiserver/store/store.ts";
import { BASE_PATH } from "./base-path.ts";
import { createSignInRoutes } from "../sign-in/routes.ts";
import { DEFAULT_MANAGEMENT_CONFIG } from "../config/config.ts";
import type { ManagementConfig } from "../config/effective.ts";
import { createInternalRecords } from "../records/internal-records.ts";
import { MANAGEMENT_BODY_VALUES_MAX } from "../config/limits.ts";
import { openManagementApi, type ManagementApi, type ManagementApiOptions } from "./management-api.ts";
import { createServerReadiness, keepLooking } from "./readiness.ts";
import type { QuotaLimits } from "../access/quota/quota.ts";
import { sharedCertificate } from "../replicas/shared-certificate.ts";
import type { Sharing } from "../replicas/sharing.ts";

/** Options of a management server; each has a default. */
export interface ManagementOptions {
  /** The store of the objects; the server closes it. Default: in memory. */
  readonly store?: Store;
  /** Name of the kubeconfig's context. Default "platform". */
  readonly name?: string;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on. Default 0, which picks a free port. */
  readonly port?: number;
  /**
   * Certificate of the server. Default: a new one at each start, so earlier kubeconfigs stop working. Servers on a shared store share one
   * certificate. If false, the server uses plain HTTP, on loopback addresses only.
   */
  readonly tls?: (Omit<ServerCertificate, "caPem"> & { readonly caPem?: string }) | false;
  /**
   * Address at which browsers and clusters reach the server. Default: the listen address. Servers on a shared store must use the same
   * address.
   */
  readonly publicUrl?: string;
  /**
   * IP addresses and networks of proxies whose `X-Forwarded-For` is trusted. All clients of any other proxy share the limits of that
   * proxy's address. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /** The initial configuration. Default: all defaults. */
  readonly config?: ManagementConfig;
  /** The administrator's access key. Default: a key is generated at the first start. */
  readonly adminKey?: string;
  /** Logs requests as the configuration's audit settings require. Default: no audit log. */
  readonly audit?: Audit;
  /** Reads the audit lines of a database, for administrators. Default: none, and `/audit/events` does not exist. */
  readonly auditEvents?: AuditEvents;
  /** Reads a file that the configuration names, such as the certificate of a provider. Default: the configuration cannot name files. */
  readonly readFile?: (path: string) => Promise<string>;
  /** Sends requests to sign-in providers; for tests. Default: each request uses its own connection. */
  readonly reachProviders?: ManagementApiOptions["reachProviders"];
  /** Limits of requests. Here, `bodyValues` is 10,000 by default. */
  readonly limits?: ServerLimits;
  /** Quota of each user and each team. */
  readonly quota?: QuotaLimits;
  /** Default: none. */
  readonly metrics?: Metrics;
  /** Set this when other servers may use the store at the same time. Default: no other server does. */
  readonly sharing?: Sharing;
  readonly clock?: Clock;
  readonly chance?: Chance;
  readonly logger?: Logger;
}

/** A running management server. */
export interface Management {
  /** Address at which the server listens, without a path. */
  readonly url: string;
  /** The verbs of the API, in process and with administrator permissions. */
  readonly registry: Registry;
  /** The authority of the server's certificate, in PEM; "" for plain HTTP. */
  readonly caPem: string;
  /** The administrator's key, if it was passed or this start generated it; undefined otherwise. */
  readonly adminKey: string | undefined;
  /** When the first administrator's key expires, in milliseconds since 1970; undefined when it does not. */
  readonly adminKeyEnd: number | undefined;
  /** Whether this server does the background work for all servers; true for a single server. */
  readonly leading: boolean;
  /** A kubeconfig (YAML) with a key. On a shared store it contains the public URL, if there is one. */
  kubeconfig(key: string): string;
  /** The public keys that verify tokens for clusters, as a JWKS. */
  tokenKeys(): object;
  /** Applies a new configuration immediately. */
  configure(config: ManagementConfig): Promise<void>;
  /**
   * Shows administrators, in a condition of the `config` object, why a newer version of the file is not in effect. Pass undefined once
   * the file matches the configuration in effect.
   */
  showRefusal(message: string | undefined): Promise<void>;
  /** Resolves when the server's own controllers have caught up. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** The path of the public keys with which clusters verify tokens. */
export const TOKEN_KEYS_PATH = "/.well-known/jwks.json";
/** How long requests may take to end when one of several servers stops, in milliseconds. */
const DRAIN_MS = 10_000;
/** Addresses to listen on that no client can connect to. */
const EVERYWHERE: readonly string[] = ["0.0.0.0", "::"];
const VERSION = { major: "1", minor: "34", gitVersion: "v1.34.0+endpoint-sync" };

/**
 * Starts the management API.
 *
 * @throws STORE_FAILED or CONFIG_FILE when the store cannot be used, or the system's error when the port cannot be opened.
 * @example
 * const management = await startManagement({ port: 8443 });
 * writeFileSync("platform.kubeconfig", management.kubeconfig(management.adminKey!));
 * await management.stop();
 */
export async function startManagement(options: ManagementOptions = {}): Promise<Management> {
  const { clock = systemClock, chance = systemChance, logger = silentLogger, metrics = noMetrics } = options;
  const store = options.store ?? createMemoryStore();
  const place: { url?: string } = {};
  const addressOf = createAddressOf(options.trustedProxies ?? []);
  const issuer = () => options.publicUrl ?? place.url ?? "";
  try {
    const config = options.config ?? DEFAULT_MANAGEMENT_CONFIG;
    const api = await openManagementApi({
      store,
      clock,
      chance,
      logger,
      metrics,
      config,
      issuer,
      ...(options.quota && { quota: options.quota }),
      ...(options.adminKey !== undefined && { adminKey: options.adminKey }),
      ...(options.sharing && { sharing: options.sharing }),
      ...(options.readFile && { readFile: options.readFile }),
      ...(options.audit && { audit: options.audit }),
      ...(options.reachProviders && { reachProviders: options.reachProviders }),
    });
    try {
      return await serve(api, { ...options, clock, chance, logger, metrics, store, place, issuer, addressOf });
    } catch (error) {
      await api.stop();
      throw error;
    }
  } catch (error) {
    // A store in a file is locked until it is closed.
    await store.close();
    throw error;
  }
}

interface Serving extends ManagementOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly place: { url?: string };
  readonly issuer: () => string;
  readonly addressOf: AddressOf;
}

async function serve(api: ManagementApi, options: Serving): Promise<Management> {
  const { name = "platform", clock, chance, logger, metrics, host, port, limits, audit, auditEvents, store, place, sharing } = options;
  const tls = options.tls === false ? undefined : (options.tls ?? (await makeCertificate(name, options)));
  let adminKey: string | undefined;
  const relieve = reliefOf(store, sharing);
  const caPem = tls?.caPem ?? "";
  const shownUrl = () => (sharing && options.publicUrl) ?? place.url!;
  const kubeconfig = (key: string) =>
    formatKubeconfig({ name, url: `${shownUrl()}${BASE_PATH}`, token: key, ...(caPem !== "" && { caPem }) });
  const notReady = createServerReadiness({ store, relieve, clock, logger });
  const server = await startApiServer({
    registry: api.registry,
    // Not earlier: a key that is created but cannot be shown, for example because the port is in use, would be lost.
    onListening: async () => void (adminKey = await api.bootstrap()),
    ...{ clock, chance, logger, metrics, version: VERSION },
    authenticate: api.authenticate,
    known: api.known,
    authorizer: api.permissions,
    administers,
    visible: (user, definition) => api.permissions.visible(user, definition),
    visibleSince: api.visibleSince,
    onWatch: api.onWatch,
    basePath: BASE_PATH,
    routes: createOutsideRoutes(api, { ...options, kubeconfig }),
    addressOf: options.addressOf,
    notReady,
    isAlive: () => store.recovers !== false,
    ...(tls && { tls }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    limits: { bodyValues: MANAGEMENT_BODY_VALUES_MAX, ...limits },
    ...(audit && { audit }),
    ...(auditEvents && { ownDocuments: (exchange: Exchange) => auditDocument(exchange, auditEvents) }),
  });
  const endLooking = relieve && keepLooking(notReady, clock);
  place.url = `${tls ? "https" : "http"}://${reachableAs(host)}:${server.port}`;
  return {
    url: place.url,
    registry: api.registry,
    caPem,
    adminKey,
    get adminKeyEnd() {
      return api.administratorEnd.at;
    },
    get leading() {
      return api.leading;
    },
    kubeconfig,
    tokenKeys: () => api.tokenKeys(),
    configure: (config) => api.configure(config),
    showRefusal: (message) => api.showRefusal(message),
    settled: () => api.settled(),
    stop() {
      endLooking?.();
      return stop(server, api, options);
    },
  };
}

async function makeCertificate(name: string, { store, clock, chance, logger, host = "127.0.0.1", publicUrl, sharing }: Serving) {
  if (sharing === undefined) return createServerCertificate({ name, clock, chance });
  const hosts = [...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]), host].map((one) => one.replace(/^\[|\]$/g, ""));
  const named = hosts.filter((one) => !EVERYWHERE.includes(one));
  return sharedCertificate({ records: createInternalRecords(store), name, hosts: named, clock, chance, logger });
}

/** Returns the audit lines. Only administrators can request them: other users have permissions on resources only. */
async function auditDocument({ path, method, query }: Exchange, events: AuditEvents): Promise<object | undefined> {
  if (path !== AUDIT_EVENTS_PATH) return undefined;
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
  return events(query);
}

/** Returns a function that compacts the store without a leader: when no space is left, no process can write the Lease and lead. */
function reliefOf(store: Store, { compact }: Sharing = {}): (() => Promise<void>) | undefined {
  return compact && (async () => compact(await store.revision()));
}

/** Returns the host at which this machine itself reaches a listen address. */
function reachableAs(host = "127.0.0.1"): string {
  if (EVERYWHERE.includes(host)) return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Stops the server. If other servers take over, requests in progress can finish, and watches end so that clients continue there. */
async function stop(server: ApiServer, api: ManagementApi, { store, sharing }: Serving): Promise<void> {
  await server.close(sharing && { drainMs: DRAIN_MS });
  await api.stop();
  await store.close();
}

/** Creates the routes that need no key: the public keys of tokens, and the endpoints that issue a key. */
function createOutsideRoutes(
  api: ManagementApi,
  { clock, chance, logger, metrics, issuer, addressOf, ...parts }: Serving & { readonly kubeconfig: (key: string) => string },
) {
  const signIn = createSignInRoutes({
    config: () => api.config().auth,
    ports: api.signIn,
    ...{ clock, chance, logger, metrics },
    clients: api.providers,
    ui: () => api.config().uiSettings,
    kubeconfig: parts.kubeconfig,
    memory: api.signInMemory,
    addressOf,
    baseUrl: issuer,
  });
  return async (exchange: OpenExchange): Promise<boolean> => {
    const { response, path, method } = exchange;
    if (path !== TOKEN_KEYS_PATH) return signIn(exchange, path);
    if (method !== "GET" && method !== "HEAD") return false;
    response.writeHead(200, { "Content-Type": "application/jwk-set+json" }).end(JSON.stringify(api.tokenKeys()));
    return true;
  };
}
