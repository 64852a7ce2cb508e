import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cidrProblem, isCovered } from "../../../src/engine/config/cidr.ts";
import { parseCidr } from "../../../src/kube/object/endpoints/ip.ts";

describe("cidrProblem", () => {
  test.each([
    "10.0.0.0/8",
    "0.0.0.0/0",
    "10.1.2.3",
    "10.1.2.3/32",
    "::/0",
    "fd00::/8",
    "2001:db8::1",
    "2001:db8::/33",
    "::1/128",
    "1:2:3:4:5:6:7:8",
  ])("accepts %s", (text) => {
    expect(cidrProblem(text)).toBeUndefined();
    expect(parseCidr(text)).toBeDefined();
  });

  test.each([
    { text: "10.1.2.3/8", want: "the network is 10.0.0.0/8" },
    { text: "10.0.0.129/25", want: "the network is 10.0.0.128/25" },
    { text: "10.0.0.1/0", want: "the network is 0.0.0.0/0" },
    { text: "2001:db8::1/33", want: "the network is 2001:db8::/33" },
    { text: "2001:db8:ffff::/33", want: "the network is 2001:db8:8000::/33" },
    { text: "10.0.0.0/33", want: "more than 32" },
    { text: "::/129", want: "more than 128" },
    { text: "10.0.0.0/08", want: "not an address" },
    { text: "10.0.0.0/", want: "not an address" },
    { text: "10.0.0/8", want: "not an address" },
    { text: "010.0.0.0/8", want: "not an address" },
    { text: "0x0a.0.0.0/8", want: "not an address" },
    { text: "10.0.0.256", want: "not an address" },
    { text: "FD00::/8", want: "not an address" },
    { text: "fd00:0::/32", want: "not an address" },
    { text: "::ffff:10.0.0.1", want: "not an address" },
    { text: "fe80::1%eth0", want: "not an address" },
    { text: "1::2::3", want: "not an address" },
    { text: "[::1]", want: "not an address" },
    { text: "", want: "not an address" },
  ])("refuses $text", ({ text, want }) => {
    expect(cidrProblem(text)).toContain(want);
    expect(parseCidr(text)).toBeUndefined();
  });

  test("accepts exactly what address policies understand at run time", () => {
    const group = fc.oneof(fc.constantFrom("0", "1", "ffff", "db8", "00", ""), fc.integer({ min: 0, max: 300 }).map(String));
    const address = fc.oneof(
      fc.array(group, { minLength: 3, maxLength: 5 }).map((parts) => parts.join(".")),
      fc.array(group, { minLength: 2, maxLength: 9 }).map((parts) => parts.join(":")),
      fc.ipV4(),
      fc.ipV6(),
    );
    fc.assert(
      fc.property(address, fc.option(fc.integer({ min: 0, max: 130 })), (text, length) => {
        const cidr = length === null ? text : `${text}/${length}`;
        expect(cidrProblem(cidr) === undefined).toBe(parseCidr(cidr) !== undefined);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("isCovered", () => {
  test.each([
    { by: ["10.0.0.0/8"], want: true },
    { by: ["0.0.0.0/0"], want: true },
    { by: ["10.128.0.0/9", "10.1.0.0/16", "10.0.0.0/9"], want: true },
    { by: ["10.0.0.0/9", "10.128.0.0/10"], want: false },
    { by: ["10.128.0.0/9"], want: false },
    { by: ["11.0.0.0/8", "9.0.0.0/8"], want: false },
    { by: ["::/0"], want: false },
    { by: [], want: false },
  ])("of 10.0.0.0/8 by $by: $want", ({ by, want }) => expect(isCovered("10.0.0.0/8", by)).toBe(want));
});
