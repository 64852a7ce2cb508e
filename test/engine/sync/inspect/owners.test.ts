/**
 * Which virtual clusters of one name have copies on a host, determined without asking any tenant cluster.
 */
import { expect, test } from "vitest";
import { ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import { groupByOwner } from "../../../../src/engine/sync/inspect/owners.ts";
import type { MarkedCopy } from "../../../../src/engine/sync/inspect/marked-copies.ts";
import type { CopySource } from "../../../../src/engine/translate/markers.ts";
import { createTranslator, type TranslatorOptions } from "../../../../src/engine/translate/translator.ts";

const SOURCE = { vcluster: "blue", kind: "v1/Endpoints", namespace: "team-a", name: "db", uid: "u" };

function copy(hostNamespace: string, said: Partial<CopySource> = {}): MarkedCopy {
  const source: CopySource = { ...SOURCE, hostName: "db", hostNamespace, ...said };
  return { resource: ENDPOINTS, object: { apiVersion: "v1", kind: "Endpoints", metadata: {} }, source };
}

function owners(copies: readonly MarkedCopy[], options: Partial<TranslatorOptions> = {}): string[] {
  const translator = createTranslator({ vcluster: { name: "blue", namespace: "v1" }, ...options });
  const told = groupByOwner(translator, copies);
  return told.map(
    ({ namespace, clusterUid, isOurs, copies: { length } }) => `${namespace} ${clusterUid} ${isOurs ? "ours" : "other"} ${length}`,
  );
}

const MAPPED = { mode: "multi-namespace", mappings: { "team-*": "h-team-*" } } as const;
const C1 = { clusterUid: "c1" };
const C2 = { clusterUid: "c2" };

test.each([
  { why: "no copies", copies: [], want: [] },
  {
    why: "copies that name their namespace",
    copies: [copy("v1", { ...C1, vclusterNamespace: "v1" }), copy("v2", { ...C2, vclusterNamespace: "v2" })],
    want: ["v1 c1 ours 1", "v2 c2 other 1"],
  },
  { why: "old copies in our namespace", copies: [copy("v1", C1), copy("v1", C1)], want: ["v1 c1 ours 2"] },
  { why: "old copies in another namespace", copies: [copy("v2", C2)], want: ["undefined c2 other 1"] },
  {
    why: "old copies of one cluster, of which one is in our namespace",
    copies: [copy("v1", C1), copy("h-team-a", C1)],
    want: ["v1 c1 ours 2"],
  },
  {
    why: "old and new copies of one cluster",
    copies: [copy("h-team-a", C1), copy("h-team-b", { ...C1, vclusterNamespace: "v1" })],
    want: ["v1 c1 ours 2"],
  },
  {
    why: "old copies of a cluster of which another namespace says that it is its own",
    copies: [copy("v1", C2), copy("v2", { ...C2, vclusterNamespace: "v2" })],
    want: ["v2 c2 other 2"],
  },
  { why: "a tenant cluster that was rebuilt", copies: [copy("v1", C1), copy("v1", C2)], want: ["v1 c1 ours 1", "v1 c2 ours 1"] },
  { why: "copies without a cluster", copies: [copy("v1"), copy("v2")], want: ["v1 undefined ours 1", "undefined undefined other 1"] },
  {
    why: "copies without a cluster that name their namespace",
    copies: [copy("h-team-a", { vclusterNamespace: "v1" }), copy("h-team-a", { vclusterNamespace: "v2" })],
    want: ["v1 undefined ours 1", "v2 undefined other 1"],
  },
])("single-namespace mode: $why", ({ copies, want }) => {
  expect(owners(copies)).toEqual(want);
});

test.each([
  { why: "old copies where ours can be", copies: [copy("h-team-a", C1)], want: ["v1 c1 ours 1"] },
  { why: "old copies elsewhere, whatever namespaces are followed", copies: [copy("v2", C2)], want: ["undefined c2 other 1"] },
  {
    why: "old copies of which only some are where ours can be",
    copies: [copy("h-team-a", C2), copy("v2", C2)],
    want: ["undefined c2 other 2"],
  },
])("multi-namespace mode: $why", ({ copies, want }) => {
  expect(owners(copies, MAPPED)).toEqual(want);
});
