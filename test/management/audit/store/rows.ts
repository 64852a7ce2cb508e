/** Rows and databases of tests about audit lines. */
import type { AuditDatabase, AuditFound, AuditLook, AuditPlace } from "../../../../src/management/audit/store/audit-database.ts";
import type { AuditRow } from "../../../../src/management/audit/store/audit-row.ts";

/** A row with these columns. */
export function rowOf(more: Partial<AuditRow> = {}): AuditRow {
  const row = { at: 1_000, writer: "a", seq: 1, auditID: "id", stage: "ResponseComplete", user: "jane", verb: "get", resource: "teams" };
  const whole = { ...row, namespace: "", name: "", code: 200, ...more };
  return { ...whole, line: JSON.stringify({ seq: whole.seq, user: whole.user }), ...more };
}

/** After every row. */
export const END: AuditPlace = { at: Number.MAX_SAFE_INTEGER, writer: "~", seq: 0 };

/** The query for a page of everything. */
export function lookAt(more: Partial<AuditLook> = {}): AuditLook {
  return { filter: {}, before: END, since: 0, scan: 1_000, most: 1_000, ...more };
}

/** A database in memory that a test can make fail or wait. */
export interface TestDatabase {
  readonly rows: Map<string, AuditRow>;
  /** The current reason for failing. */
  failure: string | undefined;
  /** What each insertion waits for. */
  gate: Promise<void>;
  opened: number;
  /** Lines of each insertion that succeeded. */
  readonly batches: number[];
  open(): Promise<AuditDatabase>;
}

/** An empty database. */
export function createTestDatabase(): TestDatabase {
  const database: TestDatabase = {
    rows: new Map(),
    failure: undefined,
    gate: Promise.resolve(),
    opened: 0,
    batches: [],
    async open() {
      database.opened++;
      if (database.failure !== undefined) throw new Error(database.failure);
      return {
        async insert(rows) {
          await database.gate;
          if (database.failure !== undefined) throw new Error(database.failure);
          database.batches.push(rows.length);
          for (const row of rows) database.rows.set(`${row.writer} ${row.seq}`, row);
        },
        look: async (): Promise<AuditFound> => ({ lines: [...database.rows.values()].map(({ line }) => line), next: undefined }),
        async prune(before, most) {
          if (database.failure !== undefined) throw new Error(database.failure);
          const old = [...database.rows].filter(([, { at }]) => at < before).slice(0, most);
          for (const [key] of old) database.rows.delete(key);
          return old.length;
        },
        usable: () => true,
        close: async () => {},
      };
    },
  };
  return database;
}
