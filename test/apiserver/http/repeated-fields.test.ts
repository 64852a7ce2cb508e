import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { REPEATED_FIELDS_MAX, repeatedFields } from "../../../src/apiserver/http/body/repeated-fields.ts";

describe("repeatedFields", () => {
  test.each([
    ['{"a":1,"b":{"a":1}}', []],
    ['{"a":1,"a":2}', ["a"]],
    ['{"a":1,"a":2,"a":3}', ["a", "a"]],
    ['{"data":{"a":"1","b":"2","a":"3"}}', ["data.a"]],
    ['{"list":[{"x":1},{"x":1,"x":2}]}', ["list[1].x"]],
    ['{"list":[[],[{"x":1,"x":2}]]}', ["list[1][0].x"]],
    ['{"a":"\\"a\\":1,","b":"{\\"a\\":1,\\"a\\":2}"}', []],
    ['{"a\\\\":1,"a\\\\":2}', ["a\\"]],
    ['{"\\u0061":1,"a":2}', ["a"]],
    ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
    ["[]", []],
    ['"text"', []],
    ["1", []],
  ])("%s has %j", (text, want) => {
    expect(repeatedFields(text)).toEqual(want);
  });

  test("finds none in what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(repeatedFields(JSON.stringify(JSON.parse(text)))).toEqual([]);
      }),
    );
  });

  test("reports a limited number", () => {
    expect(repeatedFields(`{${Array.from({ length: 500 }, () => '"a":1').join(",")}}`)).toHaveLength(REPEATED_FIELDS_MAX);
  });
});
