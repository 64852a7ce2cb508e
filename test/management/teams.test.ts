/**
 * Teams. Source: specification 1, "Team" and "Endpoints".
 */
import { describe, expect, test } from "vitest";
import { at, JSON_PATCH, MERGE_PATCH, names } from "./platform.ts";
import { sharePlatform } from "./replicas/shared-platform.ts";

const SECRETS = "/namespaces/a/sharedsecrets";
const FULL = {
  displayName: "Operators",
  description: "They run it",
  owner: { user: "jane", team: "leads" },
  username: "operators",
  users: ["jane", "joe"],
  groups: ["sso:ops"],
  imagePullSecrets: [{ apiGroup: "", kind: "Secret", secretName: "pull", secretNamespace: "a", key: ".dockerconfigjson" }],
  clusterRoles: [{ name: "view" }],
  access: [{ name: "readers", verbs: ["get"], subresources: ["*"], users: ["bob"], teams: ["leads"] }],
};

const platform = sharePlatform();

const admin = () => platform.admin;
const fresh = () => platform.fresh("team");

const team = (spec: object = {}, metadata: object = {}) => platform.make("/teams", spec, metadata);

describe("a team", () => {
  test("is cluster-scoped, and keeps every field", async () => {
    const { body } = await admin().send("GET", await team(FULL));
    // An empty text is the same as an absent one.
    const [{ apiGroup: _core, ...pull }] = FULL.imagePullSecrets as [(typeof FULL.imagePullSecrets)[0]];
    expect([body.kind, body.metadata.namespace, body["spec"]]).toEqual(["Team", undefined, { ...FULL, imagePullSecrets: [pull] }]);
    expect((await admin().send("POST", "/namespaces/a/teams", { metadata: { name: fresh() } })).code).toBe(404);
  });

  test.each([
    ["displayName", { displayName: 1 }],
    ["description", { description: {} }],
    ["owner", { owner: [] }],
    ["owner.user", { owner: { user: 1 } }],
    ["owner.team", { owner: { team: 1 } }],
    ["username", { username: 1 }],
    ["users", { users: "jane" }],
    ["groups", { groups: [1] }],
    ["imagePullSecrets", { imagePullSecrets: {} }],
    ["imagePullSecrets.apiGroup", { imagePullSecrets: [{ apiGroup: 1 }] }],
    ["imagePullSecrets.kind", { imagePullSecrets: [{ kind: 1 }] }],
    ["imagePullSecrets.secretName", { imagePullSecrets: [{ secretName: 1 }] }],
    ["imagePullSecrets.secretNamespace", { imagePullSecrets: [{ secretNamespace: 1 }] }],
    ["imagePullSecrets.key", { imagePullSecrets: [{ key: 1 }] }],
    ["clusterRoles.name", { clusterRoles: [{ name: 1 }] }],
    ["access.verbs", { access: [{ verbs: "get" }] }],
  ])("is refused when spec.%s has the wrong type, by name", async (field, spec) => {
    const { code, text } = await admin().send("POST", "/teams", { metadata: { name: fresh() }, spec });
    expect([code, text]).toEqual([400, expect.stringContaining(field)]);
  });

  test.each([{}, { name: "" }])("is refused with the cluster role %j, on a change too", async (role) => {
    const spec = { clusterRoles: [{ name: "view" }, role] };
    const made = await admin().send("POST", "/teams", { metadata: { name: fresh() }, spec });
    const changed = await admin().send("PATCH", await team({ clusterRoles: [{ name: "view" }] }), { spec }, MERGE_PATCH);
    for (const { code, text } of [made, changed]) {
      expect([code, text]).toEqual([422, expect.stringContaining("spec.clusterRoles[1].name: Required value")]);
    }
  });

  test("can be used by its owner, which is a user or a team", async () => {
    const leads = fresh();
    await admin().send("POST", "/teams", { metadata: { name: leads }, spec: { users: ["ann"] } });
    const path = await team({ owner: { user: "jane", team: leads } });
    const codes = [];
    for (const user of ["jane", "ann", "bob"]) {
      codes.push((await (await platform.withKey({ user })).send("PATCH", path, { spec: { displayName: user } }, MERGE_PATCH)).code);
    }
    expect(codes).toEqual([200, 200, 403]);
  });

  test.each(["Ops", "-ops", "ops-", "o ps", "ops..x", "/ops", "x".repeat(256)])(
    "is told that no registry takes %j as a namespace",
    async (username) => {
      const { code, warnings } = await admin().send("POST", "/teams", { metadata: { name: fresh() }, spec: { username } });
      expect([code, warnings]).toEqual([201, expect.stringContaining("is not a namespace that container registries accept")]);
    },
  );

  test("gets a warning when another team has its username, and only then", async () => {
    const spec = { username: "ops-1/images_x" };
    const send = async (name: string) => (await admin().send("POST", "/teams", { metadata: { name }, spec })).warnings;
    expect([await send(fresh()), await send(fresh())]).toEqual(["", expect.stringContaining("is also the username of another team")]);
  });

  test("gets a warning about verbs of its rules that allow nothing", async () => {
    const access = [{ verbs: ["get", "VerbAll", "*", "create", "bind"] }, { verbs: ["gett", "deletecollection"], users: ["bob"] }];
    const { code, warnings } = await admin().send("POST", "/teams", { metadata: { name: fresh() }, spec: { access } });
    expect([code, warnings]).toEqual([201, expect.stringContaining('spec.access[1].verbs: \\"gett\\" is not a verb of a Team')]);
    expect(warnings).toContain("deletecollection");
    expect(warnings).not.toContain("access[0]");
  });

  test("has a status that clients do not change", async () => {
    const path = await team();
    const patched = await admin().send("PATCH", path, { status: { anything: 1 } }, MERGE_PATCH);
    expect(patched.body["status"]).toEqual({});
  });
});

describe("the endpoints of teams", () => {
  test("list, create, read, replace, patch and delete", async () => {
    const name = fresh();
    const created = await admin().send("POST", "/teams", { metadata: { name }, spec: { displayName: "x", users: ["jane"] } });
    expect([created.code, created.body["spec"]]).toEqual([201, { displayName: "x", users: ["jane"] }]);
    const path = `/teams/${name}`;
    expect((await admin().send("GET", path)).body).toEqual(created.body);
    const list = await admin().send("GET", "/teams");
    expect([list.body.kind, names(list).includes(name)]).toEqual(["TeamList", true]);
    const put = await admin().send("PUT", path, { metadata: created.body.metadata, spec: { description: "new" } });
    expect([put.code, put.body["spec"]]).toEqual([200, { description: "new" }]);
    const patched = await admin().send("PATCH", path, [{ op: "add", path: "/spec/users", value: ["joe"] }], JSON_PATCH);
    expect([patched.code, patched.body["spec"]]).toEqual([200, { description: "new", users: ["joe"] }]);
    expect((await admin().send("DELETE", path)).body).toMatchObject({ kind: "Status", status: "Success" });
    expect([(await admin().send("GET", path)).code, (await admin().send("PUT", path, { metadata: { name } })).code]).toEqual([404, 404]);
  });

  test("PUT with a stale resourceVersion is a conflict", async () => {
    const path = await team();
    const { body } = await admin().send("GET", path);
    await admin().send("PATCH", path, { spec: { displayName: "x" } }, MERGE_PATCH);
    expect((await admin().send("PUT", path, body)).code).toBe(409);
  });
});

describe("paths", () => {
  test.each([
    ["teams", "/teams"],
    ["sharedsecrets", SECRETS],
    ["ownedaccesskeys", "/ownedaccesskeys"],
  ])("of %s: an annotation is added below the map, with and without one", async (_kind, path) => {
    for (const metadata of [{}, { annotations: { other: "x" } }]) {
      const name = fresh();
      await admin().send("POST", path, { metadata: { name, ...metadata } });
      const patch = [{ op: "add", path: "/metadata/annotations/example.com~1note", value: "new" }];
      const { code, body } = await admin().send("PATCH", `${path}/${name}`, patch, JSON_PATCH);
      expect([code, body.metadata.annotations]).toEqual([
        200,
        { ...("annotations" in metadata && metadata.annotations), "example.com/note": "new" },
      ]);
    }
  });

  test.each([
    ["teams", "/teams"],
    ["sharedsecrets", SECRETS],
    ["ownedaccesskeys", "/ownedaccesskeys"],
  ])("of %s name the object, and a body that names another one is refused", async (_kind, path) => {
    const name = fresh();
    const { body } = await admin().send("POST", path, { metadata: { name } });
    const renamed = { ...body, metadata: { ...body.metadata, name: "other" } };
    expect((await admin().send("PUT", `${path}/${name}`, renamed)).code).toBe(400);
    expect((await admin().send("PATCH", `${path}/${name}`, { metadata: { name: "other" } }, MERGE_PATCH)).code).toBe(400);
    expect((await admin().send("GET", `${path}/other`)).code).toBe(404);
  });

  test("of a namespace name it, and a body that names another one is refused", async () => {
    const other = { metadata: { name: fresh(), namespace: "b" } };
    expect((await admin().send("POST", SECRETS, other)).code).toBe(400);
    const name = fresh();
    const { body } = await admin().send("POST", SECRETS, { metadata: { name } });
    expect(at(await admin().send("GET", `${SECRETS}/${name}`), "metadata", "namespace")).toBe("a");
    const moved = { ...body, metadata: { ...body.metadata, namespace: "b" } };
    expect((await admin().send("PUT", `${SECRETS}/${name}`, moved)).code).toBe(400);
  });
});
