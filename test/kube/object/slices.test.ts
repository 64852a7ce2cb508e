import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sliceFingerprint } from "../../../src/kube/object/endpoints/slices.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";

function slice(body: Record<string, unknown>): KubeObject {
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: {}, addressType: "IPv4", ...body };
}

const ONE = { addresses: ["10.0.0.1"], conditions: { ready: true }, hints: { forZones: [{ name: "a" }] }, zone: "a" };
const TWO = { addresses: ["10.0.0.2"], targetRef: { kind: "Pod", namespace: "shop", name: "p" } };

describe("slices say the same", () => {
  test.each([
    { why: "in another order of endpoints", left: { endpoints: [ONE, TWO] }, right: { endpoints: [TWO, ONE] } },
    { why: "in another order of ports", left: { ports: [{ port: 1 }, { port: 2 }] }, right: { ports: [{ port: 2 }, { port: 1 }] } },
    { why: "with null for no endpoints", left: { endpoints: null, ports: null }, right: { endpoints: [], ports: [] } },
    { why: "with defaults filled in", left: { ports: [{ port: 1 }] }, right: { ports: [{ name: "", protocol: "TCP", port: 1 }] } },
    { why: "without empty parts", left: { endpoints: [{ ...TWO, conditions: {}, hints: {}, hostname: "" }] }, right: { endpoints: [TWO] } },
    { why: "but for fields that no server stores", left: { endpoints: [{ ...TWO, more: 1 }] }, right: { endpoints: [TWO] } },
  ])("$why", ({ left, right }) => {
    expect(sliceFingerprint(slice(left))).toBe(sliceFingerprint(slice(right)));
  });
});

describe("slices say something else", () => {
  test.each([
    { why: "with another address type", right: { addressType: "FQDN", endpoints: [ONE] } },
    { why: "with another first address", right: { endpoints: [{ ...ONE, addresses: ["10.0.0.2"] }] } },
    { why: "with the addresses of one endpoint in another order", right: { endpoints: [{ ...ONE, addresses: ["10.0.0.2", "10.0.0.1"] }] } },
    { why: "with another condition", right: { endpoints: [{ ...ONE, conditions: { ready: false } }] } },
    { why: "with another zone", right: { endpoints: [{ ...ONE, zone: "b" }] } },
    { why: "with another hint", right: { endpoints: [{ ...ONE, hints: { forZones: [{ name: "b" }] } }] } },
    { why: "with a hint for nodes", right: { endpoints: [{ ...ONE, hints: { forNodes: [{ name: "a" }] } }] } },
    { why: "with another node", right: { endpoints: [{ ...ONE, nodeName: "n" }] } },
    { why: "with a target", right: { endpoints: [{ ...ONE, targetRef: TWO.targetRef }] } },
    { why: "with the endpoint twice", right: { endpoints: [ONE, ONE] } },
    { why: "with a port for all ports", right: { endpoints: [ONE], ports: [{}] } },
    { why: "with another protocol of the application", right: { endpoints: [ONE], ports: [{ appProtocol: "h2c" }] } },
  ])("$why", ({ right }) => {
    expect(sliceFingerprint(slice({ endpoints: [{ ...ONE, addresses: ["10.0.0.1"] }] }))).not.toBe(sliceFingerprint(slice(right)));
  });
});

test("nothing that an expression can return makes a fingerprint fail", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (addressType, endpoints, ports) => {
      const text = sliceFingerprint(slice({ addressType, endpoints, ports }));
      expect(sliceFingerprint(JSON.parse(JSON.stringify(slice({ addressType, endpoints, ports }))) as KubeObject)).toBe(text);
    }),
    { numRuns: 300 },
  );
});
