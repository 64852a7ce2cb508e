import { KubeConfig } from "@kubernetes/client-node";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { startCluster } from "../../src/clusters.ts";
import { ENDPOINTS, NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";

describe("startCluster", () => {
  test("gives a kubeconfig that Kubernetes' own client reads", async () => {
    const cluster = await startCluster({ name: "demo" });
    const config = new KubeConfig();
    config.loadFromString(cluster.kubeconfig);
    expect([config.getCurrentContext(), config.getCurrentCluster()!.server]).toEqual(["demo", cluster.url]);
    expect(Buffer.from(config.getCurrentCluster()!.caData!, "base64").toString()).toBe(cluster.caPem);
    expect(config.getCurrentUser()!.token).toBe(cluster.token);
    await cluster.stop();
  });

  test("over plain HTTP has no secrets to tell", async () => {
    const cluster = await startCluster({ name: "plain", tls: false });
    expect([cluster.url.startsWith("http://127.0.0.1:"), cluster.caPem, cluster.token]).toEqual([true, "", ""]);
    expect(load(cluster.kubeconfig)).toMatchObject({ users: [{ name: "plain", user: {} }] });
    await cluster.stop();
  });

  test("two clusters do not share tokens, objects or identities", async () => {
    const [one, two] = [await startCluster({ name: "one", tls: false }), await startCluster({ name: "two", tls: false })];
    const uid = async (cluster: typeof one) => (await cluster.client.get(NAMESPACES, { namespace: "", name: "kube-system" }))!.metadata.uid;
    expect(await uid(one)).not.toBe(await uid(two));
    await one.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    expect(await two.client.get(NAMESPACES, { namespace: "", name: "shop" })).toBeUndefined();
    await one.stop();
    await two.stop();
  });

  test("begins with the way to its API server at the address that every cluster has it", async () => {
    const cluster = await startCluster({ name: "demo", tls: false });
    const key = { namespace: "default", name: "kubernetes" };
    expect(await cluster.client.get(SERVICES, key)).toMatchObject({ spec: { clusterIP: "10.96.0.1", ports: [{ port: 443 }] } });
    expect(await cluster.client.get(ENDPOINTS, key)).toMatchObject({
      metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    });
    await cluster.settled();
    expect(await cluster.client.get(ENDPOINTS, key)).toBeDefined();
    await cluster.stop();
  });

  test("with a given clock and given chance begins the same way each time", async () => {
    const state = async () => {
      const cluster = await startCluster({ name: "demo", tls: false, clock: createFakeClock(), chance: createSeededChance(7) });
      const { items } = await cluster.client.list(SERVICES);
      await cluster.stop();
      return items;
    };
    expect(await state()).toEqual(await state());
  });
});
