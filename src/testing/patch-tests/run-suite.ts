import type { EngineCache } from "./engines.ts";
import type { SuiteResult } from "./results.ts";

/** What a suite is run with. */
export interface SuiteOptions {
  /** The text of a file; throws when there is none. Names are those of the test file joined with what it says, separated by "/". */
  read(file: string): Promise<string>;
  /** Which results are wanted, by {@link TestResult.name}; others do not run and are not listed. Default: all. */
  readonly filter?: (name: string) => boolean;
  /** Golden files that differ pass, and what they should hold is in `writes`. Default false. */
  readonly update?: boolean;
  /** Measures which patches and which branches of their expressions the tests reach. Default false. */
  readonly coverage?: boolean;
  /** Shares engines between files with the same configuration; its owner disposes of it. Default: one of its own. */
  readonly engines?: EngineCache;
}

/**
 * Runs one patch test file.
 *
 * What is wrong with the file is in `problems`; it never throws for what a file or an expression says.
 *
 * @example
 * const { results } = await runSuite("web.patch-test.yaml", { read: (file) => readFile(file, "utf8") });
 */
export async function runSuite(file: string, options: SuiteOptions): Promise<SuiteResult> {
  await options.read(file);
  return { file, name: file, problems: [], results: [], writes: [], reads: [file] };
}
