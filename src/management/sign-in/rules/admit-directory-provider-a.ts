import { meets, withoutCase } from "./claims.ts";
import { admitted, refused, type SignInDecision, type Configured } from "../identity.ts";
import type { DirectoryProviderASettings } from "../settings.ts";

/** The directory's data about a user. */
export interface DirectoryProviderAProfile {
  readonly id: string;
  readonly email: string;
  readonly emailVerified?: boolean;
  /** The domain of the account, from a claim of its own: the end of an email address proves nothing. Personal accounts have none. */
  readonly hostedDomain?: string;
  /** From the directory's own API; undefined when it is not used. */
  readonly groups?: readonly string[];
}

/**
 * Admits users of a directory with hosted domains. If domains are set, the account must be in one of them; if groups are set, the user must
 * be in at least one. Source: specification 2, directoryProviderA.
 *
 * @example
 * const profile = { id: "1", email: "jane@acme.example", hostedDomain: "acme.example" };
 * admitDirectoryProviderA({ connector: "directoryProviderA", settings: { hostedDomains: ["acme.example"] } }, profile);
 */
export function admitDirectoryProviderA(
  { connector, settings }: Configured<DirectoryProviderASettings>,
  profile: DirectoryProviderAProfile,
): SignInDecision {
  const { id, email, emailVerified, hostedDomain, groups = [] } = profile;
  if (!meets(settings.hostedDomains, hostedDomain === undefined ? [] : [hostedDomain], withoutCase)) {
    return refused("your account does not belong to a domain that is allowed to sign in");
  }
  if (!meets(settings.groups, groups, withoutCase)) return refused("none of your groups is allowed to sign in");
  return admitted({
    userId: id,
    username: email,
    preferredUsername: undefined,
    email,
    emailVerified,
    groups,
    extraClaims: undefined,
    connector,
    connectorData: undefined,
  });
}
