import { systemChance } from "../base/chance.ts";
import type { Chance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import type { Logger } from "../base/logger.ts";
import { startApiServer } from "../server/api-server.ts";
import type { ServerLimits } from "../server/api-server.ts";
import { createLoopbackAuthentication, createTokenAuthentication } from "../server/authentication.ts";
import { createServerCertificate } from "../server/certificates.ts";
import type { ServerCertificate } from "../server/certificates.ts";
import { formatKubeconfig } from "../server/kubeconfig.ts";
import { createMemoryStore } from "../server/memory-store.ts";
import { createRegistry } from "../server/registry.ts";
import type { Registry } from "../server/registry.ts";
import type { UserInfo } from "../server/resource-context.ts";
import type { Store } from "../server/store.ts";
import { bootstrap } from "./bootstrap.ts";
import { startEndpointsController } from "./controllers/endpoints-controller.ts";
import type { Controller } from "./controllers/endpoints-controller.ts";
import { startNamespaceController } from "./controllers/namespace-controller.ts";
import { createCoreKinds } from "./core-kinds.ts";
import { createInProcessClient } from "./in-process-client.ts";
import type { InProcessClient } from "./in-process-client.ts";
import { createNamespaceLifecycle } from "./namespace-lifecycle.ts";

/** What an embedded cluster is without a network. */
export interface EmbeddedClusterOptions {
  readonly clock?: Clock;
  readonly chance?: Chance;
  /** Default: says nothing. */
  readonly logger?: Logger;
  /** Events kept for watches that start in the past. Default 10,000. */
  readonly history?: number;
  /** Where objects are kept. Default: a new memory store with `history`. */
  readonly store?: Store;
  /** Endpoints follow their Services, as in a real cluster. Default true. */
  readonly endpointsController?: boolean;
}

/** A cluster in this process, with no port. */
export interface EmbeddedCluster {
  readonly registry: Registry;
  readonly client: InProcessClient;
  /** Forgets the history: a watch or page that starts before this moment is answered 410. */
  compact(): Promise<void>;
  /** Resolves when the cluster's own controllers have caught up. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** An embedded cluster and how it is reached. */
export interface ClusterOptions extends EmbeddedClusterOptions {
  /** Name of the kubeconfig's context. */
  readonly name: string;
  /** Default 0, any free one. */
  readonly port?: number;
  /** False serves plain HTTP, on loopback and without credentials. Default true. */
  readonly tls?: boolean;
  readonly limits?: ServerLimits;
}

/** A cluster that can be reached over the network. */
export interface Cluster extends EmbeddedCluster {
  readonly url: string;
  /** A kubeconfig (YAML) with an administrator's credentials. */
  readonly kubeconfig: string;
  /** The authority of the server's certificate; "" for plain HTTP. */
  readonly caPem: string;
  /** The administrator's bearer token; "" for plain HTTP. */
  readonly token: string;
  /** Cuts off every open watch, over the network and in process. */
  disconnect(): void;
}

const ADMIN: UserInfo = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
const VERSION = { major: "1", minor: "34", gitVersion: "v1.34.0+endpoint-sync" };
const TOKEN_BYTES = 32;

/**
 * A cluster in this process: registry, first objects, controllers and a client.
 *
 * @example
 * const cluster = await createEmbeddedCluster({ clock, chance });
 * await cluster.client.list(NAMESPACES);
 */
export async function createEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const { clock = systemClock, chance = systemChance, logger = silentLogger, history } = options;
  const store = options.store ?? createMemoryStore(history === undefined ? {} : { history });
  const registry = createRegistry({ store, definitions: createCoreKinds(chance), clock, chance, admit: createNamespaceLifecycle(store) });
  await registry.restore();
  await bootstrap(registry);
  const controllers: Controller[] = [await startNamespaceController({ registry, store, logger })];
  if (options.endpointsController !== false) controllers.push(await startEndpointsController({ registry, store, logger }));
  const client = createInProcessClient(registry);
  return {
    registry,
    client,
    compact: () => store.compact(),
    settled: () => settled(store, controllers),
    async stop() {
      controllers.forEach((controller) => controller.stop());
      await client.close();
      await store.close();
    },
  };
}

/** One controller's writes are another one's work, so it takes a round in which nothing was written. */
async function settled(store: Store, controllers: readonly Controller[]): Promise<void> {
  for (let before = -1, now = await store.revision(); before !== now; before = now, now = await store.revision()) {
    for (const controller of controllers) await controller.settled();
  }
}

/**
 * Starts an embedded cluster that `kubectl` and every other client can use.
 *
 * @example
 * const cluster = await startCluster({ name: "tenant" });
 * writeFileSync("tenant.kubeconfig", cluster.kubeconfig);
 * await cluster.stop();
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { name, port, limits, tls = true, clock = systemClock, chance = systemChance, logger = silentLogger } = options;
  const cluster = await createEmbeddedCluster(options);
  const certificate = tls ? createServerCertificate({ name, clock, chance }) : undefined;
  const token = certificate ? Buffer.from(chance.bytes(TOKEN_BYTES)).toString("base64url") : "";
  const server = await startApiServer({
    registry: cluster.registry,
    clock,
    chance,
    logger,
    version: VERSION,
    authenticate: certificate ? createTokenAuthentication([{ token, user: ADMIN }]) : createLoopbackAuthentication(ADMIN),
    ...(certificate && { tls: certificate }),
    ...(port !== undefined && { port }),
    ...(limits && { limits }),
  });
  const url = `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
  return {
    ...cluster,
    url,
    token,
    caPem: certificate?.caPem ?? "",
    kubeconfig: kubeconfigOf({ name, url, token, certificate }),
    disconnect() {
      server.disconnect();
      cluster.client.disconnect();
    },
    async stop() {
      await server.close();
      await cluster.stop();
    },
  };
}

function kubeconfigOf({
  name,
  url,
  token,
  certificate,
}: {
  name: string;
  url: string;
  token: string;
  certificate: ServerCertificate | undefined;
}): string {
  return formatKubeconfig({ name, url, ...(certificate && { caPem: certificate.caPem, token }) });
}
