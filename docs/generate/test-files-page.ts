/**
 * The reference of patch test files: every field and every assert, from the schema that reads them.
 *
 * @module
 */
import { PATCH } from "../../src/engine/config/patches/patch-schema.ts";
import type { ObjectSchema } from "../../src/schema/schema.ts";
import { ASSERT } from "../../src/workbench/asserts/assert-schema.ts";
import { LAW } from "../../src/workbench/laws/schema.ts";
import { PATCH_TEST } from "../../src/workbench/patch-tests/suite/schema.ts";
import { SEQUENCE } from "../../src/workbench/sequences/reading/schema.ts";
import { GENERATED } from "./markdown.ts";
import { schemaTable } from "./schema-tables.ts";

/** `reference/test-files.md`. */
export function testFilesPage(): string {
  const [test, outcome] = [PATCH_TEST.fields.tests.items, PATCH_TEST.fields.tests.items.fields.patches.items];
  const elsewhere = new Map<ObjectSchema, string>([
    [PATCH, "See [patch](configuration.md#patch)."],
    [test, "See [test](#test)."],
    [outcome, "See [patches of a test](#patches-of-a-test)."],
    [ASSERT, "See [assert](#assert)."],
    [LAW, "See [law](#law)."],
    [SEQUENCE, "See [sequence](#sequence)."],
    [PATCH_TEST.fields.context, "See [context](#context)."],
    [test.fields.context, "See [context](#context)."],
  ]);
  const own = (schema: ObjectSchema) => schemaTable(schema, { elsewhere: new Map([...elsewhere].filter(([other]) => other !== schema)) });
  return `${GENERATED}
# Test files

A patch test file ends in \`.patch-test.yaml\`. \`endpoint-sync test\` finds and runs these files; [test your patches](../guides/test-your-patches.md) shows how,
and [test sequences](../guides/test-sequences.md) describes sequences. \`endpoint-sync schema test\` prints the JSON schema, for editors.

## File

${own(PATCH_TEST)}
## Context

${own(PATCH_TEST.fields.context)}
## Test

One entry of \`tests\`. ${test.description}

${own(test)}
## Patches of a test

${own(outcome)}
## Assert

One entry of \`asserts\`, in tests and in the expectations of sequences. Set one of these fields, and add \`not: true\` for the opposite. With \`[*]\` in \`path\`,
the assertion must hold for every match, and there must be at least one match.

${own(ASSERT)}
## Law

One entry of \`laws\`. Set one of these fields. [Write patches](../guides/write-patches.md#laws) explains the laws.

${own(LAW)}
## Sequence

${own(SEQUENCE)}`;
}
