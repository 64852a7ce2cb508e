/**
 * Command lines that need no cluster: what they print, where, and how they exit.
 */
import { describe, expect, test } from "vitest";
import { CODES } from "../../src/base/codes.ts";
import { exampleFiles, run } from "./support.ts";
import type { TestTerminalOptions } from "./support.ts";

const BAD = "sync: {toHost: {endpoints: {enabled: maybe, patchs: []}}}\n";
const BAD_TYPE = 'bad.yaml:1:38: error CONFIG_TYPE sync.toHost.endpoints.enabled: Expected true or false, found the text "maybe"';
const BAD_FIELD = 'bad.yaml:1:45: error CONFIG_UNKNOWN_FIELD sync.toHost.endpoints: Unknown field "patchs". Did you mean "patches"?';
const OPEN =
  "settings (no --settings given): warning CONFIG_VALUE addressPolicy.allow: The tenant can point host clients at any address (CVE-2021-25740), since allow is empty. List the CIDRs of the tenant's pods";

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
  "nameless.yaml": "{apiVersion: v1, kind: Endpoints}\n",
  "server-list.json": '{"apiVersion":"v1","kind":"EndpointsList","metadata":{},"items":[{"metadata":{"name":"a","namespace":"x"}}]}',
};

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

const SEE_HELP = "Add --help for the options and an example.";

describe.each<{ command: string; cases: Case[] }>([
  {
    command: "the program",
    cases: [
      { why: "tells its version", argv: ["--version"], out: /^\d+\.\d+\.\d+\S*\n$/ },
      { why: "tells its commands", argv: ["--help"], out: /^ {2}explain +what an error code means/m },
      { why: "tells its commands when it is called without one", argv: [], code: 2, err: /^Usage: endpoint-sync/ },
      { why: "helps with one command", argv: ["help", "eval"], out: /^Usage: endpoint-sync eval \[options\] <expression>/ },
      {
        why: "knows what was meant by a command that it does not know",
        argv: ["evla", "1"],
        code: 2,
        err: ["error USAGE: unknown command 'evla'", "(Did you mean eval?)", SEE_HELP],
      },
      { why: "refuses an unknown option", argv: ["eval", "1", "--vlaue", "1"], code: 2, err: /^error USAGE: unknown option '--vlaue'\n/ },
      {
        why: "refuses an unknown form of output",
        argv: ["eval", "1", "-o", "xml"],
        code: 2,
        err: ["error USAGE: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are yaml, json.", SEE_HELP],
      },
      {
        why: "refuses a missing argument",
        argv: ["match"],
        code: 2,
        err: /^error USAGE: required option '-f, --filename <file>' not specified/,
      },
      {
        why: "refuses names that no virtual cluster has",
        argv: ["eval", "1", "--name", "Blue_1"],
        code: 2,
        err: /'Blue_1' is invalid\. Wanted lower-case letters, digits and -/,
      },
    ],
  },
  {
    command: "eval",
    cases: [
      { why: "prints the value", argv: ["eval", '"blue-" + value', "--value", '"web"'], out: "blue-web\n" },
      { why: "tells a text from a number", argv: ["eval", "[value, 1]", "--value", '"1"'], out: "- '1'\n- 1\n" },
      {
        why: "prints result and fuel as JSON, and nothing else",
        argv: ["eval", "value + 1", "--value", "1", "-o", "json"],
        out: /^\{"result":2,"fuel":\d+\}\n$/,
      },
      { why: "prints the same as YAML", argv: ["eval", "value + 1", "--value", "1", "-o", "yaml"], out: /^result: 2\nfuel: \d+\n$/ },
      {
        why: "shows null, which deletes a field, as a result",
        argv: ["eval", "null", "-o", "json"],
        out: /^\{"result":null,"fuel":\d+\}\n$/,
      },
      {
        why: "prints an error as JSON, and nothing else",
        argv: ["eval", "value.a.b", "-o", "json"],
        code: 1,
        out: '{"error":{"code":"EXPRESSION_ERROR","message":"Expression \\"value.a.b\\" threw TypeError: cannot read property \'a\' of null at line 1, column 6; value is null. `value` is null here; write value?.a ?? \\"…\\""}}\n',
      },
      {
        why: "prints a syntax error as JSON too",
        argv: ["eval", "1 +", "-o", "json"],
        code: 1,
        out: /^\{"error":\{"code":"EXPRESSION_SYNTAX",/,
      },
      {
        why: "tells an error with its code, its place and what to do",
        argv: ["eval", "value.a.b"],
        code: 1,
        err: [
          'error EXPRESSION_ERROR: Expression "value.a.b" threw TypeError: cannot read property \'a\' of null at line 1, column 6; value is null. `value` is null here; write value?.a ?? "…"',
        ],
      },
      {
        why: "tells the hint of an error in place of the remedy",
        argv: ["eval", 'value["k"] = 1; value'],
        code: 1,
        err: /^error EXPRESSION_SYNTAX: .* at line 1, column 15\. Write \(\{\.\.\.value, k: 1\}\)\n$/,
      },
      { why: "reads the value from standard input", argv: ["eval", "value.a", "--value", "-"], stdin: '{"a": 7}', out: "7\n" },
      {
        why: "says how a text is quoted",
        argv: ["eval", "value", "--value", "web"],
        code: 2,
        err: [
          "error USAGE: Cannot read --value: Unexpected token 'w', \"web\" is not valid JSON",
          `  A text needs quotes of its own: --value '"text"'`,
        ],
      },
      {
        why: "runs once per match of a path",
        argv: ["eval", "context.path", "--object", "endpoints.yaml", "--path", "subsets[*].addresses[*].ip"],
        out: "subsets[0].addresses[0].ip\n---\nsubsets[0].addresses[1].ip\n---\nsubsets[0].addresses[2].ip\n",
      },
      {
        why: "prints one line of JSON per match",
        argv: ["eval", "1", "--object", "endpoints.yaml", "--path", "metadata.annotations[*]", "-o", "json"],
        out: /^(\{"result":1,"fuel":\d+\}\n){2}$/,
      },
      {
        why: "gives a value that was named before the one at a path",
        argv: ["eval", "[value, context.virtualObject.kind]", "--value", "3", "--object", "endpoints.yaml", "--path", "metadata.name"],
        out: "- 3\n- Endpoints\n",
      },
      {
        why: "tells a path without match",
        argv: ["eval", "1", "--object", "endpoints.yaml", "--path", "spec.x"],
        code: 2,
        err: [
          'error USAGE: Cannot evaluate: "spec.x" matches nothing in "endpoints.yaml"',
          "  endpoint-sync match tells how far the path gets",
        ],
      },
      {
        why: "tells a wrong path",
        argv: ["eval", "1", "--object", "endpoints.yaml", "--path", "a["],
        code: 2,
        err: /^error PATH_SYNTAX: /,
      },
      {
        why: "shows both objects to the expression",
        argv: [
          "eval",
          "context.virtualObject.metadata.name + ' ' + context.hostObject.metadata.name",
          "--object",
          "endpoints.yaml",
          "--host-object",
          "host.yaml",
        ],
        out: "web web-x-shop-x-blue\n",
      },
      {
        why: "shows names and configuration to the expression",
        argv: [
          "eval",
          "[context.vcluster.name, context.vcluster.namespace, context.vcluster.config.sync.toHost.endpoints.enabled]",
          "--name",
          "blue",
        ],
        out: "- blue\n- default\n- true\n",
      },
      {
        why: "translates DNS names by the configuration",
        argv: ["eval", "virtualToHostDNS(value)", "--value", '"db.team-1.svc"', "--config", "mapped.yaml", "--name", "blue"],
        out: "db.blue-team-1.svc.cluster.local\n",
      },
      {
        why: "fills the name into both sides of a mapping",
        argv: ["eval", "virtualToHostDNS(value)", "--value", '"db.blue-own.svc"', "--config", "own.yaml", "--name", "blue"],
        files: { "own.yaml": 'sync: {toHost: {namespaces: {enabled: true, mappings: {byName: {"${name}-own": "host-${name}"}}}}}' },
        out: "db.host-blue.svc.cluster.local\n",
      },
      {
        why: "keeps the limits of the settings",
        argv: ["eval", "10", "--settings", "low.yaml", "-o", "json"],
        files: { "low.yaml": "limits: {sourceBytes: 1}\naddressPolicy: {allow: [10.0.0.0/8]}\n" },
        code: 1,
        out: /^\{"error":\{"code":"EXPRESSION_SYNTAX",/,
      },
      {
        why: "refuses several objects where one is meant",
        argv: ["eval", "1", "--object", "several.yaml"],
        code: 2,
        err: [
          'error USAGE: Cannot use "several.yaml": wanted exactly one object, found 4',
          "  Put the object that is meant into a file of its own",
        ],
      },
    ],
  },
  {
    command: "match",
    cases: [
      {
        why: "prints place and value of every match",
        argv: ["match", "subsets[*].addresses[*].ip", "-f", "endpoints.yaml"],
        out: 'subsets[0].addresses[0].ip  "10.1.0.11"\nsubsets[0].addresses[1].ip  "10.1.0.12"\nsubsets[0].addresses[2].ip  "169.254.169.254"\n',
      },
      {
        why: "prints them as JSON",
        argv: ["match", "metadata.name", "-f", "endpoints.yaml", "-o", "json"],
        out: `${JSON.stringify([{ object: "Endpoints shop/web", path: "metadata.name", value: "web" }], null, 2)}\n`,
      },
      {
        why: "names the object where there are several",
        argv: ["match", "metadata.name", "-f", "several.yaml"],
        out: /^Endpoints other\/a +metadata\.name +"a"\n/,
      },
      { why: "reads standard input", argv: ["match", "kind", "-f", "-"], stdin: "{apiVersion: v1, kind: Pod}", out: 'kind  "Pod"\n' },
      {
        why: "reads lists as an API server sends them",
        argv: ["match", "metadata.name", "-f", "server-list.json", "-o", "yaml"],
        out: /object: Endpoints x\/a/,
      },
      {
        why: "says what was probably meant when nothing matches",
        argv: ["match", "subsets[*].adresses[*].ip", "-f", "endpoints.yaml"],
        code: 1,
        err: [
          "No match for subsets[*].adresses[*].ip",
          "  Endpoints shop/web: subsets[0] is there, and no more of it; did you mean subsets[*].addresses[*].ip?",
        ],
      },
      {
        why: "prints an empty list when nothing matches",
        argv: ["match", "spec", "-f", "endpoints.yaml", "-o", "json"],
        code: 1,
        out: "[]\n",
        err: /^No match for spec\n/,
      },
      {
        why: "says that a file is empty",
        argv: ["match", "a", "-f", "empty.yaml"],
        code: 1,
        err: ["No match for a: the file holds no object"],
      },
      {
        why: "says how a path of another language is written here",
        argv: ["match", "subsets..ip", "-f", "endpoints.yaml"],
        code: 2,
        err: [
          'error PATH_UNSUPPORTED: Cannot parse path "subsets..ip": found ".." (recursive descent) at column 8',
          "  Write subsets.ip, or subsets[*].ip to reach one level deeper",
        ],
      },
      {
        why: "tells where a file does not parse",
        argv: ["match", "a", "-f", "broken.yaml"],
        code: 2,
        err: [
          'error CONFIG_SYNTAX: Cannot parse "broken.yaml" at line 2, column 1: deficient indentation',
          `  ${CODES.CONFIG_SYNTAX.remedy}`,
        ],
      },
      {
        why: "wants Kubernetes objects",
        argv: ["match", "a", "-f", "text.yaml"],
        code: 2,
        err: [
          'error CONFIG_SYNTAX: Cannot use "text.yaml": found a document that is no Kubernetes object',
          "  Every document needs apiVersion and kind, as kubectl get -o yaml prints them",
        ],
      },
      {
        why: "refuses a file whose aliases ask for a billion values",
        argv: ["match", "a", "-f", "bomb.yaml"],
        code: 2,
        err: /holds more than 1000000 values/,
      },
      {
        why: "lets no name move the cursor",
        argv: ["match", "kind", "-f", "evil.yaml"],
        files: { "evil.yaml": '{apiVersion: v1, kind: "a\\e[2J"}\n---\n{apiVersion: v1, kind: b}\n' },
        out: 'a\\u001b[2J  kind  "a\\u001b[2J"\nb           kind  "b"\n',
      },
    ],
  },
  {
    command: "render",
    cases: [
      {
        why: "prints one object as itself",
        argv: ["render", "--config", "empty.yaml", "-f", "-"],
        stdin: "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: [{ip: 10.0.0.1}]}]}",
        out: "apiVersion: v1\nkind: Endpoints\nmetadata:\n  name: web-x-shop-x-vcluster\n  namespace: default\nsubsets:\n  - addresses:\n      - ip: 10.0.0.1\n",
      },
      {
        why: "prints several objects as a List, and tells what is left out",
        argv: ["render", "--config", "mapped.yaml", "-f", "several.yaml", "-o", "json"],
        out: /^\{\n {2}"apiVersion": "v1",\n {2}"kind": "List",\n {2}"items": \[\n[^]*"namespace": "vcluster-team-1"[^]*"namespace": "default"/,
        err: [
          'warning NAME_NOT_MAPPED: Endpoints other/a is left out: Cannot translate "other/a": the namespace is not mapped',
          "warning Pod shop/p is left out: objects of this kind are not synced",
        ],
      },
      {
        why: "prints several objects as YAML documents",
        argv: ["render", "--config", "empty.yaml", "-f", "several.yaml"],
        out: /^---$/m,
        err: /Pod shop\/p is left out/,
      },
      {
        why: "does not hold a mapping against a name that nobody gave",
        argv: ["render", "--config", "mapped.yaml", "-f", "endpoints.yaml", "-o", "json"],
        out: /"name": "web",\n {4}"namespace": "default"/,
        err: [`warning ADDRESS_REFUSED: Endpoints shop/web: "169.254.169.254" was left out: link-local`],
      },
      {
        why: "holds it against a name that was given",
        argv: ["render", "--config", "mapped.yaml", "-f", "endpoints.yaml", "--name", "blue", "--namespace", "default"],
        code: 2,
        err: /byName\.shop: Expected a host namespace other than "default", in which the virtual cluster lives/,
      },
      {
        why: "goes the way back, references included",
        argv: [
          "render",
          "--config",
          "vcluster.yaml",
          "-f",
          "host.yaml",
          "--direction",
          "toTenant",
          "--tenant-object",
          "endpoints.yaml",
          "--name",
          "blue",
          "--namespace",
          "vc-blue",
        ],
        out: [
          "apiVersion: v1",
          "kind: Endpoints",
          "metadata:",
          "  name: web",
          "  namespace: shop",
          "  annotations:",
          "    example.com/team: ops",
          "    example.com/tls-secret: shop-tls",
          "subsets:",
          "  - addresses:",
          "      - ip: 10.1.0.11",
          "        hostname: blue-db-0",
          "      - ip: 10.1.0.12",
          "        hostname: blue-db-1",
          "    ports:",
          "      - name: http",
          "        port: 8080",
          "",
        ].join("\n"),
      },
      {
        why: "shows the host object to the expression",
        argv: ["render", "--config", "see.yaml", "-f", "endpoints.yaml", "--host-object", "host.yaml", "-o", "json"],
        files: {
          "see.yaml":
            "sync: {toHost: {endpoints: {patches: [{path: 'metadata.annotations[\"example.com/team\"]', expression: context.hostObject.metadata.name}]}}}",
        },
        out: /"example.com\/team": "web-x-shop-x-blue"/,
        err: /ADDRESS_REFUSED/,
      },
      {
        why: "tells a patch that fails, and goes on",
        argv: ["render", "--config", "fails.yaml", "-f", "endpoints.yaml", "-o", "json"],
        files: { "fails.yaml": "sync: {toHost: {endpoints: {patches: [{path: 'metadata.annotations[*]', expression: value.a.b}]}}}" },
        out: /"kind": "Endpoints"/,
        err: /^warning EXPRESSION_ERROR: Endpoints shop\/web, patch of metadata\.annotations\[\*\], at metadata\.annotations\["example\.com\/team"\]: /m,
      },
      {
        why: "wants names",
        argv: ["render", "--config", "empty.yaml", "-f", "nameless.yaml"],
        code: 2,
        err: ["error USAGE: Cannot render Endpoints without metadata.name", "  See --help."],
      },
      {
        why: "does not start with a wrong configuration",
        argv: ["render", "--config", "bad.yaml", "-f", "endpoints.yaml"],
        code: 2,
        err: /CONFIG_TYPE[^]*CONFIG_UNKNOWN_FIELD/,
      },
    ],
  },
  {
    command: "validate",
    cases: [
      {
        why: "says that all is well",
        argv: ["validate", "--config", "vcluster.yaml", "--settings", "settings.yaml"],
        out: "The configuration is valid.\n",
      },
      {
        why: "warns while any address is allowed, also without settings",
        argv: ["validate", "--config", "vcluster.yaml"],
        out: "The configuration is valid, with 1 warning.\n",
        err: [OPEN],
      },
      {
        why: "shows every problem at its place",
        argv: ["validate", "--config", "bad.yaml", "--settings", "settings.yaml"],
        code: 2,
        err: [
          BAD_TYPE,
          `> 1 | ${BAD.trim()}`,
          `    | ${" ".repeat(37)}^`,
          BAD_FIELD,
          `> 1 | ${BAD.trim()}`,
          `    | ${" ".repeat(44)}^`,
          "2 errors",
        ],
      },
      {
        why: "prints the list of problems as JSON",
        argv: ["validate", "--config", "missing-1.yaml", "-o", "json"],
        code: 2,
        out: `${JSON.stringify(
          [
            {
              code: "CONFIG_FILE",
              severity: "error",
              message: "There is no such file",
              file: "missing-1.yaml",
              line: 0,
              column: 0,
              field: "",
              hint: "Check the path; a relative one starts at the working directory",
            },
            {
              code: "CONFIG_VALUE",
              severity: "warning",
              message: "The tenant can point host clients at any address (CVE-2021-25740), since allow is empty",
              file: "settings (no --settings given)",
              line: 0,
              column: 0,
              field: "addressPolicy.allow",
              hint: "List the CIDRs of the tenant's pods",
            },
          ],
          null,
          2,
        )}\n`,
      },
      {
        why: "prints an empty list as YAML",
        argv: ["validate", "--config", "vcluster.yaml", "--settings", "settings.yaml", "-o", "yaml"],
        out: "[]\n",
      },
      {
        why: "reports every file that can not be read, and settings beside them",
        argv: ["validate", "--config", "missing-1.yaml", "--config", "bad.yaml", "--config", "missing-2.yaml", "--settings", "bad.yaml"],
        code: 2,
        err: /^missing-1\.yaml: error CONFIG_FILE: There is no such file\. [^]*^missing-2\.yaml: error CONFIG_FILE[^]*^bad\.yaml:1:1: error CONFIG_UNKNOWN_FIELD[^]*^3 errors\n$/m,
      },
      {
        why: "tells a directory",
        argv: ["validate", "--config", import.meta.dirname],
        code: 2,
        err: /: error CONFIG_FILE: It is a directory\. Name a file in it\n/,
      },
      {
        why: "tells a binary file",
        argv: ["validate", "--config", process.execPath],
        code: 2,
        err: /: error CONFIG_(SYNTAX|FILE): It is (no text in UTF-8|larger than)/,
      },
      {
        why: "tells what does not parse",
        argv: ["validate", "--config", "broken.yaml"],
        code: 2,
        err: /^broken\.yaml:2:1: error CONFIG_SYNTAX: Cannot parse YAML/,
      },
      {
        why: "lets later files win",
        argv: ["validate", "--config", "bad.yaml", "--config", "vcluster.yaml"],
        code: 2,
        err: /CONFIG_UNKNOWN_FIELD/,
      },
      {
        why: "reads standard input",
        argv: ["validate", "--config", "-", "--settings", "settings.yaml"],
        stdin: "sync: {}",
        out: "The configuration is valid.\n",
      },
      {
        why: "does not hold a mapping against a name that nobody gave",
        argv: ["validate", "--config", "mapped.yaml", "--settings", "settings.yaml"],
        out: "The configuration is valid.\n",
      },
      {
        why: "does not hold it against half a name either",
        argv: ["validate", "--config", "mapped.yaml", "--settings", "settings.yaml", "--name", "blue"],
        out: "The configuration is valid.\n",
      },
      {
        why: "holds it against a name that was given",
        argv: ["validate", "--config", "mapped.yaml", "--settings", "settings.yaml", "--name", "blue", "--namespace", "default"],
        code: 2,
        err: /Expected a host namespace other than "default"/,
      },
      {
        why: "paints severities on a screen that shows colours",
        argv: ["validate", "--config", "vcluster.yaml"],
        colours: true,
        out: "The configuration is valid, with 1 warning.\n",
        err: [OPEN.replace("warning", "\u001b[1;33mwarning\u001b[0m")],
      },
    ],
  },
  {
    command: "schema",
    cases: [
      {
        why: "prints the schema of the configuration",
        argv: ["schema", "config"],
        out: /^\{\n {2}"\$schema": "https:\/\/json-schema\.org/,
      },
      { why: "prints the schema of the settings as YAML", argv: ["schema", "settings", "-o", "yaml"], out: /^\$schema: https:/ },
      { why: "knows no other file", argv: ["schema", "nope"], code: 2, err: /Allowed choices are config, settings, test\./ },
    ],
  },
  {
    command: "explain",
    cases: [
      {
        why: "tells meaning and remedy",
        argv: ["explain", "NAME_COLLISION"],
        out: `NAME_COLLISION\n\n  ${CODES.NAME_COLLISION.meaning}\n\n  What to do: ${CODES.NAME_COLLISION.remedy}\n`,
      },
      {
        why: "takes lower case",
        argv: ["explain", "usage", "-o", "json"],
        out: `${JSON.stringify({ code: "USAGE", ...CODES.USAGE }, null, 2)}\n`,
      },
      {
        why: "lists all codes",
        argv: ["explain"],
        out: Object.entries(CODES)
          .map(([code, { meaning }]) => `${code}\n  ${meaning}\n`)
          .join(""),
      },
      { why: "lists all codes as YAML", argv: ["explain", "-o", "yaml"], out: /^- code: API_BAD_REQUEST\n {2}meaning: / },
      {
        why: "says which code was probably meant",
        argv: ["explain", "NAME_COLISION"],
        code: 2,
        err: ['error USAGE: Cannot explain "NAME_COLISION": there is no such code', "  Did you mean NAME_COLLISION?"],
      },
    ],
  },
])("$command", ({ cases }) => {
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

/** Ten lines that stand for a billion values. */
function bomb(): string {
  const letters = [..."abcdefghij"];
  const lines = letters.map((letter, index) => {
    const item = index === 0 ? "x" : `*${letters[index - 1]}`;
    return `${letter}: &${letter} [${Array.from({ length: 9 }, () => item).join(", ")}]\n`;
  });
  return lines.join("");
}
