import { delay, type Clock } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import { specOf } from "../kinds/common.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../kinds/types.ts";
import { isTaken, type AccessKeys } from "./keys/access-keys.ts";
import { ADMINISTRATORS } from "./caller.ts";
import type { KeyLives } from "./keys/key-lives.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** Options of the bootstrap of the first administrator. */
export interface BootstrapOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly keys: Pick<AccessKeys, "find">;
  readonly lives: Pick<KeyLives, "refusalOf">;
  /** The value for the administrator's key. Default: a random one. */
  readonly adminKey?: string;
  /** Resolves once this process has seen every write that was acknowledged before the call. */
  readonly upToDate: () => Promise<unknown>;
  readonly clock: Clock;
}

/** Name of the first administrator and of the administrator's key. */
const ADMINISTRATOR = "admin";
/** The key of the first administrator's User among Users, and of the access key among OwnedAccessKeys. */
export const ADMINISTRATOR_KEY: ObjectKey = { namespace: "", name: ADMINISTRATOR };

/** Processes that start at the same time may conflict: the number of retries, and the milliseconds between them. */
const TRIES_MAX = 100;
const TRY_EVERY_MS = 100;

/**
 * Ensures that the platform has an administrator. In an empty store, it creates a user and a key. A key that you pass replaces an
 * administrator key that has a different value, has expired, or has lost its user. A disabled key with the value that you pass stays
 * disabled: others may know the value.
 *
 * If you delete the key in a store that is in use, no new one is created unless you pass one. If several processes start at the same time
 * on one store, one of them creates the key.
 *
 * @returns the value of the key, if you pass it or this call creates it; undefined otherwise.
 */
export async function bootstrapAdministrator(options: BootstrapOptions): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(options);
    } catch (error) {
      if (tries === TRIES_MAX || !isOthers(error, options)) throw error;
      await delay(options.clock, TRY_EVERY_MS);
    }
  }
}

/** Reports whether an error comes from another process that was faster, or that holds the value. */
function isOthers(error: unknown, { adminKey, keys }: BootstrapOptions): boolean {
  if (isEngineError(error, "API_INVALID")) {
    const owner = adminKey === undefined ? undefined : keys.find(adminKey)?.metadata.name;
    return isTaken(error) && (owner === undefined || owner === ADMINISTRATOR);
  }
  return isEngineError(error, "API_ALREADY_EXISTS", "API_CONFLICT", "API_NOT_FOUND");
}

async function attempt(options: BootstrapOptions): Promise<string | undefined> {
  const { registry, objects, keys, lives, adminKey, upToDate } = options;
  await upToDate();
  const isEmpty = objects.of(OWNED_ACCESS_KEYS)[Symbol.iterator]().next().done === true;
  if (!isEmpty && adminKey === undefined) return undefined;
  const known = adminKey === undefined ? undefined : keys.find(adminKey);
  if (known?.metadata.name === ADMINISTRATOR && [undefined, "disabled"].includes(lives.refusalOf(known))) return adminKey;
  if (objects.get(USERS, ADMINISTRATOR_KEY) === undefined) {
    await registry.create(USERS, "", { metadata: { name: ADMINISTRATOR }, spec: { displayName: "Administrator" } });
    // Another process may have created the key in the meantime, and that key must not be treated as an old one.
    return attempt(options);
  }
  const given = adminKey === undefined ? {} : { key: adminKey };
  const spec: KeySpec = { displayName: "First administrator", user: ADMINISTRATOR, groups: [ADMINISTRATORS], type: "User", ...given };
  // The key is replaced and not changed: its lifetime counts from its creation, so it would expire with the old one.
  const old = objects.get(OWNED_ACCESS_KEYS, ADMINISTRATOR_KEY);
  if (old !== undefined) {
    const { uid } = old.metadata;
    await registry.patch(OWNED_ACCESS_KEYS, ADMINISTRATOR_KEY, "merge", { metadata: { uid, finalizers: null } });
    await registry.delete(OWNED_ACCESS_KEYS, ADMINISTRATOR_KEY, { preconditions: { uid: uid! } });
  }
  const made = await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name: ADMINISTRATOR }, spec });
  return specOf<KeySpec>(made).key;
}
