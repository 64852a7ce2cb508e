import { defineConfig } from "vitest/config";
import { PATIENCE_MS, TEST_MS } from "../test/support/patience.ts";
import { LONG, OWN_COMMANDS } from "./long-tests.ts";
import { skippedReporter } from "./skipped-reporter.ts";

/** Which of the tests: `short` is `npm test`, `long` is `npm run test:long`, `all` is both. Unset: those that the command line names. */
const part = process.env["TESTS"];

export default defineConfig({
  test: {
    include: part === "long" ? [...LONG] : ["test/**/*.test.ts"],
    // Outages take their time, on sockets and a clock that runs: they have a command of their own.
    exclude: [
      ...(process.env["FAULTS"] === undefined ? ["test/suites/faults/!(table).test.ts"] : []),
      ...(part === undefined ? [] : OWN_COMMANDS),
      ...(part === "short" ? LONG : []),
    ],
    setupFiles: ["test/support/setup.ts"],
    // Titles in reports are those of docs/reference/conformance.md: values in them are not cut.
    taskTitleValueFormatTruncate: 200,
    // Deadlines for a machine that is slow or busy, no expectations: what never comes true is red after `PATIENCE_MS` already.
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    reporters: ["default", skippedReporter],
    // A process each: while one thread starts a program, the new process holds the ports that another thread has just given back.
    pool: "forks",
    // `npm test` loads the source twice, not once per file. What a file leaves behind is there for the next one: files share nothing that
    // changes.
    isolate: part !== "short",
    // The machines that this runs on have two cores or more, and some suites start processes of their own.
    maxWorkers: 2,
  },
});
