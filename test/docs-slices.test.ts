/**
 * `docs/guides/sync-endpoint-slices.md`: its configuration is valid without a warning, its permissions are what the sync needs, and
 * its labels are those of the source.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { parseConfig } from "../src/config/config.ts";
import { ENDPOINT_SLICES, groupOf } from "../src/object/resource.ts";
import { SERVICE_NAME, SKIP_MIRROR, SLICE_MANAGER, sliceManager } from "../src/reconcile/slice-labels.ts";
import { DEFAULT_MARKER_PREFIX, MANAGED_BY } from "../src/translate/markers.ts";
import { blocksOf } from "./support/markdown.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, ".."), "docs/guides/sync-endpoint-slices.md"), "utf8");

function block(word: string): string {
  const found = blocksOf(PAGE).find(({ words }) => words.includes(word));
  if (found === undefined) throw new Error(`No block ${word}`);
  return found.text;
}

test("the configuration syncs slices, without a warning", () => {
  const result = parseConfig(block("vcluster.yaml"));
  expect(result).toMatchObject({ ok: true, warnings: [], config: { endpointSlices: { enabled: true, configured: true } } });
});

test.each([
  { block: "tenant-rule", verbs: ["get", "list", "watch", "update"] },
  { block: "host-rule", verbs: ["list", "watch", "create", "update", "delete"] },
])("$block allows $verbs on slices and nothing else", ({ block: word, verbs }) => {
  expect(load(block(word))).toEqual({ apiGroups: [groupOf(ENDPOINT_SLICES)], resources: [ENDPOINT_SLICES.plural], verbs });
});

test("labels are named as the source names them", () => {
  for (const label of [SERVICE_NAME, SKIP_MIRROR, SLICE_MANAGER]) expect(PAGE).toContain(label);
  const manager = `${SLICE_MANAGER}=${sliceManager(DEFAULT_MARKER_PREFIX)}`;
  expect(PAGE).toContain(`${DEFAULT_MARKER_PREFIX}${MANAGED_BY}=blue,${manager}`);
});
