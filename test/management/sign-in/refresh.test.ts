/**
 * What becomes of people who are signed in when their provider says something else about them, and when the settings do.
 */
import { afterEach, describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits/limits.ts";
import { takenIdentity } from "../../../src/management/sign-in/logins/taken-identity.ts";
import { admit } from "../../../src/management/sign-in/rules/admit.ts";
import { at, MERGE_PATCH, startPlatform } from "../platform.ts";
import type { Client, Platform } from "../platform.ts";
import { BEARER_TOKEN, clusterManager, HOST, PERSONS_TOKEN } from "./doubles/cluster-manager.ts";
import { CASES } from "./doubles/cases.ts";
import type { Case, Restriction } from "./doubles/cases.ts";
import { FILES } from "./doubles/cases.ts";
import { tokenOf } from "./doubles/oauth.ts";
import { startWorld } from "./doubles/world.ts";
import type { Double, World } from "./doubles/world.ts";
import { createBrowser, login, post } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "./provider.ts";

const MINUTE_MS = 60_000;
/** After this, anyone who has used a key has been looked at. */
const SOON_MS = 17 * MINUTE_MS;

let world: World;
let platform: Platform;
afterEach(() => Promise.all([platform.stop(), world.close()]));

async function start(provider: Case, kind: string, { section = {}, auth = {} }: { section?: object; auth?: object } = {}): Promise<void> {
  world = await startWorld(provider.double);
  platform = await startPlatform({
    config: JSON.stringify({ auth: { [kind]: { ...provider.settings, ...section }, ...auth } }),
    reachProviders: world.reach,
    readFile: async (path) => FILES[path] ?? "",
  });
}

interface Login extends Client {
  readonly name: string;
}

async function signIn(kind: string): Promise<Login> {
  const { url } = platform.management;
  const login = async () => {
    if (kind === "clusterManager") return post(`${url}/auth/${kind}/login`, { token: PERSONS_TOKEN });
    const browser = createBrowser();
    const begun = await browser.visit(`${url}/auth/${kind}/login`);
    return browser.visit(await world.visit(begun.location!));
  };
  const { status, body } = await login();
  expect(status).toBe(200);
  return { ...platform.as(String(body["accessKey"])), name: String(body["name"]) };
}

/** Uses a key, and lets the time pass in which its login is looked at again. */
async function after(login: Client, ms = SOON_MS): Promise<number> {
  await platform.clock.advance(MINUTE_MS);
  await login.send("GET", "/teams");
  await platform.clock.advance(ms - MINUTE_MS);
  await platform.management.settled();
  return (await login.send("GET", "/teams")).code;
}

const groupsOf = async (login: Login) => at(await platform.admin.send("GET", `/ownedaccesskeys/${login.name}`), "spec", "groups");

describe.each(CASES)("%s", (kind, makeCase) => {
  // Without a place to ask, the restriction stands in the ID token.
  const fields = makeCase().restrictions.map(({ field }) => field);

  test.each(fields)("one who is no longer in one of the %s loses the key, and one who still is keeps it", async (field) => {
    const provider = makeCase();
    const restriction = provider.restrictions.find((one) => one.field === field) as Restriction;
    restriction.join([restriction.name]);
    await start(provider, kind, { section: restriction.settings([restriction.name]) });
    const login = await signIn(kind);
    expect(await after(login)).toBe(200);
    restriction.join(["other"]);
    expect(await after(login)).toBe(401);
    // The person stays, and comes back with the membership.
    restriction.join([restriction.name]);
    expect(await after(await signIn(kind))).toBe(200);
  });

  test("one whom the provider no longer knows loses the key", async () => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    provider.leave();
    expect(await after(login)).toBe(401);
  });

  test.each([403, 429, 500])("an answer %i ends nothing, until it lasts too long", async (status) => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    for (const place of kind === "clusterManager" ? ["/v3/users/u-abc"] : provider.places)
      world.faults.set(place, (response) => response.writeHead(status, { "content-type": "application/json" }).end("{}"));
    expect(await after(login)).toBe(200);
    expect(await after(login, 12 * 60 * MINUTE_MS)).toBe(200);
    expect(await after(login, 24 * 60 * MINUTE_MS)).toBe(401);
  });

  test("with identityRefreshSeconds 0 is asked nothing again", async () => {
    const provider = makeCase();
    await start(provider, kind, { auth: { identityRefreshSeconds: 0 } });
    const login = await signIn(kind);
    const asked = world.asked.length;
    provider.leave();
    expect(await after(login)).toBe(200);
    expect(world.asked).toHaveLength(asked);
  });

  test("is asked nothing about somebody who uses no key", async () => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    const asked = world.asked.length;
    await platform.clock.advance(SOON_MS);
    await platform.management.settled();
    expect(world.asked).toHaveLength(asked);
    expect((await login.send("GET", "/teams")).code).toBe(200);
  });

  test("a connector that was removed, or leads elsewhere, ends its logins at once", async () => {
    const provider = makeCase();
    await start(provider, kind);
    const login = await signIn(kind);
    const elsewhere = { baseURL: "https://b.example", hostName: "a.example", tenant: "acme.example", host: "c.example" };
    const moved = { ...provider.settings, ...(kind === "directoryProviderA" ? {} : elsewhere) };
    for (const section of kind === "directoryProviderA" ? [undefined] : [undefined, only(kind, moved)]) {
      await configure(section === undefined ? {} : { [kind]: section });
      const answer = await login.send("GET", "/teams");
      expect([answer.code, at(answer, "message")]).toEqual([401, expect.stringContaining("the connector of the login")]);
    }
    await configure({ [kind]: provider.settings });
    expect((await login.send("GET", "/teams")).code).toBe(200);
  });
});

/** The settings that a kind has. */
function only(kind: string, settings: object): object {
  const known: Readonly<Record<string, string>> = {
    ...{ sourceHostA: "hostName", sourceHostB: "baseURL", directoryProviderB: "tenant", clusterManager: "host" },
  };
  const others = Object.values(known).filter((name) => name !== known[kind]);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !others.includes(name)));
}

async function configure(auth: object): Promise<void> {
  const parsed = parseManagementConfig(JSON.stringify({ auth }));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  await platform.management.configure(parsed.config);
}

describe("a login that cannot be asked about", () => {
  const [, makeCase] = CASES.find(([kind]) => kind === "sourceHostA")!;
  const DAY_MS = 24 * 60 * MINUTE_MS;

  /** Logins of one person after another; the provider refuses to say anything about the first ones. */
  async function begin({ refused, others }: { readonly refused: number; readonly others: number }) {
    const provider = makeCase();
    const [restriction] = provider.restrictions as [Restriction];
    restriction.join([restriction.name]);
    const bad: string[] = [];
    const blocking: Double = (asked) =>
      bad.includes(tokenOf(asked)) && asked.place.endsWith("/user") ? { status: 403, body: { message: "blocked" } } : undefined;
    await start({ ...provider, double: (asked) => blocking(asked) ?? provider.double(asked) }, "sourceHostA", {
      section: restriction.settings([restriction.name]),
    });
    const logins: Login[] = [];
    for (let count = 0; count < refused + others; count++) {
      logins.push(await signIn("sourceHostA"));
      if (count < refused) bad.push([...provider.oauth!.tokens].at(-1)!);
    }
    return { restriction, refused: logins.slice(0, refused), others: logins.slice(refused) };
  }

  test("ends after a day, and nobody else's does or waits", async () => {
    const { restriction, refused, others } = await begin({ refused: 2, others: 1 });
    const [first, other] = [refused[0]!, others[0]!];
    for (let hours = 0; hours < 26; hours++) await after(other, 60 * MINUTE_MS);
    expect(await after(other)).toBe(200);
    expect((await first.send("GET", "/teams")).code).toBe(401);
    restriction.join(["other"]);
    expect(await after(other)).toBe(401);
  });

  test("is one of several where the provider is left alone", async () => {
    const { others } = await begin({ refused: 0, others: 8 });
    world.faults.set("/user", (response) => response.writeHead(500).end());
    const asked = world.asked.length;
    expect(await after(others[0]!)).toBe(200);
    expect(world.asked.length - asked).toBeLessThan(8);
    expect(await after(others[0]!, DAY_MS)).toBe(401);
  });
});

describe("groups", () => {
  const [, makeCase] = CASES.find(([kind]) => kind === "sourceHostB")!;

  test("follow the provider, on the login and on keys that the person made", async () => {
    const provider = makeCase();
    const [groups] = provider.restrictions;
    groups!.join(["dev", "ops"]);
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    const made = await login.send("POST", "/ownedaccesskeys", { metadata: { name: "own" }, spec: { groups: ["ops"] } });
    const own = platform.as(String(at(made, "spec", "key")));
    const shared = { metadata: { name: "s" }, spec: { data: {}, access: [{ verbs: ["get"], teams: ["ops"] }] } };
    expect((await platform.admin.send("POST", "/namespaces/default/sharedsecrets", shared)).code).toBe(201);
    expect((await own.send("GET", "/namespaces/default/sharedsecrets/s")).code).toBe(200);
    groups!.join(["dev"]);
    expect(await after(own)).toBe(200);
    expect(await groupsOf(login)).toEqual(["dev"]);
    expect((await own.send("GET", "/namespaces/default/sharedsecrets/s")).code).toBe(403);
  });

  test("a refresh token that is good for one use is kept before anything else can fail", async () => {
    const provider = makeCase();
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    world.faults.set("/api/v4/user", (response) => response.writeHead(500).end());
    expect(await after(login)).toBe(200);
    world.faults.clear();
    expect(await after(login, 60 * MINUTE_MS)).toBe(200);
    expect(provider.oauth!.complaints).toEqual([]);
  });

  test("follow the provider also where somebody would take away what it is asked with", async () => {
    const provider = makeCase();
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    const path = `/ownedaccesskeys/${login.name}`;
    const patched = await login.send("PATCH", path, { spec: { identity: null } }, MERGE_PATCH);
    expect([patched.code, at(patched, "message")]).toEqual([403, expect.stringContaining("spec.identity is written by the platform")]);
    const read = await login.send("GET", path);
    const { identity: _identity, ...spec } = at(read, "spec") as Record<string, unknown>;
    expect((await login.send("PUT", path, { ...read.body, spec })).code).toBe(403);
    // What was read can be written back.
    expect((await login.send("PUT", path, { ...read.body, spec: { ...(at(read, "spec") as object), displayName: "mine" } })).code).toBe(
      200,
    );
    provider.leave();
    expect(await after(login)).toBe(401);
  });

  test("tokens are in no answer", async () => {
    const provider = makeCase();
    await start(provider, "sourceHostB");
    const login = await signIn("sourceHostB");
    await after(login);
    const { text } = await platform.admin.send("GET", "/ownedaccesskeys");
    const secrets = [...provider.oauth!.tokens, ...provider.oauth!.refreshTokens];
    expect(secrets.length).toBeGreaterThan(2);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toContain("connectorData");
  });
});

describe("administrators", () => {
  const [, makeCase] = CASES.find(([kind]) => kind === "sourceHostA")!;
  const administrators = [{ connector: "sourceHostA", group: "acme:Team 1" }];
  const probe = { metadata: { name: "probe" }, spec: {} };
  const administers = async (client: Client) => (await client.send("POST", "/users?dryRun=All", probe)).code === 201;

  async function begin(): Promise<Case> {
    const provider = makeCase();
    provider.restrictions[0]!.join(["acme"]);
    await start(provider, "sourceHostA", { auth: { administrators, groupsFilters: ["^nothing$"] } });
    return provider;
  }

  test("are members of a group of the settings, by the key of their sign-in alone, for as long as they are members", async () => {
    const provider = await begin();
    const login = await signIn("sourceHostA");
    expect(await administers(login)).toBe(true);
    expect(at(await platform.admin.send("GET", "/users/jane"), "spec", "groups") ?? []).not.toContain("platform:admins");
    provider.restrictions[0]!.join(["other"]);
    expect(await after(login)).toBe(200);
    expect(await administers(login)).toBe(false);
  });

  test("are none once the setting is gone, at once, and by another connector's group", async () => {
    const provider = await begin();
    const login = await signIn("sourceHostA");
    const connectors = [{ id: "corp", sourceHostA: provider.settings }];
    await configure({ sourceHostA: provider.settings, connectors, administrators: [{ connector: "corp", group: "acme:Team 1" }] });
    expect(await administers(login)).toBe(false);
    await configure({ sourceHostA: provider.settings, administrators });
    expect(await administers(login)).toBe(true);
  });

  test("make keys that end with what they administer by", async () => {
    const provider = await begin();
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

  test("do not act as somebody else, whose keys would not end with the group", async () => {
    await begin();
    const login = await signIn("sourceHostA");
    const as = { headers: { "Impersonate-User": "somebody", "Impersonate-Group": "platform:admins" } };
    const key = { metadata: { name: "root" }, spec: { user: "ci", groups: ["platform:admins"] } };
    const made = await login.send("POST", "/ownedaccesskeys", { metadata: { name: "ci" }, spec: key.spec });
    for (const client of [login, platform.as(String(at(made, "spec", "key")))]) {
      const answer = await client.send("POST", "/ownedaccesskeys", key, as);
      expect([answer.code, at(answer, "message")]).toEqual([403, expect.stringContaining("act as themselves")]);
    }
    expect((await platform.admin.send("POST", "/ownedaccesskeys", key, as)).code).toBe(201);
  });

  test("cannot write by which group they administer", async () => {
    await begin();
    const login = await signIn("sourceHostA");
    const connectorData = JSON.stringify({ place: "sourceHostA ", administrators: ["acme:Team 1", "for good"] });
    const patch = { spec: { identity: { connectorData } } };
    const answer = await login.send("PATCH", `/ownedaccesskeys/${login.name}`, patch, MERGE_PATCH);
    expect([answer.code, at(answer, "message")]).toEqual([403, expect.stringContaining("spec.identity is written by the platform")]);
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
    // A name is refused where it is written, and would mean nothing.
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

  async function begin(auth: object): Promise<Login> {
    const double = clusterManager();
    double.person.groups = [group];
    world = await startWorld(double.double);
    const section = { host: HOST, bearerToken: BEARER_TOKEN };
    platform = await startPlatform({ config: JSON.stringify({ auth: { clusterManager: section, ...auth } }), reachProviders: world.reach });
    return signIn("clusterManager");
  }

  test("leaves groups as they are, whose names say where they come from", async () => {
    const login = await begin({ connectors: [{ id: "corp", oidc: { issuerUrl: "https://id.example", clientId: "platform" } }] });
    for (const _look of [1, 2]) {
      expect(await after(login)).toBe(200);
      expect(await groupsOf(login)).toEqual([`clusterManager:${group}`]);
      const users = at(await platform.admin.send("GET", "/users"), "items") as { spec: { groups?: string[] } }[];
      expect(users.flatMap(({ spec }) => spec.groups ?? []).filter((one) => one.includes(group))).toEqual([`clusterManager:${group}`]);
    }
  });

  test("leaves administrators what they are, until the setting is gone", async () => {
    const probe = { metadata: { name: "probe" }, spec: {} };
    const login = await begin({ administrators: [{ connector: "clusterManager", group }] });
    expect(await after(login)).toBe(200);
    expect((await login.send("POST", "/users?dryRun=All", probe)).code).toBe(201);
    await configure({ clusterManager: { host: HOST, bearerToken: BEARER_TOKEN } });
    expect((await login.send("POST", "/users?dryRun=All", probe)).code).toBe(403);
  });
});

describe("oidc", () => {
  test("follows the groups by the refresh token, and ends with the person's grant", async () => {
    const provider = await startProvider();
    world = await startWorld();
    try {
      const oidc = { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, scopes: ["offline_access"] };
      platform = await startPlatform({ config: JSON.stringify({ auth: { oidc } }) });
      const { body } = await login({ url: platform.management.url });
      const person = { ...platform.as(String(body["accessKey"])), name: String(body["name"]) };
      const patch = { spec: { oidcLogin: null } };
      expect((await person.send("PATCH", `/ownedaccesskeys/${person.name}`, patch, MERGE_PATCH)).code).toBe(403);
      expect(await groupsOf(person)).toEqual(["dev", "ops"]);
      provider.claims = { ...provider.claims, groups: ["dev"] };
      expect(await after(person)).toBe(200);
      expect(await groupsOf(person)).toEqual(["dev"]);
      provider.refreshes = false;
      expect(await after(person)).toBe(401);
    } finally {
      await provider.close();
    }
  });

  test("without a refresh token stays as it was", async () => {
    const provider = await startProvider();
    world = await startWorld();
    try {
      provider.refreshes = undefined;
      const oidc = { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
      platform = await startPlatform({ config: JSON.stringify({ auth: { oidc } }) });
      const { body } = await login({ url: platform.management.url });
      expect(await after(platform.as(String(body["accessKey"])), 26 * 60 * MINUTE_MS)).toBe(200);
    } finally {
      await provider.close();
    }
  });
});
