/**
 * What the API server makes of Deployments, StatefulSets, PodDisruptionBudgets and NetworkPolicies; part of the cluster suite. None of
 * them asks for a Pod.
 */
import { describe, expect, test } from "vitest";
import type { Json, RawAnswer } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

const MERGE = { "content-type": "application/merge-patch+json" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };

const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/web:1" }] } };
const workload = (spec: object = {}) => ({ replicas: 0, selector: { matchLabels: labels }, template, ...spec });

const causes = ({ json }: RawAnswer) => (json["details"]!["causes"] ?? []).map((cause: Json) => String(cause["field"]));

/** Requests for the kinds of one group. */
function inGroup(setting: () => RawSetting, group: string) {
  const path = (plural: string, name = "") => `/apis/${group}/v1/namespaces/${setting().namespace}/${plural}${name && `/${name}`}`;
  const create = (plural: string, name: string, spec: object) =>
    setting().raw.send("POST", path(plural), { body: { apiVersion: `${group}/v1`, metadata: { name }, spec } });
  const patch = (where: string, body: unknown, headers: Readonly<Record<string, string>> = MERGE) =>
    setting().raw.send("PATCH", where, { body, headers });
  return { path, create, patch };
}

/** The cases of what makes Pods. */
export function workloadCases(setting: () => RawSetting): void {
  const { path, create, patch } = inGroup(setting, "apps");

  describe("workloads", () => {
    test("an unchanged spec keeps the generation", async () => {
      const { json } = await create("deployments", "w-again", workload());
      const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "w-again" }, spec: workload() };
      const replaced = await setting().raw.send("PUT", path("deployments", "w-again"), { body });
      expect([replaced.code, replaced.json["metadata"]!["generation"]]).toEqual([200, json["metadata"]!["generation"]]);
    });

    test("a strategic merge patch changes the image of one container", async () => {
      const containers = [...template.spec.containers, { name: "side", image: "example.com/side:1" }];
      await create("deployments", "w-patched", workload({ template: { ...template, spec: { containers } } }));
      const body = { spec: { template: { spec: { containers: [{ name: "side", image: "example.com/side:2" }] } } } };
      const { json } = await patch(path("deployments", "w-patched"), body, STRATEGIC);
      const found = json["spec"]!["template"]!["spec"]!["containers"]!.map(({ name, image }) => `${String(name)} ${String(image)}`);
      expect(found.sort()).toEqual(["main example.com/web:1", "side example.com/side:2"]);
      expect(json["metadata"]!["generation"]).toBe(2);
    });

    test("a Deployment with negative replicas returns 422", async () => {
      const answer = await create("deployments", "w-refused", workload({ replicas: -1 }));
      expect([answer.code, causes(answer)]).toEqual([422, ["spec.replicas"]]);
    });
  });
}

/** The cases of `scale`. */
export function scaleCases(setting: () => RawSetting): void {
  const { path, create, patch } = inGroup(setting, "apps");
  const scaleOf = (name: string, plural = "deployments") => `${path(plural, name)}/scale`;

  describe("scale", () => {
    test.each(["deployments", "statefulsets"])("the scale of %s shows replicas and selector", async (plural) => {
      const { json } = await create(plural, "s-shown", workload(plural === "statefulsets" ? { serviceName: "web" } : {}));
      const scale = await setting().raw.send("GET", scaleOf("s-shown", plural));
      const metadata = { name: "s-shown", namespace: setting().namespace, uid: json["metadata"]!["uid"] };
      expect([scale.code, scale.json]).toMatchObject([200, { apiVersion: "autoscaling/v1", kind: "Scale", metadata }]);
      expect(scale.json["status"]).toMatchObject({ replicas: 0, selector: "app=web" });
      expect(scale.json["spec"]!["replicas"] ?? 0).toBe(0);
    });

    test("a patch of the scale increases the generation of the object, and the client that scaled owns the field", async () => {
      // No ReplicaSet is made of it, and no Pod.
      await create("deployments", "s-patched", workload({ replicas: 1, paused: true }));
      const { code, json } = await patch(`${scaleOf("s-patched")}?fieldManager=scaler`, { spec: { replicas: 0 } });
      expect([code, json["kind"]]).toEqual([200, "Scale"]);
      const object = await setting().raw.send("GET", path("deployments", "s-patched"));
      expect([object.json["spec"]!["replicas"], object.json["metadata"]!["generation"]]).toEqual([0, 2]);
      const owners = object.json["metadata"]!["managedFields"]!.filter(({ manager }) => String(manager) === "scaler");
      expect(owners).toMatchObject([{ subresource: "scale", fieldsV1: { "f:spec": { "f:replicas": {} } } }]);
    });

    test("a PUT writes the scale, unless the object has been replaced", async () => {
      await create("statefulsets", "s-put", workload({ serviceName: "web" }));
      const where = scaleOf("s-put", "statefulsets");
      const { json } = await setting().raw.send("GET", where);
      const put = (metadata: object) =>
        setting().raw.send("PUT", `${where}?dryRun=All`, {
          body: { ...json, metadata: { ...json["metadata"], ...metadata }, spec: { replicas: 2 } },
        });
      // What is not said is not demanded.
      const written = await put({ resourceVersion: undefined });
      expect([written.code, written.json["spec"]!["replicas"]]).toEqual([200, 2]);
      const late = await put({ resourceVersion: "1" });
      expect([late.code, late.json["reason"]]).toEqual([409, "Conflict"]);
    });

    test("a scale below 0 returns 422, and the scale of an absent object returns 404", async () => {
      await create("deployments", "s-refused", workload());
      const below = await patch(scaleOf("s-refused"), { spec: { replicas: -1 } });
      expect([below.code, causes(below), below.json["details"]!["kind"]]).toEqual([422, ["spec.replicas"], "Scale"]);
      expect((await patch(scaleOf("s-absent"), { spec: { replicas: 1 } })).code).toBe(404);
      expect((await setting().raw.send("GET", scaleOf("s-absent"))).code).toBe(404);
    });

    test("a manager that applies the scale owns replicas from then on, unless a different manager owns them", async () => {
      await create("deployments", "s-applied", workload({ replicas: 2, paused: true }));
      const apply = (manager: string, spec: object, force = false) =>
        patch(
          `${scaleOf("s-applied")}?fieldManager=${manager}${force ? "&force=true" : ""}`,
          { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "s-applied" }, spec },
          { "content-type": "application/apply-patch+yaml" },
        );
      const others = await apply("scaler", { replicas: 3 });
      expect([others.code, others.json["reason"], causes(others)]).toEqual([409, "Conflict", [".spec.replicas"]]);
      const forced = await apply("scaler", { replicas: 3 }, true);
      expect([forced.code, forced.json["kind"], forced.json["metadata"]!["managedFields"]]).toEqual([200, "Scale", undefined]);
      const { json } = await setting().raw.send("GET", path("deployments", "s-applied"));
      expect([json["spec"]!["replicas"], json["metadata"]!["generation"]]).toEqual([3, 2]);
      const owners = json["metadata"]!["managedFields"]!.filter(({ fieldsV1 }) => fieldsV1!["f:spec"]!["f:replicas"] !== undefined);
      expect(owners).toMatchObject([
        {
          manager: "scaler",
          operation: "Apply",
          apiVersion: "apps/v1",
          subresource: "scale",
          fieldsV1: { "f:spec": { "f:replicas": {} } },
        },
      ]);
      // The rest of the Deployment still belongs to its author.
      const author = json["metadata"]!["managedFields"]!.find(({ operation }) => String(operation) === "Update")!;
      expect(author["fieldsV1"]!["f:spec"]).toMatchObject({ "f:paused": {}, "f:template": {} });
      // Applied again, it is not a change; another one that wants the same shares the field.
      await apply("scaler", { replicas: 3 });
      expect((await apply("second", { replicas: 1 })).json["message"]).toContain(
        'conflict with "scaler" with subresource "scale": .spec.replicas',
      );
      expect((await apply("third", { replicas: 3 })).code).toBe(200);
      expect((await setting().raw.send("GET", path("deployments", "s-applied"))).json["metadata"]!["generation"]).toBe(2);
      expect((await apply("scaler", { replicas: -1 }, true)).code).toBe(422);
      expect((await apply("", { replicas: 1 })).code).toBe(422);
    });

    test("discovery lists the scale of a Deployment in the group autoscaling", async () => {
      const { json } = await setting().raw.send("GET", "/apis/apps/v1");
      const found = json["resources"]!.filter((entry) => String(entry["name"]).endsWith("/scale"));
      expect(found).toContainEqual({
        ...{ name: "deployments/scale", singularName: "", namespaced: true },
        ...{ group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] },
      });
    });
  });
}

/** The cases of what is said about Pods. */
export function policyCases(setting: () => RawSetting): void {
  const budgets = inGroup(setting, "policy");
  const policies = inGroup(setting, "networking.k8s.io");

  describe("budgets and policies", () => {
    test("a PodDisruptionBudget is stored as written, and its spec may change", async () => {
      const spec = { maxUnavailable: 1, selector: { matchLabels: labels }, unhealthyPodEvictionPolicy: "AlwaysAllow" };
      const { code, json } = await budgets.create("poddisruptionbudgets", "b-plain", spec);
      expect([code, json["spec"]]).toEqual([201, spec]);
      const changed = await budgets.patch(budgets.path("poddisruptionbudgets", "b-plain"), { spec: { maxUnavailable: "50%" } });
      expect([changed.code, changed.json["metadata"]!["generation"]]).toEqual([200, 2]);
    });

    test("the rules of a NetworkPolicy are replaced as a whole", async () => {
      const spec = { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 80, protocol: "TCP" }] }] };
      const { code, json } = await policies.create("networkpolicies", "n-plain", spec);
      expect([code, json["spec"]]).toEqual([201, spec]);
      const ingress = [{ ports: [{ port: 81, protocol: "TCP" }] }];
      const changed = await policies.patch(policies.path("networkpolicies", "n-plain"), { spec: { ingress } }, STRATEGIC);
      expect([changed.json["spec"], changed.json["metadata"]!["generation"]]).toEqual([{ ...spec, ingress }, 2]);
    });
  });
}
