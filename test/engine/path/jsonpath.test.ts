import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compilePath, PATH_SEGMENTS_MAX, REMOVE } from "../../../src/engine/path/path.ts";
import { JSONPATH_MATCHES_MAX } from "../../../src/engine/path/jsonpath/jsonpath.ts";
import { ALTERNATIVES_MAX, DESCENTS_MAX } from "../../../src/engine/path/jsonpath/jsonpath-parse.ts";
import { refusalOf } from "./support.ts";

const compile = (text: string) => compilePath(text, { syntax: "jsonpath" });
const placesIn = (text: string, document: unknown) =>
  compile(text)
    .find(document)
    .map(({ path }) => path);

const POD = {
  image: "top",
  spec: {
    containers: [
      { image: "web", env: [{ name: "A" }, { name: "B" }, { name: "C" }] },
      { image: "proxy", "example.com/x": { image: null } },
    ],
    image: "spec",
  },
};

describe("paths with JSONPath operators", () => {
  test.each([
    {
      text: "$..image",
      found: ["image", "spec.containers[0].image", "spec.containers[1].image", 'spec.containers[1]["example.com/x"].image', "spec.image"],
      why: "descent reaches every level, in document order",
    },
    {
      text: "$.spec..image",
      found: ["spec.containers[0].image", "spec.containers[1].image", 'spec.containers[1]["example.com/x"].image', "spec.image"],
      why: "descent starts where it stands",
    },
    {
      text: "$..env[*].name",
      found: ["spec.containers[0].env[0].name", "spec.containers[0].env[1].name", "spec.containers[0].env[2].name"],
      why: "more segments may follow",
    },
    { text: "$..env[1:].name", found: ["spec.containers[0].env[1].name", "spec.containers[0].env[2].name"], why: "a slice selects a part" },
    {
      text: "$..env[::-2].name",
      found: ["spec.containers[0].env[0].name", "spec.containers[0].env[2].name"],
      why: "document order holds for backward slices",
    },
    {
      text: "$..env[ 0 , -1 , 2 ].name",
      found: ["spec.containers[0].env[0].name", "spec.containers[0].env[2].name"],
      why: "a place is found once, however often it is named",
    },
    { text: "$..env[-2].name", found: ["spec.containers[0].env[1].name"], why: "a negative index counts from the end" },
    { text: "$['spec']['image','containers'][0:1].image", found: ["spec.containers[0].image"], why: "a union names several members" },
    { text: "$..['example.com/x'].image", found: ['spec.containers[1]["example.com/x"].image'], why: "a quoted key may follow a descent" },
    { text: "$..length", found: [], why: "the length of a list is not a member" },
    { text: "$.image[0:2]", found: [], why: "a text has no characters" },
    { text: "$..image[0]", found: [], why: "a text has no elements" },
    { text: "$..absent", found: [], why: "nothing is there" },
    { text: "$.spec..constructor", found: [], why: "inherited members are not found" },
  ])("$text: $why", ({ text, found }) => {
    expect(placesIn(text, POD)).toEqual(found);
    expect(compile(compile(text).canonical).canonical).toBe(compile(text).canonical);
    expect(refusalOf(() => compilePath(text.startsWith("$..") ? text : `${text}..x`)).code).toBe("PATH_UNSUPPORTED");
  });

  test.each([
    { text: "$..spec['a.b']", canonical: '$..spec["a.b"]' },
    { text: "$[ 'a' , 0, 1 : 2 ]", canonical: '$["a",0,1:2]' },
    { text: " $..* ", canonical: "$..[*]" },
  ])("$text is written $canonical", ({ text, canonical }) => {
    expect(compile(text).canonical).toBe(canonical);
  });

  test("have segments in which a wildcard stands for each operator", () => {
    const wildcard = { kind: "wildcard" };
    const key = (name: string) => ({ kind: "key", key: name });
    expect(compile("$.a..b[0:2]['c','d'][1]").segments).toEqual([
      key("a"),
      wildcard,
      key("b"),
      wildcard,
      wildcard,
      { kind: "index", index: 1 },
    ]);
    expect(compile("$.a..b").wildcards).toBe(1);
  });

  test("are updated copy-on-write", () => {
    const document = { a: { x: 1 }, b: [{ x: 2 }, { y: 3 }], c: { z: {} } };
    const got = compile("$..x").update(document, (value) => Number(value) * 10) as typeof document;
    expect(got).toEqual({ a: { x: 10 }, b: [{ x: 20 }, { y: 3 }], c: { z: {} } });
    expect([got.b[1], got.c]).toEqual([document.b[1], document.c]);
    expect(got.c).toBe(document.c);
    expect(compile("$..x").update(document, (value) => value)).toBe(document);
    expect(compile("$..absent").update(document, () => expect.unreachable("nothing was found"))).toBe(document);
  });

  test("remove elements without skipping any", () => {
    expect(compile("$.ports[1:3]").update({ ports: [1, 2, 3, 4] }, () => REMOVE)).toEqual({ ports: [1, 4] });
    expect(compile("$..b").update({ a: { b: 1, c: 2 } }, () => REMOVE)).toEqual({ a: { c: 2 } });
  });

  test("let a changed node win over what was found below it", () => {
    const document = { a: { a: 1 } };
    expect(compile("$..a").update(document, (value) => (value === 1 ? 2 : value))).toEqual({ a: { a: 2 } });
    expect(compile("$..a").update(document, () => "new")).toEqual({ a: "new" });
  });

  test("handle own members named __proto__ as data", () => {
    const document: unknown = JSON.parse('{"a":{"__proto__":{"polluted":1}}}');
    expect(placesIn("$..polluted", document)).toEqual(["a.__proto__.polluted"]);
    const got = compile("$..__proto__").update(document, () => ({ polluted: 2 }));
    expect(JSON.stringify(got)).toBe('{"a":{"__proto__":{"polluted":2}}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("without an operator are our own engine's, with every key it can quote", () => {
    expect(compile("$.a['it\\'s; @x()']").canonical).toBe('a["it\'s; @x()"]');
    expect(compile("a.b").segments).toEqual(compilePath("a.b").segments);
  });
});

describe("refused even with pathSyntax: jsonpath", () => {
  test.each([
    { text: "a..b", code: "PATH_UNSUPPORTED", column: 2, why: "JSONPath starts with $" },
    { text: "$..a[?(@.b)]", code: "PATH_UNSUPPORTED", column: 5, why: "filters are code" },
    { text: "$..a[(@.length-1)]", code: "PATH_UNSUPPORTED", column: 5, why: "scripts are code" },
    { text: "$..a^", code: "PATH_UNSUPPORTED", column: 5, why: "there is no parent selector" },
    { text: "$..a~", code: "PATH_UNSUPPORTED", column: 5, why: "there is no key selector" },
    { text: "$..a@string()", code: "PATH_UNSUPPORTED", column: 5, why: "there are no type operators" },
    { text: "$..`a", code: "PATH_SYNTAX", column: 4, why: "back quotes are not part of the standard" },
    { text: "$...a", code: "PATH_SYNTAX", column: 4, why: "three dots mean nothing" },
    { text: "$..", code: "PATH_SYNTAX", column: 4, why: "a descent needs a name" },
    { text: "$..a[0,]", code: "PATH_SYNTAX", column: 8, why: "a union has no empty part" },
    { text: "$..a[1:2:3:4]", code: "PATH_SYNTAX", column: 11, why: "a slice has three parts" },
    { text: "$..a[01:2]", code: "PATH_SYNTAX", column: 6, why: "integers have no leading zeros" },
    { text: "$..a[-0]", code: "PATH_SYNTAX", column: 6, why: "there is no negative zero" },
    { text: "$..a[b/c]", code: "PATH_SYNTAX", column: 6, why: "keys in brackets are quoted" },
    { text: "$..a b", code: "PATH_SYNTAX", column: 5, why: "white space separates nothing" },
    { text: "$..['0']", code: "PATH_UNSUPPORTED", column: 5, why: "the library takes quoted digits for an index" },
    { text: "$..['0:2']", code: "PATH_UNSUPPORTED", column: 5, why: "the library takes a quoted slice for a slice" },
    { text: "$..['*']", code: "PATH_UNSUPPORTED", column: 5, why: "the library takes a quoted star for a wildcard" },
    { text: "$..['it\\'s']", code: "PATH_UNSUPPORTED", column: 5, why: "the library loses quotes" },
    { text: "$..['?(1)']", code: "PATH_UNSUPPORTED", column: 5, why: "the library takes a quoted filter for a filter" },
  ])("$text: $why", ({ text, code, column }) => {
    const refusal = refusalOf(() => compile(text));
    expect(refusal).toMatchObject({ code, column });
    expect(refusal.hint).not.toBe("");
  });

  test("more descents, alternatives and segments than the limits say", () => {
    expect([DESCENTS_MAX, ALTERNATIVES_MAX, JSONPATH_MATCHES_MAX]).toEqual([2, 64, 100_000]);
    expect(compile(`$${"..a".repeat(DESCENTS_MAX)}`).wildcards).toBe(DESCENTS_MAX);
    expect(refusalOf(() => compile(`$${"..a".repeat(DESCENTS_MAX + 1)}`)).code).toBe("PATH_UNSUPPORTED");
    expect(compile(`$${"[0,1]".repeat(6)}`).wildcards).toBe(6);
    expect(refusalOf(() => compile(`$${"[0,1]".repeat(7)}`)).code).toBe("PATH_UNSUPPORTED");
    expect(refusalOf(() => compile(`$..a${"[0]".repeat(PATH_SEGMENTS_MAX)}`)).code).toBe("PATH_SYNTAX");
  });

  test.each([
    "$..[?(p=\"globalThis.exploited=1\";a=''[['constructor']][['constructor']](p);a())]",
    "$[?(globalThis.exploited=1)]",
    '$..[?(@.constructor.constructor("globalThis.exploited=1")())]',
    "$..a[(this.constructor.constructor('globalThis.exploited=1')())]",
    "$..a['?(globalThis.exploited=1)']",
    "$..a[?(@.b[?(globalThis.exploited=1)])]",
    "$..a[?(_$_v.__lookupGetter__('x').constructor('globalThis.exploited=1')())]",
  ])("code in a filter or script: %s", (text) => {
    for (const syntax of ["field", "jsonpath"] as const) {
      const attempt = () => compilePath(text, { syntax }).find({ a: [{ b: [1] }] });
      expect(refusalOf(attempt).code).toMatch(/^PATH_/);
    }
    expect((globalThis as { exploited?: unknown }).exploited).toBeUndefined();
  });
});

describe("documents that the library cannot be trusted with are refused", () => {
  const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

  test("nested deeper than the most segments of a path", () => {
    expect(placesIn("$..a", nested(PATH_SEGMENTS_MAX))).toHaveLength(PATH_SEGMENTS_MAX);
    expect(refusalOf(() => compile("$..a").find(nested(PATH_SEGMENTS_MAX + 1)))).toMatchObject({ code: "PATH_UNSUPPORTED" });
    expect(refusalOf(() => compile("$..a").find(nested(50_000)))).toMatchObject({ code: "PATH_UNSUPPORTED" });
  });

  test.each([
    { text: "$.spec..a", key: ".." },
    { text: "$.spec.*..a", key: "*" },
    { text: "$.spec..a[0:2]", key: "0:2" },
    { text: "$.spec..a[-1]", key: "-1:" },
    { text: "$.spec..a", key: "@other()" },
  ])("with the key $key, which $text would follow instead of its operator", ({ text, key }) => {
    const document = { spec: { [key]: { a: [1] }, b: { a: [2] } } };
    expect(refusalOf(() => compile(text).find(document)).message).toContain(`"${key}"`);
    expect(refusalOf(() => compile(text).update(document, () => 0)).code).toBe("PATH_UNSUPPORTED");
  });

  test("with more matches than the limit", () => {
    const list = Array<number>(JSONPATH_MATCHES_MAX).fill(0);
    expect(compile("$..[*]").find(list)).toHaveLength(JSONPATH_MATCHES_MAX);
    expect(refusalOf(() => compile("$..[*]").find([...list, 0])).message).toContain("more than 100000 matches");
  });

  test.each([null, undefined, 0, "", "text", 1])("but %s has no matches", (root) => {
    expect(compile("$..a").find(root)).toEqual([]);
    expect(compile("$..a").update(root, () => 1)).toBe(root);
  });
});

test("one file imports jsonpath-plus, and every call says eval: false", () => {
  const folder = join(import.meta.dirname, "../../../src/engine/path/jsonpath");
  const texts = new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  const importers = [...texts].filter(([, text]) => /from "jsonpath-plus"/.test(text)).map(([file]) => file);
  expect(importers).toEqual(["jsonpath.ts"]);
  const calls = [...texts.get("jsonpath.ts")!.matchAll(/\bJSONPath\(\{[^}]*\}\)/g)].map(([call]) => call);
  expect(calls.length).toBeGreaterThan(0);
  for (const call of calls) expect(call).toContain("eval: false");
});
