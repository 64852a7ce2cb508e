import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Metrics } from "../../base/metrics.ts";
import { resolveConnection } from "../../kube/client/connection.ts";
import { createHttpClient, type HttpClientOptions } from "../../kube/client/http-client.ts";
import type { ClusterClient, ListScope } from "../../kube/object/cluster-client.ts";
import { createInformedAccess, type InformedAccess } from "../../engine/sync/cluster/informed-access.ts";
import type { Translator } from "../../engine/translate/translator.ts";

/** One of the two clusters of a syncer, with its own caches. */
export interface FollowedCluster {
  readonly side: "tenant" | "host";
  /** Address of the API server, for messages. */
  readonly server: string;
  readonly scope: ListScope;
  readonly client: ClusterClient;
  readonly access: InformedAccess;
  stop(): Promise<void>;
}

/** Resources shared within one process. */
export interface Runtime {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A loaded kubeconfig whose current context is complete. */
export type KubeConfig = HttpClientOptions["kubeConfig"];

/** How a cluster is followed. */
export interface FollowClusterOptions {
  readonly side: "tenant" | "host";
  readonly kubeConfig: KubeConfig;
  /** The part that is followed. Default everything. */
  readonly scope?: ListScope;
  /** Maximum writes per second. Default: no limit. */
  readonly qps?: number | undefined;
  /** While it returns false, nothing is written. Default: always true. */
  readonly mayWrite?: (() => boolean) | undefined;
  /** Called when the cluster responds that a request is forbidden. */
  readonly onForbidden?: () => void;
  /** Environment that credential plugins inherit. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly runtime: Runtime;
}

/** Maximum number of connections: more than workers that wait for unresponsive namespaces can occupy. They are opened on demand. */
const CONNECTIONS_MAX = 64;

/** Creates the client and the caches of a cluster, without opening a connection. */
export function followCluster(options: FollowClusterOptions): FollowedCluster {
  const { side, kubeConfig, scope = {}, qps, mayWrite, onForbidden, environment = {}, runtime } = options;
  const limits = {
    connectionsMax: CONNECTIONS_MAX,
    ...(qps !== undefined && { writeRate: { perSecond: qps } }),
    ...(mayWrite && { mayWrite }),
    ...(onForbidden && { onForbidden }),
  };
  const client = createHttpClient({ kubeConfig, environment, ...runtime, ...limits });
  // `cluster` distinguishes the informers of both sides in logs and metrics.
  const informers = { client, scope, cluster: side, ...runtime };
  const access = createInformedAccess(informers);
  const { origin, basePath } = resolveConnection(kubeConfig);
  return {
    side,
    server: origin + basePath,
    scope,
    client,
    access,
    async stop() {
      await access.stop();
      await client.close();
    },
  };
}

/** The scope to follow on the host: one namespace, or all of them if copies are in several. */
export function hostScope(translator: Translator): ListScope {
  const namespaces = translator.targetNamespaces();
  return namespaces !== "all" && namespaces.length === 1 ? { namespace: namespaces[0]! } : {};
}
