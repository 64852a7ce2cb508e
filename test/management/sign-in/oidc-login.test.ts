/**
 * Login through an OpenID Connect provider that runs beside the test, over HTTP and HTTPS. The numbers are rows of the checklist.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits.ts";
import { createProviderFetch } from "../../../src/management/sign-in/provider-fetch.ts";
import type { OidcSettings, SignInSettings } from "../../../src/management/sign-in/settings.ts";
import { createBrowser, login, startPlatform } from "./platform.ts";
import type { TestPlatform } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "./provider.ts";
import type { Lies, TestProvider } from "./provider.ts";

let provider: TestProvider;
let platform: TestPlatform;

beforeEach(async () => {
  provider = await startProvider();
  platform = await startPlatform({ oidc: settings() });
});
afterEach(async () => {
  await Promise.all([provider.close(), platform.close()]);
});

function settings(more: OidcSettings = {}): OidcSettings {
  return { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...more };
}

function configure(oidc: OidcSettings, more: SignInSettings = {}): void {
  platform.config = { oidc: settings(oidc), ...more };
}

describe("a login", () => {
  test("129 ends with the key, once, and hands on who it is and the provider's tokens", async () => {
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
      status: 401,
      body: { message: "the provider's answer was not accepted: invalid_client" },
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

  test("130, 143 is refused to whoever is in none of the groups", async () => {
    configure({ groups: ["admins"] });
    expect(await login(platform)).toMatchObject({
      status: 403,
      body: { message: "forbidden: you are in none of the groups that may sign in" },
    });
    configure({ groups: ["ops"] });
    expect((await login(platform)).status).toBe(200);
    expect(platform.signedIn).toHaveLength(1);
  });

  test("128 hands on only groups that the filters let through, and decides by all of them", async () => {
    configure({ groups: ["ops"] }, { groupsFilters: ["^d"] });
    expect((await login(platform)).status).toBe(200);
    expect(platform.signedIn[0]!.identity.groups).toEqual(["dev"]);
  });

  test("145 takes claims of the UserInfo endpoint when asked to, but none about the token", async () => {
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

  test("145 is refused when the UserInfo endpoint speaks of somebody else", async () => {
    configure({ getUserInfo: true });
    provider.userInfo = { sub: "user-2" };
    expect((await login(platform)).status).toBe(401);
    expect(platform.signedIn).toEqual([]);
  });

  test("is told no by a port in the port's own words", async () => {
    const { forbiddenPath } = await import("../../../src/server/status.ts");
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
    ["137 for several clients, issued to nobody", { claims: { aud: [CLIENT_ID, "other"] } }],
    ["of another login", { claims: { nonce: "another" } }],
    ["that has expired", { claims: { iat: past, exp: past + 300 } }],
    ["that holds later", { claims: { nbf: past + 1_200 } }],
    ["that is not signed", { signature: "none" }],
    ["that somebody else has signed", { signature: "foreign key" }],
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
    expect(await login(platform)).toMatchObject({ status: 403, body: { message: "forbidden: the token was issued to another client" } });
    provider.lies = { claims: { azp: CLIENT_ID, aud: [CLIENT_ID, "other"] } };
    expect((await login(platform)).status).toBe(200);
  });
});

describe("a callback", () => {
  /** A login up to the point where the browser is sent back. */
  async function sentBack() {
    const browser = createBrowser();
    const begun = await browser.visit(`${platform.url}/auth/oidc/login`);
    const back = (await fetch(begun.location!, { redirect: "manual" })).headers.get("location")!;
    return { browser, back };
  }

  test("works once", async () => {
    const { browser, back } = await sentBack();
    const cookies = new Map(browser.cookies);
    expect((await browser.visit(back)).status).toBe(200);
    expect(browser.cookies.size).toBe(0);
    cookies.forEach((value, name) => browser.cookies.set(name, value));
    expect(await browser.visit(back)).toMatchObject({ status: 400, body: { message: expect.stringContaining("begin again") as unknown } });
    expect(platform.signedIn).toHaveLength(1);
  });

  test("works in the browser that began, and in no other", async () => {
    const { browser, back } = await sentBack();
    expect((await createBrowser().visit(back)).status).toBe(400);
    // Whoever tried has used it up.
    expect((await browser.visit(back)).status).toBe(400);

    const again = await sentBack();
    const forged = createBrowser();
    again.browser.cookies.forEach((value, name) => forged.cookies.set(name, "x".repeat(value.length)));
    expect((await forged.visit(again.back)).status).toBe(400);
    expect(platform.signedIn).toEqual([]);
  });

  test("works for two logins at one time in one browser", async () => {
    const browser = createBrowser();
    const begun = [await browser.visit(`${platform.url}/auth/oidc/login`), await browser.visit(`${platform.url}/auth/oidc/login`)];
    for (const { location } of begun) {
      const back = (await fetch(location!, { redirect: "manual" })).headers.get("location")!;
      expect((await browser.visit(back)).status).toBe(200);
    }
  });

  test("does not work with another state, nor through another connector, nor too late", async () => {
    const other = await sentBack();
    const url = new URL(other.back);
    url.searchParams.set("state", "x");
    expect((await other.browser.visit(url.href)).status).toBe(400);

    platform.config = { ...platform.config, connectors: [{ id: "corp", oidc: settings() }] };
    const crossed = await sentBack();
    expect((await crossed.browser.visit(crossed.back.replace("/auth/oidc/", "/auth/corp/"))).status).toBe(400);

    const late = await sentBack();
    await platform.clock.advance(SIGN_IN_LIMITS.pendingLifetimeMs);
    expect((await late.browser.visit(late.back)).status).toBe(400);
    expect(platform.signedIn).toEqual([]);
  });

  test("tells what the provider refused", async () => {
    const { browser, back } = await sentBack();
    const url = new URL(back);
    url.searchParams.delete("code");
    url.searchParams.set("error", "access_denied");
    expect(await browser.visit(url.href)).toMatchObject({
      status: 401,
      body: { message: "the provider's answer was not accepted: access_denied" },
    });
  });

  test("makes room for new logins when too many have begun", async () => {
    const small = await startPlatform(platform.config, { pendingMax: 1 });
    try {
      const [first, second] = [createBrowser(), createBrowser()];
      const begun = [await first.visit(`${small.url}/auth/oidc/login`), await second.visit(`${small.url}/auth/oidc/login`)];
      const back = await Promise.all(
        begun.map(async ({ location }) => (await fetch(location!, { redirect: "manual" })).headers.get("location")!),
      );
      expect((await first.visit(back[0]!)).status).toBe(400);
      expect((await second.visit(back[1]!)).status).toBe(200);
    } finally {
      await small.close();
    }
  });

  test("is refused for a while when too many begin within a minute", async () => {
    const small = await startPlatform(platform.config, { beginsPerMinute: 2 });
    try {
      const begin = async () => (await createBrowser().visit(`${small.url}/auth/oidc/login`)).status;
      expect([await begin(), await begin()]).toEqual([302, 302]);
      const refused = await createBrowser().visit(`${small.url}/auth/oidc/login`);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
      await small.clock.advance(60_000);
      expect(await begin()).toBe(302);
    } finally {
      await small.close();
    }
  });

  test("is never pushed out by others that begin before it may end, by default", () => {
    const { beginsPerMinute, pendingLifetimeMs, pendingMax } = SIGN_IN_LIMITS;
    // A minute of refusals may begin at any time within the first one.
    expect(beginsPerMinute * (pendingLifetimeMs / 60_000 + 1)).toBeLessThanOrEqual(pendingMax);
  });

  test("has a cookie that scripts and other sites do not get", async () => {
    const { headers } = await createBrowser().visit(`${platform.url}/auth/oidc/login`);
    expect(headers.get("set-cookie")).toMatch(/^sign-in-[0-9a-f]{16}=[\w-]{43}; Path=\/auth\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  });
});

describe("a provider", () => {
  test.each<[string, Lies, OidcSettings]>([
    ["136 without a discovery document", { discovery: false }, {}],
    ["136 whose document names another issuer", { issuer: "https://other.example" }, {}],
    ["without an issuerUrl", {}, { issuerUrl: "" }],
    ["without a clientId", {}, { clientId: "" }],
    ["that is not there", {}, { issuerUrl: "http://127.0.0.1:1" }],
    ["over plain HTTP from elsewhere", {}, { issuerUrl: "http://id.example" }],
  ])("%s can not be used", async (_, lies, more) => {
    provider.lies = lies;
    configure(more);
    expect((await login(platform)).status).toBe(503);
    expect(platform.log).toEqual([expect.stringMatching(/^A provider can not be used for sign-in/)]);
  });

  test("is discovered once in a while, and anew when its settings change or the last time failed", async () => {
    await login(platform);
    await login(platform);
    expect(provider.discoveries).toBe(1);
    configure({ scopes: ["groups"] });
    await login(platform);
    expect(provider.discoveries).toBe(2);
    await platform.clock.advance(SIGN_IN_LIMITS.discoveryLifetimeMs);
    provider.lies = { discovery: false };
    await login(platform);
    provider.lies = {};
    expect((await login(platform)).status).toBe(200);
    expect(provider.discoveries).toBe(4);
  });
});

describe("a provider with a certificate of its own authority", () => {
  let folder: string;
  let secure: TestProvider;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "sign-in-"));
    secure = await startProvider({ tls: true });
    writeFileSync(join(folder, "ca.pem"), secure.caPem);
    writeFileSync(join(folder, "other.pem"), (await otherAuthority()).caPem);
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await secure.close();
  });

  async function otherAuthority() {
    const other = await startProvider({ tls: true });
    await other.close();
    return other;
  }

  test.each<[string, (folder: string) => OidcSettings, number]>([
    ["caFile", (path) => ({ caFile: join(path, "ca.pem") }), 200],
    ["insecureCa", () => ({ insecureCa: true }), 200],
    ["neither", () => ({}), 503],
    ["the authority of another", (path) => ({ caFile: join(path, "other.pem") }), 503],
    ["a caFile that is not there", (path) => ({ caFile: join(path, "none.pem") }), 503],
  ])("139 with %s", async (_, more, status) => {
    configure({ issuerUrl: secure.issuer, ...more(folder) });
    expect((await login(platform)).status).toBe(status);
  });

  test("139 a token that somebody else has signed is refused even with insecureCa", async () => {
    configure({ issuerUrl: secure.issuer, insecureCa: true });
    secure.lies = { signature: "foreign key" };
    expect((await login(platform)).status).toBe(401);
  });
});

describe("asking a provider", () => {
  const get = { method: "GET", headers: {} };

  test("by plain HTTP is for this machine only", async () => {
    await expect(createProviderFetch({})("http://192.0.2.1/keys", get)).rejects.toThrow("plain HTTP is for this machine only");
  });

  test("ends with an answer that is too long", async () => {
    const keys = `${provider.issuer}/keys`;
    expect((await createProviderFetch({})(keys, get)).status).toBe(200);
    await expect(createProviderFetch({ answerBytesMax: 10 })(keys, get)).rejects.toThrow("the answer is longer than 10 bytes");
  });

  test("ends when it takes too long", async () => {
    const signal = AbortSignal.abort();
    await expect(createProviderFetch({})(`${provider.issuer}/keys`, { ...get, signal })).rejects.toThrow("could not be asked");
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
