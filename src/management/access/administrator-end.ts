import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../kinds/types.ts";
import { ADMINISTRATOR_KEY } from "./bootstrap.ts";
import { REFUSALS } from "./keys/key-lives.ts";
import type { KeyLives } from "./keys/key-lives.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** What the end is told with. */
export interface AdministratorEndOptions {
  readonly objects: ManagedObjects;
  readonly lives: Pick<KeyLives, "endOf" | "refusalOf">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The end of the first administrator's key, which nobody is to learn from a 401. */
export interface AdministratorEnd {
  /** When it ends, in milliseconds since 1970; undefined when it does not, or is not there. */
  readonly at: number | undefined;
  /** Tells it in the log, if it is not told yet. To be called when the key is made, and when limits of keys have changed. */
  look(): void;
  stop(): void;
}

/** It is told at once, and again when so much is left, in milliseconds. */
const TOLD_AGAIN_MS: readonly number[] = [7 * 86_400_000, 86_400_000, 3_600_000];
const HELP =
  "Make another administrator's key while one is good, as docs/guides/first-key.md says; afterwards, start the server with --admin-key-file";

/** Follows the first administrator's key from the first look on. */
export function followAdministratorEnd({ objects, lives, clock, logger }: AdministratorEndOptions): AdministratorEnd {
  let told = "";
  let looked = false;
  let timer: Timer | undefined;
  const tell = (state: string, say: () => void) => {
    if (state !== told) say();
    told = state;
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
    // Who disables the key knows of it.
    if (key === undefined || refusal === "disabled") return tell("", () => {});
    if (refusal !== undefined) {
      const why = REFUSALS[refusal];
      return tell(refusal, () => logger.warn("The first administrator's key is not accepted any more", { why, help: HELP }));
    }
    const endMs = endOf();
    const leftMs = endMs - clock.now();
    const next = TOLD_AGAIN_MS.find((aheadMs) => aheadMs < leftMs) ?? 0;
    if (endMs === Infinity) return tell("", () => {});
    tell(`${endMs} ${next}`, () => logger.warn("The first administrator's key ends", { at: timestamp(endMs), help: HELP }));
    timer = clock.schedule(leftMs - next, look);
  };
  const unsubscribe = objects.onChange(({ object, previous }) => {
    const { kind, metadata } = (object ?? previous)!;
    if (looked && [OWNED_ACCESS_KEYS.kind, USERS.kind].includes(kind) && metadata.name === ADMINISTRATOR_KEY.name) look();
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
