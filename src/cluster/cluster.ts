import { systemChance, type Chance } from "../base/chance.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import { groupOf, NAMESPACES } from "../kube/object/resource.ts";
import { startApiServer } from "../apiserver/api-server.ts";
import type { ServerLimits } from "../apiserver/http/limits/limits.ts";
import { createLoopbackAuthentication } from "../apiserver/access/authentication.ts";
import { formatKubeconfig } from "../apiserver/access/kubeconfig.ts";
import { createMemoryStore } from "../apiserver/store/memory/memory-store.ts";
import { createRegistry, type Registry } from "../apiserver/verbs/registry.ts";
import type { ResourceDefinition } from "../apiserver/types/resource-definition.ts";
import type { Store } from "../apiserver/store/store.ts";
import { createBearerAuthentication } from "../apiserver/access/tokens.ts";
import { createAccess, createCreationAdmission, type Access } from "./access.ts";
import { bootstrap } from "./bootstrap.ts";
import type { ClusterController } from "./controllers/controller.ts";
import { startGracePeriodController } from "./controllers/grace-period-controller.ts";
import { selectControllers } from "./controllers/running/controller-selection.ts";
import { createControllerSet, type Controllers } from "./controllers/running/running-controllers.ts";
import { createCoreKinds } from "./core-kinds.ts";
import { createClusterCredentials, type ClusterCredentials } from "./credentials.ts";
import { createInProcessClient, type InProcessClient } from "./in-process-client.ts";
import type { PlatformTrust } from "./tokens/platform-tokens.ts";
import { tokenUserOf, type IssuedToken, type TokenSubject } from "./kinds/token-for.ts";
import { storeKey, type Admit, type UserInfo } from "../apiserver/verbs/resource-context.ts";
import { forbiddenRequest, notFound } from "../apiserver/types/status.ts";

/** Options of an embedded cluster without a network. */
export interface EmbeddedClusterOptions {
  readonly clock?: Clock;
  readonly chance?: Chance;
  /** Default: logs nothing. */
  readonly logger?: Logger;
  /** Events kept for watches that start in the past. Default 10,000. */
  readonly history?: number;
  /** The store of the objects; the cluster closes it. Default: a new memory store with `history`. */
  readonly store?: Store;
  /**
   * Controllers that run, as kube-controller-manager's `--controllers` names them: `*` means all of them, and a name after `-` is
   * excluded. Default `["*"]`. Without the garbage collector, foreground deletions, and deletions that orphan dependents, wait until
   * another controller completes them.
   *
   * @example
   * await createEmbeddedCluster({ controllers: ["*", "-endpointslice-mirroring-controller"] });
   */
  readonly controllers?: readonly string[];
  /**
   * If true, the API server regroups subsets of Endpoints on every write, as Kubernetes before 1.36 does: into one subset for each set of
   * addresses, in an unpredictable order. Default false: subsets are stored as written.
   */
  readonly regroupsEndpoints?: boolean;
  /** A platform whose tokens the cluster accepts in addition to its own. Default: none. */
  readonly platform?: PlatformTrust;
}

/** A cluster in this process, with no port. */
export interface EmbeddedCluster {
  readonly registry: Registry;
  readonly client: InProcessClient;
  /** Authentication and authorization; the in-process client may do everything. */
  readonly access: Access;
  /** Stops and starts the cluster's controllers while it runs. */
  readonly controllers: Controllers;
  /** Drops the history: the server then answers 410 to a watch or page that starts at an earlier version. */
  compact(): Promise<void>;
  /** Resolves when the cluster's own controllers have caught up. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Options of an embedded cluster with a network address. */
export interface ClusterOptions extends EmbeddedClusterOptions {
  /** Name of the kubeconfig's context. */
  readonly name: string;
  /** TCP port. Default 0: any free port. */
  readonly port?: number;
  /** If false, the cluster serves plain HTTP, on loopback and without credentials. Default true. */
  readonly tls?: boolean;
  /** Certificates and tokens of the cluster and its clients. Default: new ones, so earlier kubeconfigs do not work. */
  readonly credentials?: ClusterCredentials;
  readonly limits?: ServerLimits;
}

/** A cluster that can be reached over the network. */
export interface Cluster extends EmbeddedCluster {
  readonly url: string;
  /** A kubeconfig (YAML) with an administrator's credentials. */
  readonly kubeconfig: string;
  /** The certificate authority of the server (PEM); "" for plain HTTP. */
  readonly caPem: string;
  /** The administrator's bearer token; "" for plain HTTP. */
  readonly token: string;
  /**
   * Credentials for a user other than the administrator, valid while the cluster runs. Over plain HTTP, requests
   * without credentials are still the administrator's.
   *
   * @throws API_NOT_FOUND when there is no such ServiceAccount.
   * @example
   * const { kubeconfig } = await cluster.tokenFor({ user: "jane", groups: ["dev"] });
   */
  tokenFor(subject: TokenSubject): Promise<IssuedToken>;
  /** Cuts off every open watch, over the network and in process. */
  disconnect(): void;
}

const ADMIN: UserInfo = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
const VERSION = { major: "1", minor: "34", gitVersion: "v1.34.0+endpoint-sync" };

/**
 * Creates a cluster in this process: registry, initial objects, controllers and a client.
 *
 * @throws USAGE if `controllers` names an unknown controller; the store then stays unchanged and open.
 * @example
 * const cluster = await createEmbeddedCluster({ clock, chance });
 * await cluster.client.list(NAMESPACES);
 */
export async function createEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const { clock = systemClock, chance = systemChance, logger = silentLogger, history } = options;
  const selected = selectControllers(options.controllers ?? ["*"]);
  const store = options.store ?? createMemoryStore(history === undefined ? {} : { history });
  // `definitions` contains the kinds of `access`. It is initialized below, before the function is called.
  const isNamespaced = (group: string, plural: string) =>
    definitions.some(({ type }) => type.namespaced && type.plural === plural && groupOf(type) === group);
  const access = await createAccess({ store, chance, clock, logger, isNamespaced, platform: options.platform });
  const admit = createCreationAdmission(access.authorizer, createNamespaceLifecycle(store));
  const definitions: readonly ResourceDefinition[] = [
    ...createCoreKinds(chance, { ...access, regroupsEndpoints: options.regroupsEndpoints ?? false }),
    ...access.kinds,
  ];
  const registry = createRegistry({ store, definitions, clock, chance, admit });
  await registry.restore();
  await bootstrap(registry);
  const parts = { registry, store, logger, clock };
  const controllers = createControllerSet(parts);
  for (const name of selected) {
    await controllers.start(name);
    // The controller of aggregated roles is the first, so that no caller sees roles that are still empty.
    if (name === "clusterrole-aggregation-controller") await controllers.all()[0]!.settled();
  }
  const graces = await startGracePeriodController(parts);
  const client = createInProcessClient(registry);
  return {
    registry,
    client,
    access,
    controllers,
    compact: () => store.compact(),
    settled: () => settled(store, () => [graces, ...controllers.all()]),
    async stop() {
      controllers.end();
      graces.stop();
      access.stop();
      await client.close();
      await store.close();
    },
  };
}

/** Waits for a round in which nothing is written, because one controller's writes can be another one's work. */
async function settled(store: Store, controllers: () => readonly ClusterController[]): Promise<void> {
  for (let before = -1, now = await store.revision(); before !== now; before = now, now = await store.revision()) {
    for (const controller of controllers()) await controller.settled();
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
  const cluster = await createEmbeddedCluster(options);
  try {
    return await serve(cluster, options);
  } catch (error) {
    // A store in a file is locked until it is closed.
    await cluster.stop();
    throw error;
  }
}

async function serve(cluster: EmbeddedCluster, options: ClusterOptions): Promise<Cluster> {
  const { name, port, limits, tls = true, clock = systemClock, chance = systemChance, logger = silentLogger } = options;
  const credentials = tls ? (options.credentials ?? createClusterCredentials({ name, clock, chance })) : undefined;
  const { token = "", caPem = "" } = credentials ?? {};
  const { access, registry } = cluster;
  if (credentials) access.tokens.add(token, { user: ADMIN });
  const authenticate = createBearerAuthentication(access.tokens, credentials ? undefined : createLoopbackAuthentication(ADMIN));
  const server = await startApiServer({
    registry,
    clock,
    chance,
    logger,
    version: VERSION,
    authenticate,
    authorizer: access.authorizer,
    ...(access.onWatch && { onWatch: access.onWatch }),
    ...(credentials && { tls: credentials }),
    ...(port !== undefined && { port }),
    ...(limits && { limits }),
  });
  const url = `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
  return {
    ...cluster,
    url,
    token,
    caPem,
    kubeconfig: formatKubeconfig({ name, url, ...(credentials && { caPem, token }) }),
    async tokenFor(subject) {
      const issued = access.tokens.issue(await tokenUserOf(registry, subject));
      return { token: issued, kubeconfig: formatKubeconfig({ name, url, token: issued, ...(credentials && { caPem }) }) };
    },
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

/** Namespaces that cannot be deleted. */
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

/**
 * Admission by namespace: nothing is written into a namespace that does not exist, nothing is created in a namespace that is being
 * deleted, and the initial namespaces cannot be deleted. Source: the NamespaceLifecycle admission plug-in.
 */
function createNamespaceLifecycle(store: Store): Admit {
  return async ({ verb, type, key }) => {
    if (!type.namespaced) {
      const immortal = verb === "delete" && type.kind === NAMESPACES.kind && IMMORTAL.has(key.name);
      if (immortal) throw forbiddenRequest(type, key.name, "this namespace may not be deleted");
      return;
    }
    if (verb === "delete") return;
    const namespace = await store.get(storeKey(NAMESPACES, { namespace: "", name: key.namespace }));
    if (namespace === undefined) throw notFound(NAMESPACES, key.namespace);
    const terminating = typeof namespace.object.metadata.deletionTimestamp === "string";
    if (verb !== "create" || !terminating) return;
    const why = `unable to create new content in namespace ${key.namespace} because it is being terminated`;
    const cause = {
      reason: "NamespaceTerminating",
      message: `namespace ${key.namespace} is being terminated`,
      field: "metadata.namespace",
    };
    throw forbiddenRequest(type, key.name, why, [cause]);
  };
}
