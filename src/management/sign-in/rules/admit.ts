import { admitClusterManager, type ClusterManagerProfile } from "./admit-cluster-manager.ts";
import { admitDirectoryProviderA, type DirectoryProviderAProfile } from "./admit-directory-provider-a.ts";
import { admitDirectoryProviderB, type DirectoryProviderBProfile } from "./admit-directory-provider-b.ts";
import { admitOidc } from "./admit-oidc.ts";
import { admitSaml, type SamlAssertion } from "./admit-saml.ts";
import { admitSourceHostA, type SourceHostAProfile } from "./admit-source-host-a.ts";
import { admitSourceHostB, type SourceHostBProfile } from "./admit-source-host-b.ts";
import type { Claims } from "./claims.ts";
import { withoutReserved, type SignInDecision, type Configured } from "../identity.ts";
import type { SignInSettings } from "../settings.ts";

/** The data of each kind of provider about a user. */
interface ClaimsByKind {
  readonly oidc: Claims;
  readonly sourceHostA: SourceHostAProfile;
  readonly sourceHostB: SourceHostBProfile;
  readonly directoryProviderA: DirectoryProviderAProfile;
  readonly directoryProviderB: DirectoryProviderBProfile;
  readonly saml: SamlAssertion;
  readonly clusterManager: ClusterManagerProfile;
}

/** A kind of provider, by the name of its section. */
export type ProviderKind = keyof ClaimsByKind;

/** A provider as it is configured, at the top of `status.auth` or in a connector. */
export interface Provider<Kind extends ProviderKind = ProviderKind> extends Configured<NonNullable<SignInSettings[Kind]>> {
  readonly kind: Kind;
}

const RULES: { readonly [Kind in ProviderKind]: (provider: Provider<Kind>, claims: ClaimsByKind[Kind]) => SignInDecision } = {
  oidc: admitOidc,
  sourceHostA: admitSourceHostA,
  sourceHostB: admitSourceHostB,
  directoryProviderA: admitDirectoryProviderA,
  directoryProviderB: admitDirectoryProviderB,
  saml: admitSaml,
  clusterManager: admitClusterManager,
};

/** The kinds of providers, in the order that determines which section of a connector applies. */
export const PROVIDER_KINDS = Object.keys(RULES) as readonly ProviderKind[];

/**
 * Decides from a provider's data whether a user may sign in, and as which user. Groups and user names that have permissions merely by
 * their name (`system:`, `platform:`) are never accepted from a provider.
 *
 * @example
 * const provider = { kind: "sourceHostB", connector: "code", settings: { groups: ["acme"] } } as const;
 * admit(provider, { id: "1", username: "jane", groups: ["chess"] }); // { admitted: false, reason: … }
 */
export function admit<Kind extends ProviderKind>(provider: Provider<Kind>, claims: ClaimsByKind[Kind]): SignInDecision {
  return withoutReserved(RULES[provider.kind](provider, claims));
}
