import type { ElectionTimes } from "../../kube/runtime/election/election-step.ts";
import type { Resealable } from "../../apiserver/store/resealable.ts";

/** How a management server shares its store with others. */
export interface Sharing {
  /** Identity of this process in logs and in the Lease. Default: a random one. */
  readonly identity?: string;
  /** Times of the election for background work. Default 15, 10 and 2 s, as in client-go. */
  readonly times?: ElectionTimes;
  /**
   * Lets the backend of the store drop the history before a revision, such as `compactEtcd` of a store in etcd. The leader calls
   * it. Default: nothing is dropped.
   */
  readonly compact?: (revision: number) => Promise<void>;
  /** How long history stays, at least, in milliseconds; at most twice as long. Default 5 minutes, as with Kubernetes' API servers. */
  readonly compactAfterMs?: number;
  /**
   * What is sealed again with the first encryption key, such as the store in etcd. The leader does it. Default:
   * nothing is.
   */
  readonly resealable?: Resealable;
}

/** The default of {@link Sharing.compactAfterMs}. */
export const COMPACT_AFTER_MS = 300_000;
