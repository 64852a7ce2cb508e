import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FILE_BYTES_MAX, readTextFile, unreadable } from "../../../src/cli/files/text-file.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-text-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, bytes: string | Uint8Array) => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};

describe("readTextFile", () => {
  test.each([
    { why: "reads text", bytes: "héllo\n", want: "héllo\n" },
    { why: "leaves a byte order mark out", bytes: "\ufeffa: 1", want: "a: 1" },
    { why: "reads an empty file", bytes: "", want: "" },
  ])("$why", async ({ why, bytes, want }) => {
    expect(await readTextFile(file(`${why}.yaml`, bytes))).toBe(want);
  });

  const large = file("large.yaml", "");
  // A hole: the file takes no room.
  truncateSync(large, FILE_BYTES_MAX + 1);

  test.each([
    { why: "names a file that is not there", path: join(folder, "none.yaml"), code: "CONFIG_FILE", reason: "there is no such file" },
    {
      why: "names a path through a file",
      path: join(file("plain", ""), "x"),
      code: "CONFIG_FILE",
      reason: "a part of its path is not a directory",
    },
    { why: "names a directory", path: folder, code: "CONFIG_FILE", reason: "it is a directory" },
    { why: "names a file that is too large", path: large, code: "CONFIG_FILE", reason: `it is larger than ${FILE_BYTES_MAX} bytes` },
    {
      why: "names bytes that are not strings",
      path: file("binary", Uint8Array.of(0x7f, 0xff)),
      code: "CONFIG_SYNTAX",
      reason: "it is not UTF-8 text",
    },
    {
      why: "names text in UTF-16",
      path: file("utf-16", Buffer.from("\ufeffa: 1", "utf16le")),
      code: "CONFIG_SYNTAX",
      reason: "it is not UTF-8 text",
    },
  ])("$why", async ({ path, code, reason }) => {
    await expect(readTextFile(path)).rejects.toMatchObject({
      code,
      message: `Cannot read "${path}": ${reason}`,
      details: { reason, hint: expect.stringMatching(/./) },
    });
  });
});

describe("unreadable", () => {
  test.each(["EACCES", "EPERM"])("calls %s by its name", (code) => {
    expect(unreadable("a", Object.assign(new Error("x"), { code })).message).toBe('Cannot read "a": permission denied');
  });

  test("keeps the message of a failure that it does not know", () => {
    expect(unreadable("a", Object.assign(new Error("disk on fire"), { code: "constructor" })).message).toBe(
      'Cannot read "a": disk on fire',
    );
  });
});
