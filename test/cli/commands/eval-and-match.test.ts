/**
 * `eval` and `match`: one expression, one path.
 */
import { CODES } from "../../../src/base/codes.ts";
import { testCommand } from "../command-cases.ts";

testCommand("eval", [
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
      `  A string needs its own quotes: --value '"text"'`,
    ],
  },
  {
    why: "refuses a number that no expression could use",
    argv: ["eval", "value.a", "--value", '{"a": 1e400}'],
    code: 2,
    err: [
      "error USAGE: Cannot read --value: a number is beyond 1.7976931348623157e+308, the largest that expressions can use",
      "  Pass the number as a string",
    ],
  },
  {
    why: "takes deep values",
    argv: ["eval", "value.length", "--value", "-"],
    stdin: `${"[".repeat(4_000)}${"]".repeat(4_000)}`,
    out: "1\n",
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
      "  endpoint-sync match shows how much of the path exists",
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
    out: "- blue\n- vc-blue\n- true\n",
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
      'error USAGE: Cannot use "several.yaml": expected exactly one object, found 4',
      "  Copy the intended object into a separate file",
    ],
  },
]);

testCommand("match", [
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
      "  Endpoints shop/web: subsets[0] exists, but the rest of the path does not; did you mean subsets[*].addresses[*].ip?",
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
    err: ["No match for a: the file contains no object"],
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
    err: ['error CONFIG_SYNTAX: Cannot parse "broken.yaml" at line 2, column 1: deficient indentation', `  ${CODES.CONFIG_SYNTAX.remedy}`],
  },
  {
    why: "wants Kubernetes objects",
    argv: ["match", "a", "-f", "text.yaml"],
    code: 2,
    err: [
      'error CONFIG_SYNTAX: Cannot use "text.yaml": found a document that is not a Kubernetes object',
      "  Every document needs apiVersion and kind, as in the output of kubectl get -o yaml",
    ],
  },
  {
    why: "refuses a file whose aliases ask for a billion values",
    argv: ["match", "a", "-f", "bomb.yaml"],
    code: 2,
    err: /contains more than 1000000 values/,
  },
  {
    why: "lets no name move the cursor",
    argv: ["match", "kind", "-f", "evil.yaml"],
    files: { "evil.yaml": '{apiVersion: v1, kind: "a\\e[2J"}\n---\n{apiVersion: v1, kind: b}\n' },
    out: 'a\\u001b[2J  kind  "a\\u001b[2J"\nb           kind  "b"\n',
  },
]);
