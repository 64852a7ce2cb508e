import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { madeFrom, slicesOfCopy } from "../../../src/engine/kinds/made-slices.ts";
import { viewOfEndpoints, viewOfSlices } from "../../../src/kube/object/endpoints/reader-view.ts";
import type { Endpoints, EndpointSlice, EndpointSubset } from "../../../src/kube/object/types.ts";
import { repackSubsets } from "../../../src/kube/object/endpoints/subsets.ts";
import { writeMarkers } from "../../../src/engine/translate/markers.ts";

const PREFIX = "sync.platform/";
const MARKS = writeMarkers(PREFIX, {
  ...{ vcluster: "blue", kind: "v1/Endpoints", namespace: "shop", name: "db", uid: "t1" },
  ...{ hostName: "db-x-shop-x-blue", hostNamespace: "vc-blue", resourceVersion: "12", configHash: "abc", clusterUid: "c1" },
});

function copy(subsets: readonly EndpointSubset[]): Endpoints {
  const labels = { app: "db", "endpointslice.kubernetes.io/skip-mirror": "true", ...MARKS.labels };
  const annotations = {
    "example.com/team": "blue",
    "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z",
    "sync.platform/base": "long",
    ...MARKS.annotations,
  };
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "db-x-shop-x-blue", namespace: "vc-blue", uid: "h1", resourceVersion: "40", labels, annotations },
    subsets,
  };
}

const ips = (count: number, start = 0) =>
  Array.from({ length: count }, (_, index) => ({ ip: `10.0.${(start + index) >> 8}.${(start + index) & 255}` }));
const HTTP = [{ name: "http", port: 80 }];
const make = (subsets: readonly EndpointSubset[], present: readonly EndpointSlice[] = []) => slicesOfCopy(PREFIX, copy(subsets), present);
const addresses = ({ endpoints }: EndpointSlice) => (endpoints ?? []).map((endpoint) => endpoint.addresses?.[0]);

describe("the slices of a copy", () => {
  test("say what it says, under the names of this syncer", () => {
    const subsets = [
      {
        addresses: [{ ip: "10.0.0.1", nodeName: "n1", targetRef: { kind: "Pod", name: "p", uid: "u" } }],
        notReadyAddresses: [{ ip: "10.0.0.2" }],
        ports: HTTP,
      },
    ];
    const [slice, ...others] = make(subsets);
    expect(others).toEqual([]);
    const { kind: _kind, ...marks } = MARKS.annotations;
    const { "sync.platform/object-resource-version": _version, "sync.platform/config-hash": _hash, ...lasting } = marks;
    expect(slice).toEqual({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: expect.stringMatching(/^db-x-shop-x-blue-[0-9a-f]{8}-0$/) as string,
        namespace: "vc-blue",
        labels: {
          app: "db",
          ...MARKS.labels,
          "kubernetes.io/service-name": "db-x-shop-x-blue",
          "endpointslice.kubernetes.io/managed-by": "endpoint-sync.sync.platform",
        },
        annotations: { "example.com/team": "blue", ...lasting },
        ownerReferences: [{ apiVersion: "v1", kind: "Endpoints", name: "db-x-shop-x-blue", uid: "h1", controller: true }],
      },
      addressType: "IPv4",
      endpoints: [
        {
          addresses: ["10.0.0.1"],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: "n1",
          targetRef: { kind: "Pod", name: "p", uid: "u" },
        },
        { addresses: ["10.0.0.2"], conditions: { ready: false, serving: false, terminating: false } },
      ],
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
    });
    expect(madeFrom(PREFIX, slice!)).toMatchObject({
      namespace: "shop",
      name: "db",
      hostName: "db-x-shop-x-blue",
      hostNamespace: "vc-blue",
    });
  });

  test("are known from those that the host mirrors, and from those of other Endpoints", () => {
    const [slice] = make([{ addresses: ips(1), ports: HTTP }]);
    const { metadata } = slice!;
    const mirrored = {
      ...metadata,
      labels: { ...metadata.labels, "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io" },
    };
    expect(madeFrom(PREFIX, { ...slice!, metadata: mirrored })).toBeUndefined();
    expect(madeFrom(PREFIX, { ...slice!, metadata: { ...metadata, name: "db-x-shop-x-blue-x7k2p" } })).toBeUndefined();
    expect(madeFrom("other.platform/", slice!)).toBeUndefined();
    expect(madeFrom(PREFIX, { ...slice!, metadata: { ...metadata, labels: {} } })).toMatchObject({ name: "db" });
  });

  test.each([
    { why: "one for each family", subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], ports: HTTP }], slices: 2 },
    {
      why: "one for each set of ports",
      subsets: [
        { addresses: ips(2), ports: HTTP },
        { addresses: ips(2, 10), ports: [{ port: 90 }] },
      ],
      slices: 2,
    },
    { why: "one without ports", subsets: [{ addresses: ips(2) }], slices: 1 },
    {
      why: "one for two subsets that the server does not merge",
      subsets: [ips(1), ips(1, 5)].map((list) => ({ addresses: list, ports: [{ port: 80, appProtocol: "h2c" }] })),
      slices: 1,
    },
    { why: "one for each hundred", subsets: [{ addresses: ips(201), ports: HTTP }], slices: 3 },
    { why: "all of more than a mirror takes", subsets: [{ addresses: ips(1_001), ports: HTTP }], slices: 11 },
    { why: "none without addresses", subsets: [], slices: 0 },
  ])("are $why", ({ subsets, slices }) => {
    const made = make(subsets);
    expect(made).toHaveLength(slices);
    expect(viewOfSlices(made)).toEqual(viewOfSlices(made.toReversed()));
    expect([...viewOfSlices(made).keys()].sort()).toEqual([...viewOfEndpoints(copy(subsets)).keys()].sort());
  });

  test("change one slice when one address goes or comes", () => {
    const before = make([{ addresses: ips(250), ports: HTTP }]);
    const changed = (after: readonly EndpointSlice[]) =>
      after.filter((slice) => !before.some((known) => JSON.stringify(known) === JSON.stringify(slice)));
    const fewer = make([{ addresses: ips(249, 1), ports: HTTP }], before);
    expect([fewer.length, changed(fewer).length]).toEqual([3, 1]);
    const more = make([{ addresses: ips(251), ports: HTTP }], before);
    expect([more.length, changed(more).length]).toEqual([3, 1]);
    // Who goes leaves room in the slice that changes anyway.
    const other = make([{ addresses: ips(250, 1), ports: HTTP }], before);
    expect([other.length, changed(other).length]).toEqual([3, 1]);
    const notReady = make([{ addresses: ips(249, 1), notReadyAddresses: ips(1), ports: HTTP }], before);
    expect([notReady.length, changed(notReady).length]).toEqual([3, 1]);
  });

  test("keep their names when an earlier slice is gone", () => {
    const before = make([{ addresses: ips(150), ports: HTTP }]);
    const [first, second] = before;
    const after = make([{ addresses: addresses(second!).map((ip) => ({ ip: ip! })), ports: HTTP }], before);
    expect(after).toEqual([second]);
    const again = make([{ addresses: ips(151), ports: HTTP }], after);
    expect(again.map(({ metadata }) => metadata.name).sort()).toEqual([first, second].map((slice) => slice!.metadata.name).sort());
    expect(again.find(({ metadata }) => metadata.name === second!.metadata.name)).toSatisfy((slice: EndpointSlice) =>
      addresses(second!).every((address) => addresses(slice).includes(address)),
    );
  });

  test("leave names to others", () => {
    const before = make([{ addresses: ips(150), ports: HTTP }]);
    const [first, second] = before.map(({ metadata }) => metadata.name!);
    const after = slicesOfCopy(PREFIX, copy([{ addresses: ips(150), ports: HTTP }]), before, (name) => name === first);
    expect(after.map(({ metadata }) => metadata.name)).toEqual([second, `${first!.slice(0, -2)}-2`]);
    expect(viewOfSlices(after)).toEqual(viewOfSlices(before.toReversed()));
  });

  test("have names that an API server takes, however long the name of the Service is", () => {
    const long = `${"a".repeat(62)}.`.repeat(4).slice(0, 253).replace(/[.]$/, "b");
    const named = (name: string) => ({ ...copy([{ addresses: ips(101), ports: HTTP }]), metadata: { ...copy([]).metadata, name } });
    const names = [long, `${long.slice(0, -1)}c`].flatMap((name) =>
      slicesOfCopy(PREFIX, named(name), []).map(({ metadata }) => metadata.name!),
    );
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  });
});

const address = fc.record({
  ip: fc.oneof(
    fc.nat(300).map((n) => `10.0.${n >> 8}.${n & 255}`),
    fc.nat(30).map((n) => `fd00::${(n + 1).toString(16)}`),
  ),
  ...{ targetRef: fc.option(fc.record({ kind: fc.constant("Pod"), uid: fc.constantFrom("u1", "u2") }), { nil: undefined }) },
});
const port = fc.record({ name: fc.constantFrom("a", "b"), port: fc.constantFrom(80, 90), protocol: fc.constantFrom("TCP", "UDP") });
const subset: fc.Arbitrary<EndpointSubset> = fc.record({
  addresses: fc.array(address as fc.Arbitrary<{ ip: string }>, { maxLength: 150 }),
  notReadyAddresses: fc.array(address as fc.Arbitrary<{ ip: string }>, { maxLength: 30 }),
  ports: fc.array(port, { maxLength: 2 }),
});
const subsetLists = fc.array(subset, { maxLength: 3 });

describe("whatever the Endpoints say, and whatever was there before", () => {
  const both = fc.tuple(subsetLists, subsetLists);
  const options = { numRuns: 60 };

  test("a reader sees the same in the slices", () => {
    fc.assert(
      fc.property(both, ([before, now]) => {
        const slices = make(now, make(before));
        // The server packs what it stores, and so does everyone who reads it.
        const packed = make(now, []);
        expect(sorted(viewOfSlices(slices))).toEqual(sorted(viewOfSlices(packed)));
        for (const slice of slices) expect(slice.endpoints!.length).toSatisfy((count: number) => count > 0 && count <= 100);
        expect(new Set(slices.map(({ metadata }) => metadata.name)).size).toBe(slices.length);
      }),
      options,
    );
  });

  test("that is what the stored Endpoints say", () => {
    fc.assert(
      fc.property(subsetLists, (now) => {
        const stored = copy(repackSubsets(now));
        expect(sorted(viewOfSlices(slicesOfCopy(PREFIX, stored, [])))).toEqual(sorted(viewOfEndpoints(stored)));
      }),
      options,
    );
  });

  test("made again, they are the same", () => {
    fc.assert(
      fc.property(both, ([before, now]) => {
        const slices = make(now, make(before));
        expect(make(now, slices.toReversed())).toEqual(slices);
      }),
      options,
    );
  });
});

function sorted(view: ReturnType<typeof viewOfSlices>): string[] {
  return [...view].map(([id, { ready }]) => `${id} ${ready}`).sort();
}
