/**
 * The reference page of the platform's configuration.
 *
 * @module
 */
import { effectOf } from "../../src/management/config/effects.ts";
import { SYNC_INTERVAL_MAX_MS, SYNC_INTERVAL_MIN_MS } from "../../src/management/config/limits.ts";
import { VAULT_ADDRESS_VARIABLE } from "../../src/management/config/effective.ts";
import { AUDIT_RULE } from "../../src/management/config/schema/audit-schema.ts";
import { CONNECTOR } from "../../src/management/config/schema/auth-schema.ts";
import { MANAGEMENT_SCHEMA } from "../../src/management/config/schema/config-schema.ts";
import { COST_SETTINGS, METRICS, REQUIREMENTS } from "../../src/management/config/schema/cost-schema.ts";
import { PROVIDERS } from "../../src/management/config/schema/provider-schema.ts";
import { REDACTED, SECRET_SETTINGS } from "../../src/management/config/secrets.ts";
import type { ObjectSchema, Schema } from "../../src/schema/schema.ts";
import { code, GENERATED, prose, table } from "./markdown.ts";
import { fieldPaths, schemaTable } from "./schema-tables.ts";

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

/** Every field that has no further fields, with what it becomes. Providers of connectors are told of once, in `auth`. */
function effectsTable(): string {
  const fields = fieldPaths(MANAGEMENT_SCHEMA).filter((field) => !/^auth\.connectors\[\]\.(?!id$|displayName$)/.test(field));
  const leaves = fields.filter((field) => !fields.some((other) => other.startsWith(`${field}.`) || other.startsWith(`${field}[]`)));
  const rows = leaves.map((field) => {
    const effect = effectOf(field);
    return "acts" in effect
      ? [code(field), "yes", prose(effect.acts)]
      : [code(field), "shown only", prose(`${effect.shownOnly}; the setting would need ${effect.needs}`)];
  });
  return table(["setting", "has an effect", "effect, or what is missing"], rows);
}

/** `reference/management-config.md`: the configuration of the platform. */
export function managementConfigPage(): string {
  const secrets = SECRET_SETTINGS.map((field) => `- ${code(field)}\n`);
  const tables = PARTS.map(([heading, schema]) => `\n## ${heading}\n\n${schemaTable(schema, { elsewhere: ELSEWHERE })}`);
  return `${GENERATED}
# Platform configuration

One YAML file configures the platform. Its top level has the same form as \`status\` of the resource \`Config\`, where the
defaults are filled in. An empty file is valid. Unknown fields are reported as errors, with a suggested name, and all problems are reported at once, with file, line
and column. The file is read again while the service runs; if it has errors, they are reported and the previous configuration stays in effect.

\`\`\`yaml
auth:
  accessKeyMaxTTLSeconds: 36000
  loginAccessKeyTTLSeconds: 60
  customHttpHeaders:
    X-My-Header: my-value
\`\`\`

## Which settings have an effect

Every setting is validated and shown. Settings with "yes" also change what the service does; for other settings, the table lists what is missing. If the file sets such a setting, a warning reports its position, and the condition \`FullyInEffect\` of the object \`config\`
reports it to administrators. Settings of a connector's provider have the same effect as in \`auth\`.

${effectsTable()}
## Rules

- A SAML section requires \`caData\` (in base64), \`ca\` or \`insecureSkipSignatureValidation: true\`.
- \`serviceAccountFilePath\` requires \`adminEmail\`.
- The id of a connector must differ from the ids of other connectors and the names of sections of \`auth\`.
- \`groupsFilters\` use RE2 syntax, without lookaround or backreferences. Matching takes time linear in the length of the name, regardless of
  the expression. A name longer than 1,024 characters matches no filter.
- A name in \`customHttpHeaders\` may occur only once, regardless of case. Headers that the server sets itself, such as \`Content-Length\`,
  are left out, with a warning.
- \`audit.path\` is required when \`audit.enabled\` is true; \`audit.level\` and \`audit.policy\` cannot be combined.
- Amounts are Kubernetes quantities. A resource request cannot exceed its limit, and defaults to the limit.
- \`storageClass\`: null means the default of the cluster; an empty string or \`-\` means no dynamic provisioning. \`status\` leaves out null.
- If \`vault.address\` is omitted, the environment variable \`${VAULT_ADDRESS_VARIABLE}\` of the service applies.
- Addresses, paths, hosts, domains, email addresses, colours, times and amounts must have a certain form, which the tables below
  describe. Images and links of \`uiSettings\` and \`apps\` must be addresses or paths, so that they cannot be scripts.
- \`vault.syncInterval\` is from ${SYNC_INTERVAL_MIN_MS / 1_000}s to ${SYNC_INTERVAL_MAX_MS / 3_600_000}h.
- Deprecated sections, settings that are only shown, and settings that others override cause warnings.

## Secrets

Administrators see the whole configuration. Other users who may read it see \`${REDACTED}\` in place of these settings, and in place of the user
and password in any address. Error messages and warnings do not quote secret settings.

${secrets.join("")}
## Fields

${schemaTable(MANAGEMENT_SCHEMA, { elsewhere: ELSEWHERE })}${tables.join("")}`;
}
