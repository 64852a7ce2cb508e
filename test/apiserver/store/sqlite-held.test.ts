/**
 * The files of a SQLite store that are removed, moved, replaced or changed while it is open, and files that are behind what another
 * place knows of them.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Progress } from "../../../src/apiserver/store/sqlite/journal.ts";
import { key, object, PREFIX } from "../../conformance/store-setting.ts";

const root = mkdtempSync(join(tmpdir(), "sqlite-held-"));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
function newFolder(): string {
  const folder = join(root, String((folders += 1)));
  mkdirSync(folder);
  return folder;
}

/** By another process, since this one would give its lock on the files back. */
function shell(folder: string, script: string): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", script], { cwd: folder, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}
const looksOf = (folder: string) => shell(folder, "find . -type f | sort | xargs cksum");

const namesIn = async (path: string) => {
  const store = openSqliteStore({ path, existing: true });
  const names = (await store.list({ prefix: PREFIX })).objects.map(({ object: { metadata } }) => metadata.name);
  await store.close();
  return names;
};

/** A folder with an older copy of what is in `store.db`, and the store, which has come further. */
async function begin() {
  const folder = newFolder();
  const path = join(folder, "store.db");
  const before = openSqliteStore({ path });
  await before.create(key("a"), object("a"));
  await before.close();
  // File times are coarse: makes later changes distinct.
  shell(folder, "cp store.db older.db; touch -d 2001-01-01 store.db");
  const store = openSqliteStore({ path });
  await store.create(key("b"), object("b"));
  await store.demandWritable();
  return { folder, path, store };
}

interface Attack {
  readonly what: string;
  readonly script: string;
  /** Which file is blamed, and for what. */
  readonly told: string;
  /** Where everything acknowledged still is once the store is closed. */
  readonly kept?: string;
}

const ATTACKS: readonly Attack[] = [
  { what: "database and log are removed", script: "rm store.db store.db-wal", told: 'store.db" was removed or moved' },
  {
    what: "database and log are moved",
    script: "mkdir away; mv store.db store.db-wal away/",
    told: 'store.db" was removed or moved',
    kept: "away/store.db",
  },
  { what: "the log is removed", script: "rm store.db-wal", told: 'store.db-wal" was removed or moved', kept: "store.db" },
  { what: "an older database is put in its place", script: "rm store.db*; cp older.db store.db", told: 'store.db" was replaced' },
  { what: "an older database is moved over it", script: "mv older.db store.db", told: 'store.db" was replaced' },
  { what: "the database is emptied", script: ": > store.db", told: 'store.db" was changed by another program' },
  { what: "the log is emptied", script: ": > store.db-wal", told: 'store.db-wal" was changed by another program' },
  { what: "an older database is written over it", script: "cat older.db > store.db", told: 'store.db" was changed by another program' },
  { what: "one byte is changed", script: "printf x | dd of=store.db bs=1 seek=99 conv=notrunc status=none", told: 'store.db" was changed' },
];

describe("when", () => {
  test.each(ATTACKS)("$what, nothing is acknowledged any more", async ({ script, told, kept }) => {
    const { folder, store } = await begin();
    expect(store.recovers).toBe(true);
    shell(folder, script);
    const changed = looksOf(folder);
    const asked = [
      () => store.create(key("c"), object("c")),
      () => store.demandWritable(),
      () => store.compact(),
      () => store.create(key("d"), object("d")),
    ];
    for (const ask of asked) {
      const failure = { code: "STORE_FAILED", message: expect.stringContaining(`/${told}`) as string, details: { status: { code: 503 } } };
      await expect(ask()).rejects.toMatchObject(failure);
    }
    expect(store.recovers).toBe(false);
    expect((await store.list({ prefix: PREFIX })).objects).toHaveLength(2);
    await store.close();
    if (kept === undefined) expect(looksOf(folder)).toBe(changed);
    else expect(await namesIn(join(folder, kept))).toEqual(["a", "b"]);
  });

  test.each(ATTACKS.filter(({ kept }) => kept === undefined))(
    "$what, a store that only closes then changes nothing",
    async ({ script }) => {
      const { folder, store } = await begin();
      shell(folder, script);
      const changed = looksOf(folder);
      await store.close();
      expect(looksOf(folder)).toBe(changed);
    },
  );

  test("the folder is moved and another one made, nothing is acknowledged, and what was is in the first", async () => {
    const { folder, store } = await begin();
    shell(root, `mv ${folder} ${folder}-away; mkdir ${folder}`);
    await expect(store.create(key("c"), object("c"))).rejects.toThrow(/was removed or moved/);
    await store.close();
    expect(await namesIn(join(`${folder}-away`, "store.db"))).toEqual(["a", "b"]);
  });

  test("others read the files, copy them and try to open them, writes go on", async () => {
    const { folder, path, store } = await begin();
    for (const name of ["c", "d"]) {
      shell(folder, `cat store.db store.db-wal > copy; chmod 600 store.db; ln -f store.db linked`);
      expect(() => openSqliteStore({ path })).toThrow(/another process has it open/);
      expect(await store.create(key(name), object(name))).toBeDefined();
    }
    await store.close();
    expect(await namesIn(path)).toEqual(["a", "b", "c", "d"]);
  });
});

describe("a second place", () => {
  /** Files that a store would leave if it were killed now. */
  function killedCopy(folder: string): string {
    const copy = newFolder();
    shell(folder, `cp store.db* ${copy}/`);
    return copy;
  }
  const told = (opened: Progress["opened"] = (found) => found) => {
    const log: string[] = [];
    const progress: Progress = {
      opened: (found) => (log.push(`opened ${found}`), opened(found)),
      stored: (revision) => void log.push(`stored ${revision}`),
    };
    return { log, progress };
  };

  test("is told of each write before the writer is, and of none that does not happen", async () => {
    const { log, progress } = told();
    const path = join(newFolder(), "store.db");
    const store = openSqliteStore({ path, progress });
    await store.create(key("a"), object("a")).then(() => log.push("answered"));
    expect(log).toEqual(["opened 1", "stored 1", "stored 2", "answered"]);
    shell(root, `rm ${path}`);
    await expect(store.create(key("b"), object("b"))).rejects.toThrow();
    expect(log).toHaveLength(4);
    await store.close();
  });

  test("that refuses a file has it left as it was found, log included", async () => {
    const { folder, store } = await begin();
    const copy = killedCopy(folder);
    await store.close();
    const before = looksOf(copy);
    const { log, progress } = told((found) => {
      throw new Error(`${found} is not enough`);
    });
    for (const _time of [1, 2]) expect(() => openSqliteStore({ path: join(copy, "store.db"), progress })).toThrow(/3 is not enough/);
    expect([log, looksOf(copy)]).toEqual([["opened 3", "opened 3"], before]);
    expect(await namesIn(join(copy, "store.db"))).toEqual(["a", "b"]);
  });

  test("that knows more lets a store count on from there, without a history", async () => {
    const { path, store } = await begin();
    await store.close();
    const { log, progress } = told(() => 1_000);
    const raised = openSqliteStore({ path, progress });
    expect([await raised.revision(), raised.oldest(), log]).toEqual([1_000, 1_000, ["opened 3", "stored 1000"]]);
    expect((await raised.create(key("c"), object("c")))!.revision).toBe(1_001);
    await raised.close();
    const again = openSqliteStore({ path });
    expect([await again.revision(), again.oldest()]).toEqual([1_001, 1_000]);
    expect((await again.get(key("b")))!.revision).toBe(3);
    await again.close();
  });
});

test("a file whose content is refused keeps its log", async () => {
  const { folder, store } = await begin();
  const copy = newFolder();
  shell(folder, `cp store.db* ${copy}/`);
  await store.close();
  const before = looksOf(copy);
  const cipher = {
    seal: (_key: string, text: string) => text,
    open: () => {
      throw new Error("another key");
    },
  };
  expect(() => openSqliteStore({ path: join(copy, "store.db"), cipher })).toThrow(/cannot be decrypted/);
  expect(looksOf(copy)).toBe(before);
});
