/**
 * Objects of the host that a tenant can import by naming them: none that is meant for another tenant.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { ENDPOINTS, EVENTS, NAMESPACES, SECRETS } from "../../../src/kube/object/resource.ts";
import type { KubeObject, StringMap } from "../../../src/kube/object/types.ts";
import { cluster, clock, start, useRunningSyncers } from "./running-syncers.ts";

useRunningSyncers();

let tenant: EmbeddedCluster;
let host: EmbeddedCluster;

const REFERENCES = {
  endpoints: { patches: [{ path: 'metadata.annotations["example.com/secret"]', reference: { apiVersion: "v1", kind: "Secret" } }] },
};

beforeEach(async () => void ([tenant, host] = [await cluster("a", "shop"), await cluster("vc")]));

async function refer(namespace: string, secret: string): Promise<void> {
  const metadata = { namespace, name: "web", annotations: { "example.com/secret": secret } };
  await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata });
}

async function put(name: string, annotations: StringMap = {}, labels: StringMap = {}): Promise<void> {
  const metadata = { namespace: "vc", name, annotations, labels };
  await host.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data: { text: "c2VjcmV0" } });
}

const imported = async (namespace: string, name: string): Promise<KubeObject | undefined> =>
  tenant.client.get(SECRETS, { namespace, name });

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

describe("a host name that two tenant objects can have", () => {
  beforeEach(async () => {
    await put("db-x-shop-x-a-x-blue");
    await refer("a", "db-x-shop");
  });

  const run = () => start({ tenant, on: host, namespace: "vc", toHost: REFERENCES });

  test("is brought across while only one of their namespaces exists", async () => {
    await run();
    expect(await imported("a", "db-x-shop")).toBeDefined();
  });

  test("is not while both do, and comes once one of them is gone", async () => {
    await tenant.client.create(NAMESPACES, namespace("shop-x-a"));
    const syncer = await run();
    expect(await imported("a", "db-x-shop")).toBeUndefined();
    const record = syncer.status().objects.find(({ resource }) => resource === "secrets");
    expect(record?.notes.map(({ code }) => code)).toEqual(["REFERENCE_REFUSED"]);
    expect(record?.notes[0]?.message).toContain('sync.platform/stands-for to "a/db-x-shop"');
    expect((await tenant.client.list(EVENTS)).items.map(({ reason }) => reason)).toContain("ReferenceRefused");
    await tenant.client.delete(NAMESPACES, { namespace: "", name: "shop-x-a" });
    await clock.advance(70_000);
    expect(await imported("a", "db-x-shop")).toBeDefined();
  });

  test("is brought to the one that the host's operator names", async () => {
    await tenant.client.create(NAMESPACES, namespace("shop-x-a"));
    await run();
    const say = (text: string) =>
      host.client.patch(SECRETS, { namespace: "vc", name: "db-x-shop-x-a-x-blue" }, "merge", {
        metadata: { annotations: { "sync.platform/stands-for": text } },
      });
    await say("shop-x-a/db");
    await clock.advance(5_000);
    expect(await imported("a", "db-x-shop")).toBeUndefined();
    await say("a/db-x-shop");
    await clock.advance(5_000);
    expect(await imported("a", "db-x-shop")).toBeDefined();
    expect((await imported("a", "db-x-shop"))?.metadata.annotations).not.toHaveProperty(["sync.platform/stands-for"]);
  });

  test("is not brought across without the right to look at namespaces", async () => {
    const get = tenant.client.get.bind(tenant.client);
    tenant.client.get = (resource, key, ...rest) =>
      resource === NAMESPACES && key.name !== "kube-system"
        ? Promise.reject(new EngineError("API_FORBIDDEN", "namespaces are hidden"))
        : get(resource, key, ...rest);
    await run();
    expect(await imported("a", "db-x-shop")).toBeUndefined();
  });
});

describe("what is marked", () => {
  const marks = (prefix: string, vcluster: string, of: string) => {
    const [ns, name] = of.split("/") as [string, string];
    const says = { name, namespace: ns, uid: "u", kind: "v1/Secret" };
    const annotations = Object.fromEntries(Object.entries(says).map(([key, value]) => [`${prefix}object-${key}`, value]));
    return [annotations, { [`${prefix}managed-by`]: vcluster, [`${prefix}namespace`]: ns }] as const;
  };

  test.each([
    { why: "another virtual cluster", marked: marks("sync.platform/", "ns2-x-blue", "prod/db") },
    { why: "another virtual cluster of another product", marked: marks("vcluster.loft.sh/", "red", "shop/db") },
    { why: "another virtual cluster, by a single label", marked: [{}, { "sync.platform/managed-by": "green" }] as const },
    {
      why: "another virtual cluster of another product, by a single label",
      marked: [{}, { "vcluster.loft.sh/managed-by": "green" }] as const,
    },
    { why: "another virtual cluster, by a single annotation", marked: [{ "sync.platform/vcluster": "green" }, {}] as const },
    { why: "another tenant object", marked: marks("vcluster.loft.sh/", "blue", "shop-x-a/db") },
  ])("as the copy of $why is never brought across, even if a tenant wrote the operator's word on it", async ({ marked }) => {
    const [annotations, labels] = marked;
    await put("db-x-shop-x-blue", { ...annotations, "sync.platform/stands-for": "shop/db" }, labels);
    await refer("shop", "db");
    await start({ tenant, on: host, namespace: "vc", toHost: REFERENCES });
    expect(await imported("shop", "db")).toBeUndefined();
  });
});

test("an ordinary name is brought across without a look at any namespace", async () => {
  const asked: string[] = [];
  const get = tenant.client.get.bind(tenant.client);
  tenant.client.get = (resource, key, ...rest) => {
    if (resource === NAMESPACES) asked.push(key.name);
    return get(resource, key, ...rest);
  };
  await put("db-x-shop-x-blue");
  await refer("shop", "db");
  await start({ tenant, on: host, namespace: "vc", toHost: REFERENCES });
  expect(await imported("shop", "db")).toBeDefined();
  expect(asked.filter((name) => name !== "kube-system")).toEqual([]);
});
