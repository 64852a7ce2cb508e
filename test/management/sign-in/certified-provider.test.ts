/**
 * OpenID Connect with `oidc-provider`, which others wrote and had certified: from the page of the platform through the provider's own pages to
 * a key, and what becomes of the key.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { names } from "../platform.ts";
import { createVisitor, startCertifiedProvider, type CertifiedOptions, type CertifiedProvider } from "./doubles/certified-provider.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { createBrowser, post, type Seen } from "./platform.ts";
import { after, begin, configure, ended, groupsOf, MINUTE_MS, platform, stopAfterEach, type Login } from "./refresh-setting.ts";

const FIELDS = { login: "u-1", password: "any" };
const SCOPES = ["profile", "email", "groups"];
const OFFLINE = { scopes: [...SCOPES, "offline_access"], prompt: "consent" };

let provider: CertifiedProvider;
let visitor: ReturnType<typeof createVisitor>;

stopAfterEach();
beforeEach(() => begin({}));
afterEach(() => provider.close());

const callback = () => `${platform.management.url}/auth/oidc/callback`;
const home = () => `${platform.management.url}/login`;

/** A provider where jane has an account, and its section. */
async function start(section: object = {}, options: Partial<CertifiedOptions> = {}): Promise<void> {
  visitor = createVisitor();
  provider = await startCertifiedProvider({ redirectUris: [callback()], postLogoutRedirectUris: [home()], ...options });
  provider.people.set("u-1", { preferred_username: "jane", email: "jane@acme.example", email_verified: true, groups: ["dev", "ops"] });
  await use(section);
}

async function use(section: object): Promise<void> {
  const client = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
  await configure({ oidc: { issuerUrl: provider.issuer, ...client, scopes: SCOPES, postLogoutRedirectURI: home(), ...section } });
}

/** A change on the way to the provider, or on the way back. */
interface Changes {
  readonly there?: (url: URL) => void;
  readonly back?: (url: URL) => void;
}

/** From the platform's page to its answer; `pages` are those that the provider showed. */
async function visit({ there = () => {}, back = () => {} }: Changes = {}): Promise<Seen & { readonly pages: readonly string[] }> {
  const browser = createBrowser();
  const page = await browser.visit(home());
  const link = /href="([^"]*\/auth\/oidc\/login[^"]*)"/.exec(page.text)![1]!;
  const begun = await browser.visit(new URL(link, home()).href);
  const [to, pages] = [new URL(begun.location!), [] as string[]];
  there(to);
  const seen = await visitor.visit(to.href, FIELDS);
  pages.push(...seen.pages);
  const from = new URL(seen.back);
  expect(from.href.startsWith(callback())).toBe(true);
  back(from);
  return { ...(await browser.visit(from.href)), pages };
}

async function signIn(): Promise<Login> {
  const { status, text, body } = await visit();
  expect({ status, text }).toMatchObject({ status: 200 });
  return { ...platform.as(String(body["accessKey"])), name: String(body["name"]) };
}

const reads = async (login: Login) => (await login.send("GET", "/teams")).code === 200;
const noKeyWasMade = async () =>
  expect(names(await platform.admin.send("GET", "/ownedaccesskeys")).filter((name) => name.startsWith("login-"))).toEqual([]);

describe("a login", () => {
  test("129 ends with a key that reads teams, and the provider has seen PKCE, state and nonce", async () => {
    await start();
    const login = await signIn();
    expect(await reads(login)).toBe(true);
    expect(await groupsOf(login)).toEqual(["dev", "ops"]);
    const [, asked] = provider.asked.find(([path]) => path === "/auth")!;
    expect(asked.get("code_challenge_method")).toBe("S256");
    for (const name of ["code_challenge", "state", "nonce"]) expect(asked.get(name)).toMatch(/^[\w-]{43}$/);
  });

  test("shows the provider's pages the first time, and those that `prompt` asks for at any time", async () => {
    await start();
    expect((await visit()).pages).toEqual(["Sign-in", "Authorize"]);
    expect((await visit()).pages).toEqual([]);
    await use({ prompt: "login" });
    expect((await visit()).pages).toEqual(["Sign-in"]);
    await use({ prompt: "consent" });
    expect((await visit()).pages).toEqual(["Authorize"]);
  });

  test.each(["RS256", "PS256", "ES256", "EdDSA"])("takes a token that is signed by %s", async (alg) => {
    await start({}, { client: { id_token_signed_response_alg: alg } });
    expect(await reads(await signIn())).toBe(true);
  });

  test("takes no token that is signed by the client's secret", async () => {
    await start({}, { client: { id_token_signed_response_alg: "HS256" } });
    expect((await visit()).status).toBe(401);
    await noKeyWasMade();
  });

  test.each(["client_secret_basic", "client_secret_post"])("138 proves who the client is by %s", async (method) => {
    await start({}, { client: { token_endpoint_auth_method: method }, clientAuthMethods: [method] });
    expect(await reads(await signIn())).toBe(true);
  });

  test("of a client without a secret is proved by PKCE alone", async () => {
    await start({ clientSecret: "" }, { client: { client_secret: undefined, token_endpoint_auth_method: "none" } });
    expect(await reads(await signIn())).toBe(true);
  });

  test("145 has the groups of the UserInfo endpoint where the ID token has none", async () => {
    await start({ getUserInfo: true, groups: ["ops"] }, { isStrict: true });
    expect(await groupsOf(await signIn())).toEqual(["dev", "ops"]);
    await use({ groups: ["ops"] });
    expect((await visit()).status).toBe(403);
  });

  test.each(["/me", "/jwks", "/token"])("130 signs in no one while %s does not answer", async (path) => {
    await start({ getUserInfo: true, groups: ["ops"] }, { isStrict: true });
    provider.broken.add(path);
    expect((await visit()).status).toBeGreaterThanOrEqual(401);
    await noKeyWasMade();
  });

  test("143 is refused to a user who is in none of the groups", async () => {
    await start({ groups: ["payroll"] });
    expect((await visit()).status).toBe(403);
    await noKeyWasMade();
  });
});

describe("what a browser changes on its way", () => {
  test.each<[string, Changes]>([
    ["another nonce", { there: (url) => url.searchParams.set("nonce", "x".repeat(43)) }],
    ["no nonce", { there: (url) => url.searchParams.delete("nonce") }],
    ["another challenge", { there: (url) => url.searchParams.set("code_challenge", "x".repeat(43)) }],
    ["another state", { there: (url) => url.searchParams.set("state", "x".repeat(43)) }],
    ["no openid among the scopes", { there: (url) => url.searchParams.set("scope", "profile") }],
    ["another issuer", { back: (url) => url.searchParams.set("iss", "https://evil.example") }],
    ["no issuer", { back: (url) => url.searchParams.delete("iss") }],
    ["another code", { back: (url) => url.searchParams.set("code", "x".repeat(43)) }],
  ])("%s signs in no one", async (_, change) => {
    await start();
    expect((await visit(change)).status).toBeGreaterThanOrEqual(400);
    await noKeyWasMade();
  });

  test("a code of another login signs in no one", async () => {
    await start();
    let stolen = "";
    const first = await visit({
      back: (url) => {
        stolen = url.searchParams.get("code")!;
        url.searchParams.set("code", "x");
      },
    });
    const second = await visit({ back: (url) => url.searchParams.set("code", stolen) });
    expect([first.status, second.status]).toEqual([401, 401]);
    await noKeyWasMade();
  });

  test("the user's refusal is reported as that", async () => {
    await start();
    const browser = createBrowser();
    const begun = await browser.visit(`${platform.management.url}/auth/oidc/login`);
    const { back } = await visitor.visit(begun.location!, FIELDS, { refuses: true });
    const seen = await browser.visit(back);
    expect([seen.status, seen.text]).toEqual([403, expect.stringContaining("access_denied")]);
  });
});

describe("afterwards", () => {
  test("groups are looked at again, with a refresh token that is good for one use", async () => {
    await start({ ...OFFLINE, groups: ["ops"] });
    const login = await signIn();
    for (const groups of [["ops"], ["ops", "night"], ["ops"]]) {
      provider.people.set("u-1", { preferred_username: "jane", groups });
      expect(await after(login)).toBe(200);
      expect(await groupsOf(login)).toEqual(groups);
    }
    const used = provider.asked.filter(([path]) => path === "/token").map(([, sent]) => sent.get("refresh_token"));
    expect(used[0]).toBeNull();
    expect(new Set(used.slice(1)).size).toBe(used.length - 1);
    expect(used.length).toBeGreaterThanOrEqual(4);
    provider.people.set("u-1", { preferred_username: "jane", groups: ["dev"] });
    expect(await after(login)).toBe(401);
  });

  test("groups of the UserInfo endpoint are looked at again there", async () => {
    await start({ ...OFFLINE, getUserInfo: true }, { isStrict: true });
    const login = await signIn();
    provider.people.set("u-1", { preferred_username: "jane", groups: ["night"] });
    expect(await after(login)).toBe(200);
    expect(await groupsOf(login)).toEqual(["night"]);
  });

  test("an account that is gone ends the key, with the reason in the audit log", async () => {
    await start(OFFLINE);
    const login = await signIn();
    provider.people.delete("u-1");
    expect(await after(login)).toBe(401);
    expect(ended()).toEqual([["delete", login.name, expect.stringContaining("invalid_grant")]]);
  });

  test("without prompt: consent this provider gives no refresh token, and the key stays until its end", async () => {
    await start({ scopes: OFFLINE.scopes });
    const login = await signIn();
    provider.people.delete("u-1");
    expect(await after(login)).toBe(200);
  });
});

describe("a refresh token that was replaced", () => {
  test.each([
    ["the UserInfo endpoint", "/me", () => Promise.resolve()],
    ["the endpoint of keys", "/jwks", () => provider.rotateKeys("gone")],
  ])("is kept, while %s does not answer", async (_, path, prepare) => {
    await start({ ...OFFLINE, getUserInfo: true }, { isStrict: true });
    const login = await signIn();
    await prepare();
    provider.broken.add(path);
    expect(await after(login)).toBe(200);
    provider.broken.clear();
    provider.people.set("u-1", { preferred_username: "jane", groups: ["night"] });
    expect(await after(login, 60 * MINUTE_MS)).toBe(200);
    expect(await groupsOf(login)).toEqual(["night"]);
  });
});

describe("a rotated key set", () => {
  test.each(["published", "gone"] as const)("is found, where the old keys are %s: for sign-ins and for keys that exist", async (old) => {
    await start(OFFLINE);
    const login = await signIn();
    await provider.rotateKeys(old);
    visitor = createVisitor();
    expect(await reads(await signIn())).toBe(true);
    provider.people.set("u-1", { preferred_username: "jane", groups: ["night"] });
    expect(await after(login)).toBe(200);
    expect(await groupsOf(login)).toEqual(["night"]);
  });
});

describe("a session that is over", () => {
  const signOut = (login: Login) => post(`${platform.management.url}/auth/logout`, {}, { authorization: `Bearer ${login.key}` });

  test("138 by the platform: the provider asks, ends its own, and sends the browser to postLogoutRedirectURI", async () => {
    await start();
    const login = await signIn();
    const { status, body } = await signOut(login);
    expect([status, await reads(login)]).toEqual([200, false]);
    const { back } = await visitor.visit(String(body["logoutURL"]), { logout: "yes" });
    expect(back).toBe(home());
    expect((await visit()).pages[0]).toBe("Sign-in");
  });

  test("at the provider ends the keys whose refresh token was part of it", async () => {
    await start({}, { refreshes: "all" });
    const login = await signIn();
    expect(await after(login)).toBe(200);
    await visitor.visit(`${provider.issuer}/session/end`, { logout: "yes" }, { until: "Signed out" });
    expect(await after(login)).toBe(401);
    expect((await visit()).pages[0]).toBe("Sign-in");
  });

  test("at the provider leaves keys that were to work offline", async () => {
    await start(OFFLINE);
    const login = await signIn();
    await visitor.visit(`${provider.issuer}/session/end`, { logout: "yes" }, { until: "Signed out" });
    expect(await after(login)).toBe(200);
  });
});
