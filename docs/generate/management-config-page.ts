/**
 * The reference page of the platform's configuration.
 *
 * @module
 */
import { VAULT_ADDRESS_VARIABLE } from "../../src/management/config/effective.ts";
import { AUDIT_RULE } from "../../src/management/config/schema/audit-schema.ts";
import { CONNECTOR } from "../../src/management/config/schema/auth-schema.ts";
import { MANAGEMENT_SCHEMA } from "../../src/management/config/schema/config-schema.ts";
import { COST_SETTINGS, METRICS, REQUIREMENTS } from "../../src/management/config/schema/cost-schema.ts";
import { PROVIDERS } from "../../src/management/config/schema/provider-schema.ts";
import { REDACTED, SECRET_SETTINGS } from "../../src/management/config/secrets.ts";
import type { ObjectSchema, Schema } from "../../src/schema/schema.ts";
import { code, GENERATED } from "./markdown.ts";
import { schemaTable } from "./schema-tables.ts";

/** Settings that change what the service does; all others are checked and shown, and nothing else. */
export const ACTING_SETTINGS: Readonly<Record<string, string>> = {
  "auth.oidc": "people sign in by it",
  "auth.connectors[].oidc": "people sign in by it, with the connector's id in the address",
  "auth.sourceHostA": "people sign in by it",
  "auth.sourceHostB": "people sign in by it",
  "auth.directoryProviderA": "people sign in by it",
  "auth.directoryProviderB": "people sign in by it",
  "auth.connectors[].sourceHostA": "people sign in by it, with the connector's id in the address",
  "auth.connectors[].sourceHostB": "people sign in by it, with the connector's id in the address",
  "auth.connectors[].directoryProviderA": "people sign in by it, with the connector's id in the address",
  "auth.connectors[].directoryProviderB": "people sign in by it, with the connector's id in the address",
  "auth.connectors[].displayName": "the page of sign-in names it so",
  "auth.clusterManager": "people sign in by a token of it",
  "auth.administrators": "who administers by a group of the provider's",
  "auth.identityRefreshSeconds": "how soon a login follows what the provider says",
  "auth.identityStaleSeconds": "how long a login is good without the provider",
  "auth.password.disabled": "nobody signs in by password",
  "auth.password.minLength": "shorter passwords are not taken any more, for any user",
  "auth.plainNamesConnector": "whose user names and groups mean what rules and teams name",
  "auth.disableTeamCreation": "a sign-in makes no teams",
  "auth.disableUserCreation": "a sign-in makes no user",
  "auth.accessKeyMaxTTLSeconds": "access keys end earlier",
  "auth.loginAccessKeyTTLSeconds": "keys of sign-ins end earlier, later or never",
  "auth.customHttpHeaders": "the headers are on the answers of the authentication endpoints",
  "auth.groupsFilters": "other groups are not taken over at sign-in",
  "audit.enabled": "requests leave lines in a file",
  "audit.level": "which requests leave which line",
  "audit.policy": "which requests leave which line",
  "audit.path": "where the file is",
  "audit.maxAge": "when rotated files go",
  "audit.maxBackups": "how many rotated files stay",
  "audit.maxSize": "when the file is rotated",
  "audit.compress": "rotated files are compressed",
  "uiSettings.logoURL": "the pages of sign-in show it",
  "uiSettings.faviconURL": "the pages of sign-in have it",
  "uiSettings.logoBackgroundColor": "the logo stands on it",
  "uiSettings.primaryColor": "buttons of the pages of sign-in have it",
  "uiSettings.accentColor": "what has the focus on the pages of sign-in is framed in it",
  "uiSettings.legalTemplate": "the pages of sign-in show it, with a few elements and links alone",
  "uiSettings.externalURLs": "the pages of sign-in show no image of another site that it blocks",
  projectNamespacePrefix: "scopes know the namespaces of projects by it",
};

/** Objects that occur at several places have a table of their own below. */
const PARTS: readonly [heading: string, schema: ObjectSchema][] = [
  ["Connector", CONNECTOR],
  ["Provider oidc", PROVIDERS.oidc],
  ["Provider sourceHostA", PROVIDERS.sourceHostA],
  ["Provider sourceHostB", PROVIDERS.sourceHostB],
  ["Provider directoryProviderA", PROVIDERS.directoryProviderA],
  ["Provider directoryProviderB", PROVIDERS.directoryProviderB],
  ["Provider saml", PROVIDERS.saml],
  ["Audit rule", AUDIT_RULE],
  ["Metrics", METRICS],
  ["Cost settings", COST_SETTINGS],
  ["Resource requirements", REQUIREMENTS],
];

const ELSEWHERE = new Map<Schema, string>(PARTS.map(([heading, schema]) => [schema, link(heading)]));

function link(heading: string): string {
  return `See [${heading}](#${heading.toLowerCase().replaceAll(" ", "-")}).`;
}

/** Links of objects; those of lists are the table's own. */
function notesOf(schema: ObjectSchema, prefix = ""): [string, string][] {
  return Object.entries(schema.fields).flatMap(([name, field]): [string, string][] => {
    const target = ELSEWHERE.get(field);
    if (target !== undefined) return [[prefix + name, `${field.description} ${target}`]];
    return field.type === "object" ? notesOf(field, `${prefix}${name}.`) : [];
  });
}

function part(schema: ObjectSchema): string {
  return schemaTable(schema, { elsewhere: ELSEWHERE, notes: Object.fromEntries(notesOf(schema)) });
}

/** `reference/management-config.md`: the configuration of the platform. */
export function managementConfigPage(): string {
  const acting = Object.entries(ACTING_SETTINGS).map(([field, effect]) => `- ${code(field)}: ${effect}\n`);
  const secrets = SECRET_SETTINGS.map((field) => `- ${code(field)}\n`);
  const tables = PARTS.map(([heading, schema]) => `\n## ${heading}\n\n${part(schema)}`);
  return `${GENERATED}
# Platform configuration

One YAML file configures the platform. Its top level is what \`status\` of the resource \`Config\` shows; there the defaults are
filled in. An empty file is valid. Unknown fields are errors with a suggestion, and every problem is told at once, with file, line
and column. The file is read again while the service runs; one with errors is told, and the old configuration stays.

\`\`\`yaml
auth:
  accessKeyMaxTTLSeconds: 36000
  loginAccessKeyTTLSeconds: 60
  customHttpHeaders:
    X-My-Header: my-value
\`\`\`

## What acts

These settings change what the service does:

${acting.join("")}
All others are checked by their rules and shown, for those who read them. Nothing signs in by the other providers, no vault is
called, no app is installed, and no service is started for costs, metrics and images.

## Rules

- A SAML section has one of \`caData\` (in base64), \`ca\` and \`insecureSkipSignatureValidation: true\`.
- \`serviceAccountFilePath\` needs \`adminEmail\`.
- Each connector has an id, and no other connector or section of \`auth\` has the same.
- \`groupsFilters\` are in the syntax of RE2, without looking around and back-references. Their matching takes time that is linear in
  the name, whatever the expression; a name longer than 1,024 characters matches none.
- A name in \`customHttpHeaders\` occurs once in any case. Headers that the answers set themselves, such as \`Content-Length\`, are left
  out, with a warning.
- \`audit.path\` is required when \`audit.enabled\` is true; \`audit.level\` and \`audit.policy\` exclude each other.
- Amounts are those of Kubernetes. A request is at most its limit, and is the limit when it is left out.
- \`storageClass\`: null is the default of the cluster; an empty text or \`-\` is no dynamic provisioning. \`status\` leaves out null.
- \`vault.address\` is the variable \`${VAULT_ADDRESS_VARIABLE}\` of the service when it is left out.
- Deprecated sections, and settings that have no effect beside others, are warnings.

## Secrets

Administrators see the whole configuration. Others who may read it see \`${REDACTED}\` in place of these settings, and of user and
password in any address. Problems do not quote them.

${secrets.join("")}
## Fields

${part(MANAGEMENT_SCHEMA)}${tables.join("")}`;
}
