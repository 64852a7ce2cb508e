/**
 * `validate`: problems of configurations and settings, and their places.
 */
import { BAD, BAD_TYPE, BAD_FIELD, OPEN, testCommand } from "../command-cases.ts";

/** The forecast of a list: the cost of cheap patches. */
const fuel = (some: string, many: string) =>
  `Fuel for endpoints: ${some} with 250 addresses, ${many} with 1,000 addresses; the limit is 30 million.\n`;

const hint = (path: string) =>
  `Hint: ${path} does not match addresses that are not ready. To patch these too, add a patch with the path ${path.replace("addresses", "notReadyAddresses")}.\n`;

testCommand("validate", [
  {
    why: "says that all is well",
    argv: ["validate", "--config", "vcluster.yaml", "--settings", "settings.yaml"],
    out: `Found 3 patches on endpoints, 1 reference.\n${fuel("16,000", "62,000")}${hint("subsets[*].addresses[*].hostname")}The configuration is valid.\n`,
  },
  {
    why: "warns while any address is allowed, also without settings",
    argv: ["validate", "--config", "vcluster.yaml"],
    out: `Found 3 patches on endpoints, 1 reference.\n${fuel("16,000", "62,000")}${hint("subsets[*].addresses[*].hostname")}The configuration is valid, with 1 warning.\n`,
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
          hint: "Check the path; a relative path starts at the working directory",
        },
        {
          code: "CONFIG_VALUE",
          severity: "warning",
          message: "The tenant can point host clients at any address (CVE-2021-25740), because allow is empty",
          file: "settings (no --settings given)",
          line: 0,
          column: 0,
          field: "addressPolicy.allow",
          hint: "List the CIDRs of the tenant's pods, as they are after the patches",
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
    why: "reports every file that cannot be read, and settings beside them",
    argv: ["validate", "--config", "missing-1.yaml", "--config", "bad.yaml", "--config", "missing-2.yaml", "--settings", "bad.yaml"],
    code: 2,
    err: /^missing-1\.yaml: error CONFIG_FILE: There is no such file\. [^]*^missing-2\.yaml: error CONFIG_FILE[^]*^bad\.yaml:1:1: error CONFIG_UNKNOWN_FIELD[^]*^3 errors\n$/m,
  },
  {
    why: "tells a directory",
    argv: ["validate", "--config", import.meta.dirname],
    code: 2,
    err: /: error CONFIG_FILE: It is a directory\. Specify a file in the directory\n/,
  },
  {
    why: "tells a binary file",
    argv: ["validate", "--config", process.execPath],
    code: 2,
    err: /: error CONFIG_(SYNTAX|FILE): It is (not UTF-8 text|larger than)/,
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
    out: "Found no patches.\nThe configuration is valid.\n",
  },
  {
    why: "does not apply a mapping to a default name",
    argv: ["validate", "--config", "mapped.yaml", "--settings", "settings.yaml"],
    out: "Found no patches.\nThe configuration is valid.\n",
  },
  {
    why: "does not hold it against half a name either",
    argv: ["validate", "--config", "mapped.yaml", "--settings", "settings.yaml", "--name", "blue"],
    out: "Found no patches.\nThe configuration is valid.\n",
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
    out: `Found 3 patches on endpoints, 1 reference.\n${fuel("16,000", "62,000")}${hint("subsets[*].addresses[*].hostname")}The configuration is valid, with 1 warning.\n`,
    err: [OPEN.replace("warning", "\u001b[1;33mwarning\u001b[0m")],
  },
  {
    why: "takes files without an option, together with those of --config",
    argv: ["validate", "bad.yaml", "--config", "vcluster.yaml"],
    code: 2,
    err: /CONFIG_UNKNOWN_FIELD/,
  },
  {
    why: "asks for a file",
    argv: ["validate"],
    code: 2,
    err: ["error USAGE: Specify a configuration file to validate", "  endpoint-sync validate vcluster.yaml"],
  },
  {
    why: "warns of an empty file",
    argv: ["validate", "empty.yaml", "--settings", "settings.yaml"],
    out: "Found no patches.\nThe configuration is valid, with 1 warning.\n",
    err: ["empty.yaml: warning CONFIG_FILE: The file is empty, so every default applies. Write {} for an empty configuration"],
  },
  {
    why: "takes the warning for an error with --strict",
    argv: ["validate", "empty.yaml", "--settings", "settings.yaml", "--strict"],
    code: 2,
    err: /^empty\.yaml: error CONFIG_FILE: The file is empty[^]*\n1 error\n$/,
  },
  {
    why: "does not treat gaps of default settings as errors with --strict",
    argv: ["validate", "vcluster.yaml", "--strict"],
    out: /The configuration is valid, with 1 warning\.\n$/,
    err: [OPEN],
  },
  {
    why: "takes a misspelt section for an error with --strict",
    argv: ["validate", "-", "--settings", "settings.yaml", "--strict"],
    stdin: "sync: {tohost: {}}",
    code: 2,
    err: /error CONFIG_UNKNOWN_FIELD sync: Unknown field "tohost". Did you mean "toHost"\?/,
  },
  ...[
    { text: "toHost: {endpoints: {}}", says: ': "toHost" is not read at the top level. Move it to sync.toHost' },
    { text: "endpoints: {patches: []}", says: ': "endpoints" is not read at the top level. Move it to sync.toHost.endpoints' },
    {
      text: "patches: []",
      says: ': "patches" is not read at the top level. Move it to the kind that it patches, for example sync.toHost.endpoints.patches',
    },
    { text: "sync: {services: {}}", says: ' sync: "services" is not read here. Move it to sync.toHost.services' },
    {
      text: "sync: {toHost: {patches: []}}",
      says: ' sync.toHost: "patches" is not read here. Move it to the kind that it patches, for example sync.toHost.endpoints.patches',
    },
  ].map(({ text, says }) => ({
    why: `names a section that is at the wrong level: ${text}`,
    argv: ["validate", "-", "--settings", "settings.yaml"],
    stdin: `controlPlane: {}\n${text}\n`,
    out: "Found no patches.\nThe configuration is valid, with 1 warning.\n",
    err: new RegExp(`warning CONFIG_UNKNOWN_FIELD${says.replace(/[.?]/g, "\\$&")}\\n`),
  })),
  {
    why: "tries patches on samples: a type that API servers refuse is an error at the patch",
    argv: ["validate", "text-port.yaml", "--settings", "settings.yaml"],
    code: 2,
    err: /^text-port\.yaml:1:\d+: error API_INVALID sync\.toHost\.endpoints\.patches\[0\]: Tried on a sample of Endpoints: an API server refuses the result: subsets\.ports\.port: Invalid type: found string, expected int32\n/,
  },
  {
    why: "tries patches on samples: a value that API servers refuse is a warning, for the tenant may have others",
    argv: ["validate", "refused-values.yaml", "--settings", "settings.yaml"],
    out: `Found 2 patches on endpoints.\n${fuel("25,000", "100,000")}${hint("subsets[*].addresses[*].hostname")}The configuration is valid, with 2 warnings.\n`,
    err: /patches\[0\]: Tried on a sample of Endpoints: [^\n]*hostname: Invalid value: "WEB-0"[^]*patches\[1\]: Tried on a sample of Endpoints: [^\n]*ports\[0\]\.name: Invalid value/,
  },
  {
    why: "tries patches on objects that are given, where such a value is an error",
    argv: ["validate", "refused-values.yaml", "--settings", "settings.yaml", "-f", "-"],
    stdin:
      "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: [{ip: 10.0.0.1, hostname: db-0}], ports: [{name: a, port: 80}]}]}",
    code: 2,
    err: /error API_INVALID sync\.toHost\.endpoints\.patches\[0\]: Endpoints shop\/web: an API server refuses the result: subsets\[0\]\.addresses\[0\]\.hostname: Invalid value: "DB-0"/,
  },
  {
    why: "says that the address policy judges what patches write",
    argv: ["validate", "moved.yaml", "--settings", "pods.yaml"],
    out: `Found 1 patch on endpoints.\n${fuel("28,000", "110,000")}${hint("subsets[*].addresses[*].ip")}The configuration is valid, with 1 warning.\n`,
    err: /warning ADDRESS_REFUSED sync\.toHost\.endpoints\.patches\[0\]: The host gets none of the addresses that the patch writes: 10\.1\.0\.11 becomes 172\.20\.0\.11, which is left out \(not in addressPolicy\.allow\)\. addressPolicy checks addresses after the patches: list the networks that patches write, not the tenant's\n/,
  },
  {
    why: "gives no hint where a patch reaches the addresses that are not ready",
    argv: ["validate", "-", "--settings", "moved-pods.yaml"],
    stdin:
      "sync: {toHost: {endpoints: {patches: [{path: 'subsets[*].addresses[*].hostname', expression: value}, {path: 'subsets[*].notReadyAddresses[*].hostname', expression: value}]}}}",
    out: /^Found 2 patches on endpoints\.\nFuel [^\n]*\nThe configuration is valid/,
    err: /^/,
  },
  {
    why: "has nothing to say of a policy that allows what patches write",
    argv: ["validate", "moved.yaml", "--settings", "moved-pods.yaml"],
    out: `Found 1 patch on endpoints.\n${fuel("28,000", "110,000")}${hint("subsets[*].addresses[*].ip")}The configuration is valid.\n`,
  },
  {
    why: "warns of given Endpoints that end without an address",
    argv: ["validate", "moved.yaml", "--settings", "pods.yaml", "-f", "-"],
    stdin: "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop}, subsets: [{addresses: [{ip: 10.1.0.7}]}]}",
    out: /with 2 warnings\.\n$/,
    err: /warning ADDRESS_REFUSED sync\.toHost\.endpoints\.patches: Endpoints shop\/web: no address is left on the host\n/,
  },
  {
    why: "does not try patches of Endpoints where slices alone are written, and says that they do nothing",
    argv: ["validate", "moved.yaml", "--settings", "slices.yaml", "--laws"],
    files: { "slices.yaml": "{backends: slices, addressPolicy: {allow: [10.0.0.0/8]}}" },
    out: /Found 1 patch on endpoints\.\n[^]*The configuration is valid, with 1 warning\.\n$/,
    err: /^[^\n]*warning CONFIG_VALUE sync\.toHost\.endpoints\.patches: These patches do nothing: with backends: slices /,
  },
]);
