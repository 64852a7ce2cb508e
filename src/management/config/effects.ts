/**
 * The effect of each setting: one table for the reference, for the warnings of a file, and for the condition of the object `config`.
 *
 * @module
 */

/** Whether a setting has an effect, or is only checked and shown. */
export type Effect =
  | {
      /** Its effect. */
      readonly acts: string;
    }
  | {
      /** Why it is only shown. */
      readonly shownOnly: string;
      /** The component that would have to read it to give it an effect. */
      readonly needs: string;
    };

const acts = (where: string): Effect => ({ acts: where });
const shownOnly = (why: string, needs: string): Effect => ({ shownOnly: why, needs });

const INTERFACE = shownOnly("the service has no user interface other than the sign-in page", "a user interface of the platform");
const APPS = shownOnly("the service installs no charts", "a chart installer");
const COSTS = shownOnly("the service does not measure costs", "an operator for metrics and costs");
const BUILDS = shownOnly("the service builds no images", "an image builder");

/**
 * Setting → its effect; `[]` is any item of a list. A setting without a row has the effect of its nearest parent. The settings of a
 * connector have the same effects as those in `auth`.
 */
export const EFFECTS: Readonly<Record<string, Effect>> = {
  "auth.oidc": acts("used when users sign in with this provider"),
  "auth.oidc.type": shownOnly("the sign-in page shows no images of providers", "a user interface of the platform"),
  "auth.sourceHostA": acts("used when users sign in with this provider"),
  "auth.sourceHostB": acts("used when users sign in with this provider"),
  "auth.directoryProviderA": acts("used when users sign in with this provider"),
  "auth.directoryProviderB": acts("used when users sign in with this provider"),
  "auth.saml": acts("used when users sign in with this provider"),
  "auth.clusterManager": acts("used when users sign in with a token of the cluster manager"),
  "auth.administrators": acts("members of a provider's group become administrators"),
  "auth.identityRefreshSeconds": acts("changes at the provider take effect on a login within this time"),
  "auth.identityStaleSeconds": acts("a login remains valid this long while the provider cannot be reached"),
  "auth.password.disabled": acts("if true, no user can sign in with a password"),
  "auth.password.minLength": acts("shorter new passwords are refused for every user"),
  "auth.connectors": acts("users sign in with the connector's provider, at an address that contains the connector's id"),
  "auth.connectors[].displayName": acts("the sign-in page shows this name"),
  "auth.plainNamesConnector": acts("user names and groups of this connector are used unchanged in rules, owners and teams"),
  "auth.disableTeamCreation": acts("if true, a sign-in creates no teams"),
  "auth.disableUserCreation": acts("if true, a sign-in creates no user"),
  "auth.accessKeyMaxTTLSeconds": acts("access keys expire after at most this time"),
  "auth.loginAccessKeyTTLSeconds": acts("determines when sign-in keys expire"),
  "auth.customHttpHeaders": acts("the headers are added to responses of the authentication endpoints"),
  "auth.groupsFilters": acts("groups that match no filter are dropped at sign-in"),
  oidc: shownOnly("the service is not an OpenID Connect provider", "an implementation of one"),
  apps: APPS,
  "audit.enabled": acts("requests are logged in a file"),
  "audit.disableAgentSyncBack": shownOnly("no agents send audit lines to the service", "agents in connected clusters"),
  "audit.level": acts("determines which requests are logged, and in how much detail"),
  "audit.policy": acts("determines which requests are logged, and in how much detail"),
  "audit.policy.rules[].clusters": acts("a rule that names clusters matches no request to the service itself"),
  "audit.dataStoreEndpoint": acts(
    "lines are written to this database too, and administrators can read them at /kubernetes/management/audit/events",
  ),
  "audit.dataStoreTTL": acts("lines older than this are deleted from the database"),
  "audit.path": acts("audit lines are written to this file"),
  "audit.maxAge": acts("rotated files older than this are removed"),
  "audit.maxBackups": acts("at most this number of rotated files is kept"),
  "audit.maxSize": acts("the file is rotated at this size"),
  "audit.compress": acts("rotated files are compressed"),
  platformHost: shownOnly("the flag --public-url sets the public address of the service", "code that uses it"),
  projectNamespacePrefix: acts("scopes recognize the namespaces of projects by this prefix"),
  devWorkspaceSubDomain: shownOnly("the service runs no workspaces", "a workspace server"),
  uiSettings: acts("the sign-in page uses this setting"),
  "uiSettings.platformVersion": INTERFACE,
  "uiSettings.smallLogoURL": INTERFACE,
  "uiSettings.sidebarColor": INTERFACE,
  "uiSettings.customJavaScript": INTERFACE,
  "uiSettings.navBarButtons": INTERFACE,
  "uiSettings.externalURLs": acts("if block is true, the sign-in page shows images from other sites only if allow contains them"),
  vault: acts("secrets from the vault are copied into the SharedSecrets that name them"),
  "vault.skipTLSVerify": acts("if true, the vault's certificate is not checked"),
  "vault.syncInterval": acts("determines the time between two rounds of copying"),
  "vault.requestTimeoutSeconds": acts("a request to the vault fails after this time (Unavailable)"),
  "vault.answerMaxKiB": acts("larger responses from the vault are refused (TooLarge)"),
  "vault.auth.tokenSecretRef": shownOnly(
    "the service reads no Secrets of a cluster",
    "access to a cluster. Instead, mount the Secret and specify its file in tokenFile",
  ),
  costControl: COSTS,
  platformDB: shownOnly("flags determine where the service keeps its data", "an operator that installs a database"),
  imageBuilder: BUILDS,
};

/**
 * The effect of a setting.
 *
 * @example
 * effectOf("auth.connectors[].oidc.issuerUrl"); // { acts: "used when users sign in with this provider" }
 */
export function effectOf(field: string): Effect {
  const name = field.replace(/^auth\.connectors\[\]\.(?!id$|displayName$)/, "auth.");
  for (let around = name; around !== ""; around = around.replace(/(?:\[\]|(?:^|\.)[^.[]+)$/, "")) {
    const effect = EFFECTS[around];
    if (effect !== undefined) return effect;
  }
  return shownOnly("nothing reads it", "a feature that uses it");
}

/** Reports whether any setting of a section has an effect. */
export function actsWithin(field: string): boolean {
  if ("acts" in effectOf(field)) return true;
  return Object.entries(EFFECTS).some(([name, effect]) => "acts" in effect && name.startsWith(`${field}.`));
}
