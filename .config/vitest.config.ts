import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/setup.ts"],
    // Titles in reports are those of docs/reference/conformance.md: values in them are not cut.
    taskTitleValueFormatTruncate: 200,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: "threads",
  },
});
