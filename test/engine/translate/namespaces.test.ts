import { describe, expect, test } from "vitest";
import { createTranslator } from "../../../src/engine/translate/translator.ts";

const vcluster = { name: "my-vc", namespace: "vc-host" };
const mappings = {
  "frontend-prod": "customer-project-alpha-prod",
  "team-*": "teams-*",
  "team-a-*": "h-team-a-*",
  "team-a-special": "exact",
  "datasets-*": "${name}-data-*",
  "loop-*": "vc-*",
};
const fallback = createTranslator({ vcluster, mode: "multi-namespace", mappings });
const strict = createTranslator({ vcluster, mode: "multi-namespace", mappings, mappingsOnly: true });

describe("a mapped namespace", () => {
  test.each([
    { namespace: "frontend-prod", want: "customer-project-alpha-prod", why: "an exact entry" },
    { namespace: "team-a-dev", want: "h-team-a-dev", why: "the longer pattern goes before the shorter" },
    { namespace: "team-b", want: "teams-b", why: "a pattern" },
    { namespace: "team-a-special", want: "exact", why: "an exact entry goes before a pattern" },
    { namespace: "datasets-raw", want: "my-vc-data-raw", why: "the virtual cluster's name" },
  ])("keeps its names: $why", ({ namespace, want }) => {
    for (const translator of [fallback, strict]) {
      expect(translator.toHost({ namespace, name: "db" })).toEqual({ namespace: want, name: "db" });
      expect(translator.hostNamespace(namespace)).toBe(want);
      expect(translator.isMapped(namespace)).toBe(true);
    }
  });

  test("does not depend on the order of the entries", () => {
    const reversed = Object.fromEntries(Object.entries(mappings).reverse());
    const other = createTranslator({ vcluster, mode: "multi-namespace", mappings: reversed });
    expect(other.hostNamespace("team-a-dev")).toBe("h-team-a-dev");
  });
});

describe("a namespace without mapping", () => {
  test.each([
    { namespace: "shop", why: "no entry" },
    { namespace: "team-", why: "a pattern stands for at least one character" },
    { namespace: "loop-host", why: "a pattern never reaches the virtual cluster's own namespace" },
    { namespace: "toString", why: "inherited properties are no entries" },
  ])("has longer names, or none if only mappings count: $why", ({ namespace }) => {
    expect(fallback.toHost({ namespace, name: "db" })).toEqual({ namespace: "vc-host", name: `db-x-${namespace}-x-my-vc` });
    expect(fallback.hostNamespace(namespace)).toBe("vc-host");
    expect(strict.toHost({ namespace, name: "db" })).toBeUndefined();
    expect(strict.hostNamespace(namespace)).toBeUndefined();
    expect(strict.isMapped(namespace)).toBe(false);
  });

  test("is every namespace in single-namespace mode", () => {
    const single = createTranslator({ vcluster, mappings, mappingsOnly: true });
    expect(single.mode).toBe("single-namespace");
    expect(single.hostNamespace("frontend-prod")).toBe("vc-host");
    expect(single.isMapped("frontend-prod")).toBe(false);
  });

  test("still has the API server's Service on the host", () => {
    expect(strict.toHost({ namespace: "default", name: "kubernetes" })).toEqual({ namespace: "vc-host", name: "my-vc" });
  });
});

test("release is a special label in single-namespace mode only", () => {
  expect(fallback.labels({ release: "r1" })).toEqual({ release: "r1" });
  expect(createTranslator({ vcluster }).labels({ release: "r1" })).toEqual({ "sync.platform/label-my-vc-x-a4d451ec23": "r1" });
});

describe("the namespaces to watch", () => {
  test("are one in single-namespace mode", () => {
    expect(createTranslator({ vcluster }).targetNamespaces()).toEqual(["vc-host"]);
  });

  test("are the mapped ones and the virtual cluster's own where all entries are exact", () => {
    const exact = createTranslator({ vcluster, mode: "multi-namespace", mappings: { a: "host-a", b: "host-${name}" } });
    expect(exact.targetNamespaces()).toEqual(["vc-host", "host-a", "host-my-vc"]);
  });

  test("are all where an entry is a pattern", () => {
    expect(fallback.targetNamespaces()).toBe("all");
  });
});

describe("the marker prefix", () => {
  test.each(["", "sync.platform", "/", "Sync/", "sync.platform//", "a b/", `${"a".repeat(45)}/`])("%j is refused", (markerPrefix) => {
    expect(() => createTranslator({ vcluster, markerPrefix })).toThrow(expect.objectContaining({ code: "CONFIG_VALUE" }));
  });

  test("of the greatest length still makes valid label keys", () => {
    const markerPrefix = `${"a".repeat(44)}/`;
    const key = createTranslator({ vcluster: { name: "v".repeat(63), namespace: "h" }, markerPrefix }).labelKey("release")!;
    expect(key).toMatch(/^a{44}\/[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    expect(key.length).toBeLessThanOrEqual(63);
  });
});
