/**
 * Every field of the specification's Config has a row in the reference's table of effects, and where it acts a test outside of the
 * configuration's own that sets it. Source: specification 2.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { effectOf } from "../../../src/management/config/effects.ts";

const OIDC =
  "issuerUrl clientId clientSecret redirectURI postLogoutRedirectURI caFile insecureCa preferredUsername platformUsernameClaim usernameClaim \
  emailClaim allowedExtraClaims usernamePrefix groupsClaim groups scopes getUserInfo groupsPrefix type resource";
const SAML =
  "redirectURI ssoURL caData ca insecureSkipSignatureValidation usernameAttr emailAttr groupsAttr entityIssuer ssoIssuer groupsDelim \
  allowedGroups filterGroups nameIDPolicyFormat";
const REQUIREMENTS = "requests limits claims[].name claims[].request";

/** Sections as the specification lists them; of those whose parent it does not show, as the schema places them. */
const FIELDS: Readonly<Record<string, string>> = {
  "auth.oidc": OIDC,
  "auth.sourceHostA": "clientId clientSecret redirectURI orgs[].name orgs[].teams hostName rootCA",
  "auth.sourceHostB": "clientId clientSecret redirectURI baseURL groups",
  "auth.directoryProviderA": "clientId clientSecret redirectURI scopes hostedDomains groups serviceAccountFilePath adminEmail",
  "auth.directoryProviderB": "clientId clientSecret redirectURI tenant groups onlySecurityGroups useGroupsAsWhitelist",
  "auth.saml": SAML,
  "auth.clusterManager": "host bearerToken insecure",
  "auth.password": "disabled",
  "auth.connectors[]": "id displayName",
  auth: "disableTeamCreation disableUserCreation accessKeyMaxTTLSeconds loginAccessKeyTTLSeconds customHttpHeaders groupsFilters",
  oidc: "enabled wildcardRedirect clients[].name clients[].clientId clients[].clientSecret clients[].redirectURIs",
  apps: "noDefault",
  "apps.repositories[]": "name url username password insecure",
  "apps.predefinedApps[]": "chart initialVersion initialValues clusters title iconUrl readmeUrl",
  audit:
    "enabled disableAgentSyncBack level policy.rules[].level policy.omitStages dataStoreEndpoint dataStoreTTL path maxAge maxBackups maxSize compress",
  "": "platformHost projectNamespacePrefix devWorkspaceSubDomain",
  uiSettings:
    "platformVersion logoURL faviconURL smallLogoURL logoBackgroundColor primaryColor sidebarColor accentColor legalTemplate customCss \
    customJavaScript externalURLs.block externalURLs.allow",
  "uiSettings.navBarButtons[]": "position text link icon",
  vault: "enabled address skipTLSVerify namespace auth.token",
  "costControl.cluster.metrics": "retention storage.storageClass storage.size",
  "costControl.cluster.costbackend": "replicas",
  "costControl.cluster.costbackend.resources": REQUIREMENTS,
  "costControl.settings":
    "priceCurrency averageCPUPricePerNode.price averageCPUPricePerNode.timePeriod averageRAMPricePerNode.price averageRAMPricePerNode.timePeriod",
  platformDB: "storageClass",
  imageBuilder: "enabled replicas",
  "imageBuilder.resources": REQUIREMENTS,
};
const ALL = Object.entries(FIELDS).flatMap(([section, names]) =>
  names.split(/\s+/).map((name) => (section === "" ? name : `${section}.${name}`)),
);

const ROOT = join(import.meta.dirname, "../../..");
const page = readFileSync(join(ROOT, "docs/reference/management-config.md"), "utf8");
const rows = new Map([...page.matchAll(/^\| `([^`]+)` \| (yes|shown only) \| [^|]+ \|$/gm)].map(([, field, acts]) => [field!, acts!]));
/** Tests of what settings do; those beside this one only read them. */
const tests = globSync("test/{management,cli,docs}/**/*.ts", { cwd: ROOT })
  .filter((file) => !file.startsWith("test/management/config/"))
  .map((file) => readFileSync(join(ROOT, file), "utf8"))
  .join("\n");

test("the specification has 149 fields", () => {
  expect([ALL.length, new Set(ALL).size]).toEqual([149, 149]);
});

test.each(ALL)("%s has its row, and a test where it acts", (field) => {
  // Maps of amounts have a row for each kind of requirement.
  const row =
    rows.get(field) ?? rows.get([...rows.keys()].find((one) => one.startsWith(`${field}.`) || one.startsWith(`${field}[]`)) ?? "");
  expect(row).toBe("acts" in effectOf(field) ? "yes" : "shown only");
  if (row === "shown only") return;
  const name = field.slice(Math.max(field.lastIndexOf("."), field.lastIndexOf("]")) + 1);
  expect(new RegExp(`\\b${name}\\b["']?\\s*[:,}=]`).test(tests), `a test that sets ${name}`).toBe(true);
});
