import type { ClusterAddress, RawClient } from "./raw-client.ts";

/** A cluster and its end. */
export interface ClusterUnderTest extends ClusterAddress {
  /** Makes the cluster forget its history. */
  readonly compact?: () => Promise<void>;
  close(): Promise<void>;
}

/** What the cases share. Available once the tests run. */
export interface RawSetting {
  readonly raw: RawClient;
  readonly cluster: ClusterUnderTest;
  readonly namespace: string;
  /** The path of a core collection, or of one object in it. */
  path(plural: string, name?: string): string;
}
