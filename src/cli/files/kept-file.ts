import { open, readFile, rename, rm } from "node:fs/promises";
import { EngineError, messageOf } from "../../base/errors.ts";

/** Description of a state file. */
export interface KeptFile<Kept> {
  readonly path: string;
  readonly isKept: (value: unknown) => value is Kept;
  /** Description of the expected content, for messages. */
  readonly what: string;
  /** Hint for messages that describes the effect of removing the file. */
  readonly hint: string;
}

/**
 * Reads a file that an earlier start has written; undefined if there is none.
 *
 * @throws CONFIG_FILE if the file cannot be read or has other content. The message does not quote the content, which is secret.
 */
export async function readKeptFile<Kept>({ path, isKept, what, hint }: KeptFile<Kept>): Promise<Kept | undefined> {
  try {
    const kept: unknown = JSON.parse(await readFile(path, "utf8"));
    if (isKept(kept)) return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (!(error instanceof SyntaxError))
      throw new EngineError("CONFIG_FILE", `Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  }
  throw new EngineError("CONFIG_FILE", `Cannot read "${path}": it contains no ${what}`, { details: { hint } });
}

/**
 * Writes a new file, readable only by its owner, and then replaces the old file with it. A crash leaves either the old or the new file.
 *
 * @param draft The path of the new file. Processes that may write at the same time need different drafts. Default: the path with `.new`.
 * @throws CONFIG_FILE when it cannot be written.
 */
export async function writeKeptFile(path: string, text: string, draft = `${path}.new`): Promise<void> {
  try {
    // An existing draft is from a crash, or is another user's link to a different file.
    await rm(draft, { force: true });
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    throw new EngineError("CONFIG_FILE", `Cannot write "${path}": ${messageOf(error)}`, { cause: error });
  }
}
