/**
 * Users change their own passwords. Source: the issue on operators and outsiders, "people change their own password".
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { codesOf, Own } from "../access/key-callers.ts";
import { at, BASE, MERGE_PATCH, startPlatform, type Client, type Platform } from "../platform.ts";

const OLD = "correct horse";
const NEW = "battery staple";
const PATH = "/users/jane/password";

let platform: Platform;
let own: Own;
beforeEach(async () => {
  platform = await startPlatform();
  own = new Own(platform);
  await own.user("jane", { password: OLD });
  await own.user("bob", { password: OLD });
});
afterEach(() => platform.stop());

const change = (client: Client, currentPassword: string, password: string, path = PATH) =>
  client.send("POST", path, { apiVersion: "management.platform/v1", kind: "PasswordChange", spec: { currentPassword, password } });

/** The answer to a sign-in. */
async function signIn(password: string): Promise<number> {
  const response = await fetch(`${platform.management.url}/auth/password/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "jane", password }),
  });
  await response.text();
  return response.status;
}

test("a user with the current password sets another one: logins end, and other keys keep working", async () => {
  const [login, other] = [await own.login("jane", OLD), await own.login("jane", OLD)];
  const key = await platform.withKey({ user: "jane" });
  const changed = await change(login, OLD, NEW);
  expect([changed.code, changed.body.kind, changed.body["spec"]], changed.text).toEqual([201, "PasswordChange", {}]);
  expect([changed.text.includes(OLD), changed.text.includes(NEW)]).toEqual([false, false]);
  expect(await codesOf(login, other, key)).toEqual([401, 401, 200]);
  expect([await signIn(OLD), await signIn(NEW)]).toEqual([401, 200]);
  expect(at(await platform.admin.send("GET", "/users/jane"), "spec", "password")).toBeUndefined();
});

test("a body needs neither kind nor apiVersion, and both passwords", async () => {
  const key = await platform.withKey({ user: "jane" });
  expect((await key.send("POST", PATH, { spec: { currentPassword: OLD, password: NEW } })).code).toBe(201);
  for (const spec of [{ currentPassword: NEW }, { password: OLD }, {}]) {
    const { code, text } = await key.send("POST", PATH, { spec });
    expect([code, text]).toEqual([422, expect.stringContaining("Required value")]);
  }
  expect(await signIn(NEW)).toBe(200);
});

test("a wrong current password is refused, and so is a new one that breaks the rules; neither is quoted, and nothing changes", async () => {
  const login = await own.login("jane", OLD);
  const wrong = await change(login, "wrong password", NEW);
  expect([wrong.code, at(wrong, "reason"), at(wrong, "message")]).toEqual([
    403,
    "Forbidden",
    'users.management.platform "jane" is forbidden: the current password is wrong',
  ]);
  for (const password of ["short", "jane", "x".repeat(2_000)]) {
    const { code, text } = await change(login, OLD, password);
    expect([code, text.includes("short"), text.includes("xxx"), text]).toEqual([
      422,
      false,
      false,
      expect.stringContaining("spec.password"),
    ]);
    expect(text).not.toContain(OLD);
  }
  expect(await codesOf(login)).toEqual([200]);
  expect([await signIn(NEW), await signIn(OLD)]).toEqual([401, 200]);
});

test("a dry run judges both passwords, and changes nothing", async () => {
  const login = await own.login("jane", OLD);
  expect((await change(login, OLD, NEW, `${PATH}?dryRun=All`)).code).toBe(201);
  expect((await change(login, "wrong password", NEW, `${PATH}?dryRun=All`)).code).toBe(403);
  expect((await change(login, OLD, "short", `${PATH}?dryRun=All`)).code).toBe(422);
  expect(await codesOf(login)).toEqual([200]);
  expect(await signIn(OLD)).toBe(200);
});

test("only that user and administrators may try, each with the current password", async () => {
  await platform.admin.send("POST", "/teams", { metadata: { name: "ops" }, spec: { users: ["jane"] } });
  const bob = await platform.withKey({ user: "bob" });
  const limited = await platform.withKey({ user: "jane", scope: {} });
  const team = await platform.withKey({ team: "ops" });
  for (const client of [bob, limited, team]) expect((await change(client, OLD, NEW)).code).toBe(403);
  expect((await change(bob, OLD, NEW, "/users/absent/password")).code).toBe(403);
  expect((await change(platform.admin, "wrong password", NEW)).code).toBe(403);
  expect((await change(platform.admin, OLD, NEW, "/users/absent/password")).code).toBe(404);
  expect(await signIn(OLD)).toBe(200);
  const jane = await platform.withKey({ user: "jane" });
  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) expect([method, (await jane.send(method, PATH)).code]).not.toEqual([method, 200]);
  expect((await change(platform.admin, OLD, NEW)).code).toBe(201);
});

test("a user without a password gets that as the reason, and every user does where passwords are switched off", async () => {
  await own.user("sso", {});
  const sso = await platform.withKey({ user: "sso" });
  const { code, text } = await change(sso, OLD, NEW, "/users/sso/password");
  expect([code, text]).toEqual([403, expect.stringContaining("the user has no password")]);
  const jane = await platform.withKey({ user: "jane" });
  const parsed = parseManagementConfig("auth: {password: {disabled: true}}");
  if (!parsed.ok) throw new Error("the configuration is wrong");
  await platform.management.configure(parsed.config);
  expect((await change(jane, OLD, NEW)).text).toContain("password login is disabled");
});

describe("attempts", () => {
  test("are ten in a quarter of an hour, including right ones: 429 says when to retry, and sign-in keeps working", async () => {
    const [jane, bob] = [await platform.withKey({ user: "jane" }), await platform.withKey({ user: "bob" })];
    const all = await Promise.all(Array.from({ length: 14 }, () => change(jane, "wrong password", NEW)));
    const codes = all.map(({ code }) => code).sort();
    expect(codes).toEqual([...Array<number>(10).fill(403), ...Array<number>(4).fill(429)]);
    const refused = await change(jane, OLD, NEW);
    expect([refused.code, Number(refused.headers.get("retry-after"))]).toEqual([429, 900]);
    expect((await change(bob, OLD, NEW, "/users/bob/password")).code).toBe(201);
    expect(await signIn(OLD)).toBe(200);
    await platform.clock.advance(901_000);
    expect((await change(jane, OLD, NEW)).code).toBe(201);
  });
});

test("discovery and the schema list the path, and access reviews answer for it", async () => {
  const { body } = await platform.admin.send("GET", `${BASE}/apis/management.platform/v1`);
  const entry = (body["resources"] as unknown as { name: string; kind: string; verbs: string[] }[]).find(
    ({ name }) => name === "users/password",
  );
  expect([entry?.kind, entry?.verbs]).toEqual(["PasswordChange", ["create"]]);
  const schema = await platform.admin.send("GET", `${BASE}/openapi/v3/apis/management.platform/v1`);
  expect(schema.text).toContain("/apis/management.platform/v1/users/{name}/password");
  const jane = await platform.withKey({ user: "jane" });
  const may = async (name: string) => {
    const resourceAttributes = { group: "management.platform", resource: "users", subresource: "password", verb: "create", name };
    const path = `${BASE}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`;
    return at(await jane.send("POST", path, { spec: { resourceAttributes } }), "status", "allowed");
  };
  expect([await may("jane"), await may("bob"), await may("")]).toEqual([true, false, false]);
});

test("an administrator's change at the same moment is not undone", async () => {
  const jane = await platform.withKey({ user: "jane" });
  const spec = { password: "by an administrator" };
  const [mine, theirs] = await Promise.all([change(jane, OLD, NEW), platform.admin.send("PATCH", "/users/jane", { spec }, MERGE_PATCH)]);
  expect(theirs.code).toBe(200);
  // Either it came first, or it gets the conflict.
  expect([201, 403, 409]).toContain(mine.code);
  expect((await change(jane, "by an administrator", NEW)).code).toBe(201);
});
