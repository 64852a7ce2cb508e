/**
 * Suggestions for a path, a kind or a column that is nearly right.
 */
import { expect, test } from "vitest";
import { parseConfig } from "../../../src/engine/config/config.ts";

function told(patch: string): string[] {
  const text = `sync:\n  toHost:\n    endpoints:\n      patches:\n        - ${patch}\n`;
  const result = parseConfig([{ text, file: "vcluster.yaml" }], { vcluster: { name: "blue", namespace: "vc-blue" } });
  return (result.ok ? result.warnings : result.problems).map(({ message, hint }) => `${message}. ${hint}`);
}

test.each([
  ["subset[*].addresses[*].ip", 'there is no "subset" in Endpoints. Did you mean "subsets"?'],
  ["subsets[*].adresses[*].ip", 'there is no "adresses" in subsets. Did you mean "addresses"?'],
  ["subsets[*].ports[*].target", 'there is no "target" in ports. Known fields: name, port, protocol, appProtocol'],
  ["subsets.addresses", "subsets is a list. Write subsets[*] for all its elements"],
  [
    "metadata.annotations.example.com/tls",
    'annotations are strings, which have no fields. Quote a key with dots: annotations["example.com/tls"]',
  ],
])("a path that finds nothing is reported: %s", (path, expected) => {
  expect(told(`{ path: '${path}', expression: value }`)).toEqual([`The path finds nothing: ${expected}`]);
});

test("a kind that is nearly one that is translated is reported", () => {
  expect(told("{ path: metadata.annotations.tls, reference: { apiVersion: v1, kind: Secrt } }")).toEqual([
    "The kind v1 Secrt is not translated. Did you mean Secret? Otherwise add it to references.kinds of the settings",
  ]);
  expect(told("{ path: metadata.annotations.tls, reference: { apiVersion: v1, kind: Volume } }")).toEqual([
    "The kind v1 Volume is not translated. Add it to references.kinds of the settings",
  ]);
});

test("a line that begins in the wrong column is reported with what to do", () => {
  expect(told("path: metadata.labels.app\n         expression: value")).toEqual([
    "Cannot parse YAML: bad indentation of a sequence entry. Begin the line in the same column as the fields that belong to the same map",
  ]);
});
