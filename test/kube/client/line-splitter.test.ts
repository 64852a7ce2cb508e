import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineSplitter } from "../../../src/kube/client/watch/watch-stream.ts";

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((left, right) => left - right);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe("a line splitter", () => {
  test("gives the lines of the text, wherever its chunks end: inside characters and before line ends too", () => {
    const line = fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replace(/[\r\n\p{Zs}\t\v\f\u2028\u2029\ufeff]/gu, "x"));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(1_000)), (lines, places) => {
        const splitter = new LineSplitter(1_000);
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        const got = cut(bytes, places).flatMap((chunk) => [...splitter.push(Buffer.from(chunk))]);
        expect(got).toEqual(
          Buffer.from(lines.filter((text) => text !== "").join("\n"))
            .toString()
            .split("\n")
            .filter((text) => text !== ""),
        );
        expect(splitter.midLine).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  test("keeps the beginning of a line until its end comes", () => {
    const splitter = new LineSplitter(1_000);
    expect([...splitter.push(Buffer.from('{"a":1}\n{"b"'))]).toEqual(['{"a":1}']);
    expect(splitter.midLine).toBe(true);
    expect([...splitter.push(Buffer.from(":2}\r\n\n"))]).toEqual(['{"b":2}']);
  });

  test.each([
    { chunks: ["12345678901\n"], why: "in one chunk" },
    { chunks: ["123456", "78901"], why: "over several chunks, before its end came" },
  ])("refuses a line that is longer than the limit $why", ({ chunks }) => {
    const splitter = new LineSplitter(10);
    expect(() => chunks.forEach((chunk) => [...splitter.push(Buffer.from(chunk))])).toThrow(expect.objectContaining({ code: "API_ERROR" }));
  });

  test("takes a line as long as the limit", () => {
    const splitter = new LineSplitter(10);
    expect([...splitter.push(Buffer.from("1234567890\n1234567890\n"))]).toEqual(["1234567890", "1234567890"]);
  });
});
