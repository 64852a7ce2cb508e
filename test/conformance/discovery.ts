/**
 * The documents in which a cluster says what it serves; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The cases; `setting` is called when a test runs. */
export function discoveryCases(setting: () => RawSetting): void {
  const get = async (path: string, headers: Record<string, string> = {}) => setting().raw.send("GET", path, { headers });
  const named = (list: Json, name: string) => list.find((entry) => String(entry["name"]) === name);

  describe("discovery", () => {
    test("/version returns a version of Kubernetes", async () => {
      const { json } = await get("/version");
      expect(json["gitVersion"]).toMatch(/^v1\.\d+\.\d+/);
      expect([json["major"], json["minor"]]).toEqual(["1", expect.stringMatching(/^\d+/)]);
    });

    test.each(["/healthz", "/livez", "/readyz"])("%s returns ok", async (path) => {
      expect([(await get(path)).code, (await get(path)).text]).toEqual([200, "ok"]);
    });

    test("/api lists the core version, /apis every group", async () => {
      expect((await get("/api")).json).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
      const { json } = await get("/apis");
      expect(json).toMatchObject({ kind: "APIGroupList", apiVersion: "v1" });
      const version = { groupVersion: "discovery.k8s.io/v1", version: "v1" };
      expect(named(json["groups"]!, "discovery.k8s.io")).toMatchObject({ versions: [version], preferredVersion: version });
      expect((await get("/apis/discovery.k8s.io")).json).toMatchObject({ kind: "APIGroup", name: "discovery.k8s.io" });
    });

    test("/api/v1 describes each resource and its subresources", async () => {
      const { json } = await get("/api/v1");
      expect(json).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
      expect(named(json["resources"]!, "endpoints")).toMatchObject({
        singularName: "endpoints",
        namespaced: true,
        kind: "Endpoints",
        shortNames: ["ep"],
      });
      expect([...named(json["resources"]!, "endpoints")!["verbs"]!].sort()).toEqual([
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
      ]);
      expect(named(json["resources"]!, "services/status")).toMatchObject({ kind: "Service" });
      expect(named(json["resources"]!, "namespaces")).toMatchObject({ namespaced: false });
    });

    test.each(["/apis/discovery.k8s.io/v1", "/apis/coordination.k8s.io/v1"])("%s lists its resources", async (path) => {
      expect((await get(path)).json).toMatchObject({ kind: "APIResourceList", groupVersion: path.slice("/apis/".length) });
    });

    test("all groups and versions are available in one document", async () => {
      const { json, headers } = await get("/apis", { accept: `${AGGREGATED},application/json` });
      expect(headers["content-type"]).toBe(AGGREGATED);
      expect(json).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
      const group = json["items"]!.find((item) => String(item["metadata"]!["name"]) === "discovery.k8s.io");
      expect(group!["versions"]![0]).toMatchObject({
        version: "v1",
        resources: [{ resource: "endpointslices", scope: "Namespaced", responseKind: { kind: "EndpointSlice" } }],
      });
      const core = await get("/api", { accept: AGGREGATED });
      expect(core.json["items"]![0]!["versions"]![0]!["resources"]!.some((entry) => String(entry["resource"]) === "endpoints")).toBe(true);
    });

    test("a client that already has the aggregated discovery document gets 304", async () => {
      const { headers } = await get("/apis", { accept: AGGREGATED });
      expect((await get("/apis", { accept: AGGREGATED, "if-none-match": String(headers["etag"]) })).code).toBe(304);
    });

    test("the URL of a schema changes with the schema", async () => {
      const { json, code } = await get("/openapi/v3");
      expect(code).toBe(200);
      const url = String(json["paths"]!["api/v1"]!["serverRelativeURL"]);
      expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]+$/);
      const document = await get(url);
      expect([document.code, document.json["openapi"]]).toEqual([200, expect.stringMatching(/^3\./)]);
      expect(document.json["components"]!["schemas"]!["io.k8s.api.core.v1.Endpoints"]).toMatchObject({
        properties: { subsets: { items: { allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.EndpointSubset" }] } } },
        "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Endpoints" }],
      });
      expect((await get(url, { "if-none-match": String(document.headers["etag"]) })).code).toBe(304);
    });

    test("an outdated schema URL redirects to the current one, and the URL of an unknown group returns 404", async () => {
      const { code, headers } = await get("/openapi/v3/apis/discovery.k8s.io/v1?hash=OLD");
      expect([code, headers["location"]]).toEqual([301, expect.stringMatching(/^\/openapi\/v3\/apis\/discovery\.k8s\.io\/v1\?hash=/)]);
      expect((await get("/openapi/v3/apis/no.such/v1")).code).toBe(404);
    });
  });
}
