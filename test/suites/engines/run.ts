/**
 * Runs `fixtures/expressions/fuel.json` in every engine of this machine: `npm run test:engines`. Answers and fuel must be equal in all.
 *
 * Node 22, 24 and 26 come from the package `node`, in a temporary folder; Chromium is the one that is installed (`CHROMIUM` names
 * another). What is missing is skipped and said; the engine that runs this file is always among those that are asked.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { startBrowserServer } from "./browser-server.ts";
import { findDifferences, type FuelRow } from "./fuel-table.ts";
import { installNode, majorOf, NODE_MAJORS } from "./install-node.ts";

/** A machine may be slow, and have others to serve. */
const RUN_MS = 300_000;
const CHROMIUM_NAMES = ["chromium", "chromium-browser", "google-chrome"];
const CHROMIUM_FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
];
/** Marks a process that only answers for the engine it runs in. */
const ANSWER = "--answer";

const run = promisify(execFile);
const readRows = () => JSON.parse(readFileSync(join(import.meta.dirname, "../../../fixtures/expressions/fuel.json"), "utf8")) as FuelRow[];

let failed = false;
let asked = 0;

function tell(engine: string, differences: readonly string[]): void {
  asked += 1;
  failed ||= differences.length > 0;
  console.log(`${engine}: ${differences.length === 0 ? "equal" : `${differences.length} rows differ`}`);
  for (const difference of differences.slice(0, 10)) console.log(`  ${difference}`);
}

function skip(engine: string, why: unknown): void {
  const reason = why instanceof Error ? why.message.trim().split("\n").at(-1)! : String(why);
  console.log(`${engine}: skipped (${reason})`);
}

async function askNode(major: number, folder: string): Promise<void> {
  if (major === majorOf(process.version)) return tell(`Node ${process.version}`, await findDifferences(readRows()));
  const home = join(folder, `node-${major}`);
  const node = await installNode(major, home).catch((error: unknown) => skip(`Node ${major}`, error));
  if (node === undefined) return;
  const { stdout: version } = await run(node, ["--version"]);
  const answer = await run(node, ["--no-warnings", import.meta.filename, ANSWER], { timeout: RUN_MS });
  tell(`Node ${version.trim()}`, JSON.parse(answer.stdout) as string[]);
}

function findChromium(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const named = process.env["CHROMIUM"];
  const candidates = named === undefined ? folders.flatMap((folder) => CHROMIUM_NAMES.map((name) => join(folder, name))) : [named];
  return candidates.find((file) => existsSync(file));
}

async function askChromium(folder: string): Promise<void> {
  const chromium = findChromium();
  if (chromium === undefined) return skip("Chromium", `none of ${CHROMIUM_NAMES.join(", ")} is installed`);
  const server = await startBrowserServer();
  const flags = [...CHROMIUM_FLAGS, `--user-data-dir=${join(folder, "chromium")}`];
  const browser = spawn(chromium, [...flags, server.url], { stdio: "ignore", detached: true });
  const ended = new Promise<void>((resolve) => browser.once("exit", () => resolve()));
  try {
    const report = await within(RUN_MS, server.report);
    const version = /(?:Headless)?Chrome\/([\d.]+)/.exec(report.engine)?.[1] ?? report.engine;
    tell(`Chromium ${version}`, report.differences);
  } catch (error) {
    tell("Chromium", [String(error)]);
  } finally {
    server.close();
    // The browser is several processes, in a group of their own.
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, "SIGTERM");
    await within(RUN_MS, ended).catch(() => undefined);
  }
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

if (process.argv.includes(ANSWER)) {
  console.log(JSON.stringify(await findDifferences(readRows())));
} else {
  const folder = await mkdtemp(join(tmpdir(), "endpoint-sync-engines-"));
  try {
    for (const major of NODE_MAJORS) await askNode(major, folder);
    await askChromium(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
  console.log(`${readRows().length} expressions in ${asked} engines: ${failed ? "they differ" : "the same answers for the same fuel"}`);
  if (failed) process.exitCode = 1;
}
