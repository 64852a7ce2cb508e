/**
 * What a cluster refuses, and in which words; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { RawSetting } from "./raw-setting.ts";

const patch = (type: string) => ({ "content-type": `application/${type}` });

/** The cases; `setting` is called when a test runs. */
export function refusalCases(setting: () => RawSetting): void {
  describe("refusals", () => {
    test("an absent object returns 404 with a Status that names it", async () => {
      const { raw, path } = setting();
      const { code, json, headers } = await raw.send("GET", path("endpoints", "nobody"));
      expect(code).toBe(404);
      expect(json).toEqual({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: 'endpoints "nobody" not found',
        reason: "NotFound",
        details: { name: "nobody", kind: "endpoints" },
        code: 404,
      });
      expect(headers["content-type"]).toBe("application/json");
      expect(headers["audit-id"]).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers["cache-control"]).toBe("no-cache, private");
    });

    test("a 404 names the group of the kind", async () => {
      const { raw, namespace } = setting();
      const { json } = await raw.send("GET", `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/x`);
      expect(json).toMatchObject({
        message: 'endpointslices.discovery.k8s.io "x" not found',
        details: { name: "x", group: "discovery.k8s.io", kind: "endpointslices" },
      });
    });

    test.each(["/api/v1/unknowns", "/apis/example.com/v1/things", "/nothing", "/api/v2/endpoints", "/api/v1/endpoints/db"])(
      "%s returns 404 without details",
      async (path) => {
        const { code, json } = await setting().raw.send("GET", path);
        expect([code, json["message"], json["details"]]).toEqual([404, "the server could not find the requested resource", {}]);
      },
    );

    test.each([
      { method: "POST", object: "x" },
      { method: "PUT", object: undefined },
    ])("$method on a path that does not support it returns 405", async ({ method, object }) => {
      const { raw, path } = setting();
      const { code, json } = await raw.send(method, path("configmaps", object), { body: { metadata: { name: "x" } } });
      expect([code, json["reason"]]).toEqual([405, "MethodNotAllowed"]);
    });

    test("deleting all namespaces at once returns 405", async () => {
      const { code, headers } = await setting().raw.send("DELETE", "/api/v1/namespaces");
      expect(code).toBe(405);
      expect(String(headers["allow"]).split(", ").sort()).toEqual(["GET", "POST"]);
    });

    test("a name that is taken returns 409 AlreadyExists", async () => {
      const { raw, path } = setting();
      const body = { metadata: { name: "taken" } };
      await raw.send("POST", path("configmaps"), { body });
      const { code, json } = await raw.send("POST", path("configmaps"), { body });
      expect([code, json["reason"], json["message"]]).toEqual([409, "AlreadyExists", 'configmaps "taken" already exists']);
    });

    test("an absent namespace returns 404 on creation", async () => {
      const { code, json } = await setting().raw.send("POST", "/api/v1/namespaces/nope/configmaps", { body: { metadata: { name: "a" } } });
      expect([code, json["message"]]).toEqual([404, 'namespaces "nope" not found']);
    });

    test("an outdated state returns 409 Conflict with the message of Kubernetes", async () => {
      const { raw, path } = setting();
      const { json: created } = await raw.send("POST", path("configmaps"), { body: { metadata: { name: "moved" } } });
      await raw.send("PUT", path("configmaps", "moved"), { body: { ...created, data: { a: "1" } } });
      const { code, json } = await raw.send("PUT", path("configmaps", "moved"), { body: { ...created, data: { a: "2" } } });
      expect([code, json["reason"]]).toEqual([409, "Conflict"]);
      expect(json["message"]).toBe(
        'Operation cannot be fulfilled on configmaps "moved": the object has been modified; please apply your changes to the latest version and try again',
      );
    });

    test("an invalid object returns 422 with one cause per field", async () => {
      const { raw, path } = setting();
      const subsets = [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port: 0 }] }];
      const { code, json } = await raw.send("POST", path("endpoints"), { body: { metadata: { name: "bad" }, subsets } });
      expect([code, json["reason"], json["details"]!["kind"]]).toEqual([422, "Invalid", "Endpoints"]);
      expect(json["details"]!["causes"]).toEqual([
        {
          reason: "FieldValueInvalid",
          message: 'Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
          field: "subsets[0].addresses[0].ip",
        },
        {
          reason: "FieldValueInvalid",
          message: "Invalid value: 0: must be between 1 and 65535, inclusive",
          field: "subsets[0].ports[0].port",
        },
      ]);
      expect(json["message"]).toMatch(
        /^Endpoints "bad" is invalid: \[subsets\[0\]\.addresses\[0\]\.ip: Invalid value: .*, subsets\[0\]\.ports\[0\]\.port: .*\]$/,
      );
    });

    test("a missing name returns 422", async () => {
      const { raw, path } = setting();
      const { code, json } = await raw.send("POST", path("configmaps"), { body: {} });
      expect([code, json["message"]]).toEqual([
        422,
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      ]);
    });

    test.each([
      { why: "a body that is not JSON", body: "{", want: /json parse error/ },
      {
        why: "a different apiVersion",
        body: { apiVersion: "v2", kind: "ConfigMap" },
        want: /does not match the expected API version|no kind/,
      },
      { why: "a different kind", body: { apiVersion: "v1", kind: "Secret" }, want: /cannot be handled as a ConfigMap/ },
      { why: "a different namespace", body: { metadata: { name: "a", namespace: "b" } }, want: /the namespace of the provided object does not match the namespace sent on the request/ }, // prettier-ignore
      {
        why: "a label that is a number",
        body: { metadata: { name: "a", labels: { n: 1 } } },
        want: /cannot unmarshal number into Go struct field/,
      },
    ])("$why returns 400", async ({ body, want }) => {
      const { raw, path } = setting();
      const { code, json } = await raw.send("POST", path("configmaps"), { body });
      // What cannot be read says nothing about an object, so there are no details.
      expect([code, json["reason"], json["details"]]).toEqual([400, "BadRequest", undefined]);
      expect(json["message"]).toMatch(want);
    });

    test("a PUT under another name returns 400", async () => {
      const { raw, path } = setting();
      const { code, json } = await raw.send("PUT", path("configmaps", "a"), { body: { metadata: { name: "b" } } });
      expect([code, json["message"]]).toEqual([400, "the name of the object (b) does not match the name on the URL (a)"]);
    });

    test("a form in the body returns 415, and a request for an image returns 406", async () => {
      const { raw, path } = setting();
      const form = { "content-type": "application/x-www-form-urlencoded" };
      const posted = await raw.send("POST", path("configmaps"), { body: "a=b", headers: form });
      expect([posted.code, posted.json["reason"]]).toEqual([415, "UnsupportedMediaType"]);
      const picky = await raw.send("GET", path("configmaps"), { headers: { accept: "image/png" } });
      expect([picky.code, picky.json["reason"]]).toEqual([406, "NotAcceptable"]);
    });

    test("a patch of an unknown type returns 415, and the response lists the known types", async () => {
      const { raw, path } = setting();
      const { code, json } = await raw.send("PATCH", path("configmaps", "kube-root-ca.crt"), { body: {}, headers: patch("json") });
      expect(code).toBe(415);
      expect(json["message"]).toMatch(/application\/json-patch\+json, application\/merge-patch\+json/);
    });

    test("a body of more than 3 MiB returns 413", async () => {
      const { raw, path } = setting();
      const body = { metadata: { name: "large" }, data: { a: "x".repeat(3 * 1024 * 1024) } };
      const answer = await raw.send("POST", path("configmaps"), { body });
      expect([answer.code, answer.json["reason"]]).toEqual([413, "RequestEntityTooLarge"]);
    });
  });
}
