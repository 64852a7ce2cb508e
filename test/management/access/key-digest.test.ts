import { expect, test } from "vitest";
import { createKeyDigest } from "../../../src/management/access/keys/key-digest.ts";

test("a value has one digest, whichever connection it came on, and whatever came there before", () => {
  const digest = createKeyDigest(Buffer.alloc(32));
  const other = createKeyDigest(Buffer.alloc(32, 1));
  const [one, two] = [{}, {}];
  for (const value of ["a", "b", "b", "a", "a"]) {
    for (const connection of [undefined, one, two, one]) {
      expect(digest.of(value, connection)).toBe(digest.of(value));
      expect(other.of(value, connection)).not.toBe(digest.of(value));
    }
  }
});
