/**
 * Is a test red by chance? Runs the tests in a random order, in another random order with files that share a process, on one core, beside
 * programs that keep both cores busy, and on a machine that stands still for most of the time; names what fails in each way.
 *
 *   npm run test:chance -- [--ways order,shared,one-core,busy,slow] [--times 1] [--seed N] [--scripts NAMES] [TEST FILES]
 *
 * Properties are tried with other cases each time. Without files it runs all of `npm run test:all`, and `shared` the files of `npm test`.
 * `--scripts test:faults,test:cuts` runs these suites instead, and `--scripts all` each suite that starts processes, in a short form: those
 * of vitest in all ways but `shared`, the others, which their exit code judges, on one core, beside programs and on the slow machine. What
 * is red in one way and green in another one is red by chance: a bug of the test, or one of the product that only some machines show. The
 * exit code is 1 when something was red.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seedOf } from "../outside/cases.ts";
import { ROOT, temporaryFolder } from "../outside/processes.ts";

/** A slow machine runs for the first and stands still for the second of these, in milliseconds. */
const RUNS_MS = 25;
const STANDS_MS = 75;

/** Last characters of the output of a suite that was red. */
const REPORTED_MAX = 2_000;

/** Suites with processes of their own, and their short forms. */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  "test:faults": [],
  "test:etcd": [],
  "test:chaos": ["--minutes", "1"],
  "test:owners": ["--pairs", "3"],
  "test:edits": [],
  "test:cuts": ["--short"],
  "test:versions": ["--rounds", "6"],
  "test:replicas": ["--minutes", "0.5"],
  "test:management-chaos": ["--minutes", "0.5"],
  "test:restores": ["--restores", "7", "--within", "60"],
  "test:attackers": ["--count-only"],
  "test:callers": ["--count-only"],
};

interface Way {
  readonly name: string;
  /** Replaces `test:all`; suites of their own are not run in such a way. */
  readonly script?: string;
  /** Prefix of the command. */
  readonly before?: readonly string[];
  /** For vitest; a suite without it is not run in such a way. */
  readonly options?: (seed: number) => readonly string[];
  /** Does something to the run while it lasts; returns what ends it. */
  readonly beside?: (run: ChildProcess) => () => void;
}

const WAYS: readonly Way[] = [
  { name: "order", options: shuffled },
  { name: "shared", script: "test", options: shuffled },
  { name: "one-core", before: ["taskset", "-c", "0"] },
  { name: "busy", beside: keepBusy },
  { name: "slow", beside: standStill },
];

function shuffled(seed: number): readonly string[] {
  return ["--sequence.shuffle.files", "--sequence.shuffle.tests", `--sequence.seed=${seed}`];
}

/** As many programs as there are cores, and one more, that do nothing but count. */
function keepBusy(): () => void {
  const programs = Array.from({ length: availableParallelism() + 1 }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  return () => programs.forEach((program) => program.kill("SIGKILL"));
}

/** Stops and continues all processes of the run, so that clocks run and programs do not. */
function standStill(run: ChildProcess): () => void {
  let stands = false;
  let timer: NodeJS.Timeout;
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-run.pid!, name);
    } catch {
      // It is over.
    }
  };
  const turn = (): void => {
    stands = !stands;
    signal(stands ? "SIGSTOP" : "SIGCONT");
    timer = setTimeout(turn, stands ? STANDS_MS : RUNS_MS);
  };
  turn();
  return () => {
    clearTimeout(timer);
    signal("SIGCONT");
  };
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** Runs the tests in one way, and says what was red. */
async function playTests(way: Way, seed: number, script: string, files: readonly string[]): Promise<string[]> {
  const path = join(temporaryFolder(), "report.json");
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${path}`];
  const { code, output } = await run(way, seed, [script, "--", ...reporters, ...(way.options?.(seed) ?? []), ...files]);
  const report = read(path);
  if (report === undefined) return [`no report; it ended with ${code}: ${output}`];
  console.log(`  ${report.numPassedTests} passed`);
  const red = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === "failed");
    const place = name.slice(ROOT.length + 1);
    if (failed.length === 0) return status === "failed" ? [`${place}: ${message}`] : [];
    return failed.map(({ fullName, failureMessages = [] }) => `${place} › ${fullName}\n      ${failureMessages.join("\n").slice(0, 600)}`);
  });
  return code === 0 || red.length > 0 ? red : [`it ended with ${code}: ${output}`];
}

/** Runs a suite with an exit code in one way, and says how it ended if it was red. */
async function playSuite(way: Way, seed: number, script: string): Promise<string[]> {
  const { code, output } = await run(way, seed, [script, "--", ...SUITES[script]!]);
  console.log(`  ${output.trim().split("\n").at(-1) ?? ""}`);
  return code === 0 ? [] : [`it ended with ${code}: ${output.slice(-REPORTED_MAX)}`];
}

/** Runs a script of the package in one way, to its end. */
async function run({ before = [], beside }: Way, seed: number, argv: readonly string[]): Promise<{ code: number | null; output: string }> {
  const [program, ...rest] = [...before, "npm", "run", "--silent", ...argv];
  const env = { ...process.env, SEED: String(seed) };
  const child = spawn(program!, rest, { cwd: ROOT, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-4_000)));
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const end = beside?.(child);
  const code = await ended;
  end?.();
  return { code, output };
}

function read(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return undefined;
  } finally {
    rmSync(path, { force: true });
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ways: { type: "string", default: WAYS.map(({ name }) => name).join() },
    times: { type: "string", default: "1" },
    seed: { type: "string" },
    scripts: { type: "string" },
  },
});
const seed = seedOf(values.seed);
const wanted = values.ways.split(",");
const suites = values.scripts === "all" ? Object.keys(SUITES) : (values.scripts?.split(",") ?? []);
for (const [asked, known] of [
  [wanted, WAYS.map(({ name }) => name)],
  [suites, Object.keys(SUITES)],
] as const) {
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length === 0) continue;
  console.error(`Unknown: ${unknown.join(", ")}. There are ${known.join(", ")}.`);
  process.exit(2);
}
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
for (let time = 0; time < Number(values.times); time += 1) {
  for (const way of WAYS.filter(({ name }) => wanted.includes(name))) {
    if (way.before !== undefined && spawnSync(way.before[0]!, ["--version"]).status !== 0) {
      console.log(`${way.name}: skipped, as this machine has no ${way.before[0]}`);
      continue;
    }
    for (const script of suites.length > 0 ? suites : [way.script ?? "test:all"]) {
      const isSuite = script in SUITES;
      const isVitest = scripts[script]!.includes("vitest run");
      if (isSuite && (way.script !== undefined || (way.options !== undefined && !isVitest))) continue;
      console.log(`${way.name}, ${script}, seed ${seed + time}`);
      const red = isVitest ? await playTests(way, seed + time, script, positionals) : await playSuite(way, seed + time, script);
      for (const one of red) console.log(`  RED ${one}`);
      if (red.length > 0) process.exitCode = 1;
    }
  }
}
