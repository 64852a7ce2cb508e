/**
 * The guides where the tarball is installed: the tests that type their commands, each in an empty folder, with the package's command and files.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { GUIDE_PACKAGE } from "../../support/guide-shell.ts";
import { run } from "./command.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** Those whose commands run in a shell; the others hand their blocks to the program itself. */
const TESTS = ["deploy", "embedded-cluster", "management", "run-beside-vcluster", "test-your-patches", "two-clusters"];

/**
 * Runs them, and gives how many passed.
 *
 * @throws CommandError when a block fails, or does not print what its page says.
 */
export async function checkGuides(packageFolder: string): Promise<number> {
  const files = TESTS.map((name) => `test/docs/${name}.test.ts`);
  const vitest = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--config", ".config/vitest.config.ts", "--root", "."];
  const words = [process.execPath, ...vitest, "--reporter=default", ...files];
  const printed = await run(ROOT, ["env", `${GUIDE_PACKAGE}=${packageFolder}`, "TESTS=all", "NO_COLOR=1", ...words]);
  const passed = Number(/^ *Tests +(\d+) passed/m.exec(printed)?.[1] ?? 0);
  if (passed < files.length) throw new Error(`Only ${passed} tests of guides ran:\n${printed}`);
  return passed;
}
