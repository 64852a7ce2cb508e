import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/clusters.ts";
import { CLUSTER_ROLES } from "../../src/cluster/rbac/resources.ts";
import { codeOf } from "../conformance/setting.ts";

let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await createEmbeddedCluster();
});
afterAll(() => cluster.stop());

const rule = (resource: string) => ({ verbs: ["get"], apiGroups: [""], resources: [resource] });
const of = (label: string) => ({ aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] } });
const create = (name: string, more: object, label?: string) => {
  const { apiVersion, kind } = CLUSTER_ROLES;
  return cluster.client.create(CLUSTER_ROLES, {
    apiVersion,
    kind,
    metadata: { name, ...(label && { labels: { [label]: "true" } }) },
    ...more,
  });
};
const get = async (name: string) => {
  await cluster.settled();
  return (await cluster.client.get(CLUSTER_ROLES, { namespace: "", name }))!;
};

describe("ClusterRoles made of others", () => {
  test("are filled before a new cluster is visible, each with all rules of the one below it", async () => {
    const fresh = await createEmbeddedCluster();
    const rules = async (name: string) => (await fresh.client.get(CLUSTER_ROLES, { namespace: "", name }))!["rules"] as readonly unknown[];
    const [view, edit, admin] = [await rules("view"), await rules("edit"), await rules("admin")];
    await fresh.stop();
    expect(view.length).toBeGreaterThan(3);
    expect(edit).toEqual(expect.arrayContaining([...view]));
    expect(admin).toEqual(expect.arrayContaining([...edit]));
    expect([edit.length > view.length, admin.length > edit.length]).toEqual([true, true]);
  });

  test("that select each other in a circle come to rest with what is not in the circle", async () => {
    const next = ["ring-b", "ring-c", "ring-a"];
    for (const [at, name] of ["ring-a", "ring-b", "ring-c"].entries()) {
      await create(name, { rules: [rule(`own-${at}`)], ...of(`example.com/${next[at]}`) }, `example.com/${name}`);
    }
    await create("leaf", { rules: [rule("pods")] }, "example.com/ring-c");
    for (const name of ["ring-a", "ring-b", "ring-c"]) expect((await get(name))["rules"]).toEqual([rule("pods")]);
  });

  test("keep their own rules when they are made of others no more", async () => {
    await create("part", { rules: [rule("nodes")] }, "example.com/once");
    await create("once", { rules: [], ...of("example.com/once") });
    const once = await get("once");
    const { aggregationRule: _gone, ...plain } = once;
    await cluster.client.update(CLUSTER_ROLES, plain as typeof once);
    await cluster.client.delete(CLUSTER_ROLES, { namespace: "", name: "part" });
    expect((await get("once"))["rules"]).toEqual([rule("nodes")]);
  });

  test("tell who filled them, and are not written again for nothing", async () => {
    const body = { metadata: { name: "owned" }, rules: [], ...of("example.com/owned") };
    await cluster.registry.create(CLUSTER_ROLES, "", body, { fieldManager: "author" });
    await create("owned-part", { rules: [rule("nodes")] }, "example.com/owned");
    const { metadata } = await get("owned");
    expect(metadata.managedFields).toMatchObject([{ manager: "author" }, { manager: "clusterrole-aggregation-controller" }]);
    await create("unrelated", { rules: [rule("nodes")] });
    expect((await get("owned")).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  test.each([
    { why: "without a selector", selectors: [] },
    { why: "with an operator that is none", selectors: [{ matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] }] },
  ])("$why are API_INVALID", async ({ selectors }) => {
    expect(await codeOf(create("wrong", { rules: [], aggregationRule: { clusterRoleSelectors: selectors } }))).toBe("API_INVALID");
  });
});
