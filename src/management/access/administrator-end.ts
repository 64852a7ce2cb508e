import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../kinds/types.ts";
import { ADMINISTRATOR_KEY } from "./bootstrap.ts";
import { REFUSALS, type KeyLives } from "./keys/key-lives.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** Options of {@link followAdministratorEnd}. */
export interface AdministratorEndOptions {
  readonly objects: ManagedObjects;
  readonly lives: Pick<KeyLives, "endOf" | "refusalOf">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Announces the expiry of the first administrator's key in advance, so that a 401 is not the first notice. */
export interface AdministratorEnd {
  /** When the key expires, in milliseconds since 1970; undefined when it does not expire or does not exist. */
  readonly at: number | undefined;
  /** Logs the expiry unless it was already logged. Call it after the key is created and after limits of keys change. */
  look(): void;
  stop(): void;
}

/** The expiry is logged at once, and again when this much time is left, in milliseconds. */
const REMINDERS_MS: readonly number[] = [7 * 86_400_000, 86_400_000, 3_600_000];
const HELP =
  "Use an administrator key that is still valid to create a new one, as docs/guides/first-key.md describes. If none is valid, start the server with --admin-key-file";

/** Watches the first administrator's key from the first call of `look` on, and logs its expiry. */
export function followAdministratorEnd({ objects, lives, clock, logger }: AdministratorEndOptions): AdministratorEnd {
  let logged = "";
  let looked = false;
  let timer: Timer | undefined;
  const logOnce = (state: string, log: () => void) => {
    if (state !== logged) log();
    logged = state;
  };
  const endOf = () => {
    const key = objects.get(OWNED_ACCESS_KEYS, ADMINISTRATOR_KEY);
    return key === undefined ? Infinity : lives.endOf(key);
  };
  const look = () => {
    looked = true;
    timer?.cancel();
    const key = objects.get(OWNED_ACCESS_KEYS, ADMINISTRATOR_KEY);
    const refusal = key && lives.refusalOf(key);
    // An administrator who disables the key knows that it no longer works.
    if (key === undefined || refusal === "disabled") return logOnce("", () => {});
    if (refusal !== undefined) {
      const why = REFUSALS[refusal];
      return logOnce(refusal, () => logger.warn("The first administrator's key is no longer accepted", { why, help: HELP }));
    }
    const endMs = endOf();
    const leftMs = endMs - clock.now();
    const next = REMINDERS_MS.find((aheadMs) => aheadMs < leftMs) ?? 0;
    if (endMs === Infinity) return logOnce("", () => {});
    logOnce(`${endMs} ${next}`, () => logger.warn("The first administrator's key expires", { at: timestamp(endMs), help: HELP }));
    timer = clock.schedule(leftMs - next, look);
  };
  const unsubscribe = objects.onChange([OWNED_ACCESS_KEYS, USERS], ({ object, previous }) => {
    if (looked && (object ?? previous)!.metadata.name === ADMINISTRATOR_KEY.name) look();
  });
  return {
    get at() {
      const endMs = endOf();
      return endMs === Infinity ? undefined : endMs;
    },
    look,
    stop() {
      unsubscribe();
      timer?.cancel();
    },
  };
}
