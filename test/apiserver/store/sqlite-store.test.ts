import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createJournaledStore, openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { openDatabase } from "../../../src/apiserver/store/sqlite/database.ts";
import { createJournal } from "../../../src/apiserver/store/sqlite/journal.ts";
import type { Store, StoreEvent } from "../../../src/apiserver/store/store.ts";
import { key, object, PREFIX } from "../../conformance/store-setting.ts";
import { storeSuite } from "../../conformance/store.ts";
import { tellAll } from "../support/tell-all.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `${(files += 1)}.db`);

storeSuite({ name: "SQLite store", create: async ({ history }) => openSqliteStore({ path: newPath(), history }), runs: 20 });

async function writeStep(store: Store, { name, text, remove }: { name: string; text: string; remove: boolean }): Promise<void> {
  const present = await store.get(key(name));
  if (present === undefined) await store.create(key(name), object(name, text));
  else if (remove) await store.delete(present.key, present.revision);
  else await store.update(present.key, object(name, text), present.revision);
}

describe("a file", () => {
  test("tells after each reopening what a store that was never closed tells", async () => {
    const write = fc.record({ name: fc.constantFrom("a", "b", "c"), text: fc.constantFrom("x", "y"), remove: fc.boolean() });
    const step = fc.oneof({ weight: 8, arbitrary: write }, fc.constantFrom("reopen" as const, "compact" as const));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const path = newPath();
        const reference = createMemoryStore();
        let store = openSqliteStore({ path });
        for (const next of steps) {
          if (next === "reopen") {
            await store.close();
            store = openSqliteStore({ path });
          } else if (next === "compact") await Promise.all([store.compact(), reference.compact()]);
          else await Promise.all([writeStep(store, next), writeStep(reference, next)]);
        }
        await store.close();
        store = openSqliteStore({ path });
        expect(await tellAll(store)).toEqual(await tellAll(reference));
        await store.close();
      }),
      { numRuns: 40 },
    );
  });

  test("goes on counting where it was, even with nothing left in it", async () => {
    const path = newPath();
    const first = openSqliteStore({ path });
    const { revision } = (await first.create(key("a"), object("a")))!;
    const gone = (await first.delete(key("a"), revision))!;
    await first.compact();
    await first.close();
    const second = openSqliteStore({ path });
    expect(await second.revision()).toBe(gone.revision);
    expect((await second.create(key("a"), object("a")))!.revision).toBe(gone.revision + 1);
    await second.close();
  });

  test("gives its objects and events back frozen all the way down", async () => {
    const path = newPath();
    const first = openSqliteStore({ path });
    const { revision } = (await first.create(key("a"), object("a", "one")))!;
    await first.update(key("a"), object("a", "two"), revision);
    await first.close();
    const second = openSqliteStore({ path });
    const events: StoreEvent[] = [];
    await second.watch({ prefix: "/", after: revision, onEvent: (event) => events.push(event) });
    const objects = [(await second.get(key("a")))!.object, events[0]!.object, events[0]!.previous!];
    expect(objects.flatMap((read) => [read, read.metadata, read["data"]]).every(Object.isFrozen)).toBe(true);
    expect(objects[0]).toBe(objects[1]);
    await second.close();
  });

  test("keeps as much of the past as it is asked to, also when that changes", async () => {
    const path = newPath();
    const oldestWith = async (history: number) => {
      const store = openSqliteStore({ path, history });
      for (let round = 0; round < 10; round += 1) await writeStep(store, { name: "a", text: String(round), remove: false });
      await store.close();
      const again = openSqliteStore({ path, history: 1_000 });
      const error = await again.watch({ prefix: "/", after: 0, onEvent: () => {} }).catch((reason: unknown) => reason);
      await again.close();
      return (await again.revision()) - (isEngineError(error, "API_EXPIRED") ? Number(error.details["oldest"]) : NaN);
    };
    expect([await oldestWith(7), await oldestWith(12), await oldestWith(2), await oldestWith(0)]).toEqual([7, 12, 2, 0]);
  });

  test("drops history that no watch can replay any more", () => {
    const path = newPath();
    const database = openDatabase(path);
    const journal = createJournal(database, { path, history: 100 });
    journal.commit([{ type: "created", key: key("a"), body: "{}" }]);
    const updated = (expected: number) => ({ type: "updated", key: key("a"), body: "{}", expected }) as const;
    for (let revision = 2; revision < 10; revision += 1) journal.commit([updated(revision)]);
    const kept = () =>
      database
        .prepare("SELECT revision FROM history ORDER BY revision")
        .all()
        .map((row) => row["revision"]);
    expect(kept()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
    journal.commit([updated(10)], 8);
    expect(kept()).toEqual([9, 10, 11]);
    journal.close();
  });

  test("is for its owner's eyes only, and so is its log", async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    await store.create(key("a"), object("a"));
    expect([path, `${path}-wal`].map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual(["600", "600"]);
    await store.close();
  });

  test("is synced at every commit", () => {
    const database = openDatabase(newPath());
    const read = (pragma: string) => Object.values(database.prepare(`PRAGMA ${pragma}`).get()!)[0];
    // 2 is FULL.
    expect(["journal_mode", "synchronous", "fullfsync", "locking_mode"].map(read)).toEqual(["wal", 2, 1, "exclusive"]);
    database.close();
  });

  test("can lose the end of its log to a power failure, but only whole commits", async () => {
    const path = newPath();
    const store = openSqliteStore({ path });
    const states = [await store.list({ prefix: PREFIX })];
    for (let round = 0; round < 12; round += 1) {
      await Promise.all(["a", "b", "c"].map((name) => writeStep(store, { name, text: String(round), remove: round % 3 === 2 })));
      states.push(await store.list({ prefix: PREFIX }));
    }
    const log = statSync(`${path}-wal`).size;
    await fc.assert(
      fc.asyncProperty(fc.nat(log), async (length) => {
        const copy = newPath();
        copyFileSync(path, copy);
        copyFileSync(`${path}-wal`, `${copy}-wal`);
        truncateSync(`${copy}-wal`, length);
        const torn = openSqliteStore({ path: copy });
        const found = await torn.list({ prefix: PREFIX });
        expect(states).toContainEqual(found);
        await torn.close();
      }),
      { numRuns: 40 },
    );
    await store.close();
  });
});

describe("writes", () => {
  const counted = (options: { writesPerCommit?: number } = {}) => {
    const journal = createJournal(openDatabase(newPath()), { path: "x", history: 100 });
    const sizes: number[] = [];
    const commit = journal.commit.bind(journal);
    journal.commit = (writes) => {
      sizes.push(writes.length);
      return commit(writes);
    };
    return { store: createJournaledStore(journal, options), sizes };
  };
  const createAll = (store: Store, count: number, text = "") => {
    return Promise.all(Array.from({ length: count }, (_, index) => store.create(key(`n${index}`), object("n", text))));
  };

  test("that begin in one turn wait for the disk together", async () => {
    const { store, sizes } = counted();
    await Promise.all([createAll(store, 20), Promise.resolve().then(() => createAll(store, 20))]);
    await store.create(key("later"), object("later"));
    expect(sizes).toEqual([40, 1]);
    await store.close();
  });

  test("are many or large only up to a limit", async () => {
    const few = counted({ writesPerCommit: 8 });
    await createAll(few.store, 20);
    const large = counted();
    await createAll(large.store, 6, "x".repeat(1_500_000));
    const usual = counted();
    await createAll(usual.store, 300);
    expect([few.sizes, large.sizes, usual.sizes]).toEqual([
      [8, 8, 4],
      [3, 3],
      [256, 44],
    ]);
    for (const { store } of [few, large, usual]) await store.close();
  });

  test.each(["/core/a\0b", "/core/a\ud800"])("under a key that would come back as another one are refused: %j", async (at) => {
    const { store } = counted();
    await expect(store.create(at, object("a"))).rejects.toThrow("a key contains no unpaired surrogate");
    await store.create("/core/😀", object("a"));
    expect(await store.revision()).toBe(2);
    await store.close();
  });

  test("that have begun are carried out before a close, and refused after it", async () => {
    const { store } = counted();
    const writing = createAll(store, 3);
    await store.close();
    expect((await writing).map((stored) => stored?.revision)).toEqual([2, 3, 4]);
    const late = await store.create(key("late"), object("late")).catch((error: unknown) => error);
    expect(isEngineError(late, "STORE_FAILED")).toBe(true);
    expect(await store.get(key("late"))).toBeUndefined();
  });

  test("that have begun are forgotten by a compaction like all others", async () => {
    const { store } = counted();
    const writing = createAll(store, 3);
    await store.compact();
    await writing;
    const error = await store.watch({ prefix: "/", after: 3, onEvent: () => {} }).catch((reason: unknown) => reason);
    expect(isEngineError(error, "API_EXPIRED") && error.details["oldest"]).toBe(4);
    await store.close();
  });
});
