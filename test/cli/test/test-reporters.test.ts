/**
 * Reports of one run: the golden texts are in `fixtures/test-reports`, and `vitest -u` writes them again.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { plain } from "../../../src/cli/test/reporters/paint.ts";
import { createReporting, parseReporter, REPORTER_NAMES, type ChosenReporter } from "../../../src/cli/test/reporters/reporters.ts";
import { reportOf, type TestReport } from "../../../src/cli/test/reporters/report.ts";
import { summaryLine } from "../../../src/cli/test/reporters/pretty.ts";
import { createTestTerminal, ROOT, type TestTerminalOptions } from "../support.ts";
import { hostileReport, mixedReport, result, suite } from "./test-results.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-reports-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SCREEN = { screen: { columns: 80, rows: 24 } };

async function told(report: TestReport, chosen: readonly ChosenReporter[], options: TestTerminalOptions = {}): Promise<string> {
  const terminal = createTestTerminal(options);
  const reporting = createReporting(terminal, chosen);
  for (const one of report.suites) reporting.suite(one);
  await reporting.end(report);
  return terminal.stdout;
}

const GOLDEN = {
  pretty: "pretty.txt",
  json: "report.json",
  junit: "junit.xml",
  github: "github.txt",
} as const;

const golden = Object.entries(GOLDEN).map(([name, file]) => ({ name: name as ChosenReporter["name"], file }));

test("there is a golden text of every reporter", () => {
  expect(Object.keys(GOLDEN)).toEqual(REPORTER_NAMES);
});

test.each(golden)("$name tells a run as in $file", async ({ name, file }) => {
  await expect(await told(mixedReport(), [{ name }])).toMatchFileSnapshot(join(ROOT, "fixtures/test-reports", file));
});

describe.each([
  { what: "control characters, markup and commands", text: 'a"<&]]>%\r\n::error::x\u001b[31m # SKIP, b:c\u0000\ud800\uffff' },
  { what: "lines of its own", text: "ok\n</testsuites>\n1..9\n- x\n...\n---" },
  { what: "odd spaces", text: "\u2028a\u202eb\t c\u00a0" },
])("names and messages with $what", ({ text }) => {
  const report = hostileReport(text);

  test("leave XML well-formed, and its characters allowed", async () => {
    const xml = await told(report, [{ name: "junit" }]);
    expect(xmlElements(xml)).toEqual(["testsuites", "testsuite", "testcase", "failure", "testcase", "skipped"]);
    expect(xml).not.toMatch(/[^\t\n\u0020-\ud7ff\ue000-\ufffd]/);
  });

  test("leave one command per failure for GitHub", async () => {
    const lines = (await told(report, [{ name: "github" }])).split("\n").filter((line) => line !== "");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^::error file=[^,:]*\.patch-test\.yaml,line=2,col=3,title=[^,:]*::\S/);
  });

  test("leave JSON readable", async () => {
    expect(JSON.parse(await told(report, [{ name: "json" }]))).toMatchObject({ totals: { failed: 1, skipped: 1 } });
  });

  test("do not move a terminal's cursor", async () => {
    expect(await told(report, [{ name: "pretty" }])).not.toMatch(/(?![\n\t])[\p{C}\u2028]/u);
  });
});

test("a problem without a place has no line for GitHub", async () => {
  const problem = { code: "CONFIG_FILE", severity: "error", message: "There is no such file", field: "", hint: "Check the path" } as const;
  const report = reportOf([{ suite: suite([], { problems: [{ ...problem, file: "a b.yaml", line: 0, column: 0 }] }), ms: 0 }]);
  expect(await told(report, [{ name: "github" }])).toBe("::error file=a b.yaml,title=CONFIG_FILE::There is no such file. Check the path\n");
});

describe("colours", () => {
  test("are shown on a terminal, and mean the same without them", async () => {
    const [painted, bare] = [await told(mixedReport(), [{ name: "pretty" }], SCREEN), await told(mixedReport(), [{ name: "pretty" }])];
    expect(painted).toContain("\u001b[31mFAIL");
    expect(painted.replaceAll(/\u001b\[\d+m/g, "")).toBe(bare);
  });

  test.each([
    { why: "with NO_COLOR", options: { ...SCREEN, env: { NO_COLOR: "1" } } },
    { why: "on a dumb terminal", options: { ...SCREEN, env: { TERM: "dumb" } } },
    { why: "in a pipe", options: {} },
  ])("are not shown $why", async ({ options }) => {
    expect(await told(mixedReport(), [{ name: "pretty" }], options)).not.toContain("\u001b");
  });

  test("are not written into files", async () => {
    const file = join(folder, "new", "pretty.txt");
    expect(await told(mixedReport(), [{ name: "pretty", file }], SCREEN)).toBe("");
    expect(readFileSync(file, "utf8")).toBe(await told(mixedReport(), [{ name: "pretty" }]));
  });
});

describe("several reporters", () => {
  test("tell the same run, each to its place", async () => {
    const file = join(folder, "junit.xml");
    const stdout = await told(mixedReport(), [{ name: "pretty" }, { name: "github" }, { name: "junit", file }]);
    expect(stdout).toBe((await told(mixedReport(), [{ name: "pretty" }])) + (await told(mixedReport(), [{ name: "github" }])));
    expect(readFileSync(file, "utf8")).toBe(await told(mixedReport(), [{ name: "junit" }]));
  });

  test("do not share standard output with a document", async () => {
    await expect(told(mixedReport(), [{ name: "pretty" }, { name: "json" }])).rejects.toMatchObject({
      code: "USAGE",
      message: "Cannot print pretty and json to standard output at the same time",
    });
  });

  test("say when a report cannot be written", async () => {
    await expect(told(mixedReport(), [{ name: "json", file: folder }])).rejects.toMatchObject({ code: "CONFIG_FILE" });
  });
});

test("a reporter is read with its file, in the order given", () => {
  expect(parseReporter("junit=a=b.xml", parseReporter("pretty"))).toEqual([{ name: "pretty" }, { name: "junit", file: "a=b.xml" }]);
  for (const wrong of ["nunit", "junit=", "=x", "constructor"]) expect(() => parseReporter(wrong)).toThrow("Expected one of pretty");
});

test("a reporter of an earlier version names what to use in its place", () => {
  expect(() => parseReporter("tap")).toThrow("The reporter tap has been removed: use junit, which");
  expect(() => parseReporter("sarif=a.json")).toThrow("The reporter sarif has been removed: use github, which");
});

describe("the sum", () => {
  const laws = [1, 2, 2].map((seed) => result("law", { kind: "law", runs: 2000, seed, fuel: 0 }));
  const fuels = Array.from({ length: 100 }, (_, index) => result("t", { fuel: index + 1 }));

  test.each([
    { what: "nothing", results: [], line: "PASS 0  FAIL 0  ERROR 0  SKIP 0" },
    { what: "laws with several seeds", results: laws, line: "PASS 3  FAIL 0  ERROR 0  SKIP 0   laws 3/3 (6,000 cases, seeds 1, 2)" },
    {
      what: "laws that are skipped",
      results: [result("law", { kind: "law", verdict: "skipped", fuel: 0 })],
      line: "PASS 0  FAIL 0  ERROR 0  SKIP 1",
    },
    { what: "what nineteen of twenty cost", results: fuels, line: "PASS 100  FAIL 0  ERROR 0  SKIP 0   fuel p95 95" },
  ])("of $what", ({ results, line }) => {
    expect(summaryLine(reportOf([{ suite: suite(results), ms: 0 }]).totals, plain)).toBe(line);
  });
});

const ENTITY = /&(?:amp|lt|gt|quot|#9|#10);/g;

/** The elements of an XML text in order of their start. @throws Error when it is not well-formed. */
function xmlElements(xml: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  for (const [, text, close, name, attributes, empty] of body.matchAll(/([^<]*)<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/gy)) {
    if (`${text}${attributes}`.replace(ENTITY, "").includes("&")) throw new Error("A bare ampersand");
    if (text!.includes("]]>")) throw new Error("An end of a section that has none");
    if (close === "/") {
      if (open.pop() !== name) throw new Error(`${name} is not open`);
      continue;
    }
    names.push(name!);
    if (empty === "") open.push(name!);
  }
  const rest = body.slice(body.lastIndexOf(">") + 1);
  if (open.length > 0 || rest.trim() !== "") throw new Error(`${open.join(", ")} is not closed`);
  return names;
}
