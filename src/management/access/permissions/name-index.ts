import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { specOf, type OwnedSpec } from "../../kinds/common.ts";
import type { KeySpec } from "../../kinds/owned-access-key.ts";
import type { TeamSpec } from "../../kinds/team.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS, USERS } from "../../kinds/types.ts";
import { subjectsOf, type UserSpec } from "../../kinds/user.ts";
import { EVERYBODY } from "./object-permissions.ts";
import type { ManagedObjects } from "../managed-objects.ts";

/**
 * How an object uses a name: as a `user` or `team` in a rule, an owner or a member list; as the user that a `key` acts as; as the
 * `username` with which a User signs in; or as a `subject` of a User.
 */
export type NameUse = "user" | "team" | "key" | "username" | "subject";

/** An index of the names that stored objects use. Every first sign-in needs it. */
export interface NameIndex {
  /** Reports whether any object uses the name. */
  has(use: NameUse, name: string): boolean;
  /** Names of the Users that sign in with a user name, or by a subject. */
  users(use: "username" | "subject", name: string): readonly string[];
}

/** The types whose objects use names. */
const NAMING: readonly ResourceType[] = [USERS, TEAMS, SHARED_SECRETS, OWNED_ACCESS_KEYS];

/**
 * Indexes the names in stored objects, and follows their changes.
 *
 * @example
 * createNameIndex(objects).has("user", "jane"); // true when a rule, an owner or a team names jane
 */
export function createNameIndex(objects: ManagedObjects): NameIndex {
  const holders = new Map<string, Set<string>>();
  const add = (object: KubeObject) => {
    for (const place of placesOf(object)) holders.set(place, (holders.get(place) ?? new Set<string>()).add(idOf(object)));
  };
  const drop = (object: KubeObject) => {
    for (const place of placesOf(object)) {
      const left = holders.get(place);
      left?.delete(idOf(object));
      if (left?.size === 0) holders.delete(place);
    }
  };
  for (const type of NAMING) for (const object of objects.of(type)) add(object);
  objects.onChange(NAMING, ({ object, previous }) => {
    if (previous !== undefined) drop(previous);
    if (object !== undefined) add(object);
  });
  return {
    has: (use, name) => holders.has(`${use}/${name}`),
    users: (use, name) => [...(holders.get(`${use}/${name}`) ?? [])].map((id) => id.slice(id.lastIndexOf("/") + 1)),
  };
}

function idOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}

const NOWHERE: readonly string[] = [];

function placesOf(object: KubeObject): readonly string[] {
  if (object.kind === SHARED_SECRETS.kind && !isShared(object)) return NOWHERE;
  const named = namesIn(object).filter(([, name]) => name !== undefined && name !== "" && name !== EVERYBODY);
  return named.map(([use, name]) => `${use}/${name}`);
}

function isShared(object: KubeObject): boolean {
  const { owner, access } = specOf<OwnedSpec>(object);
  return owner !== undefined || access !== undefined;
}

type Named = readonly [use: NameUse, name: string | undefined];

function namesIn(object: KubeObject): readonly Named[] {
  switch (object.kind) {
    case USERS.kind: {
      const spec = specOf<UserSpec>(object);
      return [["username", object.metadata.name], ["username", spec.username], ...subjectsOf(spec).map((name): Named => ["subject", name])];
    }
    case OWNED_ACCESS_KEYS.kind: {
      const { user, team } = specOf<KeySpec>(object);
      return [
        ["team", team],
        ["key", user],
      ];
    }
    case TEAMS.kind:
      return [...rulesIn(object), ...(specOf<TeamSpec>(object).users ?? []).map((name): Named => ["user", name])];
    case SHARED_SECRETS.kind:
      return rulesIn(object);
    default:
      return [];
  }
}

function rulesIn(object: KubeObject): readonly Named[] {
  const { owner, access = [] } = specOf<OwnedSpec>(object);
  const inRules = access.flatMap(({ users = [], teams = [] }) => [
    ...users.map((name): Named => ["user", name]),
    ...teams.map((name): Named => ["team", name]),
  ]);
  return [["user", owner?.user], ["team", owner?.team], ...inRules];
}
