import { backoffDelay } from "../../../base/backoff.ts";
import { delay, nextMacrotask, type Clock, type Timer } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { noMetrics, type Metrics } from "../../../base/metrics.ts";
import { INSERTED_MAX, RefusedRows, type AuditDatabase, type AuditFound, type AuditLook } from "./audit-database.ts";
import type { AuditRow } from "./audit-row.ts";

/** Options of the store. */
export interface AuditStoreOptions {
  /** Opens the database; called again after a failure. When closing takes too long, the signal ends pending operations. */
  readonly open: (signal: AbortSignal) => Promise<AuditDatabase>;
  /** Age after which lines are deleted, in hours; 0 keeps all. */
  readonly ttlHours: number;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Logs once when lines begin to be lost, once when the database fails, and once when it accepts lines again. */
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
  /** Most lines that wait. Default {@link AUDIT_PENDING_LINES_MAX}. */
  readonly pendingLinesMax?: number;
}

/** Writes lines to a database in the background. The file remains the authoritative log. */
export interface AuditStore {
  /** Number of waiting lines. */
  readonly pending: number;
  /** Queues a line. Returns at once and never throws; a line that does not fit into the queue is counted and logged. */
  write(row: AuditRow): void;
  /** Sets another age. */
  keep(ttlHours: number): void;
  /** @throws the database's error. */
  look(look: AuditLook): Promise<AuditFound>;
  /** Resolves when all waiting lines are written or counted as lost, after {@link AUDIT_CLOSING_MS} at the latest. */
  close(): Promise<void>;
}

/** Most lines that wait for the database, and most characters of them; further lines are not written to it. */
export const AUDIT_PENDING_LINES_MAX = 20_000;
export const AUDIT_PENDING_LENGTH_MAX = 32 * 1_048_576;
/** Most lines and characters of one insertion. */
const BATCH_LINES_MAX = INSERTED_MAX;
const BATCH_LENGTH_MAX = 524_288;
/** How long lines wait for others, in milliseconds: an insertion of one line costs as much as that of many. */
export const AUDIT_GATHERING_MS = 100;
const RETRY = { initialMs: 500, maximumMs: 30_000, jitter: 0.2 };
/** How often old lines are searched, and how many are deleted at a time. */
const PRUNING_MS = 3_600_000;
const PRUNED_MAX = 1_000;
const HOUR_MS = 3_600_000;
/** How long the database may take to store the last lines and to close, in milliseconds. */
export const AUDIT_CLOSING_MS = 2_000;
/** Label of the metric that counts lost lines. */
export const DATABASE_PLUGIN = { plugin: "database" };

/** Creates a store that opens its database in the background. */
export function createAuditStore(options: AuditStoreOptions): AuditStore {
  return new QueuedStore(options);
}

class QueuedStore implements AuditStore {
  readonly #options: AuditStoreOptions;
  readonly #metrics: Metrics;
  readonly #ending = new AbortController();
  /** Aborted when closing takes too long. */
  readonly #givenUp = new AbortController();
  #ttlHours: number;
  #opened: Opened | undefined;
  #pending: AuditRow[] = [];
  #pendingLength = 0;
  #batchMax = BATCH_LINES_MAX;
  #writing: Promise<void> | undefined;
  #pruning: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  /** Ends the wait for further lines. */
  #gathered = (): void => {};
  #lost = 0;
  #failing = false;
  /** Whether the refusal of rows has been logged. */
  #refusing = false;

  constructor(options: AuditStoreOptions) {
    this.#options = options;
    this.#metrics = options.metrics ?? noMetrics;
    this.#ttlHours = options.ttlHours;
    this.#prune();
    this.#keepPruning();
  }

  get pending(): number {
    return this.#pending.length;
  }

  write(row: AuditRow): void {
    const { pendingLinesMax = AUDIT_PENDING_LINES_MAX } = this.#options;
    const length = row.line.length;
    if (this.#ending.signal.aborted) return this.#lose(1);
    if (this.#pending.length >= pendingLinesMax || this.#pendingLength + length > AUDIT_PENDING_LENGTH_MAX) return this.#lose(1);
    this.#pending.push(row);
    this.#pendingLength += length;
    if (this.#pending.length >= BATCH_LINES_MAX) this.#gathered();
    this.#writing ??= this.#drain();
  }

  keep(ttlHours: number): void {
    if (ttlHours === this.#ttlHours) return;
    this.#ttlHours = ttlHours;
    this.#prune();
  }

  async look(look: AuditLook): Promise<AuditFound> {
    return this.#with((database) => database.look(look));
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#gathered();
    this.#timer?.cancel();
    const done = Promise.all([this.#writing, this.#pruning]).then(() => this.#forget(this.#opened));
    if (!(await this.#isWithinClosing(done))) {
      const fields = { seconds: AUDIT_CLOSING_MS / 1_000, lines: this.#pending.length };
      this.#options.logger.warn("The audit database does not respond and is closed; the audit file contains the missing lines", fields);
      this.#givenUp.abort();
    }
    this.#lose(this.#pending.length);
    this.#pending = [];
  }

  async #drain(): Promise<void> {
    for (let failures = 0; this.#pending.length > 0;) {
      if (this.#pending.length < BATCH_LINES_MAX) await this.#gather();
      const batch = this.#nextBatch();
      try {
        await this.#with((database) => database.insert(batch), { reopen: true });
        if (this.#givenUp.signal.aborted) break;
        this.#written(batch);
        failures = 0;
        // Requests that wait for a response are handled first.
        await nextMacrotask();
      } catch (error) {
        if (this.#givenUp.signal.aborted) break;
        if (error instanceof RefusedRows) {
          this.#narrow(batch, error);
          continue;
        }
        if (!this.#failing)
          this.#options.logger.warn("The audit database cannot be used; its lines are queued", { error: messageOf(error) });
        this.#failing = true;
        this.#batchMax = Math.max(1, Math.floor(this.#batchMax / 2));
        if (this.#ending.signal.aborted) break;
        await delay(this.#options.clock, backoffDelay(RETRY, failures++, this.#options.random), this.#ending.signal);
      }
    }
    this.#writing = undefined;
  }

  /** Lines that arrive soon after each other are written together. */
  async #gather(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const gathering = new AbortController();
    this.#gathered = () => gathering.abort();
    await delay(this.#options.clock, AUDIT_GATHERING_MS, gathering.signal);
    this.#gathered = () => {};
  }

  #nextBatch(): readonly AuditRow[] {
    let length = 0;
    let count = 0;
    while (count < Math.min(this.#batchMax, this.#pending.length)) {
      length += this.#pending[count]!.line.length;
      if (count > 0 && length > BATCH_LENGTH_MAX) break;
      count++;
    }
    return this.#pending.slice(0, count);
  }

  /** Halves the batch until the refused row is alone, then drops the row: the others would wait for it forever. */
  #narrow(batch: readonly AuditRow[], { message }: RefusedRows): void {
    this.#batchMax = Math.max(1, Math.floor(batch.length / 2));
    if (batch.length > 1) return;
    this.#take(batch);
    if (!this.#refusing) this.#options.logger.error("The audit database rejects lines; the audit file contains them", { error: message });
    this.#refusing = true;
    this.#metrics.count("apiserver_audit_error_total", DATABASE_PLUGIN);
  }

  #take(batch: readonly AuditRow[]): void {
    this.#pending = this.#pending.slice(batch.length);
    for (const { line } of batch) this.#pendingLength -= line.length;
  }

  #written(batch: readonly AuditRow[]): void {
    this.#take(batch);
    this.#batchMax = Math.min(BATCH_LINES_MAX, this.#batchMax * 2);
    if (this.#failing || this.#lost > 0) this.#options.logger.info("The audit database accepts lines again", { lost: this.#lost });
    this.#failing = false;
    this.#lost = 0;
  }

  #lose(count: number): void {
    if (count === 0) return;
    if (this.#lost === 0)
      this.#options.logger.error(
        "Audit lines are missing from the database, which is too slow or unavailable; the audit file contains them",
      );
    this.#lost += count;
    this.#metrics.count("apiserver_audit_error_total", DATABASE_PLUGIN, count);
  }

  /** After a failure, the next use opens the database again if it is unusable; with `reopen`, after any failure but {@link RefusedRows}. */
  async #with<Result>(work: (database: AuditDatabase) => Promise<Result>, { reopen = false } = {}): Promise<Result> {
    // A connection that has ended in the meantime, as idle ones do, is not a failure.
    if (this.#opened !== undefined && (await isOver(this.#opened))) await this.#forget(this.#opened);
    const opened = (this.#opened ??= { database: this.#options.open(this.#givenUp.signal), users: 0 });
    opened.users++;
    let result: Result;
    try {
      result = await work(await opened.database);
    } catch (error) {
      opened.users--;
      if ((await isOver(opened)) || (reopen && !(error instanceof RefusedRows))) await this.#forget(opened);
      else await this.#closeUnused(opened);
      throw error;
    }
    opened.users--;
    await this.#closeUnused(opened);
    return result;
  }

  /** Makes the next use open the database again. `opened` is closed when its last use ends. */
  async #forget(opened: Opened | undefined): Promise<void> {
    if (opened === undefined) return;
    if (this.#opened === opened) this.#opened = undefined;
    await this.#closeUnused(opened);
  }

  async #closeUnused(opened: Opened): Promise<void> {
    if (this.#opened === opened || opened.users > 0) return;
    // A database that never opened, or is closed already, does not need to be closed.
    await opened.database.then((database) => database.close()).catch(() => {});
  }

  async #isWithinClosing(work: Promise<unknown>): Promise<boolean> {
    const over = new AbortController();
    const done = work.then(() => true).finally(() => over.abort());
    return Promise.race([done, delay(this.#options.clock, AUDIT_CLOSING_MS, over.signal).then(() => over.signal.aborted)]);
  }

  /** Deletes old lines in small portions, one call after another. */
  #prune(): void {
    this.#pruning = this.#pruning.then(async () => {
      if (this.#ttlHours === 0) return;
      const before = this.#options.clock.now() - this.#ttlHours * HOUR_MS;
      try {
        for (let count = PRUNED_MAX; count === PRUNED_MAX && !this.#ending.signal.aborted; await nextMacrotask()) {
          count = await this.#with((database) => database.prune(before, PRUNED_MAX));
        }
      } catch (error) {
        if (this.#givenUp.signal.aborted) return;
        this.#options.logger.warn("Cannot delete old audit lines from the database", { error: messageOf(error) });
      }
    });
  }

  #keepPruning(): void {
    this.#timer = this.#options.clock.schedule(PRUNING_MS, () => {
      this.#prune();
      this.#keepPruning();
    });
  }
}

/** A database with the number of its current uses. */
interface Opened {
  readonly database: Promise<AuditDatabase>;
  users: number;
}

async function isOver({ database }: Opened): Promise<boolean> {
  return database.then(
    (it) => !it.usable(),
    () => true,
  );
}
