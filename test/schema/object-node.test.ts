import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DOCUMENT_DEPTH_MAX, OBJECT_VALUES_MAX } from "../../src/schema/limits.ts";
import { startOf, toJson } from "../../src/schema/node.ts";
import { objectToNode } from "../../src/schema/object-node.ts";
import { Report } from "../../src/schema/problem.ts";

function read(value: unknown) {
  const report = new Report();
  const node = objectToNode(value, { file: "<object>", report });
  return { node, value: toJson(node), problems: report.problems.map(({ code, field, message }) => `${code} ${field}: ${message}`) };
}

describe("objectToNode", () => {
  test("keeps JSON data as it is, at 0:0", () => {
    const value = { a: [1, "x", null, true], b: { c: 1.5 } };
    expect(read(value)).toMatchObject({ value, problems: [] });
    expect(startOf(read(value).node)).toEqual({ file: "<object>", line: 0, column: 0 });
  });

  test("leaves undefined members out and reads holes of lists as null", () => {
    expect(read({ a: undefined, b: [undefined] }).value).toEqual({ b: [null] });
  });

  test("reads own properties only", () => {
    expect(read(Object.create({ inherited: 1 })).problems).toHaveLength(1);
    expect(read(Object.assign(Object.create(null) as object, { a: 1 }))).toMatchObject({ value: { a: 1 }, problems: [] });
    const hostile = JSON.parse('{"__proto__": {"polluted": 1}}') as unknown;
    expect(Object.getOwnPropertyNames(read(hostile).value)).toEqual(["__proto__"]);
  });

  test.each([
    { value: { a: () => 1 }, want: "CONFIG_TYPE a: Expected JSON data, found a function" },
    { value: { a: [1n] }, want: "CONFIG_TYPE a[0]: Expected JSON data, found a bigint" },
    { value: { a: Number.NaN }, want: "CONFIG_TYPE a: Expected JSON data, found the number NaN" },
    { value: { "b/c": new Date(0) }, want: 'CONFIG_TYPE ["b/c"]: Expected JSON data, found a class instance' },
    { value: new Map(), want: "CONFIG_TYPE : Expected JSON data, found a class instance" },
  ])("refuses what JSON cannot say: $want", ({ value, want }) => {
    expect(read(value).problems).toEqual([want]);
  });

  test("refuses cycles, depth and size", () => {
    const cycle: Record<string, unknown> = {};
    cycle["a"] = { b: cycle };
    expect(read(cycle).problems).toEqual(["CONFIG_SYNTAX a.b: The object contains itself"]);
    const nested = (depth: number) => Array.from({ length: depth }).reduce((inner) => [inner], 1);
    expect(read(nested(DOCUMENT_DEPTH_MAX)).problems).toEqual([]);
    expect(read(nested(DOCUMENT_DEPTH_MAX + 1)).problems).toHaveLength(1);
    let laughs: unknown = Array.from({ length: 100 }, () => 1);
    for (let level = 0; level < 8; level += 1) laughs = Array.from({ length: 10 }, () => laughs);
    expect(read(laughs).problems.at(-1)).toMatch(new RegExp(`more than ${OBJECT_VALUES_MAX} values`));
  });

  test("answers anything without throwing", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withTypedArray: true }),
        (value) => {
          expect(() => read(value)).not.toThrow();
        },
      ),
      { numRuns: 500 },
    );
  });
});
