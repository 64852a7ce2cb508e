/**
 * Lists and watches over HTTP; part of the cluster suite.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "./raw-client.ts";
import type { RawSetting } from "./raw-setting.ts";

/** The cases of lists. */
export function listCases(setting: () => RawSetting): void {
  describe("lists", () => {
    const labelled = "labelSelector=list%3Dyes";
    const make = async () => {
      const { raw, path } = setting();
      for (const name of ["l-a", "l-b", "l-c"])
        await raw.send("POST", path("services"), { body: { metadata: { name, labels: { list: "yes" } }, spec: { clusterIP: "None" } } });
    };

    test("a list has the kind of its items and is never null", async () => {
      const { raw, path } = setting();
      const { json } = await raw.send("GET", `${path("events")}?labelSelector=none%3Dsuch`);
      expect(json).toMatchObject({ kind: "EventList", apiVersion: "v1", items: [] });
      expect(json["metadata"]!["resourceVersion"]).toMatch(/^[1-9]\d*$/);
    });

    test("pages report how many items are left, unless there is a selector", async () => {
      await make();
      const { raw, path } = setting();
      const first = await raw.send("GET", `${path("services")}?limit=1`);
      expect(first.json["metadata"]).toMatchObject({ remainingItemCount: 2, continue: expect.any(String) as unknown });
      const selected = await raw.send("GET", `${path("services")}?limit=1&${labelled}`);
      expect(selected.json["metadata"]!["remainingItemCount"]).toBeUndefined();
      const rest = await raw.send("GET", `${path("services")}?limit=9&continue=${first.json["metadata"]!["continue"]}`);
      expect(rest.json["items"]!.map((item) => item["metadata"]!["name"])).toEqual(["l-b", "l-c"]);
      expect(rest.json["metadata"]!["continue"]).toBeUndefined();
    });

    test("a list at an exact resourceVersion shows that state", async () => {
      const { raw, path } = setting();
      const before = await raw.send("GET", path("services"));
      await raw.send("POST", path("services"), { body: { metadata: { name: "newer" }, spec: { clusterIP: "None" } } });
      const version = before.json["metadata"]!["resourceVersion"];
      const exact = await raw.send("GET", `${path("services")}?resourceVersion=${version}&resourceVersionMatch=Exact`);
      expect(exact.json["items"]).toEqual(before.json["items"]);
      const notOlder = await raw.send("GET", `${path("services")}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`);
      expect(notOlder.json["items"]!.length).toBe(before.json["items"]!.length + 1);
    });

    test.each([
      { query: "resourceVersion=999999999999&resourceVersionMatch=NotOlderThan", code: 504, reason: "Timeout" },
      { query: "resourceVersionMatch=Exact", code: 422, reason: "Invalid" },
      { query: "resourceVersion=0&resourceVersionMatch=Exact", code: 422, reason: "Invalid" },
      { query: "resourceVersion=1&resourceVersionMatch=Nearly", code: 422, reason: "Invalid" },
      { query: "sendInitialEvents=true", code: 422, reason: "Invalid" },
      { query: "limit=many", code: 400, reason: "BadRequest" },
      { query: "timeoutSeconds=soon", code: 400, reason: "BadRequest" },
      { query: "watch=true&limit=many", code: 400, reason: "BadRequest" },
      { query: "watch=true&timeoutSeconds=soon", code: 400, reason: "BadRequest" },
      { query: "fieldSelector=spec.colour%3Dred", code: 400, reason: "BadRequest" },
      { query: "labelSelector=%2C%2C", code: 400, reason: "BadRequest" },
    ])("?$query returns $code", async ({ query, code, reason }) => {
      const { raw, path } = setting();
      const answer = await raw.send("GET", `${path("configmaps")}?${query}`);
      expect([answer.code, answer.json["reason"]]).toEqual([code, reason]);
    });

    test("JSON is indented on request", async () => {
      const { raw, path } = setting();
      const asked = await raw.send("GET", `${path("services")}?pretty=true`);
      expect(asked.text).toMatch(/^\{\n {2}"kind": "ServiceList",\n/);
      const curl = await raw.send("GET", path("services"), { headers: { "user-agent": "curl/8.0" } });
      expect(curl.text).toMatch(/^\{\n/);
    });
  });
}

/** The cases of watches. */
export function watchCases(setting: () => RawSetting): void {
  describe("watches", () => {
    const names = (lines: readonly Json[]) => lines.map((line) => `${line["type"]} ${line["object"]!["metadata"]!["name"]}`);
    const make = async (name: string) => {
      const { raw, path } = setting();
      return raw.send("POST", path("configmaps"), { body: { metadata: { name, labels: { watch: "yes" } } } });
    };
    const base = (query = "") => `${setting().path("configmaps")}?watch=true&timeoutSeconds=90&labelSelector=watch%3Dyes${query}`;

    test("a watch without a resourceVersion first sends the existing objects", async () => {
      await make("w-a");
      await make("w-b");
      expect(names(await setting().raw.watch(base(), 2))).toEqual(["ADDED w-a", "ADDED w-b"]);
      expect(names(await setting().raw.watch(base("&resourceVersion=0"), 2))).toEqual(["ADDED w-a", "ADDED w-b"]);
    });

    test("initial events end with a bookmark", async () => {
      await make("w-a");
      await make("w-b");
      const query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
      const lines = await setting().raw.watch(base(query), 3);
      expect(names(lines.slice(0, 2))).toEqual(["ADDED w-a", "ADDED w-b"]);
      expect(lines[2]).toMatchObject({
        type: "BOOKMARK",
        object: { kind: "ConfigMap", apiVersion: "v1", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
      });
      expect(lines[2]!["object"]!["metadata"]!["resourceVersion"]).toMatch(/^[1-9]\d*$/);
    });

    test("initial events without resourceVersionMatch return 422", async () => {
      const { code, json } = await setting().raw.send("GET", base("&sendInitialEvents=true"));
      expect([code, json["reason"]]).toEqual([422, "Invalid"]);
      expect(json["message"]).toMatch(/sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/);
    });

    test("one object can be watched by its name, and by the deprecated watch path", async () => {
      await make("w-a");
      const { raw, path, namespace } = setting();
      expect(names(await raw.watch(`${path("configmaps", "w-a")}?watch=1&timeoutSeconds=90`, 1))).toEqual(["ADDED w-a"]);
      const old = `/api/v1/watch/namespaces/${namespace}/configmaps/w-a?timeoutSeconds=90`;
      expect(names(await raw.watch(old, 1))).toEqual(["ADDED w-a"]);
    });

    test("an event contains the object as a GET returns it", async () => {
      const { json } = await make("w-read");
      const [line] = await setting().raw.watch(`${setting().path("configmaps", "w-read")}?watch=1&timeoutSeconds=90`, 1);
      expect(line!["object"]).toEqual(json);
    });

    test("a watch ends without an error after timeoutSeconds", async () => {
      const { raw, path } = setting();
      expect(await raw.watch(`${path("events")}?watch=1&timeoutSeconds=1&labelSelector=none%3Dsuch`, 1)).toEqual([]);
    });
  });
}
