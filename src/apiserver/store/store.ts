/**
 * The storage of an API server: an ordered map with one revision counter, a window of history, and watches.
 *
 * Consistency, each a case of `test/conformance/store.ts`:
 * - Every write takes the next revision, and no two take the same. Revisions are positive integers, shared by all keys.
 * - A stored object carries its revision as decimal text in `metadata.resourceVersion`; writers need not set it.
 * - Reads see every write that was acknowledged before they began. `list` is one consistent state, at any revision in the window.
 * - `update` and `delete` happen only if the object is still at the revision that the caller saw.
 * - A write happens only if `demand` passes after all earlier writes with `revokes` are visible.
 * - A watch delivers every event after its start exactly once, in order of revision, until it is stopped or ends.
 * - A write is acknowledged after the watches in this process have received it.
 * - Objects are deeply frozen and shared between all readers.
 *
 * @module
 */
import type { KubeObject } from "../../kube/object/types.ts";

/** An object at the revision of its last write. */
export interface StoredObject {
  readonly key: string;
  readonly object: KubeObject;
  readonly revision: number;
}

/** One write. A deletion shows the last state, stamped with the revision of the deletion. */
export interface StoreEvent {
  readonly type: "created" | "updated" | "deleted";
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
  /** The previous state; absent for a creation. */
  readonly previous?: KubeObject;
}

/** The objects that a list reads. */
export interface StoreRange {
  /** The beginning of the keys; ends in a slash. */
  readonly prefix: string;
  /** The first key to read. Default: the first key with the prefix. */
  readonly start?: string;
  /** Maximum number of objects. Default: all. */
  readonly limit?: number;
  /** The state to read. Default: the current state. */
  readonly revision?: number;
}

/** A consistent part of a list. */
export interface StorePage {
  readonly objects: readonly StoredObject[];
  /** The state that was read. */
  readonly revision: number;
  /** Number of objects in the range after this page. */
  readonly remaining: number;
}

/** Scope and listeners of a watch. */
export interface StoreWatchOptions {
  /** The beginning of the keys; ends in a slash. */
  readonly prefix: string;
  /** The watch delivers only events with later revisions. */
  readonly after: number;
  /** Called once per event, in order. It must not block, throw or write. */
  readonly onEvent: (event: StoreEvent) => void;
  /**
   * Called when the store itself ends the watch, because the store is closed or has lost events. Only a store behind a network can lose
   * events. A watch without `onEnd` then continues with the differences: one or two events for each key, not every write.
   *
   * @param lost True if the delivered events are void because the store went back in time. The watcher must start again with a list.
   */
  readonly onEnd?: (lost: boolean) => void;
  /**
   * Called when the start of the history moves forward to `oldest`: only readers that have not yet processed earlier events still hold them
   * in memory. It must not block, throw or write.
   */
  readonly onForget?: (oldest: number) => void;
}

/** Conditions of a write. */
export interface WriteTerms {
  /** Called immediately before the write, and again before each retry. If it throws, the write does not happen. */
  readonly demand?: () => void;
  /** True if the write may revoke a permission: every other write is authorized after it, or happens before it. Default false. */
  readonly revokes?: boolean;
}

/** A running watch. */
export interface StoreWatch {
  /** Every event up to this revision has been delivered. */
  progress(): number;
  stop(): void;
}

/** A store of objects. The module comment lists its guarantees. */
export interface Store {
  /** Returns the revision of the last write. */
  revision(): Promise<number>;
  get(key: string): Promise<StoredObject | undefined>;
  /** Reads a part of a list. @throws API_EXPIRED when `revision` is older than the history; `details.oldest` is the oldest state in it. */
  list(range: StoreRange): Promise<StorePage>;
  /** Creates an object; returns undefined if its key exists. @throws API_ERROR (507), like `update`, if there is no memory for it. */
  create(key: string, object: KubeObject, terms?: WriteTerms): Promise<StoredObject | undefined>;
  /** Updates an object; returns undefined if the object does not exist, or is no longer at the revision `expected`. */
  update(key: string, object: KubeObject, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined>;
  /** Deletes an object. Returns its last state with the revision of the deletion; undefined in the same cases as `update`. */
  delete(key: string, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined>;
  /** Starts a watch. @throws API_EXPIRED when `after` is older than the history; `details.oldest` is the oldest possible start. */
  watch(options: StoreWatchOptions): Promise<StoreWatch>;
  /** The oldest state in the history. */
  oldest(): number;
  /** Approximate memory of the current objects, in bytes. */
  heldBytes(): number;
  /**
   * Checks whether the store can write, without changing anything.
   *
   * @throws API_UNAVAILABLE or STORE_FAILED when the store would fail a write; `details.reason` is the reason, if known, in words that any
   *   client may see.
   */
  demandWritable(): Promise<void>;
  /** False if the store recovers only after a restart of the process. Default: true. */
  readonly recovers?: boolean;
  /** Drops the history up to the current state. Running watches continue. */
  compact(): Promise<void>;
  /** Closes the store and ends every watch. */
  close(): Promise<void>;
}
