import { meetsGiven } from "./claims.ts";
import { admitted, refused } from "../identity.ts";
import type { SignInDecision, Configured } from "../identity.ts";
import type { SourceHostASettings } from "../settings.ts";

/** What the host of source code says about somebody. */
export interface SourceHostAProfile {
  readonly id: string;
  readonly login: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  /** Where he is a member, with the teams that he is in there. */
  readonly organizations: readonly { readonly name: string; readonly teams: readonly string[] }[];
}

/**
 * Who signs in by a host of source code with organisations and teams. Groups are `(org):(team)`. With organisations set, he is a
 * member of at least one of them and, where it names teams, of at least one of those; no others are told then.
 * Source: specification 2, sourceHostA.
 *
 * @example
 * const settings = { orgs: [{ name: "acme", teams: ["ops"] }] };
 * const organizations = [{ name: "acme", teams: ["ops", "dev"] }];
 * admitSourceHostA({ connector: "sourceHostA", settings }, { id: "1", login: "jane", organizations }); // groups: ["acme:ops"]
 */
export function admitSourceHostA({ connector, settings }: Configured<SourceHostASettings>, profile: SourceHostAProfile): SignInDecision {
  const { orgs } = settings;
  const memberships = profile.organizations.flatMap(({ name, teams }) => {
    if (orgs === undefined) return [{ name, teams }];
    // An organisation that is listed twice admits by either entry.
    const entries = orgs.filter((org) => org.name === name && meetsGiven(org.teams, teams));
    if (entries.length === 0) return [];
    return [{ name, teams: teams.filter((team) => entries.some((entry) => meetsGiven(entry.teams, [team]))) }];
  });
  if (orgs !== undefined && memberships.length === 0) return refused("you are in none of the organisations and teams that may sign in");
  return admitted({
    userId: profile.id,
    username: profile.login,
    preferredUsername: profile.login,
    email: profile.email,
    emailVerified: profile.emailVerified,
    groups: memberships.flatMap(({ name, teams }) => teams.map((team) => `${name}:${team}`)),
    extraClaims: undefined,
    connector,
    connectorData: undefined,
  });
}
