import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { ENDPOINTS, NAMESPACES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import { send, type Writers } from "../../../../src/engine/sync/run/apply.ts";
import { tenantEndpoints } from "../../../support/rules.ts";
import { useTwoClusters } from "../two-clusters.ts";

const TENANT_KEY = { namespace: "shop", name: "web" };
const HOST_KEY = { namespace: "vc", name: "web-x-shop-x-blue" };

const clusters = useTwoClusters();

/** Sends one write to the two clusters. */
function apply(operation: Operation, writers: Partial<Writers> = {}) {
  return send({ type: "write", operation }, ENDPOINTS, { tenant: clusters.tenant.client, host: clusters.host.client, ...writers });
}

function copy(metadata: KubeObject["metadata"] = {}): KubeObject {
  return { ...tenantEndpoints(), metadata: { ...HOST_KEY, ...metadata } };
}

function creation(object = copy()): Operation {
  return { action: "create", side: "host", object, reason: "test" };
}

function deletion(object: KubeObject): Operation {
  const { uid, resourceVersion } = object.metadata;
  return {
    action: "delete",
    side: "host",
    key: HOST_KEY,
    preconditions: { uid: uid!, resourceVersion: resourceVersion! },
    reason: "test",
    confirm: "none",
  };
}

describe("send", () => {
  test("creates, and answers what is stored now", async () => {
    const response = await apply(creation());
    expect(response).toEqual({ type: "object", object: await clusters.host.client.get(ENDPOINTS, HOST_KEY) });
  });

  test("tells what an admission policy says, which names no field", async () => {
    const error = new EngineError("API_INVALID", "Refused", {
      details: { status: { details: { causes: [{ message: "ValidatingAdmissionPolicy 'p' denied request: no" }, {}] } } },
    });
    const refuse = () => Promise.reject(error);
    const applied = await apply(creation(), { host: { get: refuse, create: refuse, update: refuse, delete: refuse } });
    const message = "The host's API server refuses the object as invalid: ValidatingAdmissionPolicy 'p' denied request: no";
    expect(applied).toMatchObject({ note: { message } });
  });

  test("finds the world changed when the name is taken, and overwrites nothing", async () => {
    const first = await clusters.host.client.create(ENDPOINTS, copy({ labels: { first: "yes" } }));
    expect((await apply(creation())).type).toBe("outdated");
    expect(await clusters.host.client.get(ENDPOINTS, HOST_KEY)).toEqual(first);
  });

  test("names a missing namespace instead of creating it", async () => {
    const applied = await apply(creation(copy({ namespace: "nowhere" })));
    expect(applied).toMatchObject({ type: "refused", note: { code: "HOST_NAMESPACE_MISSING" } });
    expect(await clusters.host.client.get(NAMESPACES, { namespace: "", name: "nowhere" })).toBeUndefined();
  });

  test("says so when the namespace is being deleted, and takes no missing permission for that", async () => {
    const forbidden = (reason: string) =>
      new EngineError("API_FORBIDDEN", "No", { details: { status: { details: { causes: [{ reason }] } } } });
    const refusing = (error: EngineError) => {
      const refuse = () => Promise.reject(error);
      return apply(creation(), { host: { get: refuse, create: refuse, update: refuse, delete: refuse } });
    };
    const goes = { code: "HOST_NAMESPACE_MISSING", message: expect.stringContaining("being deleted") };
    expect(await refusing(forbidden("NamespaceTerminating"))).toMatchObject({ type: "refused", note: goes });
    expect((await refusing(forbidden("FieldValueInvalid"))).type).toBe("failed");
    expect((await refusing(new EngineError("API_FORBIDDEN", "No"))).type).toBe("failed");
  });

  test("tells the field that the API server refuses, without the host's name for the object", async () => {
    const applied = await apply(creation({ ...copy(), subsets: [{ addresses: [{ ip: "127.0.0.1" }] }] }));
    expect(applied).toMatchObject({ type: "refused", note: { code: "API_INVALID" } });
    const { message } = (applied as { note: { message: string } }).note;
    expect(message).toContain("subsets[0].addresses[0].ip");
    expect(message).not.toContain(HOST_KEY.name);
  });

  test("hides the host's name for the object where the API server quotes it", async () => {
    const error = new EngineError("API_INVALID", "Refused", {
      details: { status: { details: { causes: [{ field: "metadata.name", message: `Invalid value: "${HOST_KEY.name}"` }] } } },
    });
    const refuse = () => Promise.reject(error);
    const writer = { get: refuse, create: refuse, update: refuse, delete: refuse };
    const applied = await apply(creation(), { host: writer });
    expect(applied).toMatchObject({
      note: { message: `The host's API server refuses the object as invalid: metadata.name: Invalid value: "…"` },
    });
  });

  test("finds the world changed when the object moved on", async () => {
    const first = await clusters.host.client.create(ENDPOINTS, copy());
    await clusters.host.client.update(ENDPOINTS, { ...first, metadata: { ...first.metadata, labels: { second: "yes" } } });
    const update: Operation = { action: "update", side: "host", object: { ...first, subsets: [] }, reason: "test" };
    expect((await apply(update)).type).toBe("outdated");
    expect((await clusters.host.client.get(ENDPOINTS, HOST_KEY))?.["subsets"]).not.toEqual([]);
  });

  test("deletes only what the plan saw", async () => {
    const first = await clusters.host.client.create(ENDPOINTS, copy());
    await clusters.host.client.update(ENDPOINTS, { ...first, metadata: { ...first.metadata, labels: { second: "yes" } } });
    expect((await apply(deletion(first))).type).toBe("outdated");
    expect(await clusters.host.client.get(ENDPOINTS, HOST_KEY)).toBeDefined();
  });

  test("reads the tenant object itself, and knows when there is none", async () => {
    const read = () =>
      send({ type: "get", side: "tenant", key: TENANT_KEY }, ENDPOINTS, { tenant: clusters.tenant.client, host: clusters.host.client });
    expect(await read()).toEqual({ type: "absent" });
    const object = await clusters.tenant.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { ...TENANT_KEY } });
    expect(await read()).toEqual({ type: "object", object });
  });

  test("answers that there is no answer while a cluster cannot be reached", async () => {
    await clusters.host.client.close();
    expect(await apply(creation())).toMatchObject({ type: "failed", error: { code: "API_UNAVAILABLE" } });
  });

  test("deletes what is as the plan saw it", async () => {
    const first = await clusters.host.client.create(ENDPOINTS, copy());
    expect((await apply(deletion(first))).type).toBe("absent");
    expect(await clusters.host.client.get(ENDPOINTS, HOST_KEY)).toBeUndefined();
  });

  test("counts an object that is gone already as deleted", async () => {
    const first = await clusters.host.client.create(ENDPOINTS, copy());
    await clusters.host.client.delete(ENDPOINTS, HOST_KEY);
    expect((await apply(deletion(first))).type).toBe("absent");
  });
});
