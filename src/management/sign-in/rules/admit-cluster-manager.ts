import { admitted, refused, type SignInDecision, type Configured } from "../identity.ts";
import type { ClusterManagerSettings } from "../settings.ts";

/** The product's data about a user. */
export interface ClusterManagerProfile {
  readonly id: string;
  readonly username: string;
  readonly enabled: boolean;
  /** Ids of the groups, each with the provider that it comes from. Undefined if they are not known. */
  readonly groups?: readonly string[];
}

/**
 * Admits users of a product that manages clusters, unless it has disabled them.
 *
 * @example
 * const profile = { id: "u-1", username: "jane", enabled: true, groups: ["github_team://1"] };
 * admitClusterManager({ connector: "clusterManager", settings: {} }, profile); // groups: ["github_team://1"]
 */
export function admitClusterManager({ connector }: Configured<ClusterManagerSettings>, profile: ClusterManagerProfile): SignInDecision {
  if (!profile.enabled) return refused("your account is disabled");
  return admitted({
    userId: profile.id,
    username: profile.username,
    preferredUsername: profile.username,
    email: undefined,
    emailVerified: undefined,
    groups: profile.groups ?? [],
    extraClaims: undefined,
    connector,
    connectorData: undefined,
  });
}
