import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { locate, mergeNodes, positionInside, toJson, valueAt, type Node } from "../../src/schema/node.ts";
import { Report } from "../../src/schema/problem.ts";
import { readYaml } from "../../src/schema/yaml.ts";

function read(text: string, file = "f.yaml"): Node {
  return readYaml(text, { file, report: new Report() })!;
}

describe("positionInside", () => {
  test.each([
    { text: "a: value.x", inside: [1, 7], want: "1:10", why: "a plain value" },
    { text: "a: 'value.x'", inside: [1, 7], want: "1:11", why: "a single-quoted value" },
    { text: "a: 'it''s.x'", inside: [1, 6], want: "1:11", why: "a single-quoted value behind a doubled quote" },
    { text: 'a: "value.x"', inside: [1, 7], want: "1:11", why: "a double-quoted value" },
    { text: 'a: "b[\\"c\\"].d"', inside: [1, 7], want: "1:13", why: "a double-quoted value behind escapes" },
    { text: 'a: "\\x41\\u0041\\U0001F600b"', inside: [1, 5], want: "1:25", why: "a double-quoted value behind numbered escapes" },
    { text: "a: |\n  one\n   two\n", inside: [2, 2], want: "3:4", why: "a literal block" },
    { text: "a: |\n  one\n  two\nb: 1\n", inside: [3, 1], want: "3:6", why: "the end of a literal block, not what follows" },
    { text: "a: |\r\n  one\r\n  two\r\n", inside: [2, 1], want: "3:3", why: "a literal block with CR LF" },
    { text: "a: >\n  one\n  two\n", inside: [1, 5], want: "2:3", why: "a folded block, at its start only" },
    { text: "a: one\n  two\n", inside: [1, 5], want: "1:4", why: "a plain value of two lines, at its start only" },
    { text: 'a: "one\n  two"\n', inside: [1, 5], want: "1:4", why: "a quoted value of two lines, at its start only" },
    { text: "a: one", inside: [1, 4], want: "1:7", why: "the end of a value" },
  ])("finds $why", ({ text, inside: [line, column], want }) => {
    const node = valueAt(read(text), "a")!;
    const place = node.kind === "scalar" ? positionInside(node, { line: line!, column: column! }) : undefined;
    expect(`${place?.line}:${place?.column}`).toBe(want);
  });

  test("finds each character of any quoted value", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "'", '"', "\\", " ", "é", "😀"), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(letters, fc.boolean(), (value, single) => {
        const written = single ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
        const text = `a: ${written}`;
        const node = valueAt(read(text), "a")!;
        for (const [index, unit] of [...value].map((character, at) => [[...value].slice(0, at).join("").length, character] as const)) {
          const place = positionInside(node as Extract<Node, { kind: "scalar" }>, { line: 1, column: index + 1 });
          const found = text.slice(place.column - 1);
          expect(found.startsWith(unit) || found.startsWith(`\\${unit}`)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("mergeNodes", () => {
  test("merges maps, replaces the rest, and keeps the place of every value", () => {
    const merged = mergeNodes(read("a: {b: 1, c: [1, 2]}\nd: {e: 1}\n", "one"), read("\n\na: {c: [3], f: 2}\nd: 4\n", "two"));
    expect(toJson(merged)).toEqual({ a: { b: 1, c: [3], f: 2 }, d: 4 });
    expect(locate(merged, "/a/b")?.value).toEqual({ file: "one", line: 1, column: 8 });
    expect(locate(merged, "/a/c")?.value).toEqual({ file: "two", line: 3, column: 8 });
    expect(locate(merged, "/a/f")?.key).toEqual({ file: "two", line: 3, column: 13 });
  });

  test("lets every later value stand, and adds nothing of its own", () => {
    const document = fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.jsonValue({ maxDepth: 3 }));
    const node = document.map((value) => read(JSON.stringify(value)));
    fc.assert(
      fc.property(node, node, (earlier, later) => {
        const merged = mergeNodes(earlier, later);
        expect(toJson(mergeNodes(merged, later))).toEqual(toJson(merged));
        expect(toJson(mergeNodes(earlier, earlier))).toEqual(toJson(earlier));
        expect(toJson(mergeNodes(read(""), earlier))).toEqual(toJson(earlier));
        expect(toJson(mergeNodes(earlier, read("")))).toEqual(toJson(earlier));
      }),
      { numRuns: 300 },
    );
  });
});
