/**
 * Two virtual clusters of one name on one host, tenant clusters that were rebuilt, and clusters that were swapped: no syncer touches objects
 * that are not its own.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { clock, cluster, fill, start as startSyncer, stopAll, useRunningSyncers, type Start } from "./running-syncers.ts";

useRunningSyncers();

let host: EmbeddedCluster;

beforeEach(async () => void (host = await cluster("v1", "v2", "h-team-a")));

type Blue = Omit<Start, "on"> & { readonly on?: EmbeddedCluster };

const start = ({ on = host, ...blue }: Blue) => startSyncer({ on, ...blue });

/** Services and Endpoints of a host namespace, with their versions: two equal answers mean that nothing was written. */
async function copiesIn(namespace: string, on = host): Promise<string[]> {
  const lists = await Promise.all([SERVICES, ENDPOINTS].map((kind) => on.client.list(kind, { namespace })));
  const objects = lists.flatMap(({ items }) => items);
  return objects.map(({ kind, metadata: { name, uid, resourceVersion } }) => `${kind} ${name} ${uid} ${resourceVersion}`).sort();
}

async function codesIn(tenant: EmbeddedCluster): Promise<string[]> {
  const { items } = await tenant.client.list(EVENTS);
  return [...new Set(items.map((event) => String(event["reason"])))].sort();
}

/** Makes copies look as version 481069b wrote them: they do not name the namespace of their virtual cluster. */
async function age(namespace: string): Promise<void> {
  for (const kind of [SERVICES, ENDPOINTS]) {
    for (const { metadata } of (await host.client.list(kind, { namespace })).items) {
      const key = { namespace, name: metadata.name! };
      await host.client.patch(kind, key, "merge", { metadata: { annotations: { "sync.platform/vcluster-namespace": null } } });
    }
  }
}

async function uidOf({ client }: EmbeddedCluster): Promise<string> {
  return (await client.get(NAMESPACES, { namespace: "", name: "kube-system" }))!.metadata.uid!;
}

const FOLLOWING_ALL = { "team-*": "h-team-*" };
const EXACT = { "team-a": "h-team-a" };

describe("two virtual clusters of one name", () => {
  let first: EmbeddedCluster;
  let second: EmbeddedCluster;

  beforeEach(async () => {
    [first, second] = [await cluster("team-a"), await cluster("shop")];
    await fill(first, "team-a", ["db"]);
    await fill(second, "shop", ["api", "web"]);
  });

  describe.each([
    { copies: "this version", old: false },
    { copies: "version 481069b", old: true },
  ])("with copies of $copies", ({ old }) => {
    test.each([
      { why: "one follows all namespaces", mapped: FOLLOWING_ALL },
      { why: "one follows several namespaces", mapped: EXACT },
      { why: "none is mapped", mapped: undefined },
    ])("leave each other's objects alone, anyone who starts later: $why", async ({ mapped }) => {
      const one = { tenant: first, namespace: "v1", ...(mapped && { mapped }) };
      const other = { tenant: second, namespace: "v2" };
      await start(other);
      const place = mapped === undefined ? "v1" : "h-team-a";
      if (old) await age("v2");
      const theirs = await copiesIn("v2");
      expect(theirs).toHaveLength(4);
      await start(one);
      if (old) await age(place);
      const ours = await copiesIn(place);
      expect(ours).toHaveLength(2);
      expect(await copiesIn("v2")).toEqual(theirs);
      await stopAll();
      // The other order, and both once more.
      await start(one);
      await start(other);
      await clock.advance(60_000);
      expect([await copiesIn("v2"), await copiesIn(place)]).toEqual([theirs, ours]);
    });
  });

  test("an object of the other one that is in the way stays, and its owner is not told to be ours", async () => {
    const third = await cluster("team-a");
    await fill(third, "team-a", ["db"]);
    await start({ tenant: third, namespace: "v2", mapped: EXACT });
    const theirs = await copiesIn("h-team-a");
    const syncer = await start({ tenant: first, namespace: "v1", mapped: EXACT });
    expect(await copiesIn("h-team-a")).toEqual(theirs);
    const codes = syncer.status().objects.flatMap(({ notes }) => notes.map(({ code }) => code));
    expect(codes).toContain("HOST_OBJECT_FOREIGN");
    expect(await codesIn(first)).toContain("HostObjectForeign");
  });
});

describe("a tenant cluster that was rebuilt", () => {
  let before: EmbeddedCluster;
  let rebuilt: EmbeddedCluster;

  beforeEach(async () => {
    [before, rebuilt] = [await cluster("shop"), await cluster("shop")];
    await fill(before, "shop", ["api", "web"]);
    await fill(rebuilt, "shop", ["web"]);
    await start({ tenant: before, namespace: "v1" });
    await stopAll();
  });

  test.each([{ old: false }, { old: true }])("is refused, and nothing is written (old copies: $old)", async ({ old }) => {
    if (old) await age("v1");
    const copies = await copiesIn("v1");
    const uid = await uidOf(before);
    const refused = start({ tenant: rebuilt, namespace: "v1" });
    await expect(refused).rejects.toMatchObject({
      code: "CLUSTER_IDENTITY",
      details: { hint: expect.stringContaining(`--adopt-cluster ${uid}: those 4 copies`) },
    });
    expect(await copiesIn("v1")).toEqual(copies);
  });

  test("takes the copies over when asked to: what is there is rebound, what is not goes", async () => {
    await start({ tenant: rebuilt, namespace: "v1", adoptCluster: await uidOf(before) });
    const names = (await copiesIn("v1")).map((line) => line.split(" ").slice(0, 2).join(" "));
    expect(names).toEqual(["Endpoints web-x-shop-x-blue", "Service web-x-shop-x-blue"]);
    const copy = (await host.client.get(ENDPOINTS, { namespace: "v1", name: "web-x-shop-x-blue" })) as KubeObject;
    expect(copy.metadata.annotations).toMatchObject({ "sync.platform/cluster-uid": await uidOf(rebuilt) });
    await stopAll();
    const copies = await copiesIn("v1");
    await start({ tenant: rebuilt, namespace: "v1" });
    expect(await copiesIn("v1")).toEqual(copies);
  });

  test("does not take over those of a third cluster", async () => {
    await expect(start({ tenant: rebuilt, namespace: "v1", adoptCluster: "another" })).rejects.toMatchObject({ code: "CLUSTER_IDENTITY" });
  });
});

describe("clusters that were swapped", () => {
  test("are refused, and nothing is written", async () => {
    const tenant = await cluster("shop", "v1");
    await fill(tenant, "shop", ["web"]);
    await start({ tenant, namespace: "v1" });
    await stopAll();
    const before = [await copiesIn("v1"), await copiesIn("v1", tenant)];
    await expect(start({ tenant: host, on: tenant, namespace: "v1" })).rejects.toMatchObject({
      code: "CLUSTER_IDENTITY",
      details: { hint: expect.stringContaining("--host-kubeconfig") },
    });
    expect([await copiesIn("v1"), await copiesIn("v1", tenant)]).toEqual(before);
  });

  test("are not those of a virtual cluster within another one, even if both have one name", async () => {
    const middle = await cluster("v1");
    const inner = await cluster("shop");
    await fill(inner, "shop", ["web"]);
    await start({ tenant: inner, on: middle, namespace: "v1" });
    await start({ tenant: middle, on: host, namespace: "v1" });
    expect((await copiesIn("v1", middle)).map((line) => line.split(" ")[1])).toEqual(["web-x-shop-x-blue", "web-x-shop-x-blue"]);
    const outer = ["web-x-shop-x-blue-x-v1-x-blue", "web-x-shop-x-blue-x-v1-x-blue"];
    expect((await copiesIn("v1")).map((line) => line.split(" ")[1])).toEqual(outer);
    await stopAll();
    await start({ tenant: middle, on: host, namespace: "v1" });
    await start({ tenant: inner, on: middle, namespace: "v1" });
    expect((await copiesIn("v1")).map((line) => line.split(" ")[1])).toEqual(outer);
  });
});
