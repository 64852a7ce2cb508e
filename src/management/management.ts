import { systemChance } from "../base/chance.ts";
import type { Chance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import type { Logger } from "../base/logger.ts";
import { startApiServer } from "../server/api-server.ts";
import type { ApiServer, ServerLimits } from "../server/api-server.ts";
import type { Audit } from "../server/audit.ts";
import { createServerCertificate } from "../server/certificates.ts";
import type { ServerCertificate } from "../server/certificates.ts";
import type { OpenExchange } from "../server/exchange.ts";
import { formatKubeconfig } from "../server/kubeconfig.ts";
import { createMemoryStore } from "../server/memory-store.ts";
import type { Registry } from "../server/registry.ts";
import type { Store } from "../server/store.ts";
import { BASE_PATH } from "./base-path.ts";
import { createSignInRoutes } from "./sign-in/routes.ts";
import { DEFAULT_MANAGEMENT_CONFIG } from "./config/config.ts";
import type { ManagementConfig } from "./config/effective.ts";
import { openManagementApi } from "./management-api.ts";
import type { ManagementApi } from "./management-api.ts";

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
   * What clients trust; made anew when left out, so that no kubeconfig from before works. False serves plain HTTP, for loopback
   * addresses only.
   */
  readonly tls?: (Omit<ServerCertificate, "caPem"> & { readonly caPem?: string }) | false;
  /** Where browsers and clusters reach the server. Default: where it listens. */
  readonly publicUrl?: string;
  /** The configuration to begin with. Default: all defaults. */
  readonly config?: ManagementConfig;
  /** The administrator's access key. Default: one is made at the first start. */
  readonly adminKey?: string;
  /** Told of every request, by the configuration's audit settings. Default: nobody is told. */
  readonly audit?: Audit;
  /** Reads a file that the configuration names, such as the certificate of a provider. Default: there are none. */
  readonly readFile?: (path: string) => Promise<string>;
  readonly limits?: ServerLimits;
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
  /** A kubeconfig (YAML) with a key. */
  kubeconfig(key: string): string;
  /** The public keys of tokens for clusters, as a JWKS. */
  tokenKeys(): object;
  /** Takes another configuration, at once. */
  configure(config: ManagementConfig): Promise<void>;
  /** Resolves when the server's own controllers have caught up. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Where clusters find the public keys of tokens. */
export const TOKEN_KEYS_PATH = "/.well-known/jwks.json";
const VERSION = { major: "1", minor: "34", gitVersion: "v1.34.0+endpoint-sync" };

/**
 * Starts the management API.
 *
 * @throws STORE_FAILED or CONFIG_FILE when the store can not be used, and what the system says about the port.
 * @example
 * const management = await startManagement({ port: 8443 });
 * writeFileSync("platform.kubeconfig", management.kubeconfig(management.adminKey!));
 * await management.stop();
 */
export async function startManagement(options: ManagementOptions = {}): Promise<Management> {
  const { clock = systemClock, chance = systemChance, logger = silentLogger } = options;
  const store = options.store ?? createMemoryStore();
  const place: { url?: string } = {};
  const issuer = () => options.publicUrl ?? place.url ?? "";
  try {
    const config = options.config ?? DEFAULT_MANAGEMENT_CONFIG;
    const api = await openManagementApi({
      store,
      clock,
      chance,
      logger,
      config,
      issuer,
      ...(options.adminKey !== undefined && { adminKey: options.adminKey }),
    });
    try {
      return await serve(api, { ...options, clock, chance, logger, store, place, issuer });
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
  readonly store: Store;
  readonly place: { url?: string };
  readonly issuer: () => string;
}

async function serve(api: ManagementApi, options: Serving): Promise<Management> {
  const { name = "platform", clock, chance, logger, host, port, limits, audit, store, place } = options;
  const tls = options.tls === false ? undefined : (options.tls ?? createServerCertificate({ name, clock, chance }));
  const server = await startApiServer({
    registry: api.registry,
    ...{ clock, chance, logger, version: VERSION },
    authenticate: api.authenticate,
    authorizer: api.rights,
    visible: (user, definition) => api.rights.visible(user, definition),
    onWatch: api.onWatch,
    basePath: BASE_PATH,
    routes: createOutsideRoutes(api, options),
    ...(tls && { tls }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(limits && { limits }),
    ...(audit && { audit }),
  });
  place.url = `${tls ? "https" : "http"}://${reachableAs(host)}:${server.port}`;
  const caPem = tls?.caPem ?? "";
  return {
    url: place.url,
    registry: api.registry,
    caPem,
    adminKey: api.adminKey,
    kubeconfig: (key) => formatKubeconfig({ name, url: `${place.url!}${BASE_PATH}`, token: key, ...(caPem !== "" && { caPem }) }),
    tokenKeys: () => api.tokenKeys(),
    configure: (config) => api.configure(config),
    settled: () => api.settled(),
    stop: () => stop(server, api, store),
  };
}

/** What a server that listens on an address is called on its machine. */
function reachableAs(host = "127.0.0.1"): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

async function stop(server: ApiServer, api: ManagementApi, store: Store): Promise<void> {
  await server.close();
  await api.stop();
  await store.close();
}

/** What is asked without a key: the keys of tokens, and how to get a key. */
function createOutsideRoutes(api: ManagementApi, { clock, chance, logger, issuer, readFile = noFile }: Serving) {
  const signIn = createSignInRoutes({
    config: () => api.config().auth,
    ports: api.signIn,
    ...{ clock, chance, logger, readFile },
    baseUrl: issuer,
  });
  return async ({ request, response, path, method }: OpenExchange): Promise<boolean> => {
    if (path !== TOKEN_KEYS_PATH) return signIn(request, response, path);
    if (method !== "GET" && method !== "HEAD") return false;
    response.writeHead(200, { "Content-Type": "application/jwk-set+json" }).end(JSON.stringify(api.tokenKeys()));
    return true;
  };
}

async function noFile(path: string): Promise<string> {
  throw new Error(`files can not be read here: ${path}`);
}
