import { describe, expect, test } from "vitest";
import { CODES } from "../../src/base/codes.ts";
import { assert, EngineError, isEngineError, messageOf } from "../../src/base/errors.ts";

describe("an EngineError", () => {
  test("carries code, message, details and cause", () => {
    const cause = new Error("socket hang up");
    const error = new EngineError("API_UNAVAILABLE", "Cannot list endpoints", { details: { attempt: 2 }, cause });
    expect(error).toMatchObject({
      name: "EngineError",
      code: "API_UNAVAILABLE",
      message: "Cannot list endpoints",
      details: { attempt: 2 },
    });
    expect(error.cause).toBe(cause);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("EngineError: Cannot list endpoints");
  });

  test("has empty details and no cause by default", () => {
    const error = new EngineError("USAGE", "Unknown command");
    expect(error.details).toEqual({});
    expect("cause" in error).toBe(false);
  });

  test("keeps a cause that is undefined", () => {
    expect("cause" in new EngineError("USAGE", "Unknown command", { cause: undefined })).toBe(true);
  });
});

describe("isEngineError", () => {
  const conflict = new EngineError("API_CONFLICT", "The object changed");
  test.each([
    { error: conflict, codes: [], want: true, why: "any code when none is asked for" },
    { error: conflict, codes: ["API_NOT_FOUND", "API_CONFLICT"], want: true, why: "one of several codes" },
    { error: conflict, codes: ["API_NOT_FOUND"], want: false, why: "another code" },
    { error: new Error("API_CONFLICT"), codes: [], want: false, why: "another error" },
    { error: { name: "EngineError", code: "API_CONFLICT" }, codes: [], want: false, why: "a look-alike" },
    { error: undefined, codes: [], want: false, why: "nothing" },
  ] as const)("says $want for $why", ({ error, codes, want }) => {
    expect(isEngineError(error, ...codes)).toBe(want);
  });
});

describe("messageOf", () => {
  test.each([
    [new EngineError("USAGE", "Unknown command"), "Unknown command"],
    [new TypeError("x is not a function"), "x is not a function"],
    ["a text", "a text"],
    [undefined, "undefined"],
    [Symbol("s"), "Symbol(s)"],
    [{ toString: () => "own text" }, "own text"],
    [Object.create(null), "an object was thrown"],
  ])("of %o is %j", (thrown, want) => {
    expect(messageOf(thrown)).toBe(want);
  });
});

describe("assert", () => {
  test("passes what holds", () => {
    expect(() => assert("text", "a text is there")).not.toThrow();
  });

  test.each([false, 0, "", null, undefined])("throws INTERNAL for %j", (condition) => {
    expect(() => assert(condition, "a key has a name")).toThrow(
      expect.objectContaining({ code: "INTERNAL", message: "Broken invariant: a key has a name" }),
    );
  });
});

describe("the list of codes", () => {
  test.each(Object.entries(CODES))("%s is explained in sentences", (code, { meaning, remedy }) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z].*\.$/s);
  });

  test("says each meaning once", () => {
    const meanings = Object.values(CODES).map(({ meaning }) => meaning);
    expect(new Set(meanings).size).toBe(meanings.length);
  });
});
