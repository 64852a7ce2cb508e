/**
 * Keys that a person made with a login, after the login key has gone: they follow what the provider says now, as long as it can
 * be asked, and have its groups no longer than the login otherwise.
 */
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { signingIn } from "../../../src/management/access/users/signed-in-user.ts";
import { USERS } from "../../../src/management/kinds/types.ts";
import { at, MERGE_PATCH, type Client } from "../platform.ts";
import { BEARER_TOKEN, clusterManager, HOST } from "./doubles/cluster-manager.ts";
import { CASES, type Case } from "./doubles/cases.ts";
import { login, post } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";
import {
  after,
  begin,
  configure,
  ended,
  MINUTE_MS,
  platform,
  signIn,
  SOON_MS,
  start,
  stopAfterEach,
  world,
  type Login,
} from "./refresh-setting.ts";

stopAfterEach();

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How long a login lasts. */
const LOGIN_MS = 4 * HOUR_MS;
const LOGIN = { loginAccessKeyTTLSeconds: LOGIN_MS / 1_000 };
const SECRET = "/namespaces/default/sharedsecrets/s";

/** A secret for the team of a group. */
async function share(): Promise<void> {
  const secret = { metadata: { name: "s" }, spec: { data: {}, access: [{ verbs: ["get"], teams: ["ops"] }] } };
  expect((await platform.admin.send("POST", "/namespaces/default/sharedsecrets", secret)).code).toBe(201);
}

const reads = async (key: Client) => (await key.send("GET", SECRET)).code;

/** A key that a person makes for a pipeline. */
async function makeKey(client: Client, spec: object = {}): Promise<Client> {
  const made = await client.send("POST", "/ownedaccesskeys", { metadata: { generateName: "own-" }, spec });
  expect(made.code).toBe(201);
  return platform.as(String(at(made, "spec", "key")));
}

const signOut = async (login: Client) =>
  expect((await post(`${platform.management.url}/auth/logout`, {}, { authorization: `Bearer ${login.key}` })).status).toBe(200);

async function groupsOf(user: string): Promise<readonly string[]> {
  const groups = at(await platform.admin.send("GET", `/users/${user}`), "spec", "groups") ?? [];
  return [...(groups as readonly string[])].sort();
}

const groupsOfJane = () => groupsOf("jane");

/** A person in two groups, and a key that was made with the login. */
async function beginAs(auth: object = {}): Promise<{ provider: Case; login: Login; own: Client }> {
  const provider = CASES.find(([kind]) => kind === "sourceHostB")![1]();
  provider.restrictions[0]!.join(["dev", "ops"]);
  await start(provider, "sourceHostB", { auth: { ...LOGIN, ...auth } });
  const login = await signIn("sourceHostB");
  const own = await makeKey(login, { groups: ["ops"] });
  await share();
  expect(await reads(own)).toBe(200);
  return { provider, login, own };
}

/** Runs with two providers of OpenID Connect. */
async function withProviders(run: (providers: readonly [TestProvider, TestProvider]) => Promise<void>): Promise<void> {
  const providers = await Promise.all([startProvider(), startProvider()]);
  try {
    await run(providers);
  } finally {
    await Promise.all(providers.map((provider) => provider.close()));
  }
}

const sectionOf = ({ issuer }: TestProvider) => ({ issuerUrl: issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET });

async function signInBy(connector: string): Promise<Login> {
  const { body } = await login({ url: platform.management.url }, { connector });
  return { ...platform.as(String(body["accessKey"])), name: String(body["name"]) };
}

/** Links the identity of a connector to the person of a login. */
async function link(key: Client, connector: string): Promise<void> {
  const verifier = randomBytes(32).toString("base64url");
  const query = `?redirect=http://127.0.0.1:9/done&code_challenge=${createHash("sha256").update(verifier).digest("base64url")}`;
  const { url } = platform.management;
  const { location } = await login({ url }, { connector, query });
  const code = { code: new URL(location!).searchParams.get("code"), code_verifier: verifier };
  expect((await post(`${url}/auth/link`, code, { authorization: `Bearer ${key.key}` })).status).toBe(200);
}

const LEAVING: readonly (readonly [string, (login: Login) => Promise<unknown>])[] = [
  ["signs out", signOut],
  ["deletes the key", (login) => login.send("DELETE", `/ownedaccesskeys/${login.name}`)],
  [
    "deletes the key, which a finalizer holds",
    async (login) => {
      await login.send("PATCH", `/ownedaccesskeys/${login.name}`, { metadata: { finalizers: ["example.com/held"] } }, MERGE_PATCH);
      await login.send("DELETE", `/ownedaccesskeys/${login.name}`);
    },
  ],
  ["disables the key", (login) => login.send("PATCH", `/ownedaccesskeys/${login.name}`, { spec: { disabled: true } }, MERGE_PATCH)],
  [
    "lets the key end",
    async () => {
      await platform.clock.advance(LOGIN_MS + MINUTE_MS);
      await platform.management.settled();
    },
  ],
];

describe.each(LEAVING)("a person who %s", (_how, leave) => {
  test("loses a group at the provider on keys that were made with it, and no other", async () => {
    const { provider, login, own } = await beginAs();
    await leave(login);
    expect(await after(own)).toBe(200);
    expect(await reads(own)).toBe(200);
    expect((await login.send("GET", "/teams")).code).toBe(401);
    provider.restrictions[0]!.join(["dev"]);
    expect(await after(own)).toBe(200);
    expect(await reads(own)).toBe(403);
    expect(await groupsOfJane()).toEqual(["dev"]);
    expect(provider.oauth!.complaints).toEqual([]);
  });

  test("loses all of the provider's groups when the account is gone there", async () => {
    const { provider, login, own } = await beginAs();
    await leave(login);
    provider.leave();
    expect(await after(own)).toBe(200);
    expect(await reads(own)).toBe(403);
    expect(await groupsOfJane()).toEqual([]);
  });
});

describe("after a sign-out", () => {
  test("a key for a pipeline works on, long after the login would have ended", async () => {
    const { provider, login, own } = await beginAs();
    await signOut(login);
    for (let hours = 0; hours < 10; hours++) expect(await after(own, HOUR_MS)).toBe(200);
    expect(await reads(own)).toBe(200);
    expect(provider.oauth!.complaints).toEqual([]);
  });

  test("a key of another subject, and one that was made with a key, follow too", async () => {
    const { provider, login, own } = await beginAs();
    const team = await makeKey(login, { team: "ops" });
    const next = await makeKey(own, { groups: ["ops"] });
    await signOut(login);
    expect([await reads(team), await reads(next)]).toEqual([200, 200]);
    provider.restrictions[0]!.join(["dev"]);
    // The one who left the team holds its key no more.
    expect(await after(team)).toBe(401);
    expect(await reads(next)).toBe(403);
  });

  test("a restriction that is not met any more takes the groups", async () => {
    const provider = CASES.find(([kind]) => kind === "sourceHostB")![1]();
    const [restriction] = provider.restrictions;
    restriction!.join(["ops"]);
    await start(provider, "sourceHostB", { section: restriction!.settings(["ops"]) });
    const login = await signIn("sourceHostB");
    const own = await makeKey(login);
    await signOut(login);
    restriction!.join(["other"]);
    expect(await after(own)).toBe(200);
    expect(await groupsOfJane()).toEqual([]);
    expect(ended()).toEqual([["patch", "jane", expect.stringContaining("none of your groups")]]);
  });

  test("a refresh token for one use is stored before anything else can fail", async () => {
    const { provider, login, own } = await beginAs();
    await signOut(login);
    world.faults.set("/api/v4/user", (response) => response.writeHead(500).end());
    expect(await after(own)).toBe(200);
    world.faults.clear();
    expect(await after(own, 60 * MINUTE_MS)).toBe(200);
    expect(await reads(own)).toBe(200);
    provider.restrictions[0]!.join(["dev"]);
    expect(await after(own, 60 * MINUTE_MS)).toBe(200);
    expect(await reads(own)).toBe(403);
    expect(provider.oauth!.complaints).toEqual([]);
  });

  test("a provider that is down too long, or is not set up any more, takes the groups", async () => {
    const { login, own } = await beginAs();
    await signOut(login);
    await configure({});
    expect(await after(own)).toBe(200);
    expect(await reads(own)).toBe(200);
    expect(await after(own, DAY_MS)).toBe(200);
    expect(await reads(own)).toBe(403);
    expect(ended()).toEqual([["patch", "jane", expect.stringContaining("no longer set up")]]);
  });

  test("groups that an administrator gave stay, and those that one took away stay away", async () => {
    const { provider, login, own } = await beginAs();
    await platform.admin.send("PATCH", "/users/jane", { spec: { groups: ["dev", "given"] } }, MERGE_PATCH);
    await signOut(login);
    provider.leave();
    expect(await after(own)).toBe(200);
    expect(await groupsOfJane()).toEqual(["given"]);
    provider.restrictions[0]!.join(["dev", "ops"]);
    await signIn("sourceHostB");
    expect(await groupsOfJane()).toEqual(["dev", "given"]);
  });

  test("another login of the person goes on, and nothing is asked twice", async () => {
    const { provider, login, own } = await beginAs();
    const other = await signIn("sourceHostB");
    await signOut(login);
    const asked = () => world.asked.filter(({ place }) => place.endsWith("/api/v4/user")).length;
    const before = asked();
    expect(await after(own)).toBe(200);
    expect(asked() - before).toBe(1);
    await signOut(other);
    provider.restrictions[0]!.join(["dev"]);
    expect(await after(own)).toBe(200);
    expect(await reads(own)).toBe(403);
  });

  test("tokens are in no answer", async () => {
    const { provider, login, own } = await beginAs();
    await signOut(login);
    await after(own);
    const texts = [(await platform.admin.send("GET", "/users")).text, (await platform.admin.send("GET", "/users/jane")).text];
    const secrets = [...provider.oauth!.tokens, ...provider.oauth!.refreshTokens];
    expect(secrets.length).toBeGreaterThan(2);
    expect(secrets.filter((secret) => texts.some((text) => text.includes(secret)))).toEqual([]);
    expect(texts.join()).not.toContain("connectorData");
  });

  test("nothing is kept of a login that no key follows, once it is over", async () => {
    const { login } = await beginAs();
    await signOut(login);
    await platform.admin.send("DELETE", "/ownedaccesskeys?fieldSelector=spec.user=jane");
    await platform.clock.advance(LOGIN_MS + MINUTE_MS);
    await platform.management.settled();
    expect(await groupsOfJane()).toEqual([]);
  });

  test("with identityRefreshSeconds 0 the groups last as long as the login would have", async () => {
    const { login, own } = await beginAs({ identityRefreshSeconds: 0 });
    await signOut(login);
    const asked = world.asked.length;
    expect(await after(own, LOGIN_MS / 2)).toBe(200);
    expect(await reads(own)).toBe(200);
    expect(await after(own, LOGIN_MS)).toBe(200);
    expect(await reads(own)).toBe(403);
    expect(world.asked).toHaveLength(asked);
  });

  test("groups of a login that an earlier version forgot are taken away", async () => {
    const { login, own } = await beginAs();
    await signOut(login);
    // That is what it kept.
    const by = signingIn({ subject: "sourceHostB/42", groups: ["dev", "ops"] });
    await platform.management.registry.patch(USERS, { namespace: "", name: "jane" }, "merge", {}, { user: by });
    expect(await reads(own)).toBe(200);
    expect(await after(own)).toBe(200);
    expect(await reads(own)).toBe(403);
    await signIn("sourceHostB");
    expect(await after(own)).toBe(200);
    expect(await reads(own)).toBe(200);
  });
});

describe("without a User", () => {
  test("keys that were made with a login follow it, and lose its groups when its key goes", async () => {
    const { provider, login, own } = await beginAs({ disableUserCreation: true });
    const next = await makeKey(own, { groups: ["ops"] });
    provider.restrictions[0]!.join(["dev"]);
    expect(await after(login)).toBe(200);
    expect([await reads(login), await reads(own), await reads(next)]).toEqual([403, 403, 403]);
    provider.restrictions[0]!.join(["dev", "ops"]);
    expect(await after(login)).toBe(200);
    expect([await reads(login), await reads(own), await reads(next)]).toEqual([200, 200, 200]);
    await signOut(login);
    expect([await reads(own), await reads(next)]).toEqual([403, 403]);
    expect((await own.send("GET", "/teams")).code).toBe(200);
  });
});

describe("a provider that cannot be asked again", () => {
  test.each([
    ["signs out", signOut],
    ["lets the key end", async () => {}],
  ])("a person who %s keeps its groups as long as the login would have lasted, and own groups for good", (_how, leave) =>
    withProviders(async ([provider]) => {
      provider.refreshes = undefined;
      await begin({ oidc: sectionOf(provider), ...LOGIN });
      const login = await signInBy("oidc");
      const own = await makeKey(login);
      await share();
      await platform.admin.send("PATCH", "/users/jane", { spec: { groups: ["dev", "ops", "given"] } }, MERGE_PATCH);
      await leave(login);
      expect(await after(own, LOGIN_MS / 2)).toBe(200);
      expect(await reads(own)).toBe(200);
      expect(await after(own, LOGIN_MS / 2)).toBe(200);
      expect(await after(own)).toBe(200);
      expect(await reads(own)).toBe(403);
      expect(await groupsOfJane()).toEqual(["given"]);
      expect(ended()).toEqual([["patch", "jane", "the login has ended, and it cannot be refreshed"]]);
    }),
  );
});

describe("a connector", () => {
  test("whose ids of users come from another claim now has its groups followed", () =>
    withProviders(async ([provider]) => {
      const section = sectionOf(provider);
      await begin({ oidc: section, ...LOGIN });
      await configure({ oidc: { ...section, usernameClaim: "number" }, ...LOGIN });
      provider.claims = { ...provider.claims, number: "7" };
      const login = await signInBy("oidc");
      const own = await makeKey(login);
      const name = String(at(await platform.admin.send("GET", `/ownedaccesskeys/${login.name}`), "spec", "user"));
      expect(await groupsOf(name)).toHaveLength(2);
      for (const leave of [async () => {}, signOut]) {
        await leave(login);
        expect(await after(own)).toBe(200);
        expect(await groupsOf(name)).toHaveLength(2);
      }
      provider.refreshes = false;
      expect(await after(own)).toBe(200);
      expect(await groupsOf(name)).toEqual([]);
    }));

  test("of which groups cannot be asked again, clusterManager, has them as long as the login would have lasted", async () => {
    const { double, person } = clusterManager();
    person.groups = ["github_team://1"];
    await begin({ clusterManager: { host: HOST, bearerToken: BEARER_TOKEN }, ...LOGIN }, double);
    const login = await signIn("clusterManager");
    const own = await makeKey(login);
    await signOut(login);
    const groups = await groupsOfJane();
    expect(groups).toHaveLength(1);
    expect(await after(own, LOGIN_MS / 2)).toBe(200);
    expect(await groupsOfJane()).toEqual(groups);
    expect(await after(own, LOGIN_MS / 2)).toBe(200);
    expect(await after(own)).toBe(200);
    expect(await groupsOfJane()).toEqual([]);
  });
});

describe("a linked identity", () => {
  test.each([
    ["refuses", false],
    ["cannot be asked again about", undefined],
  ])("that its provider %s loses its groups, and the other keeps those of its own", (_what, refreshes) =>
    withProviders(async ([corp, partners]) => {
      partners.refreshes = refreshes;
      partners.claims = { sub: "p1", preferred_username: "jj", groups: ["guests"] };
      const connectors = [{ id: "partners", oidc: sectionOf(partners) }];
      await begin({ oidc: sectionOf(corp), connectors, plainNamesConnector: "oidc", ...LOGIN });
      const jane = await signInBy("oidc");
      await link(jane, "partners");
      expect(await groupsOfJane()).toEqual(["dev", "ops", "partners:guests"]);
      const own = await makeKey(jane);
      expect(await after(own, LOGIN_MS + MINUTE_MS)).toBe(200);
      expect(await after(own)).toBe(200);
      expect(await groupsOfJane()).toEqual(["dev", "ops"]);
    }),
  );

  test("brings no groups any more by a connector with which the person signed in first", () =>
    withProviders(async ([corp, partners]) => {
      partners.claims = { sub: "p1", preferred_username: "jj", groups: ["guests"] };
      const connectors = [{ id: "partners", oidc: sectionOf(partners) }];
      await begin({ oidc: sectionOf(corp), connectors, plainNamesConnector: "oidc", ...LOGIN });
      const jane = await signInBy("oidc");
      await link(jane, "partners");
      await signOut(jane);
      const other = await signInBy("partners");
      corp.claims = { ...corp.claims, groups: ["dev"] };
      expect(await after(other)).toBe(200);
      expect(await groupsOfJane()).toEqual(["dev", "partners:guests"]);
    }));
});

describe("the audit log", () => {
  test("says why a provider ended a login", async () => {
    const { provider, login } = await beginAs();
    provider.leave();
    expect(await after(login, SOON_MS)).toBe(401);
    expect(ended()).toEqual([["delete", login.name, expect.stringMatching(/./)]]);
  });
});
