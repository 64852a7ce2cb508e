import type { Clock } from "../../../base/clock.ts";
import { messageOf, isEngineError } from "../../../base/errors.ts";
import { loggableMessage, silentLogger, type Logger } from "../../../base/logger.ts";
import { noMetrics, type Metrics } from "../../../base/metrics.ts";
import type { WatchEvent } from "../../object/cluster-client.ts";
import { formatKey, type ObjectKey } from "../../object/key.ts";
import type { ChangeListener, ChangeSign, ObjectSource, Written } from "../../object/object-source.ts";
import { qualifiedPlural } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";
import { ObjectCache, type Replacement } from "./object-cache.ts";
import { Reflector, type ReflectorOptions, type ReflectorSink } from "./reflector.ts";

/** How an informer is set up. */
export interface InformerOptions extends Omit<ReflectorOptions, "sink" | "scope"> {
  /** The scope that is followed. Default: everything of the kind. */
  readonly scope?: ReflectorOptions["scope"];
  /**
   * Applied to each object before it is cached. Must not modify its argument, and must keep apiVersion, kind, name, namespace,
   * uid and resourceVersion. Default {@link stripManagedFields}.
   */
  readonly transform?: (object: KubeObject) => KubeObject;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** Value of the label `cluster` in metrics and log lines, "tenant" or "host" for example. Default "". */
  readonly cluster?: string;
}

/**
 * A cache of one kind that follows the cluster, despite all failures, until it is stopped.
 *
 * Guarantees beyond those of ObjectSource:
 * - Listeners get the first list while `synced` is still false, and everything later while it is true.
 * - A listener gets the newest state of a key from `get`. A listener that throws is logged, and does not affect the others.
 * - Objects are shared and must not be modified. They are not frozen, because that would cost more than the list.
 */
export interface Informer extends ObjectSource {
  /** Begins to follow the cluster; returns immediately. */
  start(): void;
  /** Stops the informer, and resolves when nothing is open any more. The cache remains readable. */
  stop(): Promise<void>;
  /** Resolves with true as soon as `synced` is true, or with false if the informer stops before. */
  whenSynced(): Promise<boolean>;
  /** Number of objects in the cache. */
  readonly size: number;
  /** Monotonic time since which the cluster cannot be followed; undefined while it can, and before the first list. */
  readonly lostMs: number | undefined;
  /** Failure of the last attempt, in a form for logs; undefined while the cluster can be followed. */
  readonly failure: string | undefined;
  /** Retries immediately after a failure. Call this when the cluster is known to respond. */
  retryNow(): void;
}

/**
 * Creates an informer that has not started. Several informers of one client share its connections.
 *
 * @example
 * const informer = createInformer({ client, resource: ENDPOINTS, clock: systemClock, chance: systemChance });
 * informer.onChange((key) => queue.add(formatKey(key), { priority: informer.synced ? "fresh" : "background" }));
 * informer.start();
 * await informer.whenSynced();
 */
export function createInformer(options: InformerOptions): Informer {
  return new ReflectedSource(options);
}

/**
 * Returns the object without `metadata.managedFields`, which is never read here and is often a third of its size.
 *
 * @example
 * stripManagedFields(endpoints).metadata.managedFields; // undefined
 */
function stripManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}

class ReflectedSource implements Informer, ReflectorSink {
  readonly #cache = new ObjectCache();
  readonly #listeners = new Set<ChangeListener>();
  readonly #reflector: Reflector;
  readonly #transform: (object: KubeObject) => KubeObject;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #labels: { readonly cluster: string; readonly resource: string };
  readonly #clock: Clock;
  readonly #whenSynced: Promise<boolean>;
  #resolveSynced!: (synced: boolean) => void;
  #running: Promise<void> | undefined;
  /** Codes of the failures that were logged as warnings in the present outage; empty while the cache is current. */
  readonly #reported = new Set<string>();
  synced = false;
  current = false;
  lostMs: number | undefined;
  failure: string | undefined;

  constructor(options: InformerOptions) {
    const { transform = stripManagedFields, logger = silentLogger, metrics = noMetrics, cluster = "", scope = {} } = options;
    this.#transform = transform;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#clock = options.clock;
    this.#labels = { cluster, resource: qualifiedPlural(options.resource) };
    this.#whenSynced = new Promise((resolve) => (this.#resolveSynced = resolve));
    this.#reflector = new Reflector({ ...options, scope, sink: this });
  }

  get size(): number {
    return this.#cache.size;
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#cache.get(key);
  }

  list(): readonly KubeObject[] {
    return this.#cache.list();
  }

  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  start(): void {
    this.#running ??= this.#reflector.run();
  }

  async stop(): Promise<void> {
    this.#reflector.stop();
    await this.#running;
    this.#resolveSynced(false);
  }

  whenSynced(): Promise<boolean> {
    return this.#whenSynced;
  }

  replace(list: Required<Replacement>): void {
    const changed = this.#cache.replace({ ...list, items: list.items.map((item) => this.#transform(item)) });
    this.#metrics.gauge("informer_objects", this.#cache.size, this.#labels);
    for (const key of changed) this.#notify(key, "list");
    this.passed(list.resourceVersion, list.history);
    this.synced = true;
    this.#resolveSynced(true);
  }

  apply(event: WatchEvent): void {
    const key = this.#cache.apply({ type: event.type, object: this.#transform(event.object) });
    if (key === undefined) return;
    this.#metrics.gauge("informer_objects", this.#cache.size, this.#labels);
    this.#notify(key, "event");
  }

  passed(resourceVersion: string, history?: "same" | "new"): void {
    for (const key of this.#cache.passed(resourceVersion, history)) this.#notify(key, "missed");
  }

  #notify(key: ObjectKey, sign: ChangeSign): void {
    for (const listener of this.#listeners) {
      try {
        listener(key, sign);
      } catch (error) {
        this.#logger.error("Listener failed", { ...this.#labels, key: formatKey(key), error: messageOf(error) });
      }
    }
  }

  expect(object: KubeObject, written: Written): void {
    const missed = this.#cache.expect(object, written);
    if (missed !== undefined) this.#notify(missed, "missed");
  }

  relist(): void {
    this.#reflector.relist();
  }

  retryNow(): void {
    this.#reflector.retryNow();
  }

  setCurrent(current: boolean): void {
    this.current = current;
    this.lostMs = current ? undefined : this.#clock.monotonic();
    this.#metrics.gauge("informer_current", current ? 1 : 0, this.#labels);
    if (current && this.#reported.size > 0) this.#logger.info("Following the cluster again", this.#labels);
    if (!current) return;
    this.#reported.clear();
    this.failure = undefined;
  }

  listed(reason: string): void {
    this.#metrics.count("informer_lists_total", { ...this.#labels, reason });
    this.#logger.debug("Listed", { ...this.#labels, reason, objects: this.#cache.size });
  }

  failed({ state, error, failures, retryMs }: Parameters<ReflectorSink["failed"]>[0]): void {
    const code = isEngineError(error) ? error.code : "INTERNAL";
    this.#metrics.count("informer_failures_total", { ...this.#labels, state, code });
    this.failure = loggableMessage(error);
    const fields = { ...this.#labels, state, code, error: this.failure, failures, retryMs: Math.round(retryMs) };
    // Once per outage and code, not once per attempt.
    if (this.#reported.has(code)) this.#logger.debug("Still cannot follow the cluster", fields);
    else this.#logger.warn("Cannot follow the cluster", fields);
    this.#reported.add(code);
  }
}
