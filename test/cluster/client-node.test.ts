/**
 * The embedded cluster under the most used client library for JavaScript, as its users use it: typed calls, objects of any
 * kind, all patch types, watches and its informer.
 */
import {
  CoreV1Api,
  DiscoveryV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type V1ConfigMap,
  type V1Endpoints,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCluster, type Cluster } from "../../src/clusters.ts";
import { eventually } from "../conformance/sandbox-namespace.ts";

let cluster: Cluster;
let config: KubeConfig;
let core: CoreV1Api;
const namespace = "client-node";

beforeAll(async () => {
  cluster = await startCluster({ name: "client-node" });
  config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: namespace } } });
});

afterAll(() => cluster.stop());

async function statusOf(call: Promise<unknown>): Promise<{ code: number; reason: unknown }> {
  try {
    await call;
    return { code: 200, reason: undefined };
  } catch (error) {
    const { code, body } = error as { code: number; body: string };
    return { code, reason: (JSON.parse(body) as { reason: unknown }).reason };
  }
}

describe("typed calls", () => {
  test("create, read, replace, patch, list and delete", async () => {
    const name = "typed";
    const created = await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name, labels: { app: "typed" } }, data: { a: "1" } },
    });
    expect(created.metadata?.uid).toBeTruthy();
    const replaced = await core.replaceNamespacedConfigMap({ name, namespace, body: { ...created, data: { a: "2" } } });
    expect(replaced.metadata?.resourceVersion).not.toBe(created.metadata?.resourceVersion);
    const merged = await core.patchNamespacedConfigMap(
      { name, namespace, body: { data: { b: "3" } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    expect(merged.data).toEqual({ a: "2", b: "3" });
    const patched = await core.patchNamespacedConfigMap({ name, namespace, body: [{ op: "remove", path: "/data/a" }] });
    expect(patched.data).toEqual({ b: "3" });
    const strategic = await core.patchNamespacedConfigMap(
      { name, namespace, body: { data: { c: "4" } } },
      setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch),
    );
    expect(strategic.data).toEqual({ b: "3", c: "4" });
    expect(
      (await core.listNamespacedConfigMap({ namespace, labelSelector: "app=typed" })).items.map((item) => item.metadata?.name),
    ).toEqual([name]);
    await core.deleteNamespacedConfigMap({ name, namespace });
    expect(await statusOf(core.readNamespacedConfigMap({ name, namespace }))).toEqual({ code: 404, reason: "NotFound" });
  });

  test("apply on the server side, with a conflict", async () => {
    const apply = (fieldManager: string, data: Record<string, string>, force = false) =>
      core.patchNamespacedConfigMap(
        {
          name: "applied",
          namespace,
          fieldManager,
          force,
          body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, data },
        },
        setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply),
      );
    await apply("first", { a: "1", b: "1" });
    expect(await statusOf(apply("second", { a: "2" }))).toEqual({ code: 409, reason: "Conflict" });
    expect((await apply("second", { a: "2" }, true)).data).toEqual({ a: "2", b: "1" });
  });

  test("a stale write is a conflict, and a wrong object names its field", async () => {
    const created = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "stale" } } });
    await core.replaceNamespacedConfigMap({ name: "stale", namespace, body: { ...created, data: { a: "1" } } });
    expect(await statusOf(core.replaceNamespacedConfigMap({ name: "stale", namespace, body: { ...created, data: { a: "2" } } }))).toEqual({
      code: 409,
      reason: "Conflict",
    });
    expect(await statusOf(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "Not_A_Name" } } }))).toEqual({
      code: 422,
      reason: "Invalid",
    });
  });

  test("a list is read in pages of one state", async () => {
    for (const index of [0, 1, 2, 3, 4]) await core.createNamespacedSecret({ namespace, body: { metadata: { name: `page-${index}` } } });
    const names: string[] = [];
    for (let next: string | undefined = ""; next !== undefined;) {
      const page = await core.listNamespacedSecret({ namespace, limit: 2, ...(next !== "" && { _continue: next }) });
      names.push(...page.items.map((item) => item.metadata!.name!));
      next = page.metadata?._continue === "" ? undefined : page.metadata?._continue;
    }
    expect(names).toEqual(["page-0", "page-1", "page-2", "page-3", "page-4"]);
  });

  test("Endpoints without a selector show as EndpointSlices", async () => {
    await core.createNamespacedService({ namespace, body: { metadata: { name: "sliced" }, spec: { ports: [{ port: 80 }] } } });
    await core.createNamespacedEndpoints({
      namespace,
      body: { metadata: { name: "sliced" }, subsets: [{ addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 80 }] }] },
    });
    const slices = config.makeApiClient(DiscoveryV1Api);
    const found = await eventually("a mirrored slice", async () => {
      const { items } = await slices.listNamespacedEndpointSlice({ namespace, labelSelector: "kubernetes.io/service-name=sliced" });
      return items[0];
    });
    expect(found.endpoints?.map(({ addresses }) => addresses)).toEqual([["10.1.0.1"]]);
  });
});

test("objects of any kind are found by discovery, and patched strategically by default", async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "any-kind", namespace } };
  await objects.create({ ...object, data: { a: "1" } } as V1ConfigMap);
  const patched = (await objects.patch({ ...object, data: { b: "2" } } as V1ConfigMap)) as V1ConfigMap;
  expect(patched.data).toEqual({ a: "1", b: "2" });
  await objects.delete(object);
  expect((await statusOf(objects.read(object))).code).toBe(404);
});

test("a watch tells every change in order", async () => {
  const seen: string[] = [];
  const watch = new Watch(config);
  const controller = await watch.watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { fieldSelector: "metadata.name=watched" },
    (type: string, object: V1ConfigMap) => void seen.push(`${type} ${object.data?.["n"]}`),
    () => {},
  );
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "watched" }, data: { n: "1" } } });
  await core.patchNamespacedConfigMap({ name: "watched", namespace, body: [{ op: "replace", path: "/data/n", value: "2" }] });
  await core.deleteNamespacedConfigMap({ name: "watched", namespace });
  await eventually("three events", async () => (seen.length >= 3 ? true : undefined));
  controller.abort();
  expect(seen).toEqual(["ADDED 1", "MODIFIED 2", "DELETED 2"]);
});

test("its informer follows Endpoints through changes, an expired history and deletions", async () => {
  const informer = makeInformer<V1Endpoints>(config, `/api/v1/namespaces/${namespace}/endpoints`, () =>
    core.listNamespacedEndpoints({ namespace }),
  );
  const ips = () =>
    informer
      .list(namespace)
      ?.flatMap((object) => (object.metadata?.name === "followed" ? (object.subsets ?? []) : []))
      .flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip)) ?? [];
  // It stops forever on any error; starting it again is what its users do.
  informer.on("error", () => void setTimeout(() => void informer.start(), 10));
  await informer.start();
  const write = (ip: string) => ({ metadata: { name: "followed" }, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] });
  await core.createNamespacedEndpoints({ namespace, body: write("10.1.0.1") });
  await eventually("the first address", async () => ips().includes("10.1.0.1") || undefined);
  await cluster.compact();
  cluster.disconnect();
  await core.replaceNamespacedEndpoints({ name: "followed", namespace, body: write("10.1.0.2") });
  await eventually("the second address", async () => ips().includes("10.1.0.2") || undefined);
  await core.deleteNamespacedEndpoints({ name: "followed", namespace });
  await eventually("nothing", async () => ips().length === 0 || undefined);
  informer.off("error", () => {});
  await informer.stop();
});
