import type { ObjectKey } from "../../../kube/object/key.ts";
import type { ChangeListener, ChangeSign, ObjectSource, Written } from "../../../kube/object/object-source.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { ObjectCache } from "../../../kube/runtime/informer/object-cache.ts";
import type { StoreChange, SimulatedCluster } from "./cluster.ts";

/** One kind of one cluster as one replica sees it: the real cache, driven by the simulation. */
export class SimulatedCache implements ObjectSource {
  readonly cluster: SimulatedCluster;
  readonly resource: ResourceType;
  readonly #cache = new ObjectCache();
  readonly #listeners = new Set<ChangeListener>();
  /** Number of changes of the cluster that the watch has passed. */
  #position = 0;
  synced = false;
  readonly current = true;

  constructor(cluster: SimulatedCluster, resource: ResourceType) {
    this.cluster = cluster;
    this.resource = resource;
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

  expect(object: KubeObject, written: Written): void {
    const missed = this.#cache.expect(object, written);
    if (missed !== undefined) this.#notify(missed, "missed");
  }

  /** Number of changes that have not arrived yet. */
  get pending(): number {
    return this.#all.length - this.#position;
  }

  /** The change that arrives after the next `ahead` changes. */
  next(ahead = 0): StoreChange | undefined {
    return this.#all[this.#position + ahead];
  }

  get #all(): readonly StoreChange[] {
    return this.cluster.changes(this.resource);
  }

  /** True if all changes have arrived. */
  get idle(): boolean {
    return this.#position >= this.#all.length;
  }

  /** Delivers the next change. With `ahead`, delivers a change that many places later, without passing any. */
  deliver(ahead = 0): StoreChange {
    const change = this.#all[Math.min(this.#position + ahead, this.#all.length - 1)]!;
    if (ahead === 0) this.#position += 1;
    this.#apply(change);
    return change;
  }

  /** Delivers again the change that was passed `back` changes ago; returns undefined if there is none. */
  repeat(back: number): StoreChange | undefined {
    const change = this.#all[this.#position - 1 - back];
    if (change !== undefined) this.#apply(change);
    return change;
  }

  /** Passes the next change without delivering it. */
  skip(): StoreChange {
    return this.#all[this.#position++]!;
  }

  #apply({ type, object }: StoreChange): void {
    const key = this.#cache.apply({ type, object });
    if (key !== undefined) this.#notify(key, "event");
  }

  /**
   * Lists the cluster as it was `behind` changes ago, and watches from there. A stale list is never older than what this cache has
   * received, as a client demands of its server. The list lacks the object `without`, or all objects, although they exist.
   */
  relist({ behind = 0, without }: { behind?: number; without?: string } = {}): void {
    const count = Math.max(this.#position, this.#all.length - behind, 0);
    const items = [...this.cluster.objects(this.resource, count)]
      .filter(([id]) => without !== "all" && id !== without)
      .map(([, object]) => object);
    const revision = count === this.#all.length ? this.cluster.revision : this.#all[count - 1]?.revision;
    const resourceVersion = String(revision || 1);
    this.#position = count;
    const changed = this.#cache.replace({ items, resourceVersion });
    this.synced = true;
    for (const key of changed) this.#notify(key, "list");
    for (const key of this.#cache.passed(resourceVersion)) this.#notify(key, "missed");
  }

  #notify(key: ObjectKey, sign: ChangeSign): void {
    for (const listener of this.#listeners) listener(key, sign);
  }
}
