/**
 * Administrators by a group of their provider, and groups that cannot be read, when the provider is asked again.
 */
import { describe, expect, test } from "vitest";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits/limits.ts";
import { takenIdentity } from "../../../src/management/sign-in/logins/taken-identity.ts";
import { admit } from "../../../src/management/sign-in/rules/admit.ts";
import { at, MERGE_PATCH, type Client } from "../platform.ts";
import { BEARER_TOKEN, clusterManager, HOST } from "./doubles/cluster-manager.ts";
import { CASES, type Case } from "./doubles/cases.ts";
import { after, begin, configure, groupsOf, platform, signIn, start, stopAfterEach, type Login } from "./refresh-setting.ts";

stopAfterEach();

describe("administrators", () => {
  const [, makeCase] = CASES.find(([kind]) => kind === "sourceHostA")!;
  const administrators = [{ connector: "sourceHostA", group: "acme:Team 1" }];
  const probe = { metadata: { name: "probe" }, spec: {} };
  const administers = async (client: Client) => (await client.send("POST", "/users?dryRun=All", probe)).code === 201;

  async function beginAs(): Promise<Case> {
    const provider = makeCase();
    provider.restrictions[0]!.join(["acme"]);
    await start(provider, "sourceHostA", { auth: { administrators, groupsFilters: ["^nothing$"] } });
    return provider;
  }

  test("are members of a group of the settings, by the key of their sign-in alone, for as long as they are members", async () => {
    const provider = await beginAs();
    const login = await signIn("sourceHostA");
    expect(await administers(login)).toBe(true);
    expect(at(await platform.admin.send("GET", "/users/jane"), "spec", "groups") ?? []).not.toContain("platform:admins");
    provider.restrictions[0]!.join(["other"]);
    expect(await after(login)).toBe(200);
    expect(await administers(login)).toBe(false);
  });

  test("are none at once when the setting is gone, or by another connector's group", async () => {
    const provider = await beginAs();
    const login = await signIn("sourceHostA");
    const connectors = [{ id: "corp", sourceHostA: provider.settings }];
    await configure({ sourceHostA: provider.settings, connectors, administrators: [{ connector: "corp", group: "acme:Team 1" }] });
    expect(await administers(login)).toBe(false);
    await configure({ sourceHostA: provider.settings, administrators });
    expect(await administers(login)).toBe(true);
  });

  test("make keys that end with what they administer by", async () => {
    const provider = await beginAs();
    const login = await signIn("sourceHostA");
    const made = await login.send("POST", "/ownedaccesskeys", {
      metadata: { name: "ci" },
      spec: { user: "ci", groups: ["platform:admins"] },
    });
    const ci = platform.as(String(at(made, "spec", "key")));
    expect(await administers(ci)).toBe(true);
    const next = await ci.send("POST", "/ownedaccesskeys", {
      metadata: { name: "ci2" },
      spec: { user: "ci", groups: ["platform:admins"] },
    });
    expect(next.code).toBe(201);
    const ci2 = platform.as(String(at(next, "spec", "key")));
    expect(await administers(ci2)).toBe(true);
    await configure({ sourceHostA: provider.settings });
    for (const key of [ci, ci2]) expect((await key.send("GET", "/users")).code).toBe(401);
    await configure({ sourceHostA: provider.settings, administrators });
    expect(await administers(ci)).toBe(true);
    await login.send("DELETE", `/ownedaccesskeys/${login.name}`);
    expect((await ci.send("GET", "/users")).code).toBe(401);
  });

  test("do not act as another user, whose keys would not end with the group", async () => {
    await beginAs();
    const login = await signIn("sourceHostA");
    const as = { headers: { "Impersonate-User": "other", "Impersonate-Group": "platform:admins" } };
    const key = { metadata: { name: "root" }, spec: { user: "ci", groups: ["platform:admins"] } };
    const made = await login.send("POST", "/ownedaccesskeys", { metadata: { name: "ci" }, spec: key.spec });
    for (const client of [login, platform.as(String(at(made, "spec", "key")))]) {
      const answer = await client.send("POST", "/ownedaccesskeys", key, as);
      expect([answer.code, at(answer, "message")]).toEqual([403, expect.stringContaining("cannot impersonate other users")]);
    }
    expect((await platform.admin.send("POST", "/ownedaccesskeys", key, as)).code).toBe(201);
  });

  test("cannot write by which group they administer", async () => {
    await beginAs();
    const login = await signIn("sourceHostA");
    const connectorData = JSON.stringify({ place: "sourceHostA ", administrators: ["acme:Team 1", "for good"] });
    const patch = { spec: { identity: { connectorData } } };
    const answer = await login.send("PATCH", `/ownedaccesskeys/${login.name}`, patch, MERGE_PATCH);
    expect([answer.code, at(answer, "message")]).toEqual([403, expect.stringContaining("spec.identity can be set only by the platform")]);
    const made = {
      metadata: { name: "forged" },
      spec: { type: "Login", user: "jane", identity: { connector: "sourceHostA", connectorData } },
    };
    expect((await login.send("POST", "/ownedaccesskeys", made)).code).toBe(403);
  });

  test("of directoryProviderB are named by the id of their group: people make groups of any name", async () => {
    const provider = CASES.find(([kind]) => kind === "directoryProviderB")![1]();
    provider.restrictions[0]!.join(["ops"]);
    const id = "00000000-0000-4000-8000-0000006F7073";
    await start(provider, "directoryProviderB", { auth: { administrators: [{ connector: "directoryProviderB", group: id }] } });
    const other = { kind: "directoryProviderB", connector: "directoryProviderB", settings: provider.settings } as const;
    expect(await administers(await signIn("directoryProviderB"))).toBe(true);
    provider.restrictions[0]!.join(["op5"]);
    expect(await administers(await signIn("directoryProviderB"))).toBe(false);
    // A name is refused where it is written, and would have no effect.
    const groups = [{ name: "ops", id: "00000000-0000-4000-8000-000000000666", security: true }];
    const account = { personal: false, tenantId: "7b3c1d2e-0000-4000-8000-000000000001" } as const;
    const decision = admit(other, { id: "1", principalName: "joe", account, groups });
    const settings = { administrators: [{ connector: "directoryProviderB", group: "ops" }] };
    const taken = takenIdentity(other, { decision, tokens: {} }, { settings, limits: SIGN_IN_LIMITS });
    expect([taken.groups, taken.administrators, taken.groupIds]).toEqual([["ops"], undefined, undefined]);
  });

  test("are not made by a name that looks like one of the setting", async () => {
    const provider = makeCase();
    provider.restrictions[1]!.join(["Team 1x"]);
    await start(provider, "sourceHostA", { auth: { administrators } });
    expect(await administers(await signIn("sourceHostA"))).toBe(false);
  });
});

describe("clusterManager", () => {
  const group = "github_team://1";

  async function beginWith(auth: object): Promise<Login> {
    const double = clusterManager();
    double.person.groups = [group];
    const section = { host: HOST, bearerToken: BEARER_TOKEN };
    await begin({ clusterManager: section, ...auth }, double.double);
    return signIn("clusterManager");
  }

  test("leaves groups as they are, whose names say where they come from", async () => {
    const login = await beginWith({ connectors: [{ id: "corp", oidc: { issuerUrl: "https://id.example", clientId: "platform" } }] });
    for (const _look of [1, 2]) {
      expect(await after(login)).toBe(200);
      expect(await groupsOf(login)).toEqual([`clusterManager:${group}`]);
      const users = at(await platform.admin.send("GET", "/users"), "items") as { spec: { groups?: string[] } }[];
      expect(users.flatMap(({ spec }) => spec.groups ?? []).filter((one) => one.includes(group))).toEqual([`clusterManager:${group}`]);
    }
  });

  test("leaves administrators what they are, until the setting is gone", async () => {
    const probe = { metadata: { name: "probe" }, spec: {} };
    const login = await beginWith({ administrators: [{ connector: "clusterManager", group }] });
    expect(await after(login)).toBe(200);
    expect((await login.send("POST", "/users?dryRun=All", probe)).code).toBe(201);
    await configure({ clusterManager: { host: HOST, bearerToken: BEARER_TOKEN } });
    expect((await login.send("POST", "/users?dryRun=All", probe)).code).toBe(403);
  });
});
