/** A further synced kind is in the playground's completions without an entry of its own there. */
import { expect, test, vi } from "vitest";
import type * as Kinds from "../../../src/engine/kinds/synced-kinds.ts";
import { completionsAt } from "../../../src/workbench/playground/page/editor/completions.ts";

vi.mock("../../../src/engine/kinds/synced-kinds.ts", async (original) => {
  const kinds = await original<typeof Kinds>();
  const { WIDGETS_KIND } = await import("../../engine/kinds/widget-kind.ts");
  return { ...kinds, SYNCED_KINDS: [...kinds.SYNCED_KINDS, WIDGETS_KIND] };
});

const TENANT = "apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: web, namespace: shop }\nnew: 1\n";

test.each([
  ["path: |", ["metadata", "new", "size", "colour", "parts[*]"]],
  ["path: parts[*].|", ["name", "maker"]],
  ["expression: context.virtualObject.metadata.|", ["name", "namespace"]],
])("the fields of a Widget are offered in its section: %s", (line, labels) => {
  const text = `sync:\n  toHost:\n    endpoints: {}\n    widgets:\n      patches:\n        - ${line}\n`;
  const config = text.replace("|", "");
  const found = completionsAt({ config, tenant: TENANT }, text.indexOf("|"));
  expect(found?.options.map(({ label }) => label)).toEqual(labels);
});
