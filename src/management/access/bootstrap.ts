import type { ObjectKey } from "../../object/key.ts";
import type { Registry } from "../../server/registry.ts";
import { specOf } from "../kinds/common.ts";
import type { KeySpec } from "../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS, USERS } from "../kinds/types.ts";
import type { AccessKeys } from "./access-keys.ts";
import { ADMINISTRATORS } from "./caller.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** What the first administrator is made with. */
export interface BootstrapOptions {
  readonly registry: Registry;
  readonly objects: ManagedObjects;
  readonly keys: Pick<AccessKeys, "find">;
  /** The value that his key is to have. Default: one is made. */
  readonly adminKey?: string;
}

/** Name of the first administrator and of his key. */
export const ADMINISTRATOR = "admin";
const KEY: ObjectKey = { namespace: "", name: ADMINISTRATOR };

/**
 * Sees to it that somebody can administer: a user and a key are made in an empty store, and a key that is given is good from then on.
 * Whoever deletes the key in a store that is in use has others, or gives one.
 *
 * @returns the value of the key, unless it is that of an earlier start.
 */
export async function bootstrapAdministrator({ registry, objects, keys, adminKey }: BootstrapOptions): Promise<string | undefined> {
  const isEmpty = objects.of(OWNED_ACCESS_KEYS)[Symbol.iterator]().next().done === true;
  if (!isEmpty && (adminKey === undefined || keys.find(adminKey)?.metadata.name === ADMINISTRATOR)) return adminKey;
  if (objects.get(USERS, KEY) === undefined) {
    await registry.create(USERS, "", { metadata: { name: ADMINISTRATOR }, spec: { displayName: "Administrator" } });
  }
  const given = adminKey === undefined ? {} : { key: adminKey };
  const spec: KeySpec = { displayName: "First administrator", user: ADMINISTRATOR, groups: [ADMINISTRATORS], type: "User", ...given };
  const written =
    objects.get(OWNED_ACCESS_KEYS, KEY) === undefined
      ? await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name: ADMINISTRATOR }, spec })
      : (await registry.update(OWNED_ACCESS_KEYS, KEY, { metadata: { name: ADMINISTRATOR }, spec })).object;
  return specOf<KeySpec>(written).key;
}
