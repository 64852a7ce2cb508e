/**
 * Changed permissions take effect at once: on the next request, and on open watches.
 */
import { describe, expect, test } from "vitest";
import { BASE, MERGE_PATCH } from "./platform.ts";
import { openWatch } from "./open-watch.ts";
import { nameIn, sharePlatform } from "./replicas/shared-platform.ts";

const platform = sharePlatform();

const SECRETS = "/namespaces/a/sharedsecrets";
const DATA = { password: "c2VjcmV0" };
const admin = () => platform.admin;
const { fresh, make } = platform;

const set = (path: string, spec: object) => admin().send("PATCH", path, { spec }, MERGE_PATCH);

/** A caller with an open watch of a secret, readable by a rule for a team. */
async function watcher({ team = {}, key = {}, headers = {} }: { team?: object; key?: object; headers?: object } = {}) {
  const user = fresh("user");
  const group = fresh("sso:group");
  const client = await platform.withKey({ user, groups: [group], ...key });
  const teamPath = await make("/teams", { users: [user], ...team });
  const path = await make(SECRETS, { data: DATA, access: [{ verbs: ["get", "list"], teams: [nameIn(teamPath)] }] });
  const watch = await openWatch(platform, client.key, SECRETS, headers);
  const shown = (await watch.initial()).map(({ object }) => object.metadata.name);
  expect(shown).toEqual([nameIn(path)]);
  return { user, group, client, teamPath, path, watch, keyPath: `/ownedaccesskeys/${client.name}` };
}

describe("a watch ends, and its client starts again with what it may see now, when", () => {
  test("a member is removed from the team", async () => {
    const { watch, teamPath, path, client } = await watcher();
    await set(teamPath, { users: [] });
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    expect(await watch.next()).toBeUndefined();
    expect((await client.send("GET", path)).code).toBe(403);
    const again = await openWatch(platform, client.key, SECRETS);
    expect(await again.initial()).toEqual([]);
    again.close();
  });

  test("the team is deleted", async () => {
    const { watch, teamPath } = await watcher();
    await admin().send("DELETE", teamPath);
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  test("a group of the caller no longer belongs to the team", async () => {
    const group = fresh("sso:group");
    const { watch, teamPath, client } = await watcher({ team: { users: [], groups: [group] }, key: { groups: [group] } });
    await set(teamPath, { groups: [] });
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
    expect((await client.send("GET", SECRETS)).body["items"]).toEqual([]);
  });

  test("the platform learns of other groups of the user", async () => {
    const group = fresh("sso:group");
    const user = fresh("user");
    await admin().send("POST", "/users", { metadata: { name: user }, spec: { groups: [group] } });
    const { watch } = await watcher({ team: { users: [], groups: [group] }, key: { user } });
    await set(`/users/${user}`, { groups: [] });
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  test.each([
    ["scope", { scope: { clusters: [{ cluster: "*" }] } }],
    ["groups", { groups: ["sso:other"] }],
    ["user", { user: "another-user" }],
    ["value", { key: "another-value-of-thirty-two-characters" }],
  ])("the %s of the key changes", async (_what, change) => {
    const { watch, keyPath } = await watcher();
    await set(keyPath, change);
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
    expect(await watch.next()).toBeUndefined();
  });

  test("another user is impersonated", async () => {
    const user = fresh("user");
    const teamPath = await make("/teams", { users: [user] });
    const path = await make(SECRETS, { access: [{ verbs: ["list"], teams: [nameIn(teamPath)] }] });
    const watch = await openWatch(platform, admin().key, SECRETS, { "impersonate-user": user });
    expect((await watch.initial()).map(({ object }) => object.metadata.name)).toEqual([nameIn(path)]);
    await set(teamPath, { users: [] });
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });
});

describe("a watch ends as unauthorized when its key", () => {
  const refused = (message: string) => ({ type: "ERROR", object: { code: 401, message } });

  test("is disabled", async () => {
    const { watch, keyPath, client } = await watcher();
    await set(keyPath, { disabled: true });
    expect(await watch.next()).toMatchObject(refused("access key is disabled"));
    expect(await watch.next()).toBeUndefined();
    expect((await client.send("GET", SECRETS)).code).toBe(401);
    await set(keyPath, { disabled: false });
    expect((await client.send("GET", SECRETS)).code).toBe(200);
  });

  test("belongs to a user who is disabled", async () => {
    const user = fresh("user");
    await admin().send("POST", "/users", { metadata: { name: user }, spec: {} });
    const { watch } = await watcher({ key: { user }, team: { users: [user] } });
    await set(`/users/${user}`, { disabled: true });
    expect(await watch.next()).toMatchObject(refused("access key is disabled"));
  });

  test("is deleted", async () => {
    const { watch, keyPath } = await watcher();
    await admin().send("DELETE", keyPath);
    expect(await watch.next()).toMatchObject(refused("access key not found. Please log in again"));
  });

  test("comes to its end", async () => {
    const { watch } = await watcher({ key: { ttl: 30 } });
    await platform.clock.advance(31_000);
    expect(await watch.next()).toMatchObject(refused("access key expired. Please log in again"));
  });
});

describe("a watch goes on, with what may be seen from then on, when", () => {
  test("a rule of one object changes: it leaves without its content, and comes back", async () => {
    const { watch, path, teamPath, client } = await watcher();
    await set(path, { access: [] });
    const gone = await watch.next();
    expect([gone!.type, gone!.object.metadata.name, JSON.stringify(gone)]).toEqual([
      "DELETED",
      nameIn(path),
      expect.not.stringContaining(DATA.password),
    ]);
    expect((await client.send("GET", path)).code).toBe(403);
    await set(path, { data: { password: "bmV3" } });
    await set(path, { access: [{ verbs: ["list"], teams: [nameIn(teamPath)] }] });
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { spec: { data: { password: "bmV3" } } } });
    watch.close();
  });

  test("its user becomes the owner of something", async () => {
    const { watch, user } = await watcher();
    const other = await make(SECRETS, {});
    await set(other, { owner: { user } });
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: nameIn(other) } } });
    watch.close();
  });

  test("texts of its key, its team or another team change", async () => {
    const { watch, keyPath, teamPath, path } = await watcher();
    await set(keyPath, { displayName: "x" });
    await set(teamPath, { displayName: "x" });
    await make("/teams", { users: ["someone"] });
    await set(path, { displayName: "x" });
    expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { spec: { displayName: "x" } } });
    watch.close();
  });
});

test("a member who joins sees what the team sees", async () => {
  const user = fresh("user");
  const client = await platform.withKey({ user });
  const teamPath = await make("/teams", {});
  const path = await make(SECRETS, { access: [{ verbs: ["list"], teams: [nameIn(teamPath)] }] });
  const watch = await openWatch(platform, client.key, SECRETS);
  expect(await watch.initial()).toEqual([]);
  await set(teamPath, { users: [user] });
  expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
  const again = await openWatch(platform, client.key, SECRETS);
  expect((await again.initial()).map(({ object }) => object.metadata.name)).toEqual([nameIn(path)]);
  again.close();
});

test("a watch of derived roles shows those of the objects that may be read", async () => {
  const user = fresh("user");
  const client = await platform.withKey({ user });
  const path = await make(SECRETS, { owner: { user } });
  await make(SECRETS, { owner: { user: "someone" } });
  await platform.management.settled();
  const watch = await openWatch(platform, client.key, `${BASE}/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles`);
  expect((await watch.initial()).map(({ object }) => object.metadata.name)).toEqual([`sharedsecret:${nameIn(path)}:0`]);
  await set(path, { owner: null });
  await platform.management.settled();
  expect(await watch.next()).toMatchObject({ type: "DELETED", object: { metadata: { name: `sharedsecret:${nameIn(path)}:0` } } });
  watch.close();
});
