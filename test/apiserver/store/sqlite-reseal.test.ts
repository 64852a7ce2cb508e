/**
 * Values of a SQLite file under another key: in place, and nothing of the old key is left in the file. RESEAL_KILLS says how often the
 * process is killed in the middle.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createLineLogger } from "../../../src/base/logger.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { startResealing } from "../../../src/apiserver/store/resealing.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Cipher } from "../../../src/apiserver/store/cipher.ts";
import { cipherOf, keyId, resealableSuite, resealAll } from "../../conformance/resealable.ts";
import { key, object, PREFIX } from "../../conformance/store-setting.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { TEST_MS } from "../../support/patience.ts";

const root = mkdtempSync(join(tmpdir(), "sqlite-reseal-"));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
const newPlace = () => join(root, `${(files += 1)}.db`);
const open = async (path: string, cipher: Cipher = cipherOf(2, 1)) => openSqliteStore({ path, cipher });

resealableSuite({ name: "SQLite store", newPlace, open, keepsRevisions: true, runs: 25 });

/** Everything that is on the disk below a path, log included. */
const bytesOf = (path: string) =>
  readdirSync(root)
    .map((name) => join(root, name))
    .filter((file) => file.startsWith(path))
    .map((file) => readFileSync(file, "latin1"))
    .join("");
const sealedWith = (byte: number) => `aesgcm1:${keyId(byte)}:`;
const occurrences = (text: string, part: string) => text.split(part).length - 1;

let path = "";
beforeEach(() => {
  path = newPlace();
});

/** Objects with a past, large and small, some of them gone. */
async function fill(count: number): Promise<void> {
  const store = await open(path, cipherOf(1));
  for (let index = 0; index < count; index += 1) {
    const text = "canary ".repeat(index % 7 === 0 ? 900 : 3);
    const { revision } = (await store.create(key(`n${index}`), object(`n${index}`, text)))!;
    if (index % 3 === 0) await store.update(key(`n${index}`), object(`n${index}`, `${text}!`), revision);
    if (index % 3 === 1) await store.delete(key(`n${index}`), revision);
  }
  await store.close();
}

describe("a file", () => {
  test("holds nothing of the old key afterwards: not in its past, not in free pages, not in its log", async () => {
    await fill(60);
    expect(occurrences(bytesOf(path), sealedWith(1))).toBeGreaterThan(60);
    const store = await open(path);
    // While the store is open: the log is there too.
    expect(await resealAll(store, 16)).toBeGreaterThan(60);
    expect(occurrences(bytesOf(path), sealedWith(1))).toBe(0);
    expect(occurrences(bytesOf(path), sealedWith(2))).toBeGreaterThan(60);
    expect(bytesOf(path)).not.toContain("canary");
    await store.close();
    expect(occurrences(bytesOf(path), sealedWith(1))).toBe(0);
  });

  test("is cleaned too when ordinary writes have left nothing to seal again", async () => {
    await fill(6);
    const store = await open(path);
    for (const { key: at, object: read, revision } of (await store.list({ prefix: PREFIX })).objects)
      await store.update(at, read, revision);
    await store.compact();
    expect(occurrences(bytesOf(path), sealedWith(1))).toBeGreaterThan(0);
    expect(await resealAll(store)).toBe(0);
    expect(occurrences(bytesOf(path), sealedWith(1))).toBe(0);
    await store.close();
  });

  test("is not taken for clean when the keys changed places and back", async () => {
    await fill(6);
    for (const order of [[2, 1], [1, 2]]) await (await open(path, cipherOf(...order))).close(); // prettier-ignore
    const second = await open(path);
    await resealAll(second);
    await second.close();
    const first = await open(path, cipherOf(1, 2));
    const [one] = (await first.list({ prefix: PREFIX })).objects;
    const written = await first.update(one!.key, one!.object, one!.revision);
    await first.close();
    const third = await open(path);
    await third.update(one!.key, one!.object, written!.revision);
    await third.compact();
    await resealAll(third);
    expect(occurrences(bytesOf(path), sealedWith(1))).toBe(0);
    await third.close();
  });

  test("keeps its past readable, and its watches see nothing", async () => {
    await fill(9);
    const store = await open(path);
    const past = async () => (await store.list({ prefix: PREFIX, revision: 5 })).objects;
    const before = await past();
    const events: unknown[] = [];
    await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: (event) => events.push(event) });
    await resealAll(store);
    expect([await past(), events]).toEqual([before, []]);
    await store.close();
    const alone = await open(path, cipherOf(2));
    expect((await alone.list({ prefix: PREFIX, revision: 5 })).objects).toEqual(before);
    await alone.close();
  });

  test("has every value under the new key although a write failed meanwhile", async () => {
    await fill(60);
    const store = await open(path);
    await store.reseal(16);
    const full = Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
    const exec = vi.spyOn(DatabaseSync.prototype, "exec").mockImplementationOnce(() => {
      throw full;
    });
    await expect(store.reseal(16)).rejects.toThrow("the disk is full");
    exec.mockRestore();
    expect(await resealAll(store, 16)).toBeGreaterThan(0);
    expect([...(await store.sealedBy())].filter(([id, count]) => id !== keyId(2) && count > 0)).toEqual([]);
    await store.close();
  });

  test("that was tampered with meanwhile is not resealed as if it were intact", async () => {
    await fill(3);
    const store = await open(path);
    await store.close();
    const database = new DatabaseSync(path);
    database.exec(`UPDATE objects SET body = (SELECT body FROM objects WHERE key = '${key("n0")}') WHERE key = '${key("n2")}'`);
    database.close();
    expect(() => openSqliteStore({ path, cipher: cipherOf(2, 1) })).toThrow(/cannot be decrypted/);
  });
});

describe("a process that is killed while it seals again and writes", () => {
  const KILLS = Number(process.env["RESEAL_KILLS"] ?? 6);
  const WRITER = join(import.meta.dirname, "../support/reseal-writer.ts");

  test("loses nothing, and the next one finishes", { timeout: TEST_MS + KILLS * 10_000 }, async () => {
    await fill(120);
    const acknowledged = new Map<string, string>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const writer = spawn(process.execPath, [WRITER, path], { stdio: ["ignore", "pipe", "inherit"] });
      let lines = 0;
      for await (const line of createInterface(writer.stdout)) {
        const [what, at, text] = line.split(" ");
        if (what === "ack") acknowledged.set(at!, text!);
        lines += 1;
        if (lines === 5 + kill * 13) writer.kill("SIGKILL");
      }
    }
    const store = await open(path);
    const read = async (at: string) => ((await store.get(at))!.object["data"] as { text: string }).text;
    for (const [at, text] of acknowledged) expect(Number((await read(at)).slice(1))).toBeGreaterThanOrEqual(Number(text.slice(1)));
    expect(acknowledged.size).toBeGreaterThan(0);
    await resealAll(store, 64);
    expect(occurrences(bytesOf(path), sealedWith(1))).toBe(0);
    await store.close();
    await (await open(path, cipherOf(2))).close();
  });
});

describe("sealing again in the background", () => {
  const logged = () => {
    const lines: string[] = [];
    return { lines, logger: createLineLogger({ write: (line) => lines.push(line), now: () => 0, format: "json", level: "info" }) };
  };

  test("says when it begins, and when every value is under the first key", async () => {
    await fill(20);
    const store = await open(path);
    const clock = createFakeClock();
    const { lines, logger } = logged();
    const resealing = startResealing({ store, clock, logger, most: 4 });
    for (let round = 0; round < 100 && !resealing.done; round += 1) await clock.advance(10);
    expect(resealing.done).toBe(true);
    await until("it has told", () => lines.length === 2);
    expect(JSON.parse(lines[1]!)).toMatchObject({
      message: "Every value is encrypted with the first key; earlier backups still need the other keys",
      key: keyId(2),
      others: keyId(1),
    });
    await resealing.stop();
    await store.close();
  });

  test("says nothing when there is nothing to do", async () => {
    const clock = createFakeClock();
    const { lines, logger } = logged();
    const resealing = startResealing({ store: createMemoryStore(), clock, logger });
    await clock.advance(10);
    await until("it is done", () => resealing.done);
    expect(lines).toEqual([]);
    await resealing.stop();
  });

  test("tries again after a failure, and stops when it is told to", async () => {
    const clock = createFakeClock();
    const { lines, logger } = logged();
    let asked = 0;
    const store = {
      sealedBy: async () => new Map(),
      reseal: async () => {
        asked += 1;
        if (asked === 1) throw new Error("the disk is full");
        return { resealed: 0, done: false };
      },
    };
    const resealing = startResealing({ store, clock, logger, retryMs: 1_000 });
    await clock.advance(0);
    await until("it has failed", () => lines.length === 1);
    expect(lines[0]).toContain("the disk is full");
    await clock.advance(1_000);
    await until("it has tried again", () => asked === 2);
    await resealing.stop();
    await clock.advance(10_000);
    expect([asked, resealing.done]).toEqual([2, false]);
  });
});
