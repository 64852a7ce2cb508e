import type { Clock } from "../../base/clock.ts";
import type { MetricLabels, Metrics } from "../../base/metrics.ts";
import type { Store } from "./store.ts";

type Operation = "create" | "update" | "delete" | "revision";

const LABELS: Readonly<Record<Operation, MetricLabels>> = {
  create: { operation: "create" },
  update: { operation: "update" },
  delete: { operation: "delete" },
  revision: { operation: "revision" },
};

/**
 * Wraps a store and measures the operations that may wait for a disk or for another process: writes, and the query for the latest revision,
 * with which each request begins if several servers share the store. Everything else is served from memory.
 */
export function measuredStore(store: Store, { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }): Store {
  const measured = async <T>(operation: Operation, began: number, done: Promise<T>): Promise<T> => {
    try {
      return await done;
    } catch (error) {
      metrics.count("apiserver_storage_request_errors_total", LABELS[operation]);
      throw error;
    } finally {
      metrics.observe("apiserver_storage_request_duration_seconds", (clock.monotonic() - began) / 1_000, LABELS[operation]);
    }
  };
  for (const labels of Object.values(LABELS)) metrics.count("apiserver_storage_request_errors_total", labels, 0);
  return {
    revision: () => measured("revision", clock.monotonic(), store.revision()),
    get: (key) => store.get(key),
    list: (range) => store.list(range),
    watch: (options) => store.watch(options),
    create: (key, object, terms) => measured("create", clock.monotonic(), store.create(key, object, terms)),
    update: (key, object, expected, terms) => measured("update", clock.monotonic(), store.update(key, object, expected, terms)),
    delete: (key, expected, terms) => measured("delete", clock.monotonic(), store.delete(key, expected, terms)),
    oldest: () => store.oldest(),
    heldBytes: () => store.heldBytes(),
    demandWritable: () => store.demandWritable(),
    compact: () => store.compact(),
    close: () => store.close(),
  };
}
