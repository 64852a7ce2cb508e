/**
 * Runs benches and prints Markdown.
 *
 *     node bench/run.ts                 all of them
 *     node bench/run.ts path queue      those whose file name begins so
 *     node bench/run.ts --quick         every case once, to see that it still runs
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { type Bench, measure, toMarkdown } from "./measure.ts";

const SUFFIX = ".bench.ts";
const quick = process.argv.includes("--quick");
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .filter((name) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)))
  .sort();

for (const name of names) {
  const { question, groups } = (await import(`./${name}${SUFFIX}`)) as Bench;
  console.log(`## ${name}\n\n${question}\n`);
  for (const group of await groups()) {
    console.log(`${toMarkdown(group, await measure(group, quick ? { rounds: 1, sampleMs: 0 } : {}))}\n`);
  }
}
