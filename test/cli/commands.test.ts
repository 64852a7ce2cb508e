/**
 * The program itself, and the commands that tell what is known: `schema` and `explain`.
 */
import { CODES } from "../../src/base/codes.ts";
import { testCommand } from "./command-cases.ts";

const SEE_HELP = "Add --help for the options and an example.";

testCommand("the program", [
  { why: "tells its version", argv: ["--version"], out: /^\d+\.\d+\.\d+\S*\n$/ },
  { why: "tells its commands", argv: ["--help"], out: /^ {2}explain +explain what an error code means/m },
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
    err: /'Blue_1' is invalid\. Expected at most 63 lower-case letters, digits and hyphens/,
  },
]);

testCommand("schema", [
  {
    why: "prints the schema of the configuration",
    argv: ["schema", "config"],
    out: /^\{\n {2}"\$schema": "https:\/\/json-schema\.org/,
  },
  { why: "prints the schema of the settings as YAML", argv: ["schema", "settings", "-o", "yaml"], out: /^\$schema: https:/ },
  { why: "knows no other file", argv: ["schema", "nope"], code: 2, err: /Allowed choices are config, settings, test\./ },
]);

testCommand("explain", [
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
  { why: "takes the reason of an Event", argv: ["explain", "HostNamespaceMissing"], out: /^HOST_NAMESPACE_MISSING\n/ },
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
]);
