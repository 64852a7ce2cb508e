import { describe, expect, test } from "vitest";
import type { ReferenceDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { CONFIG_MAPS, SECRETS } from "../../../src/kube/object/resource.ts";
import { createNameRules } from "../../../src/engine/patch/names.ts";
import { createMapping } from "../../../src/engine/translate/mapping.ts";
import { createTranslator } from "../../../src/engine/translate/translator.ts";
import { objectWith, recordReferences, run, vcluster } from "./setting.ts";

const secret = { apiVersion: "v1", kind: "Secret" };
const full: ReferenceDefinition = {
  ...secret,
  namePath: "name",
  namespacePath: "namespace",
  kindPath: "kind",
  apiVersionPath: "apiVersion",
};
const host = "vcluster-ns";

/** Runs one reference patch on `spec.ref`. */
function rewrite(reference: ReferenceDefinition, value: unknown, options: Parameters<typeof run>[2] = {}) {
  const got = run([{ path: "spec.ref", reference }], objectWith({ spec: { ref: value } }), { onError: "skip-patch", ...options });
  return { ...got, value: (got.object["spec"] as { ref: unknown }).ref, outcome: got.outcomes[0]! };
}

describe("a reference toward the host", () => {
  test.each([
    { why: "a text", reference: secret, value: "tls", want: "tls-x-default-x-vcluster", tenant: { namespace: "default", name: "tls" } },
    {
      why: "an object with a name",
      reference: { ...secret, namePath: "name" },
      value: { name: "tls", key: "a" },
      want: { name: "tls-x-default-x-vcluster", key: "a" },
      tenant: { namespace: "default", name: "tls" },
    },
    {
      why: "an object with name and namespace",
      reference: full,
      value: { name: "tls", namespace: "shop" },
      want: { name: "tls-x-shop-x-vcluster", namespace: host },
      tenant: { namespace: "shop", name: "tls" },
    },
    {
      why: "an object whose namespace is missing",
      reference: full,
      value: { name: "tls" },
      want: { name: "tls-x-default-x-vcluster" },
      tenant: { namespace: "default", name: "tls" },
    },
    {
      why: "an object whose namespace is empty",
      reference: full,
      value: { name: "tls", namespace: "" },
      want: { name: "tls-x-default-x-vcluster", namespace: "" },
      tenant: { namespace: "default", name: "tls" },
    },
    {
      why: "an object that names kind and apiVersion",
      reference: full,
      value: { name: "cm", kind: "ConfigMap", apiVersion: "v1" },
      want: { name: "cm-x-default-x-vcluster", kind: "ConfigMap", apiVersion: "v1" },
      tenant: { namespace: "default", name: "cm" },
      kind: "ConfigMap",
    },
    {
      why: "an object whose kind is null",
      reference: full,
      value: { name: "tls", kind: null },
      want: { name: "tls-x-default-x-vcluster", kind: null },
      tenant: { namespace: "default", name: "tls" },
    },
    {
      why: "an object with the name deeper inside",
      reference: { ...secret, namePath: "secret.metadata.name" },
      value: { secret: { metadata: { name: "tls" } } },
      want: { secret: { metadata: { name: "tls-x-default-x-vcluster" } } },
      tenant: { namespace: "default", name: "tls" },
    },
  ])("rewrites $why and records what it names", ({ reference, value, want, tenant, kind = "Secret" }) => {
    const got = rewrite(reference, value);
    expect(got.value).toEqual(want);
    const name = `${tenant.name}-x-${tenant.namespace}-x-vcluster`;
    expect(got.references).toEqual([{ apiVersion: "v1", kind, tenant, host: { namespace: host, name }, place: "spec.ref" }]);
    expect(got.outcome).toMatchObject({ outcome: "applied", matches: 1, changed: 1, fuel: 0 });
  });

  test("rewrites every match", () => {
    const before = objectWith({ volumes: [{ secret: "a" }, { other: 1 }, { secret: "b" }] });
    const got = run([{ path: "volumes[*].secret", reference: secret }], before);
    expect(got.object["volumes"]).toEqual([{ secret: "a-x-default-x-vcluster" }, { other: 1 }, { secret: "b-x-default-x-vcluster" }]);
    expect(got.references.map(({ place, tenant }) => [place, tenant.name])).toEqual([
      ["volumes[0].secret", "a"],
      ["volumes[2].secret", "b"],
    ]);
  });

  test.each([
    { why: "an empty text", reference: secret, value: "" },
    { why: "null", reference: secret, value: null },
    { why: "null instead of an object", reference: full, value: null },
    { why: "an object without name", reference: full, value: { namespace: "shop" } },
    { why: "an object with an empty name", reference: full, value: { name: "" } },
    { why: "an object whose name is null", reference: full, value: { name: null } },
  ])("finds nothing in $why", ({ reference, value }) => {
    const got = rewrite(reference, value);
    expect(got.value).toEqual(value);
    expect(got.references).toEqual([]);
    expect(got.outcome).toMatchObject({ outcome: "noMatch", matches: 0 });
  });

  test.each([
    { why: "a number instead of a name", reference: secret, value: 7, code: "REFERENCE_VALUE", message: "expected a name, found a number" },
    { why: "an object without namePath", reference: secret, value: { name: "a" }, code: "REFERENCE_VALUE", message: "namePath" },
    {
      why: "a text with namePath",
      reference: full,
      value: "tls",
      code: "REFERENCE_VALUE",
      message: "expected an object with name, found a string",
    },
    { why: "a list", reference: full, value: ["tls"], code: "REFERENCE_VALUE", message: "found a list" },
    {
      why: "a name that is not a string",
      reference: full,
      value: { name: {} },
      code: "REFERENCE_VALUE",
      message: "expected a string at name",
    },
    {
      why: "a namespace that is not a string",
      reference: full,
      value: { name: "a", namespace: 1 },
      code: "REFERENCE_VALUE",
      message: "expected a string at namespace",
    },
    { why: "a name with a slash", reference: secret, value: "../secrets/x", code: "REFERENCE_VALUE", message: "not a valid name" },
    { why: "a name in upper case", reference: secret, value: "TLS", code: "REFERENCE_VALUE", message: "not a valid name" },
    { why: "a name that is too long", reference: secret, value: "a".repeat(254), code: "REFERENCE_VALUE", message: "not a valid name" },
    {
      why: "a namespace with a dot",
      reference: full,
      value: { name: "a", namespace: "b.c" },
      code: "REFERENCE_VALUE",
      message: "not a valid namespace",
    },
    { why: "an unknown kind", reference: full, value: { name: "a", kind: "Pod" }, code: "REFERENCE_KIND", message: '"v1/Pod"' },
    { why: "an unknown version", reference: full, value: { name: "a", apiVersion: "v2" }, code: "REFERENCE_KIND", message: '"v2/Secret"' },
  ])("fails for $why", ({ reference, value, code, message }) => {
    const got = rewrite(reference, value);
    expect(got.value).toEqual(value);
    expect(got.references).toEqual([]);
    expect(got.outcome).toMatchObject({ outcome: "error", code, place: "spec.ref", matches: 1, changed: 0 });
    expect(got.outcome.message).toContain(message);
  });

  test("keeps the name where its namespace is mapped, and fails where it must be and is not", () => {
    const multi = createTranslator({ vcluster, mode: "multi-namespace", mappings: { shop: "host-shop" }, mappingsOnly: true });
    const names = createNameRules({ translator: multi, mapping: createMapping(), kinds: [SECRETS] });
    expect(rewrite(full, { name: "tls", namespace: "shop" }, { names }).value).toEqual({ name: "tls", namespace: "host-shop" });
    expect(rewrite(full, { name: "tls", namespace: "other" }, { names }).outcome).toMatchObject({
      outcome: "error",
      code: "NAME_NOT_MAPPED",
    });
  });

  test("never reaches the virtual cluster's own objects", () => {
    expect(rewrite(secret, "kubernetes").value).toBe("kubernetes-x-default-x-vcluster");
  });
});

describe("a reference toward the tenant", () => {
  const back = { direction: "toTenant" } as const;

  test.each([
    { reference: secret, value: "tls" },
    { reference: full, value: { name: "tls", namespace: "shop", key: "a" } },
    { reference: full, value: { name: "tls", namespace: "default" } },
    { reference: full, value: { name: "cm", kind: "ConfigMap" } },
  ])("gives back what was translated: $value", ({ reference, value }) => {
    const there = rewrite(reference, value);
    recordReferences(there);
    const here = rewrite(reference, there.value, back);
    expect(here.value).toEqual(value);
    expect(here.references).toEqual(there.references);
  });

  test.each([
    { why: "an unknown host name", value: "other-x-default-x-vcluster", message: "no known tenant object" },
    { why: "a tenant name", value: "tls", message: "no known tenant object" },
  ])("fails for $why, which is never parsed", ({ value, message }) => {
    const got = rewrite(secret, value, back);
    expect(got.value).toBe(value);
    expect(got.outcome).toMatchObject({ outcome: "error", code: "REFERENCE_UNMAPPED", place: "spec.ref" });
    expect(got.outcome.message).toContain(message);
    expect(got.outcome.message).not.toContain(value);
  });

  test("fails for an object of another tenant namespace when there is no field for it", () => {
    recordReferences(rewrite(full, { name: "tls", namespace: "shop" }));
    const got = rewrite(secret, "tls-x-shop-x-vcluster", back);
    expect(got.outcome).toMatchObject({ outcome: "error", code: "REFERENCE_UNMAPPED" });
    expect(got.outcome.message).toContain('"shop"');
  });

  test("keeps kinds apart", () => {
    recordReferences(rewrite(secret, "only-a-secret"));
    const got = rewrite({ apiVersion: "v1", kind: CONFIG_MAPS.kind }, "only-a-secret-x-default-x-vcluster", back);
    expect(got.outcome).toMatchObject({ outcome: "error", code: "REFERENCE_UNMAPPED" });
  });
});

describe("a reference by labels", () => {
  const labels: ReferenceDefinition = { ...secret, labels: {} };
  const key = "sync.platform/label-vcluster-x-a4d451ec23";

  test.each([
    { tenant: { matchLabels: { release: "r" } }, hostValue: { matchLabels: { [key]: "r" } } },
    { tenant: { release: "r", app: "web" }, hostValue: { [key]: "r", app: "web" } },
    {
      tenant: { matchExpressions: [{ key: "release", operator: "Exists" }] },
      hostValue: { matchExpressions: [{ key, operator: "Exists" }] },
    },
  ])("translates the keys of $tenant, both ways", ({ tenant, hostValue }) => {
    const there = rewrite(labels, tenant);
    expect(there.value).toEqual(hostValue);
    expect(there.references).toEqual([]);
    expect(rewrite(labels, hostValue, { direction: "toTenant" }).value).toEqual(tenant);
  });

  test("has nothing to do where no key is special", () => {
    expect(rewrite(labels, { app: "web" }).outcome).toMatchObject({ outcome: "noChange" });
    expect(rewrite(labels, null).outcome).toMatchObject({ outcome: "noMatch" });
  });

  test("fails for what is not a selector", () => {
    expect(rewrite(labels, "app=web").outcome).toMatchObject({ outcome: "error", code: "REFERENCE_VALUE" });
  });
});

describe("a failing reference", () => {
  test("is contained like a failing expression", () => {
    const before = objectWith({ metadata: { annotations: { ref: "NOT VALID" } }, volumes: [{ secret: "a" }, { secret: 7 }] });
    const definitions = [
      { path: "metadata.annotations.ref", reference: secret },
      { path: "volumes[*].secret", reference: secret },
    ];
    expect(run(definitions, before).object).toEqual(objectWith({ volumes: [{ secret: "a-x-default-x-vcluster" }] }));
    expect(run(definitions, before, { onError: "block-object" }).blocked).toBe(true);
  });

  test("records nothing that the object does not say", () => {
    const multi = createTranslator({ vcluster, mode: "multi-namespace", mappings: { default: "host" } });
    const names = createNameRules({ translator: multi, mapping: createMapping(), kinds: [SECRETS] });
    const got = run([{ path: "metadata.labels.ref", reference: secret }], objectWith({ metadata: { labels: { ref: "a".repeat(100) } } }), {
      names,
    });
    expect(got.outcomes[0]).toMatchObject({ outcome: "error", code: "EXPRESSION_RESULT" });
    expect(got.references).toEqual([]);
  });
});
