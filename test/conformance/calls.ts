/**
 * What single calls do: get, create, update and delete.
 */
import { describe, expect, test } from "vitest";
import { keyOf } from "../../src/kube/object/key.ts";
import { CONFIG_MAPS, ENDPOINTS } from "../../src/kube/object/resource.ts";
import { compareResourceVersions } from "../../src/kube/object/resource-version.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { objectsOf } from "./sandbox-namespace.ts";
import { codeOf, type Setting } from "./setting.ts";
import { collect, shown } from "./watches.ts";

export function getAndCreateCases(setting: () => Setting): void {
  describe("get and create", () => {
    test("reading an absent object returns undefined, not an error", async () => {
      const { client, namespace } = setting();
      expect(await client.get(CONFIG_MAPS, { namespace, name: "nobody" })).toBeUndefined();
      expect(await client.get(CONFIG_MAPS, { namespace: "no-such-namespace", name: "nobody" })).toBeUndefined();
    });

    test("a created object is returned with apiVersion, kind and the fields that only the server sets", async () => {
      const { client, namespace, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("plain", { a: "1" }));
      expect(created).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(created.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(await client.get(CONFIG_MAPS, { namespace, name: "plain" })).toEqual(created);
    });

    test("system fields that the author sets are overwritten", async () => {
      const { client, objects } = setting();
      const metadata = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", deletionTimestamp: "2001-01-01T00:00:00Z", generation: 7 };
      const created = await client.create(CONFIG_MAPS, objects.configMap("forged", {}, metadata));
      expect(created.metadata.uid).not.toBe("mine");
      expect(created.metadata.creationTimestamp).not.toMatch(/^2001/);
      expect(created.metadata.deletionTimestamp ?? null).toBeNull();
    });

    test("a create never overwrites an existing object", async () => {
      const { client, namespace, objects } = setting();
      await client.create(CONFIG_MAPS, objects.configMap("taken", { a: "1" }));
      expect(await codeOf(client.create(CONFIG_MAPS, objects.configMap("taken", { a: "2" })))).toBe("API_ALREADY_EXISTS");
      expect((await client.get(CONFIG_MAPS, { namespace, name: "taken" }))!["data"]).toEqual({ a: "1" });
    });

    test("a namespace that does not exist accepts no objects", async () => {
      const { client } = setting();
      expect(await codeOf(client.create(CONFIG_MAPS, objectsOf("no-such-namespace").configMap("lost")))).toBe("API_NOT_FOUND");
    });

    test("generateName is completed with five characters chosen by the server", async () => {
      const { client, namespace } = setting();
      const template = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, generateName: "made-" } };
      const [first, second] = [await client.create(CONFIG_MAPS, template), await client.create(CONFIG_MAPS, template)];
      expect(first!.metadata.name).toMatch(/^made-[b-df-hj-np-tv-xz2-9]{5}$/);
      expect(second!.metadata.name).not.toBe(first!.metadata.name);
    });

    test("a resourceVersion on a new object is refused", async () => {
      const { client, objects } = setting();
      const call = client.create(CONFIG_MAPS, objects.configMap("versioned", {}, { resourceVersion: "1" }));
      // A real API server answers 500, ours 400.
      expect(["API_BAD_REQUEST", "API_UNAVAILABLE"]).toContain(await codeOf(call));
    });

    test.each([
      { why: "a name in upper case", metadata: { name: "Capital" } },
      { why: "a name of 254 characters", metadata: { name: "a".repeat(254) } },
      { why: "a label value with a space", metadata: { labels: { app: "a b" } } },
      { why: "an annotation key without a name", metadata: { annotations: { "example.com/": "x" } } },
      { why: "an annotation map of more than 256 KiB", metadata: { annotations: { note: "x".repeat(262_144) } } },
      { why: "an owner without uid", metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "" }] } },
      { why: "a finalizer that is not a name", metadata: { finalizers: ["not a name"] } },
    ])("$why fails with API_INVALID", async ({ metadata }) => {
      const { client, objects } = setting();
      expect(await codeOf(client.create(CONFIG_MAPS, objects.configMap("refused", {}, metadata)))).toBe("API_INVALID");
    });
  });
}

export function updateCases(setting: () => Setting): void {
  describe("update", () => {
    test("an update replaces the object and increases its resourceVersion", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("replaced", { a: "1", b: "2" }));
      const updated = await client.update(CONFIG_MAPS, { ...created, data: { c: "3" } });
      expect(updated["data"]).toEqual({ c: "3" });
      const { resourceVersion, managedFields } = updated.metadata;
      expect(updated.metadata).toEqual({ ...created.metadata, resourceVersion, ...(managedFields && { managedFields }) });
      expect(compareResourceVersions(created.metadata.resourceVersion!, updated.metadata.resourceVersion!)).toBeLessThan(0);
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toEqual(updated);
    });

    test("a missing resourceVersion is a bug in the caller", async () => {
      const { client, objects } = setting();
      await client.create(CONFIG_MAPS, objects.configMap("unversioned"));
      expect(await codeOf(client.update(CONFIG_MAPS, objects.configMap("unversioned", { a: "1" })))).toBe("INTERNAL");
    });

    test("an update of an object that has changed fails with API_CONFLICT, and changes nothing", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("moved"));
      const newer = await client.update(CONFIG_MAPS, { ...created, data: { a: "1" } });
      expect(await codeOf(client.update(CONFIG_MAPS, { ...created, data: { a: "2" } }))).toBe("API_CONFLICT");
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toEqual(newer);
    });

    test("exactly one of several writers that start from the same state succeeds", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("contested"));
      const writes = [1, 2, 3, 4, 5].map((n) => codeOf(client.update(CONFIG_MAPS, { ...created, data: { n: String(n) } })));
      expect((await Promise.all(writes)).sort()).toEqual([...Array<string>(4).fill("API_CONFLICT"), "none"]);
    });

    test("an update of an object that is gone fails with API_NOT_FOUND, and does not recreate it", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("gone"));
      await client.delete(CONFIG_MAPS, keyOf(created));
      expect(await codeOf(client.update(CONFIG_MAPS, { ...created, data: { a: "1" } }))).toBe("API_NOT_FOUND");
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toBeUndefined();
    });

    test("an update does not recreate Endpoints that are gone, though a PUT could", async () => {
      const { client, objects } = setting();
      const created = await client.create(ENDPOINTS, objects.endpoints("gone"));
      await client.delete(ENDPOINTS, keyOf(created));
      const code = await codeOf(client.update(ENDPOINTS, { ...created, subsets: [] }));
      expect(["API_NOT_FOUND", "API_CONFLICT"]).toContain(code);
      expect(await client.get(ENDPOINTS, keyOf(created))).toBeUndefined();
    });

    test("an update of an object that was recreated fails with API_CONFLICT", async () => {
      const { client, objects } = setting();
      const first = await client.create(CONFIG_MAPS, objects.configMap("reborn"));
      await client.delete(CONFIG_MAPS, keyOf(first));
      const second = await client.create(CONFIG_MAPS, objects.configMap("reborn"));
      const mixed = { ...first, metadata: { ...first.metadata, resourceVersion: second.metadata.resourceVersion! } };
      expect(await codeOf(client.update(CONFIG_MAPS, mixed))).toBe("API_CONFLICT");
    });

    test("a write that changes nothing keeps the resourceVersion and causes no event", async () => {
      const { client, namespace, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("still", { a: "1" }, { labels: { app: "still" } }));
      const reordered = { ...created, data: { a: "1" }, metadata: { ...created.metadata, annotations: {} } };
      expect(await client.update(CONFIG_MAPS, reordered)).toEqual(created);
      const changed = await client.update(CONFIG_MAPS, { ...created, data: { a: "2" } });
      const options = { namespace, resourceVersion: created.metadata.resourceVersion!, labelSelector: "app=still" };
      expect((await collect(client, options, 1)).map(({ object }) => object)).toEqual([changed]);
    });

    test("uid, creationTimestamp and unknown fields that the author sets are ignored", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("stamped"));
      const metadata = { ...created.metadata, creationTimestamp: "2001-01-01T00:00:00Z" };
      const updated = await client.update(CONFIG_MAPS, { ...created, metadata, surprise: 1 } as KubeObject);
      expect(updated).toEqual(created);
    });
  });
}

export function deleteCases(setting: () => Setting): void {
  describe("delete", () => {
    test("a deletion reports deleted the first time, and absent afterwards", async () => {
      const { client, objects } = setting();
      const key = keyOf(await client.create(CONFIG_MAPS, objects.configMap("brief")));
      expect(await client.delete(CONFIG_MAPS, key)).toBe("deleted");
      expect(await client.delete(CONFIG_MAPS, key)).toBe("absent");
      expect(await client.get(CONFIG_MAPS, key)).toBeUndefined();
    });

    test.each([
      { why: "another uid", preconditions: { uid: "00000000-0000-4000-8000-000000000000" } },
      { why: "an older resourceVersion", preconditions: { resourceVersion: "1" } },
    ])("$why in the preconditions fails with API_CONFLICT and deletes nothing", async ({ preconditions }) => {
      const { client, namespace, objects } = setting();
      const key = { namespace, name: "guarded" };
      if ((await client.get(CONFIG_MAPS, key)) === undefined) await client.create(CONFIG_MAPS, objects.configMap("guarded"));
      expect(await codeOf(client.delete(CONFIG_MAPS, key, preconditions))).toBe("API_CONFLICT");
      expect(await client.get(CONFIG_MAPS, key)).toBeDefined();
    });

    test("preconditions that hold are accepted", async () => {
      const { client, objects } = setting();
      const created = await client.create(CONFIG_MAPS, objects.configMap("known"));
      const { uid, resourceVersion } = created.metadata;
      expect(await client.delete(CONFIG_MAPS, keyOf(created), { uid: uid!, resourceVersion: resourceVersion! })).toBe("deleted");
    });

    test("finalizers keep an object, marked as being deleted, until the last one is removed", async () => {
      const { client, namespace, objects } = setting();
      const finalizers = ["example.com/wait"];
      const created = await client.create(CONFIG_MAPS, objects.configMap("kept", { a: "1" }, { finalizers, labels: { app: "kept" } }));
      expect(await client.delete(CONFIG_MAPS, keyOf(created))).toBe("deleted");
      const kept = (await client.get(CONFIG_MAPS, keyOf(created)))!;
      expect(kept.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(await codeOf(client.create(CONFIG_MAPS, objects.configMap("kept")))).toBe("API_ALREADY_EXISTS");
      const more = { ...kept, metadata: { ...kept.metadata, finalizers: [...finalizers, "example.com/more"] } };
      expect(await codeOf(client.update(CONFIG_MAPS, more))).toBe("API_INVALID");
      await client.update(CONFIG_MAPS, { ...kept, metadata: { ...kept.metadata, finalizers: [] } });
      expect(await client.get(CONFIG_MAPS, keyOf(created))).toBeUndefined();
      const options = { namespace, resourceVersion: created.metadata.resourceVersion!, labelSelector: "app=kept" };
      expect(shown(await collect(client, options, 2))).toEqual(["MODIFIED kept", "DELETED kept"]);
    });
  });
}
