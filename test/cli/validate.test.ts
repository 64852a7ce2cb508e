/**
 * `validate`: what it finds in configurations and settings, and where.
 */
import { BAD, BAD_TYPE, BAD_FIELD, OPEN, testCommand } from "./command-cases.ts";

testCommand("validate", [
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
    why: "reports every file that cannot be read, and settings beside them",
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
]);
