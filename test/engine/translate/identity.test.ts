/**
 * Whose copy an object is: ours, of an earlier tenant cluster of ours, or of another virtual cluster that may have the same name.
 */
import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { isOurs, ourMarkers, whose, type VClusterIdentity } from "../../../src/engine/translate/identity.ts";
import { writeMarkers, type CopySource } from "../../../src/engine/translate/markers.ts";
import { createTranslator, type TranslatorOptions } from "../../../src/engine/translate/translator.ts";

const PREFIX = "sync.platform/";
const VC = { name: "blue", namespace: "v1" };

/** As version 481069b wrote it: nothing says in which namespace the virtual cluster is. */
const OLD: CopySource = {
  vcluster: "blue",
  kind: "v1/Endpoints",
  namespace: "team-a",
  name: "db",
  uid: "0b7e",
  hostName: "db-x-team-a-x-blue",
  hostNamespace: "v1",
  clusterUid: "c1",
};
const NEW: CopySource = { ...OLD, vclusterNamespace: "v1" };
const { clusterUid: _uid, ...BARE } = OLD;

function identity(known: Partial<VClusterIdentity> = {}, options: Partial<TranslatorOptions> = {}): VClusterIdentity {
  return { translator: createTranslator({ vcluster: VC, ...options }), ...known };
}

const ME = identity({ clusterUid: "c1" });
const BLIND = identity();
const FOLLOWING_ALL = { mode: "multi-namespace", mappings: { "team-*": "h-team-*" } } as const;
const MAPPED = identity({ clusterUid: "c1" }, FOLLOWING_ALL);

describe("a copy of this version", () => {
  test.each([
    { why: "of the same namespace and cluster", source: NEW, want: "ours" },
    { why: "before its writer could see the cluster", source: { ...BARE, vclusterNamespace: "v1" }, want: "ours" },
    { why: "in a namespace that an earlier configuration mapped", source: { ...NEW, hostNamespace: "h-team-a" }, want: "ours" },
    { why: "of another cluster", source: { ...NEW, clusterUid: "c2" }, want: "former" },
    { why: "of another namespace", source: { ...NEW, vclusterNamespace: "v2", clusterUid: "c2", hostNamespace: "v2" }, want: "foreign" },
    { why: "of another namespace that shares the cluster", source: { ...NEW, vclusterNamespace: "v2" }, want: "foreign" },
    { why: "of another namespace, in ours", source: { ...NEW, vclusterNamespace: "v2", clusterUid: "c2" }, want: "foreign" },
    { why: "of another name", source: { ...NEW, vcluster: "red" }, want: "foreign" },
  ] as const)("$why is $want", ({ source, want }) => {
    expect(whose(ME, source)).toBe(want);
    expect(whose(MAPPED, source)).toBe(want);
  });

  test("tells its namespace also to a syncer that cannot see which cluster it serves", () => {
    expect(whose(BLIND, { ...NEW, hostNamespace: "h-team-a" })).toBe("ours");
    expect(whose(BLIND, { ...NEW, vclusterNamespace: "v2" })).toBe("foreign");
  });
});

describe("a copy of an earlier version", () => {
  test.each([
    { why: "from the same cluster", me: ME, source: OLD, want: "ours" },
    { why: "from the same cluster, wherever it is", me: ME, source: { ...OLD, hostNamespace: "h-team-a" }, want: "ours" },
    { why: "from another cluster, in our namespace", me: ME, source: { ...OLD, clusterUid: "c2" }, want: "former" },
    { why: "from another cluster, elsewhere", me: ME, source: { ...OLD, clusterUid: "c2", hostNamespace: "v2" }, want: "foreign" },
    { why: "from another cluster, elsewhere", me: MAPPED, source: { ...OLD, clusterUid: "c2", hostNamespace: "v2" }, want: "foreign" },
    {
      why: "from another cluster, where ours would be",
      me: MAPPED,
      source: { ...OLD, clusterUid: "c2", hostNamespace: "h-team-a" },
      want: "former",
    },
    { why: "from an unknown cluster, in our namespace", me: ME, source: BARE, want: "ours" },
    { why: "from an unknown cluster, elsewhere", me: ME, source: { ...BARE, hostNamespace: "v2" }, want: "foreign" },
    { why: "from an unknown cluster, elsewhere", me: MAPPED, source: { ...BARE, hostNamespace: "v2" }, want: "foreign" },
    { why: "from an unknown cluster, where ours would be", me: MAPPED, source: { ...BARE, hostNamespace: "h-team-a" }, want: "ours" },
    { why: "seen by a syncer that knows no cluster", me: BLIND, source: OLD, want: "ours" },
    { why: "elsewhere, seen by a syncer that knows no cluster", me: BLIND, source: { ...OLD, hostNamespace: "v2" }, want: "foreign" },
  ] as const)("$why is $want", ({ me, source, want }) => {
    expect(whose(me, source)).toBe(want);
  });

  test("in one of the exactly mapped namespaces is in our place", () => {
    const me = identity({}, { mode: "multi-namespace", mappings: { "team-a": "h-a", "team-b": "h-b" } });
    expect(whose(me, { ...BARE, hostNamespace: "h-b" })).toBe("ours");
    expect(whose(me, { ...BARE, hostNamespace: "h-c" })).toBe("foreign");
  });
});

test("copies of an adopted cluster are ours, those of a third one are not", () => {
  const me = identity({ clusterUid: "c3", adoptCluster: "c1" });
  expect([OLD, NEW].map((source) => whose(me, source))).toEqual(["ours", "ours"]);
  expect(whose(me, { ...NEW, clusterUid: "c2" })).toBe("former");
  expect(whose(me, { ...NEW, vclusterNamespace: "v2" })).toBe("foreign");
});

describe("an object is ours", () => {
  const copy = (source: CopySource = NEW): KubeObject => ({
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: source.hostName, namespace: source.hostNamespace, ...writeMarkers(PREFIX, source) },
  });
  const withMetadata = (metadata: KubeObject["metadata"]): KubeObject => ({ ...copy(), metadata: { ...copy().metadata, ...metadata } });

  test("when its markers name the virtual cluster and itself", () => {
    expect(isOurs(ME, copy(), ENDPOINTS)).toBe(true);
    expect(ourMarkers(ME, copy(), ENDPOINTS)).toMatchObject({ namespace: "team-a", name: "db" });
  });

  test.each([
    { object: copy({ ...NEW, vcluster: "green" }), why: "another virtual cluster wrote it" },
    { object: copy({ ...NEW, vclusterNamespace: "v2" }), why: "another virtual cluster of the same name wrote it" },
    { object: copy({ ...NEW, clusterUid: "c2" }), why: "it is from another tenant cluster" },
    { object: withMetadata({ name: "db-x-shop-x-blue-abcde" }), why: "it inherited the markers under another name" },
    { object: withMetadata({ namespace: "elsewhere" }), why: "it was copied into another namespace" },
    { object: copy({ ...NEW, kind: "v1/Service" }), why: "its markers are those of another kind" },
  ])("not when $why", ({ object }) => {
    expect(isOurs(ME, object, ENDPOINTS)).toBe(false);
  });

  test("not when the host mirrored it into a slice of the same name", () => {
    expect(isOurs(ME, { ...copy(), apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" }, ENDPOINT_SLICES)).toBe(false);
  });

  test("also when a list left out its kind", () => {
    expect(isOurs(ME, { metadata: copy().metadata } as unknown as KubeObject, ENDPOINTS)).toBe(true);
  });

  test("when the name of the virtual cluster is too long for a label", () => {
    const name = "v".repeat(80);
    const me: VClusterIdentity = { translator: createTranslator({ vcluster: { ...VC, name } }) };
    expect(isOurs(me, copy({ ...NEW, vcluster: name }), ENDPOINTS)).toBe(true);
  });
});
