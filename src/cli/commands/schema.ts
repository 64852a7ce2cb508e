import { Argument, type Command } from "commander";
import { CONFIG_JSON_SCHEMA } from "../../engine/config/config-schema.ts";
import { SETTINGS_JSON_SCHEMA } from "../../engine/config/settings-schema.ts";
import { PATCH_TEST_JSON_SCHEMA } from "../../workbench/patch-tests/suite/schema.ts";
import { examples, outputOption, type CommandContext } from "../process/command.ts";
import { formatValue, type OutputFormat } from "../output/output.ts";

const SCHEMAS = { config: CONFIG_JSON_SCHEMA, settings: SETTINGS_JSON_SCHEMA, test: PATCH_TEST_JSON_SCHEMA } as const;

/** `schema`: prints the JSON schema of a file, for editors. */
export function defineSchema(command: Command, { terminal }: CommandContext): void {
  command
    .addArgument(new Argument("<file>", "which file").choices(Object.keys(SCHEMAS)))
    .addOption(outputOption().default("json"))
    .addHelpText("after", examples("endpoint-sync schema config > vcluster.schema.json"))
    .action((file: keyof typeof SCHEMAS, { output }: { output: OutputFormat }) => terminal.out(formatValue(SCHEMAS[file](), output)));
}
