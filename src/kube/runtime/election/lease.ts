import { isRecord } from "../../../base/json.ts";
import type { ObjectKey } from "../../object/key.ts";
import { LEASES } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";

/** Content of a Lease. Times are from its writer's wall clock; they inform users, and no decision depends on them. */
export interface LeaseRecord {
  /** Identity of the holder; "" if there is none. */
  readonly holderIdentity: string;
  /** Validity after an observed renewal. */
  readonly leaseDurationSeconds: number;
  /** RFC 3339 with microseconds; "" when it was never taken. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** How often the holder has changed. */
  readonly leaseTransitions: number;
}

/** Notes that candidates exchange in annotations of the Lease, which other programs do not change. */
export interface LeaseNotes {
  /** Time since which the holder cannot reach its clusters, RFC 3339; "" while it can. */
  readonly blindSince: string;
  /** The candidate that can reach more and requests the Lease; "" if there is none. */
  readonly askedBy: string;
}

/** Empty notes. */
export const NO_NOTES: LeaseNotes = { blindSince: "", askedBy: "" };

const BLIND_SINCE = "sync.platform/holder-blind-since";
const ASKED_BY = "sync.platform/asked-by";

/** The largest number in a Lease: its fields have 32 bits. */
const INT32_MAX = 2 ** 31 - 1;

/**
 * Reads a Lease; a missing field or one of another type counts as empty.
 *
 * @example
 * readLease(lease).holderIdentity; // "syncer-0_4f0c…"
 */
export function readLease(lease: KubeObject): LeaseRecord {
  const spec = isRecord(lease["spec"]) ? lease["spec"] : {};
  return {
    holderIdentity: textOf(spec["holderIdentity"]),
    leaseDurationSeconds: countOf(spec["leaseDurationSeconds"]),
    acquireTime: textOf(spec["acquireTime"]),
    renewTime: textOf(spec["renewTime"]),
    leaseTransitions: countOf(spec["leaseTransitions"]),
  };
}

/**
 * Reads the notes on a Lease.
 *
 * @example
 * readNotes(lease).askedBy; // "syncer-1_77ab…"
 */
export function readNotes({ metadata: { annotations } }: KubeObject): LeaseNotes {
  return { blindSince: textOf(annotations?.[BLIND_SINCE]), askedBy: textOf(annotations?.[ASKED_BY]) };
}

/** Change of the Lease. */
export interface LeaseChange {
  readonly key: ObjectKey;
  readonly present?: KubeObject | undefined;
  /** Default: no notes. */
  readonly notes?: LeaseNotes;
}

/**
 * Returns the Lease with this record and these notes. All five fields are written, including zeros and empty strings, as client-go's lease
 * lock writes them. Other labels and annotations of the Lease are kept.
 *
 * @example
 * client.create(LEASES, writeLease(record, { key: { namespace: "vc-blue", name: "endpoint-sync-blue" } }));
 */
export function writeLease(record: LeaseRecord, { key, present, notes = NO_NOTES }: LeaseChange): KubeObject {
  const { apiVersion, kind } = LEASES;
  const metadata = noted(present?.metadata ?? { name: key.name, namespace: key.namespace }, notes);
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = record;
  const spec = { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions: Math.min(leaseTransitions, INT32_MAX) };
  return { apiVersion, kind, metadata, spec };
}

/** Returns metadata with these notes; unchanged if it already has them. */
function noted(metadata: KubeObject["metadata"], { blindSince, askedBy }: LeaseNotes): KubeObject["metadata"] {
  const wanted = Object.entries({ [BLIND_SINCE]: blindSince, [ASKED_BY]: askedBy });
  if (wanted.every(([key, value]) => (metadata.annotations?.[key] ?? "") === value)) return metadata;
  const { [BLIND_SINCE]: _blind, [ASKED_BY]: _asked, ...others } = metadata.annotations ?? {};
  return { ...metadata, annotations: { ...others, ...Object.fromEntries(wanted.filter(([, value]) => value !== "")) } };
}

/**
 * Formats wall time as Leases contain it, with microseconds.
 *
 * @example
 * leaseTime(0); // "1970-01-01T00:00:00.000000Z"
 */
export function leaseTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}
