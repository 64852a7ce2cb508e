import { systemChance } from "../../base/chance.ts";
import type { Chance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Logger } from "../../base/logger.ts";
import { noMetrics } from "../../base/metrics.ts";
import type { Metrics } from "../../base/metrics.ts";
import { administers } from "../access/caller.ts";
import { startApiServer } from "../../apiserver/api-server.ts";
import type { ApiServer } from "../../apiserver/api-server.ts";
import type { ServerLimits } from "../../apiserver/http/limits/limits.ts";
import type { Audit } from "../../apiserver/access/audit.ts";
import { createServerCertificate } from "../../apiserver/access/certificates.ts";
import type { ServerCertificate } from "../../apiserver/access/certificates.ts";
import { createAddressOf } from "../../apiserver/http/client-address.ts";
import type { AddressOf } from "../../apiserver/http/client-address.ts";
import type { Exchange, OpenExchange } from "../../apiserver/http/exchange.ts";
import { methodNotAllowed } from "../../apiserver/types/status.ts";
import { AUDIT_EVENTS_PATH } from "../audit/audit-events.ts";
import type { AuditEvents } from "../audit/audit-events.ts";
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
import { openManagementApi } from "./management-api.ts";
import type { ManagementApi, ManagementApiOptions } from "./management-api.ts";
import { createServerReadiness, keepLooking } from "./readiness.ts";
import type { QuotaLimits } from "../access/quota/quota.ts";
import { sharedCertificate } from "../replicas/shared-certificate.ts";
import type { Sharing } from "../replicas/sharing.ts";

/** What a management server is made of; each has a default. */
export interface ManagementOptions {
  /** Where objects are kept; the server closes it. Default: in memory. */
  readonly store?: Store;
  /** Name of the kubeconfig's context. Default "platform". */
  readonly name?: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, any free one. */
  readonly port?: number;
  /**
   * What clients trust; recreated when left out, so that no kubeconfig from before works, or the one that all servers on a shared store
   * have. False serves plain HTTP, for loopback
   * addresses only.
   */
  readonly tls?: (Omit<ServerCertificate, "caPem"> & { readonly caPem?: string }) | false;
  /** Where browsers and clusters reach the server. Default: where it listens. Servers on a shared store need the same one. */
  readonly publicUrl?: string;
  /**
   * IP addresses and networks of proxies whose `X-Forwarded-For` is believed: limits by address are limits of the proxy otherwise.
   * Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /** The configuration to begin with. Default: all defaults. */
  readonly config?: ManagementConfig;
  /** The administrator's access key. Default: one is made at the first start. */
  readonly adminKey?: string;
  /** Told of every request, by the configuration's audit settings. Default: nobody is told. */
  readonly audit?: Audit;
  /** Reads the audit lines of a database, for administrators. Default: there is none, and `/audit/events` is not there. */
  readonly auditEvents?: AuditEvents;
  /** Reads a file that the configuration names, such as the certificate of a provider. Default: there are none. */
  readonly readFile?: (path: string) => Promise<string>;
  /** How providers of sign-in are reached, as tests replace it. Default: over connections of their own. */
  readonly reachProviders?: ManagementApiOptions["reachProviders"];
  /** What is refused because there is too much of it. A body may have 10,000 fields and items here. */
  readonly limits?: ServerLimits;
  /** How much may be stored for one user or team. */
  readonly quota?: QuotaLimits;
  /** Default: nobody counts. */
  readonly metrics?: Metrics;
  /** Other servers may use the store at the same time. Default: none does. */
  readonly sharing?: Sharing;
  readonly clock?: Clock;
  readonly chance?: Chance;
  readonly logger?: Logger;
}

/** A management server that listens. */
export interface Management {
  /** Where it listens, without a path. */
  readonly url: string;
  /** The verbs of the API without a network, as its administrator. */
  readonly registry: Registry;
  /** The authority of the server's certificate; "" for plain HTTP. */
  readonly caPem: string;
  /** The administrator's key, when it was made or set by this start; undefined when it is the one of an earlier start. */
  readonly adminKey: string | undefined;
  /** When the first administrator's key ends, in milliseconds since 1970; undefined when it does not. */
  readonly adminKeyEnd: number | undefined;
  /** This server does what one of several does for all; true when it is alone. */
  readonly leading: boolean;
  /** A kubeconfig (YAML) with a key. On a shared store it names the public URL, if there is one. */
  kubeconfig(key: string): string;
  /** The public keys of tokens for clusters, as a JWKS. */
  tokenKeys(): object;
  /** Takes another configuration, at once. */
  configure(config: ManagementConfig): Promise<void>;
  /**
   * Shows administrators, as a condition of the object `config`, why a later text of the file is not at work; undefined once the file
   * says what is.
   */
  showRefusal(message: string | undefined): Promise<void>;
  /** Resolves when the server's own controllers have caught up. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Where clusters find the public keys of tokens. */
export const TOKEN_KEYS_PATH = "/.well-known/jwks.json";
/** How long requests may take to end when one of several servers stops, in milliseconds. */
const DRAIN_MS = 10_000;
/** Addresses to listen on that are nobody's. */
const EVERYWHERE: readonly string[] = ["0.0.0.0", "::"];
const VERSION = { major: "1", minor: "34", gitVersion: "v1.34.0+endpoint-sync" };

/**
 * Starts the management API.
 *
 * @throws STORE_FAILED or CONFIG_FILE when the store cannot be used, and what the system says about the port.
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
    // A key that is made and cannot be told, as when the port is taken, would be nobody's.
    onListening: async () => void (adminKey = await api.bootstrap()),
    ...{ clock, chance, logger, metrics, version: VERSION },
    authenticate: api.authenticate,
    known: api.known,
    authorizer: api.rights,
    administers,
    visible: (user, definition) => api.rights.visible(user, definition),
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

/** Administrators alone come as far as this: the rights of others are on resources. */
async function auditDocument({ path, method, query }: Exchange, events: AuditEvents): Promise<object | undefined> {
  if (path !== AUDIT_EVENTS_PATH) return undefined;
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
  return events(query);
}

/** The server that leads is told to compact by its Lease, which nobody can write when there is no space left. */
function reliefOf(store: Store, { compact }: Sharing = {}): (() => Promise<void>) | undefined {
  return compact && (async () => compact(await store.revision()));
}

/** What a server that listens on an address is called on its machine. */
function reachableAs(host = "127.0.0.1"): string {
  if (EVERYWHERE.includes(host)) return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Where others take over, what is under way may end, and watches end in order so that clients go on there. */
async function stop(server: ApiServer, api: ManagementApi, { store, sharing }: Serving): Promise<void> {
  await server.close(sharing && { drainMs: DRAIN_MS });
  await api.stop();
  await store.close();
}

/** What is asked without a key: the keys of tokens, and how to get a key. */
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
  return async ({ request, response, path, method, audit }: OpenExchange): Promise<boolean> => {
    if (path !== TOKEN_KEYS_PATH) return signIn(request, response, path, audit);
    if (method !== "GET" && method !== "HEAD") return false;
    response.writeHead(200, { "Content-Type": "application/jwk-set+json" }).end(JSON.stringify(api.tokenKeys()));
    return true;
  };
}
