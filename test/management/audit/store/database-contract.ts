/**
 * The contract of every database of audit lines.
 */
import { expect, test } from "vitest";
import type { AuditDatabase, AuditFilter } from "../../../../src/management/audit/store/audit-database.ts";
import { AUDIT_ROW_BYTES_MAX } from "../../../../src/management/audit/store/audit-row.ts";
import { lookAt, rowOf, END } from "./rows.ts";

/** Declares the tests. `open` returns a database; `fresh` empties it. */
export function describeDatabase(open: () => Promise<AuditDatabase>, fresh: () => Promise<void>): void {
  async function withRows(rows: readonly Parameters<typeof rowOf>[0][], work: (database: AuditDatabase) => Promise<void>): Promise<void> {
    await fresh();
    const database = await open();
    try {
      if (rows.length > 0) await database.insert(rows.map(rowOf));
      await work(database);
    } finally {
      await database.close();
    }
  }
  const seqs = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { seq: number }).seq);

  test("lines come newest first, and one that is written again is not doubled", async () => {
    await withRows([{ seq: 1 }, { seq: 3, at: 2_000 }, { seq: 2 }], async (database) => {
      await database.insert([rowOf({ seq: 2 }), rowOf({ seq: 4, at: 500 })]);
      expect(await database.look(lookAt())).toMatchObject({ next: undefined });
      expect(seqs((await database.look(lookAt())).lines)).toEqual([3, 2, 1, 4]);
    });
  });

  test.each<[AuditFilter, number[]]>([
    [{ user: "bob" }, [2]],
    [{ user: "Bob" }, []],
    [{ user: "bob " }, []],
    [{ user: "' OR '1'='1" }, [6]],
    [{ user: "\\' OR 1=1 -- " }, [7]],
    [{ verb: "create" }, [3, 2]],
    [{ resource: "users/password", verb: "create" }, [3]],
    [{ namespace: "p-shop" }, [4]],
    [{ name: "dä\u{1f600}" }, [4]],
    [{ code: 403 }, [5]],
    [{ auditID: "other" }, [5]],
    [{ stage: "Panic" }, [1]],
    [{ stage: "panic" }, []],
    [{ stage: "Panic " }, []],
    [{ stage: "Pänic" }, []],
    [{ auditID: "öther" }, []],
    [{ auditID: "other " }, []],
    [{ auditID: "other\u0000" }, []],
    [{ user: "j\u00e4ne" }, [8]],
    [{ user: "ja\u0308ne" }, [9]],
    [{ user: "jane\u0308" }, []],
    [{ user: "J\u00c4NE" }, []],
    [{ user: "stra\u00dfe" }, [10]],
    [{ user: "strasse" }, []],
    [{ user: "\u{1f600}" }, [11]],
    [{ user: "\u{1f601}" }, []],
    [{ user: "a\u0000b" }, [12]],
    [{ user: "a" }, []],
    [{ user: "\ud800" }, [13]],
    [{ verb: "cr\u00e9ate" }, []],
    [{ namespace: "p-shop\u00a0" }, []],
    [{ code: 403, user: "jane", stage: "\u00df" }, []],
  ])("lines are found by %j", async (filter, expected) => {
    const rows = [
      { seq: 1, stage: "Panic" },
      { seq: 2, user: "bob", verb: "create" },
      { seq: 3, verb: "create", resource: "users/password" },
      { seq: 4, namespace: "p-shop", name: "dä\u{1f600}" },
      { seq: 5, code: 403, auditID: "other" },
      { seq: 6, user: "' OR '1'='1" },
      { seq: 7, user: "\\' OR 1=1 -- " },
      { seq: 8, user: "j\u00e4ne" },
      { seq: 9, user: "ja\u0308ne" },
      { seq: 10, user: "stra\u00dfe" },
      { seq: 11, user: "\u{1f600}" },
      { seq: 12, user: "a\u0000b" },
      { seq: 13, user: "\ufffd" },
    ];
    await withRows(rows, async (database) => {
      expect(seqs((await database.look(lookAt({ filter }))).lines)).toEqual(expected);
    });
  });

  test("a place that no line has is a place all the same, whatever its text", async () => {
    await withRows([{ seq: 1 }, { seq: 2, writer: "b" }], async (database) => {
      for (const [writer, expected] of [
        ["a\u00e4", [1]],
        ["\u00e4", [2, 1]],
        ["a ", [1]],
        ["A", []],
        ["\u{1f600}", [2, 1]],
      ] as const)
        expect(seqs((await database.look(lookAt({ before: { at: 1_000, writer, seq: 0 } }))).lines), writer).toEqual(expected);
    });
  });

  test("pages together have each line once, whatever is looked through at a time", async () => {
    const rows = Array.from({ length: 60 }, (_, index) => ({
      seq: index,
      at: 1_000 + (index % 7),
      writer: index % 3 === 0 ? "a" : "b",
      user: `u${index % 4}`,
    }));
    await withRows(rows, async (database) => {
      for (const [scan, most] of [
        [1, 1],
        [5, 2],
        [7, 50],
        [100, 3],
      ] as const) {
        for (const filter of [{}, { user: "u1" }] as const) {
          const found: number[] = [];
          let before = END as typeof END | undefined;
          while (before !== undefined) {
            const page = await database.look({ filter, before, since: 0, scan, most });
            found.push(...seqs(page.lines));
            before = page.next;
          }
          const wanted = rows
            .filter(({ user }) => !("user" in filter) || user === filter.user)
            .sort(
              (left, right) =>
                right.at - left.at || (left.writer < right.writer ? 1 : left.writer > right.writer ? -1 : right.seq - left.seq),
            );
          expect(found, `${scan} ${most}`).toEqual(wanted.map(({ seq }) => seq));
        }
      }
      expect(seqs((await database.look(lookAt({ since: 1_006 }))).lines)).toHaveLength(8);
    });
  });

  test("old lines are deleted in portions", async () => {
    await withRows(
      [
        { seq: 1, at: 1 },
        { seq: 2, at: 2 },
        { seq: 3, at: 3 },
        { seq: 4, at: 4 },
      ],
      async (database) => {
        expect([await database.prune(4, 2), await database.prune(4, 2), await database.prune(4, 2)]).toEqual([2, 1, 0]);
        expect(seqs((await database.look(lookAt())).lines)).toEqual([4]);
      },
    );
  });

  test("a line may be as long as rows are, and has every character", async () => {
    const line = JSON.stringify({ seq: 1, text: `${"'\\\"\u{1f600}\u2028%_?".repeat(10)}` }).padEnd(AUDIT_ROW_BYTES_MAX - 200);
    await withRows([{ line, user: "x".repeat(253) }], async (database) => {
      expect((await database.look(lookAt())).lines).toEqual([line]);
    });
  });

  test("a new database can go on being used", async () => {
    await withRows([], async (database) => {
      expect(database.usable()).toBe(true);
    });
  });

  test("what is there stays when it is opened again", async () => {
    await withRows([{ seq: 1 }], async () => {
      const again = await open();
      try {
        expect(seqs((await again.look(lookAt())).lines)).toEqual([1]);
      } finally {
        await again.close();
      }
    });
  });
}
