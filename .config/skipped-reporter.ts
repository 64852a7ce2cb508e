/**
 * Says at the end of a run which tests were skipped: per file and group, with how many. Most are skipped where a program is not
 * installed.
 */
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** A reporter beside vitest's own. */
export const skippedReporter: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const counts = new Map<string, number>();
    for (const testModule of modules) {
      for (const test of testModule.children.allTests("skipped")) {
        const group = `${testModule.relativeModuleId} › ${groupOf(test)}`;
        counts.set(group, (counts.get(group) ?? 0) + 1);
      }
    }
    for (const [group, count] of counts) console.log(`skipped: ${group}${count > 1 ? ` (${count} tests)` : ""}`);
  },
};

/** The outermost group of a test; its own name when it has none. */
function groupOf(test: TestCase): string {
  return test.fullName.split(" > ")[0]!;
}
