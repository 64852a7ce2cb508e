import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NAME_LENGTH_MAX, safeConcat, sharedName } from "../../../src/engine/translate/name.ts";
import { createTranslator } from "../../../src/engine/translate/translator.ts";
import { dnsLabel, dnsName, DNS_NAME } from "./arbitrary.ts";

interface Vector {
  readonly name: string;
  readonly namespace: string;
  readonly vcluster: string;
  readonly want: string;
  readonly why: string;
}

const VECTORS: readonly Vector[] = [
  { name: "test-endpoints", namespace: "test", vcluster: "suffix", want: "test-endpoints-x-test-x-suffix", why: "the plain pattern" },
  { name: "testservice", namespace: "testns", vcluster: "suffix", want: "testservice-x-testns-x-suffix", why: "a Service" },
  { name: "nginx", namespace: "default", vcluster: "vcluster", want: "nginx-x-default-x-vcluster", why: "the documented DNS example" },
  {
    name: "example-db-secondary",
    namespace: "example-prod",
    vcluster: "vcluster",
    want: "example-db-secondary-x-example-prod-x-vcluster",
    why: "a name seen in a real cluster",
  },
  {
    name: "rook-nfs-operator-5fd99c7c8-dcnnj",
    namespace: "rook-nfs-system",
    vcluster: "vcluster-1",
    want: "rook-nfs-operator-5fd99c7c8-dcnnj-x-rook-nfs-system--b1cadd30c5",
    why: "a long name seen in a real cluster, cut behind a hyphen",
  },
  { name: "", namespace: "default", vcluster: "v", want: "", why: "an empty name stays empty" },
  {
    name: "a".repeat(50),
    namespace: "default",
    vcluster: "vcluster",
    want: `${"a".repeat(50)}-x-b5ca59c801`,
    why: "a long name, cut inside the separator",
  },
  { name: "a".repeat(63), namespace: "b".repeat(63), vcluster: "vcluster", want: `${"a".repeat(52)}-7c37c4af16`, why: "the longest label" },
  {
    name: `${"a".repeat(51)}.bbbbbbbbbb`,
    namespace: "default",
    vcluster: "vc",
    want: `${"a".repeat(51)}-6ebadb2e4e`,
    why: "a cut behind a dot loses the dot",
  },
  {
    name: "app.example.com",
    namespace: "default",
    vcluster: "vcluster",
    want: "app.example.com-x-default-x-vcluster",
    why: "dots of short names stay",
  },
  {
    name: "dev-bbbbbb-product-manual",
    namespace: "dev-bbbbbb-product-manual",
    vcluster: "dev-bbbbbb",
    want: "dev-bbbbbb-product-manual-x-dev-bbbbbb-product-manua-ecc9a5b73b",
    why: "a cut inside the namespace",
  },
  {
    name: "s".repeat(37),
    namespace: "n".repeat(10),
    vcluster: "v".repeat(10),
    want: `${"s".repeat(37)}-x-${"n".repeat(10)}-x-${"v".repeat(10)}`,
    why: "63 characters are not cut",
  },
  { name: "a-x-b", namespace: "c", vcluster: "v", want: "a-x-b-x-c-x-v", why: "the rule is not one-to-one (first half)" },
  { name: "a", namespace: "b-x-c", vcluster: "v", want: "a-x-b-x-c-x-v", why: "the rule is not one-to-one (second half)" },
];

describe("the name of a tenant object on the host", () => {
  test.each(VECTORS)("$why", ({ name, namespace, vcluster, want }) => {
    const translator = createTranslator({ vcluster: { name: vcluster, namespace: "vc-host" } });
    expect(translator.toHost({ namespace, name })).toEqual({ namespace: "vc-host", name: want });
  });

  test("of a cluster-scoped object names virtual cluster and host namespace", () => {
    const translator = createTranslator({ vcluster: { name: "vcluster", namespace: "vcluster-ns" } });
    const want = { namespace: "", name: "vcluster-my-pv-x-vcluster-ns-x-vcluster" };
    expect(translator.toHost({ namespace: "", name: "my-pv" })).toEqual(want);
  });

  test("of default/kubernetes is the virtual cluster's own Service", () => {
    const translator = createTranslator({ vcluster: { name: "my-vc", namespace: "vc-host" } });
    const kubernetes = { namespace: "default", name: "kubernetes" };
    const own = { namespace: "vc-host", name: "my-vc" };
    expect(translator.toHost(kubernetes)).toEqual(own);
    expect(translator.toHost(kubernetes, { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" })).toEqual(own);
    const secret = translator.toHost(kubernetes, { apiVersion: "v1", kind: "Secret" });
    expect(secret).toEqual({ namespace: "vc-host", name: "kubernetes-x-default-x-my-vc" });
  });

  test("is a valid name of at most 63 characters, and the same every time", () => {
    fc.assert(
      fc.property(dnsName, dnsLabel, dnsLabel, (name, namespace, vcluster) => {
        const got = sharedName({ namespace, name }, { name: vcluster, namespace: "vc-host" });
        expect(got).toMatch(DNS_NAME);
        expect(got.length).toBeLessThanOrEqual(NAME_LENGTH_MAX);
        expect(got).toBe(sharedName({ namespace, name }, { name: vcluster, namespace: "other" }));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("safeConcat", () => {
  test("keeps cut texts with one beginning apart", () => {
    const beginning = "a".repeat(60);
    expect(safeConcat(beginning, "one")).not.toBe(safeConcat(beginning, "two"));
    expect(safeConcat(beginning, "one").slice(0, 53)).toBe(safeConcat(beginning, "two").slice(0, 53));
  });

  test("closes up every dot before a hyphen in a cut text, and none in a short one", () => {
    expect(safeConcat("a.", "b")).toBe("a.-b");
    expect(safeConcat(`a.-b.-c${"d".repeat(60)}`)).toMatch(/^a-b-cd{45}-[0-9a-f]{10}$/);
  });
});
