/**
 * Claims of a token for a cluster: written by the platform that signs it, read by the clusters that accept it. Both use this module, and
 * each runs without the other.
 *
 * @module
 */
import type { AccessScope } from "./types.ts";

/** The identity in the claim `platform` of a token. Groups and roles are those at the time of signing. */
export interface PlatformClaim {
  /** The platform's user; of `user`, `team` and `subject` at most one is present. */
  readonly user?: string;
  readonly team?: string;
  readonly subject?: string;
  readonly groups: readonly string[];
  /** Names of ClusterRoles that the bearer has in every cluster that has them. */
  readonly clusterRoles: readonly string[];
  /** All of them must allow a request; an empty list means no limit. */
  readonly scopes: readonly AccessScope[];
  /** Name of the access key that requested the token. */
  readonly accessKey?: string;
}

/** Longest token that clusters accept, in characters: its request must fit into the 16 KiB that servers read of headers. */
export const TOKEN_LENGTH_MAX = 12_288;

/** Algorithms of tokens' signatures; a token that names any other is refused. */
export const TOKEN_ALGORITHMS = ["ES256", "RS256"] as const;

/** One of {@link TOKEN_ALGORITHMS}. */
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];
