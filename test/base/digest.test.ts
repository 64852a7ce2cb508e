import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../src/base/digest.ts";

describe("sha256Hex", () => {
  // The first two are test vectors of the standard, FIPS 180-4.
  test.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["ü", "607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f"],
  ])("of %j is known", (text, want) => {
    expect(sha256Hex(text)).toBe(want);
  });
});
