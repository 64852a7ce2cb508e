import type { Clock, Timer } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { keyOf } from "../../object/key.ts";
import type { Registry } from "../../server/registry.ts";
import { specOf } from "../kinds/common.ts";
import { LOGIN_KEY } from "../kinds/owned-access-key.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../kinds/types.ts";
import type { KeyActivity } from "./activity.ts";
import { keyEnd } from "./key-lifetime.ts";
import type { LifetimeLimits } from "./key-lifetime.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** What the sweeper works with. */
export interface LoginKeySweeperOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly activity: KeyActivity;
  readonly limits: () => LifetimeLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Looks at most so often, and at least so often, in milliseconds. */
const EVERY_MIN_MS = 200;
const EVERY_MAX_MS = 60_000;

/**
 * Deletes keys of sign-ins that have ended. Source: specification 2, `loginAccessKeyTTLSeconds`: "Seconds an access key is kept
 * before deletion".
 */
export function startLoginKeySweeper(options: LoginKeySweeperOptions): { stop(): void } {
  const { registry, objects, activity, limits, clock, logger } = options;
  let timer: Timer | undefined;
  let stopped = false;
  const ends = () =>
    [...objects.of(OWNED_ACCESS_KEYS)]
      .filter((key) => specOf<KeySpec>(key).type === LOGIN_KEY)
      .map((key) => ({ key, endMs: keyEnd(key, activity.last(key.metadata.uid!), limits()) }));
  const sweep = async () => {
    for (const { key, endMs } of ends()) {
      if (endMs > clock.now()) continue;
      try {
        await registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
      } catch (error) {
        if (!stopped && !isEngineError(error, "API_NOT_FOUND", "API_CONFLICT")) logger.error("Cannot delete a key that has ended", { error });
      }
    }
    if (!stopped) schedule();
  };
  const schedule = () => {
    timer?.cancel();
    const nextMs = Math.min(Infinity, ...ends().map(({ endMs }) => endMs)) - clock.now();
    timer = clock.schedule(Math.min(EVERY_MAX_MS, Math.max(EVERY_MIN_MS, nextMs)), () => void sweep());
  };
  objects.onChange(({ object }) => {
    if (!stopped && object?.kind === OWNED_ACCESS_KEYS.kind) schedule();
  });
  schedule();
  return {
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
