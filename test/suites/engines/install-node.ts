/**
 * Nodes of other versions, from the package `node`.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const INSTALL_MS = 600_000;
const run = promisify(execFile);

/** Majors of Node that the package promises to run on. */
export const NODE_MAJORS = [22, 24, 26];

/** v24.21.0 → 24. */
export const majorOf = (version: string) => Number(/^v?(\d+)\./.exec(version)?.[1]);

/**
 * The path of a Node of that major version, freshly installed in the folder `home`, which is made.
 *
 * @throws what npm says when it cannot be installed.
 */
export async function installNode(major: number, home: string): Promise<string> {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  // The package's own script needs a Node too.
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };
  await run("npm", ["install", "--prefix", home, "--no-audit", "--no-fund", "--no-save", `node@${major}`], {
    cwd: home,
    env,
    timeout: INSTALL_MS,
  });
  const node = join(home, "node_modules/node/bin/node");
  const { stdout } = await run(node, ["--version"]);
  if (majorOf(stdout) !== major) throw new Error(`the package gave ${stdout.trim()}`);
  return node;
}
