/**
 * What the sign-in endpoints share: paths, methods, headers; the way back to a program; logout.
 */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { headerProblem } from "../../../src/management/config/custom-headers.ts";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits/limits.ts";
import { createBrowser, login, PASSWORD, post, startPlatform, type TestPlatform } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";

let provider: TestProvider;
let platform: TestPlatform;

beforeEach(async () => {
  provider = await startProvider();
  platform = await startPlatform({ oidc: { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET } });
});
afterEach(async () => {
  await Promise.all([provider.close(), platform.close()]);
});

describe("customHttpHeaders", () => {
  beforeEach(() => {
    const customHttpHeaders = {
      "X-My-Header": "my-value",
      "Strict-Transport-Security": "max-age=1",
      "Set-Cookie": "evil=1",
      "Content-Length": "1",
      "Transfer-Encoding": "chunked",
      "Cache-Control": "public",
      "X-Split": "a\r\nX-Evil: 1",
    };
    platform.config = { ...platform.config, saml: {}, customHttpHeaders };
  });

  test.each<[string, () => Promise<{ status: number; headers: Headers }>, number]>([
    ["a key", () => post(`${platform.url}/auth/password/login`, { username: "jane", password: PASSWORD }), 200],
    ["a wrong password", () => post(`${platform.url}/auth/password/login`, { username: "jane", password: "x" }), 401],
    ["the way to the provider", () => createBrowser().visit(`${platform.url}/auth/oidc/login`), 302],
    ["the way back", () => login(platform), 200],
    ["a broken way back", () => createBrowser().visit(`${platform.url}/auth/oidc/callback`), 400],
    ["a provider that is not live", () => createBrowser().visit(`${platform.url}/auth/saml/login`), 404],
    ["an exchange", () => post(`${platform.url}/auth/exchange`, { code: "x", code_verifier: "y" }), 401],
    ["a logout", () => post(`${platform.url}/auth/logout`, {}, { authorization: "Bearer key-1" }), 200],
  ])("127 are on the answer with %s", async (_, ask, status) => {
    const seen = await ask();
    expect(seen.status).toBe(status);
    expect(seen.headers.get("x-my-header")).toBe("my-value");
    expect(seen.headers.get("strict-transport-security")).toBe("max-age=1");
    expect(seen.headers.get("cache-control")).toBe("no-store");
    expect(seen.headers.get("set-cookie") ?? "").not.toContain("evil");
    expect(seen.headers.has("x-split")).toBe(false);
    expect(seen.headers.has("x-evil")).toBe(false);
  });

  test("127 are on no other path", async () => {
    const { status, headers } = await createBrowser().visit(`${platform.url}/other`);
    expect([status, headers.has("x-my-header")]).toEqual([404, false]);
  });

  test.each([
    ["X-My-Header", "my-value", true],
    ["set-COOKIE", "a=b", false],
    ["Connection", "close", false],
    ["Location", "https://evil.example", false],
    ["X My Header", "a", false],
    ["X-My-Header", "a\nb", false],
  ])("127 %s: %j can be set: %s", (name, value, possible) => {
    expect(headerProblem(name, value) === undefined).toBe(possible);
  });
});

describe("paths", () => {
  test.each(["/auth", "/auth/", "/auth/login", "/auth/a/b/login", "/auth/oidc/other", "/kubernetes", "/auth/oidc/login/"])(
    "%s is not an endpoint of sign-in",
    async (path) => {
      const answer = await fetch(`${platform.url}${path}`);
      expect([answer.status, await answer.text()]).toEqual([404, "another server's"]);
    },
  );

  test.each(["none", "%ff", "constructor", "password"])("there is no connector %s", async (id) => {
    const seen = await createBrowser().visit(`${platform.url}/auth/${id}/callback`);
    expect(seen).toMatchObject({ status: 404, body: { kind: "Status", reason: "NotFound" } });
  });

  test.each([
    ["GET", "/auth/password/login", "POST"],
    ["GET", "/auth/exchange", "POST"],
    ["GET", "/auth/logout", "POST"],
    ["POST", "/auth/oidc/login", "GET"],
    ["POST", "/auth/oidc/callback", "GET"],
  ])("%s %s is not allowed, %s is", async (method, path, allowed) => {
    const answer = await fetch(`${platform.url}${path}`, { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allowed]);
  });
});

describe("a program that waits on the user's machine", () => {
  const verifier = "v".repeat(43);
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = (redirect: string, more = `&code_challenge=${challenge}`) => `?redirect=${encodeURIComponent(redirect)}${more}`;
  const waiting = "http://127.0.0.1:8000/done?mine=1";

  /** Logs in, and returns where the browser is sent in the end. */
  async function sent(): Promise<URL> {
    const seen = await login(platform, { query: query(waiting) });
    expect(seen.status).toBe(302);
    return new URL(seen.location!);
  }

  test("gets a code by the browser, and the key for the code", async () => {
    const url = await sent();
    expect([url.origin, url.pathname, url.searchParams.get("mine")]).toEqual(["http://127.0.0.1:8000", "/done", "1"]);
    // There is no key before the exchange.
    expect(platform.signedIn).toEqual([]);
    const code = url.searchParams.get("code")!;
    const seen = await post(`${platform.url}/auth/exchange`, { code, code_verifier: verifier });
    expect(seen).toMatchObject({ status: 200, body: { accessKey: "key-1", name: "login-1" } });
    expect(seen.headers.get("cache-control")).toBe("no-store");
    expect(platform.signedIn[0]).toMatchObject({ identity: { username: "jane" }, tokens: { accessToken: "access" } });
    expect((await post(`${platform.url}/auth/exchange`, { code, code_verifier: verifier })).status).toBe(401);
  });

  test("gets nothing with another verifier, and the code is used up", async () => {
    const code = (await sent()).searchParams.get("code")!;
    expect((await post(`${platform.url}/auth/exchange`, { code, code_verifier: "w".repeat(43) })).status).toBe(401);
    expect((await post(`${platform.url}/auth/exchange`, { code, code_verifier: verifier })).status).toBe(401);
    expect(platform.signedIn).toEqual([]);
  });

  test("gets nothing too late", async () => {
    const code = (await sent()).searchParams.get("code")!;
    await platform.clock.advance(SIGN_IN_LIMITS.codeLifetimeMs);
    expect((await post(`${platform.url}/auth/exchange`, { code, code_verifier: verifier })).status).toBe(401);
  });

  test("learns of a refusal", async () => {
    platform.config = { oidc: { ...platform.config.oidc, groups: ["admins"] } };
    const url = await sent();
    expect(url.searchParams.get("error")).toBe("access_denied");
    expect(url.searchParams.get("error_description")).toBe("forbidden: none of your groups is allowed to sign in");
    expect(url.searchParams.has("code")).toBe(false);
  });

  test.each(["http://127.0.0.1:8000/", "http://[::1]:8000/done", "http://0x7f000001:8000/"])("may wait at %s", async (redirect) => {
    const seen = await createBrowser().visit(`${platform.url}/auth/oidc/login${query(redirect)}`);
    expect(seen.location).toMatch(provider.issuer);
  });

  test.each([
    "https://evil.example/",
    "http://evil.example:8000/",
    "https://127.0.0.1:8000/",
    "http://127.0.0.1/",
    "http://localhost:8000/",
    "http://127.0.0.1.evil.example:8000/",
    "http://127.0.0.1:8000@evil.example/",
    "http://evil.example\\@127.0.0.1:8000/",
    "http://user@127.0.0.1:8000/",
    "http://127.0.0.1:8000/#part",
    "//evil.example",
    "/done",
    "javascript:alert(1)",
    "",
    `http://127.0.0.1:8000/${"x".repeat(2_000)}`,
  ])("may not wait at %s", async (redirect) => {
    const seen = await createBrowser().visit(`${platform.url}/auth/oidc/login${query(redirect)}`);
    expect([seen.status, seen.location]).toEqual([400, null]);
  });

  test.each(["", "&code_challenge=short", `&code_challenge=${challenge}&code_challenge_method=plain`])(
    "has to give a challenge, not %j",
    async (more) => {
      expect((await createBrowser().visit(`${platform.url}/auth/oidc/login${query(waiting, more)}`)).status).toBe(400);
    },
  );
});

describe("logout", () => {
  test("138 ends the key and returns the address that ends the provider's session", async () => {
    platform.config = { oidc: { ...platform.config.oidc, postLogoutRedirectURI: "https://p.example/bye" } };
    const { status, body } = await post(`${platform.url}/auth/logout`, {}, { authorization: "bearer key-1" });
    expect([status, platform.signedOut]).toEqual([200, ["key-1"]]);
    const url = new URL(body["logoutURL"] as string);
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/logout`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: CLIENT_ID,
      id_token_hint: "id-token",
      post_logout_redirect_uri: "https://p.example/bye",
    });
  });

  test("ends a key from a password, or from a connector that is gone", async () => {
    platform.config = {};
    expect(await post(`${platform.url}/auth/logout`, {}, { authorization: "Bearer key-1" })).toMatchObject({ status: 200, body: {} });
  });

  test("succeeds while the provider cannot be reached, because the key has ended", async () => {
    provider.lies = { discovery: false };
    const { status, body } = await post(`${platform.url}/auth/logout`, {}, { authorization: "Bearer key-1" });
    expect([status, body]).toEqual([200, {}]);
    expect(platform.signedOut).toEqual(["key-1"]);
    expect(platform.log.at(-1)).toContain("cannot be ended");
  });

  test("gives the ID token of a former provider to no other provider", async () => {
    const place = "oidc https://former.example";
    platform.ports = { ...platform.ports, signOut: async () => ({ connector: "oidc", place, idToken: "id-token" }) };
    const { status, body } = await post(`${platform.url}/auth/logout`, {}, { authorization: "Bearer key-1" });
    expect([status, body]).toEqual([200, {}]);
  });

  test.each([undefined, "Basic key-1", "Bearer", "Bearer other"])("knows no login by %j", async (authorization) => {
    expect((await post(`${platform.url}/auth/logout`, {}, authorization === undefined ? {} : { authorization })).status).toBe(401);
    expect(platform.signedOut).toEqual([]);
  });
});

test("an internal error is answered without its text, which the log has", async () => {
  platform.ports = { ...platform.ports, signIn: () => Promise.reject(new Error("disk on fire")) };
  expect(await login(platform)).toMatchObject({ status: 500, body: { message: "Internal error occurred" } });
  expect(platform.log.at(-1)).toContain("disk on fire");
});
