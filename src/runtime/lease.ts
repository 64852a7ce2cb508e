import { isRecord } from "../base/json.ts";
import type { ObjectKey } from "../object/key.ts";
import { LEASES } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";

/** What a Lease says. Times are what its writer's wall clock showed: for people, never for decisions. */
export interface LeaseRecord {
  /** Who holds it; "" when nobody does. */
  readonly holderIdentity: string;
  /** It holds for so long after somebody saw it renewed. */
  readonly leaseDurationSeconds: number;
  /** RFC 3339 with microseconds; "" when it was never taken. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** How often it went from one holder to another. */
  readonly leaseTransitions: number;
}

/** The largest number of a Lease: its fields are 32 bits wide. */
const INT32_MAX = 2 ** 31 - 1;

/**
 * Reads a Lease; what is missing or of another type is as good as empty.
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
 * The Lease with this record. All five fields are written, zeros and empty texts too, as client-go's lease lock writes them;
 * labels and annotations that somebody gave the Lease stay.
 *
 * @example
 * client.create(LEASES, writeLease(record, { key: { namespace: "vc-blue", name: "endpoint-sync-blue" } }));
 */
export function writeLease(
  record: LeaseRecord,
  { key, present }: { readonly key: ObjectKey; readonly present?: KubeObject | undefined },
): KubeObject {
  const { apiVersion, kind } = LEASES;
  const metadata = present?.metadata ?? { name: key.name, namespace: key.namespace };
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = record;
  const spec = { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions: Math.min(leaseTransitions, INT32_MAX) };
  return { apiVersion, kind, metadata, spec };
}

/**
 * Wall time as a Lease holds it, with microseconds.
 *
 * @example
 * microTime(0); // "1970-01-01T00:00:00.000000Z"
 */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}
