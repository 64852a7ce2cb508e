/**
 * How patches are applied, seen through a client; part of the cluster client suite.
 */
import { describe, expect, test } from "vitest";
import { keyOf } from "../../src/kube/object/key.ts";
import { CONFIG_MAPS } from "../../src/kube/object/resource.ts";
import { codeOf, type Setting } from "./setting.ts";

/** The cases; `setting` is called when a test runs. */
export function patchCases(setting: () => Setting): void {
  let count = 0;
  const create = async (data: Record<string, string> = { a: "1" }) => {
    const { client, objects } = setting();
    return client.create(CONFIG_MAPS, objects.configMap(`patched-${(count += 1)}`, data, { labels: { app: "web" } }));
  };

  describe("patch", () => {
    test.each([
      { why: "add sets and replaces", body: [{ op: "add", path: "/data/a", value: "2" }], want: { a: "2", b: "x" } },
      { why: "remove deletes a member", body: [{ op: "remove", path: "/data/a" }], want: { b: "x" } },
      { why: "replace changes an existing value", body: [{ op: "replace", path: "/data/a", value: "3" }], want: { a: "3", b: "x" } },
      { why: "move renames a member", body: [{ op: "move", from: "/data/a", path: "/data/c" }], want: { b: "x", c: "1" } },
      { why: "copy duplicates a member", body: [{ op: "copy", from: "/data/a", path: "/data/c" }], want: { a: "1", b: "x", c: "1" } },
      {
        why: "the other operations apply if a test holds",
        body: [
          { op: "test", path: "/data/a", value: "1" },
          { op: "add", path: "/data/c", value: "" },
        ],
        want: { a: "1", b: "x", c: "" },
      },
    ])("JSON patch: $why", async ({ body, want }) => {
      const { client } = setting();
      const created = await create({ a: "1", b: "x" });
      const patched = await client.patch(CONFIG_MAPS, keyOf(created), "json", body);
      expect(patched["data"]).toEqual(want);
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toEqual(patched);
    });

    test.each([
      { why: "a test operation that does not hold", body: [{ op: "add", path: "/data/b", value: "2" }, { op: "test", path: "/data/a", value: "no" }], code: "API_INVALID" }, // prettier-ignore
      { why: "a parent that is missing", body: [{ op: "add", path: "/metadata/annotations/note", value: "x" }], code: "API_INVALID" },
      { why: "a replacement of a missing value", body: [{ op: "replace", path: "/data/none", value: "x" }], code: "API_INVALID" },
      { why: "a label that is not a string", body: [{ op: "add", path: "/metadata/labels/n", value: 5 }], code: "API_BAD_REQUEST" },
      { why: "a patch that is not a list", body: { op: "add", path: "/data/b", value: "2" }, code: "API_BAD_REQUEST" },
      { why: "a changed name", body: [{ op: "replace", path: "/metadata/name", value: "other" }], code: "API_BAD_REQUEST" },
    ])("JSON patch: $why fails with $code and changes nothing", async ({ body, code }) => {
      const { client } = setting();
      const created = await create();
      expect(await codeOf(client.patch(CONFIG_MAPS, keyOf(created), "json", body))).toBe(code);
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toEqual(created);
    });

    test("merge patch: null removes, objects merge, the rest is replaced", async () => {
      const { client } = setting();
      const created = await create({ a: "1", b: "2" });
      const body = { data: { a: null, c: "3" }, metadata: { labels: null, annotations: { note: "x" } } };
      const patched = await client.patch(CONFIG_MAPS, keyOf(created), "merge", body);
      expect(patched["data"]).toEqual({ b: "2", c: "3" });
      expect(patched.metadata.labels).toBeUndefined();
      expect(patched.metadata.annotations).toEqual({ note: "x" });
    });

    test("merge patch: a body that is not an object fails with API_BAD_REQUEST", async () => {
      const { client } = setting();
      const created = await create();
      expect(await codeOf(client.patch(CONFIG_MAPS, keyOf(created), "merge", [1]))).toBe("API_BAD_REQUEST");
    });

    test("a patch that changes nothing keeps the resourceVersion", async () => {
      const { client } = setting();
      const created = await create();
      expect(await client.patch(CONFIG_MAPS, keyOf(created), "merge", { data: { a: "1" } })).toEqual(created);
    });

    test("a patch with an old resourceVersion fails with API_CONFLICT, and a patch with the current one succeeds", async () => {
      const { client } = setting();
      const created = await create();
      const { resourceVersion } = created.metadata;
      const body = (version: string) => ({ metadata: { resourceVersion: version }, data: { a: "2" } });
      const patched = await client.patch(CONFIG_MAPS, keyOf(created), "merge", body(resourceVersion!));
      expect(patched["data"]).toEqual({ a: "2" });
      expect(await codeOf(client.patch(CONFIG_MAPS, keyOf(created), "merge", { ...body(resourceVersion!), data: { a: "3" } }))).toBe(
        "API_CONFLICT",
      );
    });

    test("concurrent patches of several writers all take effect", async () => {
      const { client } = setting();
      const created = await create();
      const writes = ["p", "q", "r"].map((field) => client.patch(CONFIG_MAPS, keyOf(created), "merge", { data: { [field]: "x" } }));
      await Promise.all(writes);
      expect((await client.get(CONFIG_MAPS, keyOf(created)))!["data"]).toEqual({ a: "1", p: "x", q: "x", r: "x" });
    });

    test("a patch of an absent object fails with API_NOT_FOUND", async () => {
      const { client, namespace } = setting();
      const call = client.patch(CONFIG_MAPS, { namespace, name: "nobody" }, "merge", { data: {} });
      expect(await codeOf(call)).toBe("API_NOT_FOUND");
    });
  });
}
