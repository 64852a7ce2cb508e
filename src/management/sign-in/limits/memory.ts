import type { Clock } from "../../../base/clock.ts";
import { createAttempts, type Attempts, type AttemptsOptions } from "./attempts.ts";
import { createOnce, type Once, type OnceOptions } from "./once.ts";

/** Keeps unfinished logins and counts of failures. Each name has separate data. */
export interface SignInMemory {
  once<Value>(name: string, options: Omit<OnceOptions, "clock">): Once<Value>;
  attempts(name: string, options: Omit<AttemptsOptions, "clock">): Attempts;
}

/**
 * Keeps the state of sign-ins in this process, for a server without replicas.
 *
 * @example
 * createLocalMemory(systemClock).attempts("names", { max: 10, windowMs: 900_000 });
 */
export function createLocalMemory(clock: Pick<Clock, "monotonic">): SignInMemory {
  return {
    once: (_name, options) => createOnce({ clock, ...options }),
    attempts: (_name, options) => createAttempts({ clock, ...options }),
  };
}
