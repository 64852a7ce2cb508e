/** A private copy of everything that tests need, so that a seeded bug is nowhere else. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change, NamedTest } from "./catalogue.ts";
import type { SeedsReport } from "./seeds.ts";

const ROOT = join(import.meta.dirname, "../../..");
const COPIED = ["src", "test", "fixtures", ".config", "package.json", "tsconfig.json"];
/** After this time something hangs, on any machine: all seeds are among what has to be done by then. */
const TIMEOUT_MS = 30 * 60_000;
/** A named test is quick: one that takes so long hangs. */
const TEST_MS = 60_000;
const OUTPUT_MAX = 64 * 1024 * 1024;

/** Result of a run of named tests: full titles. */
export interface TestsReport {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

/** A folder in which one command runs at a time. */
export interface Workspace {
  readonly root: string;
  /** Puts the changed texts in place until the answered function is called. */
  change(changes: readonly Change[]): () => void;
  /** Runs so many seeds, or until one fails. */
  seeds(count: number): Promise<SeedsReport>;
  /** Runs the tests of these files whose full title contains one of the texts. */
  tests(named: readonly NamedTest[]): Promise<TestsReport>;
  remove(): void;
}

/** A copy of the working tree as it is now. */
export function createWorkspace(): Workspace {
  const root = mkdtempSync(join(tmpdir(), "endpoint-sync-mutants-"));
  for (const name of COPIED) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  const report = join(root, "report.json");
  return {
    root,
    change(changes) {
      const before = changes.map(({ file }) => [join(root, file), readFileSync(join(root, file), "utf8")] as const);
      for (const { file, find, replace } of changes) {
        const [left, right] = readFileSync(join(root, file), "utf8").split(find) as [string, string];
        writeFileSync(join(root, file), left + replace + right);
      }
      return () => {
        // The other way round: the first text of a file that is changed twice is the right one.
        for (const [path, text] of before.reverse()) writeFileSync(path, text);
      };
    },
    async seeds(count) {
      const { output, code } = await run(root, ["--no-warnings", "test/suites/mutants/seeds.ts", "--seeds", String(count)]);
      const line = output.trim().split("\n").at(-1)!;
      if (code !== 0 || !line.startsWith("{")) throw new Error(`The simulator did not run:\n${output.slice(-2_000)}`);
      return JSON.parse(line) as SeedsReport;
    },
    async tests(named) {
      rmSync(report, { force: true });
      const files = [...new Set(named.map(({ file }) => file))];
      const titles = named.map(({ title }) => title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
      const vitest = [
        "node_modules/vitest/vitest.mjs",
        "run",
        "--config",
        ".config/vitest.config.ts",
        "--root",
        ".",
        `--testTimeout=${TEST_MS}`,
      ];
      const { output } = await run(root, [...vitest, "--reporter=json", `--outputFile=${report}`, "-t", titles, ...files]);
      return testsOf(report, output);
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

interface VitestReport {
  readonly testResults: readonly { readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[] }[];
}

function testsOf(report: string, output: string): TestsReport {
  let read: VitestReport;
  try {
    read = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
  } catch {
    throw new Error(`vitest did not run:\n${output.slice(-2_000)}`);
  }
  const all = read.testResults.flatMap(({ assertionResults }) => assertionResults);
  const titles = (wanted: string) => all.filter(({ status }) => status === wanted).map(({ fullName }) => fullName);
  return { passed: titles("passed"), failed: titles("failed") };
}

function run(cwd: string, args: readonly string[]): Promise<{ output: string; code: number }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, timeout: TIMEOUT_MS, maxBuffer: OUTPUT_MAX }, (error, stdout, stderr) => {
      resolve({ output: stderr + stdout, code: error === null ? 0 : 1 });
    });
  });
}
