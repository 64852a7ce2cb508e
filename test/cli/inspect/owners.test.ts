/**
 * `cleanup` and `audit` of copies that other virtual clusters of the same name, earlier tenant clusters and earlier
 * configurations have left on a host.
 */
import { describe, expect, test } from "vitest";
import { ENDPOINTS, NAMESPACES } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { writeMarkers, type CopySource } from "../../../src/engine/translate/markers.ts";
import { cli, freshClusters, sides, stateOf, synced } from "./inspected-clusters.ts";

freshClusters();

/** A copy of shop/NAME, as the markers say; those of version 481069b do not name the namespace of their virtual cluster. */
async function put(place: string, said: Partial<CopySource> = {}): Promise<void> {
  const [namespace, name] = place.split("/") as [string, string];
  if ((await sides.host.client.get(NAMESPACES, { namespace: "", name: namespace })) === undefined)
    await sides.host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const source = { vcluster: "blue", kind: "v1/Endpoints", namespace: "shop", name, uid: "u", hostName: name, hostNamespace: namespace };
  const object: KubeObject = {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { namespace, name, ...writeMarkers("sync.platform/", { ...source, ...said }) },
  };
  await sides.host.client.create(ENDPOINTS, object);
}

async function left(): Promise<string[]> {
  const { items } = await sides.host.client.list(ENDPOINTS);
  const places = items.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
  return places.filter((place) => place !== "default/kubernetes").sort();
}

describe("cleanup", () => {
  test("leaves the copies of another virtual cluster of the name alone, and says whose they are", async () => {
    await synced();
    await put("v2/db", { clusterUid: "c2" });
    await put("v3/db", { clusterUid: "c3", vclusterNamespace: "v3" });
    await put("vc-blue/taken", { clusterUid: "c3", vclusterNamespace: "v3" });
    const { code, stdout, stderr } = await cli("cleanup", ["--yes"]);
    expect({ code, removed: stdout.split("\n").at(-2) }).toEqual({ code: 0, removed: "Removed 1 object." });
    expect(await left()).toEqual(["v2/db", "v3/db", "vc-blue/taken"]);
    expect(stderr.split("\n").slice(0, -1)).toEqual([
      'warning Left alone: 1 object of virtual cluster "blue" of an unknown namespace, from tenant cluster c2 (Endpoints v2/db)',
      'warning Left alone: 2 objects of virtual cluster "blue" in namespace v3, from tenant cluster c3 (Endpoints v3/db, Endpoints vc-blue/taken)',
    ]);
  });

  test("removes nothing where copies are from several tenant clusters, before one is named", async () => {
    await put("vc-blue/old", { clusterUid: "c1" });
    await put("vc-blue/new", { clusterUid: "c2", vclusterNamespace: "vc-blue" });
    const refused = await cli("cleanup", ["--yes"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("from tenant cluster c1 (Endpoints vc-blue/old)");
    expect(refused.stderr).toContain("from tenant cluster c2 (Endpoints vc-blue/new)");
    expect(refused.stderr).toContain("--cluster-uid");
    expect(await left()).toEqual(["vc-blue/new", "vc-blue/old"]);
    expect((await cli("cleanup", ["--yes", "--cluster-uid", "c1"])).stdout).toMatch(/\nRemoved 1 object\.\n$/);
    expect(await left()).toEqual(["vc-blue/new"]);
  });

  test("removes what an earlier configuration left in other namespaces", async () => {
    await put("h-a/db", { clusterUid: "c1", vclusterNamespace: "vc-blue" });
    await put("h-b/db", { clusterUid: "c1" });
    await put("vc-blue/db", { clusterUid: "c1" });
    expect((await cli("cleanup", ["--yes"])).stdout).toMatch(/\nRemoved 3 objects\.\n$/);
    expect(await left()).toEqual([]);
  });

  test("removes old copies of which only the uid tells whose they are, once it is named", async () => {
    await put("h-a/db", { clusterUid: "c1" });
    expect((await cli("cleanup", ["--yes"])).stdout).toBe("Nothing to remove.\n");
    expect((await cli("cleanup", ["--yes", "--cluster-uid", "c1"])).stdout).toMatch(/\nRemoved 1 object\.\n$/);
  });

  test("removes nothing of another namespace, even if its uid is named", async () => {
    await put("v3/db", { clusterUid: "c3", vclusterNamespace: "v3" });
    const before = await stateOf(sides);
    const { code, stderr } = await cli("cleanup", ["--yes", "--cluster-uid", "c3"]);
    expect(code).toBe(2);
    expect(stderr).toContain("no copies are from the tenant cluster c3");
    expect(stderr).toContain("in namespace v3");
    expect(await stateOf(sides)).toBe(before);
  });
});

describe("audit", () => {
  const findings = async () => {
    const { stdout } = await cli("audit", ["-o", "json"]);
    const found = JSON.parse(stdout) as { finding: string; host: string; message: string }[];
    return found.map(({ finding, host }) => `${finding} ${host}`);
  };

  test("finds copies that an earlier configuration left in other namespaces, and none of other virtual clusters", async () => {
    await synced();
    const uid = (await sides.tenant.client.get(NAMESPACES, { namespace: "", name: "kube-system" }))!.metadata.uid!;
    await put("h-a/web", { clusterUid: uid });
    await put("h-a/gone", { vclusterNamespace: "vc-blue" });
    await put("v2/db", { clusterUid: "c2" });
    await put("v3/db", { clusterUid: "c3", vclusterNamespace: "v3" });
    await put("vc-blue/foreign", { clusterUid: "c3", vclusterNamespace: "v3" });
    expect(await findings()).toEqual(["leftover h-a/gone", "leftover h-a/web"]);
    expect((await cli("cleanup", ["--yes"])).code).toBe(0);
    expect(await left()).toEqual(["v2/db", "v3/db", "vc-blue/foreign"]);
  });
});
