/**
 * Clients of a story's clusters that count calls, and clients whose watches are late.
 */
import { delay, type Clock } from "../../src/base/clock.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { EVENTS, type ResourceType } from "../../src/kube/object/resource.ts";

const REVIEWS = "selfsubjectaccessreviews";

/** Requests of an engine to one cluster through its writer. */
export interface Calls {
  /** Writes that the cluster accepted, Events aside. */
  writes: number;
  /** Events that the cluster accepted. */
  events: number;
  /** Calls of any kind, refused ones included. */
  all: number;
}

export function noCalls(): Calls {
  return { writes: 0, events: 0, all: 0 };
}

/** The client of a cluster that is far away, as seen by its watchers. */
export function delayEvents(client: ClusterClient, { lagMs, clock }: { lagMs: number; clock: Clock }): ClusterClient {
  if (lagMs === 0) return client;
  return {
    // Methods of a class do not spread, those of the counting client do.
    ...countCalls(client, noCalls()),
    async *watch(type, options) {
      for await (const event of client.watch(type, options)) {
        await delay(clock, lagMs, options.signal);
        yield event;
      }
    },
  };
}

/** Counts what goes through the writer; lists and watches are the informers'. */
export function countCalls(client: ClusterClient, calls: Calls): ClusterClient {
  const count = async <Result>(type: ResourceType, call: Promise<Result>, isWrite: boolean): Promise<Result> => {
    calls.all += 1;
    const result = await call;
    // A review asks what is allowed, and stores nothing.
    if (isWrite && type.plural !== REVIEWS) calls[type === EVENTS ? "events" : "writes"] += 1;
    return result;
  };
  return {
    get: (type, key) => count(type, client.get(type, key), false),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object) => count(type, client.create(type, object), true),
    update: (type, object) => count(type, client.update(type, object), true),
    patch: (type, key, how, body) => count(type, client.patch(type, key, how, body), true),
    delete: (type, key, preconditions) => count(type, client.delete(type, key, preconditions), true),
    close: () => client.close(),
  };
}
