/**
 * What bodies of writes may contain, and which author is recorded. Source: specification 1, "metadata" and "Operations".
 */
import { describe, expect, test } from "vitest";
import { at, JSON_PATCH, MERGE_PATCH, YAML } from "../platform.ts";
import { nameIn, sharePlatform } from "../replicas/shared-platform.ts";

const platform = sharePlatform();
const admin = () => platform.admin;
const fresh = () => platform.fresh("object");

/** A Team of its own for one test. */
const team = async (spec: object = {}, metadata: object = {}) => nameIn(await platform.make("/teams", spec, metadata));

test.each(["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"])(
  "the time %s is refused, and nothing is stored",
  async (identityRefresh) => {
    const name = fresh();
    const spec = { subject: "someone", identity: { identityRefresh } };
    const { code, text } = await admin().send("POST", "/ownedaccesskeys", { metadata: { name }, spec });
    expect([code, text]).toEqual([400, expect.stringContaining(`parsing time \\"${identityRefresh}\\"`)]);
    expect((await admin().send("GET", `/ownedaccesskeys/${name}`)).code).toBe(404);
  },
);

describe("managed fields", () => {
  interface Entry {
    manager: string;
    operation: string;
    apiVersion: string;
    time: string;
    fieldsType: string;
    fieldsV1: Record<string, Record<string, unknown>>;
    subresource?: string;
  }
  const entries = async (name: string) => (await admin().send("GET", `/teams/${name}`)).body.metadata.managedFields as Entry[];
  const apply = (name: string, manager: string, spec: object, more = "") =>
    admin().send(
      "PATCH",
      `/teams/${name}?fieldManager=${manager}${more}`,
      { apiVersion: "management.platform/v1", kind: "Team", metadata: { name }, spec },
      { type: "application/apply-patch+yaml" },
    );

  test("record who set which fields, and how", async () => {
    const name = fresh();
    await admin().send("POST", "/teams?fieldManager=a", { metadata: { name }, spec: { displayName: "x" } });
    await admin().send("PATCH", `/teams/${name}?fieldManager=b`, { spec: { description: "y" } }, MERGE_PATCH);
    await apply(name, "c", { username: "z" });
    const found = await entries(name);
    expect(found.map(({ manager, operation }) => [manager, operation]).sort()).toEqual([
      ["a", "Update"],
      ["b", "Update"],
      ["c", "Apply"],
    ]);
    for (const entry of found) expect(entry).toMatchObject({ apiVersion: "management.platform/v1", fieldsType: "FieldsV1" });
    expect(found.find(({ manager }) => manager === "a")!.fieldsV1["f:spec"]).toEqual({ "f:displayName": {} });
    expect(found.every(({ subresource }) => subresource === undefined || subresource === "")).toBe(true);
  });

  test.each(["nope/", "/v1", "a/b/c", ""])("have a group and a version, which %j is not", async (apiVersion) => {
    const path = `/teams/${await team({ displayName: "x" })}`;
    const { body } = await admin().send("GET", path);
    const managedFields = [{ manager: "a", operation: "Update", apiVersion, fieldsType: "FieldsV1", fieldsV1: { "f:spec": {} } }];
    const answer = await admin().send("PUT", path, { ...body, metadata: { ...body.metadata, managedFields } });
    expect([answer.code, answer.text]).toEqual([422, expect.stringContaining("metadata.managedFields[0].apiVersion")]);
  });

  test("their time moves with what the manager changes, and not when another one takes a field over", async () => {
    const name = fresh();
    const timeOf = async (manager: string) => (await entries(name)).find((entry) => entry.manager === manager)?.time;
    await apply(name, "a", { displayName: "x", username: "u" });
    const times = [await timeOf("a")];
    for (const spec of [
      { displayName: "y", username: "u" },
      { displayName: "y", username: "u", description: "d" },
      { displayName: "y", username: "u" },
    ]) {
      await platform.clock.advance(5_000);
      await apply(name, "a", spec);
      times.push(await timeOf("a"));
    }
    expect(new Set(times).size).toBe(4);
    await platform.clock.advance(5_000);
    await apply(name, "a", { displayName: "y", username: "u" });
    expect(await timeOf("a")).toBe(times.at(-1));
    await platform.clock.advance(5_000);
    expect((await apply(name, "b", { displayName: "mine" }, "&force=true")).code).toBe(200);
    expect(await timeOf("a")).toBe(times.at(-1));
  });
});

describe("bodies", () => {
  test("are YAML or JSON", async () => {
    const name = fresh();
    const created = await admin().send("POST", "/teams", `metadata:\n  name: ${name}\nspec:\n  displayName: From YAML\n`, YAML);
    expect([created.code, at(created, "spec", "displayName")]).toEqual([201, "From YAML"]);
    const put = await admin().send("PUT", `/teams/${name}`, `metadata: { name: ${name} }\nspec: { description: new }\n`, YAML);
    expect([put.code, put.body["spec"]]).toEqual([200, { description: "new" }]);
  });

  test("of JSON patches: every operation, escapes, the end of a list and null", async () => {
    const annotations = { "a/b": "1", "example.com/c": "2" };
    const name = await team({ users: ["a"], displayName: "x" }, { annotations });
    const path = `/teams/${name}`;
    const patch = [
      { op: "test", path: "/metadata/annotations/a~1b", value: "1" },
      { op: "replace", path: "/metadata/annotations/example.com~1c", value: "3" },
      { op: "add", path: "/spec/users/-", value: "b" },
      { op: "copy", from: "/spec/displayName", path: "/spec/description" },
      { op: "move", from: "/spec/displayName", path: "/spec/username" },
      { op: "remove", path: "/spec/users/0" },
      { op: "add", path: "/spec/clusterRoles", value: null },
    ];
    const { code, body } = await admin().send("PATCH", path, patch, JSON_PATCH);
    expect([code, body["spec"]]).toEqual([200, { description: "x", username: "x", users: ["b"] }]);
    expect(body.metadata.annotations).toEqual({ "a/b": "1", "example.com/c": "3" });
  });

  test.each([
    ["is not an array", { op: "add", path: "/spec/displayName", value: "x" }],
    [
      "fails a test",
      [
        { op: "add", path: "/spec/displayName", value: "y" },
        { op: "test", path: "/spec/displayName", value: "z" },
      ],
    ],
  ])("a JSON patch that %s changes nothing", async (_why, patch) => {
    const name = await team({ displayName: "x" });
    expect((await admin().send("PATCH", `/teams/${name}`, patch, JSON_PATCH)).code).toBeGreaterThanOrEqual(400);
    expect(at(await admin().send("GET", `/teams/${name}`), "spec", "displayName")).toBe("x");
  });
});
