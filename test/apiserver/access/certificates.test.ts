import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { bits, explicit, integer, objectId, octets, sequence, derTime, utf8 } from "../../../src/apiserver/access/der.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createSeededChance } from "../seeded-chance.ts";

describe("a server certificate", () => {
  const clock = createFakeClock(Date.UTC(2026, 5, 1));
  const { caPem, certPem, keyPem } = createServerCertificate({ name: "demo", clock, chance: createSeededChance() });
  const [ca, leaf] = [new X509Certificate(caPem), new X509Certificate(certPem)];

  test("is signed by its authority, which signed itself", () => {
    expect([ca.verify(ca.publicKey), leaf.verify(ca.publicKey), leaf.checkIssued(ca)]).toEqual([true, true, true]);
    expect([ca.ca, leaf.ca]).toEqual([true, false]);
    expect([ca.subject, leaf.issuer, leaf.subject]).toEqual(["CN=demo-ca", "CN=demo-ca", "CN=demo-server"]);
  });

  test("belongs to its key", () => {
    expect(leaf.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(createPublicKey(keyPem).asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  });

  test.each(["localhost", "127.0.0.1", "::1"])("holds for %s", (name) => {
    expect(name === "localhost" ? leaf.checkHost(name) : leaf.checkIP(name)).toBe(name);
  });

  test("is not valid for other names", () => {
    expect([leaf.checkHost("example.com"), leaf.checkIP("10.0.0.1")]).toEqual([undefined, undefined]);
  });

  test("is valid from the day before for a year, by the clock that was given", () => {
    expect(new Date(leaf.validFrom).toISOString()).toBe("2026-05-31T00:00:00.000Z");
    expect(new Date(leaf.validTo).toISOString()).toBe("2027-06-01T00:00:00.000Z");
  });

  test("is for servers", () => {
    expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  });

  test("addresses of both families are written as bytes", () => {
    const { certPem: own } = createServerCertificate({
      name: "x",
      clock,
      chance: createSeededChance(),
      addresses: ["2001:db8::12", "10.1.2.3"],
    });
    const certificate = new X509Certificate(own);
    expect([certificate.checkIP("2001:db8::12"), certificate.checkIP("10.1.2.3")]).toEqual(["2001:db8::12", "10.1.2.3"]);
  });
});

describe("DER", () => {
  test.each([
    { what: "an identifier", got: objectId("1.2.840.10045.4.3.2"), want: "06082a8648ce3d040302" },
    { what: "a small integer", got: integer(Buffer.from([2])), want: "020102" },
    { what: "an integer whose first bit is set", got: integer(Buffer.from([0x80])), want: "02020080" },
    { what: "a text", got: utf8("é"), want: "0c02c3a9" },
    { what: "bits", got: bits(Buffer.from([0x06]), 1), want: "03020106" },
    { what: "an empty sequence", got: sequence(), want: "3000" },
    { what: "a numbered place", got: explicit(3, sequence()), want: "a3023000" },
    { what: "a time before 2050", got: derTime(Date.UTC(2026, 0, 2, 3, 4, 5)), want: "170d3236303130323033303430355a" },
    { what: "a time after 2049", got: derTime(Date.UTC(2050, 0, 1)), want: "180f32303530303130313030303030305a" },
    { what: "a long value", got: octets(Buffer.alloc(300)).subarray(0, 4), want: "0482012c" },
  ])("$what", ({ got, want }) => {
    expect(got.toString("hex")).toBe(want);
  });
});
