/** Memory limits of a store, and the handling of writes beyond them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createWatchQueue, type WatchRecord } from "../../../src/apiserver/verbs/watch/watch-queue.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "memory-limits-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(folder, `${(files += 1)}.db`);

const KB = 1024;
const object = (kilobytes: number) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, text: "x".repeat(kilobytes * KB) });
const NO_ROOM = { details: { status: { code: 507, reason: "InsufficientStorage" } } };

describe.each(["memory", "sqlite"])("objects in a store of the kind %s", (kind) => {
  const open = (objectBytes: number, path = newPath()) =>
    kind === "memory" ? createMemoryStore({ memory: { objectBytes } }) : openSqliteStore({ path, memory: { objectBytes } });

  test("are refused beyond the limit, made smaller and deleted at any time, and fit again then", async () => {
    const store = open(100 * KB);
    const first = (await store.create("/a", object(60)))!;
    await expect(store.create("/b", object(60))).rejects.toMatchObject(NO_ROOM);
    await expect(store.update("/a", object(110), first.revision)).rejects.toMatchObject(NO_ROOM);
    const same = (await store.update("/a", object(60), first.revision))!;
    const smaller = (await store.update("/a", object(30), same.revision))!;
    await store.create("/b", object(60));
    await expect(store.create("/c", object(60))).rejects.toMatchObject(NO_ROOM);
    await store.delete("/a", smaller.revision);
    const held = store.heldBytes();
    expect([held > 60 * KB, held < 70 * KB]).toEqual([true, true]);
    await store.close();
  });
});

test("a file with more objects than memory for them is not opened, says so, and is left as it is", async () => {
  const path = newPath();
  const store = openSqliteStore({ path });
  for (const name of ["a", "b", "c"]) await store.create(`/${name}`, object(60));
  await store.close();
  const small = { path, memory: { objectBytes: 100 * KB } };
  expect(() => openSqliteStore(small)).toThrow(expect.objectContaining({ code: "STORE_FAILED", details: { hint: expect.stringContaining("--max-stored") as string } })); // prettier-ignore
  const again = openSqliteStore({ path, memory: { objectBytes: 1_000 * KB } });
  expect((await again.list({ prefix: "/" })).objects).toHaveLength(3);
  await again.close();
});

test("of a long history in a file as much is read as may be in memory", async () => {
  const path = newPath();
  const store = openSqliteStore({ path });
  let { revision } = (await store.create("/a", object(60)))!;
  for (let times = 0; times < 20; times += 1) revision = (await store.update("/a", object(60), revision))!.revision;
  await store.close();
  const again = openSqliteStore({ path, memory: { historyBytes: 300 * KB } });
  expect([again.oldest() > revision - 6, again.oldest() < revision]).toEqual([true, true]);
  const [past] = (await again.list({ prefix: "/", revision: again.oldest() })).objects;
  expect(past?.revision).toBe(again.oldest());
  await again.close();
});

describe("a watch whose reader is slow", () => {
  const record = (name: string): WatchRecord => ({ type: "ADDED", object: { name } });
  const last = () => record("gone");

  test("is told that it is too late once what waits for it is in no history, and lets go of what is being written", async () => {
    const queue = createWatchQueue({ capacity: 10, onEnd: () => {} });
    queue.push(record("a"), 5);
    const writing = await queue.take();
    queue.push(record("b"), 7);
    queue.forget(5, last);
    expect([queue.ended, writing?.length]).toEqual([false, 1]);
    queue.forget(6, last);
    expect([queue.ended, writing?.length]).toEqual([true, 0]);
    expect([await queue.take(), await queue.take()]).toEqual([[record("gone")], undefined]);
  });

  test("goes on when it has read that far", async () => {
    const queue = createWatchQueue({ capacity: 10, onEnd: () => {} });
    queue.push(record("a"), 5);
    await queue.take();
    const taking = queue.take();
    queue.forget(100, last);
    queue.push(record("b"), 101);
    expect([await taking, queue.ended]).toEqual([[record("b")], false]);
    queue.end();
  });

  test("hears from its store when the history begins later", async () => {
    const store = createMemoryStore({ memory: { historyBytes: 300 * KB } });
    const told: number[] = [];
    await store.watch({ prefix: "/other/", after: 1, onEvent: () => {}, onForget: (oldest) => told.push(oldest) });
    let { revision } = (await store.create("/a", object(60)))!;
    for (let times = 0; times < 10; times += 1) revision = (await store.update("/a", object(60), revision))!.revision;
    expect([told.length > 0, told.at(-1)]).toEqual([true, store.oldest()]);
    await store.close();
  });
});
