import { EngineError } from "../base/errors.ts";
import type { KubeObject } from "../object/types.ts";
import { deepFreeze } from "./json-data.ts";
import { createHistory } from "./history.ts";
import type { History } from "./history.ts";
import { createSortedKeys } from "./sorted-keys.ts";
import type { SortedKeys } from "./sorted-keys.ts";
import type { Store, StoreEvent, StoreRange, StoredObject, StorePage, StoreWatch, StoreWatchOptions } from "./store.ts";

/** What a store holds before its first write. */
export interface StoreContents {
  /** The revision of the last write. */
  readonly revision: number;
  /** Frozen, in any order. */
  readonly objects: readonly StoredObject[];
  /** The last writes without a gap, in order; the last one is that of `revision`. */
  readonly events: readonly StoreEvent[];
}

/** How much a memory store remembers. */
export interface MemoryStoreOptions {
  /** Events kept for watches and pages of older states. Default {@link HISTORY_DEFAULT}. */
  readonly history?: number;
  /** Default: nothing. */
  readonly contents?: StoreContents;
}

/** Events that a store keeps when nobody says otherwise. */
export const HISTORY_DEFAULT = 10_000;

/** Revision of an empty store; 0 is not a state, it means "any" to Kubernetes. */
const FIRST_REVISION = 1;
const EMPTY: StoreContents = { revision: FIRST_REVISION, objects: [], events: [] };

interface Watcher {
  /** The last revision that it knew of, or was told of, when it began. */
  readonly told: number;
  readonly onEvent: (event: StoreEvent) => void;
  readonly onEnd: () => void;
}

/**
 * A store that forgets everything when the process ends.
 *
 * Writes and reads happen at once, so the order of calls is the order of effects. A write costs a binary search and one
 * call per watcher of its key's prefixes, whatever the number of other watchers.
 *
 * @example
 * const store = createMemoryStore({ history: 100 });
 * await store.create("/core/configmaps/shop/a", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } });
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options);
}

class MemoryStore implements Store {
  readonly #objects = new Map<string, StoredObject>();
  readonly #keys: SortedKeys = createSortedKeys();
  readonly #history: History;
  readonly #watchers = new Map<string, Set<Watcher>>();
  #revision: number;

  constructor({ history = HISTORY_DEFAULT, contents: { revision, objects, events } = EMPTY }: MemoryStoreOptions) {
    this.#revision = revision;
    this.#history = createHistory({ capacity: history, start: revision - events.length });
    for (const event of events) this.#history.add(event);
    for (const stored of objects) this.#objects.set(stored.key, stored);
    // In order, each is added at the end.
    for (const key of [...this.#objects.keys()].sort(byCodeUnit)) this.#keys.add(key);
  }

  async revision(): Promise<number> {
    return this.#revision;
  }

  async get(key: string): Promise<StoredObject | undefined> {
    return this.#objects.get(key);
  }

  async create(key: string, object: KubeObject): Promise<StoredObject | undefined> {
    if (this.#objects.has(key)) return undefined;
    const stored = this.#put(key, object);
    this.#keys.add(key);
    this.#announce({ type: "created", key, revision: stored.revision, object: stored.object });
    return stored;
  }

  async update(key: string, object: KubeObject, expected: number): Promise<StoredObject | undefined> {
    const before = this.#objects.get(key);
    if (before?.revision !== expected) return undefined;
    const stored = this.#put(key, object);
    this.#announce({ type: "updated", key, revision: stored.revision, object: stored.object, previous: before.object });
    return stored;
  }

  async delete(key: string, expected: number): Promise<StoredObject | undefined> {
    const before = this.#objects.get(key);
    if (before?.revision !== expected) return undefined;
    const stored = this.#put(key, before.object);
    this.#objects.delete(key);
    this.#keys.remove(key);
    this.#announce({ type: "deleted", key, revision: stored.revision, object: stored.object, previous: before.object });
    return stored;
  }

  async list({ prefix, start = prefix, limit = Infinity, revision = this.#revision }: StoreRange): Promise<StorePage> {
    this.#demandInWindow(revision);
    const past = this.#history.before(revision);
    const keys = past.size === 0 ? this.#keys.range(start, prefix) : this.#pastKeys(start, prefix, past);
    const page = keys.slice(0, limit).map((key) => past.get(key) ?? this.#objects.get(key)!);
    return { objects: page, revision, remaining: keys.length - page.length };
  }

  async watch({ prefix, after, onEvent, onEnd = () => {} }: StoreWatchOptions): Promise<StoreWatch> {
    this.#demandInWindow(after);
    // A watch may begin within an event; the events of its past are told here, and not once more.
    const watcher: Watcher = { told: Math.max(after, this.#revision), onEvent, onEnd };
    for (const event of this.#history.after(after)) if (event.key.startsWith(prefix)) onEvent(event);
    const group = this.#watchers.get(prefix) ?? new Set();
    this.#watchers.set(prefix, group.add(watcher));
    return { progress: () => this.#revision, stop: () => this.#stop(prefix, watcher) };
  }

  async compact(): Promise<void> {
    this.#history.clear(this.#revision);
  }

  async close(): Promise<void> {
    const running = [...this.#watchers.values()].flatMap((group) => [...group]);
    this.#watchers.clear();
    for (const watcher of running) watcher.onEnd();
  }

  #put(key: string, object: KubeObject): StoredObject {
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    const stored = { key, object: deepFreeze({ ...object, metadata }), revision: this.#revision };
    this.#objects.set(key, stored);
    return stored;
  }

  #announce(event: StoreEvent): void {
    this.#history.add(event);
    // Every prefix of the key that ends in a slash may have watchers of its own.
    for (let slash = event.key.indexOf("/"); slash >= 0; slash = event.key.indexOf("/", slash + 1)) {
      for (const watcher of this.#watchers.get(event.key.slice(0, slash + 1)) ?? []) {
        if (event.revision > watcher.told) watcher.onEvent(event);
      }
    }
  }

  #stop(prefix: string, watcher: Watcher): void {
    const group = this.#watchers.get(prefix);
    group?.delete(watcher);
    if (group?.size === 0) this.#watchers.delete(prefix);
  }

  #demandInWindow(revision: number): void {
    const oldest = this.#history.oldest();
    if (revision >= oldest) return;
    throw new EngineError("API_EXPIRED", `Cannot read state ${revision}: the history starts at ${oldest}`, { details: { oldest } });
  }

  #pastKeys(start: string, prefix: string, past: ReadonlyMap<string, StoredObject | undefined>): string[] {
    const present = this.#keys.range(start, prefix).filter((key) => !past.has(key));
    const changed = [...past].filter(([key, stored]) => stored !== undefined && key >= start && key.startsWith(prefix));
    return [...present, ...changed.map(([key]) => key)].sort(byCodeUnit);
  }
}

function byCodeUnit(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
