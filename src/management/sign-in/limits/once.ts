import type { Clock } from "../../../base/clock.ts";
import { sha256Hex } from "../../../base/digest.ts";

/** Values that expire, and that can be read once, by a secret name. */
export interface Once<Value> {
  put(secret: string, value: Value): Promise<void>;
  /** Returns the value and removes it; undefined when it never existed, was taken, or has expired. */
  take(secret: string): Promise<Value | undefined>;
}

/** How many values are kept, and for how long. */
export interface OnceOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly lifetimeMs: number;
  /** Maximum number of values. Beyond it, the oldest is dropped. */
  readonly max: number;
}

/**
 * Keeps values that can each be used once. It stores only digests of the secrets, and a lookup reveals nothing about the others.
 *
 * @example
 * const states = createOnce<string>({ clock: systemClock, lifetimeMs: 600_000, max: 10_000 });
 * await states.put("s3cr3t", "nonce");
 * await states.take("s3cr3t"); // "nonce"
 * await states.take("s3cr3t"); // undefined
 */
export function createOnce<Value>({ clock, lifetimeMs, max }: OnceOptions): Once<Value> {
  // In the order of insertion, which is the order of expiry.
  const entries = new Map<string, { readonly value: Value; readonly until: number }>();
  const trim = () => {
    for (const [digest, { until }] of entries) {
      if (until > clock.monotonic() && entries.size <= max) return;
      entries.delete(digest);
    }
  };
  return {
    async put(secret, value) {
      entries.set(sha256Hex(secret), { value, until: clock.monotonic() + lifetimeMs });
      trim();
    },
    async take(secret) {
      trim();
      const digest = sha256Hex(secret);
      const entry = entries.get(digest);
      entries.delete(digest);
      return entry?.value;
    },
  };
}
