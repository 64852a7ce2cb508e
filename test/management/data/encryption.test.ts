/**
 * The cipher of what the management API stores, and the folder that holds its keys.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { ENCRYPTION_KEY_VARIABLE } from "../../../src/cli/management/encryption-keys.ts";
import { openManagementFolder } from "../../../src/cli/management/management-folder.ts";
import { createCipher, ENCRYPTION_KEY_BYTES, parseEncryptionKeys } from "../../../src/management/data/encryption.ts";

const keyOf = (byte: number) => new Uint8Array(ENCRYPTION_KEY_BYTES).fill(byte);
const cipherOf = (...bytes: number[]) => createCipher({ keys: bytes.map(keyOf), chance: systemChance });
const hintOf = (byte: number) =>
  `Add the key ${cipherOf(byte).keys.first} as another line to the encryption keys, and keep it until platform-data keys reports that no data is encrypted with it`;
const textOf = (byte: number) => Buffer.from(keyOf(byte)).toString("base64");

async function failure(run: () => unknown): Promise<{ code: string; message: string; hint: unknown }> {
  try {
    await run();
  } catch (error) {
    if (isEngineError(error)) return { code: error.code, message: error.message, hint: error.details["hint"] };
    throw error;
  }
  throw new Error("nothing failed");
}

describe("a cipher", () => {
  test.each(["", "x", "ä€😀\n", "y".repeat(100_000)])("opens what it has sealed: %j", (text) => {
    const cipher = cipherOf(1);
    expect(cipher.open("/a", cipher.seal("/a", text))).toBe(text);
  });

  test("seals the same text differently each time, and hides it", () => {
    const cipher = cipherOf(1);
    const sealed = Array.from({ length: 100 }, () => cipher.seal("/a", "open-sesame"));
    expect(new Set(sealed).size).toBe(100);
    expect(sealed.join("")).not.toContain("sesame");
    expect(sealed.join("")).not.toContain(Buffer.from("open-sesame").toString("base64url").slice(0, 10));
  });

  test("opens nothing with another key", async () => {
    const sealed = cipherOf(1).seal("/a", "text");
    expect(await failure(() => cipherOf(2).open("/a", sealed))).toEqual({
      code: "STORE_FAILED",
      message: `Cannot read the stored data: it was encrypted with the key ${cipherOf(1).keys.first}, which is not available`,
      hint: hintOf(1),
    });
  });

  test("opens nothing at another place", async () => {
    const cipher = cipherOf(1);
    expect(await failure(() => cipher.open("/b", cipher.seal("/a", "text")))).toEqual({
      code: "STORE_FAILED",
      message: "Cannot read the stored data: it was changed or moved",
      hint: "Restore the data from a backup",
    });
  });

  test("opens nothing that was changed anywhere", async () => {
    const cipher = cipherOf(1);
    const [prefix, id, content = ""] = cipher.seal("/a", "text").split(":");
    const bytes = Buffer.from(content, "base64url");
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      expect((await failure(() => cipher.open("/a", `${prefix}:${id}:${changed.toString("base64url")}`))).code).toBe("STORE_FAILED");
    }
  });

  test("opens nothing that was cut: a short tag is refused", async () => {
    const cipher = cipherOf(1);
    const [prefix, id, content = ""] = cipher.seal("/a", "text").split(":");
    const bytes = Buffer.from(content, "base64url");
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length).toString("base64url");
      expect((await failure(() => cipher.open("/a", `${prefix}:${id}:${cut}`))).code).toBe("STORE_FAILED");
    }
  });

  test.each(["", "text", '{"kind":"Team"}', "aesgcm1", "aesgcm1:00000000:AAAA", "other:x:y"])(
    "opens nothing that it has not sealed: %j",
    async (text) => {
      expect((await failure(() => cipherOf(1).open("/a", text))).code).toBe("STORE_FAILED");
    },
  );

  test("with two keys opens what either has sealed, and seals with the first", async () => {
    const old = cipherOf(1).seal("/a", "old");
    const both = cipherOf(2, 1);
    expect(both.open("/a", old)).toBe("old");
    const sealed = both.seal("/a", "new");
    expect(cipherOf(2).open("/a", sealed)).toBe("new");
    expect((await failure(() => cipherOf(1).open("/a", sealed))).code).toBe("STORE_FAILED");
  });

  test.each([[[]], [[new Uint8Array(31)]], [[keyOf(1), new Uint8Array(33)]]])("is not made of keys that are none", async (keys) => {
    expect((await failure(() => createCipher({ keys, chance: systemChance }))).code).toBe("CONFIG_VALUE");
  });
});

describe("the text of encryption keys", () => {
  test("has one on each line, the newest first; empty lines and surrounding spaces are ignored", () => {
    expect(parseEncryptionKeys(`\n  ${textOf(2)}\r\n\n${textOf(1)}\n`).map(([first]) => first)).toEqual([2, 1]);
  });

  test.each([
    ["", "There is no encryption key"],
    ["\n \n", "There is no encryption key"],
    ["secret", "Line 1 is not an encryption key: it must be 32 bytes in base64"],
    [`${textOf(1)}\n\nsecret`, "Line 3 is not an encryption key: it must be 32 bytes in base64"],
    [`${textOf(1)}\nsecret`, "Line 2 is not an encryption key: it must be 32 bytes in base64"],
    [Buffer.alloc(31, 9).toString("base64"), "Line 1 is not an encryption key: it must be 32 bytes in base64"],
    [Buffer.alloc(33, 9).toString("base64"), "Line 1 is not an encryption key: it must be 32 bytes in base64"],
    [Buffer.alloc(32, 9).toString("hex"), "Line 1 is not an encryption key: it must be 32 bytes in base64"],
    [`a key! ${textOf(1)}`, "Line 1 is not an encryption key: it must be 32 bytes in base64"],
    [textOf(1).replace("=", ""), "Line 1 is not an encryption key: it must be 32 bytes in base64"],
    [`${textOf(1).slice(0, 20)} ${textOf(1).slice(20)}`, "Line 1 is not an encryption key: it must be 32 bytes in base64"],
  ])("is refused without being repeated: %j", async (text, why) => {
    expect(await failure(() => parseEncryptionKeys(text))).toEqual({
      code: "CONFIG_VALUE",
      message: why,
      hint: "Generate one with: head -c 32 /dev/urandom | base64",
    });
  });
});

describe("a folder of the management API", () => {
  let path = "";
  let files: Record<string, string> = {};
  let env: Record<string, string> = {};
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), "folder-")), "data");
    [files, env] = [{}, {}];
  });
  afterEach(() => rmSync(join(path, ".."), { recursive: true }));

  const TEAM = { apiVersion: "management.platform/v1", kind: "Team", metadata: { name: "ops" } };
  const open = (encryptionKeyFile?: string) =>
    openManagementFolder({
      ...{ path, name: "platform", ...(encryptionKeyFile !== undefined && { encryptionKeyFile }) },
      terminal: { env, read: async (name) => files[name] ?? "" },
    });
  /** One start: what it finds, and whether the key is beside the data. */
  async function start(encryptionKeyFile?: string) {
    const folder = await open(encryptionKeyFile);
    const found = await folder.store.get("/a");
    if (found === undefined) await folder.store.create("/a", TEAM);
    await folder.keep(8443);
    await folder.store.close();
    return {
      keyIsBeside: folder.keyIsBeside,
      port: folder.port,
      certificate: folder.certificate.certPem,
      found: found?.object.metadata.name,
    };
  }

  test("is made at the first start, with a key that only its owner can read, and found again at the second", async () => {
    const first = await start();
    expect(first).toMatchObject({ keyIsBeside: true, port: undefined, found: undefined });
    const file = join(path, "encryption.key");
    expect(parseEncryptionKeys(readFileSync(file, "utf8"))).toHaveLength(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await start()).toEqual({ ...first, port: 8443, found: "ops" });
  });

  test("takes keys from a file or a variable, the file first, and makes none then", async () => {
    files = { "k.txt": textOf(1) };
    env = { [ENCRYPTION_KEY_VARIABLE]: textOf(2) };
    expect(await start("k.txt")).toMatchObject({ keyIsBeside: false, found: undefined });
    expect(() => statSync(join(path, "encryption.key"))).toThrow("ENOENT");
    env = { [ENCRYPTION_KEY_VARIABLE]: textOf(1) };
    expect(await start()).toMatchObject({ keyIsBeside: false, found: "ops" });
  });

  test.each([
    ["a file", () => start("other.txt")],
    ["the variable", () => start()],
  ])("does not open with another key from %s, reports a remedy, and keeps the data", async (_where, again) => {
    files = { "k.txt": textOf(1), "other.txt": textOf(2) };
    await start("k.txt");
    env = { [ENCRYPTION_KEY_VARIABLE]: textOf(2) };
    const { code, message, hint } = await failure(again);
    expect([code, hint]).toEqual(["CONFIG_FILE", hintOf(1)]);
    expect(message).toContain('its object "/a" cannot be decrypted: it was encrypted with a different key, or has been changed since');
    expect(message).not.toContain(textOf(2));
    expect(await start("k.txt")).toMatchObject({ found: "ops" });
  });

  test("does not make a key for data that has another one", async () => {
    files = { "k.txt": textOf(1) };
    await start("k.txt");
    const { code, message, hint } = await failure(() => start());
    expect([code, message]).toEqual(["CONFIG_FILE", `Cannot read "${join(path, "management.db")}": its encryption key is not available`]);
    expect(hint).toContain(`--encryption-key-file or ${ENCRYPTION_KEY_VARIABLE}`);
    expect(() => statSync(join(path, "encryption.key"))).toThrow("ENOENT");
    expect(await start("k.txt")).toMatchObject({ found: "ops" });
  });

  test("is not made when the named key cannot be used", async () => {
    expect((await failure(() => start("absent.txt"))).code).toBe("CONFIG_VALUE");
    expect(() => statSync(path)).toThrow("ENOENT");
  });

  test("changes its key with both for a while", async () => {
    files = { "1.txt": textOf(1), "both.txt": `${textOf(2)}\n${textOf(1)}\n`, "2.txt": textOf(2) };
    await start("1.txt");
    const folder = await open("both.txt");
    const { revision } = (await folder.store.get("/a"))!;
    await folder.store.create("/b", TEAM);
    await folder.store.update("/a", TEAM, revision);
    await folder.store.close();
    expect(await start("both.txt")).toMatchObject({ found: "ops" });
  });

  test("does not open with a text that is not a key", async () => {
    files = { "k.txt": "secret" };
    expect((await failure(() => start("k.txt"))).code).toBe("CONFIG_VALUE");
    await start();
    writeFileSync(join(path, "encryption.key"), "damaged");
    expect((await failure(() => start())).code).toBe("CONFIG_VALUE");
  });

  test("belongs to one process at a time", async () => {
    const folder = await open();
    expect((await failure(() => open())).message).toContain("another process has it open");
    await folder.store.close();
  });
});
