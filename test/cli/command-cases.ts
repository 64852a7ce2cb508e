/**
 * Command lines that need no cluster, as tables: their output, its stream, and exit codes.
 */
import { describe, expect, test } from "vitest";
import { exampleFiles, run, type TestTerminalOptions } from "./support.ts";

/** A configuration with two errors, the lines that tell them, and the warning of settings that allow any address. */
export const BAD = "sync: {toHost: {endpoints: {enabled: maybe, patchs: []}}}\n";
export const BAD_TYPE = 'bad.yaml:1:38: error CONFIG_TYPE sync.toHost.endpoints.enabled: Expected true or false, found the text "maybe"';
export const BAD_FIELD = 'bad.yaml:1:45: error CONFIG_UNKNOWN_FIELD sync.toHost.endpoints: Unknown field "patchs". Did you mean "patches"?';
export const OPEN =
  "settings (no --settings given): warning CONFIG_VALUE addressPolicy.allow: The tenant can point host clients at any address (CVE-2021-25740), because allow is empty. List the CIDRs of the tenant's pods, as they are after the patches";

const files: Record<string, string> = {
  ...exampleFiles(),
  "empty.yaml": "",
  "bad.yaml": BAD,
  "broken.yaml": "a: [\n",
  "text.yaml": "just text\n",
  "bomb.yaml": bomb(),
  "mapped.yaml":
    'sync: {toHost: {namespaces: {enabled: true, mappingsOnly: true, mappings: {byName: {shop: default, "team-*": "${name}-team-*"}}}}}\n',
  "several.yaml": [
    "apiVersion: v1",
    "kind: List",
    "items:",
    "- {apiVersion: v1, kind: Endpoints, metadata: {name: a, namespace: other}}",
    "- {apiVersion: v1, kind: Endpoints, metadata: {name: b, namespace: team-1}}",
    "- {apiVersion: v1, kind: Endpoints, metadata: {name: c, namespace: shop}}",
    "- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}}",
    "",
  ].join("\n"),
  "text-port.yaml": one("subsets[*].ports[*].port", "String(value + 1)"),
  "refused-values.yaml":
    "sync: {toHost: {endpoints: {patches: [{path: 'subsets[*].addresses[*].hostname', expression: value.toUpperCase()}, {path: 'subsets[*].ports[*].name', expression: value.repeat(64)}]}}}\n",
  "moved.yaml": one("subsets[*].addresses[*].ip", 'value.replace("10.1.", "172.20.")'),
  "moved-pods.yaml": "addressPolicy: {allow: [172.20.0.0/16]}\n",
  "pods.yaml": "addressPolicy: {allow: [10.1.0.0/16]}\n",
  "nameless.yaml": "{apiVersion: v1, kind: Endpoints}\n",
  "server-list.json": '{"apiVersion":"v1","kind":"EndpointsList","metadata":{},"items":[{"metadata":{"name":"a","namespace":"x"}}]}',
};

/** One patch on Endpoints. */
function one(path: string, expression: string): string {
  return `sync: {toHost: {endpoints: {patches: [{path: "${path}", expression: '${expression}'}]}}}\n`;
}

interface Case extends TestTerminalOptions {
  readonly why: string;
  readonly argv: readonly string[];
  /** Default 0. */
  readonly code?: number;
  /** The whole of standard output; a pattern it matches; default nothing. */
  readonly out?: string | RegExp;
  /** The lines of standard error; a pattern they match; default nothing. */
  readonly err?: readonly string[] | RegExp;
}

/** One test for each case, on the files of the README and some bad ones. */
export function testCommand(command: string, cases: readonly Case[]): void {
  describe(command, () => {
    test.each(cases)("$why", async ({ argv, code = 0, out = "", err = [], ...given }) => {
      const got = await run(argv, { ...given, files: { ...files, ...given.files } });
      const want = {
        code,
        stdout: typeof out === "string" ? out : expect.stringMatching(out),
        stderr: err instanceof RegExp ? expect.stringMatching(err) : err.map((line) => `${line}\n`).join(""),
      };
      expect(got).toEqual(want);
    });
  });
}

/** Ten lines that stand for a billion values. */
function bomb(): string {
  const letters = [..."abcdefghij"];
  const lines = letters.map((letter, index) => {
    const item = index === 0 ? "x" : `*${letters[index - 1]}`;
    return `${letter}: &${letter} [${Array.from({ length: 9 }, () => item).join(", ")}]\n`;
  });
  return lines.join("");
}
