import type { Resealable } from "../resealable.ts";
import type { Store } from "../store.ts";
import type { KnownState } from "./past/question.ts";

/** A store in etcd. Resealing there is a write like any other, under the next revision; see `resealer.ts`. */
export interface EtcdStore extends Store, Resealable {
  /**
   * Compacts etcd up to a revision, in all that it keeps, as `etcdctl compact` does. What processes have in memory stays:
   * watches and pages of older states continue there. A process that has not seen the revision yet reads everything again.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  compactEtcd(revision: number): Promise<void>;
  /**
   * Makes void every write that is on its way, from all processes; those that may still write do so again. Who takes over a right to write
   * calls it first: earlier requests are then too late.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  raiseFence(): Promise<void>;
  /**
   * Has etcd count on from above a revision, unless more than `RAISE_MAX` are missing, and ends what clients know of it: they begin again.
   *
   * @throws API_UNAVAILABLE while etcd cannot be reached.
   */
  raiseAbove(revision: number): Promise<void>;
  /** False if etcd's contents were unusable for too long after it went back in time: then only a restart of the process helps. */
  readonly recovers: boolean;
  /** How far this process is, for the next one's `seen`; also after `close`. */
  readonly known: KnownState;
  /** Calls `listener` after a full reload because etcd went back in time, once watches that cannot end were updated. */
  onRestored(listener: () => void): void;
}
