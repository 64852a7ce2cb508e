import { Argument } from "commander";
import type { Command } from "commander";
import { CONFIG_JSON_SCHEMA } from "../../config/config-schema.ts";
import { SETTINGS_JSON_SCHEMA } from "../../config/settings-schema.ts";
import type { CommandContext } from "../command.ts";
import { formatValue } from "../output.ts";

const SCHEMAS = { config: CONFIG_JSON_SCHEMA, settings: SETTINGS_JSON_SCHEMA } as const;

/** `schema`: the JSON schema of a file, for editors. */
export function addSchemaCommand(program: Command, { terminal }: CommandContext): void {
  program
    .command("schema")
    .description("JSON schema of a file, for editors")
    .addArgument(new Argument("<file>", "which file").choices(Object.keys(SCHEMAS)))
    .addHelpText("after", "\nExample:\n  endpoint-sync schema config > vcluster.schema.json")
    .action((file: keyof typeof SCHEMAS) => terminal.out(formatValue(SCHEMAS[file](), "json")));
}
