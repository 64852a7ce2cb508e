/**
 * The reference pages of the two files that configure the engine.
 *
 * @module
 */
import { CONFIG_SCHEMA } from "../../src/config/config-schema.ts";
import { PATCH } from "../../src/config/patch-schema.ts";
import { SETTINGS_SCHEMA } from "../../src/config/settings-schema.ts";
import { GENERATED } from "./markdown.ts";
import { schemaTable } from "./schema-tables.ts";

/**
 * Said in place of the schema's description, where the engine checks a section without acting on it.
 * `test/docs.test.ts` holds these against the engine, so that they go when they are no longer true.
 */
export const CONFIG_NOTES: Readonly<Record<string, string>> = {
  "sync.toHost.secrets":
    "Checked and shown to expressions. A reference patch rewrites the name of a Secret; the Secret itself is not copied.",
  "sync.toHost.secrets.enabled": "As above: checked, without effect on what is written.",
  "sync.toHost.configMaps":
    "Checked and shown to expressions. A reference patch rewrites the name of a ConfigMap; the ConfigMap itself is not copied.",
  "sync.toHost.configMaps.enabled": "As above: checked, without effect on what is written.",
};

/** The same for settings, where the engine holds a value to more than the schema does. */
export const SETTINGS_NOTES: Readonly<Record<string, string>> = {};

/** `reference/configuration.md`: what the engine reads of `vcluster.yaml`. */
export function configurationPage(): string {
  const fields = schemaTable(CONFIG_SCHEMA, { elsewhere: new Map([[PATCH, "See [patch](#patch)."]]), notes: CONFIG_NOTES });
  return `${GENERATED}
# Configuration

\`--config vcluster.yaml\` is the virtual cluster's own file. The engine reads \`sync.toHost\` of it and leaves the rest alone. An
unknown field in a section that it acts on is an error with a suggestion, elsewhere a warning at most. An empty file is valid: Endpoints and Services are synced
without patches. \`--config\` may be given several times: maps are merged, and of everything else the last file wins.

\`endpoint-sync validate --config vcluster.yaml\` reports every problem at once, with line and column.
\`endpoint-sync schema config\` prints the JSON schema, for editors. What this engine adds of its own stands in a file of its own,
the [settings](settings.md).

## Fields

${fields}
## Patch

One entry of a \`patches\` list. It is either an expression patch (\`expression\`, \`reverseExpression\`, or both) or a reference patch
(\`reference\`). What expressions and paths can say is in [expressions, paths and patches](expressions.md).

${schemaTable(PATCH)}`;
}

/** `reference/settings.md`: the engine's own settings. */
export function settingsPage(): string {
  return `${GENERATED}
# Settings

\`--settings settings.yaml\` holds what is the engine's own and not the virtual cluster's: limits, address policy, and what happens
when a patch fails. Every field has a default, and no file means all defaults. \`endpoint-sync validate --config vcluster.yaml
--settings settings.yaml\` checks both files; \`endpoint-sync schema settings\` prints the JSON schema, for editors.

## Fields

${schemaTable(SETTINGS_SCHEMA, { notes: SETTINGS_NOTES })}`;
}
