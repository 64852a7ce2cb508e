/**
 * What writes and deletions do over HTTP; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { RawSetting } from "./raw-setting.ts";

const patch = (type: string) => ({ "content-type": `application/${type}` });

const yaml = { "content-type": "application/yaml" };

/** The cases of writes. */
export function writeCases(setting: () => RawSetting): void {
  describe("writes", () => {
    test("a PUT without resourceVersion creates Endpoints, then overwrites them", async () => {
      const { raw, path } = setting();
      const put = (ip: string) =>
        raw.send("PUT", path("endpoints", "upserted"), { body: { metadata: { name: "upserted" }, subsets: [{ addresses: [{ ip }] }] } });
      const [first, second] = [await put("10.1.0.1"), await put("10.1.0.2")];
      expect([first.code, second.code]).toEqual([201, 200]);
      expect(second.json["metadata"]!["uid"]).toBe(first.json["metadata"]!["uid"]);
      expect(second.json["subsets"]).toEqual([{ addresses: [{ ip: "10.1.0.2" }] }]);
    });

    test("an object may be written in protobuf, as kubectl creates ConfigMaps", async () => {
      const { raw, path } = setting();
      const block = (field: number, content: string) => `${String.fromCharCode(field * 8 + 2, content.length)}${content}`;
      const type = `${block(1, "v1")}${block(2, "ConfigMap")}`;
      const object = `${block(1, block(1, "in-protobuf"))}${block(2, `${block(1, "a")}${block(2, "1")}`)}`;
      const body = Buffer.from(`k8s\0${block(1, type)}${block(2, object)}`, "latin1");
      const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
      const { code, json } = await raw.send("POST", path("configmaps"), { body, headers });
      expect([code, json]).toMatchObject([201, { kind: "ConfigMap", metadata: { name: "in-protobuf" }, data: { a: "1" } }]);
      expect((await raw.send("POST", path("configmaps"), { body: "k8s", headers })).code).toBe(400);
    });

    test("a PUT with a resourceVersion also creates Endpoints that are gone, unless it has their uid", async () => {
      const { raw, path } = setting();
      const { json } = await raw.send("POST", path("endpoints"), { body: { metadata: { name: "revenant" } } });
      await raw.send("DELETE", path("endpoints", "revenant"));
      const withUid = await raw.send("PUT", path("endpoints", "revenant"), { body: json });
      expect([withUid.code, withUid.json["reason"]]).toEqual([409, "Conflict"]);
      const { uid: _uid, ...metadata } = json["metadata"]!;
      expect((await raw.send("PUT", path("endpoints", "revenant"), { body: { metadata } })).code).toBe(201);
    });

    test("a PUT of an absent ConfigMap returns 404, and a PUT without resourceVersion overwrites", async () => {
      const { raw, path } = setting();
      const body = { metadata: { name: "overwritten" }, data: { a: "1" } };
      expect((await raw.send("PUT", path("configmaps", "overwritten"), { body })).code).toBe(404);
      await raw.send("POST", path("configmaps"), { body });
      const { code, json } = await raw.send("PUT", path("configmaps", "overwritten"), { body: { ...body, data: { b: "2" } } });
      expect([code, json["data"]]).toEqual([200, { b: "2" }]);
    });

    test("a Lease is not overwritten without resourceVersion", async () => {
      const { raw, namespace } = setting();
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      await raw.send("POST", leases, { body: { metadata: { name: "leader" }, spec: {} } });
      const { code, json } = await raw.send("PUT", `${leases}/leader`, {
        body: { metadata: { name: "leader" }, spec: { holderIdentity: "a" } },
      });
      expect([code, json["message"]]).toEqual([
        422,
        'leases.coordination.k8s.io "leader" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ]);
    });

    test("a dry run responds like a real request, and stores nothing", async () => {
      const { raw, path } = setting();
      const body = { metadata: { name: "dry" } };
      const made = await raw.send("POST", `${path("services")}?dryRun=All`, { body: { ...body, spec: { ports: [{ port: 80 }] } } });
      expect([made.code, made.json["spec"]!["type"]]).toEqual([201, "ClusterIP"]);
      expect((await raw.send("GET", path("services", "dry"))).code).toBe(404);
      await raw.send("POST", path("configmaps"), { body });
      await raw.send("PATCH", `${path("configmaps", "dry")}?dryRun=All`, {
        body: { data: { a: "1" } },
        headers: patch("merge-patch+json"),
      });
      expect((await raw.send("DELETE", `${path("configmaps", "dry")}?dryRun=All`)).code).toBe(200);
      expect((await raw.send("GET", path("configmaps", "dry"))).json["data"]).toBeUndefined();
      const wrong = await raw.send("POST", `${path("configmaps")}?dryRun=Some`, { body });
      expect([wrong.code, wrong.json["reason"]]).toEqual([422, "Invalid"]);
    });

    test("unknown fields are dropped with or without a warning, or refused, as requested", async () => {
      const { raw, path } = setting();
      const send = (name: string, mode: string) =>
        raw.send("POST", `${path("configmaps")}?fieldValidation=${mode}`, { body: { metadata: { name, colour: 1 }, shape: 2 } });
      const warned = await send("warned", "Warn");
      expect(warned.code).toBe(201);
      expect(warned.json["shape"]).toBeUndefined();
      expect([warned.headers["warning"]].flat().sort()).toEqual([
        '299 - "unknown field \\"metadata.colour\\""',
        '299 - "unknown field \\"shape\\""',
      ]);
      expect((await send("ignored", "Ignore")).headers["warning"]).toBeUndefined();
      const refused = await send("refused", "Strict");
      expect([refused.code, refused.json["message"]]).toEqual([
        400,
        expect.stringMatching(/strict decoding error: unknown field ".*", unknown field ".*"$/),
      ]);
    });

    test("a duplicate field in a body is reported or refused, as requested", async () => {
      const { raw, path } = setting();
      const send = (name: string, mode: string) =>
        raw.send("POST", `${path("configmaps")}?fieldValidation=${mode}`, {
          body: `{"metadata":{"name":"${name}"},"data":{"a":"1","a":"2"}}`,
        });
      const warned = await send("twice", "Warn");
      expect([warned.code, warned.json["data"], warned.headers["warning"]]).toEqual([
        201,
        { a: "2" },
        '299 - "duplicate field \\"data.a\\""',
      ]);
      expect((await send("twice-ignored", "Ignore")).headers["warning"]).toBeUndefined();
      const refused = await send("twice-refused", "Strict");
      expect([refused.code, refused.json["message"]]).toEqual([
        400,
        expect.stringMatching(/strict decoding error: duplicate field "data.a"$/),
      ]);
    });

    test("YAML is read and written", async () => {
      const { raw, path } = setting();
      const body = "metadata:\n  name: written\n  labels: {app: web}\ndata:\n  text: |\n    two\n    lines\n";
      const { code, json } = await raw.send("POST", path("configmaps"), { body, headers: yaml });
      expect([code, json["data"]]).toEqual([201, { text: "two\nlines\n" }]);
      const read = await raw.send("GET", path("configmaps", "written"), { headers: { accept: "application/yaml" } });
      expect(read.headers["content-type"]).toBe("application/yaml");
      expect(read.text).toMatch(/^ {2}name: "?written"?$/m);
    });

    test("every response about Endpoints warns that they are deprecated", async () => {
      const { raw, path } = setting();
      expect((await raw.send("GET", path("endpoints"))).headers["warning"]).toMatch(/^299 - "v1 Endpoints is deprecated/);
    });

    test("a patch under fieldValidation=Strict refuses unknown fields with 422", async () => {
      const { raw, path } = setting();
      await raw.send("POST", path("configmaps"), { body: { metadata: { name: "strict" } } });
      const { code } = await raw.send("PATCH", `${path("configmaps", "strict")}?fieldValidation=Strict`, {
        body: { surprise: 1 },
        headers: patch("merge-patch+json"),
      });
      expect(code).toBe(422);
    });

    test("the status is written only on its own path", async () => {
      const { raw, path } = setting();
      const spec = { containers: [{ name: "main", image: "example.com/web" }], nodeName: "nowhere" };
      const created = await raw.send("POST", path("pods"), { body: { metadata: { name: "web" }, spec, status: { phase: "Running" } } });
      expect(created.json["status"]!["phase"]).toBe("Pending");
      const status = { ...created.json, status: { phase: "Running", podIP: "10.1.0.9" }, spec: {} };
      const written = await raw.send("PUT", path("pods", "web/status"), { body: status });
      expect([written.code, written.json["status"]!["podIP"], written.json["spec"]!["nodeName"]]).toEqual([200, "10.1.0.9", "nowhere"]);
      expect((await raw.send("GET", path("pods", "web/status"))).json["status"]!["podIP"]).toBe("10.1.0.9");
      await raw.send("DELETE", `${path("pods", "web")}?gracePeriodSeconds=0`);
    });
  });
}

/** The cases of deletions. */
export function deleteCases(setting: () => RawSetting): void {
  describe("deletions", () => {
    test("deleting an object without finalizers returns a Status with Success", async () => {
      const { raw, path } = setting();
      const { json: created } = await raw.send("POST", path("configmaps"), { body: { metadata: { name: "brief" } } });
      const { code, json } = await raw.send("DELETE", path("configmaps", "brief"), { body: { propagationPolicy: "Background" } });
      expect([code, json]).toEqual([
        200,
        {
          kind: "Status",
          apiVersion: "v1",
          metadata: {},
          status: "Success",
          details: { name: "brief", kind: "configmaps", uid: created["metadata"]!["uid"] },
        },
      ]);
    });

    test("preconditions that fail return 409", async () => {
      const { raw, path } = setting();
      await raw.send("POST", path("configmaps"), { body: { metadata: { name: "guarded" } } });
      const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "another" } };
      const { code, json } = await raw.send("DELETE", path("configmaps", "guarded"), { body });
      expect([code, json["reason"]]).toEqual([409, "Conflict"]);
      expect(json["message"]).toMatch(/the UID in the precondition \(another\) does not match the UID in record \(.*\)/);
    });

    test("deleting an object with finalizers returns the object", async () => {
      const { raw, path } = setting();
      await raw.send("POST", path("configmaps"), { body: { metadata: { name: "kept", finalizers: ["example.com/wait"] } } });
      const { code, json } = await raw.send("DELETE", path("configmaps", "kept"));
      expect([code, json["kind"], json["metadata"]!["deletionGracePeriodSeconds"]]).toEqual([200, "ConfigMap", 0]);
      await raw.send("PATCH", path("configmaps", "kept"), { body: { metadata: { finalizers: null } }, headers: patch("merge-patch+json") });
      expect((await raw.send("GET", path("configmaps", "kept"))).code).toBe(404);
    });

    test("a collection is deleted by selector, and the response is a list", async () => {
      const { raw, path } = setting();
      for (const [name, sweep] of [
        ["swept-a", "yes"],
        ["swept-b", "yes"],
        ["spared", "no"],
      ] as const) {
        // prettier-ignore
        await raw.send("POST", path("secrets"), { body: { metadata: { name, labels: { sweep } } } });
      }
      const { code, json } = await raw.send("DELETE", `${path("secrets")}?labelSelector=sweep%3Dyes`);
      expect([code, json["kind"], json["items"]!.length]).toEqual([200, "SecretList", 2]);
      expect((await raw.send("GET", path("secrets", "spared"))).code).toBe(200);
      expect((await raw.send("GET", path("secrets", "swept-a"))).code).toBe(404);
    });
  });
}
