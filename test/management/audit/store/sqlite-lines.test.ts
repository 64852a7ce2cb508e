import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { LogFields } from "../../../../src/base/logger.ts";
import { nextMacrotask } from "../../../../src/base/clock.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { loadSqlite } from "../../../../src/apiserver/store/sqlite/load-sqlite.ts";
import { openAuditDatabase } from "../../../../src/management/audit/store/audit-database.ts";
import { openLines, type DatabaseOptions, OPEN_MS, STATEMENT_MS } from "../../../../src/management/audit/store/open-lines.ts";
import { createFakeClock, settle } from "../../../support/fake-clock.ts";
import { WAIT } from "../../../support/patience.ts";
import { AUDIT_GATHERING_MS, createAuditStore } from "../../../../src/management/audit/store/audit-store.ts";
import { describeDatabase } from "./database-contract.ts";
import { lookAt, rowOf } from "./rows.ts";

const folder = mkdtempSync(join(tmpdir(), "audit-sqlite-"));
const path = join(folder, "inner", "audit.db");
afterAll(() => rmSync(folder, { recursive: true }));

const openFile = (at: string, options?: DatabaseOptions) => openLines({ kind: "sqlite", path: at }, options);
const open = async () => openAuditDatabase(await openFile(path));

describeDatabase(open, async () => {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
});

test("only the owner reads the file and its folder", async () => {
  await (await open()).close();
  expect([statSync(path).mode & 0o777, statSync(join(folder, "inner")).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("a file that is not a database is reported, and stays", async () => {
  await expect(openFile(import.meta.filename)).rejects.toThrow("file is not a database");
  await expect(openFile(folder)).rejects.toThrow(/EISDIR/);
});

/** A store on the file, with what it logs and loses. */
function storeAt() {
  const [clock, metrics, told] = [createFakeClock(), createMetrics(), [] as string[]];
  const tell = (message: string, fields: LogFields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
  const store = createAuditStore({
    ...{ clock, metrics, random: () => 0, ttlHours: 0, logger: { debug() {}, info: tell, warn: tell, error: tell }, open },
  });
  const pass = (done: () => boolean) =>
    vi.waitFor(async () => {
      await clock.advance(AUDIT_GATHERING_MS);
      expect(done()).toBe(true);
    }, WAIT);
  return { store, told, pass, lost: () => metrics.value("apiserver_audit_error_total", { plugin: "database" }) };
}

const remove = () => ["", "-wal", "-shm"].forEach((end) => rmSync(`${path}${end}`, { force: true }));

test.each(["removed", "replaced"])(
  "a file that is %s while it is open is not written on unseen: another one is made, and nothing is lost",
  async (how) => {
    remove();
    const { store, told, pass, lost } = storeAt();
    store.write(rowOf({ seq: 1 }));
    await pass(() => store.pending === 0);
    remove();
    if (how === "replaced") await (await open()).close();
    store.write(rowOf({ seq: 2 }));
    await pass(() => store.pending === 0);
    expect((await store.look(lookAt())).lines).toHaveLength(1);
    await store.close();
    expect(told).toEqual([
      'The audit database cannot be used; its lines are queued {"error":"its file has been removed or replaced"}',
      'The audit database accepts lines again {"lost":0}',
    ]);
    expect([lost(), statSync(path).isFile()]).toEqual([0, true]);
  },
);

test("rows that another table does not take are counted and logged once, and no other row is skipped", async () => {
  remove();
  mkdirSync(join(folder, "inner"), { recursive: true, mode: 0o700 });
  const database = new (loadSqlite().DatabaseSync)(path);
  const columns =
    "at, writer, seq, audit_id, stage, user_name, verb, resource, namespace, name, code, line TEXT CHECK (length(line) < 100)";
  database.exec(`CREATE TABLE audit_events (${columns}, extra TEXT UNIQUE DEFAULT NULL, PRIMARY KEY (at, writer, seq))`);
  database.close();
  const { store, told, pass, lost } = storeAt();
  for (let seq = 0; seq < 300; seq++) store.write(rowOf({ seq, ...(seq % 100 === 7 && { line: JSON.stringify("x".repeat(200)) }) }));
  await pass(() => store.pending === 0);
  expect((await store.look(lookAt())).lines).toHaveLength(297);
  await store.close();
  expect([lost(), told]).toEqual([
    3,
    [expect.stringMatching(/^The audit database rejects lines; the audit file contains them .*CHECK constraint failed/)],
  ]);
});

test("a table without the platform's key is reported, and lines wait", async () => {
  remove();
  mkdirSync(join(folder, "inner"), { recursive: true, mode: 0o700 });
  const database = new (loadSqlite().DatabaseSync)(path);
  database.exec("CREATE TABLE audit_events (at, writer, seq, audit_id, stage, user_name, verb, resource, namespace, name, code, line)");
  database.close();
  const { store, told, pass, lost } = storeAt();
  store.write(rowOf());
  await pass(() => told.length > 0);
  expect([told[0], store.pending, lost()]).toEqual([expect.stringContaining("ON CONFLICT clause does not match"), 1, 0]);
  await store.close();
  expect(lost()).toBe(1);
});

const canLimit = ["bash", "prlimit"].every((program) => spawnSync(program, ["--version"]).status === 0);

test.runIf(canLimit)("a full disk keeps lines waiting, and with room again each line is there", () => {
  const script = join(import.meta.dirname, "small-database.ts");
  const limited = 'ulimit -S -f 1024 && exec "$0" --no-warnings "$1" "$2"';
  const said = execFileSync("bash", ["-c", limited, process.execPath, script, join(folder, "small.db")], { encoding: "utf8" });
  const { waiting, ...rest } = JSON.parse(said) as { readonly waiting: number };
  expect(waiting).toBeGreaterThan(1_500);
  expect(rest).toEqual({
    found: 3_000,
    lost: 0,
    told: [
      expect.stringMatching(/^The audit database cannot be used; its lines are queued .*(disk is full|disk I\/O error)/),
      'The audit database accepts lines again {"lost":0}',
    ],
  });
});

test("lines that wait at the end are written before it", async () => {
  remove();
  const { store, told, lost } = storeAt();
  for (let seq = 0; seq < 1_000; seq++) store.write(rowOf({ seq }));
  await store.close();
  const again = await open();
  expect((await again.look(lookAt({ scan: 2_000, most: 2_000 }))).lines).toHaveLength(1_000);
  await again.close();
  expect([lost(), told]).toEqual([0, []]);
});

test("while another process holds the file its callers do not wait, and no line is lost", async () => {
  remove();
  await (await open()).close();
  const other = new (loadSqlite().DatabaseSync)(path);
  other.exec("BEGIN IMMEDIATE");
  const { store, told, pass, lost } = storeAt();
  for (let seq = 0; seq < 1_000; seq++) store.write(rowOf({ seq }));
  await pass(() => told.length > 0);
  expect([told, store.pending]).toEqual([
    ['The audit database cannot be used; its lines are queued {"error":"database is locked"}'],
    1_000,
  ]);
  expect((await store.look(lookAt())).lines).toEqual([]);
  other.exec("COMMIT");
  other.close();
  await pass(() => store.pending === 0);
  expect((await store.look(lookAt({ scan: 2_000, most: 2_000 }))).lines).toHaveLength(1_000);
  await store.close();
  expect([told.length, lost()]).toEqual([2, 0]);
});

const hasFolderOfSystem = existsSync("/proc/self");

test.runIf(hasFolderOfSystem)("where the system makes no folders, opening fails at once", async () => {
  await expect(openFile("/proc/endpoint-sync/inner/audit.db")).rejects.toThrow(
    "ENOENT: no such file or directory, mkdir '/proc/endpoint-sync'",
  );
});

test("a pipe and a device are no files, and are not waited for", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  await expect(openFile(pipe)).rejects.toThrow("it is not a file");
  await expect(openFile("/dev/null")).rejects.toThrow("it is not a file");
});

/** Keeps SQLite busy for a second or more, and returns. */
const LONG =
  "WITH RECURSIVE counted(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM counted WHERE x < 10000000) SELECT count(*) AS count FROM counted";

test("a program on the command line opens a file, and ends although it leaves it open", () => {
  const module = new URL("../../../../src/management/audit/store/open-lines.ts", import.meta.url).href;
  const program = `
    const { openLines } = await import(${JSON.stringify(module)});
    const sql = await openLines({ kind: "sqlite", path: ${JSON.stringify(join(folder, "left.db"))} });
    console.log(JSON.stringify(await sql.all("SELECT 1 AS one", [])));`;
  const said = execFileSync(process.execPath, ["--no-warnings", "--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(said).toBe('[{"one":1}]\n');
});

test("requests go on while SQLite works", async () => {
  remove();
  const sql = await openFile(path);
  let answered = false;
  const asked = sql.all(LONG, []).finally(() => (answered = true));
  for (let turn = 0; turn < 10; turn++) await nextMacrotask();
  expect(answered).toBe(false);
  expect(await asked).toEqual([{ count: 10_000_000 }]);
  await sql.close();
});

test("a statement that does not end is left, and the file is opened again once it has ended", async () => {
  remove();
  const clock = createFakeClock();
  const sql = await openFile(path, { clock });
  const asked = [sql.all(LONG, []), sql.run("SELECT 1", [])].map((one) => one.catch((error: unknown) => String(error)));
  await settle();
  await clock.advance(STATEMENT_MS);
  expect(await Promise.all(asked)).toEqual([
    "Error: the database file did not respond within 30 s",
    "Error: the database file did not respond within 30 s",
  ]);
  expect([sql.usable(), clock.pending]).toEqual([false, 0]);
  const again = openFile(path, { clock }).catch((error: unknown) => String(error));
  await settle();
  await clock.advance(OPEN_MS);
  expect(await again).toBe("Error: the database file did not respond within 10 s");
  await sql.close();
  await vi.waitFor(async () => (await openFile(path)).close(), WAIT);
});

test("what waits for the file fails when the store gives it up, and so does opening it then", async () => {
  remove();
  const ending = new AbortController();
  const sql = await openFile(path, { signal: ending.signal });
  const asked = sql.all(LONG, []);
  ending.abort();
  await expect(asked).rejects.toThrow("the database file is closed");
  expect(sql.usable()).toBe(false);
  await expect(openFile(join(folder, "late.db"), { signal: ending.signal })).rejects.toThrow("the database file is closed");
  await vi.waitFor(async () => (await openFile(path)).close(), WAIT);
});
