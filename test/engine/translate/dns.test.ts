import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { createTranslator } from "../../../src/engine/translate/translator.ts";
import { dnsLabel, DNS_NAME } from "./arbitrary.ts";

const vcluster = { name: "vcluster", namespace: "vcluster-ns" };
const translator = createTranslator({ vcluster });

/** The code of what `run` throws, or its answer. */
function codeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return isEngineError(error) ? error.code : error;
  }
}

describe("the DNS name of a tenant Service", () => {
  test.each([
    {
      name: "nginx.default.svc.cluster.local",
      want: "nginx-x-default-x-vcluster.vcluster-ns.svc.cluster.local",
      why: "is translated as documented",
    },
    { name: "nginx.default.svc", want: "nginx-x-default-x-vcluster.vcluster-ns.svc.cluster.local", why: "gets the default domain" },
    { name: "nginx.default.svc.corp.example", want: "nginx-x-default-x-vcluster.vcluster-ns.svc.corp.example", why: "keeps its domain" },
    { name: "svc.svc.svc.svc", want: "svc-x-svc-x-vcluster.vcluster-ns.svc.svc", why: "may use the word svc" },
    {
      name: "kubernetes.default.svc",
      want: "vcluster.vcluster-ns.svc.cluster.local",
      why: "of the API server is the virtual cluster's Service",
    },
  ])("$why", ({ name, want }) => {
    expect(translator.dns(name)).toBe(want);
  });

  test.each([
    "",
    "nginx",
    "nginx.default",
    "nginx.default.pod",
    "pod-0.nginx.default.svc",
    "nginx.default.svc.",
    "nginx.default.svc.cluster..local",
    "nginx.default.svc:80",
    "http://nginx.default.svc",
    "Nginx.default.svc",
    "-nginx.default.svc",
    "nginx-.default.svc",
    " nginx.default.svc",
    "nginx.default.svc\n",
    `${"n".repeat(64)}.default.svc`,
    `nginx.default.svc${".a".repeat(200)}`,
    `${"a-".repeat(100_000)}.default.svc`,
  ])("is refused when it is %j", (name) => {
    expect(codeOf(() => translator.dns(name))).toBe("DNS_NAME_INVALID");
  });

  test.each([null, undefined, 7, {}, [], true])("is refused when an expression passes %j", (name) => {
    expect(codeOf(() => translator.dns(name as unknown as string))).toBe("DNS_NAME_INVALID");
  });

  test("gets the domain of the settings", () => {
    const corporate = createTranslator({ vcluster, hostClusterDomain: "corp.example" });
    expect(corporate.dns("db.shop.svc")).toBe("db-x-shop-x-vcluster.vcluster-ns.svc.corp.example");
  });

  test("keeps its name where its namespace is mapped, and has none where it must be and is not", () => {
    const multi = createTranslator({ vcluster, mode: "multi-namespace", mappings: { shop: "host-shop" }, mappingsOnly: true });
    expect(multi.dns("db.shop.svc")).toBe("db.host-shop.svc.cluster.local");
    expect(codeOf(() => multi.dns("db.other.svc"))).toBe("DNS_NAME_INVALID");
    expect(() => multi.dns("db.other.svc")).toThrow(/not mapped/);
  });

  test("is always that of the translated Service", () => {
    fc.assert(
      fc.property(dnsLabel, dnsLabel, (name, namespace) => {
        const host = translator.toHost({ namespace, name })!;
        const got = translator.dns(`${name}.${namespace}.svc`);
        expect(got).toBe(`${host.name}.${host.namespace}.svc.cluster.local`);
        expect(got).toMatch(DNS_NAME);
      }),
      { numRuns: 500 },
    );
  });
});
