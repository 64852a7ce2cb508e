import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EngineError } from "../../src/base/errors.ts";
import { createEmbeddedCluster } from "../../src/clusters/cluster.ts";
import type { EmbeddedCluster } from "../../src/clusters/cluster.ts";
import { ENDPOINTS, NAMESPACES } from "../../src/object/resource.ts";
import type { ObjectSource } from "../../src/object/object-source.ts";
import type { KubeObject } from "../../src/object/types.ts";
import type { Operation } from "../../src/reconcile/plan.ts";
import { applyOperation } from "../../src/sync/apply.ts";
import { createLatest } from "../../src/sync/latest.ts";
import { tenantEndpoints } from "../support/rules.ts";

const TENANT_KEY = { namespace: "shop", name: "web" };
const HOST_KEY = { namespace: "vc", name: "web-x-shop-x-blue" };
const EMPTY: ObjectSource = { get: () => undefined, list: () => [], onChange: () => () => {}, synced: true, current: true };

let tenant: EmbeddedCluster;
let host: EmbeddedCluster;

beforeEach(async () => {
  [tenant, host] = await Promise.all([createEmbeddedCluster(), createEmbeddedCluster()]);
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
});

afterEach(async () => void (await Promise.all([tenant.stop(), host.stop()])));

function target() {
  return {
    resource: ENDPOINTS,
    tenantKey: TENANT_KEY,
    tenant: { writer: tenant.client, latest: createLatest(EMPTY) },
    host: { writer: host.client, latest: createLatest(EMPTY) },
  };
}

function copy(metadata: KubeObject["metadata"] = {}): KubeObject {
  return { ...tenantEndpoints(), metadata: { ...HOST_KEY, ...metadata } };
}

function creation(object = copy()): Operation {
  return { action: "create", side: "host", object, reason: "test" };
}

function deletion(object: KubeObject, confirmAbsent: boolean): Operation {
  const { uid, resourceVersion } = object.metadata;
  return {
    action: "delete",
    side: "host",
    key: HOST_KEY,
    preconditions: { uid: uid!, resourceVersion: resourceVersion! },
    reason: "test",
    confirmAbsent,
  };
}

describe("applyOperation", () => {
  test("creates, and knows the new object before the cache does", async () => {
    const where = target();
    expect((await applyOperation(creation(), where)).result).toBe("written");
    expect(where.host.latest.get(HOST_KEY)).toEqual(await host.client.get(ENDPOINTS, HOST_KEY));
  });

  test("finds the world changed when the name is taken, and overwrites nothing", async () => {
    const first = await host.client.create(ENDPOINTS, copy({ labels: { first: "yes" } }));
    expect((await applyOperation(creation(), target())).result).toBe("outdated");
    expect(await host.client.get(ENDPOINTS, HOST_KEY)).toEqual(first);
  });

  test("names a missing namespace instead of creating it", async () => {
    const applied = await applyOperation(creation(copy({ namespace: "nowhere" })), target());
    expect(applied).toMatchObject({ result: "refused", note: { code: "HOST_NAMESPACE_MISSING" } });
    expect(await host.client.get(NAMESPACES, { namespace: "", name: "nowhere" })).toBeUndefined();
  });

  test("tells the field that the API server refuses, without the host's name for the object", async () => {
    const applied = await applyOperation(creation({ ...copy(), subsets: [{ addresses: [{ ip: "127.0.0.1" }] }] }), target());
    expect(applied).toMatchObject({ result: "refused", note: { code: "API_INVALID" } });
    const { message } = (applied as { note: { message: string } }).note;
    expect(message).toContain("subsets[0].addresses[0].ip");
    expect(message).not.toContain(HOST_KEY.name);
  });

  test("hides the host's name for the object where the API server quotes it", async () => {
    const error = new EngineError("API_INVALID", "Refused", {
      details: { status: { details: { causes: [{ field: "metadata.name", message: `Invalid value: "${HOST_KEY.name}"` }] } } },
    });
    const where = target();
    const refuse = () => Promise.reject(error);
    const writer = { get: refuse, create: refuse, update: refuse, delete: refuse };
    const applied = await applyOperation(creation(), { ...where, host: { ...where.host, writer } });
    expect(applied).toMatchObject({
      note: { message: `The host's API server refuses the object as invalid: metadata.name: Invalid value: "…"` },
    });
  });

  test("finds the world changed when the object moved on", async () => {
    const first = await host.client.create(ENDPOINTS, copy());
    await host.client.update(ENDPOINTS, { ...first, metadata: { ...first.metadata, labels: { second: "yes" } } });
    const update: Operation = { action: "update", side: "host", object: { ...first, subsets: [] }, reason: "test" };
    expect((await applyOperation(update, target())).result).toBe("outdated");
    expect((await host.client.get(ENDPOINTS, HOST_KEY))?.["subsets"]).not.toEqual([]);
  });

  test("deletes only what the plan saw", async () => {
    const first = await host.client.create(ENDPOINTS, copy());
    await host.client.update(ENDPOINTS, { ...first, metadata: { ...first.metadata, labels: { second: "yes" } } });
    expect((await applyOperation(deletion(first, false), target())).result).toBe("outdated");
    expect(await host.client.get(ENDPOINTS, HOST_KEY)).toBeDefined();
  });

  test("deletes nothing while the source is there after all", async () => {
    const first = await host.client.create(ENDPOINTS, copy());
    await tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...TENANT_KEY } });
    expect((await applyOperation(deletion(first, true), target())).result).toBe("outdated");
    expect(await host.client.get(ENDPOINTS, HOST_KEY)).toBeDefined();
  });

  test("deletes what has no source", async () => {
    const first = await host.client.create(ENDPOINTS, copy());
    expect((await applyOperation(deletion(first, true), target())).result).toBe("deleted");
    expect(await host.client.get(ENDPOINTS, HOST_KEY)).toBeUndefined();
  });

  test("counts an object that is gone already as deleted", async () => {
    const first = await host.client.create(ENDPOINTS, copy());
    await host.client.delete(ENDPOINTS, HOST_KEY);
    expect((await applyOperation(deletion(first, true), target())).result).toBe("deleted");
  });
});
