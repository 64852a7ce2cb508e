import { chosenBy, meetsGiven, withoutCase } from "./claims.ts";
import { admitted, refused, type SignInDecision, type Configured } from "../identity.ts";
import type { SourceHostBSettings } from "../settings.ts";

/** The source host's data about a user. */
export interface SourceHostBProfile {
  readonly id: string;
  readonly username: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly groups: readonly string[];
}

/**
 * Admits users of a source host with groups. If groups are set, the user must be in at least one, and other groups are dropped. Their paths
 * are compared without regard to case. Source: specification 2, sourceHostB.
 *
 * @example
 * const profile = { id: "1", username: "jane", groups: ["acme/ops", "chess"] };
 * admitSourceHostB({ connector: "sourceHostB", settings: { groups: ["acme/ops"] } }, profile); // groups: ["acme/ops"]
 */
export function admitSourceHostB({ connector, settings }: Configured<SourceHostBSettings>, profile: SourceHostBProfile): SignInDecision {
  if (!meetsGiven(settings.groups, profile.groups, withoutCase)) return refused("none of your groups is allowed to sign in");
  return admitted({
    userId: profile.id,
    username: profile.username,
    preferredUsername: profile.username,
    email: profile.email,
    emailVerified: profile.emailVerified,
    groups: profile.groups.filter(chosenBy(settings.groups, withoutCase)),
    extraClaims: undefined,
    connector,
    connectorData: undefined,
  });
}
