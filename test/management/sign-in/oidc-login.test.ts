/**
 * Login through an OpenID Connect provider that runs beside the test, over HTTP. The numbers are rows of the checklist.
 */
import { describe, expect, test } from "vitest";
import type { OidcSettings } from "../../../src/management/sign-in/settings.ts";
import { createBrowser, login } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, type Lies } from "./provider.ts";
import { freshProvider, configure, platform, provider, settings } from "./oidc-setting.ts";

freshProvider();

describe("a login", () => {
  test("129 ends with the key, once, and passes on the identity and the provider's tokens", async () => {
    const seen = await login(platform);
    expect(seen.status).toBe(200);
    expect(seen.body).toEqual({ accessKey: "key-1", name: "login-1", expiresAt: "2026-01-21T00:00:00.000Z" });
    expect(seen.headers.get("cache-control")).toBe("no-store");
    const identity = {
      userId: "user-1",
      username: "jane",
      preferredUsername: "jane",
      email: "jane@acme.example",
      emailVerified: true,
      groups: ["dev", "ops"],
      connector: "oidc",
      issuer: provider.issuer,
      place: `oidc ${provider.issuer}`,
      idClaim: "sub",
    };
    const tokens = { idToken: expect.stringMatching(/^ey/) as unknown, accessToken: "access", refreshToken: "refresh" };
    expect(platform.signedIn).toEqual([{ identity, tokens }]);
  });

  test("124 goes through a connector by its id in the address", async () => {
    platform.config = { connectors: [{ id: "corp id", oidc: settings() }] };
    expect((await login(platform, { connector: "corp%20id" })).status).toBe(200);
    expect(platform.signedIn[0]!.identity.connector).toBe("corp id");
    expect(provider.authorizations[0]!.get("redirect_uri")).toBe(`${platform.url}/auth/corp%20id/callback`);
  });

  test("asks for a code with PKCE, state and nonce, which differ from login to login", async () => {
    await login(platform);
    await login(platform);
    const [first, second] = provider.authorizations.map((parameters) => Object.fromEntries(parameters));
    expect(first).toMatchObject({ response_type: "code", client_id: CLIENT_ID, code_challenge_method: "S256" });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(first![name]).toMatch(/^[\w-]{43}$/);
      expect(first![name]).not.toBe(second![name]);
    }
  });

  test.each<[OidcSettings, string]>([
    [{}, "openid email profile"],
    [{ scopes: [] }, "openid email profile"],
    [{ scopes: ["groups", "openid"] }, "openid groups"],
  ])("144 with %j asks for %s", async (more, scope) => {
    configure(more);
    await login(platform);
    expect(provider.authorizations[0]!.get("scope")).toBe(scope);
  });

  test("146 names the resource in both requests, and none where none is set", async () => {
    await login(platform);
    configure({ resource: "https://api.example" });
    await login(platform);
    expect(provider.authorizations.map((parameters) => parameters.get("resource"))).toEqual([null, "https://api.example"]);
    expect(provider.tokenRequests.map(({ parameters }) => parameters.get("resource"))).toEqual([null, "https://api.example"]);
  });

  test("138 uses redirectURI in both requests when it is set", async () => {
    const redirectURI = platform.url.replace("127.0.0.1", "localhost") + "/auth/oidc/callback";
    configure({ redirectURI });
    const browser = createBrowser();
    const begun = await browser.visit(`${platform.url}/auth/oidc/login`);
    const back = new URL((await fetch(begun.location!, { redirect: "manual" })).headers.get("location")!);
    expect(back.origin + back.pathname).toBe(redirectURI);
    expect((await browser.visit(`${platform.url}${back.pathname}${back.search}`)).status).toBe(200);
    expect(provider.tokenRequests[0]!.parameters.get("redirect_uri")).toBe(redirectURI);
  });

  test.each<[string[] | undefined, "header" | "body"]>([
    [undefined, "header"],
    [["client_secret_post", "client_secret_basic"], "header"],
    [["client_secret_post"], "body"],
  ])("138 shows the secret to a provider that takes %j in the %s", async (authentication, where) => {
    provider.lies = { ...(authentication && { authentication }) };
    expect((await login(platform)).status).toBe(200);
    const { authorization, parameters } = provider.tokenRequests[0]!;
    expect(authorization !== undefined).toBe(where === "header");
    expect(parameters.has("client_secret")).toBe(where === "body");
  });

  test("138 fails with a wrong secret", async () => {
    configure({ clientSecret: "wrong" });
    expect(await login(platform)).toMatchObject({
      status: 503,
      body: { message: "sign-in with this provider is not set up correctly; tell your administrator" },
    });
  });

  test.each([
    ["dev", ["dev"]],
    [["dev"], ["dev"]],
  ])("142 a groups claim of %j gives %j", async (groups, expected) => {
    provider.claims = { ...provider.claims, groups };
    await login(platform);
    expect(platform.signedIn[0]!.identity.groups).toEqual(expected);
  });

  test("130, 143 is refused to a user who is in none of the groups", async () => {
    configure({ groups: ["admins"] });
    expect(await login(platform)).toMatchObject({
      status: 403,
      body: { message: "forbidden: none of your groups is allowed to sign in" },
    });
    configure({ groups: ["ops"] });
    expect((await login(platform)).status).toBe(200);
    expect(platform.signedIn).toHaveLength(1);
  });

  test("128 passes on only groups that match the filters, and decides by all of them", async () => {
    configure({ groups: ["ops"] }, { groupsFilters: ["^d"] });
    expect((await login(platform)).status).toBe(200);
    expect(platform.signedIn[0]!.identity.groups).toEqual(["dev"]);
  });

  test("145 uses claims of the UserInfo endpoint if configured, but none about the token", async () => {
    provider.claims = { preferred_username: "jane" };
    provider.userInfo = { groups: ["from-user-info"], email: "jane@info.example", iss: "https://evil.example", aud: "other", azp: "other" };
    await login(platform);
    configure({ getUserInfo: true });
    expect((await login(platform)).status).toBe(200);
    expect(platform.signedIn.map(({ identity }) => [identity.groups, identity.email])).toEqual([
      [[], undefined],
      [["from-user-info"], "jane@info.example"],
    ]);
  });

  test("145 is refused when the UserInfo endpoint describes another user", async () => {
    configure({ getUserInfo: true });
    provider.userInfo = { sub: "user-2" };
    expect((await login(platform)).status).toBe(401);
    expect(platform.signedIn).toEqual([]);
  });

  test("is refused by a port in the port's own words", async () => {
    const { forbiddenPath } = await import("../../../src/apiserver/types/status.ts");
    platform.ports = {
      ...platform.ports,
      signIn: async () => {
        throw forbiddenPath("users are not made here");
      },
    };
    expect(await login(platform)).toMatchObject({ status: 403, body: { message: "forbidden: users are not made here" } });
  });
});

describe("a token is refused", () => {
  const past = Math.floor(Date.now() / 1_000) - 600;
  test.each<[string, Lies]>([
    ["136 by another issuer", { claims: { iss: "https://evil.example" } }],
    ["137 for another client", { claims: { aud: "other" } }],
    ["137 for several clients, issued to another", { claims: { aud: [CLIENT_ID, "other"], azp: "other" } }],
    ["137 for several clients, issued to none", { claims: { aud: [CLIENT_ID, "other"] } }],
    ["of another login", { claims: { nonce: "another" } }],
    ["that has expired", { claims: { iat: past, exp: past + 300 } }],
    ["that holds later", { claims: { nbf: past + 1_200 } }],
    ["that is not signed", { signature: "none" }],
    ["that another party has signed", { signature: "foreign key" }],
    ["that is signed with the client's secret", { signature: "client secret" }],
  ])("%s", async (_, lies) => {
    provider.lies = lies;
    expect((await login(platform)).status).toBe(401);
    expect(platform.signedIn).toEqual([]);
    // The same login with an honest provider.
    provider.lies = {};
    expect((await login(platform)).status).toBe(200);
  });

  test("137 for this client, but issued to another", async () => {
    provider.lies = { claims: { azp: "other" } };
    expect(await login(platform)).toMatchObject({
      status: 403,
      body: { message: "forbidden: the token's azp claim does not name this client" },
    });
    provider.lies = { claims: { azp: CLIENT_ID, aud: [CLIENT_ID, "other"] } };
    expect((await login(platform)).status).toBe(200);
  });
});

test("no secret is in a log line", async () => {
  provider.lies = { claims: { nonce: "another" } };
  await login(platform);
  configure({ groups: ["admins"] });
  provider.lies = {};
  await login(platform);
  configure({ clientSecret: "wrong secret" });
  await login(platform);
  expect(platform.log).toHaveLength(3);
  const secrets = [
    CLIENT_SECRET,
    "wrong secret",
    'access"',
    "ey",
    ...provider.authorizations.flatMap((p) => [p.get("state")!, p.get("nonce")!]),
  ];
  expect(secrets.filter((secret) => platform.log.join("\n").includes(secret))).toEqual([]);
});
