import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import fixtures from "../../../fixtures/paths.json" with { type: "json" };
import { isEngineError } from "../../../src/base/errors.ts";
import { compilePath, compileRelativePath, PATH_LENGTH_MAX, PATH_SEGMENTS_MAX, type Path } from "../../../src/engine/path/path.ts";
import { refusalOf } from "./support.ts";

describe("compilePath accepts", () => {
  test.each(fixtures.accept)("$text: $why", ({ text, canonical }) => {
    const path = compilePath(text);
    expect(path.text).toBe(text);
    expect(path.canonical).toBe(canonical);
    expect(compilePath(canonical).segments).toEqual(path.segments);
  });

  test('"" and $ as the whole object where the caller wants it', () => {
    for (const text of ["", " ", "$"]) {
      const path = compilePath(text, { empty: "whole-object" });
      expect(path).toMatchObject({ canonical: "$", segments: [], wildcards: 0 });
      expect(path.find({ a: 1 })).toEqual([{ path: "$", value: { a: 1 } }]);
      expect(path.update({ a: 1 }, () => 2)).toBe(2);
    }
  });

  test("as many characters and segments as the limits say, and no more", () => {
    const long = (length: number) => "a".repeat(length);
    expect(compilePath(long(PATH_LENGTH_MAX)).segments).toHaveLength(1);
    expect(refusalOf(() => compilePath(long(PATH_LENGTH_MAX + 1)))).toMatchObject({ code: "PATH_SYNTAX", column: PATH_LENGTH_MAX + 1 });
    const deep = (segments: number) => Array(segments).fill("a").join(".");
    expect(compilePath(deep(PATH_SEGMENTS_MAX)).segments).toHaveLength(PATH_SEGMENTS_MAX);
    expect(refusalOf(() => compilePath(deep(PATH_SEGMENTS_MAX + 1)))).toMatchObject({ code: "PATH_SYNTAX", column: 2 * PATH_SEGMENTS_MAX });
    expect([PATH_LENGTH_MAX, PATH_SEGMENTS_MAX]).toEqual([4096, 64]);
  });
});

describe("compilePath refuses", () => {
  test.each(fixtures.refuse)("$text: $why", ({ text, code, column, hint }) => {
    const refusal = refusalOf(() => compilePath(text));
    expect(refusal).toMatchObject({ code, column, text });
    expect(refusal.hint).toContain(hint);
    expect(refusal.message).toContain(`at column ${column}`);
  });

  test("with a message and a hint that stay short and in one line", () => {
    for (const text of [`/${"x\n".repeat(1000)}`, `a..${"\u202e".repeat(1000)}`, "x".repeat(100_000), `a[0:${"1".repeat(3000)}]`]) {
      const { message, hint } = refusalOf(() => compilePath(text));
      expect(message.length + hint.length).toBeLessThan(800);
      expect(message + hint).not.toMatch(/[\n\u202e]/);
    }
  });

  test("a rewrite that it would accept", () => {
    const rewrites = fixtures.refuse.flatMap(
      ({ text }) => /^Write ((?:[^\s,"]|"[^"]*")+)(?: and | in |, or |$)/.exec(refusalOf(() => compilePath(text)).hint)?.[1] ?? [],
    );
    expect(rewrites.length).toBeGreaterThan(10);
    for (const rewrite of rewrites) expect(compilePath(rewrite).canonical).toBe(rewrite.replace(/^\$\.?/, ""));
  });

  test("any other text with a code, a column inside it and a hint, or compiles it to what its canonical text means", () => {
    const piece = fc.oneof(
      fc.constantFrom(..."$.[]*\"'\\~^@?(),:{}/-0 a|\n\ud800é"),
      fc.constantFrom("..", "[*]", '["', '"]', "a.b", "[0]", "\\u00"),
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(text, fc.constantFrom("field", "jsonpath"), (source, syntax) => {
        const path = attempt(source, syntax);
        if (path !== undefined)
          expect(compilePath(path.canonical, { syntax })).toMatchObject({ canonical: path.canonical, segments: path.segments });
      }),
      { numRuns: 2000 },
    );
  });
});

function attempt(text: string, syntax: "field" | "jsonpath"): Path | undefined {
  try {
    return compilePath(text, { syntax });
  } catch (error) {
    expect(isEngineError(error, "PATH_SYNTAX", "PATH_UNSUPPORTED")).toBe(true);
    const { column, hint } = refusalOf(() => compilePath(text, { syntax }));
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual(text.length + 1);
    expect(hint).not.toBe("");
    return undefined;
  }
}

describe("compileRelativePath", () => {
  test("accepts names, indexes and quoted keys", () => {
    expect(compileRelativePath("name").canonical).toBe("name");
    expect(compileRelativePath('secretRef["a.b"][0]').find({ secretRef: { "a.b": ["x"] } })).toEqual([
      { path: 'secretRef["a.b"][0]', value: "x" },
    ]);
  });

  test.each([
    { text: "$.name", column: 1, hint: "Write name", why: "there is no root to start from" },
    { text: "refs[*].name", column: 5, hint: "path of the patch", why: "it is one place" },
    { text: "*", column: 1, hint: "path of the patch", why: "a wildcard alone is not one place" },
    { text: 'a["*"].*', column: 7, hint: "path of the patch", why: "a quoted star before the wildcard is a key" },
    { text: "", column: 1, hint: "Name a field", why: "it names something" },
  ])("refuses $text, because $why", ({ text, column, hint }) => {
    const refusal = refusalOf(() => compileRelativePath(text));
    expect(refusal).toMatchObject({ code: "PATH_SYNTAX", column });
    expect(refusal.hint).toContain(hint);
  });
});
