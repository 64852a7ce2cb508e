import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";

const ROOT = join(import.meta.dirname, "../../../fixtures/management/config");

/** `<file>.problems` holds them: UPDATE_FIXTURES=1 writes these files, and a review reads the difference. */
describe.each(["good", "warnings", "bad"])("%s configurations of the platform", (folder) => {
  const files = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".yaml"));
  test.each(files)("%s has exactly its problems", (name) => {
    const file = join(ROOT, folder, name);
    const result = parseManagementConfig(readFileSync(file, "utf8"), { file: name });
    const problems = result.ok ? result.warnings : result.problems;
    const got = problems
      .map(({ line, column, severity, code, field, message }) => `${`${line}:${column} ${severity} ${code} ${field}`.trim()}: ${message}\n`)
      .join("");
    const golden = file.replace(/\.yaml$/, ".problems");
    if (process.env["UPDATE_FIXTURES"] === "1" && got !== "") writeFileSync(golden, got);
    expect(got).toBe(existsSync(golden) ? readFileSync(golden, "utf8") : "");
    expect(result.ok).toBe(folder !== "bad");
  });
});
