import type { KubeObject } from "../../../kube/object/types.ts";
import { demandRoom, type HeldObjects, type StoreMemory } from "../memory-limits.ts";
import type { Resealable, ResealStep } from "../resealable.ts";
import { withRevision, StoreView, type StoreContents } from "./store-view.ts";
import type { Store, StoreRange, StoredObject, StorePage, StoreWatch, StoreWatchOptions, WriteTerms } from "../store.ts";

/** Limits of a memory store. */
export interface MemoryStoreOptions {
  /** Number of events kept for watches and paged lists of older states. Default {@link HISTORY_DEFAULT}. */
  readonly history?: number;
  /** Memory limits. Defaults: see {@link StoreMemory}. */
  readonly memory?: StoreMemory | undefined;
  /** The initial contents. Default: none. */
  readonly contents?: StoreContents;
}

/** A store in memory. */
export interface MemoryStore extends Store, Resealable, HeldObjects {}

/** Default number of events that a store keeps. */
export const HISTORY_DEFAULT = 10_000;

/** The revision of an empty store. It is not 0, because 0 means "any state" in Kubernetes. */
const FIRST_REVISION = 1;
const EMPTY: StoreContents = { revision: FIRST_REVISION, objects: [], events: [] };

/**
 * Creates a store in memory. Its contents are lost when the process ends.
 *
 * Writes and reads take effect immediately, so the order of calls is the order of effects.
 *
 * @example
 * const store = createMemoryStore({ history: 100 });
 * await store.create("/core/configmaps/shop/a", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } });
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new StoreInMemory(options);
}

class StoreInMemory implements MemoryStore {
  readonly #memory: StoreMemory;
  readonly #view: StoreView;

  constructor({ history = HISTORY_DEFAULT, memory = {}, contents = EMPTY }: MemoryStoreOptions) {
    this.#memory = memory;
    this.#view = new StoreView({ history, memory, contents });
  }

  async revision(): Promise<number> {
    return this.#view.revision;
  }

  oldest(): number {
    return this.#view.oldest;
  }

  heldBytes(): number {
    return this.#view.heldBytes();
  }

  heldBytesOf(key: string): number {
    return this.#view.heldBytesOf(key);
  }

  async get(key: string): Promise<StoredObject | undefined> {
    return this.#view.get(key);
  }

  async create(key: string, object: KubeObject, terms?: WriteTerms): Promise<StoredObject | undefined> {
    terms?.demand?.();
    if (this.#view.get(key) !== undefined) return undefined;
    demandRoom(this.#view, this.#memory, key, object);
    const stored = this.#next(key, object);
    this.#view.apply({ type: "created", ...stored });
    return stored;
  }

  async update(key: string, object: KubeObject, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined> {
    terms?.demand?.();
    const before = this.#view.get(key);
    if (before?.revision !== expected) return undefined;
    demandRoom(this.#view, this.#memory, key, object);
    const stored = this.#next(key, object);
    this.#view.apply({ type: "updated", ...stored, previous: before.object });
    return stored;
  }

  async delete(key: string, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined> {
    terms?.demand?.();
    const before = this.#view.get(key);
    if (before?.revision !== expected) return undefined;
    const stored = this.#next(key, before.object);
    this.#view.apply({ type: "deleted", ...stored, previous: before.object });
    return stored;
  }

  async list(range: StoreRange): Promise<StorePage> {
    return this.#view.list(range);
  }

  async watch(options: StoreWatchOptions): Promise<StoreWatch> {
    return this.#view.watch(options);
  }

  async demandWritable(): Promise<void> {}

  async compact(): Promise<void> {
    this.#view.forget();
  }

  /** Nothing is encrypted in memory. */
  async sealedBy(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  async reseal(): Promise<ResealStep> {
    return { resealed: 0, done: true };
  }

  async close(): Promise<void> {
    this.#view.end();
  }

  #next(key: string, object: KubeObject): StoredObject {
    const revision = this.#view.revision + 1;
    return { key, object: withRevision(object, revision), revision };
  }
}
