/**
 * A tenant's labels and annotations never decide ownership: neither those on a copy since an earlier
 * version, nor what comes now.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SECRETS, SERVICES, type ResourceType } from "../../../src/kube/object/resource.ts";
import { cluster, fill, start, stopAll, useRunningSyncers } from "./running-syncers.ts";

useRunningSyncers();

let tenant: EmbeddedCluster;
let host: EmbeddedCluster;

beforeEach(async () => {
  [tenant, host] = [await cluster("shop"), await cluster("vc")];
  await fill(tenant, "shop", ["web", "api"]);
});

const KINDS: Readonly<Record<string, string>> = {
  [ENDPOINTS.kind]: "v1/Endpoints",
  [SERVICES.kind]: "v1/Service",
  [ENDPOINT_SLICES.kind]: "discovery.k8s.io/v1/EndpointSlice",
  [SECRETS.kind]: "v1/Secret",
};

/** Everything by which a syncer with another prefix would know a copy of the object. */
function forged(prefix: string, { kind }: ResourceType, { name, uid = "u" }: { name: string; uid?: string | undefined }) {
  const labels = { [`${prefix}managed-by`]: "blue", [`${prefix}namespace`]: "shop" };
  const says = { name, namespace: "shop", uid, kind: KINDS[kind]! };
  const annotations = Object.fromEntries(Object.entries(says).map(([key, value]) => [`${prefix}object-${key}`, value]));
  return { labels, annotations };
}

async function forge(side: EmbeddedCluster, kind: ResourceType, place: { namespace: string; name: string }, prefixes: readonly string[]) {
  const object = await tenant.client.get(kind, { namespace: "shop", name: "web" });
  const all = prefixes.map((prefix) => forged(prefix, kind, { name: "web", uid: object?.metadata.uid }));
  const metadata = {
    labels: Object.assign({}, ...all.map(({ labels }) => labels)) as object,
    annotations: Object.assign({}, ...all.map(({ annotations }) => annotations)) as object,
  };
  await side.client.patch(kind, place, "merge", { metadata });
}

const WEB = { namespace: "shop", name: "web" };
const COPY = { namespace: "vc", name: "web-x-shop-x-blue" };

async function annotationsOf(kind: ResourceType, prefix: string): Promise<string[]> {
  const copy = await host.client.get(kind, COPY);
  return Object.keys(copy?.metadata.annotations ?? {}).filter((key) => key.startsWith(prefix));
}

describe.each([{ prefixes: ["a.io/"] }, { prefixes: ["a.io/", "b.io/"] }, { prefixes: ["vcluster.loft.sh/"] }])(
  "markers that a tenant has written, below $prefixes",
  ({ prefixes }) => {
    test.each([ENDPOINTS, SERVICES])("$kind: do not cross, and the next start goes well", async (kind) => {
      await forge(tenant, kind, WEB, prefixes);
      await start({ tenant, on: host, namespace: "vc" });
      await stopAll();
      for (const prefix of prefixes) expect(await annotationsOf(kind, `${prefix}object-`)).toEqual([]);
      const before = (await host.client.list(kind, { namespace: "vc" })).items;
      await start({ tenant, on: host, namespace: "vc" });
      expect((await host.client.list(kind, { namespace: "vc" })).items).toEqual(before);
    });

    test.each([ENDPOINTS, SERVICES])("$kind: stand on a copy already, and the start goes well", async (kind) => {
      await start({ tenant, on: host, namespace: "vc" });
      await stopAll();
      await forge(tenant, kind, WEB, prefixes);
      await forge(host, kind, COPY, prefixes);
      await start({ tenant, on: host, namespace: "vc" });
      await tenant.client.patch(kind, WEB, "merge", { metadata: { annotations: { team: "new" } } });
      await stopAll();
      await start({ tenant, on: host, namespace: "vc" });
      expect((await host.client.get(kind, COPY))?.metadata.annotations).toMatchObject({ team: "new" });
    });

    test("slices: do not cross, and the next start goes well", async () => {
      const toHost = { endpointSlices: {} };
      const slice = { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4", endpoints: [] };
      const { labels, annotations } = forged(prefixes[0]!, ENDPOINT_SLICES, { name: "web" });
      const metadata = { ...WEB, labels: { ...labels, "kubernetes.io/service-name": "web" }, annotations };
      await tenant.client.create(ENDPOINT_SLICES, { ...slice, metadata });
      await start({ tenant, on: host, namespace: "vc", toHost });
      expect(await host.client.get(ENDPOINT_SLICES, COPY)).toBeDefined();
      expect(await annotationsOf(ENDPOINT_SLICES, `${prefixes[0]!}object-`)).toEqual([]);
      await stopAll();
      await start({ tenant, on: host, namespace: "vc", toHost });
    });

    test("Secrets that are referred to: do not cross", async () => {
      const patch = { path: 'metadata.annotations["example.com/secret"]', reference: { apiVersion: "v1", kind: "Secret" } };
      const toHost = { secrets: { enabled: true }, endpoints: { patches: [patch] } };
      const { labels, annotations } = forged(prefixes[0]!, SECRETS, { name: "web" });
      await tenant.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { ...WEB, labels, annotations } });
      await tenant.client.patch(ENDPOINTS, WEB, "merge", { metadata: { annotations: { "example.com/secret": "web" } } });
      await start({ tenant, on: host, namespace: "vc", toHost });
      expect(await host.client.get(SECRETS, COPY)).toBeDefined();
      expect(await annotationsOf(SECRETS, `${prefixes[0]!}object-`)).toEqual([]);
    });
  },
);

test("forged markers beside those of a real other syncer do not keep its copies from being adopted", async () => {
  const uid = (await tenant.client.get(ENDPOINTS, WEB))!.metadata.uid;
  const [real, more] = ["vcluster.loft.sh/", "a.io/"].map((prefix) => forged(prefix, ENDPOINTS, { name: "web", uid }));
  const metadata = {
    ...COPY,
    labels: { ...more!.labels, ...real!.labels },
    annotations: { ...more!.annotations, ...real!.annotations },
  };
  await host.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata });
  await expect(start({ tenant, on: host, namespace: "vc" })).rejects.toMatchObject({
    code: "OTHER_SYNCER",
    details: { prefix: "vcluster.loft.sh/", hint: expect.stringContaining("those 1 objects") },
  });
  await stopAll();
  await start({ tenant, on: host, namespace: "vc", adopt: "vcluster.loft.sh/" });
  expect(await annotationsOf(ENDPOINTS, "sync.platform/vcluster")).toContain("sync.platform/vcluster");
});

test("what stands on the copy of another virtual cluster of the name is no reason not to start", async () => {
  await start({ tenant, on: host, namespace: "vc" });
  await stopAll();
  await host.client.patch(ENDPOINTS, COPY, "merge", { metadata: { annotations: { "sync.platform/vcluster-namespace": "v2" } } });
  await forge(host, ENDPOINTS, COPY, ["a.io/"]);
  const syncer = await start({ tenant, on: host, namespace: "vc" });
  expect(syncer.status().running).toBe(true);
});
