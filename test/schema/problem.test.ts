import { describe, expect, test } from "vitest";
import { codeFrame, formatProblem, PROBLEMS_MAX, Report, sortProblems, type Problem } from "../../src/schema/problem.ts";

const PROBLEM: Problem = {
  code: "CONFIG_UNKNOWN_FIELD",
  severity: "error",
  message: 'Unknown field "expresion"',
  file: "vcluster.yaml",
  line: 7,
  column: 11,
  field: "sync.toHost.endpoints.patches[1]",
  hint: 'Did you mean "expression"?',
};

describe("formatProblem", () => {
  test("says place, severity, code, field, message and hint in one line", () => {
    expect(formatProblem(PROBLEM)).toBe(
      'vcluster.yaml:7:11: error CONFIG_UNKNOWN_FIELD sync.toHost.endpoints.patches[1]: Unknown field "expresion". Did you mean "expression"?',
    );
  });

  test("leaves out what there is none of", () => {
    expect(formatProblem({ ...PROBLEM, line: 0, column: 0, file: "<object>", field: "", hint: "" })).toBe(
      '<object>: error CONFIG_UNKNOWN_FIELD: Unknown field "expresion"',
    );
  });

  test("shows the line with a caret when it has the text", () => {
    const text = "a: 1\nb:\n  - c\n";
    expect(
      formatProblem({ ...PROBLEM, line: 3, column: 5 }, { text })
        .split("\n")
        .slice(1),
    ).toEqual(["  1 | a: 1", "  2 | b:", "> 3 |   - c", "    |     ^"]);
    expect(formatProblem({ ...PROBLEM, line: 0 }, { text })).not.toContain("\n");
  });
});

describe("codeFrame", () => {
  test("keeps tabs, so that the caret stands where it should", () => {
    expect(codeFrame("\tb: 1", { line: 1, column: 2 })).toBe("> 1 | \tb: 1\n    | \t^");
  });

  test("cuts long lines around the caret", () => {
    const frame = codeFrame(`a: ${"x".repeat(500)}!${"y".repeat(500)}`, { line: 1, column: 504 }).split("\n");
    expect(frame[0]!.length).toBeLessThan(140);
    expect(frame[0]![frame[1]!.indexOf("^")]).toBe("!");
  });
});

describe("Report", () => {
  test("keeps the first problems, and an error whatever came before", () => {
    const report = new Report();
    const input = { code: "CONFIG_VALUE", message: "x", at: { file: "f", line: 1, column: 1 }, field: "" } as const;
    for (let count = 0; count < PROBLEMS_MAX + 10; count += 1) report.warning(input);
    expect(report.problems).toHaveLength(PROBLEMS_MAX);
    expect(report.failed).toBe(false);
    for (let count = 0; count < 3; count += 1) report.error(input);
    expect(report.problems.filter((problem) => problem.severity === "error")).toHaveLength(1);
    expect(report.failed).toBe(true);
  });
});

describe("sortProblems", () => {
  test("sorts by place within a file and keeps the order of files", () => {
    const at = (file: string, line: number, column: number) => ({ ...PROBLEM, file, line, column });
    const sorted = sortProblems([at("b", 2, 1), at("a", 9, 9), at("b", 1, 5), at("a", 9, 1)]);
    expect(sorted.map(({ file, line, column }) => `${file}:${line}:${column}`)).toEqual(["b:1:5", "b:2:1", "a:9:1", "a:9:9"]);
  });
});
