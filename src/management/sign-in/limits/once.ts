import type { Clock } from "../../../base/clock.ts";
import { sha256Hex } from "../../../base/digest.ts";

/** Values that can be had once, by a secret name, for a time. */
export interface Once<Value> {
  put(secret: string, value: Value): Promise<void>;
  /** The value, which is gone then; undefined when it was never there, has been taken, or is too old. */
  take(secret: string): Promise<Value | undefined>;
}

/** How many values are kept, and how long. */
export interface OnceOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly lifetimeMs: number;
  /** Beyond, the oldest one makes room. */
  readonly max: number;
}

/**
 * Keeps values for one use each. Of the secrets only digests are kept, and looking for one tells nothing about the others.
 *
 * @example
 * const states = createOnce<string>({ clock: systemClock, lifetimeMs: 600_000, max: 10_000 });
 * await states.put("s3cr3t", "nonce");
 * await states.take("s3cr3t"); // "nonce"
 * await states.take("s3cr3t"); // undefined
 */
export function createOnce<Value>({ clock, lifetimeMs, max }: OnceOptions): Once<Value> {
  // In the order in which they were put, which is that in which they end.
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
