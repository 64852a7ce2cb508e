/**
 * Objects as tables and as metadata alone; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

const accept = (as: string, v = "v1") => ({ headers: { accept: `application/json;as=${as};v=${v};g=meta.k8s.io,application/json` } });

/** The cases; `setting` is called when a test runs. */
export function viewCases(setting: () => RawSetting): void {
  const make = (name: string) => {
    const { raw, path } = setting();
    return raw.send("POST", path("configmaps"), { body: { metadata: { name, labels: { view: "yes" } }, data: { a: "1", b: "2" } } });
  };
  const names = (table: Json) => table["columnDefinitions"]!.map((column) => String(column["name"]));

  describe("views", () => {
    test.each(["v1", "v1beta1"])("a list is returned as a %s Table on request", async (version) => {
      await make("view-a");
      const { raw, path } = setting();
      const { json, code } = await raw.send("GET", `${path("configmaps")}?labelSelector=view%3Dyes`, accept("Table", version));
      expect([code, json]).toMatchObject([200, { kind: "Table", apiVersion: "meta.k8s.io/v1" }]);
      expect(json["metadata"]!["resourceVersion"]).toMatch(/^\d+$/);
      expect(names(json)).toEqual(["Name", "Data", "Age"]);
      expect(json["columnDefinitions"]![0]).toMatchObject({ type: "string", format: "name", priority: 0 });
      const [row] = json["rows"]!;
      expect(row!["cells"]!.slice(0, 2)).toEqual(["view-a", 2]);
      expect(row!["object"]).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "view-a", labels: { view: "yes" } } });
      expect(row!["object"]!["data"]).toBeUndefined();
    });

    test("a Table includes whole objects or none, as requested", async () => {
      await make("view-b");
      const { raw, path } = setting();
      const get = async (include: string) => (await raw.send("GET", `${path("configmaps", "view-b")}?includeObject=${include}`, accept("Table"))).json; // prettier-ignore
      expect((await get("Object"))["rows"]![0]!["object"]).toMatchObject({ kind: "ConfigMap", data: { a: "1" } });
      expect((await get("None"))["rows"]![0]!["object"] ?? null).toBeNull();
    });

    test("metadata alone is available for an object and for a list", async () => {
      await make("view-c");
      const { raw, path } = setting();
      const one = await raw.send("GET", path("configmaps", "view-c"), accept("PartialObjectMetadata"));
      expect(one.json).toMatchObject({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "view-c" } });
      expect(one.json["data"]).toBeUndefined();
      const all = await raw.send("GET", `${path("configmaps")}?fieldSelector=metadata.name%3Dview-c`, accept("PartialObjectMetadataList"));
      expect(all.json).toMatchObject({ kind: "PartialObjectMetadataList", items: [{ metadata: { name: "view-c" } }] });
      expect(all.json["items"]![0]!["data"]).toBeUndefined();
    });

    test("a watch returns Tables, and only the first has the columns", async () => {
      await make("view-d");
      const { raw, path } = setting();
      const url = `${path("configmaps", "view-d")}?watch=1&timeoutSeconds=90`;
      const watching = raw.watch(url, 2, accept("Table"));
      await raw.send("PATCH", path("configmaps", "view-d"), {
        body: { data: { c: "3" } },
        headers: { "content-type": "application/merge-patch+json" },
      });
      const [first, second] = await watching;
      expect([first!["type"], names(first!["object"]!)]).toEqual(["ADDED", ["Name", "Data", "Age"]]);
      expect(second).toMatchObject({ type: "MODIFIED", object: { kind: "Table" } });
      expect(second!["object"]!["columnDefinitions"] ?? null).toBeNull();
      expect(second!["object"]!["rows"]![0]!["cells"]!.slice(0, 2)).toEqual(["view-d", 3]);
    });

    test("a watch of metadata contains only metadata", async () => {
      await make("view-e");
      const { raw, path } = setting();
      const [first] = await raw.watch(`${path("configmaps", "view-e")}?watch=1&timeoutSeconds=90`, 1, accept("PartialObjectMetadata"));
      expect(first).toMatchObject({ type: "ADDED", object: { kind: "PartialObjectMetadata", metadata: { name: "view-e" } } });
      expect(first!["object"]!["data"]).toBeUndefined();
    });

    test("an unknown format in Accept is skipped, and refused if it is the only one", async () => {
      await make("view-f");
      const { raw, path } = setting();
      expect((await raw.send("GET", path("configmaps", "view-f"), accept("Poem"))).json["kind"]).toBe("ConfigMap");
      const only = { headers: { accept: "application/json;as=Poem;v=v1;g=meta.k8s.io" } };
      expect((await raw.send("GET", path("configmaps", "view-f"), only)).code).toBe(406);
    });
  });
}
