import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Outages take their time, on sockets and a clock that runs: they have a command of their own.
    exclude: process.env["FAULTS"] === undefined ? ["test/faults/!(table).test.ts"] : [],
    setupFiles: ["test/support/setup.ts"],
    // Titles in reports are those of docs/reference/conformance.md: values in them are not cut.
    taskTitleValueFormatTruncate: 200,
    // Deadlines for a machine that is slow or busy, no expectations.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "threads",
    maxWorkers: 2,
  },
});
