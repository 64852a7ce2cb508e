import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../src/base/json.ts";
import { repackSubsets, subsetsFingerprint } from "../../../src/kube/object/endpoints/subsets.ts";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../../src/kube/object/types.ts";
import { inOrder, storedSubsets, subsets, turned } from "./subsets-model.ts";

const runs = { numRuns: 500 };
const pod = (ip: string, uid: string, more: Partial<EndpointAddress> = {}): EndpointAddress => ({
  ip,
  targetRef: { kind: "Pod", namespace: "shop", name: `web-${uid}`, uid },
  ...more,
});
const a = pod("10.0.0.1", "u1");
const b = pod("10.0.0.2", "u2");
const http: EndpointPort = { name: "web", port: 80, protocol: "TCP" };
const tls: EndpointPort = { name: "tls", port: 443, protocol: "TCP" };
const grpc: EndpointPort = { name: "rpc", port: 90, protocol: "TCP", appProtocol: "grpc" };

describe("repackSubsets", () => {
  test.each<{ given: EndpointSubset[]; want: EndpointSubset[]; why: string }>([
    { given: [], want: [], why: "nothing stays nothing" },
    { given: [{ ports: [http] }], want: [], why: "ports without addresses vanish" },
    { given: [{ addresses: [a] }], want: [{ addresses: [a] }], why: "addresses without ports stay" },
    {
      given: [{ addresses: [a], ports: [{ port: 80 }] }],
      want: [{ addresses: [a], ports: [{ port: 80, protocol: "TCP" }] }],
      why: "the protocol is TCP",
    },
    {
      given: [
        { addresses: [b], ports: [http] },
        { addresses: [a], ports: [http] },
      ],
      want: [{ addresses: [a, b], ports: [http] }],
      why: "one port collects its addresses from all subsets",
    },
    {
      given: [
        { addresses: [a], ports: [tls] },
        { addresses: [a], ports: [http] },
      ],
      want: [{ addresses: [a], ports: [tls, http].toSorted((left, right) => right.port - left.port) }],
      why: "ports with the same addresses share a subset",
    },
    {
      given: [{ addresses: [a, b], notReadyAddresses: [b], ports: [http] }],
      want: [{ addresses: [a], notReadyAddresses: [b], ports: [http] }],
      why: "not ready wins within a subset",
    },
    {
      given: [
        { notReadyAddresses: [a], ports: [http] },
        { addresses: [a], ports: [http] },
      ],
      want: [{ notReadyAddresses: [a], ports: [http] }],
      why: "not ready wins over a later subset as well",
    },
    {
      given: [
        { notReadyAddresses: [a], ports: [http] },
        { addresses: [a], ports: [tls] },
      ],
      want: [
        { addresses: [a], ports: [tls] },
        { notReadyAddresses: [a], ports: [http] },
      ],
      why: "readiness is a matter of one port",
    },
    {
      given: [{ addresses: [pod("10.0.0.1", "u2"), pod("10.0.0.1", "u1")], ports: [http] }],
      want: [{ addresses: [pod("10.0.0.1", "u1"), pod("10.0.0.1", "u2")], ports: [http] }],
      why: "two Pods may share an IP, on the host network for example",
    },
    {
      given: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.1", targetRef: { kind: "Pod", name: "web-u2" } }], ports: [http] }],
      want: [{ addresses: [{ ip: "10.0.0.1" }], ports: [http] }],
      why: "without their uids they are one address",
    },
    {
      given: [
        { addresses: [pod("10.0.0.1", "u1", { nodeName: "n1" })], ports: [http] },
        { addresses: [pod("10.0.0.1", "u1", { nodeName: "n2" })], ports: [tls] },
      ],
      want: [{ addresses: [pod("10.0.0.1", "u1", { nodeName: "n1" })], ports: [tls, http] }],
      why: "the first spelling of an address replaces the others, at other ports too",
    },
    {
      given: [{ addresses: [a] }, { addresses: [a], ports: [http] }],
      want: [{ addresses: [a], ports: [http] }],
      why: "addresses without ports vanish beside a port that has exactly them",
    },
    {
      given: [{ addresses: [a] }, { addresses: [a, b], ports: [http] }],
      want: [{ addresses: [a] }, { addresses: [a, b], ports: [http] }],
      why: "and stay beside a port that has others",
    },
    {
      given: [
        { addresses: [a], ports: [grpc] },
        { addresses: [b], ports: [grpc] },
      ],
      want: [
        { addresses: [a], ports: [grpc] },
        { addresses: [b], ports: [grpc] },
      ],
      why: "a port with an appProtocol does not merge with its like",
    },
    {
      given: [
        { addresses: [a], ports: [grpc] },
        { notReadyAddresses: [a], ports: [grpc] },
      ],
      want: [
        { addresses: [a], ports: [grpc] },
        { notReadyAddresses: [a], ports: [grpc] },
      ],
      why: "so that an address can be ready and not ready for it",
    },
  ])("$why", ({ given, want }) => {
    expect(inOrder(repackSubsets(given))).toEqual(inOrder(want));
  });

  test("sorts addresses by IP, then uid", () => {
    const addresses = ["10.0.0.2", "10.0.0.10", "10.0.0.1"].flatMap((ip) => [pod(ip, "u2"), pod(ip, "u1")]);
    const [subset] = repackSubsets([{ addresses, ports: [http] }]);
    const want = ["10.0.0.1", "10.0.0.10", "10.0.0.2"].flatMap((ip) => [pod(ip, "u1"), pod(ip, "u2")]);
    expect(subset!.addresses).toEqual(want);
  });

  test("stores what the server stores", () => {
    fc.assert(
      fc.property(subsets({ vary: true }), (given) => {
        expect(inOrder(repackSubsets(given))).toEqual(storedSubsets(given));
      }),
      runs,
    );
  });

  test("leaves alone what is packed already", () => {
    fc.assert(
      fc.property(subsets({ vary: true }), fc.nat(5), (given, turn) => {
        const packed = repackSubsets(given);
        expect(repackSubsets(packed)).toEqual(packed);
        expect(repackSubsets(turned(packed, turn))).toEqual(packed);
      }),
      runs,
    );
  });

  test("does not touch what it is given", () => {
    fc.assert(
      fc.property(subsets({ vary: true }), (given) => {
        const before = structuredClone(given);
        repackSubsets(given);
        subsetsFingerprint(given);
        expect(given).toEqual(before);
      }),
    );
  });
});

describe("subsetsFingerprint", () => {
  test("is equal exactly if the server stores the same", () => {
    // The same port twice beside the same addresses is stored twice, and says no more than once.
    const meaning = (given: EndpointSubset[]) =>
      canonicalJson(storedSubsets(given).map((subset) => ({ ...subset, ports: [...new Set(subset.ports?.map(canonicalJson))] })));
    // Pairs that are near each other, since two random ones hardly ever say the same.
    const near = fc.tuple(subsets({ vary: true }), subsets({ vary: true }), fc.nat(4)).map(([left, other, how]) => {
      const rights = [other, left.slice(1), [...left, ...other.slice(0, 1)], [...other.slice(0, 1), ...left], turned(left, 1)];
      return { left, right: rights[how]! };
    });
    fc.assert(
      fc.property(near, ({ left, right }) => {
        expect(subsetsFingerprint(left) === subsetsFingerprint(right)).toBe(meaning(left) === meaning(right));
      }),
      { numRuns: 1_000 },
    );
  });

  test("of what was written is that of what is read back", () => {
    fc.assert(
      fc.property(subsets({ vary: true }), fc.nat(5), (given, turn) => {
        expect(subsetsFingerprint(turned(storedSubsets(given), turn))).toBe(subsetsFingerprint(given));
        expect(subsetsFingerprint(repackSubsets(given))).toBe(subsetsFingerprint(given));
      }),
      runs,
    );
  });

  test("does not depend on order where each address has one spelling", () => {
    fc.assert(
      fc.property(subsets({ vary: false }), fc.nat(5), (given, turn) => {
        expect(subsetsFingerprint(turned(given, turn))).toBe(subsetsFingerprint(given));
      }),
      runs,
    );
  });

  test("does not depend on the grouping of ports without appProtocol", () => {
    fc.assert(
      fc.property(subsets({ vary: false, appProtocol: false }), (given) => {
        const apart = given.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }): EndpointSubset[] =>
          (ports.length === 0 ? [[]] : ports.map((port) => [port])).flatMap((one) => [
            ...addresses.map((address) => ({ addresses: [address], ports: one })),
            ...notReadyAddresses.map((address) => ({ notReadyAddresses: [address], ports: one })),
          ]),
        );
        expect(subsetsFingerprint(apart)).toBe(subsetsFingerprint(given));
      }),
      runs,
    );
  });

  test("does not change when uids are cleared from addresses that have an IP of their own", () => {
    const clear = ({ targetRef, ...rest }: EndpointAddress) => ({ ...rest, targetRef: { kind: "Pod", name: targetRef!.name! } });
    const given = [{ addresses: [a, b, pod("10.0.0.1", "u3")], ports: [http] }];
    const cleared = given.map((subset) => ({ ...subset, addresses: subset.addresses.map(clear) }));
    expect(subsetsFingerprint(cleared)).toBe(subsetsFingerprint([{ addresses: [clear(a), clear(b)], ports: [http] }]));
  });

  const full: EndpointAddress = {
    ip: "10.0.0.1",
    hostname: "db-0",
    nodeName: "node-a",
    targetRef: { kind: "Pod", namespace: "shop", name: "db-0", uid: "u", apiVersion: "v1", resourceVersion: "7", fieldPath: "spec" },
  };
  const fullPort: EndpointPort = { name: "web", port: 80, protocol: "TCP", appProtocol: "http" };
  const withAddress = (change: object) => [{ addresses: [{ ...full, ...change }], ports: [fullPort] }] as EndpointSubset[];
  const withTarget = (change: object) => withAddress({ targetRef: { ...full.targetRef, ...change } });
  const withPort = (change: object) => [{ addresses: [full], ports: [{ ...fullPort, ...change }] }] as EndpointSubset[];
  const base = withAddress({});

  test.each([
    ...(["ip", "hostname", "nodeName"] as const).map((field) => ({ field, changed: withAddress({ [field]: "other" }) })),
    ...Object.keys(full.targetRef!).map((field) => ({ field: `targetRef.${field}`, changed: withTarget({ [field]: "other" }) })),
    { field: "targetRef", changed: withAddress({ targetRef: undefined }) },
    ...(["name", "protocol", "appProtocol"] as const).map((field) => ({ field, changed: withPort({ [field]: "other" }) })),
    { field: "port", changed: withPort({ port: 81 }) },
    { field: "the type of port", changed: withPort({ port: "80" }) },
    { field: "readiness", changed: [{ notReadyAddresses: [full], ports: [fullPort] }] },
    { field: "the presence of ports", changed: [{ addresses: [full] }] },
    { field: "the presence of addresses", changed: [] },
  ])("shows a change of $field", ({ changed }) => {
    expect(subsetsFingerprint(changed)).not.toBe(subsetsFingerprint(base));
  });

  test.each<{ left: EndpointSubset[] | null | undefined; right: unknown; why: string }>([
    { left: null, right: undefined, why: "null subsets are absent ones" },
    { left: [], right: undefined, why: "no subsets are absent ones" },
    { left: [], right: [{}, { addresses: [], ports: [http] }, { addresses: null }], why: "a subset without addresses says nothing" },
    { left: [{ addresses: [a] }], right: [{ addresses: [a], notReadyAddresses: null, ports: null }], why: "null lists are absent ones" },
    {
      left: [{ addresses: [a] }],
      right: [{ addresses: [{ ...a, hostname: "", nodeName: null }] }],
      why: "empty and null fields are absent ones",
    },
    {
      left: [{ addresses: [{ ip: "10.0.0.1" }] }],
      right: [{ addresses: [{ ip: "10.0.0.1", targetRef: null }] }],
      why: "a null targetRef is absent",
    },
    {
      left: [{ addresses: [a], ports: [{ port: 80 }] }],
      right: [{ addresses: [a], ports: [{ port: 80, protocol: "TCP", name: "" }] }],
      why: "an empty port name is absent",
    },
    {
      left: [{ addresses: [a], ports: [{ port: 80 }] }],
      right: [{ addresses: [a], ports: [{ port: 80, protocol: "" }] }],
      why: "an empty protocol is TCP",
    },
    {
      left: [{ addresses: [a] }],
      right: [{ addresses: [{ ...a, zone: "z" }], extra: 1 }],
      why: "fields that the API does not know do not count",
    },
    {
      left: [{ addresses: [a], ports: [grpc] }],
      right: [{ addresses: [a], ports: [grpc, grpc] }],
      why: "the same port twice says it once",
    },
  ])("sees no difference: $why", ({ left, right }) => {
    expect(subsetsFingerprint(left)).toBe(subsetsFingerprint(right as EndpointSubset[]));
  });

  test("keeps fields apart whose texts run into each other", () => {
    const texts = ["", "a", "1:a", " ", "\n", "a b", "2:"];
    const all = texts.flatMap((name) => texts.flatMap((uid) => texts.map((namespace) => withTarget({ name, uid, namespace }))));
    expect(new Set(all.map(subsetsFingerprint)).size).toBe(texts.length ** 3);
  });
});

describe("shapes that no server stores", () => {
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(undefined, [null], [undefined], [[]]));
  const oddAddress = fc.oneof(odd, fc.record({ ip: odd, hostname: odd, nodeName: odd, targetRef: odd }, { requiredKeys: [] }));
  const oddPort = fc.oneof(odd, fc.record({ port: odd, name: odd, protocol: odd, appProtocol: odd }, { requiredKeys: [] }));
  const oddList = (item: fc.Arbitrary<unknown>) => fc.oneof(fc.array(item, { maxLength: 3 }), odd);
  const oddSubset = fc.oneof(
    odd,
    fc.record({ addresses: oddList(oddAddress), notReadyAddresses: oddList(oddAddress), ports: oddList(oddPort) }, { requiredKeys: [] }),
  );

  test("never throw, and pack like others", () => {
    fc.assert(
      fc.property(oddList(oddSubset), (given) => {
        const hostile = given as EndpointSubset[];
        const packed = repackSubsets(hostile);
        expect(subsetsFingerprint(packed)).toBe(subsetsFingerprint(hostile));
        expect(repackSubsets(packed)).toEqual(packed);
      }),
      { numRuns: 1_000 },
    );
  });

  const good = { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] };
  test.each<{ given: unknown; why: string }>([
    { given: [{ ...good, addresses: [{}] }], why: "an address without IP" },
    { given: [{ ...good, addresses: [null] }], why: "a null address" },
    { given: [{ ...good, addresses: ["10.0.0.1"] }], why: "a text in place of an address" },
    { given: [{ ...good, addresses: { ip: "10.0.0.1" } }], why: "an address in place of a list" },
    { given: [{ ...good, addresses: [{ ip: ["10.0.0.1"] }] }], why: "a list in place of an IP" },
    { given: [{ ...good, addresses: [{ ip: { toString: 1 } }] }], why: "an object in place of an IP" },
    { given: [{ ...good, addresses: [{ ip: "10.0.0.1", targetRef: "u" }] }], why: "a text in place of a targetRef" },
    { given: [{ ...good, ports: [null] }], why: "a null port" },
    { given: [{ ...good, ports: 80 }], why: "a number in place of ports" },
    { given: [{ ...good, ports: { port: 80 } }], why: "a port in place of ports" },
    { given: [{ ...good, ports: [{ port: "80" }] }], why: "a text in place of a port number" },
    { given: [{ ...good, ports: [{ port: 80, name: [] }] }], why: "a list in place of a name" },
    { given: good, why: "a subset in place of a list" },
  ])("do not pass for the stored one: $why", ({ given }) => {
    expect(subsetsFingerprint(given as EndpointSubset[])).not.toBe(subsetsFingerprint([good]));
    expect(() => repackSubsets(given as EndpointSubset[])).not.toThrow();
  });
});
