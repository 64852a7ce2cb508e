/**
 * Deployments, StatefulSets, PodDisruptionBudgets and NetworkPolicies: defaults, rules, generations and columns.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmbeddedCluster } from "../../src/clusters.ts";
import type { EmbeddedCluster } from "../../src/clusters.ts";
import { DEPLOYMENT_COLUMNS, NETWORK_POLICY_COLUMNS, STATEFUL_SET_COLUMNS } from "../../src/cluster/kinds/workload-columns.ts";
import { DEPLOYMENTS } from "../../src/cluster/kinds/deployments.ts";
import { DISRUPTION_BUDGETS } from "../../src/cluster/kinds/disruption-budgets.ts";
import { NETWORK_POLICIES } from "../../src/cluster/kinds/network-policies.ts";
import { STATEFUL_SETS } from "../../src/cluster/kinds/stateful-sets.ts";
import type { ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";

let cluster: EmbeddedCluster;
beforeAll(async () => void (cluster = await createEmbeddedCluster()));
afterAll(() => cluster.stop());

const labels = { app: "web" };
const template = (spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: "main", image: "web:1", resources: { limits: { cpu: "1" } }, ports: [{ containerPort: 80 }] }], ...spec },
});
const workload = (spec: object = {}) => ({ selector: { matchLabels: labels }, template: template(), ...spec });
let names = 0;
const create = ({ apiVersion, kind, ...rest }: ResourceType, spec: object) =>
  cluster.client.create({ apiVersion, kind, ...rest }, {
    apiVersion,
    kind,
    metadata: { name: `one-${(names += 1)}`, namespace: "default" },
    spec,
  } as KubeObject);
const refused = async (type: ResourceType, spec: object) => {
  const error = await create(type, spec).then(
    () => new Error("it was accepted"),
    (failure: unknown) => failure as Error,
  );
  return error.message;
};
const keyOf = ({ metadata }: KubeObject) => ({ namespace: metadata.namespace!, name: metadata.name! });

describe("what is left out is filled in", () => {
  test("of Deployments", async () => {
    const { spec, metadata, status } = await create(DEPLOYMENTS, workload());
    expect(spec).toMatchObject({
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      template: { spec: { restartPolicy: "Always", dnsPolicy: "ClusterFirst", securityContext: {}, schedulerName: "default-scheduler" } },
    });
    expect([metadata["generation"], status]).toEqual([1, {}]);
  });

  test("of templates, but for what only Pods are given", async () => {
    const { spec } = await create(DEPLOYMENTS, workload({ template: template({ hostNetwork: true, serviceAccountName: "bot" }) }));
    const made = (spec as { template: { spec: { containers: unknown[] } } }).template.spec;
    expect(made).toMatchObject({ serviceAccountName: "bot", serviceAccount: "bot" });
    expect(made).not.toHaveProperty("enableServiceLinks");
    expect(made).not.toHaveProperty("tolerations");
    expect(made.containers[0]).toMatchObject({ ports: [{ containerPort: 80, protocol: "TCP" }], resources: { limits: { cpu: "1" } } });
    expect(made.containers[0]).not.toHaveProperty("resources.requests");
    expect(made.containers[0]).not.toHaveProperty("ports.0.hostPort");
  });

  test("of a Deployment that recreates, no limits of a rolling update", async () => {
    const { spec } = await create(DEPLOYMENTS, workload({ strategy: { type: "Recreate" } }));
    expect((spec as { strategy: unknown }).strategy).toEqual({ type: "Recreate" });
  });

  test("of StatefulSets and their claims", async () => {
    const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } } };
    const { spec, status } = await create(STATEFUL_SETS, workload({ serviceName: "web", volumeClaimTemplates: [claim] }));
    expect(spec).toMatchObject({
      replicas: 1,
      podManagementPolicy: "OrderedReady",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      volumeClaimTemplates: [
        {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          spec: { volumeMode: "Filesystem", resources: { requests: { storage: "1Gi" } } },
          status: { phase: "Pending" },
        },
      ],
    });
    expect(status).toEqual({ replicas: 0, availableReplicas: 0 });
  });

  test("of NetworkPolicies", async () => {
    const { spec } = await create(NETWORK_POLICIES, { ingress: [{ ports: [{ port: "web" }] }] });
    expect(spec).toEqual({ podSelector: {}, ingress: [{ ports: [{ port: "web", protocol: "TCP" }] }], policyTypes: ["Ingress"] });
    const both = await create(NETWORK_POLICIES, { podSelector: {}, egress: [{}] });
    expect((both["spec"] as { policyTypes: unknown }).policyTypes).toEqual(["Ingress", "Egress"]);
  });
});

describe("what makes no sense is refused", () => {
  test.each([
    ["no selector", { selector: undefined }, "spec.selector: Required value"],
    ["a selector of everything", { selector: {} }, "spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
    ["a selector of others", { selector: { matchLabels: { app: "other" } } }, "`selector` does not match template `labels`"],
    ["fewer than none", { replicas: -1 }, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
    ["no containers", { template: template({ containers: [] }) }, "spec.template.spec.containers: Required value"],
    ["Pods that end", { template: template({ restartPolicy: "Never" }) }, 'spec.template.spec.restartPolicy: Unsupported value: "Never"'],
    ["a deadline of Pods", { template: template({ activeDeadlineSeconds: 5 }) }, "spec.template.spec.activeDeadlineSeconds: Forbidden"],
    ["an unknown strategy", { strategy: { type: "Magic" } }, 'spec.strategy.type: Unsupported value: "Magic"'],
    ["limits without rolling", { strategy: { type: "Recreate", rollingUpdate: {} } }, "spec.strategy.rollingUpdate: Forbidden"],
    [
      "an update that cannot move",
      { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: "0%" } } },
      "may not be 0 when `maxSurge` is 0",
    ],
    ["a share that is none", { strategy: { rollingUpdate: { maxSurge: "some" } } }, "spec.strategy.rollingUpdate.maxSurge: Invalid value"],
    ["a deadline before readiness", { minReadySeconds: 700 }, "must be greater than minReadySeconds"],
  ])("Deployment: %s", async (_what, spec, message) => {
    expect(await refused(DEPLOYMENTS, workload(spec))).toContain(message);
  });

  test.each([
    ["a policy of Pods", { podManagementPolicy: "Chaos" }, "spec.podManagementPolicy: Unsupported value"],
    ["a strategy", { updateStrategy: { type: "Recreate" } }, "spec.updateStrategy.type: Unsupported value"],
    [
      "a retention",
      { persistentVolumeClaimRetentionPolicy: { whenScaled: "Burn" } },
      "persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value",
    ],
  ])("StatefulSet: %s", async (_what, spec, message) => {
    expect((await refused(STATEFUL_SETS, workload(spec))).toLowerCase()).toContain(message.toLowerCase());
  });

  test.each([
    ["both limits", { minAvailable: 1, maxUnavailable: 1 }, "minAvailable and maxUnavailable cannot be both set"],
    ["more than all", { minAvailable: "101%" }, "spec.minAvailable: Invalid value"],
    ["an unknown policy", { unhealthyPodEvictionPolicy: "Never" }, "spec.unhealthyPodEvictionPolicy: Unsupported value"],
    [
      "an empty list",
      { selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
      "spec.selector.matchExpressions[0].values: Required",
    ],
  ])("PodDisruptionBudget: %s", async (_what, spec, message) => {
    expect(await refused(DISRUPTION_BUDGETS, spec)).toContain(message);
  });

  test.each([
    ["an unknown protocol", { ingress: [{ ports: [{ protocol: "ICMP" }] }] }, "spec.ingress[0].ports[0].protocol: Unsupported value"],
    ["port 0", { egress: [{ ports: [{ port: 0 }] }] }, "spec.egress[0].ports[0].port: Invalid value: 0"],
    ["a range backwards", { egress: [{ ports: [{ port: 9, endPort: 8 }] }] }, "must be greater than or equal to `port`"],
    ["no peer", { ingress: [{ from: [{}] }] }, "spec.ingress[0].from[0]: Required value: must specify a peer"],
    ["two sorts of peers", { egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] }, "spec.egress[0].to[0]: Forbidden"],
    ["no range", { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0" } }] }] }, "spec.egress[0].to[0].ipBlock.cidr: Invalid value"],
    ["a third type", { policyTypes: ["Sideways"] }, 'spec.policyTypes[0]: Unsupported value: "Sideways"'],
  ])("NetworkPolicy: %s", async (_what, spec, message) => {
    expect(await refused(NETWORK_POLICIES, spec)).toContain(message);
  });
});

describe("changes", () => {
  test("of a Deployment count, but for its selector, and its status is written apart", async () => {
    const made = await create(DEPLOYMENTS, workload());
    const key = keyOf(made);
    const scaled = await cluster.client.patch(DEPLOYMENTS, key, "merge", { spec: { replicas: 3 }, status: { readyReplicas: 7 } });
    expect([scaled.metadata["generation"], scaled["status"]]).toEqual([2, {}]);
    const selector = { selector: { matchLabels: { app: "web", tier: "a" } }, template: { metadata: { labels: { tier: "a" } } } };
    await expect(cluster.client.patch(DEPLOYMENTS, key, "merge", { spec: selector })).rejects.toThrow("field is immutable");
  });

  test("of a StatefulSet are few", async () => {
    const key = keyOf(await create(STATEFUL_SETS, workload({ serviceName: "web" })));
    const scaled = await cluster.client.patch(STATEFUL_SETS, key, "merge", { spec: { replicas: 3 } });
    expect(scaled.metadata["generation"]).toBe(2);
    await expect(cluster.client.patch(STATEFUL_SETS, key, "merge", { spec: { serviceName: "other" } })).rejects.toThrow(
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas'",
    );
  });
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

  test("is not another object's, nor found under another name", async () => {
    const key = keyOf(await create(DEPLOYMENTS, workload()));
    await expect(scale(key, "replace", { metadata: { name: "other" } })).rejects.toThrow("does not match the name on the URL");
    await expect(scale(key, "merge", {}, "size")).rejects.toThrow();
    const whole = cluster.registry.update(DEPLOYMENTS, key, { metadata: { name: key.name }, spec: workload() }, { subresource: "scale" });
    await expect(whole).rejects.toThrow();
    expect((await cluster.client.get(DEPLOYMENTS, key))!.metadata["generation"]).toBe(1);
  });
});
