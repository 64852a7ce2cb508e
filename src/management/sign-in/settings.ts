/**
 * The part of the platform's configuration that sign-in uses: the section `status.auth`, under the names of the specification.
 * Source: specification 2, status.auth.
 *
 * @module
 */

/** A generic OpenID Connect provider. */
export interface OidcSettings {
  /** The `iss` of its tokens, and the address of its discovery document. */
  readonly issuerUrl?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Address to which it sends users back. Default: `/auth/{connector}/callback` of the platform. */
  readonly redirectURI?: string;
  /** Address to which it sends users after logout. */
  readonly postLogoutRedirectURI?: string;
  /** Path of a PEM file with the only authorities that are trusted for the provider's certificate. Default: those of Node.js. */
  readonly caFile?: string;
  /** Skips the check of the provider's certificate. */
  readonly insecureCa?: boolean;
  /** Claim with the preferred user name. Default `preferred_username`. */
  readonly preferredUsername?: string;
  /** Claim with the user name. Default: the preferred user name, else the email address, else the id. */
  readonly platformUsernameClaim?: string;
  /** Claim with the user's id. Default `sub`. */
  readonly usernameClaim?: string;
  /** Claim with the email address. Default `email`. */
  readonly emailClaim?: string;
  readonly allowedExtraClaims?: readonly string[];
  readonly usernamePrefix?: string;
  /** Claim with the groups, a string or a list of strings. Default `groups`. */
  readonly groupsClaim?: string;
  /** If not empty, only members of at least one of these groups may sign in. Without `groupsPrefix`, as at the provider. */
  readonly groups?: readonly string[];
  /** Default `email` and `profile`. `openid` is always requested. */
  readonly scopes?: readonly string[];
  readonly getUserInfo?: boolean;
  readonly groupsPrefix?: string;
  readonly resource?: string;
  /** Page that the provider shows at each login. Default: the provider decides. */
  readonly prompt?: "consent" | "login" | "select_account";
}

/** The platform as a client of a provider. */
export interface ClientSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Address to which the provider sends users back. Default: `/auth/{connector}/callback` of the platform. */
  readonly redirectURI?: string;
}

/** A host of source code with organisations and teams. */
export interface SourceHostASettings extends ClientSettings {
  /** Host of an enterprise edition. Default: the public service. */
  readonly hostName?: string;
  /** Path of a PEM file with the only authorities that are trusted for the certificate of `hostName`. Default: those of Node.js. */
  readonly rootCA?: string;
  /** Only members of at least one may sign in and, if it lists teams, only members of one of these teams. An empty list admits no one. */
  readonly orgs?: readonly { readonly name: string; readonly teams?: readonly string[] }[];
}

/** A host of source code with groups. */
export interface SourceHostBSettings extends ClientSettings {
  /** Address of the host. Default: the public service. */
  readonly baseURL?: string;
  /** Only members of at least one of these may sign in, and other groups are dropped. An empty list admits no one. */
  readonly groups?: readonly string[];
}

/** A directory with hosted domains. */
export interface DirectoryProviderASettings extends ClientSettings {
  /** Default `profile` and `email`. `openid` is always requested. */
  readonly scopes?: readonly string[];
  readonly hostedDomains?: readonly string[];
  readonly groups?: readonly string[];
  /** Path of the service account's key file, for requesting groups from the directory. */
  readonly serviceAccountFilePath?: string;
  /** Administrator on whose behalf groups are listed. */
  readonly adminEmail?: string;
}

/** A directory with tenants. */
export interface DirectoryProviderBSettings extends ClientSettings {
  /** `common` (default), `consumers`, `organizations`, or the id or name of a tenant. */
  readonly tenant?: string;
  readonly groups?: readonly string[];
  readonly onlySecurityGroups?: boolean;
  readonly useGroupsAsWhitelist?: boolean;
}

/** A SAML identity provider. */
export interface SamlSettings {
  /** The only destination that a response may have, and its audience unless `entityIssuer` is set. Default: as for other providers. */
  readonly redirectURI?: string;
  /** Address to which the browser posts requests, by HTTPS. */
  readonly ssoURL?: string;
  /** The certificates that responses are signed with, in base64: one after another in PEM, or one in DER. Takes precedence over `ca`. */
  readonly caData?: string;
  /** Path of a PEM file with these certificates. */
  readonly ca?: string;
  /** Disables the check of signatures if neither `ca` nor `caData` is set: anyone can sign in as anyone. */
  readonly insecureSkipSignatureValidation?: boolean;
  /** Attribute with the user name. Default: the name id is the user name. */
  readonly usernameAttr?: string;
  readonly emailAttr?: string;
  readonly groupsAttr?: string;
  /** Issuer of the platform's requests, and the audience that an assertion must have. */
  readonly entityIssuer?: string;
  readonly ssoIssuer?: string;
  readonly groupsDelim?: string;
  readonly allowedGroups?: readonly string[];
  readonly filterGroups?: boolean;
  /** The full name of the format of the name id, as the effective configuration shows it. */
  readonly nameIDPolicyFormat?: string;
}

/** A product that manages clusters, whose users sign in with one of its tokens. */
export interface ClusterManagerSettings {
  /** Host name, without a scheme. */
  readonly host?: string;
  /** An administrator's API key, for requesting data about users. */
  readonly bearerToken?: string;
  /** Skips the check of the host's certificate. */
  readonly insecure?: boolean;
}

/** The providers that can be set at the top of `status.auth` and in each of its connectors. */
export interface ProviderSections {
  readonly oidc?: OidcSettings | undefined;
  readonly sourceHostA?: SourceHostASettings | undefined;
  readonly sourceHostB?: SourceHostBSettings | undefined;
  readonly directoryProviderA?: DirectoryProviderASettings | undefined;
  readonly directoryProviderB?: DirectoryProviderBSettings | undefined;
  readonly saml?: SamlSettings | undefined;
}

/** The part of `status.auth` that sign-in uses. */
export interface SignInSettings extends ProviderSections {
  readonly clusterManager?: ClusterManagerSettings | undefined;
  readonly password?: { readonly disabled?: boolean | undefined } | undefined;
  readonly connectors?: readonly (ProviderSections & { readonly id: string; readonly displayName?: string })[] | undefined;
  /** Groups of providers, with the names there, whose members administer the platform while they are signed in. */
  readonly administrators?: readonly { readonly connector: string; readonly group: string }[] | undefined;
  readonly customHttpHeaders?: Readonly<Record<string, string>> | undefined;
  readonly groupsFilters?: readonly string[] | undefined;
}
