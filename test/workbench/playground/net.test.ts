/**
 * The browser's `node:net` beside Node's.
 */
import * as net from "node:net";
import { expect, test } from "vitest";
import { BlockList, isIP, isIPv4, isIPv6 } from "../../../src/workbench/playground/browser/net.ts";

test.each([
  ...["10.0.0.1", "255.255.255.255", "256.0.0.1", "010.0.0.1", "1.2.3", "1.2.3.4.", "1.2.3.4.5", "", "a", "0x7f.1"],
  ...[
    "::",
    "::1",
    "fd00::1",
    "FD00:0::1",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7",
    "1::2::3",
    ":::",
    "::ffff:10.0.0.1",
    "::10.0.0.256",
    "[::1]",
    "::1]/",
    "g::1",
  ],
])("%j is what Node says", (text) => {
  expect([isIP(text), isIPv4(text), isIPv6(text)]).toEqual([net.isIP(text), net.isIPv4(text), net.isIPv6(text)]);
});

test("subnets hold what Node's hold", () => {
  const lists = [new BlockList(), new net.BlockList()];
  for (const list of lists) {
    list.addSubnet("127.0.0.0", 8, "ipv4");
    list.addSubnet("fe80::", 10, "ipv6");
    list.addSubnet("::1", 128, "ipv6");
  }
  const addresses = [
    "127.0.0.1",
    "128.0.0.1",
    "fe80::1",
    "febf:ffff::",
    "fec0::",
    "::1",
    "::2",
    "::ffff:127.0.0.1",
    "::ffff:1.2.3.4",
    "1:2:3:4:5:6:7:8",
  ];
  for (const address of addresses) {
    const [ours, theirs] = lists.map((list) => list.check(address, address.includes(":") ? "ipv6" : "ipv4"));
    expect([address, ours]).toEqual([address, theirs]);
  }
});
