import type { Clock, Timer } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { keyOf } from "../../object/key.ts";
import type { KubeObject } from "../../object/types.ts";
import type { Registry } from "../../server/registry.ts";
import { specOf } from "../kinds/common.ts";
import { LOGIN_KEY } from "../kinds/owned-access-key.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../kinds/types.ts";
import type { KeyLives } from "./key-lives.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** What the sweeper works with. */
export interface LoginKeySweeperOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly lives: Pick<KeyLives, "endOf">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A sweeper at work. */
export interface LoginKeySweeper {
  /** Resolves when no deletion is under way. */
  settled(): Promise<void>;
  stop(): void;
}

/** Looks at most so often, and at least so often, in milliseconds. */
const EVERY_MIN_MS = 200;
const EVERY_MAX_MS = 60_000;

/**
 * Deletes keys of sign-ins that have ended. Source: specification 2, `loginAccessKeyTTLSeconds`: "Seconds an access key is kept
 * before deletion".
 */
export function startLoginKeySweeper(options: LoginKeySweeperOptions): LoginKeySweeper {
  const { registry, objects, lives, clock, logger } = options;
  let timer: Timer | undefined;
  /** When it looks next. */
  let dueMs = Infinity;
  let stopped = false;
  let sweeping: Promise<void> = Promise.resolve();
  /** What is being deleted goes when its finalizers let it. */
  const endOf = (key: KubeObject) =>
    specOf<KeySpec>(key).type === LOGIN_KEY && key.metadata.deletionTimestamp === undefined ? lives.endOf(key) : Infinity;
  const sweep = async () => {
    dueMs = Infinity;
    for (const key of [...objects.of(OWNED_ACCESS_KEYS)]) {
      if (stopped) return;
      if (endOf(key) > clock.now()) continue;
      try {
        await registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid: key.metadata.uid! } });
      } catch (error) {
        if (!stopped && !isEngineError(error, "API_NOT_FOUND", "API_CONFLICT"))
          logger.error("Cannot delete a key that has ended", { error });
      }
    }
    if (!stopped) lookAt(nextEnd());
  };
  const nextEnd = () => {
    let firstMs = Infinity;
    for (const key of objects.of(OWNED_ACCESS_KEYS)) firstMs = Math.min(firstMs, endOf(key));
    return firstMs;
  };
  const lookAt = (endMs: number) => {
    const waitMs = Math.min(EVERY_MAX_MS, Math.max(EVERY_MIN_MS, endMs - clock.now()));
    if (clock.now() + waitMs >= dueMs) return;
    timer?.cancel();
    dueMs = clock.now() + waitMs;
    timer = clock.schedule(waitMs, () => void (sweeping = sweep()));
  };
  const unsubscribe = objects.onChange(({ object }) => {
    if (!stopped && object?.kind === OWNED_ACCESS_KEYS.kind) lookAt(endOf(object));
  });
  lookAt(nextEnd());
  return {
    settled: () => sweeping,
    stop() {
      stopped = true;
      unsubscribe();
      timer?.cancel();
    },
  };
}
