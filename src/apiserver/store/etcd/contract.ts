import type { Resealable } from "../resealable.ts";
import type { Store } from "../store.ts";
import type { KnownState } from "./past/question.ts";

/** A store in etcd. Resealing there is a write like any other, under the next revision; see `resealer.ts`. */
export interface EtcdStore extends Store, Resealable {
  /**
   * Compacts everything in etcd up to a revision, as `etcdctl compact` does. The memory of processes is not affected: their watches and
   * pages of older states continue. A process that has not seen the revision yet reads everything again.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  compactEtcd(revision: number): Promise<void>;
  /**
   * Invalidates all writes in flight, from every process; processes that may still write repeat theirs. A process that takes over the
   * right to write calls this first, so that earlier requests arrive too late.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  raiseFence(): Promise<void>;
  /**
   * Raises etcd's revision above the given one, unless more than `RAISE_MAX` revisions are missing, and invalidates what clients know of
   * etcd: they start over.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  raiseAbove(revision: number): Promise<void>;
  /**
   * False if etcd's contents were unusable for too long after etcd went back in time: the store then recovers only by a restart of the
   * process.
   */
  readonly recovers: boolean;
  /** The state that this process has reached, for the option `seen` of the next process; also available after `close`. */
  readonly known: KnownState;
  /** Calls `listener` after a full reload because etcd went back in time, once watches that cannot end were updated. */
  onRestored(listener: () => void): void;
}
