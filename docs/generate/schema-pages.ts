/**
 * The reference pages of the two files that configure the engine.
 *
 * @module
 */
import { CONFIG_SCHEMA } from "../../src/engine/config/config-schema.ts";
import { PATCH } from "../../src/engine/config/patches/patch-schema.ts";
import { SETTINGS_SCHEMA } from "../../src/engine/config/settings-schema.ts";
import { GENERATED } from "./markdown.ts";
import { schemaTable } from "./schema-tables.ts";

/** `reference/configuration.md`: what the engine reads of `vcluster.yaml`. */
export function configurationPage(): string {
  const fields = schemaTable(CONFIG_SCHEMA, { elsewhere: new Map([[PATCH, "See [patch](#patch)."]]) });
  return `${GENERATED}
# Configuration

\`--config vcluster.yaml\` is the virtual cluster's own file. The engine reads its section \`sync.toHost\` and ignores the rest. An
unknown field in a section that the engine uses is an error with a suggestion; elsewhere, it is at most a warning. An empty file is valid: Endpoints and Services are synced
without patches. You can give \`--config\` several times: maps are merged, and for everything else, the last file takes precedence.

\`endpoint-sync validate --config vcluster.yaml\` reports every problem at once, with line and column.
\`endpoint-sync schema config\` prints the JSON schema, for editors. Settings of the engine itself are configured in a separate file, the
[settings](settings.md).

## Fields

${fields}
## Patch

One entry of a \`patches\` list. An entry is either an expression patch (\`expression\`, \`reverseExpression\`, or both) or a reference patch
(\`reference\`). [Expressions, paths and patches](expressions.md) describes what you can write in them.

${schemaTable(PATCH)}`;
}

/** `reference/settings.md`: the engine's own settings. */
export function settingsPage(): string {
  return `${GENERATED}
# Settings

\`--settings settings.yaml\` configures the engine rather than the virtual cluster: limits, the address policy, and what happens when a
patch fails. Every field has a default, and without the file all defaults apply. \`endpoint-sync validate --config vcluster.yaml
--settings settings.yaml\` checks both files; \`endpoint-sync schema settings\` prints the JSON schema, for editors.

## Fields

${schemaTable(SETTINGS_SCHEMA)}`;
}
