/**
 * The store in a SQLite file compared with the store in memory.
 *
 * Investigate if a read or a list from SQLite costs more than 1.5 times as much, because both read the same memory; if shared commits make
 * simultaneous writes less than five times as fast; if a write with 1,000 watchers takes noticeably longer than in memory; or if opening a
 * file of 5,000 objects and 10,000 events takes more than ten times as long as parsing its objects.
 *
 * Writes depend on the location of the files: they wait for the disk that contains the system's folder for temporary files.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryStore } from "../src/apiserver/store/memory/memory-store.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Store } from "../src/apiserver/store/store.ts";
import type { Group } from "./measure.ts";
import { endpoints, fill, keyOf, PREFIX, writeTwice } from "./stored-objects.ts";

export const question = "What does it cost to keep objects in a file?";

const OBJECTS = 5_000;
const WATCHERS = 1_000;
const EVENTS = 10_000;
const AT_ONCE = 100;

const folder = mkdtempSync(join(tmpdir(), "store-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
let files = 0;

function sqliteStore(options: Omit<SqliteStoreOptions, "path"> = {}): Store {
  return openSqliteStore({ path: join(folder, `${(files += 1)}.db`), ...options });
}

function writeAtOnce(store: Store): Promise<unknown> {
  return Promise.all(Array.from({ length: AT_ONCE }, (_, index) => writeTwice(store, `db-${index}`)));
}

/** A store of either kind, filled alike. */
async function pair(count: number): Promise<{ memory: Store; sqlite: Store }> {
  return { memory: await fill(createMemoryStore(), count), sqlite: await fill(sqliteStore(), count) };
}

async function writeGroup(): Promise<Group> {
  const { memory, sqlite } = await pair(OBJECTS);
  return {
    title: "one object created, then deleted",
    baseline: "memory",
    cases: [
      { name: "memory", run: () => writeTwice(memory, "db") },
      { name: "SQLite, two commits", run: () => writeTwice(sqlite, "db") },
    ],
  };
}

async function writeAtOnceGroup(): Promise<Group> {
  const { memory, sqlite } = await pair(0);
  const alone = sqliteStore({ writesPerCommit: 1 });
  return {
    title: `${AT_ONCE} objects created at once, then deleted`,
    baseline: "SQLite, shared commits",
    cases: [
      { name: "memory", run: () => writeAtOnce(memory) },
      { name: "SQLite, shared commits", run: () => writeAtOnce(sqlite) },
      { name: "SQLite, a commit for each", run: () => writeAtOnce(alone) },
    ],
  };
}

async function readGroups(): Promise<Group[]> {
  const { memory, sqlite } = await pair(OBJECTS);
  let at = 0;
  const next = () => keyOf((at = (at + 7) % OBJECTS));
  const sides = (title: string, run: (store: Store) => unknown): Group => ({
    title,
    baseline: "memory",
    cases: [
      { name: "memory", run: () => run(memory) },
      { name: "SQLite", run: () => run(sqlite) },
    ],
  });
  const half = (await memory.revision()) - OBJECTS / 2;
  return [
    sides("get", (store) => store.get(next())),
    sides(`list of ${OBJECTS}`, (store) => store.list({ prefix: PREFIX })),
    sides(`page of 500 of ${OBJECTS}`, (store) => store.list({ prefix: PREFIX, start: keyOf(3), limit: 500 })),
    sides(`page of 500, as of ${OBJECTS / 2} writes ago`, (store) => store.list({ prefix: PREFIX, limit: 500, revision: half })),
    sides("watch that catches up with 1,000 events", async (store) => {
      const after = (await store.revision()) - 1_000;
      (await store.watch({ prefix: PREFIX, after, onEvent: () => {} })).stop();
    }),
  ];
}

async function watchGroup(): Promise<Group> {
  const { memory, sqlite } = await pair(0);
  const unwatched = sqliteStore();
  const seen = { events: 0 };
  for (const store of [memory, sqlite]) {
    const after = await store.revision();
    for (let watcher = 0; watcher < WATCHERS; watcher += 1) {
      await store.watch({ prefix: PREFIX, after, onEvent: () => void (seen.events += 1) });
    }
  }
  return {
    title: `one object created, then deleted, with ${WATCHERS} watchers`,
    baseline: "SQLite, no watcher",
    cases: [
      { name: "memory", run: () => writeTwice(memory, "db") },
      { name: "SQLite", run: () => writeTwice(sqlite, "db") },
      { name: "SQLite, no watcher", run: () => writeTwice(unwatched, "db") },
    ],
  };
}

/** A file of {@link OBJECTS} objects with a full history, or with none. */
async function makeFile(history: "full" | "none"): Promise<string> {
  const path = join(folder, `${history}.db`);
  const store = await fill(openSqliteStore({ path, history: EVENTS }), OBJECTS);
  for (let round = 0; round < EVENTS / OBJECTS; round += 1) {
    const { objects } = await store.list({ prefix: PREFIX });
    await Promise.all(objects.map(({ key, object, revision }) => store.update(key, object, revision)));
  }
  if (history === "none") await store.compact();
  await store.close();
  return path;
}

async function openGroup(): Promise<Group> {
  const [full, none] = [await makeFile("full"), await makeFile("none")];
  const texts = Array.from({ length: OBJECTS }, (_, index) => JSON.stringify(endpoints(`db-${index}`)));
  return {
    title: `a file of ${OBJECTS} objects, opened and closed`,
    baseline: "JSON.parse of the objects",
    cases: [
      { name: "JSON.parse of the objects", run: () => texts.map((text) => JSON.parse(text) as unknown) },
      { name: "without history", run: () => openSqliteStore({ path: none }).close() },
      { name: `with ${EVENTS} events`, run: () => openSqliteStore({ path: full }).close() },
    ],
  };
}

/** The groups, in reading order. */
export async function groups(): Promise<Group[]> {
  return [await writeGroup(), await writeAtOnceGroup(), ...(await readGroups()), await watchGroup(), await openGroup()];
}
