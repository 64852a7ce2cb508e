/**
 * The lifetime of an access key according to its settings. Pure. Source: specification 1, Authentication 2, and 2, `status.auth`.
 *
 * @module
 */
import type { KubeObject } from "../../../kube/object/types.ts";
import { oncePerObject } from "../../../apiserver/types/objects/json-data.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, originOf, type KeySpec } from "../../kinds/owned-access-key.ts";
import { keptLogin } from "./kept-login.ts";

/** Limits that the platform sets. */
export interface LifetimeLimits {
  /** Seconds after which every key expires; 0 means no limit. */
  readonly accessKeyMaxTTLSeconds: number;
  /** Seconds for which sign-in keys are valid when they set no limit themselves; 0 means forever. */
  readonly loginAccessKeyTTLSeconds: number;
}

/** The latest time that a Date can represent. Source: ECMA-262, "Time Values and Time Range". */
const LATEST_MS = 8.64e15;

/**
 * Returns when a key expires, in milliseconds since 1970; Infinity if it never expires. The sign-in key expires no later than its
 * provider specified. The platform's limit counts from the creation of the root of the key's chain, regardless of the key's own settings
 * and use.
 *
 * @param lastActivityMs When the key was last used, in milliseconds since 1970; undefined when it never was.
 */
export function keyEnd(key: KubeObject, lastActivityMs: number | undefined, limits: LifetimeLimits): number {
  const spec = specOf<KeySpec>(key);
  const createdMs = createdAt(key);
  const fromMs = spec.ttlAfterLastActivity === true ? (lastActivityMs ?? createdMs) : createdMs;
  const ttl = ttlOf(spec, limits);
  const own = ttl > 0 ? fromMs + ttl * 1000 : Infinity;
  const { until = Infinity } = originOf(key);
  const { accessKeyMaxTTLSeconds: max } = limits;
  const { endsAtMs = Infinity } = keptLogin(key) ?? {};
  const endMs = Math.min(own, until, endsAtMs, max > 0 ? rootTime(key) + max * 1000 : Infinity);
  return endMs > LATEST_MS ? Infinity : endMs;
}

/** Returns when the root of a key's chain was created, in milliseconds since 1970. */
export function rootTime(key: KubeObject): number {
  return originOf(key).since ?? createdAt(key);
}

const createdAt = oncePerObject(({ metadata }: KubeObject) => Date.parse(metadata.creationTimestamp ?? ""));

function ttlOf({ ttl = 0, type }: KeySpec, { loginAccessKeyTTLSeconds }: LifetimeLimits): number {
  return ttl === 0 && type === LOGIN_KEY ? loginAccessKeyTTLSeconds : ttl;
}

/** Reports whether a key may last longer after a change than before. */
export function lengthens(before: KeySpec, after: KeySpec, limits: LifetimeLimits): boolean {
  const [ttlBefore, ttlAfter] = [ttlOf(before, limits), ttlOf(after, limits)];
  if (ttlBefore === 0) return false;
  const becomesIdle = after.ttlAfterLastActivity === true && before.ttlAfterLastActivity !== true;
  return ttlAfter === 0 || ttlAfter > ttlBefore || becomesIdle;
}

/** A warning for the author of a key when the platform's limit is shorter than the requested lifetime. */
export function lifetimeWarnings({ ttl = 0 }: KeySpec, { accessKeyMaxTTLSeconds: max }: LifetimeLimits): readonly string[] {
  if (max === 0 || (ttl > 0 && ttl <= max)) return [];
  if (ttl === 0) return [`the key expires after ${max} seconds, like every key of this platform`];
  return [`requested expiration of ${ttl} seconds shortened to ${max} seconds`];
}
