import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openAuditDatabase } from "../../../../src/management/audit/store/audit-database.ts";
import { openSqliteLines } from "../../../../src/management/audit/store/sqlite-lines.ts";
import { describeDatabase } from "./database-contract.ts";

const folder = mkdtempSync(join(tmpdir(), "audit-sqlite-"));
const path = join(folder, "inner", "audit.db");
afterAll(() => rmSync(folder, { recursive: true }));

const open = async () => openAuditDatabase(await openSqliteLines(path));

describeDatabase(open, async () => {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
});

test("only the owner reads the file and its folder", async () => {
  await (await open()).close();
  expect([statSync(path).mode & 0o777, statSync(join(folder, "inner")).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("a file that is not a database is reported, and stays", async () => {
  await expect(openSqliteLines(import.meta.filename)).rejects.toThrow("file is not a database");
  await expect(openSqliteLines(folder)).rejects.toThrow(/EISDIR/);
});
