import { describe, expect, test } from "vitest";
import type { ObjectMeta } from "../../../src/kube/object/types.ts";
import {
  generatedName,
  parseRevision,
  timestamp,
  validateMetadata,
  validateMetadataUpdate,
  withUniqueOwners,
} from "../../../src/apiserver/types/objects/metadata.ts";
import {
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  dataKey,
  labelValue,
  pathSegment,
  qualifiedName,
} from "../../../src/apiserver/types/objects/names.ts";

describe("names", () => {
  test.each([
    { rule: dnsSubdomain, good: ["a", "a-b", "a.b", "1.2", "a".repeat(253)], bad: ["", "A", "-a", "a-", "a..b", "a_b", "a.-b", "ä", "a".repeat(254), "a\n"] }, // prettier-ignore
    { rule: dnsLabel, good: ["a", "1a", "a".repeat(63)], bad: ["", "a.b", "a-", "a".repeat(64)] },
    { rule: dns1035Label, good: ["a", "a-1"], bad: ["1a", "a.b", "A"] },
    { rule: labelValue, good: ["", "a", "A_b.c-d", "a".repeat(63)], bad: ["-a", "a b", "a/b", "a".repeat(64)] },
    { rule: qualifiedName, good: ["a", "A_b", "example.com/a", "a.b/c"], bad: ["", "/a", "a/", "a/b/c", "A.com/b", "-a", `${"a".repeat(254)}/b`, "a".repeat(64)] }, // prettier-ignore
    { rule: dataKey, good: ["a", ".a", "a..b", "A_b-c"], bad: ["", ".", "..", "..a", "a/b", "a b", "a".repeat(254)] },
    { rule: pathSegment, good: ["a", "a:b", "A B"], bad: [".", "..", "a/b", "a%b"] },
  ])("hold to the rules of Kubernetes: $good", ({ rule, good, bad }) => {
    expect(good.filter((text) => rule(text).length > 0)).toEqual([]);
    expect(bad.filter((text) => rule(text).length === 0)).toEqual([]);
  });

  test("hostile length is refused without a search through it", () => {
    expect(dnsSubdomain("a-".repeat(1_000_000))).toHaveLength(2);
  });

  test("generated names take 58 bytes of their base and letters that make no words", () => {
    expect(generatedName("web-", () => 0)).toBe("web-bbbbb");
    expect(generatedName("x".repeat(80), () => 0.999_999)).toBe(`${"x".repeat(58)}99999`);
  });
});

describe("metadata", () => {
  const rules = { namespaced: true, nameRule: dnsSubdomain };
  const base: ObjectMeta = { name: "db", namespace: "shop" };
  const owner = { apiVersion: "v1", kind: "Pod", name: "a", uid: "1" };

  test("owners that are named twice are kept once, with a warning; the same uid alone is not a repetition", () => {
    const warnings: string[] = [];
    const other = { ...owner, name: "b" };
    const object = { apiVersion: "v1", kind: "Pod", metadata: { ...base, ownerReferences: [owner, other, { ...owner }, owner] } };
    expect(withUniqueOwners(object, (text) => warnings.push(text)).metadata.ownerReferences).toEqual([owner, other]);
    expect(warnings).toEqual([expect.stringMatching(/^\.metadata\.ownerReferences contains duplicate entries.*: 1$/)]);
    const plain = { ...object, metadata: { ...base, ownerReferences: [owner, other] } };
    expect(withUniqueOwners(plain, (text) => warnings.push(text))).toBe(plain);
    expect(warnings).toHaveLength(1);
  });

  test.each([
    { why: "a plain object", metadata: base, want: [] },
    { why: "a prefix that ends in a dash", metadata: { ...base, generateName: "db-" }, want: [] },
    { why: "annotation keys in capitals", metadata: { ...base, annotations: { "Example.com/A": "x" } }, want: [] },
    { why: "no name", metadata: { namespace: "shop" }, want: ["metadata.name"] },
    { why: "no namespace", metadata: { name: "db" }, want: ["metadata.namespace"] },
    { why: "a namespace with a dot", metadata: { ...base, namespace: "a.b" }, want: ["metadata.namespace"] },
    { why: "a prefix in capitals", metadata: { ...base, generateName: "DB-" }, want: ["metadata.generateName"] },
    { why: "a negative generation", metadata: { ...base, generation: -1 }, want: ["metadata.generation"] },
    { why: "a bad label", metadata: { ...base, labels: { "a b": "c d" } }, want: ["metadata.labels", "metadata.labels"] },
    { why: "two controllers", metadata: { ...base, ownerReferences: [{ ...owner, controller: true }, { ...owner, uid: "2", controller: true }] }, want: ["metadata.ownerReferences"] }, // prettier-ignore
    {
      why: "an owner without kind",
      metadata: { ...base, ownerReferences: [{ ...owner, kind: "" }] },
      want: ["metadata.ownerReferences[0].kind"],
    },
    { why: "an owner that is an Event", metadata: { ...base, ownerReferences: [{ ...owner, kind: "Event" }] }, want: ["metadata.ownerReferences[0]"] }, // prettier-ignore
    { why: "both finalizers of the garbage collector", metadata: { ...base, finalizers: ["orphan", "foregroundDeletion"] }, want: ["metadata.finalizers"] }, // prettier-ignore
  ])("$why: $want", ({ metadata, want }) => {
    expect(validateMetadata(metadata, rules).map(({ field }) => field)).toEqual(want);
  });

  test("an object without namespace has none", () => {
    expect(validateMetadata(base, { ...rules, namespaced: false })).toMatchObject([
      { field: "metadata.namespace", reason: "FieldValueForbidden" },
    ]);
  });

  test.each([
    { why: "labels may change", change: { labels: { a: "b" } }, want: [] },
    { why: "the uid may not", change: { uid: "2" }, want: ["metadata.uid"] },
    { why: "the name may not", change: { name: "other" }, want: ["metadata.name"] },
    { why: "finalizers may go while it is being deleted", old: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a"] }, change: {}, want: [] }, // prettier-ignore
    {
      why: "none may come then",
      old: { deletionTimestamp: "2026-01-01T00:00:00Z" },
      change: { finalizers: ["a"] },
      want: ["metadata.finalizers"],
    },
  ])("$why", ({ change, old = {}, want }) => {
    const before = { ...base, uid: "1", ...old };
    expect(validateMetadataUpdate({ ...base, uid: "1", ...change }, before).map(({ field }) => field)).toEqual(want);
  });

  test("timestamps are whole seconds", () => {
    expect(timestamp(Date.UTC(2026, 0, 2, 3, 4, 5, 999))).toBe("2026-01-02T03:04:05Z");
  });

  test.each([
    { text: undefined, want: 0 },
    { text: "", want: 0 },
    { text: "0", want: 0 },
    { text: "17", want: 17 },
    { text: "017", want: undefined },
    { text: "-1", want: undefined },
    { text: "1e3", want: undefined },
    { text: "abc", want: undefined },
  ])("the revision of $text is $want", ({ text, want }) => {
    expect(parseRevision(text)).toBe(want);
  });
});
