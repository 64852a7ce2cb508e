import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EngineError } from "../../../base/errors.ts";
import type { StoreContents } from "../store-view.ts";
import type { StoreMemory } from "../memory-limits.ts";
import type { ResealStep } from "../resealable.ts";
import type { StoreEvent } from "../store.ts";
import { readContents, readRevision } from "./contents.ts";
import type { Cipher } from "./cipher.ts";
import { openDatabase } from "./database.ts";
import { isDiskFull, openFailure, writeFailure } from "./failures.ts";
import { Resealer } from "./reseal.ts";

/** One write that may or may not happen. */
export interface Write {
  readonly type: StoreEvent["type"];
  readonly key: string;
  /** The object as JSON text; absent for a deletion. */
  readonly body?: string;
  /** The revision that an update or deletion counts on; absent for a creation. */
  readonly expected?: number;
}

/** The durable side of a store. */
export interface Journal {
  /**
   * Everything that is stored.
   *
   * @throws CONFIG_FILE when a row is not as it was written, STORE_FAILED when there is more than memory for.
   */
  read(): StoreContents;
  /**
   * Carries out writes in their order, each on top of those before it, in one transaction. Answers the revision of each, or
   * undefined where a condition did not hold. On return everything is on the disk. History up to the state `oldest` is forgotten.
   *
   * @throws STORE_FAILED when it can not be stored; nothing of it is then. After anything but a full disk there is no telling
   *   what the device still does, so the journal takes no more writes.
   */
  commit(writes: readonly Write[], oldest?: number): readonly (number | undefined)[];
  /** Forgets the history. @throws STORE_FAILED as {@link Journal.commit}. */
  compact(): void;
  /** See `Resealable.sealedBy`; nothing is counted where keys are never replaced. */
  sealedBy(): ReadonlyMap<string, number>;
  /** See `Resealable.reseal`. @throws STORE_FAILED as {@link Journal.commit}; CONFIG_FILE when a value does not open. */
  reseal(most: number): ResealStep;
  /** Gives the file back. */
  close(): void;
}

/** Which file, and how much of the past is kept in it. */
export interface JournalOptions {
  readonly path: string;
  /** Events kept. */
  readonly history: number;
  /** How much of all is read. */
  readonly memory?: StoreMemory | undefined;
  /** Every object goes through it on its way to the file and back; keys do not. Default: objects are written as they are. */
  readonly cipher?: Cipher | undefined;
  /** The revision of a file that is made. Default 1. */
  readonly firstRevision?: number | undefined;
}

/**
 * Opens the journal in a file.
 *
 * @throws CONFIG_FILE as {@link openDatabase}.
 */
export function openJournal(options: JournalOptions): Journal {
  const database = openDatabase(options.path, options.firstRevision);
  try {
    return createJournal(database, options);
  } catch (error) {
    database.close();
    throw openFailure(options.path, error);
  }
}

/**
 * The journal in a database that is open.
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
  readonly #resealer: Resealer | undefined;
  #revision: number;
  #failure: EngineError | undefined;

  constructor(database: DatabaseSync, options: JournalOptions) {
    this.#database = database;
    this.#options = options;
    this.#statements = prepareStatements(database);
    this.#revision = readRevision(database, options.path);
    const { path, cipher } = options;
    const { keys } = cipher ?? {};
    if (cipher !== undefined && keys !== undefined) this.#resealer = new Resealer(database, { path, cipher: { ...cipher, keys } });
  }

  read(): StoreContents {
    try {
      return readContents(this.#database, this.#options);
    } catch (error) {
      throw openFailure(this.#options.path, error);
    }
  }

  commit(writes: readonly Write[], oldest = 0): readonly (number | undefined)[] {
    return this.#transact(() => {
      let last = this.#revision;
      const revisions = writes.map((write) => (this.#carryOut(write, last + 1) ? (last += 1) : undefined));
      if (last > this.#revision) this.#remember(last, oldest);
      return { result: revisions, last };
    });
  }

  compact(): void {
    this.#transact(() => {
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
      this.#transact(() => {
        for (const { statement, body, key, revision } of replacements) statement.run(body, key, revision);
        return { result: undefined, last: this.#revision };
      });
    }
    return { resealed: replacements.length, done: false };
  }

  close(): void {
    this.#database.close();
  }

  #sweep(resealer: Resealer): ResealStep {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      resealer.sweep();
      return { resealed: 0, done: true };
    } catch (error) {
      throw this.#undo(error);
    }
  }

  #carryOut({ type, key, body: plain = "", expected = 0 }: Write, revision: number): boolean {
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

  #transact<T>(action: () => { readonly result: T; readonly last: number }): T {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      this.#database.exec("BEGIN");
      const { result, last } = action();
      this.#database.exec("COMMIT");
      this.#revision = last;
      return result;
    } catch (error) {
      throw this.#undo(error);
    }
  }

  #undo(error: unknown): EngineError {
    const failure = writeFailure(this.#options.path, error);
    try {
      // SQLite ends some transactions that fail by itself.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      if (!isDiskFull(error)) this.#failure = failure;
    } catch {
      // The first failure says more than the one that it led to.
      this.#failure = failure;
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
    // No row when the object is gone or no longer at the revision that the writer saw.
    rememberPrevious: prepare(
      "INSERT INTO history(revision, type, key, previousRevision, previous) SELECT ?, ?, key, revision, body FROM objects WHERE key = ? AND revision = ?",
    ),
    setRevision: prepare("UPDATE meta SET value = ? WHERE name = 'revision'"),
    forget: prepare("DELETE FROM history WHERE revision <= ?"),
  };
}
