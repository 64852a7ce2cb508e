/**
 * OwnedAccessKeys: their fields, values and lives. Source: specification 1, "OwnedAccessKey", "Endpoints" and "Authentication", and
 * 2, `status.auth`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OWNED_ACCESS_KEYS } from "../../../src/management/kinds/types.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { at, JSON_PATCH, MERGE_PATCH, names, startPlatform, type Client } from "../platform.ts";
import { keyOf, sharePlatform } from "../replicas/shared-platform.ts";

const KEYS = "/ownedaccesskeys";
const STRONG = "chosen-value-with-more-than-32-characters";

const platform = sharePlatform();

const admin = () => platform.admin;
const fresh = () => platform.fresh("own");
const strong = () => platform.fresh(STRONG);
const create = (spec: object, metadata: object = {}) => admin().send("POST", KEYS, { metadata: { name: fresh(), ...metadata }, spec });
/** A key's answer to a request that every caller may make. */
const codeOf = async (key: string) => (await platform.as(key).send("GET", "/teams")).code;
const whoIs = async (client: Client) => {
  const path = "/kubernetes/management/apis/authentication.k8s.io/v1/selfsubjectreviews";
  return at(await client.send("POST", path, {}), "status", "userInfo") as { username: string; groups: string[] };
};

describe("a key", () => {
  test("is cluster-scoped, and keeps its texts", async () => {
    const created = await create({ displayName: "CI", description: "Builds", user: "jane" });
    expect([created.code, created.body.kind, created.body.metadata.namespace]).toEqual([201, "OwnedAccessKey", undefined]);
    const read = await admin().send("GET", `${KEYS}/${created.body.metadata.name}`);
    expect(read.body["spec"]).toEqual({ displayName: "CI", description: "Builds", user: "jane", type: "User" });
    expect((await admin().send("POST", "/namespaces/a/ownedaccesskeys", { metadata: { name: fresh() } })).code).toBe(404);
  });

  test.each([
    ["displayName", 1],
    ["description", {}],
    ["user", 1],
    ["team", []],
    ["subject", true],
    ["groups", "x"],
    ["key", 1],
    ["disabled", "yes"],
    ["ttl", "1"],
    ["ttl", 1.5],
    ["ttlAfterLastActivity", 1],
    ["scope", []],
    ["type", 1],
    ["identity", "x"],
    ["oidcProvider", "x"],
    ["parent", 1],
    ["oidcLogin", []],
  ])("is refused when spec.%s is %j, by name", async (field, value) => {
    const { code, text } = await create({ [field]: value });
    expect([code, text]).toEqual([400, expect.stringContaining(field)]);
  });

  test("acts as a user, a team or a subject, with the permissions of that subject", async () => {
    const path = "/namespaces/stand/sharedsecrets";
    await admin().send("POST", "/teams", { metadata: { name: "builders" }, spec: { users: ["ann"] } });
    await admin().send("POST", "/teams", { metadata: { name: "bots" }, spec: { groups: ["platform:subject:robot"] } });
    const owners = { "of-ann": { user: "ann" }, "of-builders": { team: "builders" }, "of-bots": { team: "bots" } };
    for (const [name, owner] of Object.entries(owners)) await admin().send("POST", path, { metadata: { name }, spec: { owner } });
    const seen = async (spec: object) => names(await (await platform.withKey(spec)).send("GET", path));
    expect(await seen({ user: "ann" })).toEqual(["of-ann", "of-builders"]);
    expect(await seen({ team: "builders" })).toEqual(["of-builders"]);
    expect(await seen({ subject: "robot" })).toEqual(["of-bots"]);
    expect(await seen({ user: "nobody" })).toEqual([]);
  });

  test.each([
    [{ user: "ann" }, "ann", "platform:user:ann"],
    [{ team: "builders" }, "platform:team:builders", "platform:team:builders"],
    [{ subject: "robot" }, "platform:subject:robot", "platform:subject:robot"],
  ])("of %j is known as %s", async (spec, name, group) => {
    const { username, groups } = await whoIs(await platform.withKey(spec));
    expect([username, groups]).toEqual([name, expect.arrayContaining([group, "system:authenticated"])]);
  });

  test("that names two of them is refused, and one that names none is its author's", async () => {
    expect((await create({ user: "ann", team: "builders" })).code).toBe(422);
    const ann = await platform.withKey({ user: "ann" });
    const own = await ann.send("POST", KEYS, { metadata: { name: fresh() } });
    expect(at(own, "spec", "user")).toBe("ann");
  });

  test("grants its groups, and callers cannot grant themselves more than they have", async () => {
    await admin().send("POST", "/teams", { metadata: { name: "reviewers" }, spec: { groups: ["sso:review"] } });
    await admin().send("POST", "/namespaces/groups/sharedsecrets", {
      metadata: { name: "theirs" },
      spec: { owner: { team: "reviewers" } },
    });
    const jane = await platform.withKey({ user: "jane", groups: ["sso:review"] });
    expect(names(await jane.send("GET", "/namespaces/groups/sharedsecrets"))).toEqual(["theirs"]);
    const plain = await platform.withKey({ user: "jane" });
    expect(names(await plain.send("GET", "/namespaces/groups/sharedsecrets"))).toEqual([]);
    const more = (client: Client, groups: string[]) => client.send("POST", KEYS, { metadata: { name: fresh() }, spec: { groups } });
    expect((await more(plain, ["sso:review"])).code).toBe(403);
    expect((await more(plain, ["platform:admins"])).code).toBe(403);
    expect((await more(jane, ["sso:review"])).code).toBe(201);
    // The value of a key that can do more would be worth as much as the groups.
    const rotate = (name: string) => plain.send("PATCH", `${KEYS}/${name}`, { spec: { key: strong() } }, MERGE_PATCH);
    expect([(await rotate(jane.name)).code, (await rotate(plain.name)).code]).toEqual([403, 200]);
  });

  test("keeps its type, and one that is not known gets a warning", async () => {
    const user = await create({ type: "User" });
    expect([user.code, at(user, "spec", "type"), user.warnings]).toEqual([201, "User", ""]);
    const strange = await create({ type: "Strange" });
    expect([strange.code, at(strange, "spec", "type"), strange.warnings]).toEqual([201, "Strange", expect.stringContaining("spec.type")]);
  });
});

describe("the value of a key", () => {
  test("is made by the server when it is left out: 64 letters and digits, another one each time", async () => {
    const values = [keyOf(await create({})), keyOf(await create({ key: "" }))];
    for (const value of values) expect(value).toMatch(/^[a-z0-9]{64}$/);
    expect(values[0]).not.toBe(values[1]);
    expect(await codeOf(values[0]!)).toBe(200);
  });

  test("may be chosen, and works at once", async () => {
    const value = strong();
    const created = await create({ user: "jane", key: value });
    expect([created.code, keyOf(created), created.warnings]).toEqual([201, value, ""]);
    expect(await codeOf(value)).toBe(200);
  });

  test.each([
    ["short", () => platform.fresh("k"), "fewer than 32 characters"],
    ["of few characters", () => "ab".repeat(20), "fewer than 6 different characters"],
  ])("that is %s is taken with a warning, which does not tell it", async (_what, valueOf, why) => {
    const value = valueOf();
    const { code, warnings } = await create({ key: value });
    expect([code, warnings]).toEqual([201, expect.stringContaining(why)]);
    expect(warnings).not.toContain(value);
    expect(await codeOf(value)).toBe(200);
  });

  test.each(["two words", "ä".repeat(40), "line\nbreak", "a=b", `hmac-sha256:${"a".repeat(43)}`, "x".repeat(257)])(
    "cannot be %j, and the answer does not repeat it",
    async (value) => {
      const { code, text } = await create({ key: value });
      expect([code, text]).toEqual([422, expect.stringContaining("spec.key")]);
      expect(text).not.toContain(value);
    },
  );

  test("of another key is refused for every owner, and the answer does not name the owner", async () => {
    const value = strong();
    const first = await create({ user: "bob", key: value });
    const { code, text } = await create({ user: "jane", key: value });
    expect([code, text]).toEqual([422, expect.stringContaining("spec.key")]);
    expect(text).not.toContain(value);
    expect(text).not.toContain(String(first.body.metadata.name));
  });

  test("is free again when its key is gone", async () => {
    const value = strong();
    const { body } = await create({ key: value });
    await admin().send("DELETE", `${KEYS}/${body.metadata.name}`);
    expect((await create({ key: value })).code).toBe(201);
  });

  test("of two concurrent creations goes to one key", async () => {
    const value = strong();
    const codes = (await Promise.all([create({ key: value }), create({ key: value })])).map(({ code }) => code);
    expect(codes.sort()).toEqual([201, 422]);
  });

  test("of two creations that wait for the disk goes to one key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keys-"));
    const own = await startPlatform({ store: openSqliteStore({ path: join(folder, "a.db") }) });
    try {
      const value = strong();
      const create = (name: string) => own.management.registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name }, spec: { key: value } });
      const ends = await Promise.allSettled([create("one"), create("two")]);
      expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
      expect(names(await own.admin.send("GET", KEYS))).toEqual(["admin", "one"]);
    } finally {
      await own.stop();
      rmSync(folder, { recursive: true });
    }
  });

  test("is not taken by a creation that fails, or by a dry run", async () => {
    const value = strong();
    expect((await create({ key: value }, { name: "admin" })).code).toBe(409);
    expect((await create({ key: value, ttl: -1 })).code).toBe(422);
    const tried = await admin().send("POST", `${KEYS}?dryRun=All`, { metadata: { name: fresh() }, spec: { key: value } });
    expect([tried.code, await codeOf(value)]).toEqual([201, 401]);
    expect((await create({ key: value })).code).toBe(201);
  });
});

describe("access", () => {
  test("is refused while a key is disabled, and the key stays stored", async () => {
    const jane = await platform.withKey({ user: "jane" });
    const path = `${KEYS}/${jane.name}`;
    await admin().send("PATCH", path, { spec: { disabled: true } }, MERGE_PATCH);
    const refused = await jane.send("GET", "/teams");
    expect([refused.code, at(refused, "message")]).toEqual([401, "access key is disabled"]);
    expect(at(await admin().send("GET", path), "spec", "disabled")).toBe(true);
    await admin().send("PATCH", path, { spec: { disabled: false } }, MERGE_PATCH);
    expect((await jane.send("GET", "/teams")).code).toBe(200);
  });

  test("is refused while the user is disabled", async () => {
    await admin().send("POST", "/users", { metadata: { name: "leaver" }, spec: {} });
    const leaver = await platform.withKey({ user: "leaver" });
    const set = (disabled: boolean) => admin().send("PATCH", "/users/leaver", { spec: { disabled } }, MERGE_PATCH);
    const codes = [];
    for (const disabled of [false, true, false]) {
      await set(disabled);
      codes.push((await leaver.send("GET", "/teams")).code);
    }
    expect(codes).toEqual([200, 401, 200]);
  });

  test("ends at once with the key", async () => {
    const jane = await platform.withKey({ user: "jane" });
    await admin().send("DELETE", `${KEYS}/${jane.name}`);
    const refused = await jane.send("GET", "/teams");
    expect([refused.code, at(refused, "message")]).toEqual([401, "access key not found. Please log in again"]);
  });

  test.each([
    ["finalizers", { finalizers: ["example.com/held"] }, ""],
    ["the time that its deletion takes", {}, "?gracePeriodSeconds=60"],
  ])("ends immediately when the key is deleted, even if %s keep the object", async (_what, metadata, query) => {
    const created = await create({ user: "jane" }, metadata);
    const path = `${KEYS}/${created.body.metadata.name}`;
    expect(await codeOf(keyOf(created))).toBe(200);
    expect((await admin().send("DELETE", `${path}${query}`)).code).toBe(200);
    expect((await admin().send("GET", path)).code).toBe(200);
    const refused = await platform.as(keyOf(created)).send("GET", "/teams");
    expect([refused.code, at(refused, "message")]).toEqual([401, "access key was deleted. Please log in again"]);
  });

  test.each([
    ["/namespaces/a/sharedsecrets", "GET"],
    ["/teams", "GET"],
    ["/ownedaccesskeys", "GET"],
    ["/directclusterendpointtokens", "POST"],
    ["/config", "GET"],
  ])("to %s needs a bearer key that is known", async (path, method) => {
    const value = strong();
    await create({ key: value });
    const code = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await platform.as("").send(method, path, method === "POST" ? {} : undefined, { headers });
      return [answer.code, answer.code === 401 ? at(answer, "message") : "", answer.headers.get("www-authenticate")];
    };
    const missing = [401, "Unauthorized", "Bearer"];
    expect(await code()).toEqual(missing);
    expect(await code(`Basic ${Buffer.from(`admin:${value}`).toString("base64")}`)).toEqual(missing);
    expect(await code(value)).toEqual(missing);
    expect(await code("Bearer ")).toEqual(missing);
    expect(await code(`Bearer ${value}x`)).toEqual([401, "access key not found. Please log in again", "Bearer"]);
    expect(await code(`Bearer ${"x".repeat(5_000)}`)).toEqual([401, "access key not found. Please log in again", "Bearer"]);
    for (const scheme of ["Bearer", "bearer", "BEARER"]) expect((await code(`${scheme} ${value}`))[0]).toBe(method === "POST" ? 201 : 200);
  });
});

describe("what a sign-in has left in a key", () => {
  const identity = {
    userId: "248289761001",
    username: "jane",
    preferredUsername: "Jane",
    email: "jane@example.com",
    emailVerified: true,
    extraClaims: { department: "r&d", levels: [1, 2] },
    groups: ["sso:dev"],
    connector: "oidc",
    identityRefresh: "2026-06-01T11:00:00Z",
  };
  const oidcProvider = { clientId: "cli", nonce: "n", redirectUri: "http://127.0.0.1:8000", scopes: "openid" };

  test("identity and oidcProvider come back as they were written", async () => {
    const created = await create({ user: "jane", identity, oidcProvider });
    expect([created.code, at(created, "spec", "identity"), at(created, "spec", "oidcProvider")]).toEqual([201, identity, oidcProvider]);
    expect((await admin().send("GET", `${KEYS}/${created.body.metadata.name}`)).body["spec"]).toMatchObject({ identity, oidcProvider });
  });

  test.each([
    ["identity", "userId", 1],
    ["identity", "username", {}],
    ["identity", "preferredUsername", 1],
    ["identity", "email", []],
    ["identity", "emailVerified", "true"],
    ["identity", "extraClaims", "x"],
    ["identity", "groups", "x"],
    ["identity", "connector", 1],
    ["identity", "connectorData", 1],
    ["identity", "identityRefresh", "yesterday"],
    ["oidcProvider", "clientId", 1],
    ["oidcProvider", "nonce", 1],
    ["oidcProvider", "redirectUri", 1],
    ["oidcProvider", "scopes", ["openid"]],
    ["oidcLogin", "idToken", 1],
    ["oidcLogin", "accessToken", 1],
    ["oidcLogin", "refreshToken", 1],
    ["oidcLogin", "lastRefresh", "yesterday"],
  ])("%s.%s is refused when it is %j, by name", async (part, field, value) => {
    const { code, text } = await create({ [part]: { [field]: value } });
    expect([code, text]).toEqual([
      400,
      expect.stringContaining(field === "identityRefresh" || field === "lastRefresh" ? "yesterday" : field),
    ]);
  });

  test("the data of the connector and the tokens are never shown, and survive changes", async () => {
    const hidden = {
      connectorData: "canary-connector",
      idToken: "canary-id",
      accessToken: "canary-access",
      refreshToken: "canary-refresh",
    };
    const { connectorData, ...tokens } = hidden;
    const spec = { user: "jane", identity: { ...identity, connectorData }, oidcLogin: { ...tokens, lastRefresh: "2026-06-01T11:00:00Z" } };
    const created = await create(spec);
    const path = `${KEYS}/${created.body.metadata.name}`;
    const jane = platform.as(keyOf(created));
    const read = await jane.send("GET", path);
    const written = [
      await admin().send("PUT", path, { ...read.body, spec: { ...Object(read.body["spec"]), displayName: "put" } }),
      await admin().send("PATCH", path, { spec: { displayName: "merged" } }, MERGE_PATCH),
      await admin().send("PATCH", path, [{ op: "copy", from: "/spec/identity", path: "/spec/oidcProvider" }], JSON_PATCH),
      await admin().send("PATCH", path, [{ op: "test", path: "/spec/identity/connectorData", value: "canary-connector" }], JSON_PATCH),
      await admin().send("GET", KEYS),
    ];
    const said = [created, read, ...written].map(({ text }) => text).join("");
    expect(said).not.toContain("canary-");
    expect(said).toContain("jane@example.com");
    const next = await jane.send("POST", KEYS, { metadata: { name: fresh() } });
    expect(at(next, "spec", "parent")).toBe(created.body.metadata.name);
  });

  test("is written only by administrators", async () => {
    const jane = await platform.withKey({ user: "jane" });
    for (const spec of [{ identity }, { oidcProvider }, { oidcLogin: { idToken: "x" } }]) {
      expect((await jane.send("POST", KEYS, { metadata: { name: fresh() }, spec })).code).toBe(403);
      expect((await jane.send("PATCH", `${KEYS}/${jane.name}`, { spec }, MERGE_PATCH)).code).toBe(403);
    }
  });

  test("parent is the author's key when that one carries a token, and nothing otherwise", async () => {
    const carrier = await platform.withKey({ user: "jane", type: "Login", oidcLogin: { refreshToken: "r" } });
    const plain = await platform.withKey({ user: "jane" });
    const parentOf = async (client: Client, spec: object = {}) =>
      at(await client.send("POST", KEYS, { metadata: { name: fresh() }, spec }), "spec", "parent");
    expect(await parentOf(carrier)).toBe(carrier.name);
    expect(await parentOf(plain)).toBeUndefined();
    expect(await parentOf(carrier, { type: "Other" })).toBeUndefined();
    const told = await carrier.send("POST", KEYS, { metadata: { name: fresh() }, spec: { parent: "another" } });
    expect([at(told, "spec", "parent"), told.warnings]).toEqual(["another", expect.stringContaining("spec.parent is deprecated")]);
  });
});
