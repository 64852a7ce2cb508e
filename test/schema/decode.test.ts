import * as fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { decode } from "../../src/schema/decode.ts";
import { Report } from "../../src/schema/problem.ts";
import { defaultOf, type Infer, type ObjectSchema, type Schema } from "../../src/schema/schema.ts";
import { readYaml } from "../../src/schema/yaml.ts";

const HOUSE = {
  type: "object",
  description: "A house.",
  fields: {
    name: { type: "string", description: "Its name.", required: true, pattern: "^[a-z]+$", patternHint: "small letters", maxLength: 8 },
    note: { type: "string", description: "A note.", refuseNull: true },
    floors: { type: "integer", description: "How many floors.", default: 1, minimum: 1, maximum: 9 },
    height: { type: "number", description: "Metres.", nullable: true, default: null },
    lit: { type: "boolean", description: "Whether there is light.", default: true },
    style: { type: "literals", description: "Its style.", values: ["plain", "fancy"], default: "plain" },
    tags: { type: "list", description: "Tags.", items: { type: "string", description: "A tag." }, maxItems: 3 },
    rooms: { type: "map", description: "Rooms by name.", values: { type: "integer", description: "Square metres." }, default: {} },
    garden: {
      type: "object",
      description: "Its garden.",
      default: {},
      open: true,
      fields: { trees: { type: "integer", description: "How many trees.", default: 3 }, pond: { type: "any", description: "Anything." } },
    },
  },
} as const satisfies ObjectSchema;

type House = Infer<typeof HOUSE>;

function read(text: string, schema: Schema = HOUSE) {
  const report = new Report();
  const value = decode(schema, readYaml(text, { file: "f", report })!, { report });
  const problems = report.problems.map(({ severity, line, column, code, field, message, hint }) => ({
    what: `${line}:${column} ${severity} ${code} ${field}`,
    message,
    hint,
  }));
  return { value, problems, what: problems.map((problem) => problem.what) };
}

describe("decode", () => {
  test("fills in defaults, at every depth", () => {
    const want = { name: "a", floors: 1, height: null, lit: true, style: "plain", rooms: {}, garden: { trees: 3 } };
    expect(read("name: a\n")).toMatchObject({ value: want, problems: [] });
    expect(defaultOf({ ...HOUSE, default: {} })).toEqual({ ...want, name: undefined });
  });

  test("takes a value by the first of several shapes that fits, and names them all where none does", () => {
    const port: Schema = {
      ...{ type: "either", description: "A port." },
      options: [
        { type: "integer", description: "Its number.", minimum: 1 },
        { type: "string", description: "Its name.", minLength: 1 },
      ],
    };
    expect(read("80\n", port)).toMatchObject({ value: 80, problems: [] });
    expect(read("http\n", port)).toMatchObject({ value: "http", problems: [] });
    expect(read("[80]\n", port).problems).toEqual([
      { what: "1:1 error CONFIG_TYPE ", message: "Expected a whole number or text, found a list", hint: "" },
    ]);
  });

  test("keeps what is written", () => {
    const text =
      "name: b\nnote: x\nfloors: 2\nheight: 3.5\nlit: false\nstyle: fancy\ntags: [t]\nrooms: {hall: 9}\ngarden: {trees: 0, pond: {deep: [1]}, gnome: null}\n";
    expect(read(text).value).toEqual({
      name: "b",
      note: "x",
      floors: 2,
      height: 3.5,
      lit: false,
      style: "fancy",
      tags: ["t"],
      rooms: { hall: 9 },
      garden: { trees: 0, pond: { deep: [1] }, gnome: null },
    });
  });

  test("reads null as absent, but where null is a value or refused", () => {
    expect(read("name: a\nfloors: null\nheight: null\ntags:\ngarden: {pond: null}\n")).toMatchObject({
      value: { floors: 1, height: null, garden: { trees: 3, pond: null } },
      problems: [],
    });
    expect(read("name: a\nnote:\n").problems).toMatchObject([
      { what: "2:1 error CONFIG_TYPE note", message: "Expected text, found nothing", hint: "Write a value, or the text null in quotes" },
    ]);
    expect(read("name:\n").what).toEqual(["1:1 error CONFIG_REQUIRED "]);
  });

  test.each([
    { text: "name: a\nfloors: x\n", want: "2:9 error CONFIG_TYPE floors", message: 'Expected a whole number, found the text "x"' },
    { text: 'name: a\nfloors: "2"\n', want: "2:9 error CONFIG_TYPE floors", hint: "Write the number without quotes" },
    { text: "name: a\nfloors: 1.5\n", want: "2:9 error CONFIG_VALUE floors", message: "Expected a whole number, found 1.5" },
    { text: "name: a\nfloors: 0\n", want: "2:9 error CONFIG_VALUE floors", message: "Expected at least 1, found 0" },
    { text: "name: a\nfloors: 10\n", want: "2:9 error CONFIG_VALUE floors", message: "Expected at most 9, found 10" },
    { text: "name: a\nlit: yes\n", want: "2:6 error CONFIG_TYPE lit", hint: "Write true" },
    { text: "name: a\nlit: Off\n", want: "2:6 error CONFIG_TYPE lit", hint: "Write false" },
    { text: "name: a\nlit: 'true'\n", want: "2:6 error CONFIG_TYPE lit", hint: "Write true without quotes" },
    { text: "name: a\nlit: 1\n", want: "2:6 error CONFIG_TYPE lit", message: "Expected true or false, found 1" },
    { text: "name: 5\n", want: "1:7 error CONFIG_TYPE name", message: "Expected text, found 5", hint: "Write the value in quotes" },
    { text: "name: {a: 1}\n", want: "1:7 error CONFIG_TYPE name", message: "Expected text, found a map" },
    { text: "name: A1\n", want: "1:7 error CONFIG_VALUE name", message: 'Expected small letters, found "A1"' },
    { text: "name: abcdefghi\n", want: "1:7 error CONFIG_VALUE name", message: "Expected at most 8 characters, found 9" },
    { text: "name: a\nstyle: fance\n", want: "2:8 error CONFIG_VALUE style", hint: 'Did you mean "fancy"?' },
    { text: "name: a\nstyle: odd\n", want: "2:8 error CONFIG_VALUE style", message: 'Expected "plain" or "fancy", found "odd"' },
    { text: "name: a\ntags: x\n", want: "2:7 error CONFIG_TYPE tags", message: 'Expected a list, found the text "x"' },
    { text: "name: a\ntags: [a, {}]\n", want: "2:11 error CONFIG_TYPE tags[1]", message: "Expected text, found a map" },
    { text: "name: a\ntags:\n  - a\n  -\n", want: "4:3 error CONFIG_TYPE tags[1]", message: "Expected text, found nothing" },
    { text: "name: a\ntags: [a, b, c, d]\n", want: "2:1 error CONFIG_VALUE tags", message: "Expected at most 3 items, found 4" },
    {
      text: "name: a\nrooms: {hall: big}\n",
      want: "2:15 error CONFIG_TYPE rooms.hall",
      message: 'Expected a whole number, found the text "big"',
    },
    { text: "name: a\nrooms: {hall: }\n", want: "2:9 error CONFIG_TYPE rooms.hall", message: "Expected a whole number, found nothing" },
    { text: "name: a\ngarden: []\n", want: "2:9 error CONFIG_TYPE garden", message: "Expected a map, found a list" },
    { text: "name: a\nflors: 2\n", want: "2:1 error CONFIG_UNKNOWN_FIELD ", hint: 'Did you mean "floors"?' },
    { text: "name: a\n? x y\n: 2\n", want: "2:3 error CONFIG_UNKNOWN_FIELD ", message: 'Unknown field "x y"' },
    { text: "name: a\n__proto__: {lit: false}\n", want: "2:1 error CONFIG_UNKNOWN_FIELD ", message: 'Unknown field "__proto__"' },
    { text: "name: a\ngarden: {treees: 2}\n", want: "2:10 warning CONFIG_UNKNOWN_FIELD garden", hint: 'Did you mean "trees"?' },
    { text: "lit: true\n", want: "1:1 error CONFIG_REQUIRED ", message: 'Missing required field "name"' },
  ])("reports $want", ({ text, want, message, hint }) => {
    const { what, problems } = read(text);
    expect(what).toEqual([want]);
    if (message !== undefined) expect(problems[0]!.message).toBe(message);
    if (hint !== undefined) expect(problems[0]!.hint).toBe(hint);
  });

  test("reports everything at once", () => {
    expect(read("floors: x\nlit: maybe\ntags: [1, 2]\nrooms: {a: b}\n").what).toEqual([
      "1:1 error CONFIG_REQUIRED ",
      "1:9 error CONFIG_TYPE floors",
      "2:6 error CONFIG_TYPE lit",
      "3:8 error CONFIG_TYPE tags[0]",
      "3:11 error CONFIG_TYPE tags[1]",
      "4:12 error CONFIG_TYPE rooms.a",
    ]);
  });

  test("does not report a field as missing that was only misspelt", () => {
    expect(read("nmae: a\n").what).toEqual(["1:1 error CONFIG_UNKNOWN_FIELD "]);
  });

  test("suggests no field that is there already", () => {
    expect(read("name: a\nnamee: b\n").problems[0]!.hint).toMatch(/^Known fields: name, note/);
  });

  test("cuts long values in messages", () => {
    expect(read(`name: a\nlit: ${"x".repeat(10_000)}\n`).problems[0]!.message.length).toBeLessThan(120);
  });

  test("decodes maps without a prototype, so that any key can be looked up", () => {
    const { rooms } = read("name: a\nrooms: {__proto__: 1, constructor: 2}\n").value as House;
    expect(rooms["__proto__"]).toBe(1);
    expect(rooms["constructor"]).toBe(2);
    expect(rooms["toString"]).toBeUndefined();
  });

  test("has the types that the schema says", () => {
    expectTypeOf<House["name"]>().toEqualTypeOf<string>();
    expectTypeOf<House["floors"]>().toEqualTypeOf<number>();
    expectTypeOf<House["height"]>().toEqualTypeOf<number | null>();
    expectTypeOf<House["style"]>().toEqualTypeOf<"plain" | "fancy">();
    expectTypeOf<House["rooms"]>().toEqualTypeOf<Readonly<Record<string, number>>>();
    expectTypeOf<House>().toMatchTypeOf<{ readonly tags?: readonly string[]; readonly garden: { readonly trees: number } }>();
  });

  test("answers any document without throwing, and without errors only with a value", () => {
    const name = fc.constantFrom("name", "note", "floors", "height", "lit", "style", "tags", "rooms", "garden", "nmae", "__proto__");
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue({ maxDepth: 2 })), (document) => {
        const report = new Report();
        const value = decode(HOUSE, readYaml(JSON.stringify(document), { file: "f", report })!, { report });
        if (!report.failed) expect(value).toMatchObject({ floors: expect.any(Number) as number, lit: expect.any(Boolean) as boolean });
        expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      }),
      { numRuns: 500 },
    );
  });
});
