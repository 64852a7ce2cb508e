/**
 * The file of a SQLite store when things go wrong: in use, not ours, damaged, full, failing.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { createJournaledStore, openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { openDatabase } from "../../../src/apiserver/store/sqlite/database.ts";
import { createJournal } from "../../../src/apiserver/store/sqlite/journal.ts";
import type { StoreEvent } from "../../../src/apiserver/store/store.ts";
import { key, object } from "../../conformance/store-setting.ts";
import { tellAll } from "../support/tell-all.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `${(files += 1)}.db`);

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

describe("one process at a time", () => {
  const inUse = (path: string) => `CONFIG_FILE Cannot open "${path}": another process has it open`;
  const attempt = (path: string) => {
    const error = thrownBy(() => openSqliteStore({ path }));
    return isEngineError(error) ? `${error.code} ${error.message}` : error;
  };

  test("has the file, be the other one a second store or another process", async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await store.create(key("a"), object("a"));
    expect(attempt(path)).toBe(inUse(path));
    // The refused attempt has not given the lock away either.
    const script = `import { openSqliteStore } from ${JSON.stringify(join(import.meta.dirname, "../../../src/apiserver/store/sqlite/sqlite-store.ts"))};
      try { openSqliteStore({ path: ${JSON.stringify(path)} }); } catch (error) { console.log(error.code, error.message); }`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
    expect([stdout.trim(), stderr]).toEqual([inUse(path), ""]);
    await store.close();
    await openSqliteStore({ path }).close();
  });

  test("may not open a file that a reader holds", () => {
    const path = newPath();
    openDatabase(path).close();
    const reader = new DatabaseSync(path);
    reader.prepare("SELECT * FROM objects").all();
    expect(attempt(path)).toBe(inUse(path));
    reader.close();
  });
});

/** A file of ours with one object in it, and then a change that none of our programs would make. */
const ofOurs = (change: string) => (path: string) => {
  const database = openDatabase(path);
  database.exec(`
    INSERT INTO objects VALUES ('k', 2, '{"metadata":{}}');
    INSERT INTO history(revision, type, key) VALUES (2, 'created', 'k');
    UPDATE meta SET value = 2 WHERE name = 'revision';
    ${change}`);
  database.close();
};

const ofOthers = (content: string) => (path: string) => {
  const database = new DatabaseSync(path);
  database.exec(content);
  database.close();
};

const MANY_OBJECTS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
  INSERT INTO objects SELECT i, 2, '{"metadata":{}}' FROM n`;

function overwritePages(path: string): void {
  ofOurs(MANY_OBJECTS)(path);
  writeFileSync(path, readFileSync(path).fill(0xff, 8_192));
}

function readFileIfAny(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

const FOREIGN = "it is not a database of this program";
const NO_COUNTER = "it is damaged (the last revision is missing, or earlier than the revision of an object)";

describe("a file that cannot be used is named and left as it is", () => {
  test.each<{ why: string; make: (path: string) => void; reason: string }>([
    { why: "a folder", make: (path) => mkdirSync(path), reason: "it cannot be opened" },
    { why: "a text", make: (path) => writeFileSync(path, "no header, however long\n".repeat(50)), reason: FOREIGN },
    { why: "a database of another program", make: ofOthers("CREATE TABLE objects(key)"), reason: FOREIGN },
    { why: "an empty database of another program", make: ofOthers("PRAGMA application_id = 7"), reason: FOREIGN },
    {
      why: "a later program's schema",
      make: ofOurs("UPDATE meta SET value = 2 WHERE name = 'schema'"),
      reason: "it has schema 2, but this version supports only schemas up to 1",
    },
    { why: "no counter", make: ofOurs("DELETE FROM meta WHERE name = 'revision'"), reason: NO_COUNTER },
    { why: "a counter that went back", make: ofOurs("UPDATE meta SET value = 1 WHERE name = 'revision'"), reason: NO_COUNTER },
    { why: "an object that is not JSON", make: ofOurs("UPDATE objects SET body = '{'"), reason: 'it is damaged (the object "k")' },
    { why: "an object without metadata", make: ofOurs("UPDATE objects SET body = '{}'"), reason: 'it is damaged (the object "k")' },
    {
      why: "an event too few",
      make: ofOurs("UPDATE meta SET value = 3 WHERE name = 'revision'"),
      reason: "it is damaged (the history lacks revision 3)",
    },
    { why: "an event that led to nothing", make: ofOurs("DELETE FROM objects"), reason: 'it is damaged (revision 2 of "k")' },
    {
      why: "an object older than its last event",
      make: ofOurs("UPDATE objects SET revision = 1"),
      reason: 'it is damaged (revision 2 of "k")',
    },
    { why: "a deletion of nothing", make: ofOurs("UPDATE history SET type = 'deleted'"), reason: 'it is damaged (revision 2 of "k")' },
    { why: "a table too few", make: ofOurs("DROP TABLE history"), reason: "it is damaged" },
    { why: "pages that were overwritten", make: overwritePages, reason: "it is damaged" },
  ])("$why", ({ make, reason }) => {
    const path = newPath();
    make(path);
    const before = readFileIfAny(path);
    const details = { reason, hint: expect.any(String) as string };
    // The first attempt gives the file back, so the second one ends like it.
    for (const error of [1, 2].map(() => thrownBy(() => openSqliteStore({ path })))) {
      expect(error).toMatchObject({ code: "CONFIG_FILE", message: `Cannot open "${path}": ${reason}`, details });
    }
    expect(readFileIfAny(path)).toEqual(before);
  });

  test("in a folder that does not exist", () => {
    const path = join(newPath(), "cluster.db");
    expect(thrownBy(() => openSqliteStore({ path }))).toMatchObject({
      code: "CONFIG_FILE",
      details: { reason: "its folder does not exist" },
    });
  });
});

describe("a file that must be there", () => {
  test.each<[string, string, (path: string) => void]>([
    ["it does not exist", "existing", () => {}],
    ["it is empty", "existing", (path) => writeFileSync(path, "")],
    ["it contains no data", "existing", ofOthers("PRAGMA journal_mode = WAL")],
    ["it does not exist", "readOnly", () => {}],
    ["it is empty", "readOnly", (path) => writeFileSync(path, "")],
    ["it is damaged (its end is missing)", "readOnly", (path) => { openDatabase(path).close(); truncateSync(path, statSync(path).size - 1); }], // prettier-ignore
  ])("is not made: %s, %s", (reason, option, make) => {
    const path = newPath();
    make(path);
    expect(thrownBy(() => openSqliteStore({ path, [option]: true }))).toMatchObject({ code: "CONFIG_FILE", details: { reason } });
    expect(thrownBy(() => openSqliteStore({ path, [option]: true }))).toMatchObject({ code: "CONFIG_FILE", details: { reason } });
  });

  test("is read without a trace, and refuses writes, where it is only read", async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await store.create(key("a"), object("a"));
    await store.close();
    const before = [readFileSync(path), statSync(path).mtimeMs, statSync(folder).mtimeMs];
    const reader = openSqliteStore({ path, readOnly: true });
    expect((await reader.get(key("a")))?.object).toMatchObject(object("a"));
    await expect(reader.create(key("b"), object("b"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    await reader.close();
    expect([readFileSync(path), statSync(path).mtimeMs, statSync(folder).mtimeMs]).toEqual(before);
  });
});

describe("a full disk", () => {
  test("refuses writes with the name of the file, leaves nothing half done, and is over when there is space", async () => {
    const path = newPath();
    const database = openDatabase(path);
    const store = createJournaledStore(createJournal(database, { path, history: 100 }));
    const { revision } = (await store.create(key("a"), object("a", "one")))!;
    const events: StoreEvent[] = [];
    await store.watch({ prefix: "/", after: revision, onEvent: (event) => events.push(event) });
    const before = await tellAll(store);
    const limit = (pages: number) => database.exec(`PRAGMA max_page_count = ${pages}`);
    limit(20);
    const writing = [
      store.update(key("a"), object("a", "two"), revision),
      store.create(key("b"), object("b", "x".repeat(200_000))),
      store.delete(key("a"), revision),
    ];
    const messages = (await Promise.allSettled(writing)).map((result) => (result.status === "rejected" ? String(result.reason) : "stored"));
    expect(messages).toEqual(Array(3).fill(`EngineError: Cannot write to "${path}": the disk is full`));
    expect([await tellAll(store), events]).toEqual([before, []]);
    // A small write would still find room.
    const told = { details: { reason: "the disk is full", status: { code: 507 } } };
    await expect(store.demandWritable()).rejects.toMatchObject(told);
    limit(1_000);
    await store.demandWritable();
    expect((await store.update(key("a"), object("a", "three"), revision))!.revision).toBe(revision + 1);
    await store.close();
    const again = openSqliteStore({ path });
    expect((await again.get(key("a")))!.object["data"]).toEqual({ text: "three" });
    await again.close();
  });
});

describe("a device that fails", () => {
  test("takes writes again when it can, and is said not to meanwhile", async () => {
    const path = newPath();
    const database = openDatabase(path);
    const store = createJournaledStore(createJournal(database, { path, history: 100 }));
    const { revision } = (await store.create(key("a"), object("a")))!;
    const told = `EngineError: Cannot write to "${path}": attempt to write a readonly database`;
    const asked = () => [store.create(key("b"), object("b")), store.compact(), store.demandWritable()];
    await store.demandWritable();
    database.exec("PRAGMA query_only = ON");
    expect(await Promise.all(asked().map((one) => one.catch(String)))).toEqual(Array(3).fill(told));
    expect([await store.revision(), (await store.list({ prefix: "/" })).objects.length]).toEqual([revision, 1]);
    database.exec("PRAGMA query_only = OFF");
    await store.demandWritable();
    expect((await store.create(key("b"), object("b")))!.revision).toBe(revision + 1);
    await store.close();
  });

  test("of which another program has changed the file takes no more writes", async () => {
    const path = newPath();
    const database = openDatabase(path);
    const store = createJournaledStore(createJournal(database, { path, history: 100 }));
    database.exec("PRAGMA query_only = ON");
    await expect(store.create(key("a"), object("a"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    database.exec("PRAGMA query_only = OFF; UPDATE meta SET value = value + 1 WHERE name = 'revision'");
    for (let times = 0; times < 2; times += 1)
      await expect(store.create(key("a"), object("a"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(store.demandWritable()).rejects.toMatchObject({ code: "STORE_FAILED" });
    await store.close();
  });

  test("loses nothing of what was acknowledged, and goes on when files may grow again", async () => {
    const path = newPath();
    const filler = join(import.meta.dirname, "../support/store-filler.ts");
    // The system refuses to let any file grow beyond 300 kB, in the middle of a commit.
    const child = spawnSync("bash", ["-c", 'ulimit -S -f 300; exec "$0" "$@"', process.execPath, filler, path], { encoding: "utf8" });
    expect(child.stderr).toBe("");
    const { acknowledged, failures, revision, probed } = JSON.parse(child.stdout) as {
      acknowledged: number[];
      failures: string[];
      revision: number;
      probed: string[];
    };
    expect(failures).toEqual(Array(2).fill(`EngineError STORE_FAILED: Cannot write to "${path}": disk I/O error`));
    expect(probed).toEqual([`EngineError: Cannot write to "${path}": disk I/O error`, "writable"]);
    expect([acknowledged.length > 10, acknowledged.at(-1)]).toEqual([true, revision + 1]);
    const store = openSqliteStore({ path });
    const stored = (await store.list({ prefix: "/" })).objects.map((one) => one.revision);
    expect(stored.sort((left, right) => left - right)).toEqual(acknowledged);
    await store.close();
  });
});
