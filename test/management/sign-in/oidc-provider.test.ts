/**
 * How OpenID Connect providers are called, and which, over HTTP and HTTPS. The numbers are rows of the checklist.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits/limits.ts";
import { createProviderFetch } from "../../../src/management/sign-in/oidc/provider-fetch.ts";
import type { OidcSettings } from "../../../src/management/sign-in/settings.ts";
import { login } from "./platform.ts";
import { startProvider, type Lies, type TestProvider } from "./provider.ts";
import { freshProvider, configure, platform, provider } from "./oidc-setting.ts";

freshProvider();

describe("a provider", () => {
  test.each<[string, Lies, OidcSettings]>([
    ["136 without a discovery document", { discovery: false }, {}],
    ["136 whose document names another issuer", { issuer: "https://other.example" }, {}],
    ["without an issuerUrl", {}, { issuerUrl: "" }],
    ["without a clientId", {}, { clientId: "" }],
    ["that is not there", {}, { issuerUrl: "http://127.0.0.1:1" }],
    ["over plain HTTP from elsewhere", {}, { issuerUrl: "http://id.example" }],
  ])("%s cannot be used", async (_, lies, more) => {
    provider.lies = lies;
    configure(more);
    expect((await login(platform)).status).toBe(503);
    expect(platform.log).toEqual([expect.stringMatching(/^A provider cannot be used for sign-in/)]);
  });

  test("is discovered once in a while, and again when its settings change or the last time failed", async () => {
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

  test("139 a token that another party has signed is refused even with insecureCa", async () => {
    configure({ issuerUrl: secure.issuer, insecureCa: true });
    secure.lies = { signature: "foreign key" };
    expect((await login(platform)).status).toBe(401);
  });
});

describe("what strangers see", () => {
  test("is not a path and no internal error of a provider that cannot be used; the log has them", async () => {
    configure({ issuerUrl: provider.issuer, caFile: "/srv/platform/none.pem" });
    const answer = await login(platform);
    expect([answer.status, answer.headers.get("x-content-type-options")]).toEqual([503, "nosniff"]);
    expect(JSON.stringify(answer.body)).not.toMatch(/srv|ENOENT|caFile/);
    expect(platform.log.join()).toContain("/srv/platform/none.pem");
  });

  test("is not what a provider told us about our client", async () => {
    configure({ issuerUrl: provider.issuer, clientSecret: "wrong" });
    expect(JSON.stringify((await login(platform)).body)).not.toContain("invalid_client");
    expect(platform.log.join()).toContain("invalid_client");
  });
});

test("every answer says what type it is and nothing else", async () => {
  const login = await fetch(`${platform.url}/auth/oidc/login`, { redirect: "manual" });
  const refused = await fetch(`${platform.url}/auth/password/login`, { method: "POST" });
  const told = [login, refused].map(({ status, headers }) => [status, headers.get("x-content-type-options")]);
  expect(told).toEqual([
    [302, "nosniff"],
    [415, "nosniff"],
  ]);
});

test("a redirectURI may have a query", async () => {
  configure({ issuerUrl: provider.issuer, redirectURI: `${platform.url}/auth/oidc/callback?tenant=a` });
  expect((await login(platform)).status).toBe(200);
});

describe("a request to a provider", () => {
  const get = { method: "GET", headers: {} };

  test("by plain HTTP is allowed only for this machine", async () => {
    await expect(createProviderFetch({})("http://192.0.2.1/keys", get)).rejects.toThrow("plain HTTP is allowed only for this machine");
  });

  test("ends with an answer that is too long", async () => {
    const keys = `${provider.issuer}/keys`;
    expect((await createProviderFetch({})(keys, get)).status).toBe(200);
    await expect(createProviderFetch({ answerBytesMax: 10 })(keys, get)).rejects.toThrow("the response is longer than 10 bytes");
  });

  test("ends when it takes too long", async () => {
    const signal = AbortSignal.abort();
    await expect(createProviderFetch({})(`${provider.issuer}/keys`, { ...get, signal })).rejects.toThrow("could not be reached");
  });
});
