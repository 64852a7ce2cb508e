import { assert, EngineError } from "../../../base/errors.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { deepFreeze } from "../../types/objects/json-data.ts";
import { createMemoryStore, HISTORY_DEFAULT, type MemoryStore } from "../memory/memory-store.ts";
import { demandRoom, type StoreMemory } from "../memory-limits.ts";
import type { Resealable, ResealStep } from "../resealable.ts";
import type { Cipher } from "../cipher.ts";
import { openJournal, type Journal, type Progress, type JournalEntry } from "./journal.ts";
import type { Store, StoredObject, StorePage, StoreRange, StoreWatch, StoreWatchOptions, WriteTerms } from "../store.ts";

/** Limits of a journaled store. */
export interface JournaledStoreOptions {
  /** Number of events kept for watches and paged lists of older states. Default 10,000. */
  readonly history?: number;
  /** Default {@link StoreMemory}. */
  readonly memory?: StoreMemory | undefined;
  /** Maximum number of writes that share one transaction, and thus one wait for the disk. Default 256. */
  readonly writesPerCommit?: number;
}

/** The file of a store, and how objects are stored in it. */
export interface SqliteStoreOptions extends JournaledStoreOptions {
  /** The database file, which is created if it does not exist. Its folder must exist. */
  readonly path: string;
  /** Encrypts the objects in the file; keys are not encrypted. Default: no encryption. */
  readonly cipher?: Cipher;
  /** The initial revision of a new file; the first write gets the next one. Default 1. */
  readonly firstRevision?: number;
  /** If true, the file must exist and contain data; no file is created. Default false. */
  readonly existing?: boolean;
  /**
   * If true, nothing is written to the file or next to it, and no lock is taken: for a file that no process has open, such as one on
   * read-only media. The file must exist, without a log (`-wal`) next to it, which would not be read. Writes throw STORE_FAILED. Default
   * false.
   */
  readonly readOnly?: boolean;
  /** Records elsewhere which revision the store has reached. Default: not recorded. */
  readonly progress?: Progress;
}

const WRITES_PER_COMMIT = 256;
/** Number of characters after which a transaction takes no further write, since a transaction blocks the process. */
const CHARACTERS_PER_COMMIT = 4 * 1024 * 1024;

/**
 * Opens a store that keeps its objects in a SQLite file. Acknowledged writes survive a crash of the process or the machine. After a
 * restart, history and revisions continue. Only one process at a time can open the file.
 *
 * All objects are also in memory. Reads and watches are served from memory, so they cost as much as in a memory store. Writes that begin in
 * one turn of the event loop share a transaction.
 *
 * @throws CONFIG_FILE when the file is in use, damaged, not a database of this program, or written by a newer version; STORE_FAILED when
 *   it contains more than `memory` allows. A write throws STORE_FAILED, and stores nothing, when the disk is full or fails, or when a file
 *   of the database was removed, moved, replaced or changed while it was open. After such a change, every write fails, and `recovers` is
 *   false.
 *
 * @example
 * const store = openSqliteStore({ path: "cluster.db" });
 * await store.create("/core/configmaps/shop/a", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } });
 * await store.close();
 */
export function openSqliteStore({
  path,
  history = HISTORY_DEFAULT,
  cipher,
  firstRevision,
  existing,
  readOnly,
  progress,
  ...options
}: SqliteStoreOptions): Store & Resealable {
  const journal = openJournal({ path, history, memory: options.memory, cipher, firstRevision, existing, readOnly, progress });
  try {
    return createJournaledStore(journal, { history, ...options });
  } catch (error) {
    journal.abandon();
    throw error;
  }
}

/** Creates a store on an open journal. Closing the store also closes the journal. */
export function createJournaledStore(journal: Journal, options: JournaledStoreOptions = {}): Store & Resealable {
  return new JournaledStore(journal, options);
}

/** Texts that SQLite returns unchanged: those without unpaired surrogates and NUL characters. */
const STORABLE = /^[^\0\p{Surrogate}]*$/u;

/** A write that waits for its turn. */
interface Pending {
  readonly write: JournalEntry;
  readonly terms: WriteTerms | undefined;
  /** Applies the write to memory, once it is on the disk. */
  readonly apply: () => Promise<StoredObject | undefined>;
  readonly resolve: (stored: StoredObject | undefined | Promise<StoredObject | undefined>) => void;
  readonly reject: (error: unknown) => void;
}

class JournaledStore implements Store, Resealable {
  readonly #journal: Journal;
  /** The contents of the disk, in memory. */
  readonly #view: MemoryStore;
  readonly #memory: StoreMemory;
  readonly #writesPerCommit: number;
  readonly #waiting: Pending[] = [];
  #scheduled = false;
  #closed = false;

  constructor(journal: Journal, options: JournaledStoreOptions) {
    const { history = HISTORY_DEFAULT, memory: { historyBytes, ...memory } = {}, writesPerCommit = WRITES_PER_COMMIT } = options;
    this.#journal = journal;
    this.#memory = memory;
    // The view itself has no limit on objects, because it must accept every write that is on the disk.
    this.#view = createMemoryStore({ history, ...(historyBytes !== undefined && { memory: { historyBytes } }), contents: journal.read() });
    this.#writesPerCommit = writesPerCommit;
  }

  revision(): Promise<number> {
    return this.#view.revision();
  }

  get(key: string): Promise<StoredObject | undefined> {
    return this.#view.get(key);
  }

  list(range: StoreRange): Promise<StorePage> {
    return this.#view.list(range);
  }

  watch(options: StoreWatchOptions): Promise<StoreWatch> {
    return this.#view.watch(options);
  }

  oldest(): number {
    return this.#view.oldest();
  }

  heldBytes(): number {
    return this.#view.heldBytes();
  }

  async create(key: string, object: KubeObject, terms?: WriteTerms): Promise<StoredObject | undefined> {
    demandRoom(this.#view, this.#memory, key, object);
    const kept = keep(object);
    return this.#enqueue({ type: "created", key, body: JSON.stringify(kept) }, terms, () => this.#view.create(key, kept));
  }

  async update(key: string, object: KubeObject, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined> {
    demandRoom(this.#view, this.#memory, key, object);
    const kept = keep(object);
    const write: JournalEntry = { type: "updated", key, body: JSON.stringify(kept), expected };
    return this.#enqueue(write, terms, () => this.#view.update(key, kept, expected));
  }

  async delete(key: string, expected: number, terms?: WriteTerms): Promise<StoredObject | undefined> {
    return this.#enqueue({ type: "deleted", key, expected }, terms, () => this.#view.delete(key, expected));
  }

  get recovers(): boolean {
    return this.#journal.holds;
  }

  async demandWritable(): Promise<void> {
    this.#demandOpen();
    this.#journal.probe();
  }

  async compact(): Promise<void> {
    this.#commitAll();
    this.#journal.compact();
    await this.#view.compact();
  }

  async sealedBy(): Promise<ReadonlyMap<string, number>> {
    this.#demandOpen();
    return this.#journal.sealedBy();
  }

  async reseal(most: number): Promise<ResealStep> {
    this.#demandOpen();
    return this.#journal.reseal(most);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#commitAll();
    this.#closed = true;
    this.#journal.close();
    await this.#view.close();
  }

  #enqueue(write: JournalEntry, terms: WriteTerms | undefined, apply: Pending["apply"]): Promise<StoredObject | undefined> {
    assert(STORABLE.test(write.key), "a key contains no unpaired surrogate");
    this.#demandOpen();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, terms, apply, resolve, reject });
      this.#schedule();
    });
  }

  #demandOpen(): void {
    if (this.#closed) throw new EngineError("STORE_FAILED", "Cannot write: the store is closed");
  }

  /** Schedules a commit after the events of this turn, so that the writes of all requests that have arrived share a transaction. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#commitNext();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #commitAll(): void {
    while (this.#waiting.length > 0) this.#commitNext();
  }

  #commitNext(): void {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    try {
      const revisions = this.#journal.commit(
        batch.map(({ write }) => write),
        this.#view.oldest(),
      );
      batch.forEach((pending, index) => this.#settle(pending, revisions[index]));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Takes the next writes for one transaction. A write after a revoking write waits until the revocation is visible. */
  #takeBatch(): Pending[] {
    const batch: Pending[] = [];
    let count = 0;
    let characters = 0;
    for (const pending of this.#waiting) {
      const { write, terms, reject } = pending;
      if (batch.length >= this.#writesPerCommit || characters > CHARACTERS_PER_COMMIT || batch.at(-1)?.terms?.revokes === true) break;
      count += 1;
      try {
        terms?.demand?.();
      } catch (error) {
        reject(error);
        continue;
      }
      characters += write.body?.length ?? 0;
      batch.push(pending);
    }
    this.#waiting.splice(0, count);
    return batch;
  }

  #settle({ apply, resolve }: Pending, revision: number | undefined): void {
    if (revision === undefined) return resolve(undefined);
    const checked = async () => {
      const stored = await apply();
      assert(stored?.revision === revision, "memory and disk reach the same revision");
      return stored;
    };
    resolve(checked());
  }
}

/** Returns a frozen object, so that later changes by the caller do not affect the write. */
function keep(object: KubeObject): KubeObject {
  return deepFreeze({ ...object, metadata: { ...object.metadata } });
}
