import { writeFile } from "node:fs/promises";
import { dirname, relative, resolve, sep } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import { createFolders } from "../../apiserver/store/folders.ts";
import type { EngineCache } from "../../workbench/patch-tests/engines.ts";
import type { GoldenWrite, SuiteResult } from "../../workbench/asserts/results.ts";
import { runSuite } from "../../workbench/patch-tests/run-suite.ts";
import type { Terminal } from "../process/terminal.ts";
import type { NameFilter } from "./name-filter.ts";
import { hasFailed, type RanSuite } from "./reporters/report.ts";

/** How test files are run. */
export interface RunTestsOptions {
  /** Default: all tests. */
  readonly filter?: NameFilter;
  /** Updates golden files. */
  readonly update?: boolean;
  /** Stops after the first file with a failure. */
  readonly failFast?: boolean;
  readonly coverage?: boolean;
}

/** Tools for running files. */
export interface RunTools {
  readonly terminal: Pick<Terminal, "read" | "err">;
  readonly engines: EngineCache;
  /** Reads a file of a test. Default: from the terminal. */
  readonly read?: (file: string, suite: string) => Promise<string>;
}

/**
 * Runs test files one after the other, and reports each file when it has run. Skips files without a test that matches the filter.
 *
 * @throws CONFIG_FILE when a golden file cannot be written.
 */
export async function runTests(
  files: readonly string[],
  options: RunTestsOptions,
  tools: RunTools,
  report: (ran: RanSuite) => void,
): Promise<RanSuite[]> {
  const all: RanSuite[] = [];
  for (const file of files) {
    const ran = await runFile(file, options, tools);
    if (options.filter !== undefined && isIdle(ran.suite)) continue;
    all.push(ran);
    report(ran);
    if (options.failFast === true && hasFailed(ran.suite)) break;
  }
  return all;
}

/** Reports whether a file has no result, because none of its tests was selected. */
function isIdle({ results, problems }: SuiteResult): boolean {
  return results.length === 0 && problems.length === 0;
}

async function runFile(file: string, options: RunTestsOptions, { terminal, engines, read }: RunTools): Promise<RanSuite> {
  const startedMs = systemClock.monotonic();
  const { filter, update = false, coverage = false } = options;
  const suite = await runSuite(file, {
    read: (name) => (read === undefined ? terminal.read(name) : read(name, file)),
    ...(filter !== undefined && { filter }),
    update,
    coverage,
    engines,
    now: () => systemClock.monotonic(),
  });
  if (update) for (const write of suite.writes) await writeGolden(terminal, file, write);
  return { suite, ms: systemClock.monotonic() - startedMs };
}

async function writeGolden({ err }: Pick<Terminal, "err">, suite: string, { file, text }: GoldenWrite): Promise<void> {
  if (![".", dirname(suite)].some((folder) => isBelow(file, folder))) {
    const hint = "Keep golden files next to the tests, or run from a folder that contains both";
    throw new EngineError(
      "CONFIG_FILE",
      `Refusing to write "${file}": it is outside both the folder of ${suite} and the working directory`,
      {
        details: { hint },
      },
    );
  }
  try {
    await createFolders(dirname(file), 0o777);
    await writeFile(file, text);
  } catch (error) {
    throw new EngineError("CONFIG_FILE", `Cannot write "${file}": ${messageOf(error)}`, { cause: error });
  }
  err(`Wrote ${file}`);
}

function isBelow(file: string, folder: string): boolean {
  const near = relative(resolve(folder), resolve(file));
  return near !== ".." && !near.startsWith(`..${sep}`);
}
