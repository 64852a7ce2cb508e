import { describe, expect, test } from "vitest";
import { admitAddresses, compileAddressPolicy } from "../../../src/engine/reconcile/rules/address-policy.ts";

const OPEN = { allow: [], deny: [], action: "drop-address" } as const;

describe("compileAddressPolicy", () => {
  test.each([
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["::1", "loopback"],
    ["0.0.0.0", "unspecified"],
    ["::", "unspecified"],
    ["169.254.169.254", "link-local"],
    ["fe80::1", "link-local"],
    ["febf::1", "link-local"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.255", "multicast"],
    ["ff02::1", "multicast"],
    ["255.255.255.255", "broadcast"],
    ["168.63.129.16", "cloud metadata"],
    ["100.100.100.200", "cloud metadata"],
    ["192.0.0.192", "cloud metadata"],
    ["fd00:ec2::254", "cloud metadata"],
    ["0251.0376.0251.0376", "not an address in canonical form"],
    ["2852039166", "not an address in canonical form"],
  ])("always refuses %s as %s, even if it is allowed", (ip, reason) => {
    expect(compileAddressPolicy({ ...OPEN, allow: ["0.0.0.0/0", "::/0"] }).check(ip)).toBe(reason);
  });

  test.each(["10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "100.100.100.201", "168.63.129.17"])(
    "lets %s pass when nothing is configured",
    (ip) => {
      expect(compileAddressPolicy(OPEN).check(ip)).toBeUndefined();
    },
  );

  test("refuses everything outside a non-empty allow list", () => {
    const { check } = compileAddressPolicy({ ...OPEN, allow: ["10.0.0.0/8"] });
    expect([check("10.1.1.1"), check("11.1.1.1"), check("fd00::1")]).toEqual([
      undefined,
      "not in addressPolicy.allow",
      "not in addressPolicy.allow",
    ]);
  });

  test("gives deny precedence over allow", () => {
    expect(compileAddressPolicy({ ...OPEN, allow: ["10.0.0.0/8"], deny: ["10.9.0.0/16"] }).check("10.9.0.1")).toBe(
      "denied by addressPolicy.deny",
    );
  });
});

describe("an IPv6 address that stands for an IPv4 one", () => {
  /** 10.9.9.9, 169.254.169.254 and 100.100.100.200 in every wrapping. */
  const WRAPPED: Record<string, readonly [denied: string, linkLocal: string, metadata: string]> = {
    "IPv4-compatible": ["::a09:909", "::a9fe:a9fe", "::6464:64c8"],
    "IPv4-mapped": ["::ffff:a09:909", "::ffff:a9fe:a9fe", "::ffff:6464:64c8"],
    "IPv4-translated": ["::ffff:0:a09:909", "::ffff:0:a9fe:a9fe", "::ffff:0:6464:64c8"],
    NAT64: ["64:ff9b::a09:909", "64:ff9b::a9fe:a9fe", "64:ff9b::6464:64c8"],
    "NAT64 for local use, /96": ["64:ff9b:1::a09:909", "64:ff9b:1:2:0:3:a9fe:a9fe", "64:ff9b:1::6464:64c8"],
    "NAT64 for local use, /64": ["64:ff9b:1:2:a:909:900:0", "64:ff9b:1:0:a9:fea9:fe00:0", "64:ff9b:1:0:64:6464:c800:0"],
    "NAT64 for local use, /56": ["64:ff9b:1:20a:9:909::", "64:ff9b:1:2a9:fe:a9fe::", "64:ff9b:1:264:64:64c8::"],
    "NAT64 for local use, /48": ["64:ff9b:1:a09:9:900::", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:6464:64:c800::"],
    "6to4": ["2002:a09:909::1", "2002:a9fe:a9fe::", "2002:6464:64c8:1::5"],
    "Teredo, as client": ["2001:0:808:808::f5f6:f6f6", "2001:0:808:808::5601:5601", "2001:0:808:808::9b9b:9b37"],
    "Teredo, as server": ["2001:0:a09:909::f7f7:f7f7", "2001:0:a9fe:a9fe::f7f7:f7f7", "2001:0:6464:64c8::f7f7:f7f7"],
  };

  test.each(Object.entries(WRAPPED))("passes only if both addresses are allowed: %s", (_name, [denied, linkLocal, metadata]) => {
    const { check } = compileAddressPolicy({ ...OPEN, deny: ["10.9.0.0/16"] });
    expect([check(denied), check(linkLocal), check(metadata)]).toEqual([
      "it embeds 10.9.9.9: denied by addressPolicy.deny",
      "it embeds 169.254.169.254: link-local",
      "it embeds 100.100.100.200: cloud metadata",
    ]);
    expect(compileAddressPolicy({ ...OPEN, allow: ["::/0", "10.0.0.0/16"] }).check(denied)).toMatch(/not in addressPolicy.allow$/);
  });

  test.each(["64:ff9b::808:808", "64:ff9b:1::808:808", "2002:808:808::1", "2001:0:808:808::f7f7:f7f7", "2001:db8::a9fe:a9fe"])(
    "lets %s pass, which leads to nothing that is refused",
    (ip) => {
      expect(compileAddressPolicy({ ...OPEN, deny: ["10.9.0.0/16"] }).check(ip)).toBeUndefined();
      expect(compileAddressPolicy({ ...OPEN, allow: ["::/0", "8.0.0.0/8"] }).check(ip)).toBeUndefined();
    },
  );

  test("is allowed by neither of the two alone", () => {
    for (const allow of [["64:ff9b::/96"], ["8.8.8.0/24"]])
      expect(compileAddressPolicy({ ...OPEN, allow }).check("64:ff9b::808:808")).toMatch(/not in addressPolicy.allow$/);
  });
});

describe("admitAddresses", () => {
  const { check } = compileAddressPolicy(OPEN);

  test("drops refused addresses, ready or not, and then empty subsets", () => {
    const subsets = [
      { addresses: [{ ip: "10.0.0.1" }, { ip: "127.0.0.1" }], ports: [{ port: 80 }] },
      { notReadyAddresses: [{ ip: "169.254.169.254" }], ports: [{ port: 81 }] },
    ];
    expect(admitAddresses(subsets, check)).toEqual({
      subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
      refused: [
        { ip: "127.0.0.1", reason: "loopback" },
        { ip: "169.254.169.254", reason: "link-local" },
      ],
    });
  });

  test("gives the same subsets back when nothing is refused", () => {
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }] }];
    expect(admitAddresses(subsets, check).subsets).toBe(subsets);
  });
});
