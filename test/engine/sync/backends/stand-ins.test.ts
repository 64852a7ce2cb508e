import { expect, test } from "vitest";
import type { CollectedBackends } from "../../../../src/engine/sync/backends/collect-backends.ts";
import { standInsFor, standInsForMade, standInsForUnknown } from "../../../../src/engine/sync/backends/stand-ins.ts";
import { ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";

const SERVICE = { namespace: "shop", name: "db" };
const HOST_SERVICE = { namespace: "vc", name: "db-x-shop-x-blue" };
const NO_ENDPOINTS = { side: "tenant", resource: ENDPOINTS, key: SERVICE, object: undefined };
const NO_SERVICE = { resource: SERVICES, key: HOST_SERVICE, object: undefined };

const slice = (namespace: string): KubeObject => ({
  ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
  metadata: { namespace, name: "db-a", uid: "a", resourceVersion: "1" },
});

/** What is read before the copy of a slice of the tenant's mirror goes, by what caches have of the Service. */
function readBefore(seen: Partial<CollectedBackends["seen"]>, tenant: KubeObject | undefined) {
  const collected = {
    service: SERVICE,
    hostService: HOST_SERVICE,
    hostKey: HOST_SERVICE,
    copies: [],
    mirrored: [],
    made: [],
    others: [],
    seen,
  };
  const planned = { key: { namespace: "shop", name: "db-a" }, tenant, host: slice("vc") };
  return standInsFor(planned, { copy: undefined, isTaken: false, ...collected } as unknown as CollectedBackends, "none");
}

const UNWANTED = { filled: true, overCapacity: false, families: new Set<string>(), wanted: false, paused: false };

test("the tenant is asked for Endpoints that no cache has, also before the copy of a slice that is gone", () => {
  expect(readBefore({ served: true }, slice("shop"))).toEqual([NO_ENDPOINTS]);
  expect(readBefore({ served: true }, undefined)).toEqual([NO_ENDPOINTS]);
});

test("where its Endpoints are not copied because no cache has a host Service, the host is asked", () => {
  expect(readBefore({ endpoints: UNWANTED, served: false }, slice("shop"))).toEqual([NO_SERVICE]);
  expect(readBefore({ endpoints: UNWANTED, served: true }, slice("shop"))).toEqual([]);
});

test("the same before the copy of a slice that is gone", () => {
  expect(readBefore({ endpoints: UNWANTED, served: false }, undefined)).toEqual([NO_SERVICE]);
});

test("the tenant's Endpoints are read before the copy of a slice that is gone, and what replaces it", () => {
  const at = (address: string) => ({ ...slice("vc"), metadata: { namespace: "vc", name: address }, endpoints: [{ addresses: [address] }] });
  const made = ["10.0.0.1", "10.0.0.2"].map(at);
  const endpoints = { ...slice("shop"), kind: "Endpoints" };
  const read = (tenant: KubeObject | undefined, isComparable: boolean) => {
    const state = { service: SERVICE, isTaken: false, endpoints, made, isComparable, desired: () => made };
    const collected = { ...state, seen: { endpoints: { ...UNWANTED, wanted: true }, served: true } } as unknown as CollectedBackends;
    const planned = { key: { namespace: "shop", name: "db-a" }, tenant, host: at("10.0.0.2") };
    return standInsFor(planned, collected, "made").map(({ side = "host", key }) => `${side} ${key.name}`);
  };
  expect(read(undefined, true)).toEqual(["tenant db", "host 10.0.0.2"]);
  expect(read(slice("shop"), true)).toEqual(["host 10.0.0.2"]);
  // Patches can give each of them any address.
  expect(read(slice("shop"), false)).toEqual(["host 10.0.0.1", "host 10.0.0.2"]);
});

test("slices that were made from a copy go only if the tenant has no Endpoints for it", () => {
  const before = (seen: Partial<CollectedBackends["seen"]>, copy: KubeObject | undefined) =>
    standInsForMade({ service: SERVICE, isTaken: false, seen, copy, copies: [] } as unknown as CollectedBackends, "copies");
  expect(before({}, slice("vc"))).toEqual([NO_ENDPOINTS]);
  expect(before({ endpoints: UNWANTED }, slice("vc"))).toEqual([]);
  expect(before({}, undefined)).toEqual([]);
});

test("the copy of a gone slice of an unknown Service goes only if its host Service has no readers and no Endpoints", () => {
  const noEndpoints = { resource: ENDPOINTS, key: HOST_SERVICE, object: undefined };
  expect(standInsForUnknown(HOST_SERVICE, undefined, undefined)).toEqual([NO_SERVICE, noEndpoints]);
  // What a cache has of others there says all that can be known.
  expect(standInsForUnknown(HOST_SERVICE, slice("vc"), undefined)).toEqual([noEndpoints]);
  expect(standInsForUnknown(HOST_SERVICE, slice("vc"), slice("vc"))).toEqual([]);
});
