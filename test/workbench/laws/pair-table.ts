/**
 * Sixty pairs of expressions with the verdict that is right for them, and what it can rest on.
 *
 * @module
 */
import type { PairEvidence, PairVerdict } from "../../../src/workbench/laws/report.ts";

/** One pair: where it stands, its two expressions, and what is true of it. */
export interface TablePair {
  readonly path: string;
  readonly expression: string;
  readonly reverseExpression: string;
  readonly verdict: PairVerdict;
  readonly evidence: PairEvidence["kind"];
}

const IP = "subsets[*].addresses[*].ip";
const NODE = "subsets[*].addresses[*].nodeName";
const HOSTNAME = "subsets[*].addresses[*].hostname";
const PORT = "subsets[*].ports[*].port";
const PROTOCOL = "subsets[*].ports[*].protocol";
const NOTE = "metadata.annotations.note";
const LABEL = "metadata.labels.tier";
const LABELS = "metadata.labels";

const rows = (
  path: string,
  verdict: PairVerdict,
  evidence: PairEvidence["kind"],
  pairs: readonly (readonly [expression: string, reverseExpression: string])[],
): TablePair[] => pairs.map(([expression, reverseExpression]) => ({ path, expression, reverseExpression, verdict, evidence }));

const SWAP = '({ a: "b", b: "a" })[value] ?? value';

/** The table. */
export const PAIR_TABLE: readonly TablePair[] = [
  ...rows(NOTE, "lossless", "proved", [
    ["value", "value"],
    ['"x-" + value', "value.slice(2)"],
    ['"x-" + value', 'value.slice("x-".length)'],
    ["`x-${value}`", "value.substring(2)"],
    ["`<${value}>`", "value.slice(1, -1)"],
    ['value + "-x"', "value.slice(0, -2)"],
    ["encodeURIComponent(value)", "decodeURIComponent(value)"],
    ['"v:" + encodeURIComponent(value)', "decodeURIComponent(value.slice(2))"],
    ['value === "a" ? "b" : value === "b" ? "a" : value', 'value === "a" ? "b" : value === "b" ? "a" : value'],
  ]),
  ...rows(PORT, "lossless", "proved", [
    ["value + 1000", "value - 1000"],
    ["value === 80 ? 8080 : value === 8080 ? 80 : value", "value === 80 ? 8080 : value === 8080 ? 80 : value"],
  ]),
  ...rows(PROTOCOL, "lossless", "proved", [["value", "value"]]),
  ...rows(PROTOCOL, "lossless", "exhausted", [
    ['({ TCP: "UDP", UDP: "SCTP", SCTP: "TCP" })[value]', '({ UDP: "TCP", SCTP: "UDP", TCP: "SCTP" })[value]'],
  ]),
  ...rows(LABEL, "lossless", "proved", [['"x" + value', "value.slice(1)"]]),
  ...rows(NOTE, "lossless", "tried", [
    ['value.split("").reverse().join("")', 'value.split("").reverse().join("")'],
    ["JSON.stringify({ value })", "JSON.parse(value).value"],
    ["JSON.stringify(value)", "JSON.parse(value)"],
    ['"x-" + value', 'value.replace(/^x-/, "")'],
    ['"x-" + value', 'value.startsWith("x-") ? value.slice(2) : value'],
    ['["x", value].join("-")', 'value.split("-").slice(1).join("-")'],
    ['"a".concat(value)', "value.slice(1)"],
  ]),
  ...rows(LABEL, "lossless", "tried", [[SWAP, SWAP]]),
  ...rows(NODE, "lossless", "tried", [['value + ".blue"', 'value.replace(/[.]blue$/, "")']]),
  ...rows(IP, "lossless", "tried", [
    [
      'value.startsWith("10.1.") ? "172.20." + value.slice(5) : value.startsWith("172.20.") ? "10.1." + value.slice(7) : value',
      'value.startsWith("10.1.") ? "172.20." + value.slice(5) : value.startsWith("172.20.") ? "10.1." + value.slice(7) : value',
    ],
  ]),
  ...rows(IP, "drifts", "counterExample", [
    ['value.replace(/^10\\.1\\./, "172.20.")', 'value.replace(/^172\\.20\\./, "10.1.")'],
    ['value.startsWith("10.1.") ? "172.20." + value.slice(5) : value', 'value.startsWith("172.20.") ? "10.1." + value.slice(7) : value'],
    ['value.replace("192.168.", "10.0.")', 'value.replace("10.0.", "192.168.")'],
    ['value.replace(/^10[.]/, "192.")', 'value.replace(/^192[.]/, "10.")'],
    ['value.replace(/[.](\\d+)$/, ".1")', "value"],
    ['value.split(".").slice(0, 3).join(".") + ".7"', "value"],
    ['value === "10.0.0.1" ? "10.0.0.2" : value', 'value === "10.0.0.2" ? "10.0.0.1" : value'],
  ]),
  ...rows(PORT, "drifts", "counterExample", [
    ["value === 8080 ? 80 : value", "value === 80 ? 8080 : value"],
    ["Math.min(value, 30000)", "value"],
    ["value - (value % 10)", "value"],
    ["value === 443 ? 8443 : value", "value"],
  ]),
  ...rows(PROTOCOL, "drifts", "counterExample", [
    ['value === "SCTP" ? "TCP" : value', "value"],
    ['"TCP"', '"TCP"'],
  ]),
  ...rows(NOTE, "drifts", "counterExample", [
    ['value === "" ? "none" : value', 'value === "none" ? "" : value'],
    ['value.startsWith("x-") ? value : "x-" + value', "value.slice(2)"],
    ['value.replace(/^prod$/, "production")', 'value.replace(/^production$/, "prod")'],
    ['({ a: "b", b: "c" })[value] ?? value', '({ b: "a", c: "b" })[value] ?? value'],
    ["value.toUpperCase()", "value.toLowerCase()"],
    ["value.toLowerCase()", "value"],
    ["value.trim()", "value"],
    ["value.trimStart()", "value"],
    ["value.slice(0, 63)", "value"],
    ["value.normalize()", "value"],
    ['value.replaceAll("-", "_")', 'value.replaceAll("_", "-")'],
    ['value.replace(/\\s+/g, " ")', "value"],
    ['value.padStart(5, "0")', 'value.replace(/^0+/, "")'],
    ['value.split(",")[0]', "value"],
    ["value.slice(1)", '"x" + value'],
    ['value.replace(/^team-/, "")', '"team-" + value'],
  ]),
  ...rows(LABEL, "drifts", "counterExample", [["value.toLowerCase()", "value"]]),
  ...rows(HOSTNAME, "drifts", "counterExample", [['value.replace(/-\\d+$/, "")', "value"]]),
  ...rows(LABELS, "drifts", "counterExample", [
    ['({ ...value, "example.com/from": "blue" })', '(({ "example.com/from": _from, ...rest }) => rest)(value)'],
  ]),
  ...rows(NOTE, "oscillates", "counterExample", [
    ['"x-" + value', "value"],
    ['"my-prefix-" + value', "value.slice(9)"],
    ["value", 'value === "on" ? "off" : value === "off" ? "on" : value'],
  ]),
  ...rows(PORT, "oscillates", "counterExample", [["value", "value + 1"]]),
];
