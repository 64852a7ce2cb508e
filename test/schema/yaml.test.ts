import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALIASED_VALUES_MAX, ALIASES_MAX, DOCUMENT_DEPTH_MAX, MERGED_KEYS_MAX, TEXT_MAX } from "../../src/schema/limits.ts";
import { locate, toJson } from "../../src/schema/node.ts";
import { Report } from "../../src/schema/problem.ts";
import { readYaml } from "../../src/schema/yaml.ts";

function read(text: string) {
  const report = new Report();
  const node = readYaml(text, { file: "f.yaml", report });
  const problems = report.problems.map(({ line, column, code, message, hint }) => ({ at: `${line}:${column}`, code, message, hint }));
  return { node, value: node && toJson(node), problems };
}

/** `line:column` of the key and of the value. */
function places(text: string, pointer: string): string {
  const found = locate(read(text).node!, pointer);
  const at = (place: { line: number; column: number } | undefined) => (place === undefined ? "none" : `${place.line}:${place.column}`);
  return `${at(found?.key)} ${at(found?.value)}`;
}

describe("readYaml", () => {
  test.each([
    { text: "", want: {}, why: "an empty text is an empty map" },
    { text: "# nothing\n", want: {}, why: "a text of comments is an empty map" },
    { text: "---\n", want: {}, why: "a lone separator is an empty map" },
    { text: "---\na: 1\n---\n", want: { a: 1 }, why: "separators around one document do no harm" },
    { text: "\uFEFFa: 1\n", want: { a: 1 }, why: "a byte order mark is not part of the first key" },
    { text: "a: yes\nb: on\nc: NO\n", want: { a: "yes", b: "on", c: "NO" }, why: "words of YAML 1.1 booleans are text" },
    { text: "a: true\nb: null\nc: ~\nd:\n", want: { a: true, b: null, c: null, d: null }, why: "true and null are what they say" },
    { text: "a: 0o17\nb: 0x1F\nc: 017\nd: 1e3\n", want: { a: 15, b: 31, c: 17, d: 1000 }, why: "numbers are those of YAML 1.2" },
    { text: "a: 2026-01-01\nb: 12:30\n", want: { a: "2026-01-01", b: "12:30" }, why: "dates and times are text" },
    { text: "8080: a\ntrue: b\n1.0: c\n", want: { "8080": "a", true: "b", "1.0": "c" }, why: "keys are text as it is written" },
    { text: "a: !!str 5\nb: !!int '5'\nc: ! 5\n", want: { a: "5", b: 5, c: "5" }, why: "tags of JSON data are obeyed" },
    { text: "a: !!map {b: !!seq []}\nc: ! {}\n", want: { a: { b: [] }, c: {} }, why: "tags of collections may be written out" },
    { text: "a: &x {b: 1}\nc: *x\n", want: { a: { b: 1 }, c: { b: 1 } }, why: "an alias repeats what it names" },
    { text: "a: &k b\n*k : 1\n", want: { a: "b", b: 1 }, why: "an alias of a text can be a key" },
    {
      text: "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n",
      want: { a: { p: 1, q: 2 }, b: { q: 3, p: 1 } },
      why: "<< fills in what is not written",
    },
    { text: "a: &x {p: 1}\nb: {p: 3, <<: *x}\n", want: { a: { p: 1 }, b: { p: 3 } }, why: "an own key wins wherever << stands" },
    { text: "a: {<<: [{p: 1}, {p: 2, q: 2}]}\n", want: { a: { p: 1, q: 2 } }, why: "of several merged maps the first wins" },
    { text: 'a: {"<<": {p: 1}}\n', want: { a: { "<<": { p: 1 } } }, why: "a quoted << is a key like any other" },
    { text: "a: |\n  one\n  two\nb: >-\n  one\n  two\n", want: { a: "one\ntwo\n", b: "one two" }, why: "blocks are literal or folded" },
  ])("$why", ({ text, want }) => {
    const { value, problems } = read(text);
    expect(problems).toEqual([]);
    expect(value).toEqual(want);
  });

  test.each([
    { text: "a: 1\nb: 2\n", pointer: "/b", want: "2:1 2:4", why: "a plain value" },
    { text: "a:\n  - x\n  - y\n", pointer: "/a/1", want: "none 3:5", why: "an item, which has no key" },
    { text: "a: {'b c': \"d\"}\n", pointer: "/a/b c", want: "1:5 1:12", why: "quoted text, at its quotes" },
    { text: "a/b:\n  c~d: 1\n", pointer: "/a~1b/c~0d", want: "2:3 2:8", why: "keys with slash and tilde" },
    { text: "a: |\n  text\n", pointer: "/a", want: "1:1 2:3", why: "a block, at its first character" },
    { text: "a:\r\n  b: 1\r\n", pointer: "/a/b", want: "2:3 2:6", why: "lines that end in CR LF" },
    { text: "a:\r  b: 1\r", pointer: "/a/b", want: "2:3 2:6", why: "lines that end in CR" },
    { text: "\uFEFFa: 1\n", pointer: "/a", want: "1:1 1:4", why: "a first line behind a byte order mark" },
    { text: "a:\nb: 1\n", pointer: "/a", want: "1:1 1:1", why: "a value that is not written, at its key" },
    {
      text: "a:\n  - 1 # one - two\n\n  # - three\n  -\n",
      pointer: "/a/1",
      want: "none 5:3",
      why: "an item that is not written, at its dash",
    },
    { text: "a:\n  - 'x'\n  -\n", pointer: "/a/1", want: "none 3:3", why: "an item that is not written, behind a quote" },
    { text: "a: &x\n  b: 1\nc: *x\n", pointer: "/c/b", want: "2:3 2:6", why: "an aliased value, where it is written" },
    { text: "a: &x {b: 1}\nc:\n  <<: *x\n", pointer: "/c/b", want: "1:8 1:11", why: "a merged key, where it is written" },
    { text: "é😀: 1\n", pointer: "/é😀", want: "1:1 1:6", why: "columns in UTF-16 units, as editors count" },
    { text: "a: 1\n", pointer: "/a/b", want: "none none", why: "nothing below a scalar" },
    { text: "a: [1]\n", pointer: "/a/01", want: "none none", why: "no item behind a number with a leading zero" },
    { text: "", pointer: "", want: "none 1:1", why: "the root, at the beginning" },
  ])("places $why", ({ text, pointer, want }) => {
    expect(places(text, pointer)).toBe(want);
  });

  test.each([
    {
      text: "a: 1\nb: {c: 1, c: 2}\na: 2\n",
      want: ["2:11", "3:1"],
      message: /^Duplicate key "[ac]", first written at line [12],/,
      why: "duplicate keys, all of them",
    },
    { text: '1: a\n"1": b\n', want: ["2:1"], message: /^Duplicate key "1"/, why: "keys that are the same as text" },
    {
      text: "a: !custom 5\nb: !<tag:x,1:y> {}\nc: !!set {}\n",
      want: ["1:4", "2:4", "3:4"],
      message: /^The tag .+ is not supported/,
      why: "tags, all of them",
    },
    {
      text: "a: !!binary aGk=\nb: !!timestamp 2026-01-01\n",
      want: ["1:4", "2:4"],
      message: /not supported/,
      why: "tags that make no JSON data",
    },
    { text: "a: !!int x\n", want: ["1:4"], message: /^The tag !!int does not fit the value "x"/, why: "a tag that does not fit" },
    {
      text: "a: .nan\nb: -.inf\n",
      want: ["1:4", "2:4"],
      message: /^Expected a number that JSON can represent/,
      why: "numbers that JSON cannot say",
    },
    {
      text: "? [a]\n: 1\n? {b: 1}\n: 2\n",
      want: ["1:3", "3:3"],
      message: /^Expected text as a key, found a (list|map)/,
      why: "keys that are not strings",
    },
    { text: "'': 1\n: 2\n", want: ["2:1"], message: /^Expected text as a key, found nothing/, why: "a key of which nothing is written" },
    {
      text: "a: {<<: 1}\nb: {<<: [[]]}\n",
      want: ["1:5", "2:5"],
      message: /^Expected a map, or a list of maps, to merge/,
      why: "a merge of what is not a map",
    },
    { text: "a: *x\n", want: ["1:4"], message: /^No anchor &x/, why: "an alias without its anchor" },
    { text: "a: &a\n  b: *a\n", want: ["2:6"], message: /is inside the value that it names/, why: "an alias inside what it names" },
    { text: "a: 1\n---\nb: 2\n", want: ["3:1"], message: /second document/, why: "a second document" },
    { text: "a: \u0000\n", want: ["1:4"], message: /null byte/, why: "a null byte" },
    { text: "a: [1, 2\nb: 1\n", want: ["2:1"], message: /^Cannot parse YAML/, why: "a list that is not closed" },
  ])("refuses $why", ({ text, want, message }) => {
    const { problems } = read(text);
    expect(problems.map((problem) => problem.at)).toEqual(want);
    for (const problem of problems)
      expect(problem).toMatchObject({ code: "CONFIG_SYNTAX", message: expect.stringMatching(message) as string });
  });

  test.each([
    { text: 'expression: "my-" + value\n', hint: /^Quote the whole value/, why: "an expression that begins with a quote" },
    { text: "  - path: *\n", hint: /^Quote the whole value/, why: "a path that begins with a star" },
    { text: 'expression: value ? "a" : "b"\n', hint: /^Quote the whole value/, why: "an expression with a colon" },
    { text: "a:\n\tb: 1\n", hint: /^Indent with spaces/, why: "a tab" },
    { text: "a:\n  b: [\n    1\n  ]\n", hint: /^Indent the closing bracket further/, why: "a bracket below its key" },
    { text: "a: [1\n", hint: /^$/, why: "nothing that is known" },
  ])("hints at the usual cause of $why", ({ text, hint }) => {
    expect(read(text).problems[0]?.hint).toMatch(hint);
  });

  test("goes on after duplicate keys and tags, with the first value and without the tagged one", () => {
    expect(read("a: 1\na: 2\nb: !x 3\n").value).toEqual({ a: 1, b: null });
  });

  test("makes __proto__ an own key and changes no prototype", () => {
    const { value, problems } = read(
      "__proto__: {polluted: 1}\na: {<<: {__proto__: {polluted: 1}}}\nconstructor: {prototype: {polluted: 1}}\n",
    );
    expect(problems).toEqual([]);
    expect(Object.getOwnPropertyNames(value)).toEqual(["__proto__", "a", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.getPrototypeOf((value as { a: object }).a)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("limits of readYaml", () => {
  test.each([
    { fits: " ".repeat(TEXT_MAX), exceeds: " ".repeat(TEXT_MAX + 1), why: "the text" },
    {
      fits: "[".repeat(DOCUMENT_DEPTH_MAX) + "]".repeat(DOCUMENT_DEPTH_MAX),
      exceeds: "[".repeat(DOCUMENT_DEPTH_MAX + 1) + "]".repeat(DOCUMENT_DEPTH_MAX + 1),
      why: "the depth",
    },
    { fits: nested(DOCUMENT_DEPTH_MAX), exceeds: nested(DOCUMENT_DEPTH_MAX + 1), why: "the depth of blocks" },
    { fits: `a: &a 1\nb: [${"*a, ".repeat(ALIASES_MAX)}]`, exceeds: `a: &a 1\nb: [${"*a, ".repeat(ALIASES_MAX + 1)}]`, why: "the aliases" },
    { fits: laughs(4), exceeds: laughs(9), why: "what aliases stand for" },
    { fits: chain(DOCUMENT_DEPTH_MAX - 1), exceeds: chain(DOCUMENT_DEPTH_MAX), why: "the depth that aliases add" },
    { fits: merges(MERGED_KEYS_MAX / 100 - 1), exceeds: merges(MERGED_KEYS_MAX / 100), why: "what << takes over" },
  ])("bounds $why", ({ fits, exceeds }) => {
    expect(read(fits).problems).toEqual([]);
    expect(read(exceeds).node).toBeUndefined();
    expect(read(exceeds).problems).toEqual([expect.objectContaining({ code: "CONFIG_SYNTAX" })]);
  });

  test("counts every alias by all that it stands for", () => {
    // 400 aliases of 251 values each are just over the limit.
    const list = `a: &a [${"1, ".repeat(250)}]\n`;
    expect(read(`${list}b: [${"*a, ".repeat(Math.floor(ALIASED_VALUES_MAX / 251))}]`).problems).toEqual([]);
    expect(read(`${list}b: [${"*a, ".repeat(Math.floor(ALIASED_VALUES_MAX / 251) + 1)}]`).node).toBeUndefined();
  });

  function nested(depth: number): string {
    return Array.from({ length: depth }, (_, level) => `${" ".repeat(level)}a:\n`).join("");
  }

  /** Ten times as many values with every line. */
  function laughs(lines: number): string {
    const rows = Array.from({ length: lines }, (_, row) => `r${row + 1}: &r${row + 1} [${`*r${row}, `.repeat(10)}]\n`);
    return `r0: &r0 lol\n${rows.join("")}`;
  }

  /** One level deeper with every line; the map of the document is a level too. */
  function chain(depth: number): string {
    const rows = Array.from({ length: depth - 1 }, (_, row) => `r${row + 1}: &r${row + 1} [*r${row}]\n`);
    return `r0: &r0 []\n${rows.join("")}`;
  }

  /** Every line merges 99 keys, which count 100 with the map itself. */
  function merges(lines: number): string {
    const base = `base: &base {${Array.from({ length: 99 }, (_, key) => `k${key}: 1`).join(", ")}}\n`;
    return base + Array.from({ length: lines + 1 }, (_, row) => `m${row}: {<<: *base}\n`).join("");
  }
});

describe("properties of readYaml", () => {
  test("reads back what JSON writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const { value: got, problems } = read(JSON.stringify({ value }));
        expect(problems).toEqual([]);
        expect(JSON.stringify(got)).toBe(JSON.stringify({ value }));
      }),
      { numRuns: 500 },
    );
  });

  test("places every value where its text is", () => {
    const document = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,5}$/),
      fc.oneof(fc.integer(), fc.array(fc.integer()), fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.integer())),
    );
    fc.assert(
      fc.property(document, (value) => {
        const text = JSON.stringify(value, null, 2);
        const { node } = read(text);
        const lines = text.split("\n");
        for (const [pointer, leaf] of leavesOf(value, "")) {
          const place = locate(node!, pointer)!.value;
          expect(lines[place.line - 1]!.slice(place.column - 1)).toMatch(new RegExp(`^${leaf}(,|$)`));
        }
      }),
      { numRuns: 200 },
    );
  });

  test("answers any text with a value or a problem", () => {
    const piece = fc.constantFrom(
      "a",
      ":",
      " ",
      "\n",
      "- ",
      "  ",
      "&x ",
      "*x",
      "<<",
      "!t ",
      "'",
      '"',
      "[",
      "]",
      "{",
      "}",
      ",",
      "|",
      ">",
      "#",
      "?",
      "%",
      "---\n",
      "\t",
      "__proto__",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { node, problems } = read(pieces.join(""));
        expect(node !== undefined || problems.length > 0).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  function leavesOf(value: unknown, pointer: string): [string, number][] {
    if (typeof value !== "object" || value === null) return [[pointer, value as number]];
    return Object.entries(value).flatMap(([key, member]) => leavesOf(member, `${pointer}/${key}`));
  }
});
