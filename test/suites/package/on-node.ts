/**
 * The tarball as an operator gets it, on one Node: installed without any script of a package, started, run until it is ready.
 *
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment, install, run } from "./command.ts";

const READY_MS = 300_000;
const STARTS = 5;
/** Its thread is a program of its own beside the file that starts it. */
const AUDIT_DATABASE = `
  const { openLines } = await import("./node_modules/endpoint-sync/dist/management/audit/store/open-lines.js");
  const sql = await openLines({ kind: "sqlite", path: "audit.db" });
  const [{ one }] = await sql.all("SELECT 1 AS one", []);
  await sql.close();
  if (one !== 1) throw new Error("an audit database does not answer");`;
const SUBPATHS = ["endpoint-sync", "endpoint-sync/clusters", "endpoint-sync/management", "endpoint-sync/testing"];

/** Measurements on one Node. */
export interface NodeFigures {
  readonly version: string;
  readonly packages: number;
  readonly installedBytes: number;
  readonly installMs: number;
  /** Median of some starts of `endpoint-sync --version`. */
  readonly versionMs: number;
  /** From the start of `endpoint-sync run` until it has listed both clusters and syncs. */
  readonly readyMs: number;
}

/** A place for an installation: a folder that is made, the tarball, and the Node. */
export interface Installation {
  readonly folder: string;
  readonly tarball: string;
  readonly node: string;
}

/**
 * Installs, checks and measures; undefined when npm does not reach its registry.
 *
 * @throws Error when something is not as promised.
 */
export async function checkOnNode({ folder, tarball, node }: Installation): Promise<NodeFigures | undefined> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const before = performance.now();
  if (!(await install(folder, ["--ignore-scripts", tarball], node))) return undefined;
  const installMs = performance.now() - before;
  const command = join(folder, "node_modules/.bin/endpoint-sync");
  const version = (await run(folder, [node, "--version"])).trim();
  for (const [how, load] of [
    ["require", (name: string) => `require(${name})`],
    ["import", (name: string) => `await import(${name})`],
  ] as const) {
    const words = how === "import" ? ["--input-type=module"] : ["--input-type=commonjs"];
    const text = SUBPATHS.map(
      (name) => `if (Object.keys(${load(JSON.stringify(name))}).length < 2) throw new Error(${JSON.stringify(name)})`,
    );
    await run(folder, [node, "--no-warnings", ...words, "--eval", text.join(";")], node);
  }
  await run(folder, [node, "--no-warnings", "--input-type=module", "--eval", AUDIT_DATABASE], node);
  const times: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const begun = performance.now();
    await run(folder, [command, "--version"], node);
    times.push(performance.now() - begun);
  }
  const { packages, bytes } = sizeOf(join(folder, "node_modules"));
  const versionMs = times.toSorted((one, other) => one - other)[Math.floor(STARTS / 2)]!;
  return { version, packages, installedBytes: bytes, installMs, versionMs, readyMs: await runUntilReady(folder, command, node) };
}

/** `npx` with the tarball in an empty folder, of what npm has kept of the installation before: nothing is asked of a registry. */
export async function checkNpx({ folder, tarball, node }: Installation, version: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const printed = await run(folder, ["npx", "--yes", "--offline", "--package", tarball, "endpoint-sync", "--version"], node);
  if (printed.trim() !== version) throw new Error(`npx says ${printed}, and the package is ${version}`);
  if (readdirSync(folder).length > 0) throw new Error(`npx left ${readdirSync(folder).join(", ")} behind`);
}

/** Two clusters of the package and the syncer between them, all on the same Node. */
async function runUntilReady(folder: string, command: string, node: string): Promise<number> {
  const started: ChildProcess[] = [];
  const start = async (words: readonly string[], ready: RegExp): Promise<number> => {
    const begun = performance.now();
    const child = spawn(command, words, { cwd: folder, env: environment(folder, node), stdio: ["ignore", "pipe", "pipe"] });
    started.push(child);
    await said(child, ready, words.join(" "));
    return performance.now() - begun;
  };
  try {
    for (const name of ["tenant", "host"]) await start(["cluster", "--name", name], /serves https/);
    const kubeconfigs = ["tenant", "host"].flatMap((name) => [`--${name}-kubeconfig`, `${name}.kubeconfig`]);
    const addresses = ["--metrics-address", "127.0.0.1:0", "--health-address", "127.0.0.1:0"];
    const demo = join(folder, "node_modules/endpoint-sync/fixtures/demo");
    const files = ["--config", join(demo, "vcluster.yaml"), "--settings", join(demo, "settings.yaml")];
    return await start(["run", ...kubeconfigs, ...files, "--name", "blue", "--namespace", "default", ...addresses], /Syncing/);
  } finally {
    await Promise.all(started.reverse().map(ended));
  }
}

/** Until a process says what it is waited for. */
async function said(child: ChildProcess, wanted: RegExp, what: string): Promise<void> {
  let output = "";
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${what}: ${why}\n${output}`));
      timer = setTimeout(() => fail(`not ready within ${READY_MS / 1000} s`), READY_MS);
      child.once("exit", (code) => fail(`ended with ${code}`));
      for (const stream of [child.stdout!, child.stderr!]) {
        stream.on("data", (chunk: Buffer) => {
          output += chunk.toString("utf8");
          if (wanted.test(output)) resolve();
        });
      }
    });
  } finally {
    clearTimeout(timer);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  await exit;
}

/** Packages below a folder `node_modules`, and the bytes of their files. */
function sizeOf(modules: string): { packages: number; bytes: number } {
  const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const packages = files.filter(({ name, parentPath }) => name === "package.json" && /node_modules\/(@[^/]+\/)?[^/]+$/.test(parentPath));
  return {
    packages: packages.length,
    bytes: files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0),
  };
}
