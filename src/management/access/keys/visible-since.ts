import type { KubeObject } from "../../../kube/object/types.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { VisibleSince } from "../../../apiserver/http/resource-routes.ts";
import type { Store } from "../../../apiserver/store/store.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import { storePrefix } from "../../../apiserver/verbs/resource-context.ts";
import { specOf } from "../../kinds/common.ts";
import { originOf, type KeySpec } from "../../kinds/owned-access-key.ts";
import { CONFIG, OWNED_ACCESS_KEYS, TEAMS, USERS } from "../../kinds/types.ts";
import { KEY_EXTRA } from "../caller.ts";
import type { KeyLives } from "./key-lives.ts";
import type { ManagedObjects } from "../managed-objects.ts";
import { teamsAmong, type Membership } from "../membership.ts";

/** Options of {@link createVisibleSince}. */
export interface VisibleSinceOptions {
  readonly store: Pick<Store, "list">;
  readonly objects: Pick<ManagedObjects, "get">;
  readonly membership: Membership;
  readonly lives: Pick<KeyLives, "chainOf">;
}

/**
 * Compares the permissions of callers with those at an earlier state: the teams, and whether the key, the keys that it was created with, or
 * their users were written since.
 */
export function createVisibleSince({ store, objects, membership, lives }: VisibleSinceOptions): VisibleSince {
  const past = async (type: ResourceType, revision: number, name = "") => {
    const page = await store.list({ prefix: `${storePrefix(type)}${name}`, revision });
    return page.objects.map(({ object }) => object);
  };
  /** Reports whether a user was changed, created or deleted since. Reads only that user: there can be many. */
  const isChanged = async (name: string, revision: number): Promise<boolean> => {
    const was = (await past(USERS, revision, name)).find(({ metadata }) => metadata.name === name);
    return revisionOf(was) !== revisionOf(objects.get(USERS, { namespace: "", name }));
  };
  const keysOf = (caller: UserInfo): (KubeObject | undefined)[] => {
    const name = caller.extra?.[KEY_EXTRA]?.[0];
    if (name === undefined) return [];
    const key = objects.get(OWNED_ACCESS_KEYS, { namespace: "", name });
    return key === undefined ? [undefined] : [...lives.chainOf(key)];
  };
  const isSame = async (user: UserInfo, caller: UserInfo, revision: number): Promise<boolean> => {
    const keys = keysOf(caller);
    if (keys.some((key) => key === undefined || revisionOf(key) > revision)) return false;
    const people = new Set(keys.flatMap((key) => peopleOf(key!)));
    for (const name of people) if (await isChanged(name, revision)) return false;
    const teams = teamsAmong(await past(TEAMS, revision), user);
    const { teams: now } = membership.callerOf(user);
    return teams.size === now.size && [...teams].every((team) => now.has(team));
  };
  return (user, caller, { type }) => {
    // The configuration has revisions of its own.
    return type.plural === CONFIG.plural ? undefined : (revision) => isSame(user, caller, revision);
  };
}

function peopleOf(key: KubeObject): readonly string[] {
  const { person, holder } = originOf(key);
  return [specOf<KeySpec>(key).user, person?.name, holder?.name].filter((name) => name !== undefined && name !== "") as string[];
}

/** 0 for an object that does not exist. */
function revisionOf(object: KubeObject | undefined): number {
  return Number(object?.metadata.resourceVersion ?? 0);
}
