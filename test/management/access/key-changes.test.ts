/**
 * Changes of OwnedAccessKeys, by every possible way. Source: specification 1, "Endpoints" and "Authentication".
 */
import { describe, expect, test } from "vitest";
import { at, JSON_PATCH, MERGE_PATCH, YAML, type Answered, type RequestOptions } from "../platform.ts";
import { keyOf, sharePlatform } from "../replicas/shared-platform.ts";

const KEYS = "/ownedaccesskeys";
const APPLY: RequestOptions = { type: "application/apply-patch+yaml" };
const STRATEGIC: RequestOptions = { type: "application/strategic-merge-patch+json" };

const platform = sharePlatform();

const admin = () => platform.admin;
const strong = () => platform.fresh("chosen-value-with-more-than-32-characters");
const create = (spec: object) => admin().send("POST", KEYS, { metadata: { name: platform.fresh("own") }, spec });
/** A key's answer to a request that every caller may make. */
const codeOf = async (key: string) => (await platform.as(key).send("GET", "/teams")).code;

describe("a change of a key", () => {
  interface Changed {
    readonly path: string;
    readonly old: string;
  }
  const start = async (spec: object = {}): Promise<Changed> => {
    const created = await create({ displayName: "before", ...spec });
    return { path: `${KEYS}/${created.body.metadata.name}`, old: keyOf(created) };
  };
  const named = (path: string) => ({ metadata: { name: path.split("/").at(-1) } });
  const applied = (path: string, spec: object) => ({ apiVersion: "management.platform/v1", kind: "OwnedAccessKey", ...named(path), spec });
  type Send = (path: string, spec: object) => Promise<Answered>;
  const ways: [string, Send][] = [
    ["PUT", (path, spec) => admin().send("PUT", path, { ...named(path), spec })],
    ["PUT of YAML", (path, spec) => admin().send("PUT", path, JSON.stringify({ ...named(path), spec }), YAML)],
    [
      "JSON patch",
      (path, spec) =>
        admin().send(
          "PATCH",
          path,
          Object.entries(spec).map(([name, value]) => ({ op: "add", path: `/spec/${name}`, value })),
          JSON_PATCH,
        ),
    ],
    ["merge patch", (path, spec) => admin().send("PATCH", path, { spec }, MERGE_PATCH)],
    ["strategic patch", (path, spec) => admin().send("PATCH", path, { spec }, STRATEGIC)],
    ["apply", (path, spec) => admin().send("PATCH", `${path}?fieldManager=a&force=true`, applied(path, spec), APPLY)],
  ];

  test.each(ways)("by %s sets another value, shown once, and the old one ends at once", async (_way, send) => {
    const { path, old } = await start();
    const value = strong();
    const changed = await send(path, { displayName: "after", key: value });
    expect([changed.code, keyOf(changed), at(changed, "spec", "displayName")]).toEqual([200, value, "after"]);
    expect([await codeOf(value), await codeOf(old)]).toEqual([200, 401]);
    expect((await admin().send("GET", path)).text).not.toContain(value);
  });

  test.each(ways)("by %s without a value keeps the old one, and does not show it", async (_way, send) => {
    const { path, old } = await start();
    const changed = await send(path, { displayName: "after" });
    expect([changed.code, at(changed, "spec", "displayName")]).toEqual([200, "after"]);
    expect(changed.text).not.toContain(old);
    expect(await codeOf(old)).toBe(200);
  });

  test.each(ways)("by %s with an empty value keeps the old one", async (_way, send) => {
    const { path, old } = await start();
    expect((await send(path, { displayName: "after", key: "" })).code).toBe(200);
    expect(await codeOf(old)).toBe(200);
  });

  test.each(ways)("by %s with the same value changes nothing, and answers it", async (way, send) => {
    const { path, old } = await start();
    const before = await admin().send("GET", path);
    const again = await send(path, { displayName: "before", type: "User", user: "admin", key: old });
    expect([again.code, keyOf(again), await codeOf(old)]).toEqual([200, old, 200]);
    expect(at(again, "metadata", "generation")).toBe(at(before, "metadata", "generation"));
    if (way !== "apply") expect(at(again, "metadata", "resourceVersion")).toBe(at(before, "metadata", "resourceVersion"));
  });

  test.each(ways)("by %s to the value of another key is refused, and changes nothing", async (_way, send) => {
    const { path, old } = await start();
    const other = await start();
    expect((await send(path, { key: other.old })).code).toBe(422);
    expect([await codeOf(old), await codeOf(other.old)]).toEqual([200, 200]);
  });

  test("by JSON patch sees the value present and empty, and can test nothing else of it", async () => {
    const { path, old } = await start();
    const patch = (operations: object[]) => admin().send("PATCH", path, operations, JSON_PATCH);
    expect((await patch([{ op: "test", path: "/spec/key", value: "" }])).code).toBe(200);
    expect((await patch([{ op: "test", path: "/spec/key", value: old }])).code).toBe(422);
    const value = strong();
    expect(keyOf(await patch([{ op: "replace", path: "/spec/key", value }]))).toBe(value);
    const copied = await patch([{ op: "copy", from: "/spec/key", path: "/spec/description" }]);
    expect([copied.code, at(copied, "spec", "description")]).toEqual([200, undefined]);
    expect((await patch([{ op: "remove", path: "/spec/key" }])).code).toBe(200);
    expect(await codeOf(value)).toBe(200);
  });

  test("that another one has overtaken is a conflict, and its value does not work", async () => {
    const { path, old } = await start();
    const { metadata } = (await admin().send("GET", path)).body;
    await admin().send("PATCH", path, { spec: { displayName: "other" } }, MERGE_PATCH);
    const value = strong();
    expect((await admin().send("PUT", path, { metadata, spec: { key: value } })).code).toBe(409);
    expect([await codeOf(value), await codeOf(old)]).toEqual([401, 200]);
    expect((await create({ key: value })).code).toBe(201);
  });

  test.each(ways)("by %s of the value alone is another generation, and one of nothing is not", async (way, send) => {
    const { path, old } = await start();
    const spec = { displayName: "before", type: "User", user: "admin" };
    const generations = [];
    for (const key of [old, old, strong()]) generations.push(at(await send(path, { ...spec, key }), "metadata", "generation"));
    expect([way, generations]).toEqual([way, [1, 1, 2]]);
  });

  test("by PUT replaces the rest", async () => {
    const { path, old } = await start({ description: "x", ttl: 60 });
    const put = await admin().send("PUT", path, { ...named(path), spec: { displayName: "new" } });
    expect([put.code, put.body["spec"], await codeOf(old)]).toEqual([200, { displayName: "new" }, 200]);
  });

  test("by patches of one field reaches disabled, displayName and key", async () => {
    const { path, old } = await start();
    const patch = (name: string, value: unknown) => admin().send("PATCH", path, [{ op: "add", path: `/spec/${name}`, value }], JSON_PATCH);
    expect(at(await patch("displayName", "new"), "spec", "displayName")).toBe("new");
    expect(at(await patch("disabled", true), "spec", "disabled")).toBe(true);
    expect(await codeOf(old)).toBe(401);
    const value = strong();
    await patch("key", value);
    await patch("disabled", false);
    expect(await codeOf(value)).toBe(200);
  });
});
