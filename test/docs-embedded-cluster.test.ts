/**
 * `docs/guides/embedded-cluster.md`: its commands are run as they stand, and its tables say what the source says. Its snippets are
 * run by `docs-snippets.test.ts`.
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { blocksOf } from "./support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs/guides/embedded-cluster.md"), "utf8");
const WAIT = { timeout: 10_000, interval: 50 };

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

describe.runIf(hasKubectl)("the commands, in order", () => {
  let folder = "";
  const running: ChildProcess[] = [];
  const blocks = blocksOf(PAGE);
  const steps = blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    return block.language === "sh"
      ? [{ line: block.line, script: block.text, prints: next?.language === "text" ? next.text.trim() : "" }]
      : [];
  });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "endpoint-sync-guide-"));
    mkdirSync(join(folder, "bin"));
    // The checkout is not built here.
    const shim = `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(ROOT, "src/cli/main.ts")}" "$@"\n`;
    writeFileSync(join(folder, "bin/npx"), shim);
    chmodSync(join(folder, "bin/npx"), 0o755);
  });
  afterAll(async () => {
    const ended = running.map((child) => new Promise((done) => (child.exitCode === null ? child.once("exit", done) : done(undefined))));
    for (const child of running) child.kill("SIGTERM");
    await Promise.all(ended);
    rmSync(folder, { recursive: true, force: true });
  });

  const env = () => ({ ...process.env, PATH: [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter) });

  test("begin with a cluster", () => {
    expect(steps[0]?.script).toMatch(/cluster --name dev &/);
    expect(steps.filter(({ prints }) => prints !== "").length).toBeGreaterThanOrEqual(5);
  });

  test.each(steps)("line $line", { timeout: 30_000 }, async ({ script, prints }) => {
    if (script.trimEnd().endsWith("&")) return startInBackground(script.trimEnd().slice(0, -1));
    const run = (text: string) => spawnSync("bash", ["-e", "-c", text], { cwd: folder, env: env(), encoding: "utf8" });
    const lines = script.trimEnd().split("\n");
    for (const line of lines.slice(0, -1)) {
      const { status, stderr } = run(line);
      expect(status, stderr).toBe(0);
    }
    // Controllers may still be at what the lines before have asked for.
    await vi.waitFor(() => {
      const { status, stdout, stderr } = run(lines.at(-1)!);
      expect(status, stderr).toBe(0);
      if (prints !== "") expect(stdout.trim().split("\n").at(-1)?.trim()).toBe(prints);
    }, WAIT);
  });

  async function startInBackground(script: string): Promise<void> {
    const child = spawn("bash", ["-c", `exec ${script}`], { cwd: folder, env: env() });
    running.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
    await vi.waitFor(() => {
      expect(child.exitCode, output).toBe(null);
      expect(output).toMatch(/serves https/);
    }, WAIT);
    expect(existsSync(join(folder, `${/--name (\w+)/.exec(script)?.[1]}.kubeconfig`))).toBe(true);
  }
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

test("the controllers that can be left out are those of the options", () => {
  const source = readFileSync(join(ROOT, "src/clusters/cluster.ts"), "utf8");
  const options = [...source.matchAll(/options\.(\w+) !== false/g)].map(([, name]) => `\`${name}\``);
  expect(
    tableBelow("Switch controllers off")
      .map(([option]) => option)
      .sort(),
  ).toEqual(options.sort());
});

test("the limits are those of the source", () => {
  const source = (path: string) => readFileSync(join(ROOT, "src", path), "utf8");
  const amounts = tableBelow("Limits").map(([, amount = ""]) => amount);
  expect(amounts.map((amount) => /^[\d,]+( MiB)?/.exec(amount)?.[0])).toEqual(["3 MiB", "400", "200", "100,000", "10,000"]);
  expect(source("server/api-server.ts")).toContain("BODY_BYTES_MAX = 3 * 1024 * 1024");
  expect(source("server/in-flight.ts")).toContain("{ reads = 400, writes = 200 }");
  expect(source("server/tokens.ts")).toContain("EXPIRING_MAX = 100_000");
  expect(source("clusters/cluster.ts")).toContain("Default 10,000");
});
