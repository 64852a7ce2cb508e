/**
 * The audit lines in a database that speaks SQL.
 *
 * @module
 */
import type { AuditRow } from "./audit-row.ts";

/** What a database is asked, with `?` for each value. */
export interface Sql {
  /** Rows as objects by column. */
  all(text: string, values: readonly (string | number)[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** How many rows were changed. */
  run(text: string, values: readonly (string | number)[]): Promise<number>;
  close(): Promise<void>;
  /** What the language calls differently. */
  readonly words: {
    readonly createTable: string;
    /** An insertion that leaves alone what is there. */
    readonly insert: string;
    /** Deletes rows before a moment, so many at most. */
    readonly deleteBefore: string;
  };
}

/** Which lines are wanted; what is left out does not restrict. */
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

/** A place between two lines, in the order of time. */
export type AuditPlace = Pick<AuditRow, "at" | "writer" | "seq">;

/** What one look takes. */
export interface AuditLook {
  readonly filter: AuditFilter;
  /** Only lines before this place. */
  readonly before: AuditPlace;
  /** No lines from before this moment, in milliseconds since 1970. */
  readonly since: number;
  /** So many lines are looked through at most, and so many are answered. */
  readonly scan: number;
  readonly most: number;
}

/** What a look has found, newest first. */
export interface AuditFound {
  readonly lines: readonly string[];
  /** Where to go on; undefined when there are none before. */
  readonly next: AuditPlace | undefined;
}

/** Lines in a database. */
export interface AuditDatabase {
  /** Rows that are there already stay. */
  insert(rows: readonly AuditRow[]): Promise<void>;
  look(look: AuditLook): Promise<AuditFound>;
  /** Deletes lines from before a moment, so many at most; how many. */
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
/** Lines before a place. Written out: the comparison of rows is not looked up in the index everywhere. */
const BEFORE = "at >= ? AND at <= ? AND (at < ? OR (at = ? AND (writer < ? OR (writer = ? AND seq < ?))))";

/** Makes the table when there is none. */
export async function openAuditDatabase(sql: Sql): Promise<AuditDatabase> {
  await sql.run(sql.words.createTable, []);
  return {
    async insert(rows) {
      const marks = rows.map(() => `(${COLUMNS.map(() => "?").join(",")})`).join(",");
      await sql.run(`${sql.words.insert} INTO ${TABLE} (${COLUMNS.join(",")}) VALUES ${marks}`, rows.flatMap(valuesOf));
    },
    async look({ filter, before, since, scan, most }) {
      const from = [since, before.at, before.at, before.at, before.writer, before.writer, before.seq];
      const window = `FROM ${TABLE} WHERE ${BEFORE} ${ORDER}`;
      const [end] = await sql.all(`SELECT at, writer, seq ${window} LIMIT 1 OFFSET ${scan - 1}`, from);
      const wanted = (Object.keys(FILTERS) as (keyof AuditFilter)[]).filter((name) => filter[name] !== undefined);
      const where = wanted.map((name) => `${FILTERS[name]} = ?`);
      const floor = end === undefined ? [] : ["at >= ? AND (at > ? OR (at = ? AND (writer > ? OR (writer = ? AND seq >= ?))))"];
      const last = end === undefined ? undefined : placeOf(end);
      const values = last === undefined ? [] : [last.at, last.at, last.at, last.writer, last.writer, last.seq];
      const found = await sql.all(
        `SELECT at, writer, seq, line FROM ${TABLE} WHERE ${[BEFORE, ...floor, ...where].join(" AND ")} ${ORDER} LIMIT ${most}`,
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
