import type { Clock, Timer } from "../../../base/clock.ts";
import { isEngineError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { specOf } from "../../kinds/common.ts";
import { LOGIN_KEY, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import { LOGINS_PER_USER_MAX } from "../../config/limits.ts";
import { isOfSignIn } from "./key-origin.ts";
import type { KeyLives } from "./key-lives.ts";
import type { ManagedObjects } from "../managed-objects.ts";

/** Options of the sweeper. */
export interface LoginKeySweeperOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly lives: Pick<KeyLives, "endOf">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A running sweeper. */
export interface LoginKeySweeper {
  /** Resolves when no deletion is in progress. */
  settled(): Promise<void>;
  stop(): void;
}

/** The shortest and the longest time between two runs, in milliseconds. */
const EVERY_MIN_MS = 200;
const EVERY_MAX_MS = 60_000;

/**
 * Deletes expired sign-in keys. Source: specification 2, `loginAccessKeyTTLSeconds`: "Seconds an access key is kept before deletion".
 * Each user keeps only the latest {@link LOGINS_PER_USER_MAX} logins, including those that finalizers hold, because nothing else limits
 * their number.
 */
export function startLoginKeySweeper(options: LoginKeySweeperOptions): LoginKeySweeper {
  const { registry, objects, lives, clock, logger } = options;
  let timer: Timer | undefined;
  /** When the next run starts. */
  let dueMs = Infinity;
  let stopped = false;
  let sweeping: Promise<void> = Promise.resolve();
  /** A key that is already being deleted has no end here: it is removed when its finalizers are done. */
  const endOf = (key: KubeObject) =>
    specOf<KeySpec>(key).type === LOGIN_KEY && key.metadata.deletionTimestamp === undefined ? lives.endOf(key) : Infinity;
  const logins = new LoginCounts();
  const sweep = async () => {
    dueMs = Infinity;
    const keys = [...objects.of(OWNED_ACCESS_KEYS)];
    const tooMany = logins.tooMany(keys);
    for (const key of keys) {
      if (stopped) return;
      if (endOf(key) > clock.now() && !tooMany.has(key)) continue;
      try {
        const uid = key.metadata.uid!;
        const { gone } = await registry.delete(OWNED_ACCESS_KEYS, keyOf(key), { preconditions: { uid } });
        // Without this, the number of deleted logins that finalizers hold would have no limit.
        if (!gone && tooMany.has(key))
          await registry.patch(OWNED_ACCESS_KEYS, keyOf(key), "merge", { metadata: { uid, finalizers: null } });
      } catch (error) {
        if (!stopped && !isEngineError(error, "API_NOT_FOUND", "API_CONFLICT"))
          logger.error("Cannot delete an expired or excess login key", { error });
      }
    }
    if (!stopped) lookAt(nextEnd());
  };
  const nextEnd = () => {
    let firstMs = Infinity;
    for (const key of objects.of(OWNED_ACCESS_KEYS)) firstMs = Math.min(firstMs, endOf(key));
    return logins.areTooMany ? clock.now() : firstMs;
  };
  const lookAt = (endMs: number) => {
    const waitMs = Math.min(EVERY_MAX_MS, Math.max(EVERY_MIN_MS, endMs - clock.now()));
    if (clock.now() + waitMs >= dueMs) return;
    timer?.cancel();
    dueMs = clock.now() + waitMs;
    timer = clock.schedule(waitMs, () => void (sweeping = sweep()));
  };
  for (const key of objects.of(OWNED_ACCESS_KEYS)) logins.change(undefined, key);
  const unsubscribe = objects.onChange([OWNED_ACCESS_KEYS], ({ object, previous }) => {
    logins.change(previous, object);
    if (!stopped && object !== undefined) lookAt(logins.areTooMany ? clock.now() : endOf(object));
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

/** The number of sign-in keys of each user. */
class LoginCounts {
  readonly #counts = new Map<string, number>();
  readonly #beyond = new Set<string>();

  get areTooMany(): boolean {
    return this.#beyond.size > 0;
  }

  change(before: KubeObject | undefined, after: KubeObject | undefined): void {
    this.#add(before, -1);
    this.#add(after, 1);
  }

  /** The oldest keys of each user who has too many. */
  tooMany(keys: readonly KubeObject[]): ReadonlySet<KubeObject> {
    const ended = new Set<KubeObject>();
    for (const user of this.#beyond) {
      const own = keys.filter((key) => userOf(key) === user);
      const byAge = own.sort((one, other) => createdAt(one) - createdAt(other));
      for (const key of byAge.slice(0, -LOGINS_PER_USER_MAX)) ended.add(key);
    }
    return ended;
  }

  #add(key: KubeObject | undefined, by: 1 | -1): void {
    const user = key && userOf(key);
    if (user === undefined) return;
    const count = (this.#counts.get(user) ?? 0) + by;
    if (count === 0) this.#counts.delete(user);
    else this.#counts.set(user, count);
    if (count > LOGINS_PER_USER_MAX) this.#beyond.add(user);
    else this.#beyond.delete(user);
  }
}

/** Returns the user of a login's key; undefined for other keys. */
function userOf(key: KubeObject): string | undefined {
  return isOfSignIn(key) ? specOf<KeySpec>(key).user : undefined;
}

function createdAt({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp!);
}
