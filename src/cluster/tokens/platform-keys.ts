import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import type { TokenAlgorithm } from "../scope/cluster-token.ts";

/** Reads the platform's published keys (a JWKS document). Gives up when `signal` aborts. */
export type KeySource = (signal: AbortSignal) => Promise<unknown>;

/** A key that verifies signatures. */
export interface PublicKey {
  readonly algorithm: TokenAlgorithm;
  readonly key: KeyObject;
}

/** The platform's keys, as far as they are known. */
export interface PlatformKeys {
  /** Returns the key with this id; undefined if it is not known. For an unknown id, the source is read again, if its pause is over. */
  find(kid: string): Promise<PublicKey | undefined>;
}

/** Options of {@link openPlatformKeys}. */
export interface PlatformKeysOptions {
  /** The published keys, or how to read them. */
  readonly keys: object | KeySource;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Shortest time between two reads of the source, in milliseconds, regardless of the keys that tokens name. */
export const KEYS_PAUSE_MS = 10_000;
/** Age at which the next token causes a new read, in milliseconds. If it fails, the old keys remain valid: the platform may be stopped. */
export const KEYS_FRESH_MS = 600_000;
/** Longest time for one read of the source, in milliseconds. */
export const KEYS_TIMEOUT_MS = 5_000;

const KEYS_MAX = 100;
const RSA_BITS_MIN = 2_048;

/**
 * Opens the platform's keys. A source is read once before the promise resolves; a failure is logged, and the next token starts
 * another attempt.
 *
 * @throws CONFIG_VALUE if the keys are passed directly and cannot be used.
 */
export async function openPlatformKeys({ keys, clock, logger }: PlatformKeysOptions): Promise<PlatformKeys> {
  if (typeof keys !== "function") {
    const fixed = readKeySet(keys);
    return { find: async (kid) => fixed.get(kid) };
  }
  const followed = new FollowedKeys({ source: keys as KeySource, clock, logger });
  await followed.read();
  return followed;
}

class FollowedKeys implements PlatformKeys {
  readonly #options: { readonly source: KeySource; readonly clock: Clock; readonly logger: Logger };
  #known: ReadonlyMap<string, PublicKey> = new Map();
  #reading: Promise<void> | undefined;
  /** Times on the monotonic clock. */
  #triedAt = -Infinity;
  #freshAt = -Infinity;

  constructor(options: { readonly source: KeySource; readonly clock: Clock; readonly logger: Logger }) {
    this.#options = options;
  }

  async find(kid: string): Promise<PublicKey | undefined> {
    const now = this.#options.clock.monotonic();
    if (!this.#known.has(kid)) await this.#readAgain(now);
    // Not awaited: the platform may be slow to answer, or gone.
    else if (now - this.#freshAt >= KEYS_FRESH_MS) void this.#readAgain(now);
    return this.#known.get(kid);
  }

  async #readAgain(now: number): Promise<void> {
    if (this.#reading === undefined && now - this.#triedAt < KEYS_PAUSE_MS) return;
    await this.read();
  }

  /** Reads the source, once for all concurrent callers. Never rejects. */
  read(): Promise<void> {
    return (this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined)));
  }

  async #readOnce(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#triedAt = clock.monotonic();
    try {
      this.#known = readKeySet(await this.#readInTime());
      this.#freshAt = clock.monotonic();
    } catch (error) {
      logger.warn("Cannot read the platform's keys; the keys that were read earlier remain valid", {
        reason: messageOf(error),
        known: this.#known.size,
      });
    }
  }

  async #readInTime(): Promise<unknown> {
    const { clock, source } = this.#options;
    const ending = new AbortController();
    const timer = clock.schedule(KEYS_TIMEOUT_MS, () => ending.abort(new Error(`there was no response within ${KEYS_TIMEOUT_MS} ms`)));
    try {
      return await Promise.race([source(ending.signal), aborted(ending.signal)]);
    } finally {
      timer.cancel();
    }
  }
}

/** Rejects with the reason once `signal` aborts: a source may not listen to it. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }));
}

/**
 * The keys of a JWKS document (RFC 7517) that can verify tokens, by their IDs. Other keys are ignored: they may have another purpose.
 *
 * @throws CONFIG_VALUE if the value is not a JWKS document, contains a private key or two keys with the same ID, or has no usable key.
 */
export function readKeySet(document: unknown): ReadonlyMap<string, PublicKey> {
  const listed = isRecord(document) ? document["keys"] : undefined;
  if (!Array.isArray(listed)) throw unusable('expected an object with a list "keys" (JWKS)');
  if (listed.length > KEYS_MAX) throw unusable(`there are more than ${KEYS_MAX} keys`);
  const found = new Map<string, PublicKey>();
  for (const jwk of listed as unknown[]) {
    if (!isRecord(jwk)) continue;
    if (Object.hasOwn(jwk, "d")) throw unusable("one of the keys is a private key, which only the platform may have");
    const key = readKey(jwk);
    if (key === undefined) continue;
    const kid = jwk["kid"] as string;
    if (found.has(kid)) throw unusable(`two keys have the id ${JSON.stringify(kid)}`);
    found.set(kid, key);
  }
  if (found.size === 0) throw unusable("expected at least one ES256 or RS256 key with an id");
  return found;
}

function readKey(jwk: Record<string, unknown>): PublicKey | undefined {
  const { kid, kty, crv, x, y, n, e, use = "sig", key_ops: operations = ["verify"], alg } = jwk;
  if (typeof kid !== "string" || use !== "sig" || !Array.isArray(operations) || !operations.includes("verify")) return undefined;
  const algorithm = kty === "EC" && crv === "P-256" ? "ES256" : kty === "RSA" ? "RS256" : undefined;
  if (algorithm === undefined || (alg !== undefined && alg !== algorithm)) return undefined;
  try {
    const members = algorithm === "ES256" ? { kty, crv, x, y } : { kty, n, e };
    const key = createPublicKey({ key: members as JsonWebKey, format: "jwk" });
    const { modulusLength = RSA_BITS_MIN } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= RSA_BITS_MIN ? { algorithm, key } : undefined;
  } catch {
    // The members do not form a key.
    return undefined;
  }
}

function unusable(why: string): EngineError {
  const details = { hint: "Use the JWKS document that the platform publishes" };
  return new EngineError("CONFIG_VALUE", `Cannot use the platform's keys: ${why}`, { details });
}
