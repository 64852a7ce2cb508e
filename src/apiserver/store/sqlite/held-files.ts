/**
 * The files of an open database: the database itself and its log (`-wal`).
 *
 * The lock excludes only other programs that use SQLite: files can still be removed, moved, replaced, truncated or overwritten while they
 * are open. SQLite does not notice this, and continues to write into files that no later start will find. This process changes its files
 * only within its own calls into SQLite, so another process has caused any difference between the end of one such call and the start of the
 * next.
 *
 * @module
 */
import { renameSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { EngineError } from "../../../base/errors.ts";
import { lostFile } from "./failures.ts";

/** The state of the file at a path. */
interface Look {
  /** Device and inode, which identify the file. */
  readonly dev: bigint;
  readonly ino: bigint;
  /** Size and time of the last change. */
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

/** Detects when a path no longer leads to the open file. A file that was lost once stays lost, even if it reappears. */
export class HeldFiles {
  readonly #path: string;
  readonly #paths: readonly string[];
  #known: readonly (Look | undefined)[];
  #lost: EngineError | undefined;

  /** @param path The database, which has just been opened. */
  constructor(path: string) {
    this.#path = resolve(path);
    this.#paths = [this.#path, logOf(this.#path)];
    this.#known = this.#paths.map(look);
  }

  /** True if the files are those that were opened. Checks them, like {@link HeldFiles.demand}. */
  get held(): boolean {
    this.#compare(isSameState);
    return this.#lost === undefined;
  }

  /**
   * Must be called before SQLite.
   *
   * @throws STORE_FAILED when a file was removed, moved, replaced or changed since {@link HeldFiles.note}.
   */
  demand(): void {
    this.#compare(isSameState);
    if (this.#lost !== undefined) throw this.#lost;
  }

  /**
   * Records the state of the files. Must be called after SQLite has written, and before the write is acknowledged.
   *
   * @throws STORE_FAILED when a file was removed, moved or replaced.
   */
  note(): void {
    this.#known = this.#compare(() => true);
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Closes the database. Files that are no longer those that were opened are left unchanged. */
  close(database: DatabaseSync): void {
    const [present, log] = this.#compare(isSameState);
    const [known] = this.#known;
    // A removed log is still open, and closing merges all of it into the database.
    const isWhole = isSameFile(present, known) && isSameState(present, known) && log === undefined;
    if (this.#lost === undefined || isWhole) database.close();
    else if (isSameFile(present, known)) closeWithoutLog(this.#path, database);
    // SQLite itself detects that the path leads to another file, or to none.
    else database.close();
  }

  #compare(isSame: (now: Look, known: Look) => boolean): readonly (Look | undefined)[] {
    const present = this.#paths.map(look);
    present.forEach((now, index) => {
      const known = this.#known[index];
      if (known === undefined) return;
      if (now === undefined) this.#lose(index, "was removed or moved");
      else if (!isSameFile(now, known)) this.#lose(index, "was replaced");
      else if (!isSame(now, known)) this.#lose(index, "was changed by another program");
    });
    return present;
  }

  #lose(index: number, what: string): void {
    this.#lost ??= lostFile(this.#path, { file: this.#paths[index]!, what });
  }
}

function isSameFile(now: Look | undefined, known: Look | undefined): boolean {
  return now?.ino === known?.ino && now?.dev === known?.dev;
}

function isSameState(now: Look | undefined, known: Look | undefined): boolean {
  return now?.size === known?.size && now?.mtimeNs === known?.mtimeNs;
}

/**
 * Closes a database whose content is refused, and leaves its files unchanged. Normally, SQLite merges the log into a database that it
 * closes, and removes the log. It does not do so if the database was renamed while it was open.
 *
 * The caller must hold the lock, so that no other process uses the name. If this process is killed before it renames the file back, the
 * database is at `PATH.closing`.
 */
export function closeAsFound(path: string, database: DatabaseSync): void {
  const size = statSync(logOf(resolve(path)), { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) database.close();
  else closeWithoutLog(resolve(path), database);
}

function closeWithoutLog(path: string, database: DatabaseSync): void {
  const away = `${path}.closing`;
  renameSync(path, away);
  try {
    database.close();
  } finally {
    renameSync(away, path);
  }
}

function logOf(path: string): string {
  return `${path}-wal`;
}

function look(path: string): Look | undefined {
  return statSync(path, { throwIfNoEntry: false, bigint: true });
}
