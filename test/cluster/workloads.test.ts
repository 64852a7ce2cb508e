/**
 * Deployments, StatefulSets, PodDisruptionBudgets and NetworkPolicies: what is stored, generations, columns and scale.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/clusters.ts";
import {
  DEPLOYMENT_COLUMNS,
  DISRUPTION_BUDGET_COLUMNS,
  NETWORK_POLICY_COLUMNS,
  STATEFUL_SET_COLUMNS,
} from "../../src/cluster/kinds/columns/workloads.ts";
import { compare } from "../../src/apiserver/apply/compare.ts";
import { strategicMerge } from "../../src/apiserver/patches/strategic-merge.ts";
import { DISRUPTION_BUDGETS, disruptionBudgets, NETWORK_POLICIES } from "../../src/cluster/kinds/policies.ts";
import { SCALE } from "../../src/cluster/kinds/scale.ts";
import { deployments, DEPLOYMENTS, STATEFUL_SETS } from "../../src/cluster/kinds/workloads.ts";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";

let cluster: EmbeddedCluster;
beforeAll(async () => void (cluster = await createEmbeddedCluster()));
afterAll(() => cluster.stop());

const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1", ports: [{ containerPort: 80 }] }] } };
const workload = (spec: object = {}) => ({ selector: { matchLabels: labels }, template, ...spec });
let names = 0;
const create = ({ apiVersion, kind, ...rest }: ResourceType, spec: object) =>
  cluster.client.create({ apiVersion, kind, ...rest }, {
    apiVersion,
    kind,
    metadata: { name: `one-${(names += 1)}`, namespace: "default" },
    spec,
  } as KubeObject);
const budget = (parts: object) => ({ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: {}, ...parts }) as KubeObject;
const keyOf = ({ metadata }: KubeObject) => ({ namespace: metadata.namespace!, name: metadata.name! });

describe("what is stored", () => {
  test.each([
    ["Deployment", DEPLOYMENTS, workload({ strategy: { type: "Magic" } }), {}],
    [
      "StatefulSet",
      STATEFUL_SETS,
      workload({ serviceName: "web", updateStrategy: { type: "OnDelete" }, volumeClaimTemplates: [{ metadata: { name: "data" } }] }),
      {},
    ],
    ["PodDisruptionBudget", DISRUPTION_BUDGETS, { minAvailable: 1, maxUnavailable: "101%" }, {}],
    ["NetworkPolicy", NETWORK_POLICIES, { ingress: [{ ports: [{ port: 0 }] }], egress: [{}] }, undefined],
  ])("of a %s is what was written, with nothing filled in and nothing refused", async (_kind, type, spec, status) => {
    const made = await create(type, spec);
    expect([made["spec"], made["status"], made.metadata["generation"]]).toEqual([spec, status, 1]);
  });

  test.each([
    [-1, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
    [1.5, "spec.replicas: Invalid value: 1.5: must be a whole number of 32 bits"],
    [2 ** 31, "must be a whole number of 32 bits"],
    ["3", 'spec.replicas: Invalid value: "3"'],
  ])("has a number of replicas, which %j is not", async (replicas, message) => {
    await expect(create(DEPLOYMENTS, workload({ replicas }))).rejects.toThrow(message);
    await expect(create(STATEFUL_SETS, workload({ replicas }))).rejects.toThrow(message);
  });
});

describe("changes", () => {
  test("of a Deployment count, and its status is written apart", async () => {
    const made = await create(DEPLOYMENTS, workload());
    const key = keyOf(made);
    const scaled = await cluster.client.patch(DEPLOYMENTS, key, "merge", { spec: { replicas: 3 }, status: { readyReplicas: 7 } });
    expect([scaled.metadata["generation"], scaled["status"]]).toEqual([2, {}]);
    const noted = await cluster.client.patch(DEPLOYMENTS, key, "merge", { metadata: { annotations: { a: "b" } } });
    expect(noted.metadata["generation"]).toBe(3);
  });

  test("of a StatefulSet that leave out how it is updated are none, since that is filled in", async () => {
    const made = await create(STATEFUL_SETS, workload());
    expect(made["spec"]).toEqual({ ...workload(), updateStrategy: { type: "RollingUpdate" } });
    const { object } = await cluster.registry.update(STATEFUL_SETS, keyOf(made), {
      metadata: { name: made.metadata.name },
      spec: workload(),
    });
    expect(object.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("of another kind's annotations do not", async () => {
    for (const type of [STATEFUL_SETS, NETWORK_POLICIES, DISRUPTION_BUDGETS]) {
      const key = keyOf(await create(type, workload()));
      const noted = await cluster.client.patch(type, key, "merge", { metadata: { annotations: { a: "b" } } });
      expect(noted.metadata["generation"]).toBe(1);
      expect((await cluster.client.patch(type, key, "merge", { spec: { a: 1 } })).metadata["generation"]).toBe(2);
    }
  });
});

describe("selectors", () => {
  const before = { spec: { minAvailable: 1, selector: { matchLabels: { ...labels, tier: "front" } } } };
  const selector = { matchLabels: { app: "other" } };

  test("of a PodDisruptionBudget are replaced by strategic merge patches, as `kubectl apply` writes them", () => {
    expect(strategicMerge(disruptionBudgets.shape, before, { spec: { selector } })).toEqual({ spec: { minAvailable: 1, selector } });
    const emptied = strategicMerge(disruptionBudgets.shape, before, { spec: { selector: { $patch: "delete" } } });
    expect(emptied).toEqual({ spec: { minAvailable: 1, selector: {} } });
    expect(compare(disruptionBudgets.shape, budget(before), budget({ spec: { ...before.spec, selector } })).modified).toEqual({
      "f:spec": { "f:selector": {} },
    });
  });

  test("of a Deployment are merged", () => {
    const merged = { matchLabels: { app: "other", tier: "front" } };
    expect(strategicMerge(deployments.shape, before, { spec: { selector } })).toEqual({ spec: { minAvailable: 1, selector: merged } });
  });
});

test("a scale has no selector where there is none, or one that cannot be read", () => {
  const status = (selector: unknown) =>
    SCALE.show({ apiVersion: "apps/v1", kind: "Deployment", metadata: {}, spec: { selector }, status: {} } as KubeObject)["status"];
  expect([undefined, {}, "app=web"].map(status)).toEqual([{ replicas: 0 }, { replicas: 0 }, { replicas: 0 }]);
  expect(status({ matchLabels: labels })).toEqual({ replicas: 0, selector: "app=web" });
});

describe("tables", () => {
  const row = (columns: typeof DEPLOYMENT_COLUMNS, object: KubeObject) =>
    Object.fromEntries(columns.filter(({ name }) => name !== "Name" && name !== "Age").map(({ name, cell }) => [name, cell(object, 0)]));

  test("show how far a Deployment is", async () => {
    const made = await create(DEPLOYMENTS, workload({ replicas: 2 }));
    const object = { ...made, status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 } };
    expect(row(DEPLOYMENT_COLUMNS, object)).toEqual({
      Ready: "1/2",
      "Up-to-date": 2,
      Available: 1,
      Containers: "main",
      Images: "web:1",
      Selector: "app=web",
    });
    expect(row(STATEFUL_SET_COLUMNS, object)).toEqual({ Ready: "1/2", Containers: "main", Images: "web:1" });
  });

  test("show what there is of unchecked objects", () => {
    const hostile = {
      metadata: {},
      spec: { replicas: "x", template: { spec: { containers: [null, { name: 5, image: "a" }] } }, selector: { matchLabels: [], matchExpressions: [7] }, podSelector: 3 }, // prettier-ignore
      status: { readyReplicas: {}, updatedReplicas: 2 ** 40 },
    } as unknown as KubeObject;
    expect(row(DEPLOYMENT_COLUMNS, hostile)).toMatchObject({ Ready: "0/1", "Up-to-date": 0, Containers: ",", Images: ",a" });
    expect(row(NETWORK_POLICY_COLUMNS, hostile)["Pod-Selector"]).toBe("<none>");
    expect(row(DISRUPTION_BUDGET_COLUMNS, hostile)).toMatchObject({ "Min Available": "N/A", "Allowed Disruptions": 0 });
  });

  test("show selectors as people write them", async () => {
    const matchExpressions = [
      { key: "tier", operator: "NotIn", values: ["b", "a"] },
      { key: "old", operator: "DoesNotExist" },
    ];
    const some = await create(NETWORK_POLICIES, { podSelector: { matchLabels: labels, matchExpressions } });
    const all = await create(NETWORK_POLICIES, {});
    expect([some, all].map((object) => row(NETWORK_POLICY_COLUMNS, object)["Pod-Selector"])).toEqual([
      "app=web,tier notin (a,b),!old",
      "<none>",
    ]);
  });
});

describe("scale", () => {
  const scale = (key: ReturnType<typeof keyOf>, kind: "replace" | "merge" | "apply", body: unknown, part = "scale") =>
    cluster.registry.view(DEPLOYMENTS, { key, part, write: { kind, body } }, { fieldManager: "scaler" });

  test("belongs to the one who wrote it, as a part of its own", async () => {
    const body = { metadata: { name: "scaled" }, spec: workload() };
    const key = keyOf(await cluster.registry.create(DEPLOYMENTS, "default", body, { fieldManager: "maker" }));
    expect(await scale(key, "merge", { spec: { replicas: 7 } })).toMatchObject({ kind: "Scale", spec: { replicas: 7 } });
    const { metadata, spec } = (await cluster.client.get(DEPLOYMENTS, key))!;
    expect([(spec as { replicas: number }).replicas, metadata["generation"]]).toEqual([7, 2]);
    expect(metadata.managedFields).toContainEqual(expect.objectContaining({ manager: "scaler", subresource: "scale" }));
  });

  test("shows one replica where nothing is said, and none that cannot be counted", async () => {
    const made = await create(DEPLOYMENTS, workload());
    const key = keyOf(made);
    await cluster.registry.update(DEPLOYMENTS, key, { ...made, status: { replicas: 2 ** 40 } }, { subresource: "status" });
    const shown = await cluster.registry.view(DEPLOYMENTS, { key, part: "scale" });
    expect([shown["spec"], shown["status"]]).toEqual([{ replicas: 1 }, { replicas: 0, selector: "app=web" }]);
  });

  test("is not another object's, nor found under another name", async () => {
    const key = keyOf(await create(DEPLOYMENTS, workload()));
    await expect(scale(key, "replace", { metadata: { name: "other" } })).rejects.toThrow("does not match the name on the URL");
    await expect(scale(key, "merge", {}, "size")).rejects.toThrow();
    const whole = cluster.registry.update(DEPLOYMENTS, key, { metadata: { name: key.name }, spec: workload() }, { subresource: "scale" });
    await expect(whole).rejects.toThrow();
    expect((await cluster.client.get(DEPLOYMENTS, key))!.metadata["generation"]).toBe(1);
  });
});
