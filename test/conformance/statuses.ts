/**
 * Statuses whose lists are merged, and what is filled in beside them; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

const APPLY = { "content-type": "application/apply-patch+yaml" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const MERGE = { "content-type": "application/merge-patch+json" };

/** The cases; `setting` is called when a test runs. */
export function statusCases(setting: () => RawSetting): void {
  const service = async (name: string, spec: object = {}) => {
    const { raw, path } = setting();
    const body = { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
    return raw.send("POST", path("services"), { body });
  };
  const condition = (type: string, status = "True") => ({
    type,
    status,
    lastTransitionTime: "2026-01-02T03:04:05Z",
    reason: "Tested",
    message: "",
  });
  const types = (json: Json) => (json["status"]!["conditions"] ?? []).map((entry) => `${entry["type"]}=${entry["status"]}`).sort();

  describe("statuses", () => {
    test("each writer of conditions owns only the types that it writes", async () => {
      const { raw, path } = setting();
      await service("conditions");
      const apply = (manager: string, ...conditions: readonly object[]) =>
        raw.send("PATCH", `${path("services", "conditions")}/status?fieldManager=${manager}`, {
          body: { apiVersion: "v1", kind: "Service", metadata: { name: "conditions" }, status: { conditions } },
          headers: APPLY,
        });
      await apply("one", condition("example.com/A"));
      expect(types((await apply("two", condition("example.com/B"))).json)).toEqual(["example.com/A=True", "example.com/B=True"]);
      expect((await apply("two", condition("example.com/A", "False"))).code).toBe(409);
      expect(types((await apply("one")).json)).toEqual(["example.com/B=True"]);
      await raw.send("DELETE", path("services", "conditions"));
    });

    test("a strategic merge patch changes one condition of a namespace", async () => {
      const { raw, namespace } = setting();
      const patch = (...conditions: readonly object[]) =>
        raw.send("PATCH", `/api/v1/namespaces/${namespace}/status`, { body: { status: { conditions } }, headers: STRATEGIC });
      await patch({ type: "example.com/A", status: "True" }, { type: "example.com/B", status: "True" });
      expect(types((await patch({ type: "example.com/A", status: "False" })).json)).toEqual(["example.com/A=False", "example.com/B=True"]);
      expect(types((await patch({ $patch: "delete", type: "example.com/A" }, { $patch: "delete", type: "example.com/B" })).json)).toEqual(
        [],
      );
    });

    test("an unknown field of conditions and load balancers is reported", async () => {
      const { raw, path } = setting();
      await service("unknown-fields");
      const put = (status: object) =>
        raw.send("PATCH", `${path("services", "unknown-fields")}/status?fieldValidation=Strict`, { body: { status }, headers: MERGE });
      const ingress = await put({ loadBalancer: { ingress: [{ ip: "192.0.2.1", port: 1 }] } });
      expect([ingress.code, ingress.text]).toEqual([422, expect.stringContaining("status.loadBalancer.ingress[0].port")]);
      expect((await put({ conditions: [{ ...condition("A"), colour: "red" }] })).text).toContain("status.conditions[0].colour");
      await raw.send("DELETE", path("services", "unknown-fields"));
    });

    test("only a Service with session affinity has a timeout", async () => {
      const { raw, path } = setting();
      const config = (timeoutSeconds?: number) => ({ clientIP: { timeoutSeconds } });
      const made = await service("sticky", { sessionAffinity: "ClientIP" });
      expect(made.json["spec"]!["sessionAffinityConfig"]).toEqual(config(10_800));
      const without = await raw.send("PATCH", path("services", "sticky"), { body: { spec: { sessionAffinity: "None" } }, headers: MERGE });
      expect(without.json["spec"]!["sessionAffinityConfig"]).toBeUndefined();
      expect((await service("loose", { sessionAffinity: "ClientIP", sessionAffinityConfig: config(0) })).code).toBe(422);
      expect((await service("loose", { sessionAffinity: "ClientIP", sessionAffinityConfig: config(86_401) })).code).toBe(422);
      await raw.send("DELETE", path("services", "sticky"));
    });

    test("schemas list the required fields", async () => {
      const { json } = await setting().raw.send("GET", "/openapi/v3/api/v1");
      const required = (name: string) => json["components"]!["schemas"]![`io.k8s.${name}`]!["required"];
      expect(required("api.core.v1.ServicePort")).toEqual(["port"]);
      expect(required("api.core.v1.EndpointAddress")).toEqual(["ip"]);
      expect([...required("apimachinery.pkg.apis.meta.v1.OwnerReference")!].sort()).toEqual(["apiVersion", "kind", "name", "uid"]);
      expect(required("api.core.v1.ConfigMap")).toBeUndefined();
    });
  });
}
