import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createAddressOf } from "../../../src/apiserver/http/client-address.ts";

const PROXIES = ["10.0.0.0/8", "2001:db8::1", "192.0.2.9"];

describe("the address of a client", () => {
  test.each([
    { why: "is that of its connection", from: "203.0.113.7", forwarded: undefined, want: "203.0.113.7" },
    { why: "is not what a client says of itself", from: "203.0.113.7", forwarded: "1.2.3.4", want: "203.0.113.7" },
    { why: "is what a trusted proxy says", from: "10.1.2.3", forwarded: "203.0.113.7", want: "203.0.113.7" },
    {
      why: "is what the nearest proxy saw, whatever comes before",
      from: "10.1.2.3",
      forwarded: "1.2.3.4, 203.0.113.7",
      want: "203.0.113.7",
    },
    { why: "is found behind several proxies", from: "10.1.2.3", forwarded: "203.0.113.7, 192.0.2.9,10.9.9.9", want: "203.0.113.7" },
    {
      why: "is found where addresses of IPv4 are written as of IPv6",
      from: "::ffff:10.1.2.3",
      forwarded: "203.0.113.7",
      want: "203.0.113.7",
    },
    { why: "is found behind a proxy of IPv6", from: "2001:db8::1", forwarded: "2001:db8::2", want: "2001:db8::2" },
    { why: "is the proxy's where it says nothing", from: "10.1.2.3", forwarded: undefined, want: "10.1.2.3" },
    { why: "is the proxy's where it says nothing that can be read", from: "10.1.2.3", forwarded: "somewhere", want: "10.1.2.3" },
  ])("$why", ({ from, forwarded, want }) => {
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    expect(createAddressOf(PROXIES)({ headers, socket: { remoteAddress: from } as Socket })).toBe(want);
  });

  test.each(["10.0.0.0/33", "somewhere", "10.0.0/8", ""])("of a proxy cannot be %j", (text) => {
    expect(() => createAddressOf([text])).toThrow();
  });
});
