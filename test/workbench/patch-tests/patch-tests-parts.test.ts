import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jsonEqual } from "../../../src/base/json.ts";
import { compilePath, formatSteps, parseConcrete } from "../../../src/engine/path/path.ts";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { valueAt as nodeAt } from "../../../src/schema/node.ts";
import { Report } from "../../../src/schema/problem.ts";
import { readYaml } from "../../../src/schema/yaml.ts";
import { checkAssert, readAsserts } from "../../../src/workbench/asserts/asserts.ts";
import { differences, differencesExcept, isPathWithin } from "../../../src/workbench/asserts/differences.ts";
import { createEngineCache } from "../../../src/workbench/patch-tests/engines.ts";
import { createSuiteFiles } from "../../../src/workbench/patch-tests/suite/files.ts";
import { mergeJson } from "../../../src/workbench/patch-tests/suite/merge-json.ts";
import { createRegexMatcher, regexProblem, type RegexMatcher } from "../../../src/workbench/asserts/regex.ts";
import { PATCH_TEST_JSON_SCHEMA } from "../../../src/workbench/patch-tests/suite/schema.ts";
import { setValue } from "../../../src/workbench/asserts/set-value.ts";
import { runText } from "./patch-tests-support.ts";
import { valueAt } from "../../engine/path/support.ts";

const keys = fc.constantFrom("a", "b", "example.com/x", "0", "__proto__", "c d");
const documents = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>("x", "", 1, true),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const objects = fc.dictionary(keys, documents, { maxKeys: 3, noNullPrototype: true });

/** Every place of a document. */
function placesOf(value: unknown, steps: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [steps];
  const children = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  return [steps, ...children.flatMap(([step, child]) => placesOf(child, [...steps, step]))];
}

describe("setting a value", () => {
  test.each([
    ["a member", { a: 1 }, "a", 2, { a: 2 }],
    ["a member that is not there", {}, "a.b.c", 2, { a: { b: { c: 2 } } }],
    ["a key with dots", {}, 'a["x.y/z"]', 2, { a: { "x.y/z": 2 } }],
    ["an element", { a: [1, 2] }, "a[1]", 3, { a: [1, 3] }],
    ["the element behind the last", { a: [1] }, "a[1].b", 3, { a: [1, { b: 3 }] }],
    ["an element of a list that is not there", {}, "a[0].b[0]", 3, { a: [{ b: [3] }] }],
    ["every match", { a: [{ b: 1 }, { b: 2 }, {}] }, "a[*].b", 3, { a: [{ b: 3 }, { b: 3 }, {}] }],
    ["the last element", { a: [1, 2] }, "a[-1]", 3, { a: [1, 3] }],
    ["below null", { a: null }, "a.b", 3, { a: { b: 3 } }],
    ["null, which takes away", { a: { b: 1, c: 2 } }, "a.b", null, { a: { c: 2 } }],
    ["null, which takes every match away", { a: [1, 2] }, "a[*]", null, { a: [] }],
    ["null where nothing is", { a: 1 }, "b.c", null, { a: 1 }],
  ])("%s", (_, document, path, value, expected) => {
    const before = structuredClone(document);
    expect(setValue(document, path, value)).toEqual(expected);
    expect(document).toEqual(before);
  });

  test.each([
    ["through a text", { a: "x" }, "a.b", "a is a string"],
    ["by name in a list", { a: [1] }, "a.b", "a is a list"],
    ["with a gap", { a: [1] }, "a[2]", "a has length 1, which leaves a gap before [2]"],
    ["at matches that are not there", {}, "a[*]", "the path matches nothing"],
  ])("refuses %s", (_, document, path, message) => {
    expect(() => setValue(document, path, 1)).toThrow(expect.objectContaining({ code: "CONFIG_VALUE" }) as Error);
    expect(() => setValue(document, path, 1)).toThrow(message);
  });

  test("puts it there and changes nothing else", () => {
    fc.assert(
      fc.property(objects, fc.nat(), documents, (document, which, value) => {
        const places = placesOf(document).filter((steps) => steps.length > 0);
        fc.pre(places.length > 0);
        const steps = places[which % places.length]!;
        const path = formatSteps(steps);
        const after = setValue(document, path, value);
        expect(valueAt(after, parseConcrete(path)).value).toEqual(value);
        expect(differences(document, after).every((difference) => isPathWithin(difference.path, path))).toBe(true);
      }),
    );
  });
});

describe("differences", () => {
  test.each([
    ["a value", { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, [{ path: "a.c", before: 2, after: 3 }]],
    ["an element more", [1], [1, 2], [{ path: "[1]", after: 2 }]],
    ["an element less", { a: [1, 2] }, { a: [1] }, [{ path: "a[1]", before: 2 }]],
    ["a map that is new", {}, { a: { b: 1 } }, [{ path: "a.b", after: 1 }]],
    ["an empty map that is new", {}, { a: {} }, [{ path: "a", after: {} }]],
    ["a map in place of a list", { a: [] }, { a: {} }, [{ path: "a", before: [], after: {} }]],
    ["nothing", { a: [{ b: null }] }, { a: [{ b: null }] }, []],
  ])("%s", (_, before, after, expected) => {
    expect(differences(before, after)).toEqual(expected);
  });

  test("are none exactly where two documents are equal", () => {
    fc.assert(
      fc.property(objects, objects, (left, right) => {
        expect(differences(left, right).length === 0).toBe(jsonEqual(left, right));
        expect(differences(left, left)).toEqual([]);
      }),
    );
  });

  test.each([
    ["what matches before", { a: [1, 2] }, { a: [1] }, ["a[*]"], []],
    ["what matches after", {}, { a: { b: 1 } }, ["a.b"], []],
    ["what is below", { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ["a.b"], []],
    ["not what is around", { a: { b: 1, c: 1 } }, { a: { b: 2, c: 2 } }, ["a.b"], ["a.c"]],
    ["not a longer name", { a: { b: 1, bc: 1 } }, { a: { b: 1, bc: 2 } }, ["a.b"], ["a.bc"]],
    ["everything", { a: 1 }, { a: 2 }, ["$"], []],
  ])("except %s", (_, before, after, except, expected) => {
    const paths = except.map((path) => compilePath(path, { empty: "whole-object" }));
    expect(differencesExcept(before, after, paths).map(({ path }) => path)).toEqual(expected);
  });
});

describe("statements", () => {
  let matches: RegexMatcher;
  beforeAll(async () => {
    matches = createRegexMatcher(await createSandbox());
  });
  const object = { a: "text", n: 1.5, i: 2, list: [{ k: 1, l: 2 }, { k: 2 }], map: { x: { y: 1 } }, none: null, yes: true, empty: "" };

  function holds(statement: string): boolean {
    const report = new Report();
    const root = readYaml(`asserts: [${statement}]`, { file: "a.yaml", report });
    const [assert] = readAsserts(nodeAt(root, "asserts"), { report, field: "asserts" });
    expect(report.problems).toEqual([]);
    const failure = checkAssert(assert!, { object, baseline: () => ({ ...object, a: "other" }), matches });
    expect(failure === undefined || /^Expected /.test(failure.message)).toBe(true);
    return failure === undefined;
  }

  test.each([
    ["equal: { path: map, value: { x: { y: 1 } } }", "equal: { path: map, value: { x: {} } }"],
    ["equal: { path: none, value: null }", "equal: { path: nothing, value: null }"],
    ["equal: { path: 'list[0].k', value: 1 }", "equal: { path: 'list[*].k', value: 1 }"],
    ["notEqual: { path: a, value: x }", "notEqual: { path: a, value: text }"],
    ["notEqual: { path: nothing, value: x }", "notEqual: { path: 'list[*].k', value: 2 }"],
    ["exists: { path: none }", "exists: { path: nothing }"],
    ["notExists: { path: nothing }", "notExists: { path: none }"],
    ["contains: { path: list, content: { k: 2 } }", "contains: { path: list, content: { k: 1 } }"],
    ["contains: { path: list, content: { k: 1 }, any: true }", "contains: { path: list, content: { k: 3 }, any: true }"],
    ["contains: { path: a, content: ex }", "contains: { path: a, content: ax }"],
    ["contains: { path: a, content: t, count: 2 }", "contains: { path: a, content: t, count: 1 }"],
    ["contains: { path: list, content: { k: 9 }, count: 0 }", "contains: { path: a, content: '' }"],
    ["isSubset: { path: map, content: { x: {} } }", "isSubset: { path: map, content: { x: { z: 1 } } }"],
    ["isSubset: { path: map, content: {} }", "isSubset: { path: list, content: {} }"],
    ["matchRegex: { path: a, pattern: '^t' }", "matchRegex: { path: a, pattern: '^x' }"],
    ["matchRegex: { path: a, pattern: '1' }, not: true", "matchRegex: { path: n, pattern: '1' }, not: true"],
    ["lengthEqual: { path: a, count: 1 }, not: true", "lengthEqual: { path: n, count: 1 }, not: true"],
    ["contains: { path: a, content: q }, not: true", "contains: { path: n, content: 1 }, not: true"],
    ["isSubset: { path: map, content: { z: 1 } }, not: true", "isSubset: { path: list, content: { z: 1 } }, not: true"],
    ["lengthEqual: { path: list, count: 2 }", "lengthEqual: { path: list, count: 1 }"],
    ["lengthEqual: { path: map, count: 1 }", "lengthEqual: { path: map, count: 0 }"],
    ["lengthEqual: { path: a, count: 4 }", "lengthEqual: { path: n, count: 1 }"],
    ["isType: { path: a, type: string }", "isType: { path: a, type: object }"],
    ["isType: { path: n, type: number }", "isType: { path: n, type: integer }"],
    ["isType: { path: i, type: integer }", "isType: { path: i, type: string }"],
    ["isType: { path: i, type: number }", "isType: { path: yes, type: number }"],
    ["isType: { path: yes, type: boolean }", "isType: { path: none, type: object }"],
    ["isType: { path: list, type: array }", "isType: { path: list, type: object }"],
    ["isType: { path: map, type: object }", "isType: { path: map, type: array }"],
    ["isType: { path: none, type: 'null' }", "isType: { path: nothing, type: 'null' }"],
    ["isNullOrEmpty: { path: none }", "isNullOrEmpty: { path: a }"],
    ["isNullOrEmpty: { path: nothing }", "isNullOrEmpty: { path: n }"],
    ["isNullOrEmpty: { path: empty }", "isNullOrEmpty: { path: 'list[*]' }"],
    ["unchanged: { except: [a] }", "unchanged: { except: [n] }"],
    ["unchanged: {}, not: true", "unchanged: {}"],
  ])("hold and do not hold: %s | %s", (right, wrong) => {
    expect([holds(`{ ${right} }`), holds(`{ ${wrong} }`)]).toEqual([true, false]);
  });

  test("are the opposite with not, wherever one value is meant", () => {
    const statements = ["equal: { path: a, value: text }", "exists: { path: nothing }", "contains: { path: list, content: 1 }"];
    for (const statement of statements) expect(holds(`{ ${statement}, not: true }`)).toBe(!holds(`{ ${statement} }`));
  });
});

describe("regular expressions", () => {
  test("are bounded: one that backtracks without end is a failure, not a wait", async () => {
    const matches = createRegexMatcher(await createSandbox());
    expect(matches("^(a+)+$", "aaaa")).toBe(true);
    expect(() => matches("^(a+)+$", `${"a".repeat(50)}!`)).toThrow("Cannot match /^(a+)+$/: it takes more than 4000000 steps");
  });

  test.each([["("], ["[z-a]"], ["\\p{Nothing}"], ["a{2,1}"]])("that do not parse have a reason: %s", (pattern) => {
    expect(regexProblem(pattern)).toMatch(/^[^/]+$/);
    expect(regexProblem(`^${pattern.length}$`)).toBeUndefined();
  });
});

describe("files", () => {
  test.each([
    ["tests/web.yaml", "../vcluster.yaml", "vcluster.yaml"],
    ["web.yaml", "a/b.yaml", "a/b.yaml"],
    ["web.yaml", "../a.yaml", "../a.yaml"],
    ["../t/web.yaml", "../../a.yaml", "../../a.yaml"],
    ["/x/web.yaml", "../a.yaml", "/a.yaml"],
    ["tests/web.yaml", "/etc/a.yaml", "/etc/a.yaml"],
    ["tests/web.yaml", "C:\\a.yaml", "C:\\a.yaml"],
    ["./tests/web.yaml", "./a//b.yaml", "tests/a/b.yaml"],
  ])("beside %s, %s is %s", (file, name, expected) => {
    expect(createSuiteFiles(file, () => Promise.resolve("")).resolve(name)).toBe(expected);
  });

  test("are read once", async () => {
    const asked: string[] = [];
    const files = createSuiteFiles("web.yaml", (file) => Promise.resolve(String(asked.push(file))));
    await Promise.all(["a.yaml", "./a.yaml"].map((name) => files.text(name, () => undefined)));
    expect(asked).toEqual(["a.yaml"]);
  });
});

describe("a mocked configuration", () => {
  test("is merged member by member", () => {
    expect(mergeJson({ a: { b: 1, l: [1] }, c: 1 }, { a: { d: 2, l: [] } })).toEqual({ a: { b: 1, d: 2, l: [] }, c: 1 });
  });
});

describe("the JSON schema", () => {
  test("lets an object be a name or an object, and knows every statement", () => {
    const { properties } = PATCH_TEST_JSON_SCHEMA() as { properties: Record<string, Record<string, unknown>> };
    const items = properties["tests"]!["items"] as { properties: Record<string, Record<string, unknown>>; required: string[] };
    expect(items.required).toEqual(["it", "object"]);
    expect(items.properties["object"]!["type"]).toEqual(["string", "object"]);
    expect(JSON.stringify(items.properties["asserts"])).toContain("matchRegex");
  });
});

describe("a suite never throws for what it says", () => {
  const engines = createEngineCache();
  afterAll(() => engines.dispose());
  const texts = fc.constantFrom(
    "metadata",
    "metadata.labels",
    "subsets",
    "subsets[0]",
    "subsets[0].addresses",
    "kind",
    "metadata.annotations.a",
  );

  test("whatever value stands wherever in the object", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.oneof(documents, objects), async (path, value) => {
        const set = JSON.stringify({ [path]: value });
        const text = `patches: [{ path: metadata.annotations.a, expression: value.length }, { path: "subsets[*].addresses[*].ip", expression: value }]
tests: [{ it: t, object: { subsets: [{ addresses: [{ ip: 10.0.0.1 }] }] }, set: ${set}, asserts: [{ unchanged: {} }] }]\n`;
        const { problems, results } = await runText(text, { engines });
        expect(problems.length + results.length).toBe(1);
      }),
      {
        numRuns: 60,
        examples: [
          ["subsets", "x"],
          ["metadata", 1],
          ["subsets", [1]],
        ],
      },
    );
  });
});
