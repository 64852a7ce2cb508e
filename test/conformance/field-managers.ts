/**
 * Server-side apply, managers of fields and strategic merge patches over HTTP; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { Json, RawAnswer } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

const APPLY = { "content-type": "application/apply-patch+yaml" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };

const managersOf = ({ json }: RawAnswer) =>
  (json["metadata"]!["managedFields"] ?? []).map((entry: Json) => `${String(entry["manager"])} ${String(entry["operation"])}`).sort();

/** Applies data to one ConfigMap on behalf of a manager. */
function applying(setting: () => RawSetting, name: string) {
  return (manager: string, data: object, more = "") => {
    const { raw, path } = setting();
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
    return raw.send("PATCH", `${path("configmaps", name)}?fieldManager=${manager}${more}`, { body, headers: APPLY });
  };
}

/** The cases of server-side apply. */
export function applyCases(setting: () => RawSetting): void {
  describe("server-side apply", () => {
    test("an apply creates missing objects, updates existing ones, and writes nothing if nothing has changed", async () => {
      const apply = applying(setting, "applied");
      const created = await apply("deployer", { a: "1", b: "1" });
      expect([created.code, created.json["data"], managersOf(created)]).toEqual([201, { a: "1", b: "1" }, ["deployer Apply"]]);
      const changed = await apply("deployer", { a: "2", b: "1" });
      expect([changed.code, changed.json["data"]]).toEqual([200, { a: "2", b: "1" }]);
      const again = await apply("deployer", { a: "2", b: "1" });
      expect(again.json).toEqual(changed.json);
    });

    test("an apply removes fields that the applier no longer sets, and leaves fields of other owners", async () => {
      const apply = applying(setting, "shared");
      await apply("one", { a: "1", b: "1" });
      await apply("two", { c: "1" });
      expect((await apply("one", { a: "1" })).json["data"]).toEqual({ a: "1", c: "1" });
    });

    test("an apply conflicts with every manager that owns a different value, unless it is forced", async () => {
      const apply = applying(setting, "contested");
      await apply("one", { a: "1" });
      const refused = await apply("two", { a: "2" });
      expect([refused.code, refused.json]).toMatchObject([
        409,
        {
          reason: "Conflict",
          message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
          details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" }] },
        },
      ]);
      const forced = await apply("two", { a: "2" }, "&force=true");
      expect([forced.code, forced.json["data"], managersOf(forced)]).toEqual([200, { a: "2" }, ["two Apply"]]);
    });

    test("an apply may be written in YAML", async () => {
      const { raw, path } = setting();
      const body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: in-yaml\ndata:\n  a: one\n";
      const { code, json } = await raw.send("PATCH", `${path("configmaps", "in-yaml")}?fieldManager=x`, { body, headers: APPLY });
      expect([code, json["data"]]).toEqual([201, { a: "one" }]);
    });

    test("repeating an apply keeps values that the server chose, and changes nothing", async () => {
      const { raw, path } = setting();
      const body = { apiVersion: "v1", kind: "Service", metadata: { name: "chosen" }, spec: { ports: [{ port: 80 }] } };
      const apply = () => raw.send("PATCH", `${path("services", "chosen")}?fieldManager=x`, { body, headers: APPLY });
      const [first, second] = [await apply(), await apply()];
      expect([first.code, second.code]).toEqual([201, 200]);
      expect(second.json).toEqual(first.json);
    });

    test("an apply as a dry run returns the result, and stores nothing", async () => {
      const { raw, path } = setting();
      expect((await applying(setting, "dry-applied")("x", { a: "1" }, "&dryRun=All")).code).toBe(201);
      expect((await raw.send("GET", path("configmaps", "dry-applied"))).code).toBe(404);
    });

    test.each([
      { why: "an apply without a manager returns 422", query: "", body: {}, code: 422, message: /fieldManager: Required value/ },
      {
        why: "an apply of a different version returns 400",
        query: "?fieldManager=x",
        body: { apiVersion: "v2" },
        code: 400,
        message: /Incorrect version/,
      },
      {
        why: "an apply whose object has a different name than the URL returns 400",
        query: "?fieldManager=x",
        body: { metadata: { name: "other" } },
        code: 400,
        message: /does not match/,
      },
      {
        why: "an apply of an unknown field returns 400 if field validation is requested",
        query: "?fieldManager=x&fieldValidation=Strict",
        body: { bogus: 1 },
        code: 400,
        message: /unknown field "bogus"/,
      },
    ])("$why", async ({ query, body, code, message }) => {
      const { raw, path } = setting();
      const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "refused" }, ...body };
      const answer = await raw.send("PATCH", `${path("configmaps", "refused")}${query}`, { body: config, headers: APPLY });
      expect([answer.code, answer.json["message"]]).toEqual([code, expect.stringMatching(message)]);
    });

    test("only appliers may use force", async () => {
      const { raw, path } = setting();
      await applying(setting, "forced")("x", { a: "1" });
      const headers = { "content-type": "application/merge-patch+json" };
      const { code, json } = await raw.send("PATCH", `${path("configmaps", "forced")}?force=true`, { body: {}, headers });
      expect([code, json["message"]]).toEqual([422, expect.stringMatching(/force: Forbidden/)]);
    });
  });
}

/** The cases of `metadata.managedFields` in other writes. */
export function managerCases(setting: () => RawSetting): void {
  describe("field managers", () => {
    const create = (name: string, query = "", headers: Record<string, string> = {}) => {
      const { raw, path } = setting();
      return raw.send("POST", `${path("configmaps")}${query}`, { body: { metadata: { name }, data: { a: "1" } }, headers });
    };
    const put = async (name: string, change: (object: Json) => object, query = "") => {
      const { raw, path } = setting();
      const { json } = await raw.send("GET", path("configmaps", name));
      return raw.send("PUT", `${path("configmaps", name)}${query}`, { body: change(json) });
    };

    test("the creator of an object owns its fields, under the given manager name or the name of its program", async () => {
      const named = await create("m-named", "?fieldManager=builder");
      expect(named.json["metadata"]!["managedFields"]).toMatchObject([
        { manager: "builder", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:data": { "f:a": {} } } },
      ]);
      expect(managersOf(await create("m-agent", "", { "user-agent": "tool/v1.2 (linux)" }))).toEqual(["tool Update"]);
    });

    test("anyone who changes a field owns it from then on", async () => {
      await create("m-moved", "?fieldManager=one");
      const changed = await put("m-moved", (object) => ({ ...object, data: { a: "2" } }), "?fieldManager=two");
      expect(managersOf(changed)).toEqual(["one Update", "two Update"]);
      expect(managersOf(await put("m-moved", (object) => object, "?fieldManager=three"))).toEqual(managersOf(changed));
    });

    test("empty managedFields drop all managers", async () => {
      await create("m-reset");
      const reset = await put("m-reset", (object) => ({ ...object, metadata: { ...object["metadata"], managedFields: [] } }));
      expect([reset.code, reset.json["metadata"]!["managedFields"]]).toEqual([200, undefined]);
    });

    test("invalid managedFields return 422", async () => {
      await create("m-broken");
      const broken = [{ manager: "x", operation: "Steal", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }];
      const { code, json } = await put("m-broken", (object) => ({ ...object, metadata: { ...object["metadata"], managedFields: broken } }));
      expect([code, json["details"]!["causes"]![0]!["field"]]).toEqual([422, "metadata.managedFields[0].operation"]);
    });
  });
}

/** The cases of strategic merge patches. */
export function strategicMergeCases(setting: () => RawSetting): void {
  describe("strategic merge patch", () => {
    const make = async (name: string) => {
      const { raw, path } = setting();
      const ports = [{ name: "http", port: 80 }, { name: "dns", port: 53, protocol: "UDP" }]; // prettier-ignore
      await raw.send("POST", path("services"), { body: { metadata: { name }, spec: { clusterIP: "None", ports } } });
      return (body: unknown) => raw.send("PATCH", path("services", name), { body, headers: STRATEGIC });
    };
    const portsOf = ({ json }: RawAnswer) => json["spec"]!["ports"]!.map((port) => `${String(port["name"])}:${String(port["port"])}`);

    test("items of a list are merged by key, and deleted ones are removed", async () => {
      const patch = await make("s-merged");
      const changed = await patch({ spec: { ports: [{ port: 80, name: "web" }] } });
      expect([changed.code, portsOf(changed)]).toEqual([200, ["web:80", "dns:53"]]);
      expect(portsOf(await patch({ spec: { ports: [{ $patch: "delete", port: 53 }] } }))).toEqual(["web:80"]);
    });

    test("an unknown directive returns 422, and so does an item without its merge key", async () => {
      const patch = await make("s-refused");
      expect((await patch({ spec: { $patch: "burn" } })).code).toBe(422);
      expect((await patch({ spec: { ports: [{ name: "x" }] } })).code).toBe(422);
      expect((await patch({ metadata: { $retainKeys: "name" } })).code).toBe(400);
    });
  });
}
