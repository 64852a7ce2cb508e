import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { formatKind, isMarkerKey, readMarkers, writeMarkers, type CopySource } from "../../../src/engine/translate/markers.ts";

const PREFIX = "sync.platform/";
const source: CopySource = {
  vcluster: "blue",
  kind: "v1/Endpoints",
  namespace: "shop",
  name: "db",
  uid: "0b7e",
  hostName: "db-x-shop-x-blue",
  hostNamespace: "vc-blue",
  vclusterNamespace: "vc-blue",
  clusterUid: "c1",
  resourceVersion: "42",
  configHash: "f00",
};

function copy(from: CopySource = source, resource = ENDPOINTS): KubeObject {
  const { apiVersion, kind } = resource;
  return { apiVersion, kind, metadata: { name: from.hostName, namespace: from.hostNamespace, ...writeMarkers(PREFIX, from) } };
}

function withMetadata(object: KubeObject, metadata: Partial<KubeObject["metadata"]>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

function without(map: Readonly<Record<string, string>>, key: string): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([other]) => other !== key));
}

describe("markers", () => {
  test("say everything about the source", () => {
    expect(writeMarkers(PREFIX, source)).toEqual({
      labels: { "sync.platform/managed-by": "blue", "sync.platform/namespace": "shop" },
      annotations: {
        "sync.platform/vcluster": "blue",
        "sync.platform/object-kind": "v1/Endpoints",
        "sync.platform/object-namespace": "shop",
        "sync.platform/object-name": "db",
        "sync.platform/object-uid": "0b7e",
        "sync.platform/object-host-name": "db-x-shop-x-blue",
        "sync.platform/object-host-namespace": "vc-blue",
        "sync.platform/vcluster-namespace": "vc-blue",
        "sync.platform/cluster-uid": "c1",
        "sync.platform/object-resource-version": "42",
        "sync.platform/config-hash": "f00",
      },
    });
  });

  test("are read back as they were written, whatever they say", () => {
    const text = fc.string({ minLength: 1, maxLength: 80 });
    const sources = fc.record(
      {
        vcluster: text,
        kind: text,
        namespace: fc.string({ maxLength: 63 }),
        name: text,
        uid: fc.string(),
        hostName: text,
        hostNamespace: text,
        vclusterNamespace: text,
        clusterUid: text,
        resourceVersion: text,
        configHash: text,
      },
      { requiredKeys: ["vcluster", "kind", "namespace", "name", "uid", "hostName", "hostNamespace"] },
    );
    fc.assert(
      fc.property(sources, (written) => {
        expect(readMarkers(PREFIX, copy(written))).toEqual(written);
      }),
    );
  });

  test("shorten a long name of the virtual cluster in the label only", () => {
    const long = copy({ ...source, vcluster: "v".repeat(80) });
    expect(long.metadata.labels!["sync.platform/managed-by"]).toMatch(/^v{52}-[0-9a-f]{10}$/);
    expect(readMarkers(PREFIX, long)?.vcluster).toBe("v".repeat(80));
  });

  const REQUIRED = [
    "vcluster",
    "object-kind",
    "object-namespace",
    "object-name",
    "object-uid",
    "object-host-name",
    "object-host-namespace",
  ];
  test.each(REQUIRED)("say nothing without annotation %s", (key) => {
    const object = copy();
    expect(readMarkers(PREFIX, withMetadata(object, { annotations: without(object.metadata.annotations!, PREFIX + key) }))).toBeUndefined();
  });

  test.each(["managed-by", "namespace"])("say nothing without label %s, or when it disagrees", (key) => {
    const object = copy();
    const labels = object.metadata.labels!;
    expect(readMarkers(PREFIX, withMetadata(object, { labels: without(labels, PREFIX + key) }))).toBeUndefined();
    expect(readMarkers(PREFIX, withMetadata(object, { labels: { ...labels, [PREFIX + key]: "other" } }))).toBeUndefined();
  });

  test("below another prefix are not read", () => {
    expect(readMarkers("other.example/", copy())).toBeUndefined();
  });

  test("of a nameless source say nothing", () => {
    expect(readMarkers(PREFIX, copy({ ...source, name: "" }))).toBeUndefined();
  });

  test("of an object without metadata maps are not there", () => {
    expect(readMarkers(PREFIX, { apiVersion: "v1", kind: "Endpoints", metadata: {} })).toBeUndefined();
  });
});

describe("a key is a marker", () => {
  test.each([
    { key: "sync.platform/managed-by", want: true },
    { key: "sync.platform/object-uid", want: true },
    { key: "sync.platform/anything-new", want: true },
    { key: "sync.platform/label-blue-x-a4d451ec23", want: false },
    { key: "sync.platform", want: false },
    { key: "not-sync.platform/managed-by", want: false },
    { key: "app", want: false },
  ])("$key: $want", ({ key, want }) => {
    expect(isMarkerKey(PREFIX, key)).toBe(want);
  });

  test("whenever writeMarkers writes it", () => {
    const { labels, annotations } = writeMarkers(PREFIX, source);
    expect([...Object.keys(labels), ...Object.keys(annotations)].every((key) => isMarkerKey(PREFIX, key))).toBe(true);
  });
});

test("a kind is written with its apiVersion", () => {
  expect([formatKind(ENDPOINTS), formatKind(ENDPOINT_SLICES)]).toEqual(["v1/Endpoints", "discovery.k8s.io/v1/EndpointSlice"]);
});
