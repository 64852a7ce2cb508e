/** A patcher as an embedder uses it: its results can be written, changed and requested again. */
import { afterEach, describe, expect, test } from "vitest";
import type { EngineError } from "../../../src/base/errors.ts";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../src/engine/config/settings.ts";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createPatcher, type Patcher } from "../../../src/engine/patcher.ts";

const made: Patcher[] = [];

async function patcherWith(patches: readonly PatchDefinition[], settings: Record<string, unknown> = {}): Promise<Patcher> {
  const config = resolveConfig({ sync: { toHost: { endpoints: { patches } } } });
  const resolved = resolveSettings(settings);
  if (!config.ok || !resolved.ok) throw new Error("The configuration is valid");
  const patcher = await createPatcher({ config: config.config, settings: resolved.settings, vcluster: { name: "blue", namespace: "vc" } });
  made.push(patcher);
  return patcher;
}

afterEach(() => {
  for (const patcher of made.splice(0)) patcher.dispose();
});

function endpoints(ips: readonly string[], annotations: Record<string, string> = {}): KubeObject {
  const addresses = ips.map((ip) => ({ ip, hostname: `h${ip.replaceAll(".", "-")}` }));
  const metadata = { name: "web", namespace: "shop", annotations };
  return { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [{ addresses, ports: [{ port: 80 }] }] };
}

describe("the way back from a host object that lacks what the tenant has", () => {
  test("keeps addresses that a failing patch left out", async () => {
    const patcher = await patcherWith([
      { path: "subsets[*].addresses[*].hostname", expression: "value.missing.field", reverseExpression: "value" },
    ]);
    const tenant = endpoints(["10.0.0.1"]);
    const there = patcher.toHost(tenant);
    expect(there.object["subsets"]).toEqual([]);
    const back = patcher.toTenant(there.object, { tenant });
    expect(back.object["subsets"]).toEqual(tenant["subsets"]);
    expect(back.rejected).toContain("part of the tenant's body did not reach the host");
  });

  test("keeps addresses that the policy refused", async () => {
    const patcher = await patcherWith([], { addressPolicy: { deny: ["10.0.0.0/24"] } });
    const tenant = endpoints(["10.0.0.1", "10.1.0.1"]);
    const there = patcher.toHost(tenant);
    expect(there.refusedAddresses).toHaveLength(1);
    const back = patcher.toTenant(there.object, { tenant });
    expect(back.object["subsets"]).toEqual(tenant["subsets"]);
    expect(back.rejected).toBeDefined();
  });

  test("keeps an annotation that the host's API server would have refused, and says that it was left out", async () => {
    const patcher = await patcherWith([]);
    const ranges = "service.beta.kubernetes.io/load-balancer-source-ranges";
    const metadata = { name: "web", namespace: "shop", annotations: { [ranges]: "10.0.0.0/8", b: "2" } };
    const tenant = { apiVersion: "v1", kind: "Service", metadata, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } };
    const there = patcher.toHost(tenant);
    expect(there.object.metadata.annotations).toEqual({ b: "2" });
    expect(there.leftOut).toContain(`metadata.annotations["${ranges}"]`);
    const back = patcher.toTenant(there.object, { tenant });
    expect(back.object.metadata.annotations).toEqual(metadata.annotations);
  });

  test("keeps an annotation whose patch failed, and takes the others from the host", async () => {
    const patcher = await patcherWith([
      { path: 'metadata.annotations["a"]', expression: "value.missing.field", reverseExpression: "value" },
    ]);
    const tenant = endpoints(["10.0.0.1"], { a: "1", b: "2" });
    const there = patcher.toHost(tenant);
    expect(there.object.metadata.annotations).toEqual({ b: "2" });
    const edited = { ...there.object, metadata: { ...there.object.metadata, annotations: { b: "3" } } };
    const back = patcher.toTenant(edited, { tenant });
    expect(back.object.metadata.annotations).toEqual({ a: "1", b: "3" });
    expect(back.rejected).toBeUndefined();
  });

  test("keeps annotations for which the copy has no room, and says which", async () => {
    const patcher = await patcherWith([]);
    const tenant = endpoints(["10.0.0.1"], { big: "x".repeat(261_900), small: "kept" });
    const there = patcher.toHost(tenant);
    expect(there.object.metadata.annotations).toEqual({ small: "kept" });
    expect(there.noRoom).toMatchObject([{ code: "TOO_MANY_KEYS", message: expect.stringContaining("annotations/big") as unknown }]);
    expect(patcher.toTenant(there.object, { tenant }).object.metadata.annotations).toEqual(tenant.metadata.annotations);
  });

  test("takes an edit of the body where everything arrived", async () => {
    const patcher = await patcherWith([]);
    const tenant = endpoints(["10.0.0.1"]);
    const there = patcher.toHost(tenant);
    const back = patcher.toTenant({ ...there.object, subsets: [] }, { tenant });
    expect(back.object["subsets"]).toEqual([]);
    expect(back.rejected).toBeUndefined();
  });
});

describe("what a patcher answers shares nothing", () => {
  test("with the next answer, or with the tenant object", async () => {
    const patcher = await patcherWith([{ path: 'metadata.annotations["a"]', expression: "value + '!'" }]);
    const tenant = endpoints(["10.0.0.1"], { a: "1" });
    const first = patcher.toHost(tenant).object as { subsets: { addresses: { ip: string }[] }[] } & KubeObject;
    const expected = structuredClone(first);
    first.subsets[0]!.addresses[0]!.ip = "6.6.6.6";
    (first.metadata.annotations as Record<string, string>)["a"] = "poison";
    expect(patcher.toHost(tenant).object).toEqual(expected);
    expect(tenant).toEqual(endpoints(["10.0.0.1"], { a: "1" }));
  });

  test("with a tenant object that is changed in place afterwards", async () => {
    const patcher = await patcherWith([{ path: 'metadata.annotations["a"]', expression: "value + '!'" }]);
    const tenant = endpoints(["10.0.0.1"], { a: "1" });
    patcher.toHost(tenant);
    (tenant.metadata.annotations as Record<string, string>)["a"] = "2";
    Object.assign(tenant, { subsets: [{ addresses: [{ ip: "10.0.0.2" }] }] });
    const { object } = patcher.toHost(tenant);
    expect(object.metadata.annotations).toEqual({ a: "2!" });
    expect(object["subsets"]).toEqual([{ addresses: [{ ip: "10.0.0.2" }] }]);
  });
});

test("a patcher that was disposed of says so", async () => {
  const patcher = await patcherWith([{ path: 'metadata.annotations["a"]', expression: "value" }]);
  patcher.dispose();
  const tenant = endpoints(["10.0.0.1"], { a: "1" });
  for (const use of [() => patcher.toHost(tenant), () => patcher.toTenant(tenant), () => patcher.knows(tenant)])
    expect(use).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining("disposed of") as unknown }) as EngineError,
    );
});
