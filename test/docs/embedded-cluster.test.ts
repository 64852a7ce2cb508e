/**
 * `docs/guides/embedded-cluster.md`: its commands are run as they stand, and its tables say what the source says. Its snippets are
 * run by `snippets.test.ts`.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONTROLLER_NAMES } from "../../src/cluster/controllers/running/controller-selection.ts";
import { hasKubectl, openGuideShell, stepsOf, type GuideShell } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/embedded-cluster.md"), "utf8");

describe.runIf(hasKubectl)("the commands, in order", () => {
  const steps = stepsOf(blocksOf(PAGE));
  let shell: GuideShell;
  beforeAll(() => {
    shell = openGuideShell({ ready: /serves https/, repeated: "last line" });
  });
  afterAll(() => shell.close());

  test("begin with a cluster", () => {
    expect(steps[0]?.script).toMatch(/cluster --name dev &/);
    expect(steps.filter(({ prints }) => prints !== "").length).toBeGreaterThanOrEqual(5);
  });

  test.each(steps)("line $line", async (step) => {
    await shell.run(step, (stdout) => step.prints !== "" && expect(stdout.trim().split("\n").at(-1)?.trim()).toBe(step.prints));
  });
});

/** The rows of the table below a heading, without its head. */
function tableBelow(heading: string): readonly (readonly string[])[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

test("the controllers that can be switched off are those of the source, in the order in which they start", () => {
  expect(tableBelow("Switch controllers off").map(([name]) => name)).toEqual(CONTROLLER_NAMES.map((name) => `\`${name}\``));
});

test("the limits are those of the source", () => {
  const source = (path: string) => readFileSync(join(ROOT, "src", path), "utf8");
  const amounts = tableBelow("Limits").map(([, amount = ""]) => amount);
  expect(amounts.map((amount) => /^[\d,]+( MiB)?/.exec(amount)?.[0])).toEqual([
    "3 MiB",
    "1,000,000",
    "4,000",
    "2,000",
    "128 MiB",
    "400",
    "200",
    "25",
    "10",
    "10",
    "60",
    "30",
    "100,000",
    "10,000",
    "32 MiB",
  ]);
  expect(source("apiserver/http/limits/limits.ts")).toContain("BODY_BYTES_MAX = 3 * 1024 * 1024");
  expect(source("apiserver/http/limits/in-flight.ts")).toContain(
    "{ reads = 400, writes = 200, watches = 2_000, bytes = 128 * 1024 * 1024, ...shares }",
  );
  expect(source("apiserver/http/limits/limits.ts")).toMatch(/BODY_VALUES_MAX = 1_000_000;[^]*CONNECTIONS_MAX = 4_000;/);
  expect(source("apiserver/http/limits/in-flight.ts")).toContain("{ callerShare = 0.25, administratorShare = 0.1 }");
  expect(source("apiserver/http/limits/limits.ts")).toMatch(/HEADERS_MS = 10_000;[^]*REQUEST_MS = 60_000;[^]*READ_MS = 30_000;/);
  expect(source("apiserver/access/tokens.ts")).toContain("EXPIRING_MAX = 100_000");
  expect(source("apiserver/store/memory-limits.ts")).toContain("HISTORY_BYTES = 32 * 1024 * 1024;");
  expect(source("cluster/cluster.ts")).toContain("Default 10,000");
});
