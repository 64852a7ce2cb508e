/**
 * `status` as a part of objects with a path of its own, and what discovery and selectors say about the kinds. Source: specification 1,
 * "Access rule item" (subresources) and "Common envelope".
 */
import { beforeAll, describe, expect, test } from "vitest";
import { at, MERGE_PATCH, names, type Client } from "./platform.ts";
import { sharePlatform } from "./replicas/shared-platform.ts";

const SECRETS = "/namespaces/a/sharedsecrets";
const CONDITIONS = [{ type: "Ready", status: "True" }];
const platform = sharePlatform();
let jane: Client;
let bob: Client;
beforeAll(async () => {
  jane = await platform.withKey({ user: "jane" });
  bob = await platform.withKey({ user: "bob" });
});

const admin = () => platform.admin;

describe("the path of a status", () => {
  test("changes the status and nothing of the spec, by PUT and PATCH", async () => {
    const path = await platform.make(SECRETS, { displayName: "x", data: { a: "eA==" } });
    const { body } = await admin().send("GET", `${path}/status`);
    const put = await admin().send("PUT", `${path}/status`, { ...body, spec: { displayName: "y" }, status: { conditions: CONDITIONS } });
    expect([put.code, put.body["spec"], put.body["status"], put.body.metadata.generation]).toEqual([
      200,
      { displayName: "x", data: { a: "eA==" } },
      { conditions: CONDITIONS },
      1,
    ]);
    const patch = { spec: { data: null }, status: { conditions: [{ type: "Ready", status: "False" }] } };
    const patched = await admin().send("PATCH", `${path}/status`, patch, MERGE_PATCH);
    expect([patched.code, at(patched, "spec", "data"), at(patched, "status", "conditions")]).toEqual([
      200,
      { a: "eA==" },
      [{ type: "Ready", status: "False" }],
    ]);
  });

  test("is the only one that changes it", async () => {
    const path = await platform.make(SECRETS, {});
    await admin().send("PATCH", `${path}/status`, { status: { conditions: CONDITIONS } }, MERGE_PATCH);
    for (const status of [null, { conditions: [] }]) {
      const answer = await admin().send("PATCH", path, { spec: { displayName: String(status) }, status }, MERGE_PATCH);
      expect(answer.body["status"]).toEqual({ conditions: CONDITIONS });
    }
    const { body } = await admin().send("GET", path);
    expect((await admin().send("PUT", path, { ...body, status: {} })).body["status"]).toEqual({ conditions: CONDITIONS });
  });

  test("leaves a password and a key unchanged, and only the server writes when a key was used", async () => {
    await admin().send("POST", "/users", { metadata: { name: "carl" }, spec: { username: "carl", password: "correct horse 1" } });
    expect((await admin().send("PATCH", "/users/carl/status", { status: {}, spec: { password: "y" } }, MERGE_PATCH)).code).toBe(200);
    const key = await platform.withKey({ user: "carl" });
    const status = { lastActivity: "2001-01-01T00:00:00Z" };
    const patched = await admin().send("PATCH", `/ownedaccesskeys/${key.name}/status`, { status, spec: { key: "a" } }, MERGE_PATCH);
    expect([patched.code, patched.body["status"], at(patched, "spec", "key")]).toEqual([200, {}, undefined]);
    expect((await key.send("GET", "/users/carl")).code).toBe(200);
    expect((await key.send("PATCH", "/users/carl/status", { status: {} }, MERGE_PATCH)).code).toBe(403);
  });

  test("needs a rule with that part, for which the verbs alone are not enough", async () => {
    const access = [
      { verbs: ["get", "patch"], users: ["bob"] },
      { verbs: ["get", "patch"], subresources: ["status"], users: ["jane"] },
    ];
    const path = await platform.make(SECRETS, { access });
    const codes = async (by: Client) => [
      (await by.send("GET", `${path}/status`)).code,
      (await by.send("PATCH", `${path}/status`, { status: { conditions: CONDITIONS } }, MERGE_PATCH)).code,
      (await by.send("PUT", `${path}/status`, {})).code,
    ];
    expect([await codes(bob), await codes(jane)]).toEqual([
      [403, 403, 403],
      [200, 200, 403],
    ]);
  });

  test("shows no value of a secret to a user who may only write it", async () => {
    const access = [{ verbs: ["patch"], subresources: ["status"], users: ["bob"] }];
    const path = await platform.make(SECRETS, { data: { word: "c2VjcmV0" }, access });
    const { code, text } = await bob.send("PATCH", `${path}/status`, { status: { conditions: CONDITIONS } }, MERGE_PATCH);
    expect([code, text.includes("c2VjcmV0")]).toEqual([200, false]);
    expect(at(await admin().send("GET", path), "spec", "data")).toEqual({ word: "c2VjcmV0" });
  });

  test("of the configuration is read-only, without the secret settings", async () => {
    expect((await jane.send("GET", "/config/config/status")).body.kind).toBe("Config");
    expect((await admin().send("PATCH", "/config/config/status", { status: {} }, MERGE_PATCH)).code).toBe(405);
  });
});

describe("discovery", () => {
  test("lists the kinds with their short names, and the status of each that has one", async () => {
    const { body } = await admin().send("GET", "");
    const resources = body["resources"] as unknown as { name: string; verbs: string[]; shortNames?: string[] }[];
    const found = Object.fromEntries(resources.map(({ name, verbs, shortNames }) => [name, shortNames ?? verbs]));
    const parts = ["get", "patch", "update"];
    expect(found).toMatchObject({
      ...{ sharedsecrets: ["ss"], teams: ["tm"], users: ["usr"], ownedaccesskeys: ["oak"] },
      ...{ "sharedsecrets/status": parts, "teams/status": parts, "users/status": parts, "ownedaccesskeys/status": parts },
      "config/status": ["get"],
    });
  });
});

describe("field selectors", () => {
  test.each([
    ["/teams", { username: "selected" }, "spec.username=selected"],
    ["/teams", { owner: { user: "selected" } }, "spec.owner.user=selected"],
    [SECRETS, { owner: { team: "selected" } }, "spec.owner.team=selected,metadata.namespace=a"],
    ["/ownedaccesskeys", { user: "selected" }, "spec.user=selected"],
    ["/ownedaccesskeys", { team: "selected" }, "spec.team==selected"],
    ["/ownedaccesskeys", { subject: "x", disabled: true }, "spec.disabled=true,spec.type!=Login"],
    ["/users", { email: "selected@example.com" }, "spec.email=selected@example.com"],
  ])("of %s: %j is found by %s alone", async (path, spec, selector) => {
    const made = (await platform.make(path, spec)).split("/").at(-1);
    expect(names(await admin().send("GET", `${path}?fieldSelector=${encodeURIComponent(selector)}`))).toEqual([made]);
  });

  test("that no kind offers are refused", async () => {
    expect((await admin().send("GET", "/ownedaccesskeys?fieldSelector=spec.key%3Dx")).code).toBe(400);
  });
});
