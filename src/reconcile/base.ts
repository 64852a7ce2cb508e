/**
 * The base: what each part of an object looked like on both sides when they last agreed, as a pair of digests (tenant value,
 * host value). Parts are compared three ways with it. It travels with the host object as an annotation, so that a restart
 * forgets nothing.
 *
 * @module
 */
import { sha256Hex } from "../base/digest.ts";
import { isRecord } from "../base/json.ts";
import type { KubeObject } from "../object/types.ts";

/** Which part: `labels/app`, `annotations/example.com/x` or `body`, by the host's key. */
export type UnitId = `labels/${string}` | `annotations/${string}` | "body";

/** One part on both sides, as text; `undefined` where the part is absent. */
export interface Unit {
  readonly id: UnitId;
  readonly tenant: string | undefined;
  readonly desired: string | undefined;
  readonly host: string | undefined;
}

/** Per part the digests of both sides when they last agreed: `tenant.host`, or one for both where they are equal. */
export type Base = ReadonlyMap<UnitId, string>;

const ABSENT = "-";
const DIGEST_LENGTH = 10;

/** Reads the base that a host object carries; `undefined` when it carries none that can be read. */
export function readBase(prefix: string, host: KubeObject): Base | undefined {
  const text = host.metadata.annotations?.[`${prefix}base`];
  if (text === undefined) return undefined;
  const parsed = parseBase(text);
  return parsed && new Map(Object.entries(parsed) as [UnitId, string][]);
}

/** Somebody may have edited the annotation; an unreadable base is no base. */
function parseBase(text: string): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && Object.values(value).every((item) => typeof item === "string")
      ? (value as Record<string, string>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The annotation's key and text for a base. */
export function writeBase(prefix: string, base: Base): Record<string, string> {
  const entries = [...base].sort(([left], [right]) => (left < right ? -1 : 1));
  return { [`${prefix}base`]: JSON.stringify(Object.fromEntries(entries)) };
}

/** The base of a part that looks like this on both sides; `undefined` when the host has none, then there is nothing to remember. */
export function agreement(tenant: string | undefined, host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  const [left, right] = [digest(tenant), digest(host)];
  return left === right ? left : `${left}.${right}`;
}

/** Which sides of a part differ from the base. A part that the base does not know was absent on the host, whatever the tenant had. */
export function changedSides(unit: Unit, base: Base): { tenant: boolean; host: boolean } {
  const known = base.get(unit.id);
  if (known === undefined) return { tenant: unit.desired !== undefined, host: unit.host !== undefined };
  const [tenant, host = tenant] = known.split(".");
  return { tenant: digest(unit.tenant) !== tenant, host: digest(unit.host) !== host };
}

/** Tells whether the host still has what it had when both sides last agreed. */
export function isAsWritten(base: Base, id: UnitId, host: string): boolean {
  const [tenant, written = tenant] = base.get(id)?.split(".") ?? [];
  return written === digest(host);
}

function digest(text: string | undefined): string {
  return text === undefined ? ABSENT : sha256Hex(text).slice(0, DIGEST_LENGTH);
}
