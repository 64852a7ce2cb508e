import { isEngineError } from "../../../base/errors.ts";
import { keyOf } from "../../../kube/object/key.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { specOf } from "../../kinds/common.ts";
import { originOf, type KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import type { ManagedObjects } from "../managed-objects.ts";

/** Options of {@link settleKeys}. */
export interface SettleKeysOptions {
  readonly registry: Pick<Registry, "patch">;
  readonly objects: ManagedObjects;
  /** Resolves once this process has seen every write that was acknowledged before the call. */
  readonly upToDate: () => Promise<unknown>;
}

/**
 * Ties keys to the uid of a User: the user's own keys, the keys that the user created, and the keys whose value the user set. They end with
 * this User, not with a later User of the same name. A key lacks the uid only if it is older than the User, or if an earlier version
 * without uids stored it; any write adds the missing uid.
 */
export async function settleKeys(user: string, { registry, objects, upToDate }: SettleKeysOptions): Promise<void> {
  await upToDate();
  for (const key of [...objects.of(OWNED_ACCESS_KEYS)]) {
    const { person, holder } = originOf(key);
    if (![specOf<KeySpec>(key).user, person?.name, holder?.name].includes(user)) continue;
    try {
      await registry.patch(OWNED_ACCESS_KEYS, keyOf(key), "merge", {});
    } catch (error) {
      if (!isEngineError(error, "API_NOT_FOUND")) throw error;
    }
  }
}
