import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesSelector, selectorOf, type LabelSelector } from "../../../src/kube/object/selector.ts";
import { createLabelRules } from "../../../src/engine/translate/translator.ts";
import { writeMarkers, type CopySource } from "../../../src/engine/translate/markers.ts";
import { labelKey, labelMap } from "./arbitrary.ts";

const PREFIX = "sync.platform/";
const rules = createLabelRules({ vcluster: "suffix", prefix: PREFIX, translateRelease: true });
const source: CopySource = {
  vcluster: "suffix",
  kind: "v1/Endpoints",
  namespace: "shop",
  name: "db",
  uid: "u",
  hostName: "h",
  hostNamespace: "n",
};

describe("a translated label key", () => {
  // The digests are those of the reference product, whose own prefix the first table uses.
  test.each([
    { vcluster: "suffix", key: "release", want: "label-suffix-x-a4d451ec23" },
    { vcluster: "suffix", key: "vcluster.loft.sh/namespace", want: "label-suffix-x-101dcd4e86" },
    { vcluster: "suffix", key: "vcluster.loft.sh/managed-by", want: "label-suffix-x-e5f1b28ab2" },
    { vcluster: "suffix", key: "vcluster.loft.sh/controlled-by", want: "label-suffix-x-2080cec00f" },
    { vcluster: "my-vcluster", key: "release", want: "label-my-vcluster-x-a4d451ec23" },
    { vcluster: "a-very-long-virtual-cluster-name-for-a-team", key: "release", want: "label-a-very-long-virtual-cluster-n-9a56b58a9b" },
  ])("of $key in $vcluster is known", ({ vcluster, key, want }) => {
    const known = createLabelRules({ vcluster, prefix: "vcluster.loft.sh/", translateRelease: true });
    expect(known.labelKey(key)).toBe(`vcluster.loft.sh/${want}`);
    expect(known.tenantLabelKey(`vcluster.loft.sh/${want}`)).toBe(key);
  });

  test("stands below the marker prefix of the settings", () => {
    expect(rules.labelKey("release")).toBe("sync.platform/label-suffix-x-a4d451ec23");
  });
});

describe("labels", () => {
  test.each([
    { tenant: { app: "web" }, host: { app: "web" }, why: "plain keys stay" },
    { tenant: { release: "r1" }, host: { "sync.platform/label-suffix-x-a4d451ec23": "r1" }, why: "release gets a key of its own" },
    {
      tenant: { "sync.platform/label-other-x-a4d451ec23": "r1" },
      host: { "sync.platform/label-other-x-a4d451ec23": "r1" },
      why: "translated keys of another virtual cluster stay",
    },
    { tenant: {}, host: {}, why: "no labels are no labels" },
  ])("$why, both ways", ({ tenant, host }) => {
    expect(rules.labels(tenant)).toEqual(host);
    expect(rules.tenantLabels(host)).toEqual(tenant);
  });

  test("that a tenant wrote in translated form stay in the tenant", () => {
    expect(rules.labels({ "sync.platform/label-suffix-x-a4d451ec23": "forged", app: "web" })).toEqual({ app: "web" });
  });

  test("below the marker prefix cannot be forged", () => {
    expect(rules.labels({ "sync.platform/object-uid": "forged", "sync.platform/managed-by": "other" })).not.toHaveProperty([
      "sync.platform/managed-by",
    ]);
    expect(rules.labelKey("sync.platform/object-uid")).toBeUndefined();
  });

  test("that only make sense on the host do not reach the tenant", () => {
    expect(rules.tenantLabels({ ...writeMarkers(PREFIX, source).labels, release: "the-host-chart", app: "web" })).toEqual({ app: "web" });
  });

  test("keep release where namespaces are mapped", () => {
    const multi = createLabelRules({ vcluster: "suffix", prefix: PREFIX, translateRelease: false });
    expect(multi.labels({ release: "r1" })).toEqual({ release: "r1" });
    expect(multi.labelKey("sync.platform/namespace")).toMatch(/^sync\.platform\/label-suffix-x-[0-9a-f]{10}$/);
  });

  test("with hostile keys are copied as own keys", () => {
    const got = rules.labels(JSON.parse('{"__proto__":"x","constructor":"y"}'));
    expect(Object.keys(got)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test("come back unchanged, and all of them cross", () => {
    fc.assert(
      fc.property(labelMap(PREFIX), (labels) => {
        const host = rules.labels(labels);
        expect(Object.keys(host)).toHaveLength(Object.keys(labels).length);
        expect(rules.tenantLabels(host)).toEqual(labels);
      }),
      { numRuns: 500 },
    );
  });

  test("come back unchanged from eleven virtual clusters inside each other", () => {
    fc.assert(
      fc.property(labelMap(PREFIX), (labels) => {
        const nested = Array.from({ length: 11 }, (_, depth) => `suffix-${depth}`);
        const layers = nested.map((vcluster) => ({
          rules: createLabelRules({ vcluster, prefix: PREFIX, translateRelease: true }),
          markers: writeMarkers(PREFIX, { ...source, vcluster }).labels,
        }));
        const outermost = layers.reduce((tenant, layer) => ({ ...layer.rules.labels(tenant), ...layer.markers }), labels);
        const innermost = layers.toReversed().reduce((host, layer) => layer.rules.tenantLabels(host), outermost);
        expect(innermost).toEqual(labels);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a label selector", () => {
  const translated = "sync.platform/label-suffix-x-a4d451ec23";
  test.each([
    { tenant: { matchLabels: { release: "r" } }, host: { matchLabels: { [translated]: "r" } }, why: "has its matchLabels translated" },
    {
      tenant: { matchExpressions: [{ key: "release", operator: "Exists" }] },
      host: { matchExpressions: [{ key: translated, operator: "Exists" }] },
      why: "has the keys of its matchExpressions translated",
    },
    { tenant: { release: "r", app: "web" }, host: { [translated]: "r", app: "web" }, why: "may be a plain map" },
    { tenant: { matchLabels: "web" }, host: { matchLabels: "web" }, why: "may be a plain map with a misleading key" },
    {
      tenant: { matchExpressions: ["nonsense", null] },
      host: { matchExpressions: ["nonsense", null] },
      why: "with nonsense inside is left alone there",
    },
    { tenant: "app=web", host: "app=web", why: "that is not an object comes back as it is" },
  ])("$why, both ways", ({ tenant, host }) => {
    expect(rules.labelSelector(tenant)).toEqual(host);
    expect(rules.tenantLabelSelector(host)).toEqual(tenant);
  });

  test("never loses a condition", () => {
    const forged = { matchLabels: { [translated]: "r", "sync.platform/object-uid": "u" } };
    expect(Object.keys((rules.labelSelector(forged) as LabelSelector).matchLabels!)).toHaveLength(2);
  });

  test("selects on the host what it selected in the tenant", () => {
    const expression = fc.oneof(
      fc.record({ key: labelKey(PREFIX), operator: fc.constantFrom("In", "NotIn"), values: fc.constant(["a"]) }),
      fc.record({ key: labelKey(PREFIX), operator: fc.constantFrom("Exists", "DoesNotExist") }),
    );
    const selector = fc.record({ matchLabels: labelMap(PREFIX), matchExpressions: fc.array(expression, { maxLength: 3 }) });
    fc.assert(
      fc.property(selector, labelMap(PREFIX), (tenant, labels) => {
        const own = { ...labels, ...tenant.matchLabels };
        const host = rules.labelSelector(tenant) as LabelSelector;
        for (const candidate of [labels, own]) {
          expect(matchesSelector(selectorOf(host), rules.labels(candidate))).toBe(matchesSelector(selectorOf(tenant), candidate));
        }
        expect(rules.tenantLabelSelector(host)).toEqual(tenant);
      }),
      { numRuns: 300 },
    );
  });
});
