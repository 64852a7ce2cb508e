import type { Resealable } from "../resealable.ts";
import type { Store } from "../store.ts";
import type { KnownState } from "./past/present.ts";

/** A store in etcd. It re-encrypts a value by an ordinary write with a new revision; see `resealer.ts`. */
export interface EtcdStore extends Store, Resealable {
  /**
   * Compacts all of etcd up to a revision, like `etcdctl compact`. Watches and paged lists of older states continue from the memory of
   * the processes. A process that has not reached the revision yet reads all data again.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  compactEtcd(revision: number): Promise<void>;
  /**
   * Invalidates the in-flight writes of all processes. Processes that are still allowed to write repeat their writes. A process that
   * becomes the writer calls this first, so that earlier requests of other processes have no effect.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  raiseFence(): Promise<void>;
  /**
   * Raises etcd's revision above the given one, unless more than `RAISE_MAX` revisions are missing. Earlier history is no longer served, so
   * clients must start over.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  raiseAbove(revision: number): Promise<void>;
  /**
   * False if etcd's contents have been unusable for too long after etcd returned to an older state. Only a restart of the process helps
   * then.
   */
  readonly recovers: boolean;
  /** The state that this process has reached, for the option `seen` of the next process; also available after `close`. */
  readonly known: KnownState;
  /**
   * Calls `listener` after a full reload because etcd returned, or may have returned, to an older state. All remaining watches are updated
   * first.
   */
  onRestored(listener: () => void): void;
}
