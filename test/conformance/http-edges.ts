/**
 * Reads of one object, and the edges of requests: states that do not exist, names that are taken, patches that are too long;
 * part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { RawSetting } from "./raw-setting.ts";

/** No JSON patch has more operations. */
const OPERATIONS_MAX = 10_000;

/** The cases of reads. */
export function readCases(setting: () => RawSetting): void {
  describe("reads", () => {
    const make = async (name: string) => {
      const { raw, path } = setting();
      return raw.send("POST", path("configmaps"), { body: { metadata: { name, labels: { read: "yes" } }, data: { a: "1" } } });
    };

    test("a read at any resourceVersion is accepted, and a read not older than a write includes the write", async () => {
      const { raw, path } = setting();
      const { json } = await make("r-one");
      const version = json["metadata"]!["resourceVersion"];
      expect((await raw.send("GET", `${path("configmaps", "r-one")}?resourceVersion=0`)).json).toEqual(json);
      expect((await raw.send("GET", `${path("configmaps", "r-one")}?resourceVersion=${version}`)).json).toEqual(json);
    });

    test("a read at a future resourceVersion returns 504 Timeout", async () => {
      const { raw, path } = setting();
      await make("r-future");
      const { code, json } = await raw.send("GET", `${path("configmaps", "r-future")}?resourceVersion=999999999999`);
      expect([code, json["reason"]]).toEqual([504, "Timeout"]);
      expect(json["message"]).toMatch(/^Timeout: Too large resource version: 999999999999, current: \d+/);
      expect(json["details"]).toMatchObject({ causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 });
    });

    test("the path of the status returns the whole object", async () => {
      const { raw, path } = setting();
      await raw.send("POST", path("services"), { body: { metadata: { name: "r-status" }, spec: { clusterIP: "None" } } });
      const [whole, status] = [
        await raw.send("GET", path("services", "r-status")),
        await raw.send("GET", path("services", "r-status/status")),
      ];
      expect([status.code, status.json]).toEqual([200, whole.json]);
      await raw.send("DELETE", path("services", "r-status"));
    });

    test("a namespace that does not exist has an empty list", async () => {
      const { code, json } = await setting().raw.send("GET", "/api/v1/namespaces/no-such-namespace/configmaps");
      expect([code, json]).toMatchObject([200, { kind: "ConfigMapList", items: [] }]);
    });

    test("a field selector can select a namespace too", async () => {
      await make("r-field");
      const { raw, namespace } = setting();
      const query = `labelSelector=read%3Dyes&fieldSelector=metadata.namespace%3D${namespace}%2Cmetadata.name%3Dr-field`;
      const { json } = await raw.send("GET", `/api/v1/configmaps?${query}`);
      expect(json["items"]!.map((item) => `${item["metadata"]!["namespace"]}/${item["metadata"]!["name"]}`)).toEqual([
        `${namespace}/r-field`,
      ]);
    });

    test("a request for a next page returns 400 if it sets resourceVersion, and 422 if it also sets resourceVersionMatch", async () => {
      const { raw, path } = setting();
      for (const name of ["r-page-a", "r-page-b"]) await make(name);
      const first = await raw.send("GET", `${path("configmaps")}?limit=1`);
      const next = `${path("configmaps")}?limit=1&continue=${first.json["metadata"]!["continue"]}&resourceVersion=1`;
      expect((await raw.send("GET", next)).code).toBe(400);
      expect((await raw.send("GET", `${next}&resourceVersionMatch=Exact`)).code).toBe(422);
    });
  });
}

/** The cases of writes. */
export function edgeCases(setting: () => RawSetting): void {
  describe("edge cases of writes", () => {
    test("a dry run with a taken name returns 409, and a dry run on a collection deletes nothing", async () => {
      const { raw, path } = setting();
      const body = { metadata: { name: "dry-taken", labels: { dry: "yes" } } };
      await raw.send("POST", path("configmaps"), { body });
      expect((await raw.send("POST", `${path("configmaps")}?dryRun=All`, { body })).code).toBe(409);
      expect((await raw.send("DELETE", `${path("configmaps")}?dryRun=All&labelSelector=dry%3Dyes`)).code).toBe(200);
      expect((await raw.send("GET", path("configmaps", "dry-taken"))).code).toBe(200);
    });

    test("a JSON patch of more than 10,000 operations returns 413", async () => {
      const { raw, path } = setting();
      await raw.send("POST", path("configmaps"), { body: { metadata: { name: "long-patch" }, data: { a: "1" } } });
      const body = Array.from({ length: OPERATIONS_MAX + 1 }, () => ({ op: "test", path: "/data/a", value: "1" }));
      const headers = { "content-type": "application/json-patch+json" };
      const { code, json } = await raw.send("PATCH", path("configmaps", "long-patch"), { body, headers });
      expect([code, json["reason"]]).toEqual([413, "RequestEntityTooLarge"]);
    });

    test("a cluster-scoped object does not keep a namespace that its author sets", async () => {
      const { raw, namespace } = setting();
      const [path, name] = ["/apis/rbac.authorization.k8s.io/v1/clusterroles", `${namespace}-nowhere`];
      const created = await raw.send("POST", path, { body: { metadata: { name, namespace: "default" } } });
      const written = await raw.send("PUT", `${path}/${name}`, { body: { metadata: { name, namespace: "elsewhere" }, rules: [] } });
      await raw.send("DELETE", `${path}/${name}`);
      expect([created, written].map(({ code, json }) => [code, json["metadata"]!["namespace"]])).toEqual([
        [201, undefined],
        [200, undefined],
      ]);
    });

    test("a generated name is no longer than the maximum", async () => {
      const { raw, path } = setting();
      const { code, json } = await raw.send("POST", path("services"), {
        body: { metadata: { generateName: "a".repeat(63) }, spec: { clusterIP: "None" } },
      });
      await raw.send("DELETE", path("services", String(json["metadata"]!["name"])));
      expect([code, String(json["metadata"]!["name"])]).toEqual([201, expect.stringMatching(/^a{58}[a-z0-9]{5}$/)]);
    });
  });
}
