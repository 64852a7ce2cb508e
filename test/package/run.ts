/**
 * What users get: builds the package, packs it, and runs `fixtures/example-project` and `fixtures/embedder` on the tarball, in a
 * temporary folder: `npm run test:package`. `-- --built` takes `dist` as it is.
 *
 * The first round links the dependencies of this checkout and needs no network. Further rounds install from npm's registry, with each
 * promised major of vitest and with jest; without a registry they are skipped, which is said.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLE = join(ROOT, "fixtures/example-project");
const VITEST_MAJORS = [3, 4, 5];
const COMMAND_MS = 600_000;
/** What npm says when it does not reach its registry, or may not. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E401|E403|ERR_SOCKET_TIMEOUT)\b/;

const execute = promisify(execFile);

/** A command ended with an error; the message is all that it printed. */
class CommandError extends Error {}

async function run(folder: string, command: string, ...words: readonly string[]): Promise<string> {
  const path = [join(folder, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  try {
    const { stdout } = await execute(command, words, { cwd: folder, env: { ...process.env, PATH: path }, timeout: COMMAND_MS });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as Error & { stdout?: string; stderr?: string };
    throw new CommandError([`${command} ${words.join(" ")} failed in ${folder}`, stdout, stderr || message].join("\n"));
  }
}

async function pack(folder: string): Promise<string> {
  if (!process.argv.includes("--built")) await run(ROOT, "npm", "run", "--silent", "build");
  const [packed] = JSON.parse(await run(ROOT, "npm", "pack", "--json", "--silent", "--pack-destination", folder)) as { filename: string }[];
  return join(folder, packed!.filename);
}

/** The packages of this checkout, and the tarball as npm would unpack it. */
async function linkPackages(project: string, tarball: string): Promise<void> {
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "endpoint-sync"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name.startsWith(".")) continue;
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  await run(project, "tar", "-xzf", tarball, "-C", join(modules, "endpoint-sync"), "--strip-components=1");
  mkdirSync(join(modules, ".bin"));
  const { bin } = JSON.parse(readFileSync(join(modules, "endpoint-sync/package.json"), "utf8")) as { bin: Record<string, string> };
  const commands = { ...bin, "../vitest": "vitest.mjs", "../typescript": "bin/tsc" };
  for (const [name, file] of Object.entries(commands)) {
    const [folder, command] = name.startsWith("../") ? [name.slice(3), file.replace(/.*\/|\.mjs$/g, "")] : ["endpoint-sync", name];
    const text = `#!/bin/sh\nexec "${process.execPath}" "${join(modules, folder, file)}" "$@"\n`;
    writeFileSync(join(modules, ".bin", command), text, { mode: 0o755 });
  }
}

function copyExample(folder: string, name: string): string {
  const project = join(folder, name);
  cpSync(EXAMPLE, project, { recursive: true });
  return project;
}

/** Everything that `npm test` of the example does, and each broken thing that it must notice. */
async function checkExample(project: string): Promise<void> {
  await run(project, "npm", "test");
  await mustFail(project, "vcluster.yaml", ["slice(5)", "slice(4)"], ["endpoint-sync", "test"]);
  await mustFail(project, "vcluster.yaml", ["slice(5)", "slice(4)"], ["vitest", "run"]);
  await mustFail(project, "test/patches.test.ts", ["toCostLessThan(500)", 'toCostLessThan("500")'], ["tsc", "-p", "."]);
  for (const wrong of ["context.vclster.name", "value.toFixed()", "context.hostObject.kind", "fetch(value)", "process.env.HOME"])
    await mustFail(project, "expressions/team.js", ["context.vcluster.name", wrong], ["tsc", "-p", "expressions"]);
}

/** Runs a command while a file is broken. */
async function mustFail(
  project: string,
  file: string,
  [from, to]: readonly [string, string],
  [command, ...words]: readonly [string, ...string[]],
): Promise<void> {
  const path = join(project, file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  writeFileSync(path, text.replace(from, to));
  const failed = await run(project, command, ...words).then(
    () => false,
    () => true,
  );
  writeFileSync(path, text);
  if (!failed) throw new Error(`${[command, ...words].join(" ")} does not notice ${to} in ${file}`);
}

/** `fixtures/embedder` with the package in the place of its sources, type checked and run. */
async function checkEmbedder(project: string): Promise<void> {
  const inPackage = (text: string) =>
    text
      .replace(/"\.\.\/\.\.\/src\/index\.ts"/g, '"endpoint-sync"')
      .replace(/"\.\.\/\.\.\/src\/(\w+)\.ts"/g, '"endpoint-sync/$1"')
      .replace(/"\.\.\/\.\.\/fixtures\/embedder\//g, '"./');
  const files = [
    ...["caches.ts", "queue.ts", "host-program.ts"].map((name) => join(ROOT, "fixtures/embedder", name)),
    join(import.meta.dirname, "embedding.ts"),
  ];
  mkdirSync(join(project, "embedder"));
  for (const file of files) writeFileSync(join(project, "embedder", file.split("/").at(-1)!), inPackage(readFileSync(file, "utf8")));
  const options = { ...(JSON.parse(readFileSync(join(project, "tsconfig.json"), "utf8")) as { compilerOptions: object }).compilerOptions };
  // The declarations of isomorphic-ws, which the Kubernetes client uses, ask for those of ws, which nobody installs.
  const compilerOptions = { ...options, allowImportingTsExtensions: true, skipLibCheck: true };
  writeFileSync(join(project, "embedder/tsconfig.json"), JSON.stringify({ compilerOptions }));
  await run(project, "tsc", "-p", "embedder");
  const printed = await run(project, process.execPath, "--no-warnings", "embedder/embedding.ts");
  if (printed.trim() !== '[{"ip":"192.168.0.1"}]') throw new Error(`The embedded engine copied ${printed}`);
}

/** Whether the packages could be installed; a failure that is not the registry's is one. */
async function install(project: string, ...packages: readonly string[]): Promise<boolean> {
  try {
    await run(project, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages);
    return true;
  } catch (error) {
    if (error instanceof CommandError && UNREACHABLE.test(error.message)) return false;
    throw error;
  }
}

const JEST_TEST = `
import { loadPatch, patchMatchers } from "endpoint-sync/testing";
expect.extend(patchMatchers);
test("a patch", async () => {
  const patch = await loadPatch({ config: "vcluster.yaml", path: "subsets[*].addresses[*].ip" });
  expect(patch).toRewrite("10.1.0.11", "192.168.0.11");
  expect(patch).not.toLeaveAlone("10.1.0.11");
  expect(() => expect(patch).toRewrite("10.1.0.11", "a")).toThrow('Expected "10.1.0.11" to become "a", found "192.168.0.11"');
  patch.dispose();
});
`;

async function checkJest(project: string): Promise<void> {
  writeFileSync(join(project, "patches.test.mjs"), JEST_TEST);
  const jest = join(project, "node_modules/jest/bin/jest.js");
  const options = ["--testMatch", "**/patches.test.mjs", "--transform", "{}", "--watchman=false"];
  await run(project, process.execPath, "--experimental-vm-modules", "--no-warnings", jest, ...options);
}

const folder = await mkdtemp(join(tmpdir(), "endpoint-sync-package-"));
try {
  const tarball = await pack(folder);
  const linked = copyExample(folder, "linked");
  await linkPackages(linked, tarball);
  await checkExample(linked);
  console.log("example project, dependencies of this checkout: endpoint-sync test, vitest, tsc");
  await checkEmbedder(linked);
  console.log("embedding example: tsc, and a copy of Endpoints");
  for (const major of VITEST_MAJORS) {
    const project = copyExample(folder, `vitest-${major}`);
    if (!(await install(project, "--save-dev", tarball, `vitest@${major}`))) {
      console.log(`skipped: installation with vitest ${major}, as npm does not reach its registry`);
      continue;
    }
    await run(project, "npm", "test");
    console.log(`example project, installed with vitest ${major}: endpoint-sync test, vitest, tsc`);
  }
  const jest = copyExample(folder, "jest");
  if (await install(jest, "--save-dev", tarball, "jest")) {
    await checkJest(jest);
    console.log("matchers in jest");
  } else {
    console.log("skipped: matchers in jest, as npm does not reach its registry");
  }
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
