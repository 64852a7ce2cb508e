/**
 * Cases by which another identity service tests its connectors, and that no other test here tells. `known-cases.test.ts` has the whole list.
 */
import { afterEach, describe, expect, test } from "vitest";
import { at } from "../platform.ts";
import { CASES } from "./doubles/cases.ts";
import { ADMIN_EMAIL, directoryProviderA } from "./doubles/directory-provider-a.ts";
import { directoryProviderB } from "./doubles/directory-provider-b.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { sourceHostA } from "./doubles/source-host-a.ts";
import { sourceHostB } from "./doubles/source-host-b.ts";
import { createBrowser, login, post } from "./platform.ts";
import { startProvider } from "./provider.ts";
import { after, begin, groupsOf, MINUTE_MS, platform, signIn, stopAfterEach, world } from "./refresh-setting.ts";

stopAfterEach();

const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
const identityOf = async (name: string) =>
  at(await platform.admin.send("GET", `/ownedaccesskeys/${name}`), "spec", "identity") as Record<string, unknown>;
const tokenRequests = () => world.asked.filter(({ place, method }) => method === "POST" && /\/(access_)?token$/.test(place));

describe("the authorization request", () => {
  const REQUIRED = ["client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method"];
  const MORE: Readonly<Record<string, readonly string[]>> = {
    sourceHostA: [],
    sourceHostB: ["nonce"],
    directoryProviderA: ["access_type", "nonce"],
    directoryProviderB: ["nonce"],
  };

  test.each(CASES.filter(([kind]) => kind !== "clusterManager"))(
    "of %s has these parameters alone: no prompt, no hint",
    async (kind, makeCase) => {
      const provider = makeCase();
      await begin({ [kind]: provider.settings }, provider.double);
      const { location } = await createBrowser().visit(`${platform.management.url}/auth/${kind}/login`);
      const url = new URL(location!);
      expect([...url.searchParams.keys()].sort()).toEqual([...REQUIRED, ...MORE[kind]!].sort());
      expect(url.searchParams.get("response_type")).toBe("code");
      expect(url.searchParams.get("redirect_uri")).toBe(`${platform.management.url}/auth/${kind}/callback`);
    },
  );

  test("of directoryProviderB goes to the tenant", async () => {
    const directory = directoryProviderB("acme.onmicrosoft.com");
    await begin({ directoryProviderB: { ...CLIENT, tenant: "acme.onmicrosoft.com" } }, directory.double);
    const { location } = await createBrowser().visit(`${platform.management.url}/auth/directoryProviderB/login`);
    expect(new URL(location!).pathname).toBe("/acme.onmicrosoft.com/oauth2/v2.0/authorize");
  });
});

describe("sourceHostA", () => {
  test.each([28_800, "30"])("keeps a refresh token that comes with expires_in %j, and asks with it for a new pair", async (expires) => {
    const host = sourceHostA("", "rotated");
    await begin({ sourceHostA: CLIENT }, async (asked) => {
      const answer = await host.double(asked);
      const body = answer?.body as Record<string, unknown> | undefined;
      return body?.["expires_in"] === undefined ? answer : { ...answer, body: { ...body, expires_in: expires } };
    });
    const key = await signIn("sourceHostA");
    host.person.emails = [{ email: "new@x.example", primary: true, verified: true }];
    for (let round = 0; round < 3; round += 1) expect(await after(key)).toBe(200);
    expect(tokenRequests()).toHaveLength(4);
    expect(host.oauth.complaints).toEqual([]);
    expect(await identityOf(key.name)).toMatchObject({ userId: "42", email: "new@x.example" });
  });

  test("asks for no new token where it has an access token only", async () => {
    await begin({ sourceHostA: CLIENT }, sourceHostA().double);
    const key = await signIn("sourceHostA");
    expect(await after(key)).toBe(200);
    expect(tokenRequests()).toHaveLength(1);
    expect(world.asked.filter(({ place }) => place.endsWith("/user"))).toHaveLength(2);
  });

  test.each(["without a Link", "whose last page names itself"])("reads lists %s to their end, once", async (how) => {
    const host = sourceHostA();
    host.pageSize = how === "without a Link" ? 30 : 1;
    const team = (name: string) => ({ name, slug: name.toLowerCase().replace(" ", "-") });
    host.person.orgs = [
      { id: 1, login: "org-1", teams: [team("Team 1"), team("team-2")] },
      { id: 2, login: "org-2", teams: [team("Team 1")] },
    ];
    await begin({ sourceHostA: CLIENT }, async (asked) => {
      const answer = await host.double(asked);
      const { link, ...headers } = answer?.headers ?? {};
      return answer && { ...answer, headers: how === "without a Link" || link === undefined ? headers : { ...headers, link } };
    });
    const key = await signIn("sourceHostA");
    expect(await groupsOf(key)).toEqual(["org-1:Team 1", "org-1:team-2", "org-2:Team 1"]);
  });

  test("is known by the number, and called by the login, whatever the name", async () => {
    const host = sourceHostA();
    await begin({ sourceHostA: CLIENT }, async (asked) => {
      const answer = await host.double(asked);
      return asked.place.endsWith("/user") ? { ...answer, body: { ...(answer?.body as object), name: null } } : answer;
    });
    const key = await signIn("sourceHostA");
    expect(await identityOf(key.name)).toMatchObject({ userId: "42", username: "jane", preferredUsername: "jane" });
  });
});

describe("sourceHostB", () => {
  test("is known by the number, and called by the user name, whatever the name", async () => {
    const host = sourceHostB();
    await begin({ sourceHostB: CLIENT }, async (asked) => {
      const answer = await host.double(asked);
      return asked.place.endsWith("/api/v4/user") ? { ...answer, body: { ...(answer?.body as object), name: "" } } : answer;
    });
    expect(await identityOf((await signIn("sourceHostB")).name)).toMatchObject({ userId: "42", username: "jane" });
  });

  test("without a refresh token is asked nothing, and nothing changes", async () => {
    const host = sourceHostB();
    host.person.groups = ["acme"];
    await begin({ sourceHostB: CLIENT }, async (asked) => {
      const answer = await host.double(asked);
      const { refresh_token: _token, ...body } = (answer?.body ?? {}) as Record<string, unknown>;
      return asked.place.endsWith("/oauth/token") ? { ...answer, body } : answer;
    });
    const key = await signIn("sourceHostB");
    const asked = () => world.asked.filter(({ place }) => !place.includes("/.well-known/")).length;
    const before = asked();
    host.person.groups = [];
    expect(await after(key)).toBe(200);
    expect([asked(), await groupsOf(key)]).toEqual([before, ["acme"]]);
  });

  test("has paths of groups alone: roles that the user information has make no groups", async () => {
    const host = sourceHostB();
    host.person.groups = ["ops", "dev"];
    await begin({ sourceHostB: CLIENT }, async (asked) => {
      const answer = await host.double(asked);
      if (!asked.place.endsWith("/oauth/userinfo")) return answer;
      return { ...answer, body: { ...(answer?.body as object), "https://gitlab.org/claims/groups/owner": ["ops"] } };
    });
    expect(await groupsOf(await signIn("sourceHostB"))).toEqual(["ops", "dev"]);
  });
});

describe("directoryProviderA", () => {
  test("asks as one administrator for people of all domains, and never asks the machine that it runs on for credentials", async () => {
    const directory = directoryProviderA();
    directory.person = {
      ...directory.person,
      email: "jane@other.example",
      domain: "other.example",
      groups: ["g1@other.example", "g2@x.example"],
    };
    const account = { serviceAccountFilePath: "/account.json", adminEmail: ADMIN_EMAIL };
    await begin({ directoryProviderA: { ...CLIENT, ...account } }, directory.double);
    const key = await signIn("directoryProviderA");
    expect(await groupsOf(key)).toEqual(["g1@other.example", "g2@x.example"]);
    directory.person.groups = ["g1@other.example"];
    await after(key);
    expect(await groupsOf(key)).toEqual(["g1@other.example"]);
    const hosts = new Set(world.asked.map(({ place }) => place.split("/")[0]));
    expect([...hosts].sort()).toEqual(["accounts.google.com", "admin.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com"]);
    // Direct groups only: nothing is asked about a group itself.
    expect(world.asked.filter(({ place, query }) => place.endsWith("/groups") && query.get("userKey") !== directory.person.id)).toEqual([]);
  });
});

describe("directoryProviderB", () => {
  const group = (displayName: string, index: number) => ({
    id: `00000000-0000-4000-8000-00000000000${index}`,
    displayName,
    securityEnabled: true,
  });

  test("is known by tenant and object id, and called by the principal name; the address proves nothing", async () => {
    const directory = directoryProviderB();
    await begin({ directoryProviderB: CLIENT }, directory.double);
    const identity = await identityOf((await signIn("directoryProviderB")).name);
    const { tid, oid } = directory.person;
    expect(identity).toMatchObject({ userId: `${tid}/${oid}`, username: "jane@acme.example", email: "jane@acme.example" });
    for (const name of ["emailVerified", "groups"]) expect(identity).not.toHaveProperty(name);
  });

  test("in c and d, where a is needed, is refused as a restriction", async () => {
    const directory = directoryProviderB();
    directory.person.groups = [group("c", 1), group("d", 2)];
    await begin({ directoryProviderB: { ...CLIENT, groups: ["a"] } }, directory.double);
    const browser = createBrowser();
    const begun = await browser.visit(`${platform.management.url}/auth/directoryProviderB/login`);
    expect((await browser.visit(await world.visit(begun.location!))).status).toBe(403);
  });
});

describe("oidc", () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  afterEach(() => provider.close());
  const start = async (oidc: object = {}) => {
    provider = await startProvider();
    await begin({ oidc: { ...CLIENT, issuerUrl: provider.issuer, ...oidc } });
  };
  const signInHere = async () => {
    const { status, body } = await login({ url: platform.management.url });
    expect(status).toBe(200);
    return { ...platform.as(String(body["accessKey"])), name: String(body["name"]) };
  };

  test.each<[string, object, Record<string, unknown>, object]>([
    [
      "a simple one",
      {},
      { sub: "s", email: "e@x.example", email_verified: true },
      { userId: "s", email: "e@x.example", emailVerified: true },
    ],
    [
      "an address under another claim",
      { emailClaim: "mail" },
      { sub: "s", mail: "e@x.example", email: "no@x.example" },
      { email: "e@x.example" },
    ],
    ["without email_verified", {}, { sub: "s", email: "e@x.example" }, { email: "e@x.example" }],
    ["an id under another claim", { usernameClaim: "uid" }, { sub: "s", uid: "u" }, { userId: "u" }],
    ["a name under another claim", { platformUsernameClaim: "nick" }, { sub: "s", nick: "n" }, { userId: "s", username: "n" }],
    ["a preferred name", {}, { sub: "s", preferred_username: "p" }, { username: "p", preferredUsername: "p" }],
    ["without an address", { scopes: ["profile"] }, { sub: "s", preferred_username: "p" }, { userId: "s", username: "p" }],
  ])("%s", async (_, section, claims, expected) => {
    await start(section);
    provider.claims = claims;
    const identity = await identityOf((await signInHere()).name);
    expect(identity).toMatchObject(expected);
    for (const name of ["email", "emailVerified"]) if (!(name in expected)) expect(identity).not.toHaveProperty(name);
  });

  test("groups that are objects with a name are refused", async () => {
    await start();
    provider.claims = { groups: [{ name: "ops" }] };
    expect((await login({ url: platform.management.url })).status).toBe(403);
  });

  test("is the same person after a refresh with an ID token, and as before after one without", async () => {
    await start({ scopes: ["offline_access"] });
    provider.claims = { preferred_username: "jane", groups: ["dev"] };
    const key = await signInHere();
    provider.claims = { preferred_username: "jane", groups: ["ops"] };
    expect(await after(key)).toBe(200);
    expect(await groupsOf(key)).toEqual(["ops"]);
    provider.lies = { refreshesWithoutIdToken: true };
    provider.claims = { preferred_username: "jane", groups: ["night"] };
    expect(await after(key, 60 * MINUTE_MS)).toBe(200);
    expect(await groupsOf(key)).toEqual(["ops"]);
  });

  test.each<[string, object, Record<string, unknown>, (url: URL | undefined) => void]>([
    ["none", {}, { end_session_endpoint: undefined }, (url) => expect(url).toBeUndefined()],
    ["a plain one", {}, {}, (url) => expect([url?.pathname, url?.searchParams.has("id_token_hint")]).toEqual(["/logout", true])],
    [
      "one with a way back",
      { postLogoutRedirectURI: "https://p.example/bye" },
      {},
      (url) => expect(url?.searchParams.get("post_logout_redirect_uri")).toBe("https://p.example/bye"),
    ],
    [
      "one with a query of its own",
      {},
      { end_session_endpoint: "https://id.example/bye?realm=a%20b&x" },
      (url) => expect([url?.origin, url?.searchParams.get("realm"), url?.searchParams.get("x")]).toEqual(["https://id.example", "a b", ""]),
    ],
  ])("the address that ends the session at the provider: %s", async (_, section, document, check) => {
    await start(section);
    provider.lies = { document };
    const key = await signInHere();
    const { status, body } = await post(`${platform.management.url}/auth/logout`, {}, { authorization: `Bearer ${key.key}` });
    expect(status).toBe(200);
    const { logoutURL } = body as { logoutURL?: string };
    check(logoutURL === undefined ? undefined : new URL(logoutURL));
  });

  test("takes no token of a provider in exchange for a key", async () => {
    await start();
    const token = "urn:ietf:params:oauth:token-type:id_token";
    const exchange = { grant_type: "urn:ietf:params:oauth:grant-type:token-exchange", subject_token: "x", subject_token_type: token };
    const answers = ["token", "auth/token", "auth/oidc/token", "auth/exchange"].map((path) =>
      post(`${platform.management.url}/${path}`, new URLSearchParams(exchange).toString()),
    );
    for (const { status } of await Promise.all(answers)) expect(status).toBeGreaterThanOrEqual(400);
  });

  test.each(["X-Remote-User", "X-Remote-User-Id", "X-Remote-User-Email", "X-Remote-Group", "X-Forwarded-User", "Remote-User"])(
    "reads no identity in the header %s",
    async (name) => {
      await start();
      const headers = { [name]: "admin" };
      const { url } = platform.management;
      const browser = createBrowser();
      expect((await browser.visit(`${url}/kubernetes/management/apis/management.platform/v1/teams`, headers)).status).toBe(401);
      // It is sent to the provider like any other, and the callback alone makes no key.
      expect((await browser.visit(`${url}/auth/oidc/login`, headers)).location).toContain(provider.issuer);
      expect((await browser.visit(`${url}/auth/oidc/callback`, headers)).status).toBe(400);
    },
  );
});
