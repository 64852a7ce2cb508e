import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import type { Cipher } from "../../../src/apiserver/store/cipher.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cipher-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const KEY = "/core/secrets/shop/a";
const WORD = "open-sesame";

/** Tells keys and places apart, and hides the text; no more is asked of it here. */
function cipherOf(password: string): Cipher {
  const head = (key: string) => `${password}|${key}|`;
  return {
    seal: (key, text) => Buffer.from(`${head(key)}${text}`).toString("base64"),
    open(key, sealed) {
      const text = Buffer.from(sealed, "base64").toString();
      if (!text.startsWith(head(key))) throw new Error("no");
      return text.slice(head(key).length);
    },
  };
}

const secret = (word: string) => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "shop" }, data: { word } });

async function written(): Promise<string> {
  const path = join(folder, "store.db");
  const store = openSqliteStore({ path, cipher: cipherOf("k") });
  const created = await store.create(KEY, secret(WORD));
  const updated = await store.update(KEY, secret(`${WORD}-2`), created!.revision);
  await store.create(`${KEY}b`, secret(WORD));
  expect(updated).toBeDefined();
  await store.close();
  return path;
}

describe("a store with a cipher", () => {
  test("writes no object as it is, of now or of the past, and reads all of them back", async () => {
    const path = await written();
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    expect(bytes.join("")).toContain(KEY);
    expect(bytes.join("")).not.toContain(WORD);
    const store = openSqliteStore({ path, cipher: cipherOf("k") });
    expect((await store.get(KEY))!.object).toMatchObject(secret(`${WORD}-2`));
    expect((await store.list({ prefix: "/core/secrets/", revision: 2 })).objects.map(({ object }) => object)).toMatchObject([secret(WORD)]);
    await store.close();
  });

  test.each([
    { why: "with another key", change: () => {}, cipher: cipherOf("other") },
    {
      why: "when an object was put into the place of another",
      change: (path: string) => {
        const database = new DatabaseSync(path);
        database.exec(`UPDATE objects SET body = (SELECT body FROM objects WHERE key = '${KEY}b') WHERE key = '${KEY}'`);
        database.close();
      },
      cipher: cipherOf("k"),
    },
  ])("does not open $why, and says which object", async ({ change, cipher }) => {
    const path = await written();
    change(path);
    let thrown: unknown;
    try {
      openSqliteStore({ path, cipher });
    } catch (error) {
      thrown = error;
    }
    expect(isEngineError(thrown, "CONFIG_FILE")).toBe(true);
    expect(String(thrown)).toContain("cannot be decrypted: it was encrypted with a different key, or has been changed since");
    // The file is given back.
    await openSqliteStore({ path: join(folder, "other.db"), cipher }).close();
    expect(() => new DatabaseSync(path).exec("BEGIN EXCLUSIVE")).not.toThrow();
  });
});
