import { systemChance, type Chance } from "../../../base/chance.ts";
import { systemClock, type Clock } from "../../../base/clock.ts";
import { silentLogger, type Logger, type LogFields } from "../../../base/logger.ts";
import { noMetrics, type Metrics } from "../../../base/metrics.ts";
import type { ClusterClient, ListScope } from "../../../kube/object/cluster-client.ts";
import { qualifiedPlural, type ResourceType } from "../../../kube/object/resource.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { createInformer, type Informer } from "../../../kube/runtime/informer/informer.ts";
import { listAll } from "../../../kube/runtime/informer/list-all.ts";
import type { ClusterAccess, ClusterIdentity, FollowedSource } from "./access.ts";
import { createClusterGuard } from "./cluster-guard.ts";

/** One cluster with its own informers over one client. */
export interface InformedAccess extends ClusterAccess {
  /** Requested kinds that are not listed yet, `endpointslices.discovery.k8s.io` for example. */
  unsynced(): readonly string[];
  /** Why the last attempt to follow a kind failed, in a form that is safe for logs; undefined while the kind can be followed. */
  failureOf(kind: string): string | undefined;
  /** Kinds that were listed before but cannot be followed now, each with the monotonic time when that began. */
  lost(): readonly LostKind[];
  /** Retries immediately after a failure. Call this when the cluster is known to answer. */
  retryNow(): void;
  readonly identity: ClusterIdentity;
  /** Stops every informer. The client stays open. */
  stop(): Promise<void>;
}

/** A kind that cannot be followed. */
export interface LostKind {
  readonly kind: string;
  /** Monotonic time. */
  readonly sinceMs: number;
}

/** Dependencies of the informers. */
export interface InformedAccessOptions {
  readonly client: ClusterClient;
  /** The followed objects of each kind: those of one namespace, or all. */
  readonly scope?: ListScope;
  /** Identifies this cluster in metrics and log lines. Default "". */
  readonly cluster?: string;
  readonly clock?: Clock;
  readonly chance?: Chance;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** Objects per page of a list. */
const PAGE_SIZE = 500;

/** Creates caches for embedders without their own: one informer per kind, started when first needed, and one per followed object. */
export function createInformedAccess(options: InformedAccessOptions): InformedAccess {
  const { scope = {}, cluster, clock = systemClock, chance = systemChance, logger = silentLogger, metrics = noMetrics } = options;
  const rest = { ...(cluster !== undefined && { cluster }), clock, chance, logger, metrics };
  const guard = createClusterGuard({ client: options.client, clock, logger, metrics, cluster: cluster ?? "" });
  const { client } = guard;
  const informers = new Map<string, Informer>();
  const followed = new Set<Informer>();
  const stopping = new AbortController();
  return {
    writer: client,
    identity: guard,
    source(resource: ResourceType) {
      const id = qualifiedPlural(resource);
      const known = informers.get(id);
      if (known !== undefined) return known;
      const informer = createInformer({ client, resource, scope, ...rest });
      informers.set(id, informer);
      informer.start();
      return informer;
    },
    follow(resource, key) {
      const informer = createInformer({ client, resource, scope: scopeOf(key), ...rest, ...discreet(rest) });
      followed.add(informer);
      informer.start();
      return stoppable(informer, async () => {
        followed.delete(informer);
        await informer.stop();
      });
    },
    async list(resource, within) {
      const { items } = await listAll({ client, resource, scope: within, pageSize: PAGE_SIZE, signal: stopping.signal });
      return items;
    },
    unsynced: () => [...informers].flatMap(([kind, { synced }]) => (synced ? [] : [kind])),
    failureOf: (kind) => informers.get(kind)?.failure,
    lost: () => [...informers].flatMap(([kind, { lostMs }]) => (lostMs === undefined ? [] : [{ kind, sinceMs: lostMs }])),
    retryNow() {
      for (const informer of [...informers.values(), ...followed]) informer.retryNow();
    },
    async stop() {
      stopping.abort();
      await Promise.all([...informers.values(), ...followed].map((informer) => informer.stop()));
    },
  };
}

function scopeOf({ namespace, name }: ObjectKey): ListScope {
  return { ...(namespace !== "" && { namespace }), fieldSelector: `metadata.name=${name}` };
}

/**
 * Returns a logger that omits errors, and metrics that only count. An object that is followed on its own may be a Secret: an error of the
 * API server, or of parsing its response, might quote it. Gauges describe all objects of a kind, which are unknown here.
 */
function discreet({ logger, metrics }: { logger: Logger; metrics: Metrics }): { logger: Logger; metrics: Metrics } {
  const without = ({ error: _error, ...fields }: LogFields = {}): LogFields => fields;
  return {
    logger: {
      debug: (message, fields) => logger.debug(message, without(fields)),
      info: (message, fields) => logger.info(message, without(fields)),
      warn: (message, fields) => logger.warn(message, without(fields)),
      error: (message, fields) => logger.error(message, without(fields)),
    },
    metrics: { ...noMetrics, count: (name, labels, by) => metrics.count(name, labels, by) },
  };
}

function stoppable(informer: Informer, stop: () => Promise<void>): FollowedSource {
  return {
    get: (key) => informer.get(key),
    list: () => informer.list(),
    onChange: (listener) => informer.onChange(listener),
    expect: (object, written) => informer.expect?.(object, written),
    relist: () => informer.relist?.(),
    get synced() {
      return informer.synced;
    },
    get current() {
      return informer.current;
    },
    stop,
  };
}
