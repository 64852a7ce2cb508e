/** An earlier version of the product, from the history of this clone. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT, temporaryFolder } from "./processes.ts";

/** The version before any finding of this kind was fixed. */
export const EARLIER = "481069b";

/** Lays out the source of a commit, with the packages of the working tree, and says where; undefined when the clone does not have it. */
export function checkOut(ref: string): string | undefined {
  if (spawnSync("git", ["-C", ROOT, "rev-parse", "--quiet", "--verify", `${ref}^{commit}`]).status !== 0) return undefined;
  const path = join(temporaryFolder(), "earlier");
  mkdirSync(path);
  const archive = execFileSync("git", ["-C", ROOT, "archive", ref, "src", "package.json"], { maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", path], { input: archive });
  symlinkSync(join(ROOT, "node_modules"), join(path, "node_modules"));
  return path;
}
