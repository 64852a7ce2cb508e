import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { decodeObject } from "../../../src/apiserver/types/objects/decode.ts";
import {
  always,
  anything,
  bool,
  bytes,
  int32,
  int64,
  intOrText,
  listOf,
  mapOf,
  microTime,
  objectOf,
  optional,
  text,
  textMap,
  time,
} from "../../../src/schema/builders.ts";

class Refused extends Error {}

const SHAPE = objectOf({
  name: text,
  kept: optional(text),
  shown: always(text),
  count: int32,
  exact: optional(int64),
  assigned: optional({ ...int64, assigned: true }),
  flag: bool,
  tri: optional(bool),
  target: intOrText,
  labels: textMap,
  secret: mapOf(bytes),
  items: listOf(objectOf({ port: always(int32) })),
  nullable: always(listOf(text)),
  at: time,
  exactly: microTime,
  inner: objectOf({ deep: text }),
  free: anything,
});

function read(value: unknown, decoded?: JsonObject) {
  const unknown: string[] = [];
  const object = decodeObject(SHAPE, value, {
    root: "Thing",
    decoded,
    onUnknownField: (path) => unknown.push(path),
    refuse: (why) => {
      throw new Refused(why);
    },
  });
  return { object, unknown };
}

describe("decoding", () => {
  test.each([
    { why: "what always shows is there with its zero value", value: {}, want: { shown: "", nullable: null } },
    { why: "empty values vanish where Go leaves them out", value: { name: "", count: 0, flag: false, labels: {}, items: [] }, want: {} },
    { why: "a zero that was given stays where it means something", value: { kept: "", exact: 0, tri: false }, want: { kept: "", exact: 0, tri: false } }, // prettier-ignore
    { why: "null is absent", value: { name: null, kept: null, labels: null, inner: null }, want: {} },
    { why: "an empty object stays an object", value: { inner: {} }, want: { inner: {} } },
    { why: "null in a map is its zero value", value: { labels: { a: null } }, want: { labels: { a: "" } } },
    { why: "a number or a text", value: { target: "http" }, want: { target: "http" } },
    {
      why: "times are reported in whole seconds and UTC",
      value: { at: "2026-01-02T03:04:05.9+02:00" },
      want: { at: "2026-01-02T01:04:05Z" },
    },
    { why: "exact times keep six digits", value: { exactly: "2026-01-02T03:04:05.5Z" }, want: { exactly: "2026-01-02T03:04:05.500000Z" } },
    { why: "line breaks leave base64", value: { secret: { a: "YW\nJj" } }, want: { secret: { a: "YWJj" } } },
    { why: "list elements are completed", value: { items: [{}, { port: 1 }] }, want: { items: [{ port: 0 }, { port: 1 }] } },
    { why: "a number that the server sets may be any of 64 bits", value: JSON.parse('{"assigned":9223372036854775807}') as object, want: { assigned: 2 ** 63 } }, // prettier-ignore
    { why: "free data is kept as it is", value: { free: { b: [null, { c: 1 }] } }, want: { free: { b: [null, { c: 1 }] } } },
  ])("$why", ({ value, want }) => {
    expect(read(value).object).toEqual({ shown: "", nullable: null, ...want });
  });

  test.each([
    { value: { name: 5 }, want: "json: cannot unmarshal number into Go struct field Thing.name of type string" },
    { value: { count: "5" }, want: "json: cannot unmarshal string into Go struct field Thing.count of type int32" },
    { value: { count: 1.5 }, want: "json: cannot unmarshal number 1.5 into Go struct field Thing.count of type int32" },
    { value: { count: 2 ** 31 }, want: "json: cannot unmarshal number 2147483648 into Go struct field Thing.count of type int32" },
    { value: { flag: "yes" }, want: "json: cannot unmarshal string into Go struct field Thing.flag of type bool" },
    { value: { labels: [] }, want: "json: cannot unmarshal array into Go struct field Thing.labels of type map[string]string" },
    { value: { labels: { a: 1 } }, want: "json: cannot unmarshal number into Go struct field Thing.labels.a of type string" },
    { value: { items: {} }, want: "json: cannot unmarshal object into Go struct field Thing.items of type []object" },
    { value: { items: [{ port: true }] }, want: "json: cannot unmarshal bool into Go struct field Thing.items.port of type int32" },
    { value: { secret: { a: "a?b=" } }, want: "illegal base64 data at input byte 1" },
    { value: { secret: { a: "abc" } }, want: "illegal base64 data at input byte 3" },
    { value: [], want: "json: cannot unmarshal array into Go value of type object" },
  ])("refuses $value", ({ value, want }) => {
    expect(() => read(value)).toThrow(new Refused(want));
  });

  test.each([
    ...["yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00"],
    // Years of five digits and before the first one, which could not be read again.
    ...["9999-12-31T23:59:59-01:00", "+010000-01-01T00:59Z", "0000-01-01T00:00:00+01:00"],
  ])("refuses the time %s", (at) => {
    expect(() => read({ at })).toThrow(/^parsing time/);
    expect(() => read({ exactly: at })).toThrow(/^parsing time/);
  });

  test.each(["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])("reads the time %s", (at) => {
    expect(read({ at }).object).toMatchObject({ at });
  });

  test("unknown fields are dropped and told with their place, inherited names too", () => {
    const value = { odd: 1, inner: { deep: "x", deeper: 1 }, items: [{ port: 1, x: 2 }], toString: 1 };
    const { object, unknown } = read(value);
    expect(unknown).toEqual(["odd", "toString", "items[0].x", "inner.deeper"]);
    expect(object).toEqual({ shown: "", nullable: null, inner: { deep: "x" }, items: [{ port: 1 }] });
  });

  test("free data that is nested too deep is refused, whatever else is", () => {
    let free: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) free = [free];
    expect(() => read({ free })).toThrow(/exceeded max depth/);
  });

  test("the name __proto__ is a name like any other", () => {
    const { object } = read(JSON.parse('{"labels":{"__proto__":"x"},"free":{"__proto__":{"y":1}}}'));
    expect(JSON.stringify(object)).toContain('"labels":{"__proto__":"x"}');
    expect(JSON.stringify(object)).toContain('"free":{"__proto__":{"y":1}}');
  });

  test("what was read before and is still there is taken over, and everything else is read", () => {
    const before = read({ name: "a", labels: { b: "1" }, inner: { deep: "x" }, items: [{ port: 1 }], at: "2026-01-02T03:04:05Z" }).object;
    const { object } = read({ ...before, name: "b", free: { z: 1, y: 2 } }, before);
    expect(JSON.stringify(object)).toBe(JSON.stringify(read({ ...before, name: "b", free: { z: 1, y: 2 } }).object));
    expect(object["labels"]).toBe(before["labels"]);
    expect(object["inner"]).toBe(before["inner"]);
    expect(() => read({ ...before, inner: { deep: 5 } }, before)).toThrow(Refused);
    expect(() => read({ ...before, labels: before["items"] }, before)).toThrow(Refused);
    expect(read({ ...before, inner: { deep: "x", odd: 1 } }, before)).toMatchObject({ unknown: ["inner.odd"] });
  });

  test("maps are sorted, so that equal objects have equal texts", () => {
    const [one, two] = [{ b: "1", a: "2" }, { a: "2", b: "1" }]; // prettier-ignore
    expect(JSON.stringify(read({ labels: one, free: one }).object)).toBe(JSON.stringify(read({ labels: two, free: two }).object));
  });

  test("what was decoded decodes to itself, with the same text", () => {
    const value = fc.record(
      {
        name: fc.string(),
        kept: fc.option(fc.string()),
        count: fc.integer({ min: -10, max: 10 }),
        labels: fc.dictionary(fc.string(), fc.option(fc.string())),
        items: fc.array(fc.record({ port: fc.option(fc.nat(10)) })),
        free: fc.jsonValue({ maxDepth: 3 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(value, (given) => {
        const once = read(given).object;
        expect(JSON.stringify(read(once).object)).toBe(JSON.stringify(once));
        const shuffled = Object.fromEntries(Object.entries(given).reverse());
        expect(JSON.stringify(read(shuffled).object)).toBe(JSON.stringify(once));
      }),
      { numRuns: 500 },
    );
  });
});
