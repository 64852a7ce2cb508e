/**
 * Audit lines in an SQL database.
 *
 * @module
 */
import { messageOf } from "../../../base/errors.ts";
import type { AuditRow } from "./audit-row.ts";

/** A connection to a database; statements have `?` for each value. */
export interface Sql {
  /** Rows as objects by column. */
  all(text: string, values: readonly (string | number)[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Returns how many rows were changed. */
  run(text: string, values: readonly (string | number)[]): Promise<number>;
  /** Runs one of a few recurring statements, which are prepared once. */
  runPrepared(text: string, values: readonly (string | number)[]): Promise<void>;
  /** Whether an insertion failed because of a row that exists. */
  meansExisting(error: unknown): boolean;
  /** Whether a failure is about the values of a statement, and recurs with the same values. */
  refusesValues(error: unknown): boolean;
  /** False once the connection is lost, or in an unknown state after a failure. */
  usable(): boolean;
  close(): Promise<void>;
  /** Differences between SQL dialects. */
  readonly words: {
    readonly createTable: string;
    /** The end of an insertion: skips existing rows, and nothing else, if the dialect can do that. */
    readonly skipExisting: string;
    /** Deletes a limited number of rows before a moment. */
    readonly deleteBefore: string;
    /** The placeholder of a text that is compared with a column byte by byte, regardless of character sets. */
    readonly text: string;
  };
}

/** Filters of lines; an absent one does not restrict. */
export interface AuditFilter {
  readonly user?: string;
  readonly verb?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly stage?: string;
  readonly auditID?: string;
  readonly code?: number;
}

/** A position between two lines, ordered by time. */
export type AuditPlace = Pick<AuditRow, "at" | "writer" | "seq">;

/** Options of one query. */
export interface AuditLook {
  readonly filter: AuditFilter;
  /** Only lines before this position. */
  readonly before: AuditPlace;
  /** No lines from before this moment, in milliseconds since 1970. */
  readonly since: number;
  /** The most lines that are scanned, and the most that are returned. */
  readonly scan: number;
  readonly most: number;
}

/** The result of a query, newest first. */
export interface AuditFound {
  readonly lines: readonly string[];
  /** Where to continue; undefined when there are no earlier lines. */
  readonly next: AuditPlace | undefined;
}

/** Audit lines in a database. */
export interface AuditDatabase {
  /**
   * Inserts rows, except those that exist already.
   *
   * @throws RefusedRows when the database does not store a row unchanged; the other rows may be stored.
   */
  insert(rows: readonly AuditRow[]): Promise<void>;
  look(look: AuditLook): Promise<AuditFound>;
  /** Deletes a limited number of lines from before a moment. Returns how many. */
  prune(before: number, most: number): Promise<number>;
  /** Whether the database can be used after a failure without being opened again. */
  usable(): boolean;
  close(): Promise<void>;
}

/** The error of a database that would alter the rows that it stores, because the platform did not create its table. */
export class RefusedRows extends Error {}

/** Most rows of one statement. Fewer rows are split into powers of two, so that few statements have to be prepared. */
export const INSERTED_MAX = 256;

const COLUMNS = ["at", "writer", "seq", "audit_id", "stage", "user_name", "verb", "resource", "namespace", "name", "code", "line"] as const;
const FILTERS: Readonly<Record<keyof AuditFilter, (typeof COLUMNS)[number]>> = {
  user: "user_name",
  verb: "verb",
  resource: "resource",
  namespace: "namespace",
  name: "name",
  stage: "stage",
  auditID: "audit_id",
  code: "code",
};
const TABLE = "audit_events";
const ORDER = "ORDER BY at DESC, writer DESC, seq DESC";

/** Creates the table if it does not exist. If it exists, the database may be read-only. */
export async function openAuditDatabase(sql: Sql): Promise<AuditDatabase> {
  try {
    await makeTable(sql);
  } catch (error) {
    await sql.close();
    throw error;
  }
  return {
    async insert(rows) {
      try {
        for (let from = 0; from < rows.length;) {
          const count = Math.min(INSERTED_MAX, 2 ** Math.floor(Math.log2(rows.length - from)));
          await insertIn(sql, rows.slice(from, from + count));
          from += count;
        }
      } catch (error) {
        throw sql.refusesValues(error) ? new RefusedRows(messageOf(error), { cause: error }) : error;
      }
    },
    async look(look) {
      try {
        return await lookIn(sql, look);
      } catch (error) {
        // A failed insertion opens the database again, which creates a missing table. Without insertions, the query has to do that.
        if (sql.usable()) await makeTable(sql).catch(() => {});
        throw error;
      }
    },
    prune: (before, most) => sql.run(sql.words.deleteBefore, [before, most]),
    usable: () => sql.usable(),
    close: () => sql.close(),
  };
}

async function lookIn(sql: Sql, { filter, before, since, scan, most }: AuditLook): Promise<AuditFound> {
  const { text } = sql.words;
  // Positions are compared column by column, because not every database uses its index to compare rows.
  const beforePlace = `at >= ? AND at <= ? AND (at < ? OR (at = ? AND (writer < ${text} OR (writer = ${text} AND seq < ?))))`;
  const fromPlace = `at >= ? AND (at > ? OR (at = ? AND (writer > ${text} OR (writer = ${text} AND seq >= ?))))`;
  const from = [since, before.at, before.at, before.at, before.writer, before.writer, before.seq];
  const window = `FROM ${TABLE} WHERE ${beforePlace} ${ORDER}`;
  const [end] = await sql.all(`SELECT at, writer, seq ${window} LIMIT 1 OFFSET ${scan - 1}`, from);
  const wanted = (Object.keys(FILTERS) as (keyof AuditFilter)[]).filter((name) => filter[name] !== undefined);
  const where = wanted.map((name) => `${FILTERS[name]} = ${name === "code" ? "?" : text}`);
  const floor = end === undefined ? [] : [fromPlace];
  const last = end === undefined ? undefined : placeOf(end);
  const values = last === undefined ? [] : [last.at, last.at, last.at, last.writer, last.writer, last.seq];
  const found = await sql.all(
    `SELECT at, writer, seq, line FROM ${TABLE} WHERE ${[beforePlace, ...floor, ...where].join(" AND ")} ${ORDER} LIMIT ${most}`,
    [...from, ...values, ...wanted.map((name) => filter[name]!)],
  );
  const next = found.length === most ? placeOf(found.at(-1)!) : last;
  return { lines: found.map(({ line }) => String(line)), next };
}

/** Skips rows that exist because they were sent before, and finds them by halving the batch. */
async function insertIn(sql: Sql, rows: readonly AuditRow[]): Promise<void> {
  try {
    await sql.runPrepared(insertionOf(rows.length, sql), rows.flatMap(valuesOf));
  } catch (error) {
    if (!sql.meansExisting(error)) throw error;
    if (rows.length === 1) return;
    await insertIn(sql, rows.slice(0, rows.length / 2));
    await insertIn(sql, rows.slice(rows.length / 2));
  }
}

/** Creates the table unless it can be read. */
async function makeTable(sql: Sql): Promise<void> {
  try {
    await sql.all(`SELECT at FROM ${TABLE} LIMIT 0`, []);
  } catch {
    // If something is wrong, the creation fails with the reason.
    await sql.run(sql.words.createTable, []);
  }
}

function insertionOf(count: number, { words }: Sql): string {
  const marks = `(${COLUMNS.map(() => "?").join(",")})`;
  return `INSERT INTO ${TABLE} (${COLUMNS.join(",")}) VALUES ${Array<string>(count).fill(marks).join(",")} ${words.skipExisting}`;
}

function placeOf({ at, writer, seq }: Readonly<Record<string, unknown>>): AuditPlace {
  return { at: Number(at), writer: String(writer), seq: Number(seq) };
}

function valuesOf(row: AuditRow): (string | number)[] {
  const { at, writer, seq, auditID, stage, user, verb, resource, namespace, name, code, line } = row;
  return [at, writer, seq, auditID, stage, user, verb, resource, namespace, name, code, line];
}
