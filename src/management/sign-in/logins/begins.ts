import type { Clock } from "../../../base/clock.ts";
import { tooManyRequests } from "../../../apiserver/types/status.ts";
import { createAttempts } from "../limits/attempts.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { SignInMemory } from "../limits/memory.ts";

const MINUTE_MS = 60_000;

/** Limits how many logins begin. */
export interface Begins {
  /** @throws API_TOO_MANY_REQUESTS when too many begin, from this address or in total. */
  begin(address: string): Promise<void>;
  /** Records a sign-in from this address. */
  know(address: string): Promise<void>;
}

/** Options of {@link createBegins}. */
export interface BeginsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly memory: SignInMemory;
  readonly limits: SignInLimits;
}

/**
 * Limits how many logins can begin. Addresses without an earlier sign-in share two thirds of the limit, and no address gets more than a
 * sixth of it. Known addresses therefore always have room. Each server counts separately: a shared count would cost a write for each
 * refusal.
 */
export function createBegins({ clock, memory, limits }: BeginsOptions): Begins {
  const { beginsPerMinute, knownMs } = limits;
  const window = (max: number) => createAttempts({ clock, max, windowMs: MINUTE_MS });
  const kept = Math.floor(beginsPerMinute / 3);
  const byAddress = window(Math.max(1, Math.floor(beginsPerMinute / 6)));
  const all = { strangers: window(beginsPerMinute - kept), known: window(kept) };
  const known = memory.attempts("known-addresses", { max: 1, windowMs: knownMs });
  const ALL = "all";
  return {
    async begin(address) {
      if (!(await byAddress.begin(address))) throw tooManyRequests(await byAddress.wait(address));
      if ((await known.wait(address)) !== undefined && (await all.known.begin(ALL))) return;
      if (!(await all.strangers.begin(ALL))) throw tooManyRequests(await all.strangers.wait(ALL));
    },
    know: async (address) => void (await known.begin(address)),
  };
}
