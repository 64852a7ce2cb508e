/**
 * The sections of sign-in providers, which `auth` and each of its connectors share.
 *
 * @module
 */
import type { ObjectSchema } from "../../../schema/schema.ts";
import { flag, textField, texts } from "./fields.ts";
import { formField, formList } from "./forms.ts";

/** Address of sourceHostB's public service. */
export const SOURCE_HOST_B_URL = "https://gitlab.com";

/** Default format of a SAML name identifier. */
export const NAME_ID_DEFAULT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";

const CLIENT = {
  clientId: formField("line", "Id of the platform as a client of the provider."),
  clientSecret: formField("secret", "Client secret that the provider issued to the platform."),
  redirectURI: formField(
    "web",
    "Callback address of the platform, to which the provider sends users back. Default: `/auth/{connector}/callback`.",
  ),
} as const;

/** Generic OpenID Connect. */
export const OIDC = {
  type: "object",
  name: "ConfigOIDC",
  description: "An OpenID Connect provider.",
  fields: {
    issuerUrl: formField("web", "Address of the provider, as in the `iss` claim of its tokens. The provider must support discovery."),
    clientId: formField(
      "line",
      "Id of the client that tokens must be issued for. If a token has an `azp` claim, it must name this client as well.",
    ),
    clientSecret: formField("secret", "Client secret that the provider issued to the platform."),
    redirectURI: formField("web", "Callback address of the platform. Default: `/auth/{connector}/callback`."),
    postLogoutRedirectURI: formField("web", "Address of the platform to which the provider sends users after logout."),
    caFile: formField("path", "Path of a PEM file with the root certificate of the provider."),
    insecureCa: flag("Do not check the provider's TLS certificate."),
    preferredUsername: formField("attributeName", "Claim that contains the preferred username. Default: `preferred_username`."),
    platformUsernameClaim: formField(
      "attributeName",
      "Claim that contains the user name. Default: the preferred username, the email address or the id, whichever exists first.",
    ),
    usernameClaim: formField("attributeName", "Claim that contains the user's id. Default: `sub`."),
    emailClaim: formField("attributeName", "Claim that contains the email address. Default: `email`."),
    allowedExtraClaims: formList("attributeName", "Names of additional claims that are stored in the sign-in key."),
    usernamePrefix: formField("line", "Prefix that is added to each username."),
    groupsClaim: formField(
      "attributeName",
      "Claim that contains the groups; its value is a string or a list of strings. Default: `groups`.",
    ),
    groups: texts("When not empty, only members of at least one of these groups may sign in."),
    scopes: {
      ...formList("scope", "Requested scopes. An empty list means the default."),
      default: ["email", "profile"],
    },
    getUserInfo: flag("Also read claims from the UserInfo endpoint."),
    groupsPrefix: formField("line", "Prefix that is added to each group name."),
    type: formField("line", "Type that the user interface shows; it has no other effect."),
    resource: formField("web", "Value of the `resource` parameter of sign-in and token requests."),
    prompt: {
      type: "literals",
      values: ["consent", "login", "select_account"],
      description: "Value of the `prompt` parameter of sign-in requests. Some providers return a refresh token only with `consent`.",
    },
  },
} as const satisfies ObjectSchema;

/** The first host of source code: organisations with teams. */
export const SOURCE_HOST_A = {
  type: "object",
  name: "ConfigSourceHostA",
  description: "A source code host with organisations and teams. Groups are `organisation:team`.",
  fields: {
    ...CLIENT,
    orgs: {
      type: "list",
      description: "When set, only members of at least one of these organisations may sign in.",
      items: {
        type: "object",
        description: "An organisation.",
        fields: {
          name: { ...formField("attributeName", "Full name of the organisation."), required: true, minLength: 1 },
          teams: texts(
            "When set, only members of at least one of these teams may sign in; otherwise, every member of the organisation may.",
          ),
        },
      },
    },
    hostName: formField("host", "Host name of an enterprise edition. Default: the public service."),
    rootCA: formField("path", "Path of a PEM file with the root certificate of the enterprise edition. Has no effect without hostName."),
  },
} as const satisfies ObjectSchema;

/** The second host of source code: groups. */
export const SOURCE_HOST_B = {
  type: "object",
  name: "ConfigSourceHostB",
  description: "A source code host with groups.",
  fields: {
    ...CLIENT,
    baseURL: { ...formField("web", "Address of the host. Default: its public service."), default: SOURCE_HOST_B_URL },
    groups: texts(
      "When set, only members of at least one of these groups may sign in, and other groups are dropped. Default: all groups of a user.",
    ),
  },
} as const satisfies ObjectSchema;

/** The first directory: domains and groups. */
export const DIRECTORY_PROVIDER_A = {
  type: "object",
  name: "ConfigDirectoryProviderA",
  description: "A directory of accounts with hosted domains.",
  fields: {
    ...CLIENT,
    scopes: { ...formList("scope", "Requested scopes. An empty list means the default."), default: ["profile", "email"] },
    hostedDomains: formList("domain", "When not empty, only users of these domains may sign in."),
    groups: texts("When not empty, only members of at least one of these groups may sign in."),
    serviceAccountFilePath: formField(
      "path",
      "Path of the key file of the service account that reads groups from the directory. Requires adminEmail.",
    ),
    adminEmail: formField("email", "Administrator on whose behalf groups are listed. Required with serviceAccountFilePath."),
  },
} as const satisfies ObjectSchema;

/** The second directory: tenants and groups. */
const DIRECTORY_PROVIDER_B = {
  type: "object",
  name: "ConfigDirectoryProviderB",
  description: "A directory of accounts with tenants.",
  fields: {
    ...CLIENT,
    tenant: {
      ...formField(
        "tenant",
        "`common` for personal and organisation accounts, `consumers` or `organizations` for one of the two, or the uuid or name of a tenant.",
      ),
      default: "common",
    },
    groups: texts("When not empty, only members of at least one of these groups may sign in."),
    onlySecurityGroups: flag("Use only security groups, not all types of groups."),
    useGroupsAsWhitelist: flag("Use only the groups listed in `groups`."),
  },
} as const satisfies ObjectSchema;

/** `saml`: a provider that signs assertions. */
export const SAML = {
  type: "object",
  name: "ConfigSAML",
  description: "A SAML provider. Requires caData, ca or insecureSkipSignatureValidation.",
  fields: {
    redirectURI: formField(
      "web",
      "Callback address of the platform, exactly as in the Destination of responses. Default: `/auth/{connector}/callback`.",
    ),
    ssoURL: formField("web", "Address of the provider to which browsers post sign-in requests, over https."),
    caData: textField("Certificates that responses are signed with, encoded as base64: one or more in PEM, or one in DER."),
    ca: formField("path", "Path of a PEM file with the certificates that responses are signed with."),
    insecureSkipSignatureValidation: flag(
      "Do not check the signature of responses: anyone can impersonate any user. Has no effect when ca or caData is set.",
    ),
    usernameAttr: formField("attributeName", "Attribute that contains the username. Default: the name identifier."),
    emailAttr: formField("attributeName", "Attribute that contains the email address. If omitted, the email address is unknown."),
    groupsAttr: formField("attributeName", "Attribute that contains the groups. If omitted, users have no groups."),
    entityIssuer: formField(
      "line",
      "Issuer of requests, and the required audience of responses. If omitted, requests have no issuer, and the audience is redirectURI.",
    ),
    ssoIssuer: formField("line", "Issuer that responses must have. If omitted, any issuer is accepted."),
    groupsDelim: textField("When set, the groups are one string, which is split at this delimiter."),
    allowedGroups: texts("When not empty, only members of at least one of these groups may sign in."),
    filterGroups: flag("Use only the groups listed in allowedGroups."),
    nameIDPolicyFormat: {
      ...formField(
        "word",
        "Format of the name identifier. A short value such as `emailAddress` is appended to `urn:oasis:names:tc:SAML:1.1:nameid-format:`.",
      ),
      default: NAME_ID_DEFAULT,
    },
  },
} as const satisfies ObjectSchema;

/** The sections of sign-in providers, by name. */
export const PROVIDERS = {
  oidc: OIDC,
  sourceHostA: SOURCE_HOST_A,
  sourceHostB: SOURCE_HOST_B,
  directoryProviderA: DIRECTORY_PROVIDER_A,
  directoryProviderB: DIRECTORY_PROVIDER_B,
  saml: SAML,
} as const;

/** Name of a provider's section. */
export type ProviderName = keyof typeof PROVIDERS;

/** The names of the sections, in the order of the schema. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[];
