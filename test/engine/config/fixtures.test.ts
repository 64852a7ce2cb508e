import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/engine/config/config.ts";
import { parseSettings } from "../../../src/engine/config/settings.ts";
import type { Problem } from "../../../src/schema/problem.ts";

const ROOT = join(import.meta.dirname, "../../../fixtures/config");
const VCLUSTER = { name: "blue", namespace: "vc-blue" };

/** Problems as `<file>.problems` holds them: UPDATE_FIXTURES=1 writes these files, and a review reads the difference. */
function lines(problems: readonly Problem[]): string {
  return problems.map(({ line, column, severity, code, field }) => `${line}:${column} ${severity} ${code} ${field}`.trim() + "\n").join("");
}

function check(file: string, read: (text: string) => readonly Problem[]): void {
  const golden = file.replace(/\.yaml$/, ".problems");
  const got = lines(read(readFileSync(file, "utf8")));
  if (process.env["UPDATE_FIXTURES"] === "1" && got !== "") writeFileSync(golden, got);
  expect(got).toBe(existsSync(golden) ? readFileSync(golden, "utf8") : "");
}

describe.each(["good", "warnings", "bad"])("%s configurations", (folder) => {
  const files = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".yaml"));
  test.each(files)("%s has exactly its problems", (name) => {
    check(join(ROOT, folder, name), (text) => {
      const result = parseConfig(text, { file: name, vcluster: VCLUSTER });
      expect(result.ok).toBe(folder !== "bad");
      return result.ok ? result.warnings : result.problems;
    });
  });
});

describe.each(["settings-good", "settings-bad"])("%s", (folder) => {
  const files = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".yaml"));
  test.each(files)("%s has exactly its problems", (name) => {
    check(join(ROOT, folder, name), (text) => {
      const result = parseSettings(text, { file: name });
      expect(result.ok).toBe(folder === "settings-good");
      return result.ok ? result.warnings : result.problems;
    });
  });
});
