/**
 * The progress of a server, in a file next to its data: the revision of the last write that it has acknowledged. A database with an
 * earlier revision was replaced by an older one, or has lost all or part of its log. SQLite cannot distinguish a log that was emptied,
 * truncated or damaged from one that ends in a crash.
 *
 * The file is written after each write, without syncing. It is exact regardless of how the process ends. After a failure of the machine,
 * it may be some seconds behind, but never ahead, because the write itself reaches the disk first.
 *
 * @module
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { EngineError, messageOf } from "../../base/errors.ts";
import { REVISION_AHEAD } from "../../management/data/copy.ts";
import { lostWrites } from "../../management/data/copy-state.ts";
import type { Progress } from "../../apiserver/store/sqlite/journal.ts";
import { DATABASE_FILE } from "./encryption-keys.ts";

/** The name of the file. */
export const REVISION_FILE = "management.revision";
/** Every number has the same length, so that a write replaces the previous number completely. */
const DIGITS = 16;
/** Creates a missing file, and does not truncate an existing one. */
const IN_PLACE = constants.O_WRONLY | constants.O_CREAT;

/** Reads the revision that a folder has reached; undefined if it is unknown. @throws CONFIG_FILE when the file cannot be read. */
export function readRevisionFile(folder: string): number | undefined {
  const path = join(folder, REVISION_FILE);
  try {
    const text = readFileSync(path, "utf8").trim();
    return /^[0-9]+$/.test(text) ? Number(text) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new EngineError("CONFIG_FILE", `Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  }
}

/** For readers: refuses a database that is behind the revision recorded in its folder, and records nothing. */
export function demandProgress(folder: string): Progress {
  return {
    opened(found) {
      const known = readRevisionFile(folder) ?? found;
      if (found < known) throw lostWrites(join(folder, DATABASE_FILE), { found, known });
      return found;
    },
    stored: () => {},
  };
}

/**
 * For servers: refuses a database that is behind the revision recorded in its folder, and records the revision that the server reaches.
 * With `acceptDataLoss`, such a database is accepted, and continues far above any revision that clients may have seen. If the file cannot
 * be written, the recorded revision falls behind. This never causes complete data to be refused.
 */
export function keepProgress(folder: string, acceptDataLoss: boolean): Progress {
  const path = join(folder, REVISION_FILE);
  return {
    opened(found) {
      if (!acceptDataLoss) return demandProgress(folder).opened(found);
      return Math.max(found, readRevisionFile(folder) ?? 0) + REVISION_AHEAD;
    },
    stored(revision) {
      try {
        write(path, revision);
      } catch {
        // Writes continue without the file.
      }
    },
  };
}

/** Writes the number in place: after a crash, the file contains the old number or the new one. */
function write(path: string, revision: number): void {
  const file = openSync(path, IN_PLACE, 0o600);
  try {
    writeSync(file, `${String(revision).padStart(DIGITS, "0")}\n`, 0);
  } finally {
    closeSync(file);
  }
}
