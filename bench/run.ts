/**
 * Runs benches, each in a separate process so that they do not affect each other, and prints Markdown.
 *
 *     node --no-node-snapshot bench/run.ts                 all of them
 *     node --no-node-snapshot bench/run.ts path queue      those whose file names begin with these words
 *     node --no-node-snapshot bench/run.ts --quick         every case once, to see that it still runs
 *     node --no-node-snapshot bench/run.ts --report        more rounds; writes the figures and the plots of docs/performance.md
 *
 * @module
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type Bench, measure, type MeasureOptions } from "./measure.ts";
import { leftOut } from "./peers.ts";
import { type Result, toMarkdown, writeReport } from "./report.ts";

const SUFFIX = ".bench.ts";
const QUICK: MeasureOptions = { rounds: 1, sampleMs: 0 };
const REPORT: MeasureOptions = { rounds: 31 };
/** Names the one bench that a process runs. */
const ONLY = "--only=";

const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const only = flags.find((flag) => flag.startsWith(ONLY))?.slice(ONLY.length);
if (only !== undefined) process.send!(await runBench(only));
else await runAll();

async function runAll(): Promise<void> {
  const results: Result[] = [];
  for (const name of benchNames()) {
    const child = fork(import.meta.filename, [...flags, `${ONLY}${name}`], { execArgv: process.execArgv });
    const result = new Promise<Result>((resolve) => child.once("message", (message) => resolve(message as Result)));
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`Bench "${name}" failed`);
    results.push(await result);
  }
  if (flags.includes("--report")) writeReport(results);
}

function benchNames(): string[] {
  return readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .filter((name) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)))
    .sort();
}

async function runBench(name: string): Promise<Result> {
  const { question, groups, stop } = (await import(`./${name}${SUFFIX}`)) as Bench;
  console.log(`## ${name}\n\n${question}\n`);
  const measured = [];
  for (const group of await groups()) {
    measured.push(await measure(group, flags.includes("--quick") ? QUICK : flags.includes("--report") ? REPORT : {}));
    console.log(`${toMarkdown(measured.at(-1)!)}\n`);
  }
  await stop?.();
  for (const [peer, why] of leftOut) console.log(`Left out: ${peer}, for ${why}.\n`);
  return { bench: name, question, groups: measured, leftOut: [...leftOut] };
}
