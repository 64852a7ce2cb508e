import type { Chance } from "../base/chance.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Metrics } from "../base/metrics.ts";
import type { ClusterClient, ListScope } from "../object/cluster-client.ts";
import { qualifiedPlural } from "../object/resource.ts";
import type { ResourceType } from "../object/resource.ts";
import { createInformer } from "../runtime/informer.ts";
import type { Informer } from "../runtime/informer.ts";
import type { ClusterAccess } from "./access.ts";

/** One cluster with informers of its own over one client. */
export interface InformedAccess extends ClusterAccess {
  /** Stops every informer. The client stays open. */
  stop(): Promise<void>;
}

/** What the informers need. */
export interface InformedAccessOptions {
  readonly client: ClusterClient;
  /** Which objects of each kind are followed: one namespace, or all. */
  readonly scope?: ListScope;
  /** Tells this cluster from the other one in metrics and log lines. Default "". */
  readonly cluster?: string;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** For those who bring no caches: an informer per kind, started when the kind is first asked for. */
export function createInformedAccess({ client, scope = {}, ...rest }: InformedAccessOptions): InformedAccess {
  const informers = new Map<string, Informer>();
  return {
    writer: client,
    source(resource: ResourceType) {
      const id = qualifiedPlural(resource);
      const known = informers.get(id);
      if (known !== undefined) return known;
      const informer = createInformer({ client, resource, scope, ...rest });
      informers.set(id, informer);
      informer.start();
      return informer;
    },
    stop: async () => void (await Promise.all([...informers.values()].map((informer) => informer.stop()))),
  };
}
