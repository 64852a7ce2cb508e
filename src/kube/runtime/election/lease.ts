import { isRecord } from "../../../base/json.ts";
import type { ObjectKey } from "../../object/key.ts";
import { LEASES } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";

/** Content of a Lease. Times are from its writer's wall clock: for people, never for decisions. */
export interface LeaseRecord {
  /** Identity of the holder; "" if there is none. */
  readonly holderIdentity: string;
  /** Validity after an observed renewal. */
  readonly leaseDurationSeconds: number;
  /** RFC 3339 with microseconds; "" when it was never taken. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** How often it went from one holder to another. */
  readonly leaseTransitions: number;
}

/** Notes that candidates exchange beside the record, in annotations that other programs leave alone. */
export interface LeaseNotes {
  /** Since when the holder does not see all that it works with, RFC 3339; "" while it does. */
  readonly blindSince: string;
  /** The candidate that sees more and asks the holder for the Lease; "" when none does. */
  readonly askedBy: string;
}

/** A Lease of which nothing is noted. */
export const NO_NOTES: LeaseNotes = { blindSince: "", askedBy: "" };

const BLIND_SINCE = "sync.platform/holder-blind-since";
const ASKED_BY = "sync.platform/asked-by";

/** The largest number of a Lease: its fields are 32 bits wide. */
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
  /** Default: nothing is noted. */
  readonly notes?: LeaseNotes;
}

/**
 * Returns the Lease with this record and these notes. All five fields are written, including zeros and empty strings, as client-go's lease
 * lock writes them; labels and annotations that others gave the Lease stay.
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

/** Metadata that is noted as it should be stays as it is. */
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
