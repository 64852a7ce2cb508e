/**
 * Forty-four configurations with a mistake: each is found before any cluster is asked, at its place, with what helps.
 */
import { describe, expect, test } from "vitest";
import { run } from "./support.ts";

interface Mistake {
  readonly why: string;
  /** `vcluster.yaml`. */
  readonly config: string;
  readonly settings?: string;
  /** An object for -f. */
  readonly object?: string;
  readonly code: string;
  /** In the message or its remedy. */
  readonly says: RegExp;
}

const SETTINGS = "addressPolicy: { allow: [10.0.0.0/8] }\n";
const patch = (path: string, expression: string, reverse?: string) =>
  JSON.stringify({ path, expression, ...(reverse !== undefined && { reverseExpression: reverse }) });
const endpoints = (...patches: readonly string[]) => `sync: { toHost: { endpoints: { patches: [${patches.join(", ")}] } } }\n`;
const services = (...patches: readonly string[]) => endpoints(...patches).replace("endpoints", "services");
const IP = "subsets[*].addresses[*].ip";
const HOSTNAME = "subsets[*].addresses[*].hostname";
const PORT = "subsets[*].ports[*].port";
const NOTE = "metadata.annotations.note";

const MISTAKES: readonly Mistake[] = [
  { why: "port as text", config: endpoints(patch(PORT, "String(value)")), code: "API_INVALID", says: /found string, expected int32/ },
  { why: "port out of range", config: endpoints(patch(PORT, "value + 60000")), code: "API_INVALID", says: /port.*65535/ },
  { why: "port with a fraction", config: endpoints(patch(PORT, "value / 3")), code: "API_INVALID", says: /port/ },
  {
    why: "hostname in capitals",
    config: endpoints(patch(HOSTNAME, "value.toUpperCase()")),
    code: "API_INVALID",
    says: /hostname: Invalid value: "WEB-0"/,
  },
  { why: "hostname with a dot", config: endpoints(patch(HOSTNAME, 'value + ".blue"')), code: "API_INVALID", says: /hostname/ },
  { why: "hostname that is too long", config: endpoints(patch(HOSTNAME, 'value + "-x".repeat(40)')), code: "API_INVALID", says: /63/ },
  { why: "hostname as number", config: endpoints(patch(HOSTNAME, "7")), code: "API_INVALID", says: /found number, expected string/ },
  {
    why: "port name with a capital",
    config: endpoints(patch("subsets[*].ports[*].name", "value.toUpperCase()")),
    code: "API_INVALID",
    says: /name/,
  },
  {
    why: "protocol in small letters",
    config: endpoints(patch("subsets[*].ports[*].protocol", "value.toLowerCase()")),
    code: "API_INVALID",
    says: /protocol/,
  },
  {
    why: "node name with an underscore",
    config: endpoints(patch("subsets[*].addresses[*].nodeName", '"a_" + value')),
    code: "API_INVALID",
    says: /nodeName/,
  },
  { why: "address that is none", config: endpoints(patch(IP, 'value + ".1"')), code: "", says: /ip|address/i },
  { why: "address with a port", config: endpoints(patch(IP, 'value + ":80"')), code: "", says: /ip|address/i },
  {
    why: "node name as number",
    config: endpoints(patch("subsets[*].addresses[*].nodeName", "1")),
    code: "API_INVALID",
    says: /found number, expected string/,
  },
  {
    why: "service port name with a capital",
    config: services(patch("spec.ports[*].name", "value.toUpperCase()")),
    code: "API_INVALID",
    says: /name/,
  },
  {
    why: "settings with a network that is none",
    config: endpoints(patch(NOTE, "value")),
    settings: "addressPolicy: { allow: [10.0.0.0/33] }\n",
    code: "CONFIG_VALUE",
    says: /Expected a CIDR/,
  },
  {
    why: "a settings field with a typing error",
    config: endpoints(patch(NOTE, "value")),
    settings: `${SETTINGS}onEror: skip-patch\n`,
    code: "CONFIG_UNKNOWN_FIELD",
    says: /Did you mean "onError"/,
  },
  { why: "service port out of range", config: services(patch("spec.ports[*].port", "value + 70000")), code: "API_INVALID", says: /65535/ },
  {
    why: "addresses that the policy drops once they are patched",
    config: endpoints(patch(IP, 'value.replace(/^10\\.1\\./, "172.20.")')),
    code: "ADDRESS_REFUSED",
    says: /list the networks that patches write/,
  },
  {
    why: "Endpoints that end empty",
    config: endpoints(patch(IP, '"172.20.0.1"')),
    object: "{ apiVersion: v1, kind: Endpoints, metadata: { name: web, namespace: shop }, subsets: [{ addresses: [{ ip: 10.1.0.7 }] }] }",
    code: "ADDRESS_REFUSED",
    says: /no address is left on the host/,
  },
  { why: "a cloud's metadata address", config: endpoints(patch(IP, '"169.254.169.254"')), code: "", says: /ip|address|link-local/i },
  {
    why: "pair that loses letters' case",
    config: endpoints(patch(NOTE, "value.toUpperCase()", "value.toLowerCase()")),
    code: "REVERSE_NOT_INVERSE",
    says: /drifts/,
  },
  {
    why: "pair of ranges that overlap",
    config: endpoints(patch(IP, 'value.replace(/^10\\.1\\./, "10.2.")', 'value.replace(/^10\\.2\\./, "10.1.")')),
    code: "REVERSE_NOT_INVERSE",
    says: /drifts/,
  },
  {
    why: "pair that cuts too little",
    config: endpoints(patch(NOTE, '"blue-" + value', "value.slice(4)")),
    code: "REVERSE_NOT_INVERSE",
    says: /oscillates/,
  },
  {
    why: "pair that forgets its way back",
    config: endpoints(patch(NOTE, '"blue-" + value', "value")),
    code: "REVERSE_NOT_INVERSE",
    says: /oscillates/,
  },
  {
    why: "pair whose exception goes one way",
    config: endpoints(patch(PORT, "value === 8080 ? 80 : value", "value === 80 ? 8080 : value")),
    code: "REVERSE_NOT_INVERSE",
    says: /drifts: tenant 80/,
  },
  {
    why: "a drift that is accepted and does not happen",
    config: endpoints(patch(NOTE, '"x" + value', "value.slice(1)")),
    settings: `${SETTINGS}acceptedDrifts: [{ path: metadata.annotations.note, reason: known }]\n`,
    code: "CONFIG_VALUE",
    says: /No patch with this path drifts[^]*Remove the entry/,
  },
  {
    why: "patches that are too dear for many addresses",
    config: endpoints(
      patch(IP, 'context.virtualObject.subsets?.[0]?.addresses?.filter((one) => one.ip === value).length > 0 ? value : "10.0.0.1"'),
    ),
    code: "EXPRESSION_FUEL",
    says: /1,000 addresses[^]*objectFuel/,
  },
  {
    why: "a reference that nothing copies",
    config: endpoints("{ path: metadata.annotations.tls, reference: { apiVersion: v1, kind: Secret } }"),
    code: "",
    says: /secrets/,
  },
  { why: "toHost one level off", config: "toHost: { endpoints: { patches: [] } }\n", code: "", says: /sync/ },
  { why: "endpoints one level off", config: "sync: { endpoints: { patches: [] } }\n", code: "", says: /toHost/ },
  { why: "an empty file", config: "", code: "CONFIG_FILE", says: /every default applies/ },
  { why: "a section with a typing error", config: "sync: { toHost: { endpoint: { patches: [] } } }\n", code: "", says: /endpoints/ },
  { why: "toHost in small letters", config: "sync: { tohost: { endpoints: { patches: [] } } }\n", code: "", says: /toHost/ },
  {
    why: "a field of a patch with a typing error",
    config: endpoints(`{ path: ${NOTE}, expresion: value }`),
    code: "CONFIG_UNKNOWN_FIELD",
    says: /Did you mean "expression"/,
  },
  {
    why: "a statement for an expression",
    config: endpoints(patch(NOTE, "return value;")),
    code: "EXPRESSION_SYNTAX",
    says: /Write|Leave out|statement/,
  },
  { why: "a name that is not there", config: endpoints(patch(NOTE, "valeu + 1")), code: "", says: /valeu/ },
  {
    why: "a member that may be absent",
    config: endpoints(patch(NOTE, "context.virtualObject.metadata.labels.app + value")),
    code: "CONFIG_VALUE",
    says: /can be absent[^]*\?\./,
  },
  {
    why: "a filter in a path",
    config: endpoints(patch("subsets[?(@.ip)].ip", "value")),
    code: "PATH_UNSUPPORTED",
    says: /decide in the expression/,
  },
  { why: "a path that no object of the kind has", config: endpoints(patch("spec.ports[*].port", "value")), code: "", says: /spec/ },
  ...[
    { why: "label value with a space", expression: 'value + " x"' },
    { why: "label value with a slash", expression: '"team/" + value' },
    { why: "label value that ends with a dash", expression: 'value + "-"' },
    { why: "label value that is too long", expression: 'value + "-x".repeat(40)' },
  ].map(({ why, expression }) => ({
    why,
    config: endpoints(patch("metadata.labels.app", expression)),
    code: "EXPRESSION_RESULT",
    says: /metadata\.labels\.app: label values have at most 63 letters/,
  })),
  {
    why: "settings that contradict themselves",
    config: endpoints(patch(NOTE, "value")),
    settings: `${SETTINGS}leaderElection: { renewDeadlineSeconds: 60 }\n`,
    code: "CONFIG_VALUE",
    says: /less than leaseDurationSeconds/,
  },
];

test("the table has forty-four rows, no two alike", () => {
  expect(MISTAKES).toHaveLength(44);
  expect(new Set(MISTAKES.map(({ config, settings = "", object = "" }) => config + settings + object)).size).toBe(44);
});

describe("validate --strict --laws finds", () => {
  test.each(MISTAKES)("$why", async ({ config, settings = SETTINGS, object, code, says }) => {
    const files = { "vcluster.yaml": config, "settings.yaml": settings, "object.yaml": object ?? "" };
    const objects = object === undefined ? [] : ["-f", "object.yaml"];
    const told = await run(["validate", "vcluster.yaml", "--settings", "settings.yaml", "--strict", "--laws", ...objects], { files });
    expect(told.code).toBe(2);
    // A line of a file, and unless it is empty a column.
    expect(told.stderr).toMatch(config === "" ? /^vcluster\.yaml: error / : /^(vcluster|settings)\.yaml:\d+:\d+: error /m);
    expect(told.stderr).toContain(` error ${code}`);
    expect(told.stderr).toMatch(says);
  });
});
