/**
 * Measures how long 1,000 patch tests take: the whole command, and a rerun after one file was saved. Prints Markdown.
 *
 *     npm run bench:patch-tests
 *
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { delay, systemClock } from "../src/base/clock.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PROGRAMS = ["src/cli/main.ts", "dist/cli/main.js"].filter((file) => existsSync(join(ROOT, file)));
const TESTS = 1_000;
const FILES = 50;
const ROUNDS = 7;
const RERUNS = 15;
/** Between two saves, in milliseconds. */
const REST_MS = 1_000;

/** The longest that people should wait, in milliseconds. */
const GOALS = { command: 2_000, rerun: 300 };

/** Makes a process say how much processor time it took, on standard error. */
const TELL_CPU = `data:text/javascript,${encodeURIComponent(
  'process.on("exit", () => { const { user, system } = process.cpuUsage(); process.stderr.write(`\\ncpu ${(user + system) / 1000}\\n`); })',
)}`;

const folder = mkdtempSync(join(tmpdir(), "patch-tests-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true }));

const CONFIG = `sync:
  toHost:
    endpoints:
      patches:
        - path: subsets[*].addresses[*].ip
          expression: value.replace(/^10\\./, "100.")
`;

const HEAD = `apiVersion: cli.endpointsync.dev/v1alpha1
kind: PatchTest
config: ../vcluster.yaml
objects:
  web:
    metadata: { name: web, namespace: shop }
    subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ port: 80 }] }]
tests:
`;

/** Tests of a file, each with statements of its own. */
function manyTests(file: number, count: number): string {
  const one = (index: number) => `  - it: moves ${index}
    object: web
    set: { 'subsets[0].addresses[0].ip': 10.1.${file}.${index + 1} }
    asserts:
      - equal: { path: 'subsets[0].addresses[0].ip', value: 100.1.${file}.${index + 1} }
      - unchanged: { except: ['subsets[*].addresses[*].ip'] }
`;
  return HEAD + Array.from({ length: count }, (_, index) => one(index)).join("");
}

function cases(count: number): string {
  const one = (index: number) => {
    const rest = `0.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    return `      - { in: 10.${rest}, out: 100.${rest} }\n`;
  };
  const lines = Array.from({ length: count }, (_, index) => one(index)).join("");
  return `${HEAD}  - it: cases\n    object: web\n    path: subsets[0].addresses[0].ip\n    cases:\n${lines}`;
}

function writeFiles(): void {
  for (const name of ["one", "many"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "vcluster.yaml"), CONFIG);
  writeFileSync(join(folder, "one/cases.patch-test.yaml"), cases(TESTS));
  for (let file = 0; file < FILES; file += 1) {
    writeFileSync(join(folder, "many", `${file}.patch-test.yaml`), manyTests(file, TESTS / FILES));
  }
}

function start(program: string, ...argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["--import", TELL_CPU, join(ROOT, program), "test", ...argv], { cwd: folder, stdio: "pipe" });
}

/** Wall time and processor time of the whole command, in milliseconds. */
async function runOnce(program: string, name: string): Promise<{ wallMs: number; cpuMs: number }> {
  const startedMs = performance.now();
  const child = start(program, name);
  const [stdout, stderr] = [collect(child.stdout!), collect(child.stderr!)];
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0 || !stdout().includes(`PASS ${TESTS.toLocaleString("en-US")} `)) throw new Error(stdout() + stderr());
  return { wallMs: performance.now() - startedMs, cpuMs: Number(/^cpu ([\d.]+)$/m.exec(stderr())![1]) };
}

/** Wall times from a save to the end of its rerun, in milliseconds. */
async function rerunTimes(program: string, saved: (round: number) => { file: string; text: string }): Promise<number[]> {
  const child = start(program, "--watch", "many");
  const stdout = collect(child.stdout!);
  const ended = once(child, "close").then(() => Promise.reject(new Error(stdout())));
  ended.catch(() => undefined);
  const until = async (count: number) => {
    const waits = new Promise<void>((resolve) => {
      const look = () => {
        if (stdout().split("Ctrl-C ends.").length <= count) return;
        child.stdout!.off("data", look);
        resolve();
      };
      child.stdout!.on("data", look);
      look();
    });
    await Promise.race([waits, ended]);
  };
  const times: number[] = [];
  await until(1);
  for (let round = 0; round < RERUNS; round += 1) {
    // A save in place may be seen half done, and then runs twice: the second run is not the next save's.
    await delay(systemClock, REST_MS);
    const told = stdout().split("Ctrl-C ends.").length - 1;
    const { file, text } = saved(round);
    const startedMs = performance.now();
    writeFileSync(join(folder, file), text);
    await until(told + 1);
    times.push(performance.now() - startedMs);
  }
  child.kill("SIGINT");
  await ended.catch(() => undefined);
  return times;
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.on("data", (chunk) => (text += String(chunk)));
  return () => text;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)]!;
}

function row(what: string, program: string, wallMs: readonly number[], goal: number, cpuMs: readonly number[] = []): string {
  const figures = [median(wallMs), Math.min(...wallMs)].map((ms) => `${Math.round(ms)} ms`);
  const cpu = cpuMs.length === 0 ? "–" : `${Math.round(median(cpuMs))} ms`;
  return `| ${[what, program.split("/")[0], ...figures, cpu, `${goal} ms`, median(wallMs) < goal ? "met" : "missed"].join(" | ")} |`;
}

writeFiles();
console.log("| what | from | median | shortest | processor | goal | |\n| --- | --- | ---: | ---: | ---: | ---: | --- |");
for (const program of PROGRAMS) {
  for (const [name, what] of [
    ["one", `${TESTS} cases in one file`],
    ["many", `${TESTS} tests in ${FILES} files`],
  ] as const) {
    const runs = [];
    for (let round = 0; round < ROUNDS; round += 1) runs.push(await runOnce(program, name));
    console.log(
      row(
        what,
        program,
        runs.map(({ wallMs }) => wallMs),
        GOALS.command,
        runs.map(({ cpuMs }) => cpuMs),
      ),
    );
  }
  const oneFile = await rerunTimes(program, (round) => ({
    file: "many/7.patch-test.yaml",
    text: `${manyTests(7, TESTS / FILES)}# ${round}\n`,
  }));
  console.log(row("rerun after one test file was saved", program, oneFile, GOALS.rerun));
  const config = await rerunTimes(program, (round) => ({ file: "vcluster.yaml", text: `${CONFIG}# ${round}\n` }));
  console.log(row(`rerun of all after their configuration was saved`, program, config, GOALS.command));
}
