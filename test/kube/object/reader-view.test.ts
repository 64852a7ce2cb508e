import { describe, expect, test } from "vitest";
import { viewOfEndpoints, viewOfSlices, type ReaderView } from "../../../src/kube/object/endpoints/reader-view.ts";
import type { Endpoints } from "../../../src/kube/object/types.ts";

const HTTP = { name: "http", protocol: "TCP", port: 80 };
const slice = (addresses: string[], conditions: object | undefined = undefined, ports: object[] | null = [HTTP]) => ({
  addressType: "IPv4",
  endpoints: addresses.map((address) => ({ addresses: [address], ...(conditions && { conditions }) })),
  ports: ports as never,
});
const seen = (view: ReaderView) =>
  [...view.values()].map(({ address, port, ready, serving }) => [address, port?.port ?? "-", ready, serving].join(" "));

describe("a reader of slices", () => {
  test.each([
    { why: "sees nothing in no slice", slices: [], sees: [] },
    { why: "takes what is not said for ready", slices: [slice(["10.0.0.1"])], sees: ["10.0.0.1 80 true true"] },
    {
      why: "takes serving for ready, unless it is said",
      slices: [slice(["10.0.0.1"], { ready: false })],
      sees: ["10.0.0.1 80 false false"],
    },
    {
      why: "knows what serves on its way out",
      slices: [slice(["10.0.0.1"], { ready: false, serving: true, terminating: true })],
      sees: ["10.0.0.1 80 false true"],
    },
    { why: "sees the same in two slices once", slices: [slice(["10.0.0.1"]), slice(["10.0.0.1"])], sees: ["10.0.0.1 80 true true"] },
    {
      why: "sees as ready what one of them says is ready",
      slices: [slice(["10.0.0.1"], { ready: false }), slice(["10.0.0.1"], { ready: true })],
      sees: ["10.0.0.1 80 true true"],
    },
    { why: "sees addresses without ports", slices: [slice(["10.0.0.1"], undefined, null)], sees: ["10.0.0.1 - true true"] },
    { why: "sees nothing in an endpoint without address", slices: [{ ...slice([]), endpoints: [{ addresses: null }] }], sees: [] },
    { why: "sees nothing in lists that are null", slices: [{ addressType: "IPv4", endpoints: null, ports: null }], sees: [] },
  ])("$why", ({ slices, sees }) => {
    expect(seen(viewOfSlices(slices))).toEqual(sees);
  });

  test("sees each address under each port", () => {
    const view = viewOfSlices([slice(["10.0.0.1", "10.0.0.2"], undefined, [HTTP, { name: "metrics", protocol: "TCP", port: 90 }])]);
    expect(view.size).toBe(4);
  });
});

test("Endpoints are seen in the same words", () => {
  const endpoints: Endpoints = {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: {},
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "fd00::1" }], ports: [{ name: "http", port: 80 }] }],
  };
  const same = viewOfSlices([slice(["10.0.0.1"]), { ...slice(["fd00::1"], { ready: false }), addressType: "IPv6" }]);
  expect([...viewOfEndpoints(endpoints)]).toEqual([...same]);
});
