import { hash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../../src/workbench/playground/browser/sha256.ts";
import { sha256Hex, utf8Size } from "../../../src/workbench/playground/browser/digest.ts";

test("is the platform's SHA-256, at every length around a block", () => {
  for (let length = 0; length <= 260; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, index) => (7 * index) & 255);
    expect(sha256(bytes), `${length} bytes`).toBe(hash("sha256", bytes, "hex"));
  }
});

test("reads a part of a buffer as that part", () => {
  const whole = Uint8Array.from({ length: 300 }, (_, index) => index & 255);
  expect(sha256(whole.subarray(33, 200))).toBe(hash("sha256", whole.subarray(33, 200), "hex"));
});

test("stands in for the digest of texts", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => sha256Hex(text) === hash("sha256", text, "hex")));
});

test("measures texts as the platform does, halves of characters too", () => {
  for (const text of ["", "a", "é", "€", "😀", "\ud83d", "a\udc00b"])
    expect(utf8Size(text), JSON.stringify(text)).toBe(Buffer.byteLength(text));
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => utf8Size(text) === Buffer.byteLength(text)));
});
