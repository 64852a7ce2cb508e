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

/** Which objects a list reads. */
export interface StoreRange {
  /** Keys that start with this text; it ends in a slash. */
  readonly prefix: string;
  /** The first key to read; the first of the prefix when omitted. */
  readonly start?: string;
  /** Maximum number of objects. Default: all. */
  readonly limit?: number;
  /** The state to read; the current one when omitted. */
  readonly revision?: number;
}

/** A consistent part of a list. */
export interface StorePage {
  readonly objects: readonly StoredObject[];
  /** The state that was read. */
  readonly revision: number;
  /** Number of objects of the range after this page. */
  readonly remaining: number;
}

/** Scope and listeners of a watch. */
export interface StoreWatchOptions {
  /** Keys that start with this text; it ends in a slash. */
  readonly prefix: string;
  /** Only events of later revisions. */
  readonly after: number;
  /** Called once per event, in order. It must not block, throw or write. */
  readonly onEvent: (event: StoreEvent) => void;
  /**
   * Called when the store itself ends the watch: it is closed, or it has lost events, which only a store behind a network can.
   * A watch without it continues instead and receives the differences: an event or two for each key, not every write.
   *
   * @param lost The delivered events are void because the store went back in time. The watcher must start again with a list.
   */
  readonly onEnd?: (lost: boolean) => void;
  /**
   * Called when the history begins later than before: delivered events up to `oldest` are now kept in memory only
   * by readers that have not passed them on yet. It must not block, throw or write.
   */
  readonly onForget?: (oldest: number) => void;
}

/** Conditions of a write. */
export interface WriteTerms {
  /** Called at the moment of the write, and again for each retry; if it throws, the write does not happen. */
  readonly demand?: () => void;
  /** This write may revoke a permission: other writes are authorized after it, or happen before it. Default false. */
  readonly revokes?: boolean;
}

/** A running watch. */
export interface StoreWatch {
  /** Every event up to this revision has been delivered. */
  progress(): number;
  stop(): void;
}

/** Stores objects, with the guarantees of the module comment. */
export interface Store {
  /** The revision of the last write. */
  revision(): Promise<number>;
  get(key: string): Promise<StoredObject | undefined>;
  /** @throws API_EXPIRED when `revision` is out of the window; `details.oldest` is the oldest one in it. */
  list(range: StoreRange): Promise<StorePage>;
  /** Undefined when the key exists already. @throws API_ERROR (507) when there is no room for it, like `update`. */
  create(key: string, object: KubeObject, terms?: WriteTerms): Promise<StoredObject | undefined>;
  /** Undefined when the object does not exist or is no longer at `expected`. */
  update(key: string, object: KubeObject, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined>;
  /** The last state at the revision of the deletion; undefined when the object does not exist or is no longer at `expected`. */
  delete(key: string, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined>;
  /** @throws API_EXPIRED when events after `after` are out of the window; `details.oldest` is the oldest start in it. */
  watch(options: StoreWatchOptions): Promise<StoreWatch>;
  /** The oldest state in the history. */
  oldest(): number;
  /** Approximate memory of the present objects, in bytes. */
  heldBytes(): number;
  /**
   * Performs the steps of a write that can fail, without changing anything.
   *
   * @throws API_UNAVAILABLE or STORE_FAILED when a write would fail because of the store; `details.reason` gives the reason, if known, in
   *   words that any client may see.
   */
  demandWritable(): Promise<void>;
  /** False if the store can recover only by a restart of the process. Default: true. */
  readonly recovers?: boolean;
  /** Drops the history up to the current state. Running watches continue. */
  compact(): Promise<void>;
  /** Ends every watch. */
  close(): Promise<void>;
}
