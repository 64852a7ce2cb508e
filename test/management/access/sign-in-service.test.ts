/**
 * The results of a sign-in: a user, teams, and a key that expires. Source: specification 2, `status.auth`.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { silentLogger, type LogFields } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { openManagementApi, type ManagementApi, type ManagementApiOptions } from "../../../src/management/api/management-api.ts";
import { OWNED_ACCESS_KEYS, TEAMS, USERS } from "../../../src/management/kinds/types.ts";
import type { Identity } from "../../../src/management/sign-in/identity.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";

let api: ManagementApi;
let clock: FakeClock;

/** The one connector. */
const OIDC = "oidc: { issuerUrl: https://id.example, clientId: platform }";

async function open(auth = "", more: Partial<ManagementApiOptions> = {}): Promise<void> {
  const parsed = parseManagementConfig(`auth: { ${[OIDC, auth].filter((part) => part !== "").join(", ")} }`);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  const parts = { store: createMemoryStore(), clock, chance: systemChance, logger: silentLogger, ...more };
  api = await openManagementApi({ ...parts, config: parsed.config, issuer: () => "https://platform.example" });
  await api.bootstrap();
}

beforeEach(() => open());
afterEach(() => api.stop());

const JANE: Identity = {
  userId: "u-1",
  username: "jane",
  email: "jane@example.com",
  emailVerified: true,
  groups: ["dev"],
  connector: "oidc",
};

async function all(type: ResourceType): Promise<readonly KubeObject[]> {
  return (await api.registry.list(type)).items;
}

const specOf = (object: KubeObject | undefined) => object?.["spec"] as Record<string, unknown>;
const called = (objects: readonly KubeObject[], name: string) => objects.find(({ metadata }) => metadata.name === name);
/** The user that a login key acts as. */
const userOf = async (key: string) => specOf(called(await all(OWNED_ACCESS_KEYS), key))["user"];

describe("a sign-in", () => {
  test("makes the user, the teams of the user's groups and a key of type Login with the identity", async () => {
    const { name, key, expiresAt } = await api.signIn.signIn(JANE, { idToken: "id-token" });
    expect(specOf(called(await all(USERS), "jane"))).toMatchObject({
      username: "jane",
      email: "jane@example.com",
      subject: "oidc/u-1",
      groups: ["dev"],
    });
    expect(specOf(called(await all(TEAMS), "dev"))).toEqual({ displayName: "dev", groups: ["dev"] });
    const spec = specOf(called(await all(OWNED_ACCESS_KEYS), name));
    expect(spec).toMatchObject({
      type: "Login",
      user: "jane",
      groups: ["dev"],
      identity: { userId: "u-1", username: "jane", connector: "oidc" },
    });
    expect(spec["key"]).not.toBe(key);
    expect(expiresAt).toBe(Date.UTC(2026, 5, 21, 12));
  });

  test("for the second time makes no other user, and updates the groups", async () => {
    await api.signIn.signIn(JANE);
    await api.signIn.signIn({ ...JANE, groups: ["ops"] });
    expect((await all(USERS)).filter(({ metadata }) => metadata.name !== "admin").map((user) => specOf(user)["groups"])).toEqual([["ops"]]);
  });

  test("two at the same moment make one user", async () => {
    await Promise.all([api.signIn.signIn(JANE), api.signIn.signIn(JANE)]);
    expect((await all(USERS)).map(({ metadata }) => metadata.name)).toEqual(["admin", "jane"]);
  });

  test("of two people at the same moment gives each a name of their own", async () => {
    const others = [JANE, { ...JANE, userId: "u-2", emailVerified: false }];
    const signedIn = await Promise.all(others.map((identity) => api.signIn.signIn(identity)));
    const users = await Promise.all(signedIn.map(({ name }) => userOf(name)));
    expect(new Set(users).size).toBe(2);
  });

  test("with disableUserCreation makes no user", async () => {
    await api.stop();
    await open("disableUserCreation: true");
    const { name } = await api.signIn.signIn(JANE);
    expect((await all(USERS)).map(({ metadata }) => metadata.name)).toEqual(["admin"]);
    const user = await userOf(name);
    expect(user).toMatch(/^jane-[0-9a-f]{10}$/);
    // No one else gets the name, since nothing records its owner.
    expect(await userOf((await api.signIn.signIn({ ...JANE, connector: "other" })).name)).not.toBe(user);
    expect(await userOf((await api.signIn.signIn(JANE)).name)).toBe(user);
  });

  test("with disableTeamCreation makes no team for a new group", async () => {
    await api.stop();
    await open("disableTeamCreation: true");
    await api.signIn.signIn(JANE);
    expect(await all(TEAMS)).toEqual([]);
  });

  test("makes teams at the cost of the user who brings the groups, stops at the quota, and continues", async () => {
    await api.stop();
    const metrics = createMetrics();
    const log: string[] = [];
    const logger = {
      ...silentLogger,
      warn: (message: string, fields?: LogFields) => void log.push(`${message} ${JSON.stringify(fields)}`),
    };
    await open("", { metrics, logger, quota: { objects: 4 } });
    const groups = Array.from({ length: 20 }, (_none, index) => `group-${index}`);
    const teams = async () => (await all(TEAMS)).map(({ metadata }) => metadata.name);
    for (let times = 1; times <= 2; times += 1) {
      const { name } = await api.signIn.signIn({ ...JANE, groups });
      expect([await userOf(name), (await teams()).sort()]).toEqual(["jane", groups.slice(0, 4).sort()]);
      expect(metrics.value("apiserver_rejected_requests_total", { reason: "quota" })).toBe(times);
      expect(log.filter((line) => line.includes("Cannot create more teams"))).toHaveLength(times);
    }
    expect(log.join()).toContain('exceeded quota: objects of user \\"jane\\"');
    // Others have room, and so does a user who has fewer than before.
    await api.signIn.signIn({ ...JANE, userId: "u-2", username: "bob", email: "b@example.com", groups: ["bobs"] });
    await api.registry.delete(TEAMS, { namespace: "", name: "group-0" });
    await api.signIn.signIn({ ...JANE, groups: ["new"] });
    expect((await teams()).sort()).toEqual(["bobs", ...groups.slice(1, 4), "new"].sort());
    // Only what the server makes on behalf of a user has a limit.
    for (const group of ["a", "b"]) await api.registry.create(TEAMS, "", { metadata: { name: group }, spec: { owner: { user: "jane" } } });
  });

  test("makes no team for a group that belongs to one", async () => {
    await api.registry.create(TEAMS, "", { metadata: { name: "developers" }, spec: { groups: ["dev"] } });
    await api.signIn.signIn(JANE);
    expect((await all(TEAMS)).map(({ metadata }) => metadata.name)).toEqual(["developers"]);
  });

  test("of a user who is disabled is refused", async () => {
    await api.signIn.signIn(JANE);
    await api.registry.patch(USERS, { namespace: "", name: "jane" }, "merge", { spec: { disabled: true } });
    await expect(api.signIn.signIn(JANE)).rejects.toMatchObject({ code: "API_FORBIDDEN" });
  });
});

describe("no user takes another one's name", () => {
  test.each([
    ["of another connector", { ...JANE, connector: "other" }],
    ["with another id", { ...JANE, userId: "u-2" }],
  ])("a jane %s gets a name of her own", async (_who, other) => {
    await api.signIn.signIn(JANE);
    const { name } = await api.signIn.signIn({ ...other, emailVerified: false });
    expect(await userOf(name)).toMatch(/^jane-([0-9a-f]{10}|[0-9a-f]{20})$/);
  });

  test("the administrator's name is not given to a sign-in", async () => {
    const { name } = await api.signIn.signIn({ ...JANE, username: "admin" });
    expect(await userOf(name)).toMatch(/^admin-[0-9a-f]{10}$/);
  });

  test("nor is one that has keys without being a user", async () => {
    await api.registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name: "ci" }, spec: { user: "jane" } });
    expect(await userOf((await api.signIn.signIn(JANE)).name)).toMatch(/^jane-[0-9a-f]{10}$/);
  });

  test("a name of any form becomes one that an object can have", async () => {
    const { name } = await api.signIn.signIn({ ...JANE, username: "Jane Döe <x>/.." });
    expect(await userOf(name)).toMatch(/^jane-d-e-x-[0-9a-f]{10}$/);
  });

  test.each([
    { emailVerified: true, connector: "oidc", links: true },
    { emailVerified: false, connector: "oidc", links: false },
    { emailVerified: undefined, connector: "oidc", links: false },
    { emailVerified: true, connector: "other", links: false },
    { emailVerified: true, connector: "", links: false },
  ])("a user bound to $connector by email address is found with emailVerified $emailVerified: $links", async (row) => {
    const { emailVerified, connector, links } = row;
    await api.registry.create(USERS, "", { metadata: { name: "prepared" }, spec: { email: "Jane@example.com", connector } });
    const { emailVerified: _verified, ...unsaid } = JANE;
    const identity = { ...unsaid, ...(emailVerified !== undefined && { emailVerified }) };
    expect((await userOf((await api.signIn.signIn(identity)).name)) === "prepared").toBe(links);
  });

  test("two users bound by one address admit no one", async () => {
    for (const name of ["one", "two"])
      await api.registry.create(USERS, "", { metadata: { name }, spec: { email: JANE.email, connector: "oidc" } });
    await expect(api.signIn.signIn(JANE)).rejects.toThrow("several users are bound to your email address");
  });
});

describe("what an administrator wrote stays", () => {
  const JANES = { namespace: "", name: "jane" };
  const change = (spec: object) => api.registry.patch(USERS, JANES, "merge", { spec });
  const janes = async () => specOf(called(await all(USERS), "jane"));

  test("groups, those that the connector names too, after it no longer does", async () => {
    await api.registry.create(USERS, "", { metadata: { name: "jane" }, spec: { subject: "oidc/u-1", groups: ["platform:admins", "dev"] } });
    await api.signIn.signIn({ ...JANE, groups: ["dev", "ops"] });
    expect((await janes())["groups"]).toEqual(["platform:admins", "dev", "ops"]);
    await api.signIn.signIn({ ...JANE, groups: [] });
    expect((await janes())["groups"]).toEqual(["platform:admins", "dev"]);
  });

  test("a removed group, as long as the connector goes on naming it", async () => {
    await api.signIn.signIn(JANE);
    await change({ groups: [] });
    await api.signIn.signIn(JANE);
    expect((await janes())["groups"]).toBeUndefined();
    await api.signIn.signIn({ ...JANE, groups: [] });
    await api.signIn.signIn(JANE);
    expect((await janes())["groups"]).toEqual(["dev"]);
  });

  test("texts; those that no one wrote follow the connector", async () => {
    await api.signIn.signIn({ ...JANE, preferredUsername: "Jane" });
    await change({ displayName: "Jane of operations" });
    await api.signIn.signIn({ ...JANE, preferredUsername: "Janie", email: "jane@new.example" });
    expect(await janes()).toMatchObject({ displayName: "Jane of operations", email: "jane@new.example" });
  });

  test("and what an identity gave goes with it", async () => {
    await api.signIn.signIn(JANE);
    await change({ groups: ["dev", "ops"], subject: "oidc/u-9" });
    expect(await janes()).toMatchObject({ groups: ["ops"], subject: "oidc/u-9" });
  });

  test("no change makes no new version, and a change a new generation", async () => {
    const versionOf = async () => called(await all(USERS), "jane")!.metadata;
    await api.signIn.signIn(JANE);
    const first = await versionOf();
    await api.signIn.signIn(JANE);
    expect(await versionOf()).toEqual(first);
    await api.signIn.signIn({ ...JANE, groups: ["ops"] });
    expect((await versionOf()).generation).toBe(2);
  });

  test("a key of a sign-in has the groups that its user has now", async () => {
    const { key } = await api.signIn.signIn({ ...JANE, groups: ["dev", "ops"] });
    const groups = async () =>
      (await api.authenticate({ headers: { authorization: `Bearer ${key}` } } as Parameters<typeof api.authenticate>[0]))!.groups;
    expect(await groups()).toEqual(expect.arrayContaining(["dev", "ops"]));
    await change({ groups: ["ops"] });
    expect(await groups()).not.toContain("dev");
  });
});

describe("a password", () => {
  beforeEach(async () => {
    await api.registry.create(USERS, "", {
      metadata: { name: "joe" },
      spec: { password: "open sesame", username: "Joe", groups: ["dev"] },
    });
  });

  test.each([
    ["joe", "open sesame", "joe"],
    ["Joe", "open sesame", "joe"],
    ["joe", "wrong", undefined],
    ["nobody", "open sesame", undefined],
    ["admin", "", undefined],
  ])("of %s: %s", async (username, password, user) => {
    expect((await api.signIn.verifyPassword(username, password))?.username).toBe(user);
  });

  test("that changes between its check and the key makes no key", async () => {
    const identity = await api.signIn.verifyPassword("joe", "open sesame");
    await api.registry.patch(USERS, { namespace: "", name: "joe" }, "merge", { spec: { password: "close sesame" } });
    await expect(api.signIn.signIn(identity!)).rejects.toThrow("wrong user name or password");
    expect((await all(OWNED_ACCESS_KEYS)).map(({ metadata }) => metadata.name)).toEqual(["admin"]);
  });

  test("of a user who is disabled does not count", async () => {
    await api.registry.patch(USERS, { namespace: "", name: "joe" }, "merge", { spec: { disabled: true } });
    expect(await api.signIn.verifyPassword("joe", "open sesame")).toBeUndefined();
  });

  test("stays through changes of the user, and is nowhere in clear text", async () => {
    await api.registry.patch(USERS, { namespace: "", name: "joe" }, "merge", { spec: { displayName: "Joe" } });
    expect((await api.signIn.verifyPassword("joe", "open sesame"))?.username).toBe("joe");
    expect(JSON.stringify(await all(USERS))).not.toContain("sesame");
  });
});

describe("the end", () => {
  test("of a login key comes at the stated time: it is deleted", async () => {
    await api.stop();
    await open("loginAccessKeyTTLSeconds: 1");
    const { name } = await api.signIn.signIn(JANE);
    await clock.advance(2_000);
    expect(called(await all(OWNED_ACCESS_KEYS), name)).toBeUndefined();
  });

  test("does not come when loginAccessKeyTTLSeconds is 0", async () => {
    await api.stop();
    await open("loginAccessKeyTTLSeconds: 0");
    const { name, expiresAt } = await api.signIn.signIn(JANE);
    await clock.advance(30 * 86_400_000);
    expect([called(await all(OWNED_ACCESS_KEYS), name)?.metadata.name, expiresAt]).toEqual([name, undefined]);
  });

  test("comes with a logout, which returns what the key was made from", async () => {
    const place = "oidc https://id.example";
    const { key, name } = await api.signIn.signIn({ ...JANE, issuer: "https://id.example", place }, { idToken: "id-token" });
    expect(await api.signIn.signOut(key)).toEqual({ connector: "oidc", place, idToken: "id-token" });
    expect(called(await all(OWNED_ACCESS_KEYS), name)).toBeUndefined();
    expect(await api.signIn.signOut(key)).toBeUndefined();
  });

  test("does not come for other keys by a logout", async () => {
    const made = await api.registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name: "ci" }, spec: { user: "jane" } });
    expect(await api.signIn.signOut(String(specOf(made)["key"]))).toBeUndefined();
    expect(called(await all(OWNED_ACCESS_KEYS), "ci")).toBeDefined();
  });
});
