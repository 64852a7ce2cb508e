import type { ObjectKey } from "../../../kube/object/key.ts";
import { qualifiedPlural } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { ReferenceInput, ReferenceKind } from "../../reconcile/references/reference-rules.ts";
import type { FollowedSource } from "../cluster/access.ts";
import type { Expectations } from "../state/expectations.ts";
import type { SyncRecord } from "../state/status-records.ts";

/** A followed object. */
export interface ReferenceEntry extends ReferenceEntryState {
  readonly kind: ReferenceKind;
  readonly key: ObjectKey;
  readonly hostKey: ObjectKey;
  readonly source: FollowedSource;
  readonly target: FollowedSource;
  readonly latest: Expectations;
  readonly stop: () => void;
}

/** What is known of a followed object. */
interface ReferenceEntryState {
  /** Number of checks that found the caches incomplete. */
  waits: number;
  outdatedTimes: number;
  /** Monotonic time of the last reference; undefined while it is referenced. */
  unusedSince: number | undefined;
  lastUser: string | undefined;
  writtenFrom: string | undefined;
  /** The copy as it was last written or seen; undefined if we have deleted it since. */
  known: KubeObject | undefined;
  /**
   * Monotonic time from which a live read shows whether there is a copy although none is known; undefined if there is none for certain. A
   * creation without an answer can take effect later, and the answer to a deletion may be false.
   */
  provenFrom: number | undefined;
}

/** First delay before a newly opened cache is checked again, in milliseconds; it doubles each time. */
const WAIT_MS = 20;
const WAIT_MAX_MS = 10_000;

/** Returns the state of an object of which nothing is known yet. */
export function newEntryState(): ReferenceEntryState {
  const times = { unusedSince: undefined, lastUser: undefined, writtenFrom: undefined };
  return { waits: 0, outdatedTimes: 0, ...times, known: undefined, provenFrom: undefined };
}

/** Returns the delay before a newly opened cache is checked again, in milliseconds. */
export function waitFor(entry: ReferenceEntry): number {
  const waitMs = Math.min(WAIT_MS * 2 ** entry.waits, WAIT_MAX_MS);
  entry.waits += 1;
  return waitMs;
}

/** Returns the object that the cache shows in the place of the copy. */
export function cachedCopy({ kind, key, hostKey, target }: ReferenceEntry): KubeObject | undefined {
  return target.get(kind.direction === "toHost" ? hostKey : key);
}

/** Reports whether an object may have a copy. */
export function mayHaveCopy(entry: ReferenceEntry | undefined): boolean {
  return entry !== undefined && (entry.known ?? entry.provenFrom) !== undefined;
}

type RecordFacts = Pick<SyncRecord, "state" | "hostKey" | "notes"> & { readonly input?: ReferenceInput };

/** Returns the status of a referenced object. */
export function recordOf({ kind, key }: Pick<ReferenceEntry, "kind" | "key">, { input, ...facts }: RecordFacts): SyncRecord {
  const [source, target] = [input?.source?.metadata.resourceVersion, input?.target?.metadata.resourceVersion];
  const [tenantVersion, hostVersion] = kind.direction === "toHost" ? [source, target] : [target, source];
  return { resource: qualifiedPlural(kind.resource), tenantKey: key, tenantVersion, hostVersion, lagMs: undefined, outcomes: [], ...facts };
}
