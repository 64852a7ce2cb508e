import type { Clock } from "../../../base/clock.ts";
import { tooManyRequests } from "../../../apiserver/types/status.ts";
import { createAttempts } from "../limits/attempts.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { SignInMemory } from "../limits/memory.ts";

const MINUTE_MS = 60_000;

/** Logins that may begin. */
export interface Begins {
  /** @throws API_TOO_MANY_REQUESTS when too many begin, from this address or in all. */
  begin(address: string): Promise<void>;
  /** Somebody has signed in at this address. */
  know(address: string): Promise<void>;
}

/** What begins are counted with. */
export interface BeginsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly memory: SignInMemory;
  readonly limits: SignInLimits;
}

/**
 * Counts logins that begin. Strangers share two thirds, and an address has a sixth, so that nobody keeps out those who have signed in
 * before. Each server counts by itself: counting among all would be a write for each that is refused.
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
