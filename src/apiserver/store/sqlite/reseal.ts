/**
 * Re-encrypts the contents of a file in place. An object keeps its revision, since only its encryption changes.
 *
 * Objects come first, then the history from its oldest event on. Concurrent writes are encrypted with the first key, and so are the states
 * of processed objects that move into the history, so nothing encrypted with an older key can appear in the finished part. One pass is
 * therefore enough, and after a crash the next pass only reads the finished part.
 *
 * SQLite leaves overwritten data in free parts of pages and in the log until the space is needed. At the end, the file is therefore
 * rewritten without this data (VACUUM), and the log is truncated. `swept` in the table `meta` records the key for which this was done.
 *
 * @module
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { sha256Hex } from "../../../base/digest.ts";
import type { Cipher, SealingKeys } from "../cipher.ts";
import { sealedFile } from "./failures.ts";

/** A row whose text may be replaced. */
interface Row {
  readonly key: string;
  readonly revision: number;
  readonly body: string | null;
}

/** A value that a step will write. */
export interface ResealedValue {
  readonly statement: StatementSync;
  readonly revision: number;
  readonly key: string;
  readonly body: string;
}

/** The last examined row of the table in progress. */
interface Place {
  readonly table: "objects" | "history" | "none";
  readonly key: string;
  readonly revision: number;
}

/** Dependencies of a resealer. */
export interface SqliteResealerOptions {
  readonly path: string;
  readonly cipher: Cipher & { readonly keys: SealingKeys };
  /** Only count values. Default false. */
  readonly readOnly?: boolean | undefined;
}

/** Number of characters after which a step reads no further row, since a step blocks the process. */
const CHARACTERS_PER_STEP = 1024 * 1024;

/** Re-encrypts all values of a file once, step by step. */
export class SqliteResealer {
  readonly #database: DatabaseSync;
  readonly #options: SqliteResealerOptions;
  readonly #statements: ReturnType<typeof prepareStatements>;
  #reached: Place = { table: "objects", key: "", revision: 0 };
  /** The end of the values that were examined last, which may not be written yet. */
  #examined = this.#reached;

  constructor(database: DatabaseSync, options: SqliteResealerOptions) {
    this.#database = database;
    this.#options = options;
    this.#statements = prepareStatements(database);
    // Later writes may free space that held values of another key.
    if (options.readOnly !== true) this.#statements.forgetSweep.run(this.#sweepMark);
  }

  /** True if the file, including its free space, contains no data of another key. */
  get swept(): boolean {
    return this.#statements.readSweep.get()?.["value"] === this.#sweepMark;
  }

  /** True once every value has been examined. */
  get through(): boolean {
    return this.#reached.table === "none";
  }

  /** Returns the number of values that each key encrypts. */
  count(): ReadonlyMap<string, number> {
    const { keys } = this.#options.cipher;
    const counts = new Map(keys.all.map((id) => [id, 0]));
    const all = "SELECT body FROM objects UNION ALL SELECT previous FROM history WHERE previous IS NOT NULL";
    for (const { body } of this.#database.prepare(all).iterate()) {
      const id = keys.sealerOf(String(body));
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Examines at most `most` values and returns those to write. Returns values that were not written again, until {@link written} is called.
   *
   * @throws CONFIG_FILE if a value cannot be decrypted.
   */
  next(most: number): readonly ResealedValue[] {
    const found: ResealedValue[] = [];
    const { keys } = this.#options.cipher;
    const statement = this.#reached.table === "objects" ? this.#statements.replaceBody : this.#statements.replacePrevious;
    const rows = this.#read(most);
    for (const { key, revision, body } of rows) {
      if (body !== null && keys.sealerOf(body) !== keys.first) found.push({ statement, key, revision, body: this.#reseal(key, body) });
    }
    return found;
  }

  /** Records that the values which {@link next} returned last are stored. */
  written(): void {
    this.#reached = this.#examined;
  }

  /** Rewrites the file without its free space. Must not be called in a transaction. */
  sweep(): void {
    // VACUUM must not write pages to temporary files.
    this.#database.exec("PRAGMA temp_store = MEMORY; VACUUM");
    this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    this.#statements.noteSweep.run(this.#sweepMark);
  }

  get #sweepMark(): number {
    // The table contains numbers, so the mark is the first 48 bits of a digest. The marks of earlier versions do not count: these could skip
    // values after a failed write.
    return Number.parseInt(sha256Hex(`every value: ${this.#options.cipher.keys.first}`).slice(0, 12), 16);
  }

  #read(most: number): readonly Row[] {
    const { readObjects, readHistory } = this.#statements;
    const { table, key, revision } = this.#reached;
    const rows = table === "objects" ? readObjects.iterate(key, most) : readHistory.iterate(revision, most);
    const read: Row[] = [];
    let characters = 0;
    for (const row of rows as Iterable<unknown> as Iterable<Row>) {
      read.push(row);
      characters += row.body?.length ?? 0;
      if (characters > CHARACTERS_PER_STEP) break;
    }
    const last = read.at(-1);
    if (last === undefined) this.#examined = { table: table === "objects" ? "history" : "none", key, revision };
    else this.#examined = table === "objects" ? { table, key: last.key, revision } : { table, key, revision: last.revision };
    return read;
  }

  #reseal(key: string, body: string): string {
    const { path, cipher } = this.#options;
    try {
      return cipher.seal(key, cipher.open(key, body));
    } catch (error) {
      throw sealedFile(path, key, error);
    }
  }
}

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    readObjects: prepare("SELECT key, revision, body FROM objects WHERE key > ? ORDER BY key LIMIT ?"),
    readHistory: prepare("SELECT key, revision, previous AS body FROM history WHERE revision > ? ORDER BY revision LIMIT ?"),
    replaceBody: prepare("UPDATE objects SET body = ? WHERE key = ? AND revision = ?"),
    replacePrevious: prepare("UPDATE history SET previous = ? WHERE key = ? AND revision = ?"),
    readSweep: prepare("SELECT value FROM meta WHERE name = 'swept'"),
    forgetSweep: prepare("DELETE FROM meta WHERE name = 'swept' AND value <> ?"),
    noteSweep: prepare("INSERT INTO meta VALUES ('swept', ?) ON CONFLICT DO UPDATE SET value = excluded.value"),
  };
}
