import { nextMacrotask, type Clock } from "../../base/clock.ts";
import type { MetricLabels, Metrics } from "../../base/metrics.ts";
import { groupOf } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { REFUSALS, type KeyLives } from "../access/keys/key-lives.ts";
import type { ManagedObjects } from "../access/managed-objects.ts";
import { specOf } from "../kinds/common.ts";
import { KEY_TYPES, type KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS, USERS } from "../kinds/types.ts";

/** Options of the metrics of stored objects. */
export interface ManagementMetricsOptions {
  readonly metrics: Metrics;
  readonly objects: Pick<ManagedObjects, "of" | "count">;
  readonly lives: Pick<KeyLives, "refusalOf">;
  readonly clock: Pick<Clock, "monotonic">;
  /** When the first administrator's key expires, in milliseconds since 1970; undefined when it does not. */
  readonly administratorEnd: { readonly at: number | undefined };
}

const STORED = [SHARED_SECRETS, TEAMS, USERS, OWNED_ACCESS_KEYS];
/** The states by which keys are counted. */
const STATES = ["working", ...Object.keys(REFUSALS).filter((refusal) => refusal !== "missing" && refusal !== "unknown")];
/** The label for every type that the platform does not know: such a type is free text, so it cannot be a label. */
const NO_TYPE = "unknown";
/** Counting keys yields to other work after this time, in milliseconds. */
const COUNTING_MS = 10;

/** Sets the gauges of stored objects on each scrape. */
export function exposeManagement(options: ManagementMetricsOptions): void {
  const { metrics, objects, administratorEnd } = options;
  const resources = STORED.map((type) => ({ type, labels: { group: groupOf(type), resource: type.plural } }));
  const countKeys = createKeyCount(options);
  metrics.beforeRead(() => {
    for (const { type, labels } of resources) metrics.gauge("apiserver_resource_objects", objects.count(type), labels);
    metrics.gauge("management_administrator_key_end_timestamp_seconds", (administratorEnd.at ?? Infinity) / 1_000);
    countKeys();
  });
}

/**
 * Counts keys by type and state. The state of a key depends on its chain, so counting many keys takes a while: meanwhile a scrape gets the
 * previous count.
 */
function createKeyCount({ metrics, objects, lives, clock }: ManagementMetricsOptions): () => void {
  const labels = new Map(
    [...KEY_TYPES, NO_TYPE].map((type) => [type, new Map(STATES.map((state): [string, MetricLabels] => [state, { type, state }]))]),
  );
  const counts = new Map<MetricLabels, number>();
  let counting = false;
  const count = async () => {
    for (const series of counts.keys()) counts.set(series, 0);
    let began = clock.monotonic();
    for (const key of objects.of(OWNED_ACCESS_KEYS)) {
      const series = labels.get(typeOf(key))!.get(lives.refusalOf(key) ?? "working")!;
      counts.set(series, (counts.get(series) ?? 0) + 1);
      if (clock.monotonic() - began < COUNTING_MS) continue;
      await nextMacrotask();
      began = clock.monotonic();
    }
    for (const [series, keys] of counts) metrics.gauge("management_access_keys", keys, series);
    counting = false;
  };
  return () => {
    if (counting) return;
    counting = true;
    void count();
  };
}

function typeOf(key: KubeObject): string {
  const { type = "" } = specOf<KeySpec>(key);
  return KEY_TYPES.includes(type) ? type : NO_TYPE;
}
