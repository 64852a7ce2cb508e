/**
 * SharedSecrets. Source: specification 1, "SharedSecret", "Endpoints" and "Limits".
 */
import { beforeAll, describe, expect, test } from "vitest";
import { at, BASE, JSON_PATCH, MERGE_PATCH, names, YAML, type Client } from "./platform.ts";
import { sharePlatform } from "./replicas/shared-platform.ts";

const SECRETS = "/namespaces/a/sharedsecrets";
const ROLES = `${BASE}/apis/rbac.authorization.k8s.io/v1/namespaces/a`;
const platform = sharePlatform();
let jane: Client;
let bob: Client;
beforeAll(async () => {
  jane = await platform.withKey({ user: "jane" });
  bob = await platform.withKey({ user: "bob" });
});

const admin = () => platform.admin;
const fresh = () => platform.fresh("secret");

/** A secret for one test; returns its path. */
const secret = (spec: object = {}) => platform.make(SECRETS, spec);

describe("a shared secret", () => {
  test("is namespaced, and read where it was created", async () => {
    const path = await secret();
    expect(at(await admin().send("GET", path), "metadata", "namespace")).toBe("a");
    expect((await admin().send("GET", path.replace("/a/", "/b/"))).code).toBe(404);
    expect((await admin().send("POST", "/sharedsecrets", { metadata: { name: fresh() } })).code).toBe(405);
  });

  test("keeps its texts and its owner", async () => {
    const spec = { displayName: "Registry", description: "Pulls images", owner: { user: "jane", team: "ops" } };
    expect((await admin().send("GET", await secret(spec))).body["spec"]).toEqual(spec);
  });

  test.each([
    ["displayName", { displayName: 1 }],
    ["description", { description: ["x"] }],
    ["owner", { owner: "jane" }],
    ["owner.user", { owner: { user: 1 } }],
    ["owner.team", { owner: { team: {} } }],
    ["data", { data: ["x"] }],
    ["access", { access: {} }],
    ["access.verbs", { access: [{ verbs: "get" }] }],
  ])("is refused when spec.%s has the wrong type, by name", async (field, spec) => {
    const { code, text } = await admin().send("POST", SECRETS, { metadata: { name: fresh() }, spec });
    expect([code, text]).toEqual([400, expect.stringContaining(field)]);
  });

  test("can be used by its owner and no one else", async () => {
    const path = await secret({ owner: { user: "jane" } });
    expect((await jane.send("PATCH", path, { spec: { displayName: "mine" } }, MERGE_PATCH)).code).toBe(200);
    expect((await bob.send("GET", path)).code).toBe(403);
    expect((await bob.send("PATCH", path, { spec: { displayName: "mine" } }, MERGE_PATCH)).code).toBe(403);
    expect((await bob.send("DELETE", path)).code).toBe(403);
    expect((await jane.send("DELETE", path)).code).toBe(200);
  });

  test("that a team owns can be used by its members", async () => {
    await admin().send("POST", "/teams", { metadata: { name: "owners" }, spec: { users: ["jane"] } });
    const path = await secret({ owner: { team: "owners" } });
    expect([(await jane.send("GET", path)).code, (await bob.send("GET", path)).code]).toEqual([200, 403]);
  });
});

describe("the names of data", () => {
  test.each(["a.B-c_1", ".", "-", "x".repeat(253)])("may be %s", async (name) => {
    expect(at(await admin().send("GET", await secret({ data: { [name]: "eA==" } })), "spec", "data")).toEqual({ [name]: "eA==" });
  });

  test.each(["a b", "a/b", "", "ä", "a:b", "x".repeat(254)])("may not be %j", async (name) => {
    const { code, text } = await admin().send("POST", SECRETS, { metadata: { name: fresh() }, spec: { data: { [name]: "eA==" } } });
    expect([code, text]).toEqual([422, expect.stringContaining("spec.data")]);
  });
});

describe("the values of data", () => {
  test("are bytes of any kind, and come back as they were", async () => {
    const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index)).toString("base64");
    const data = { all: bytes, none: "", "zero.bin": "AAAA", slash: "//8=" };
    const path = await secret({ data });
    expect(at(await admin().send("GET", path), "spec", "data")).toEqual(data);
    const yaml = `metadata: { name: ${fresh()} }\nspec:\n  data:\n    x: ${bytes}\n`;
    expect(at(await admin().send("POST", SECRETS, yaml, YAML), "spec", "data")).toEqual({ x: bytes });
  });

  // The texts are Kubernetes' own.
  test.each([
    ["no base64", "!!", "illegal base64 data at input byte 0"],
    ["of the alphabet for URLs", "__8=", "illegal base64 data at input byte 0"],
    ["on two lines", "eHh4\neHh4", "illegal base64 data at input byte 4"],
    ["ended by a line break", "eHh4\n", "illegal base64 data at input byte 4"],
    ["without padding", "eA", "illegal base64 data at input byte 2"],
    ["a number", 1, "SharedSecret.spec.data.word of type string"],
    ["an object", {}, "SharedSecret.spec.data.word of type string"],
  ])("that are %s are refused", async (_what, value, why) => {
    const { code, text } = await admin().send("POST", SECRETS, { metadata: { name: fresh() }, spec: { data: { word: value } } });
    expect([code, text]).toEqual([400, expect.stringContaining(why)]);
  });

  test.each(["eB==", "eHl="])("have one spelling, which %s is not, and are not told again", async (value) => {
    const { code, text } = await admin().send("POST", SECRETS, { metadata: { name: fresh() }, spec: { data: { word: value } } });
    expect([code, text]).toEqual([422, expect.stringContaining("spec.data[word]")]);
    expect(text).not.toContain(value);
  });

  test("are a mebibyte at most, all of them together", async () => {
    const half = Buffer.alloc(524_288).toString("base64");
    expect((await admin().send("POST", SECRETS, { metadata: { name: fresh() }, spec: { data: { a: half, b: half } } })).code).toBe(201);
    const { code, text } = await admin().send("POST", SECRETS, {
      metadata: { name: fresh() },
      spec: { data: { a: half, b: half, c: "eA==" } },
    });
    expect([code, text]).toEqual([422, expect.stringContaining("spec.data: Too long")]);
  });
});

describe("access rules", () => {
  const rolesOf = async (path: string) => {
    await platform.management.settled();
    const name = path.split("/").at(-1)!;
    const mine = (answer: { body: unknown }) =>
      ((answer.body as { items: { metadata: { name: string } }[] }).items ?? []).filter(({ metadata }) => metadata.name.includes(name));
    return { roles: mine(await admin().send("GET", `${ROLES}/roles`)), bindings: mine(await admin().send("GET", `${ROLES}/rolebindings`)) };
  };

  test("are seen as Roles and RoleBindings, and these follow the rules", async () => {
    const path = await secret({ access: [{ verbs: ["get"], users: ["jane"], teams: ["ops"] }] });
    const before = await rolesOf(path);
    expect(before.roles).toMatchObject([
      { rules: [{ resources: ["sharedsecrets"], resourceNames: [path.split("/").at(-1)], verbs: ["get"] }] },
    ]);
    expect(JSON.stringify(before.bindings)).toContain('"jane"');
    expect(JSON.stringify(before.bindings)).toContain("ops");
    const patch = { spec: { access: [{ verbs: ["get", "update"], users: ["bob"] }] } };
    await admin().send("PATCH", path, patch, MERGE_PATCH);
    const after = await rolesOf(path);
    expect(after.roles).toMatchObject([{ rules: [{ verbs: ["get", "update"] }] }]);
    expect(JSON.stringify(after.bindings)).toContain('"bob"');
    expect(JSON.stringify(after.bindings)).not.toContain('"jane"');
    await admin().send("DELETE", path);
    expect(await rolesOf(path)).toEqual({ roles: [], bindings: [] });
  });

  test("act at once, in both directions", async () => {
    const path = await secret({ data: { word: "eA==" } });
    expect((await jane.send("GET", path)).code).toBe(403);
    await admin().send("PATCH", path, { spec: { access: [{ verbs: ["get"], users: ["jane"] }] } }, MERGE_PATCH);
    expect(at(await jane.send("GET", path), "spec", "data", "word")).toBe("eA==");
    await admin().send("PATCH", path, { spec: { access: null } }, MERGE_PATCH);
    expect((await jane.send("GET", path)).code).toBe(403);
  });

  test("without get and list do not let a caller read by writing", async () => {
    // Other tests leave secrets here that the caller may read.
    const word = "b25seSBoZXJl";
    const path = await secret({ data: { word }, access: [{ verbs: ["update", "patch", "delete"], users: ["jane"] }] });
    const { metadata } = (await admin().send("GET", path)).body;
    const copy = [
      { op: "copy", from: "/spec/data/word", path: "/spec/displayName" },
      { op: "copy", from: "/spec/data/word", path: "/metadata/annotations/copied" },
      { op: "add", path: "/metadata/finalizers", value: ["example.com/held"] },
    ];
    const answers = [
      await jane.send("PATCH", path, copy, JSON_PATCH),
      await jane.send("PATCH", `${path}?dryRun=All`, { spec: { description: "x" } }, MERGE_PATCH),
      await jane.send(
        "PATCH",
        path,
        { spec: { description: "x" } },
        { ...MERGE_PATCH, headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" } },
      ),
      await jane.send("DELETE", path),
      await jane.send("GET", SECRETS),
    ];
    expect(answers.map(({ code }) => code)).toEqual([200, 200, 200, 200, 200]);
    expect(answers[0]!.body).toMatchObject({ kind: "SharedSecret", metadata: { name: metadata.name, uid: metadata.uid }, spec: {} });
    expect(answers.map(({ text }) => text).join("")).not.toContain(word);
    const { spec, metadata: after } = (await admin().send("GET", path)).body as unknown as { spec: object; metadata: typeof metadata };
    expect(spec).toMatchObject({ data: { word }, description: "x" });
    expect([JSON.stringify(spec).split(word).length - 1, JSON.stringify(after)]).toEqual([1, expect.not.stringContaining(word)]);
  });

  test("without get and list do not let a caller guess values by patches, but still let the caller write", async () => {
    const note = { "kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"data":{"word":"c2Vz"}}}' };
    const path = await secret({ data: { word: "c2Vz" }, access: [{ verbs: ["patch"], users: ["jane"] }] });
    await admin().send("PATCH", path, { metadata: { annotations: note } }, MERGE_PATCH);
    const patch = (...operations: object[]) => jane.send("PATCH", path, operations, JSON_PATCH);
    expect((await patch({ op: "test", path: "/spec/data/word", value: "c2Vz" })).code).toBe(422);
    const labelled = await patch({ op: "copy", from: "/spec/data/word", path: "/metadata/labels/x" });
    expect([labelled.code, labelled.text]).toEqual([422, expect.not.stringContaining("c2Vz")]);
    const before = (await admin().send("GET", path)).body;
    expect((await patch({ op: "add", path: "/metadata/labels/color", value: "blue" })).code).toBe(200);
    const after = (await admin().send("GET", path)).body;
    expect([after.metadata.generation, after.metadata.annotations, after["spec"]]).toEqual([
      before.metadata.generation,
      note,
      before["spec"],
    ]);
    expect((await patch({ op: "add", path: "/spec/data/other", value: "eQ==" })).code).toBe(200);
    expect(at(await admin().send("GET", path), "spec", "data")).toEqual({ word: "c2Vz", other: "eQ==" });
    expect((await jane.send("PATCH", path, { spec: { data: { word: "bmV3" } } }, MERGE_PATCH)).code).toBe(200);
    expect(at(await admin().send("GET", path), "spec", "data")).toEqual({ word: "bmV3", other: "eQ==" });
  });

  test("and the scope of a key must both allow reading", async () => {
    const path = await secret({ data: { word: "c2Vz" }, owner: { user: "jane" } });
    const rules = [{ verbs: ["patch"], resources: [{ group: "management.platform", resources: ["sharedsecrets"] }] }];
    const writer = await platform.withKey({ user: "jane", scope: { rules } });
    const patched = await writer.send("PATCH", path, { spec: { displayName: "x" } }, MERGE_PATCH);
    expect([patched.code, patched.text.includes("c2Vz")]).toEqual([200, false]);
    expect((await writer.send("GET", path)).code).toBe(403);
  });
});

describe("status", () => {
  test("is not changed by what a client sends", async () => {
    const path = await secret();
    const status = { conditions: [{ type: "Ready", status: "True" }] };
    const { body } = await admin().send("GET", path);
    expect(body["status"]).toEqual({});
    expect((await admin().send("PUT", path, { ...body, status })).body["status"]).toEqual({});
    expect((await admin().send("PATCH", path, { status }, MERGE_PATCH)).body["status"]).toEqual({});
    const created = await admin().send("POST", SECRETS, { metadata: { name: fresh() }, status });
    expect([created.code, created.body["status"]]).toEqual([201, {}]);
  });
});

describe("the endpoints", () => {
  test("GET of a collection lists only its namespace", async () => {
    const body = { metadata: { name: fresh() } };
    for (const namespace of ["list-a", "list-b"]) await admin().send("POST", `/namespaces/${namespace}/sharedsecrets`, body);
    const list = await admin().send("GET", "/namespaces/list-a/sharedsecrets");
    expect([list.body.kind, names(list)]).toEqual(["SharedSecretList", [body.metadata.name]]);
    expect(at(list, "items", 0, "metadata", "namespace")).toBe("list-a");
  });

  test("POST and GET return the stored object, and GET of a missing one fails", async () => {
    const spec = { displayName: "x", data: { word: "eA==" } };
    const name = fresh();
    const created = await admin().send("POST", SECRETS, { metadata: { name }, spec });
    expect([created.code, created.body["spec"]]).toEqual([201, spec]);
    expect((await admin().send("GET", `${SECRETS}/${name}`)).body).toEqual(created.body);
    expect((await admin().send("GET", `${SECRETS}/absent`)).code).toBe(404);
  });

  test("PUT replaces: what is left out of spec is gone", async () => {
    const path = await secret({ displayName: "x", data: { word: "eA==" } });
    const { body } = await admin().send("GET", path);
    const put = await admin().send("PUT", path, { ...body, spec: { description: "new" } });
    expect([put.code, put.body["spec"]]).toEqual([200, { description: "new" }]);
    expect((await admin().send("GET", path)).body).toEqual(put.body);
  });

  test("PUT needs name and resourceVersion, and refuses others", async () => {
    const path = await secret({ displayName: "x" });
    const { metadata } = (await admin().send("GET", path)).body;
    const put = (change: object) =>
      admin().send("PUT", path, { metadata: { name: metadata.name, resourceVersion: metadata.resourceVersion, ...change } });
    const { code, text } = await put({ resourceVersion: undefined });
    expect([code, text]).toEqual([422, expect.stringContaining("metadata.resourceVersion")]);
    expect((await put({ name: "other" })).code).toBe(400);
    expect((await put({ name: undefined })).code).toBe(400);
    expect((await put({ resourceVersion: String(Number(metadata.resourceVersion) - 1) })).code).toBe(409);
    expect((await put({})).code).toBe(200);
    expect((await put({})).code).toBe(409);
  });

  test("PATCH returns the patched object, and DELETE removes it", async () => {
    const path = await secret({ data: { word: "eA==" } });
    const patched = await admin().send("PATCH", path, [{ op: "add", path: "/spec/data/other", value: "eQ==" }], JSON_PATCH);
    expect([patched.code, patched.body["spec"]]).toEqual([200, { data: { word: "eA==", other: "eQ==" } }]);
    expect((await admin().send("DELETE", path)).body).toMatchObject({ kind: "Status", status: "Success" });
    expect((await admin().send("GET", path)).code).toBe(404);
    expect((await admin().send("DELETE", path)).code).toBe(404);
  });
});
