import { readdir, stat } from "node:fs/promises";
import type { Stats } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { EngineError } from "../../../base/errors.ts";
import { unreadable } from "../../files/text-file.ts";
import { globPattern, globRoot, isGlob } from "./glob.ts";

/** The ending of the names of patch test files. */
export const TEST_FILE_SUFFIX = ".patch-test.yaml";

/** Test files, and where another one may appear. */
export interface Discovery {
  /** Relative to the working directory if they are below it, with `/`; sorted, each once. */
  readonly files: readonly string[];
  /** Folders that were searched. */
  readonly folders: readonly string[];
}

/** Options for finding test files. */
export interface DiscoverOptions {
  /** Handling of a named file that does not exist. Default "refused". */
  readonly missing?: "refused" | "passed over";
}

/**
 * Finds the named test files. Files are taken as they are; folders are searched for files whose names end with {@link TEST_FILE_SUFFIX};
 * globs are expanded. Without names, the working directory is searched. `node_modules`, `dist` and folders whose names begin with a dot are
 * skipped, unless they are named.
 *
 * @throws USAGE when a named file or folder does not exist and `missing` is "refused". Finding nothing is not an error here.
 */
export async function discoverTests(named: readonly string[], { missing = "refused" }: DiscoverOptions = {}): Promise<Discovery> {
  const found = await Promise.all((named.length === 0 ? ["."] : named).map((name) => discoverOne(name, missing)));
  const unique = (names: readonly string[]) => [...new Set(names)].sort();
  return { files: unique(found.flatMap(({ files }) => files)), folders: unique(found.flatMap(({ folders }) => folders)) };
}

async function discoverOne(name: string, missing: DiscoverOptions["missing"]): Promise<Discovery> {
  const stats = await statOf(name);
  if (stats?.isDirectory() === true) return below(name, (file) => file.endsWith(TEST_FILE_SUFFIX));
  if (stats !== undefined) return { files: [shownName(name)], folders: [] };
  if (!isGlob(name)) {
    if (missing === "passed over") return { files: [], folders: [] };
    throw new EngineError("USAGE", `There is no test file or folder "${name}"`, {
      details: { hint: "Check the path; relative paths are resolved against the working directory. Put globs in quotes" },
    });
  }
  const [root, pattern] = [globRoot(name), globPattern(toSlashes(join(name)))];
  const matches = (file: string) => pattern.test(toSlashes(join(file)));
  return (await statOf(root)) === undefined ? { files: [], folders: [] } : below(root, matches);
}

async function below(folder: string, wanted: (file: string) => boolean): Promise<Discovery> {
  const files: string[] = [];
  const folders: string[] = [];
  const walk = async (current: string, top: boolean): Promise<void> => {
    const entries = await readdir(current, { withFileTypes: true }).catch((error: unknown) => {
      // A folder below may be unreadable, or already removed.
      if (top) throw unreadable(current, error);
      return [];
    });
    folders.push(shownName(current));
    const inner = entries.filter((entry) => entry.isDirectory() && !isPassedOver(entry.name));
    const others = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => join(current, name));
    files.push(...others.filter(wanted).map(shownName));
    await Promise.all(inner.map(({ name }) => walk(join(current, name), false)));
  };
  await walk(folder, true);
  return { files, folders };
}

/** Reports whether a folder is hidden, or has third-party or generated files. */
function isPassedOver(name: string): boolean {
  return name === "node_modules" || name === "dist" || name.startsWith(".");
}

/** A path as it is shown: relative to the working directory if it is below it, and with `/`. */
function shownName(path: string): string {
  const near = relative(".", path);
  if (near === "") return ".";
  return toSlashes(near.startsWith("..") ? resolve(path) : near);
}

function toSlashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(String((error as { code?: unknown }).code))) return undefined;
    throw unreadable(path, error);
  }
}
