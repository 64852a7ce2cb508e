import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EngineError } from "../../../base/errors.ts";
import type { StoreContents } from "../memory/store-view.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { ResealStep } from "../resealable.ts";
import type { StoreEvent } from "../store.ts";
import { readContents, readLastRevision } from "./contents.ts";
import type { Cipher } from "../cipher.ts";
import { openDatabase, type OpenDatabaseOptions } from "./database.ts";
import { isLasting, openFailure, writeFailure } from "./failures.ts";
import { closeAsFound, HeldFiles } from "./held-files.ts";
import { SqliteResealer } from "./reseal.ts";

/** A conditional write. */
export interface JournalEntry {
  readonly type: StoreEvent["type"];
  readonly key: string;
  /** The object as JSON text; absent for a deletion. */
  readonly body?: string;
  /** The revision that the object must have; absent for a creation. */
  readonly expected?: number;
}

/** A separate record of the progress of a store, which detects that the file was replaced by an older one. */
export interface Progress {
  /**
   * Called with the revision of an opened file, before anything is written. Returns the revision to continue from: the same one, or a
   * higher one, for which the history is dropped. If it throws, the file is refused and left unchanged.
   */
  opened(revision: number): number;
  /** Called with the revision to continue from, and then with each revision on the disk before its write is acknowledged. */
  stored(revision: number): void;
}

/** The durable part of a store. */
export interface Journal {
  /** False if a file of the database is no longer the one that was opened. Only a restart of the process helps then. */
  readonly holds: boolean;
  /**
   * Reads everything that is stored.
   *
   * @throws CONFIG_FILE when a row is damaged; STORE_FAILED when the objects do not fit into memory.
   */
  read(): StoreContents;
  /**
   * Performs writes in order, in one transaction. Returns the revision of each write, or undefined for a write whose condition did not
   * hold. When it returns, all of them are on the disk. History up to the state `oldest` is dropped.
   *
   * @throws STORE_FAILED when the writes cannot be stored; then none of them is. Later writes are attempted if the file still has the
   *   revision that this process knows. After an error that shows a damaged file, all later writes fail.
   */
  commit(writes: readonly JournalEntry[], oldest?: number): readonly (number | undefined)[];
  /**
   * Writes to the disk without changing the contents; after a failure, as many bytes as the failed write.
   *
   * @throws STORE_FAILED like {@link Journal.commit}.
   */
  probe(): void;
  /** Drops the history. @throws STORE_FAILED like {@link Journal.commit}. */
  compact(): void;
  /** See `Resealable.sealedBy`. Empty if the cipher has no replaceable keys. */
  sealedBy(): ReadonlyMap<string, number>;
  /** See `Resealable.reseal`. @throws STORE_FAILED like {@link Journal.commit}; CONFIG_FILE when a value cannot be decrypted. */
  reseal(most: number): ResealStep;
  /** Closes the file and releases its lock. */
  close(): void;
  /** Closes the file without changing it or its log, for callers that refuse its contents. */
  abandon(): void;
}

/** The file of a journal, and how it is used. */
export interface JournalOptions extends OpenDatabaseOptions {
  readonly path: string;
  /** Number of events to keep. */
  readonly history: number;
  /** Limits on the memory for the contents. */
  readonly memory?: StoreMemory | undefined;
  /** Encrypts every object in the file; keys are not encrypted. Default: no encryption. */
  readonly cipher?: Cipher | undefined;
  /** Default: progress is not recorded elsewhere. */
  readonly progress?: Progress | undefined;
}

/** Upper estimate of the bytes on disk for one character of an object, after encryption. */
const SEALED_BYTES = 2;
const FILLER = "CREATE TABLE IF NOT EXISTS probe(filler BLOB)";

/**
 * Opens the journal in a file.
 *
 * @throws CONFIG_FILE like {@link openDatabase}; any error of `progress.opened`.
 */
export function openJournal(options: JournalOptions): Journal {
  const { path, progress, readOnly = false } = options;
  const database = openDatabase(path, options);
  try {
    const found = readLastRevision(database, path);
    const next = progress?.opened(found) ?? found;
    if (next > found && !readOnly)
      database.exec(`BEGIN; UPDATE meta SET value = ${next} WHERE name = 'revision'; DELETE FROM history; COMMIT`);
    progress?.stored(next);
    return createJournal(database, options);
  } catch (error) {
    if (readOnly) database.close();
    else closeAsFound(path, database);
    throw openFailure(path, error);
  }
}

/**
 * Creates the journal of an open database.
 *
 * @throws CONFIG_FILE when the database is damaged.
 */
export function createJournal(database: DatabaseSync, options: JournalOptions): Journal {
  return new SqliteJournal(database, options);
}

class SqliteJournal implements Journal {
  readonly #database: DatabaseSync;
  readonly #options: JournalOptions;
  readonly #statements: Statements;
  readonly #resealer: SqliteResealer | undefined;
  /** Undefined if the journal is read-only. */
  readonly #files: HeldFiles | undefined;
  #revision: number;
  /** The last failure, and the characters of the failed writes. Reset by a transaction with at least as many characters. */
  #failed: { readonly failure: EngineError; readonly characters: number; readonly lasting: boolean } | undefined;

  constructor(database: DatabaseSync, options: JournalOptions) {
    this.#database = database;
    this.#options = options;
    this.#statements = prepareStatements(database);
    this.#revision = readLastRevision(database, options.path);
    const { path, cipher, readOnly } = options;
    const { keys } = cipher ?? {};
    if (cipher !== undefined && keys !== undefined)
      this.#resealer = new SqliteResealer(database, { path, cipher: { ...cipher, keys }, readOnly });
    if (readOnly !== true) this.#files = new HeldFiles(path);
  }

  get holds(): boolean {
    return this.#files?.held ?? true;
  }

  read(): StoreContents {
    try {
      return readContents(this.#database, this.#options);
    } catch (error) {
      throw openFailure(this.#options.path, error);
    }
  }

  commit(writes: readonly JournalEntry[], oldest = 0): readonly (number | undefined)[] {
    const characters = writes.reduce((sum, { body = "" }) => sum + body.length, 0);
    return this.#transact(characters, () => {
      let last = this.#revision;
      const revisions = writes.map((write) => (this.#carryOut(write, last + 1) ? (last += 1) : undefined));
      if (last > this.#revision) this.#remember(last, oldest);
      return { result: revisions, last };
    });
  }

  probe(): void {
    const last = this.#revision;
    const bytes = (this.#failed?.characters ?? 0) * SEALED_BYTES;
    // Allocates as much space in the file as the failed write needs, and then frees it.
    if (bytes > 0)
      this.#transact(bytes / SEALED_BYTES, () => this.#changeNothing(`${FILLER}; INSERT INTO probe VALUES (zeroblob(${bytes}))`));
    this.#transact(0, () => {
      this.#statements.setRevision.run(last);
      return this.#changeNothing("DROP TABLE IF EXISTS probe");
    });
  }

  compact(): void {
    this.#transact(0, () => {
      this.#statements.forget.run(this.#revision);
      return { result: undefined, last: this.#revision };
    });
  }

  sealedBy(): ReadonlyMap<string, number> {
    return this.#resealer?.count() ?? new Map();
  }

  reseal(most: number): ResealStep {
    const resealer = this.#resealer;
    if (resealer === undefined || resealer.swept) return { resealed: 0, done: true };
    if (resealer.through) return this.#sweep(resealer);
    const replacements = resealer.next(most);
    if (replacements.length > 0) {
      this.#transact(0, () => {
        for (const { statement, body, key, revision } of replacements) statement.run(body, key, revision);
        return { result: undefined, last: this.#revision };
      });
    }
    resealer.written();
    return { resealed: replacements.length, done: false };
  }

  close(): void {
    if (this.#files === undefined) this.#database.close();
    else this.#files.close(this.#database);
  }

  abandon(): void {
    if (this.#files === undefined) this.#database.close();
    else closeAsFound(this.#options.path, this.#database);
  }

  #sweep(resealer: SqliteResealer): ResealStep {
    this.#demandUsable();
    try {
      resealer.sweep();
      this.#files?.note();
      return { resealed: 0, done: true };
    } catch (error) {
      throw this.#undo(error, 0);
    }
  }

  #changeNothing(sql: string) {
    this.#database.exec(sql);
    return { result: undefined, last: this.#revision };
  }

  #carryOut({ type, key, body: plain = "", expected = 0 }: JournalEntry, revision: number): boolean {
    const { cipher } = this.#options;
    const body = cipher === undefined || plain === "" ? plain : cipher.seal(key, plain);
    const { insert, rememberCreated, rememberPrevious, update, remove } = this.#statements;
    if (type === "created") {
      if (insert.run(key, revision, body).changes === 0) return false;
      rememberCreated.run(revision, key);
      return true;
    }
    if (rememberPrevious.run(revision, type, key, expected).changes === 0) return false;
    if (type === "updated") update.run(revision, body, key);
    else remove.run(key);
    return true;
  }

  #remember(revision: number, oldest: number): void {
    this.#statements.setRevision.run(revision);
    this.#statements.forget.run(Math.max(revision - this.#options.history, oldest));
  }

  #transact<T>(characters: number, action: () => { readonly result: T; readonly last: number }): T {
    this.#demandUsable();
    try {
      this.#database.exec("BEGIN");
      const { result, last } = action();
      this.#database.exec("COMMIT");
      // A write into a file that was removed or replaced must not be acknowledged.
      this.#files?.note();
      this.#revision = last;
      this.#options.progress?.stored(last);
      if (this.#failed !== undefined && characters >= this.#failed.characters) this.#failed = undefined;
      return result;
    } catch (error) {
      throw this.#undo(error, characters);
    }
  }

  /** After a failure, checks that the file has the revision that this process knows, or the next write would have the wrong revision. */
  #demandUsable(): void {
    this.#files?.demand();
    if (this.#failed === undefined) return;
    const { failure, lasting, characters } = this.#failed;
    if (lasting) throw failure;
    let found: number;
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      found = readLastRevision(this.#database, this.#options.path);
    } catch (error) {
      throw this.#undo(error, characters);
    }
    if (found === this.#revision) return;
    this.#failed = { failure, characters, lasting: true };
    throw failure;
  }

  #undo(error: unknown, characters: number): EngineError {
    const failure = writeFailure(this.#options.path, error);
    this.#failed = { failure, characters: Math.max(characters, this.#failed?.characters ?? 0), lasting: isLasting(error) };
    try {
      // SQLite itself ends some failed transactions.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#files?.note();
    } catch {
      // The first failure is more informative than this one. The next write tries to roll back again.
    }
    return failure;
  }
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    insert: prepare("INSERT INTO objects(key, revision, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    update: prepare("UPDATE objects SET revision = ?, body = ? WHERE key = ?"),
    remove: prepare("DELETE FROM objects WHERE key = ?"),
    rememberCreated: prepare("INSERT INTO history(revision, type, key) VALUES (?, 'created', ?)"),
    // No row if the object is deleted or no longer at the revision that the writer saw.
    rememberPrevious: prepare(
      "INSERT INTO history(revision, type, key, previousRevision, previous) SELECT ?, ?, key, revision, body FROM objects WHERE key = ? AND revision = ?",
    ),
    setRevision: prepare("UPDATE meta SET value = ? WHERE name = 'revision'"),
    forget: prepare("DELETE FROM history WHERE revision <= ?"),
  };
}
