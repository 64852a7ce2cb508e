import type { KubeObject } from "../../kube/object/types.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import { specOf } from "../kinds/common.ts";
import { TEAMS } from "../kinds/types.ts";
import { administers, groupOfSubject, subjectOfUserName, type Caller } from "./caller.ts";
import type { ManagedObjects } from "./managed-objects.ts";

/** Determines callers and the teams that they currently belong to. */
export interface Membership {
  callerOf(user: UserInfo): Caller;
}

/** The part of a Team that lists its members. */
interface Members {
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
}

/**
 * Determines the membership of callers from the stored Teams: users belong by their name and their groups, other callers by their groups.
 * A team's key belongs to that team.
 *
 * @example
 * createMembership(objects).callerOf({ name: "jane", groups: ["sso:dev"] }).teams; // the teams with jane or sso:dev
 */
export function createMembership(objects: ManagedObjects): Membership {
  const index = new TeamIndex();
  // Cached, because one request looks it up many times, for example for each object of a list.
  let known = new WeakMap<UserInfo, Caller>();
  for (const team of objects.of(TEAMS)) index.add(team);
  objects.onChange([TEAMS], ({ object, previous }) => {
    if (previous !== undefined) index.drop(previous);
    if (object !== undefined) index.add(object);
    known = new WeakMap();
  });
  const judge = (user: UserInfo): Caller => {
    const subject = subjectOfUserName(user.name);
    return { subject, groups: user.groups, teams: index.teamsOf(user), administers: administers(user) };
  };
  return {
    callerOf(user) {
      let caller = known.get(user);
      if (caller === undefined) known.set(user, (caller = judge(user)));
      return caller;
    },
  };
}

/** The names of the teams, among the given ones, that a user belongs to. */
export function teamsAmong(teams: Iterable<KubeObject>, user: UserInfo): ReadonlySet<string> {
  const index = new TeamIndex();
  for (const team of teams) index.add(team);
  return index.teamsOf(user);
}

class TeamIndex {
  /** Teams by `user/NAME` and `group/NAME`. */
  readonly #teams = new Map<string, Set<string>>();

  add(team: KubeObject): void {
    for (const place of placesOf(team)) this.#teams.set(place, (this.#teams.get(place) ?? new Set<string>()).add(team.metadata.name!));
  }

  drop(team: KubeObject): void {
    for (const place of placesOf(team)) {
      const teams = this.#teams.get(place);
      teams?.delete(team.metadata.name!);
      if (teams?.size === 0) this.#teams.delete(place);
    }
  }

  teamsOf({ name, groups }: UserInfo): ReadonlySet<string> {
    const subject = subjectOfUserName(name);
    const teams = new Set<string>(subject?.kind === "team" ? [subject.name] : []);
    const places = groups.map((group) => `group/${group}`);
    if (subject?.kind === "user") places.push(`user/${name}`);
    for (const place of places) for (const team of this.#teams.get(place) ?? []) teams.add(team);
    return teams;
  }
}

const TEAM_GROUPS = groupOfSubject({ kind: "team", name: "" });

function placesOf(team: KubeObject): readonly string[] {
  const { users = [], groups = [] } = specOf<Members>(team);
  // Groups that represent teams are derived from membership. If they also gave membership, the order of evaluation would matter.
  const others = groups.filter((group) => !group.startsWith(TEAM_GROUPS));
  return [...users.map((user) => `user/${user}`), ...others.map((group) => `group/${group}`)];
}
