import { describe, expect, test } from "vitest";
import { admitAddresses, compileAddressPolicy } from "../../src/reconcile/address-policy.ts";

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
    ["0251.0376.0251.0376", "not an address in canonical text"],
    ["2852039166", "not an address in canonical text"],
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

  test("lets deny beat allow", () => {
    expect(compileAddressPolicy({ ...OPEN, allow: ["10.0.0.0/8"], deny: ["10.9.0.0/16"] }).check("10.9.0.1")).toBe(
      "denied by addressPolicy.deny",
    );
  });
});

describe("admitAddresses", () => {
  const { check } = compileAddressPolicy(OPEN);

  test("drops refused addresses, ready and not, and then empty subsets", () => {
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
