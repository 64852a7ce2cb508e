import * as fc from "fast-check";
import { isIP } from "node:net";
import { describe, expect, test } from "vitest";
import { cidrContains, parseCidr, parseIp } from "../../../src/kube/object/endpoints/ip.ts";

describe("parseIp", () => {
  test.each([
    ["10.0.0.1", { family: 4, bits: 0x0a000001n }],
    ["255.255.255.255", { family: 4, bits: 0xffffffffn }],
    ["::", { family: 6, bits: 0n }],
    ["::1", { family: 6, bits: 1n }],
    ["2001:db8::1", { family: 6, bits: 0x20010db8000000000000000000000001n }],
    ["1:0:0:2::3", { family: 6, bits: 0x00010000000000020000000000000003n }],
  ])("reads %s", (text, want) => {
    expect(parseIp(text)).toEqual(want);
  });

  test.each([
    ["", "is empty"],
    ["010.0.0.1", "has a leading zero, which some read as octal"],
    ["10.0.0.256", "has too large a part"],
    ["10.0.1", "has three parts"],
    ["0x7f.1", "is hexadecimal"],
    ["10.0.0.1/32", "is a range"],
    [" 10.0.0.1", "has a space"],
    ["::ffff:169.254.169.254", "hides an IPv4 address"],
    ["::ffff:a9fe:a9fe%eth0", "has a zone"],
    ["2001:DB8::1", "has capitals"],
    ["2001:db8:0:0:0:0:0:1", "is not shortened"],
    ["2001:0db8::1", "has leading zeros"],
    ["1::2::3", "is shortened twice"],
    ["1:2:3:4:5:6:7::", "shortens a single group"],
    ["1:2:3:4:5:6:7:8:9", "has nine groups"],
    [":1", "has a lone colon"],
  ])("refuses %j, which %s", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  test("reads nothing that the platform does not call an address", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), fc.string()), (text) => {
        const address = parseIp(text);
        if (address !== undefined) expect(isIP(text)).toBe(address.family);
      }),
    );
  });

  test("reads every address that the platform prints", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        if (text.includes(".")) return;
        const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        expect(parseIp(canonical), canonical).toBeDefined();
      }),
    );
  });
});

describe("cidrContains", () => {
  test.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["0.0.0.0/0", "200.1.1.1", true],
    ["0.0.0.0/0", "::1", false],
    ["fd00::/8", "fdff::1", true],
    ["2001:db8::/33", "2001:db8:8000::1", false],
    ["10.1.2.3", "10.1.2.3", true],
  ])("%s and %s: %s", (cidr, address, want) => {
    expect(cidrContains(parseCidr(cidr)!, parseIp(address)!)).toBe(want);
  });

  test.each(["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/", "x/8"])("%s is not a range", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });
});
