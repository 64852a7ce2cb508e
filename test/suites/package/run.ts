/**
 * Tests the package as users get it: builds the package, packs it, and runs `fixtures/example-project`, `fixtures/embedder`, the commands of
 * the README and those of the guides on the tarball, in a temporary folder: `npm run test:package`. With `-- --built`, `dist` is not built
 * again. `-- --short` leaves out the guides, and all versions of Node and vitest but the first and the last.
 *
 * The tarball holds what it should and nothing else, and publint and the types of its subpaths are clean.
 *
 * The first round links the dependencies of this checkout and needs no network. Further rounds install from npm's registry, with each
 * promised major of vitest, with jest, and on Node 22, 24 and 26; without a registry they are skipped, which is said.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { installNode, NODE_MAJORS } from "../engines/install-node.ts";
import { CommandError, install, isUnreachable, run } from "./command.ts";
import { judgeCompiled, judgePaths, judgeTexts, readPackage } from "./contents.ts";
import { checkGuides } from "./guides.ts";
import { lintPackage } from "./lint.ts";
import { checkNpx, checkOnNode } from "./on-node.ts";
import { checkReadme } from "./readme.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const EXAMPLE = join(ROOT, "fixtures/example-project");
const VITEST_MAJORS = [3, 4, 5];
const TOO_OLD = 20;
const isShort = process.argv.includes("--short");
/** The versions that are tried: all, or the first and the last. */
const tried = (majors: readonly number[]) => (isShort ? [majors[0]!, majors.at(-1)!] : majors);

interface Packed {
  readonly tarball: string;
  readonly version: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly paths: readonly string[];
}

async function pack(folder: string): Promise<Packed> {
  if (!process.argv.includes("--built")) await run(ROOT, ["npm", "run", "--silent", "build"]);
  const [packed] = JSON.parse(await run(ROOT, ["npm", "pack", "--json", "--silent", "--pack-destination", folder])) as {
    filename: string;
    version: string;
    size: number;
    unpackedSize: number;
    files: { path: string }[];
  }[];
  const { filename, version, size, unpackedSize, files } = packed!;
  return { tarball: join(folder, filename), version, bytes: size, unpackedBytes: unpackedSize, paths: files.map(({ path }) => path) };
}

/** Nothing is wrong with what the tarball holds and exports. */
async function checkTarball(folder: string, { tarball, paths }: Packed): Promise<void> {
  const unpacked = join(folder, "unpacked");
  mkdirSync(unpacked);
  await run(folder, ["tar", "-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
  const texts = readPackage(unpacked, paths);
  const { exports } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as { exports: Record<string, unknown> };
  const wrong = [
    ...judgePaths(paths),
    ...judgeCompiled(paths, join(ROOT, "src")),
    ...judgeTexts(texts, [ROOT, homedir(), tmpdir() + "/"]),
    ...(await lintPackage(new Uint8Array(readFileSync(tarball)), Object.keys(exports))),
  ];
  if (wrong.length > 0) throw new Error(`The tarball is not as it should be:\n${wrong.join("\n")}`);
}

/** The packages of this checkout, and the tarball as npm would unpack it. */
async function linkPackages(project: string, tarball: string): Promise<void> {
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "endpoint-sync"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name.startsWith(".")) continue;
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  await run(project, ["tar", "-xzf", tarball, "-C", join(modules, "endpoint-sync"), "--strip-components=1"]);
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
  await run(project, ["npm", "test"]);
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
  const failed = await run(project, [command, ...words]).then(
    () => false,
    () => true,
  );
  writeFileSync(path, text);
  if (!failed) throw new Error(`${[command, ...words].join(" ")} does not notice ${to} in ${file}`);
}

/** A module with the types of every subpath; those of expressions are global ones, and have a project of their own. */
function importEverySubpath(): string {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { exports: Record<string, { default?: string }> };
  const subpaths = Object.keys(exports).filter((subpath) => exports[subpath]!.default !== undefined);
  return subpaths.map((subpath) => `export type * from "endpoint-sync${subpath.slice(1)}";\n`).join("");
}

/** `fixtures/embedder` with the package in the place of its sources, type checked and run. */
async function checkEmbedder(project: string): Promise<void> {
  const inPackage = (text: string) =>
    text
      .replace(/"(?:\.\.\/)+src\/index\.ts"/g, '"endpoint-sync"')
      .replace(/"(?:\.\.\/)+src\/(\w+)\.ts"/g, '"endpoint-sync/$1"')
      .replace(/"(?:\.\.\/)+fixtures\/embedder\//g, '"./');
  const files = [
    ...["caches.ts", "queue.ts", "host-program.ts"].map((name) => join(ROOT, "fixtures/embedder", name)),
    join(import.meta.dirname, "embedding.ts"),
  ];
  mkdirSync(join(project, "embedder"));
  for (const file of files) writeFileSync(join(project, "embedder", file.split("/").at(-1)!), inPackage(readFileSync(file, "utf8")));
  writeFileSync(join(project, "embedder/every-subpath.ts"), importEverySubpath());
  const options = { ...(JSON.parse(readFileSync(join(project, "tsconfig.json"), "utf8")) as { compilerOptions: object }).compilerOptions };
  // With the declarations of the package and of all that they import, as a project does that checks its libraries.
  const compilerOptions = { ...options, allowImportingTsExtensions: true, skipLibCheck: false };
  writeFileSync(join(project, "embedder/tsconfig.json"), JSON.stringify({ compilerOptions }));
  await run(project, ["tsc", "-p", "embedder"]);
  const printed = await run(project, [process.execPath, "--no-warnings", "embedder/embedding.ts"]);
  if (printed.trim() !== '[{"ip":"192.168.0.1"}]') throw new Error(`The embedded engine copied ${printed}`);
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
  await run(project, [process.execPath, "--experimental-vm-modules", "--no-warnings", jest, ...options]);
}

const inMega = (bytes: number) => (bytes / 1e6).toFixed(1);

/** The tarball on each promised Node, on one that is too old, and by `npx` in an empty folder. */
async function checkNodes(folder: string, { tarball, version }: Packed): Promise<void> {
  for (const major of tried(NODE_MAJORS)) {
    const node = await nodeOf(major, folder);
    if (node === undefined) continue;
    const figures = await checkOnNode({ folder: join(folder, `on-${major}`), tarball, node });
    if (figures === undefined) {
      console.log(`skipped: installation on Node ${major}, as npm does not reach its registry`);
      continue;
    }
    const { packages, installedBytes, installMs, versionMs, readyMs } = figures;
    const seconds = (ms: number) => (ms / 1000).toFixed(2);
    console.log(
      `Node ${figures.version}: installed without scripts in ${seconds(installMs)} s (${packages} packages, ${inMega(installedBytes)} MB), ` +
        `--version in ${seconds(versionMs)} s, run ready in ${seconds(readyMs)} s`,
    );
    await checkNpx({ folder: join(folder, `npx-${major}`), tarball, node }, version);
    console.log(`Node ${figures.version}: npx in an empty folder, offline`);
  }
  await checkTooOld(folder, tarball);
}

/** Output for users with an older Node: a sentence, and exit code 2. */
async function checkTooOld(folder: string, tarball: string): Promise<void> {
  const node = await nodeOf(TOO_OLD, folder);
  if (node === undefined) return;
  const home = join(folder, "too-old");
  mkdirSync(home);
  await run(home, ["tar", "-xzf", tarball]);
  const refusal = await run(home, [node, "package/dist/cli/main.js", "--version"], node).catch((error: unknown) => error);
  const refused =
    refusal instanceof CommandError && refusal.exitCode === 2 && /endpoint-sync needs Node \d+\.\d+ or newer/.test(refusal.message);
  if (!refused) throw new Error(`Node ${TOO_OLD} is not refused as it should be: ${String(refusal)}`);
  console.log(`Node ${TOO_OLD}: says what it needs, and ends with 2`);
}

async function nodeOf(major: number, folder: string): Promise<string | undefined> {
  try {
    return await installNode(major, join(folder, `node-${major}`));
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    console.log(`skipped: Node ${major}, as npm does not reach its registry`);
    return undefined;
  }
}

const folder = await mkdtemp(join(tmpdir(), "endpoint-sync-package-"));
try {
  const packed = await pack(folder);
  const { tarball } = packed;
  await checkTarball(folder, packed);
  console.log(`tarball: ${inMega(packed.bytes)} MB, unpacked ${inMega(packed.unpackedBytes)} MB in ${packed.paths.length} files`);
  console.log("publint and the types of every subpath: clean");
  const linked = copyExample(folder, "linked");
  await linkPackages(linked, tarball);
  await checkExample(linked);
  console.log("example project, dependencies of this checkout: endpoint-sync test, vitest, tsc");
  await checkEmbedder(linked);
  console.log("embedding example: tsc, and a copy of Endpoints");
  const link = (project: string) => linkPackages(project, tarball);
  const { pasted, isInstalled } = await checkReadme({ folder: join(folder, "readme"), tarball, link });
  const how = isInstalled ? "the tarball installed" : "the tarball linked, as npm does not reach its registry";
  console.log(`README: ${pasted} blocks pasted in an empty folder, ${how}`);
  if (!isShort) {
    const guides = await checkGuides(join(linked, "node_modules/endpoint-sync"));
    console.log(`guides: ${guides} tests of their commands, by the package in empty folders`);
  }
  for (const major of tried(VITEST_MAJORS)) {
    const project = copyExample(folder, `vitest-${major}`);
    if (!(await install(project, ["--save-dev", tarball, `vitest@${major}`]))) {
      console.log(`skipped: installation with vitest ${major}, as npm does not reach its registry`);
      continue;
    }
    await run(project, ["npm", "test"]);
    console.log(`example project, installed with vitest ${major}: endpoint-sync test, vitest, tsc`);
  }
  const jest = copyExample(folder, "jest");
  if (await install(jest, ["--save-dev", tarball, "jest"])) {
    await checkJest(jest);
    console.log("matchers in jest");
  } else {
    console.log("skipped: matchers in jest, as npm does not reach its registry");
  }
  await checkNodes(folder, packed);
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
