/**
 * Comparison with ipaddr.js: which texts are read, as which number and in which spelling, and the IPv4 addresses that IPv6 ones embed.
 */
import * as fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, test } from "vitest";
import { embeddedIpv4, formatIp, parseIp } from "../../../src/kube/object/endpoints/ip.ts";

/** The number that ipaddr.js reads, if the text is the one that it writes for it. */
function oracle(text: string): bigint | undefined {
  if (!ipaddr.isValid(text) || text.includes("%")) return undefined;
  const parsed = ipaddr.parse(text);
  if (parsed.toString() !== text) return undefined;
  return parsed.toByteArray().reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}

function same(text: string): void {
  expect({ text, bits: parseIp(text)?.bits }).toEqual({ text, bits: oracle(text) });
}

const group = fc.oneof(
  fc.constantFrom("0", "0", "1", "ffff", "64", "ff9b", "2002", "00", "0a", "A"),
  fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16)),
);
const octet = fc.oneof(fc.constantFrom("0", "10", "127", "255", "256", "01", "0x7f", ""), fc.nat(255).map(String));
const dotted = fc.array(octet, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("."));
const colons = fc
  .tuple(fc.array(group, { maxLength: 8 }), fc.constantFrom(":", "::"), fc.array(group, { maxLength: 6 }))
  .map(([head, between, tail]) => head.join(":") + between + tail.join(":"));
const near = fc.oneof(
  dotted,
  fc.ipV4(),
  colons,
  fc.ipV6(),
  fc.array(group, { minLength: 7, maxLength: 9 }).map((groups) => groups.join(":")),
  fc.tuple(colons, dotted).map(([head, tail]) => `${head}:${tail}`),
  fc.tuple(colons, fc.constantFrom("%eth0", "/64", " ", "\n")).map((parts) => parts.join("")),
  fc.string(),
);

describe("an address", () => {
  test("is read as ipaddr.js reads it, in the text that ipaddr.js writes, and in no other", () => {
    fc.assert(fc.property(near, same), { numRuns: 12_000 });
  });

  test("has the text that ipaddr.js gives it", () => {
    const bits = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(bits, (groups) => {
        const number = groups.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n);
        expect(formatIp({ family: 6, bits: number })).toBe(new ipaddr.IPv6(groups).toString());
      }),
      { numRuns: 10_000 },
    );
  });

  test.each([
    ...["::ffff:10.0.0.1", "::ffff:a00:1", "::FFFF:a00:1", "::10.0.0.1", "::a00:1", "0:0:0:0:0:ffff:a00:1", "::ffff:0a00:1"],
    ...[
      "64:ff9b::10.0.0.1",
      "64:ff9b::a00:1",
      "064:ff9b::a00:1",
      "2002:a00:1::",
      "2002:a00:1::1%1",
      "[::1]",
      "::1/128",
      "1::",
      "::",
      ":::",
    ],
    ...["10.0.0.1", "10.1", "012.0.0.1", "0xa.0.0.1", "167772161", "10.0.0.1.", ".10.0.0.1", "10.0.0.1/32", "１０.0.0.1", "10.0.0.0x1"],
  ])("%s", same);
});

describe("what an IPv6 address stands for", () => {
  const prefix = fc.constantFrom(
    "::",
    "::ffff:",
    "::ffff:0:",
    "64:ff9b::",
    "64:ff9b:1::",
    "2002:",
    "2001:0:",
    "2001:db8:",
    "fd00::",
    "65:ff9b::",
  );
  const address = fc.tuple(prefix, fc.nat(0xffff), fc.nat(0xffff)).map(([head, high, low]) => {
    const tail = `${high.toString(16)}:${low.toString(16)}`;
    return ipaddr.parse(head.endsWith("::") || head.startsWith("::") ? head + tail : `${head}${tail}::1`).toString();
  });
  const WRAPPING = ["ipv4Mapped", "rfc6145", "rfc6052", "6to4", "teredo"];
  const OTHERS = [ipaddr.parseCIDR("::/96"), ipaddr.parseCIDR("64:ff9b:1::/48")];

  test("is something exactly where ipaddr.js names a range that wraps IPv4", () => {
    fc.assert(
      fc.property(address, (text) => {
        const parsed = ipaddr.parse(text) as ipaddr.IPv6;
        const wraps = WRAPPING.includes(parsed.range()) || OTHERS.some((range) => parsed.match(range));
        expect({ text, wraps: embeddedIpv4(parseIp(text)!).length > 0 }).toEqual({ text, wraps });
        if (parsed.isIPv4MappedAddress()) expect(embeddedIpv4(parseIp(text)!).map(formatIp)).toEqual([parsed.toIPv4Address().toString()]);
      }),
      { numRuns: 10_000 },
    );
  });
});
