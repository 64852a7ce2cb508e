import { withoutCase } from "./claims.ts";
import { admitted, refused, type SignInDecision, type Configured } from "../identity.ts";
import type { SourceHostASettings } from "../settings.ts";

/** The source host's data about a user. */
export interface SourceHostAProfile {
  readonly id: string;
  readonly login: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  /** The user's organisations, with the user's teams in each. */
  readonly organizations: readonly { readonly name: string; readonly teams: readonly SourceHostATeam[] }[];
}

/** A team: its name, or its name and its slug, which is its name in addresses. */
export type SourceHostATeam = string | { readonly name: string; readonly slug: string };

/** The settings for one organisation. */
interface WantedOrg {
  /** True if an entry without teams admits every member. */
  admitsAll: boolean;
  readonly teams: Set<string>;
}

/**
 * Admits users of a source host with organisations and teams. Groups are `(org):(team)`. If organisations are set, the user must be a
 * member of at least one of them. If this organisation lists teams, the user must be a member of at least one of these teams. Other groups
 * are dropped. Organisations are compared without regard to case. A team matches by its name, or by its slug. Source:
 * specification 2, sourceHostA.
 *
 * @example
 * const settings = { orgs: [{ name: "acme", teams: ["ops"] }] };
 * const organizations = [{ name: "acme", teams: ["ops", "dev"] }];
 * admitSourceHostA({ connector: "sourceHostA", settings }, { id: "1", login: "jane", organizations }); // groups: ["acme:ops"]
 */
export function admitSourceHostA({ connector, settings }: Configured<SourceHostASettings>, profile: SourceHostAProfile): SignInDecision {
  const { orgs } = settings;
  const wanted = wantedOrgs(orgs ?? []);
  const memberships = profile.organizations.flatMap(({ name, teams }) => {
    if (orgs === undefined) return [{ name, teams }];
    const org = wanted.get(withoutCase(name));
    if (org === undefined) return [];
    const listed = org.admitsAll ? teams : teams.filter((team) => namesOf(team).some((one) => org.teams.has(one)));
    return org.admitsAll || listed.length > 0 ? [{ name, teams: listed }] : [];
  });
  if (orgs !== undefined && memberships.length === 0) return refused("none of your organisations and teams is allowed to sign in");
  return admitted({
    userId: profile.id,
    username: profile.login,
    preferredUsername: profile.login,
    email: profile.email,
    emailVerified: profile.emailVerified,
    groups: memberships.flatMap(({ name, teams }) => teams.map((team) => `${name}:${namesOf(team)[0]!}`)),
    extraClaims: undefined,
    connector,
    connectorData: undefined,
  });
}

/** Returns the organisations by name in lower case. If an organisation is listed twice, either entry can admit a user. */
function wantedOrgs(orgs: NonNullable<SourceHostASettings["orgs"]>): ReadonlyMap<string, WantedOrg> {
  const wanted = new Map<string, WantedOrg>();
  for (const { name, teams } of orgs) {
    const org = wanted.get(withoutCase(name)) ?? { admitsAll: false, teams: new Set<string>() };
    wanted.set(withoutCase(name), org);
    if (teams === undefined) org.admitsAll = true;
    for (const team of teams ?? []) org.teams.add(team);
  }
  return wanted;
}

/** The name of a team, and its slug. */
function namesOf(team: SourceHostATeam): readonly string[] {
  return typeof team === "string" ? [team] : [team.name, team.slug];
}
