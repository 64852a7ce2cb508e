/**
 * Audit lines in an SQL database.
 *
 * @module
 */
import type { AuditRow } from "./audit-row.ts";

/** A connection to a database; statements have `?` for each value. */
export interface Sql {
  /** Rows as objects by column. */
  all(text: string, values: readonly (string | number)[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Returns how many rows were changed. */
  run(text: string, values: readonly (string | number)[]): Promise<number>;
  close(): Promise<void>;
  /** Differences between SQL dialects. */
  readonly words: {
    readonly createTable: string;
    /** An insertion that skips existing rows. */
    readonly insert: string;
    /** Deletes a limited number of rows before a moment. */
    readonly deleteBefore: string;
    /** A text that is compared with a column byte by byte, whatever the characters of either. */
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
  /** Skips rows that exist already. */
  insert(rows: readonly AuditRow[]): Promise<void>;
  look(look: AuditLook): Promise<AuditFound>;
  /** Deletes a limited number of lines from before a moment. Returns how many. */
  prune(before: number, most: number): Promise<number>;
  close(): Promise<void>;
}

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

/** Creates the table if necessary. */
export async function openAuditDatabase(sql: Sql): Promise<AuditDatabase> {
  await sql.run(sql.words.createTable, []);
  const { text } = sql.words;
  // Positions are spelled out, because not every database uses its index to compare rows.
  const beforePlace = `at >= ? AND at <= ? AND (at < ? OR (at = ? AND (writer < ${text} OR (writer = ${text} AND seq < ?))))`;
  const fromPlace = `at >= ? AND (at > ? OR (at = ? AND (writer > ${text} OR (writer = ${text} AND seq >= ?))))`;
  return {
    async insert(rows) {
      const marks = rows.map(() => `(${COLUMNS.map(() => "?").join(",")})`).join(",");
      await sql.run(`${sql.words.insert} INTO ${TABLE} (${COLUMNS.join(",")}) VALUES ${marks}`, rows.flatMap(valuesOf));
    },
    async look({ filter, before, since, scan, most }) {
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
    },
    prune: (before, most) => sql.run(sql.words.deleteBefore, [before, most]),
    close: () => sql.close(),
  };
}

function placeOf({ at, writer, seq }: Readonly<Record<string, unknown>>): AuditPlace {
  return { at: Number(at), writer: String(writer), seq: Number(seq) };
}

function valuesOf(row: AuditRow): (string | number)[] {
  const { at, writer, seq, auditID, stage, user, verb, resource, namespace, name, code, line } = row;
  return [at, writer, seq, auditID, stage, user, verb, resource, namespace, name, code, line];
}
