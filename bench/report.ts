/** Measurements, as readable text. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { digits, type Goal, type Measured, ratioOf, rowsOf } from "./measure.ts";
import { versionOf } from "./peers.ts";
import { plot } from "./plot.ts";

/** A bench that was run. */
export interface Result {
  readonly bench: string;
  readonly question: string;
  readonly groups: readonly Measured[];
  /** Peers that were left out, each with the reason. */
  readonly leftOut: readonly (readonly [peer: string, why: string])[];
}

const DOCS = join(import.meta.dirname, "..", "docs");
const PAGE = join(DOCS, "performance.md");
const BEGIN = "<!-- figures: npm run bench:report writes what follows -->";
const PACKAGES = ["isolated-vm", "json-p3", "jsonpath-plus", "lodash", "quickjs-emscripten"];
const plotOf = (bench: string) => `performance-${bench}.svg`;

/** A group's results as a Markdown table. */
export function toMarkdown(measured: Measured): string {
  const lines = rowsOf(measured).map(
    ({ name, medianUs, ratio, ratioLow, ratioHigh }) =>
      `| ${name} | ${digits(medianUs)} | ${digits(ratio)} | ${digits(ratioLow)} to ${digits(ratioHigh)} |`,
  );
  const head = `| ${measured.title} | median, µs | × ${measured.baseline} | lowest to highest |\n| --- | ---: | ---: | ---: |`;
  return [head, ...lines].join("\n");
}

/** Replaces the figures of docs/performance.md and its plots. */
export function writeReport(results: readonly Result[]): void {
  const prose = readFileSync(PAGE, "utf8").split(BEGIN)[0]!;
  const figures = [provenance(results), goalTable(results), ...results.flatMap(section)];
  writeFileSync(PAGE, `${prose}${BEGIN}\n\n${figures.join("\n\n")}\n`);
}

function provenance(results: readonly Result[]): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? "";
  const machine = `${model === "" ? "a processor without a name" : model}, ${processors.length} cores, Node ${process.versions.node}`;
  const packages = PACKAGES.flatMap((name) => (versionOf(name) === undefined ? [] : [`${name} ${versionOf(name)}`]));
  const missing = new Map(results.flatMap(({ leftOut }) => leftOut));
  const left = [...missing].map(([name, why]) => ` Left out: ${name}, for ${why}.`);
  return `Measured at commit ${commit()} on ${machine}, with ${packages.join(", ")}.${left.join("")} ${load()}`;
}

/** Whether the machine was busy with something else: a bench alone makes a load of about one. */
function load(): string {
  return `Load average at the end: ${loadavg()[0]!.toFixed(1)}.`;
}

/** The commit that was measured, with a plus where sources have changed since. */
function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: DOCS, encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--untracked-files=no", "--", "../src", "../bench") !== "";
  return `\`${git("rev-parse", "--short", "HEAD")}${changed ? "+" : ""}\``;
}

function goalTable(results: readonly Result[]): string {
  const measured = results.flatMap(({ groups }) => groups);
  const lines = measured.flatMap((group) => (group.goals ?? []).flatMap((goal) => goalLine(goal, group)));
  const head = "### Goals\n\n| what | goal | measured | |\n| --- | ---: | ---: | --- |";
  return [head, ...lines].join("\n");
}

function goalLine({ of, against, atMost, atLeast }: Goal, measured: Measured): string[] {
  const ratio = atMost === undefined ? ratioOf(measured, against, of) : ratioOf(measured, of, against);
  if (ratio === undefined) return [];
  const met = atMost === undefined ? ratio >= atLeast! : ratio <= atMost;
  const bound = atMost === undefined ? `at least ${atLeast} × as fast` : `at most ${atMost} × the time`;
  return [`| ${measured.title}: ${of} compared with ${against} | ${bound} | ${digits(ratio)} × | ${met ? "met" : "missed"} |`];
}

function section({ bench, question, groups }: Result): string[] {
  const picture = plot(groups);
  if (picture !== undefined) writeFileSync(join(DOCS, plotOf(bench)), picture);
  const shown = picture === undefined ? [] : [`![Time of each way compared with this package](${plotOf(bench)})`];
  return [`### ${bench}`, question, ...shown, ...groups.map(toMarkdown)];
}
