import type { ElectionTimes } from "../../kube/runtime/election/election-step.ts";
import type { Resealable } from "../../apiserver/store/resealable.ts";

/** Settings of a management server that shares its store with others. */
export interface Sharing {
  /** Identity of this process in logs and in the Lease. Default: a random one. */
  readonly identity?: string;
  /** Lease duration, renew deadline and retry period of the election for background work. Default 15, 10 and 2 s, as in client-go. */
  readonly times?: ElectionTimes;
  /**
   * Lets the backend of the store drop the history before a revision, for example with `compactEtcd` of a store in etcd. The leader calls
   * it. Default: nothing is dropped.
   */
  readonly compact?: (revision: number) => Promise<void>;
  /**
   * Minimum time that history is kept, in milliseconds; the maximum is twice that. Default 5 minutes, as with Kubernetes' API servers.
   */
  readonly compactAfterMs?: number;
  /**
   * The store whose values are re-encrypted with the first encryption key, such as a store in etcd. The leader does this. Default:
   * nothing is re-encrypted.
   */
  readonly resealable?: Resealable;
}

/** The default of {@link Sharing.compactAfterMs}. */
export const COMPACT_AFTER_MS = 300_000;
