import type { ElectionTimes } from "../../kube/runtime/election/election-step.ts";
import type { Resealable } from "../../apiserver/store/resealable.ts";

/** How a management server shares its store with others. */
export interface Sharing {
  /** This process among the others, in logs and in the Lease. Default: a random one. */
  readonly identity?: string;
  /** Of the election of the one that does background work. Default 15, 10 and 2 s, as in client-go. */
  readonly times?: ElectionTimes;
  /**
   * Lets whatever keeps the store forget what was before a revision, such as `compactEtcd` of a store in etcd. The one that does background
   * work calls it. Default: nothing is forgotten.
   */
  readonly compact?: (revision: number) => Promise<void>;
  /** How long what was stays, at least, in milliseconds; at most twice as long. Default 5 minutes, as with Kubernetes' API servers. */
  readonly compactAfterMs?: number;
  /**
   * What is sealed again with the first encryption key, such as the store in etcd. The one that does background work does it. Default:
   * nothing is.
   */
  readonly resealable?: Resealable;
}

/** The default of {@link Sharing.compactAfterMs}. */
export const COMPACT_AFTER_MS = 300_000;
