import { sha256Hex } from "../../base/digest.ts";
import type { Clock } from "../../base/clock.ts";
import type { Attempts, AttemptsOptions } from "../sign-in/limits/attempts.ts";
import type { SignInMemory } from "../sign-in/limits/memory.ts";
import type { Once, OnceOptions } from "../sign-in/limits/once.ts";
import type { Passing, ExpiringRecords } from "../records/expiring-records.ts";

/** Options of the shared memory. */
export interface SharedMemoryOptions {
  readonly passing: ExpiringRecords;
  readonly clock: Pick<Clock, "now">;
  /** Hides subjects: they cannot be recovered from the names of records, not even by guessing. */
  readonly digest: { of(text: string): string };
}

/**
 * Keeps the state of sign-ins in the store, shared by all processes: a login that begins in one can end in another, each one-time value can
 * be used only once, and failures count in all processes.
 */
export function createSharedMemory(options: SharedMemoryOptions): SignInMemory {
  return {
    once: (name, limits) => sharedOnce(options, name, limits),
    attempts: (name, limits) => sharedAttempts(options, name, limits),
  };
}

type OnceLimits = Omit<OnceOptions, "clock">;

function sharedOnce<Value>({ passing, clock }: SharedMemoryOptions, name: string, { lifetimeMs, max }: OnceLimits): Once<Value> {
  const nameOf = (secret: string) => `${name}-${sha256Hex(secret)}`;
  /** Expiry of each record that this process has put, in ascending order. */
  const own = new Map<string, number>();
  const oldest = (): string | undefined => {
    for (const [record, until] of own) {
      if (until > clock.now() && own.size <= max) return undefined;
      own.delete(record);
      if (until > clock.now()) return record;
    }
    return undefined;
  };
  return {
    async put(secret, value) {
      const until = clock.now() + lifetimeMs;
      await passing.put(nameOf(secret), { value, until });
      own.set(nameOf(secret), until);
      const record = oldest();
      if (record !== undefined) await passing.take(record);
    },
    async take(secret) {
      own.delete(nameOf(secret));
      return (await passing.take<Value>(nameOf(secret)))?.value;
    },
  };
}

type AttemptLimits = Omit<AttemptsOptions, "clock">;

function sharedAttempts({ passing, clock, digest }: SharedMemoryOptions, name: string, { max, windowMs }: AttemptLimits): Attempts {
  const nameOf = (subject: string) => `${name}-${sha256Hex(digest.of(subject))}`;
  return {
    async wait(subject) {
      const window = await passing.get<number>(nameOf(subject));
      return window === undefined || window.value < max ? undefined : Math.max(1, Math.ceil((window.until - clock.now()) / 1_000));
    },
    async begin(subject) {
      let begun = false;
      await passing.change<number>(nameOf(subject), (window: Passing<number> = { value: 0, until: clock.now() + windowMs }) => {
        begun = window.value < max;
        return begun ? { ...window, value: window.value + 1 } : window;
      });
      return begun;
    },
    async refund(subject) {
      await passing.change<number>(nameOf(subject), (window) =>
        window === undefined || window.value <= 1 ? undefined : { ...window, value: window.value - 1 },
      );
    },
    async forget(subject) {
      await passing.take(nameOf(subject));
    },
  };
}
