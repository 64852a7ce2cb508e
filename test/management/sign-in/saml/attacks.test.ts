/**
 * The list of attacks on SAML: none signs a user in, each uses the login up, and the log says which rule refused it.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settingsOf } from "../doubles/cases.ts";
import { createBrowser, startPlatform, type TestPlatform } from "../platform.ts";
import { ATTACKS_ON_READING } from "./attacks-on-reading.ts";
import { ATTACKS_ON_SIGNATURES } from "./attacks-on-signatures.ts";
import { answerTo, encoded } from "./identity-provider.ts";
import { begin, bring, finish, SETTINGS, type Begun } from "./visitor.ts";

let platform: TestPlatform;
beforeEach(async () => void (platform = await startPlatform(settingsOf("saml", SETTINGS))));
afterEach(async () => {
  expect(platform.signedIn).toEqual([]);
  await platform.close();
});

/** The good answer no longer works. */
async function isUsedUp(begun: Begun): Promise<void> {
  expect((await finish(begun, answerTo(begun.request))).status).toBe(400);
}

test.each([...ATTACKS_ON_SIGNATURES, ...ATTACKS_ON_READING])("$number $name", async ({ rule, xml }) => {
  const begun = await begin(platform);
  const seen = await finish(begun, xml(begun.request));
  expect([401, 403], platform.log.join()).toContain(seen.status);
  expect(platform.log).toHaveLength(1);
  expect(JSON.parse(`"${rule}"`) === "" || platform.log[0]!.includes(rule), platform.log[0]).toBe(true);
  await isUsedUp(begun);
});

test("the list is whole", () => {
  const numbers = [...ATTACKS_ON_SIGNATURES, ...ATTACKS_ON_READING].flatMap(({ number }) => {
    const [from, to = from] = number.split("–").map(Number);
    return Number.isNaN(from) ? [] : Array.from({ length: to! - from! + 1 }, (_, index) => from! + index);
  });
  const here = [9, 67, 69, 70, 84, 85, 91, 92, 93, 94, 98];
  // Short keys are refused when the settings are used: see `login.test.ts`.
  const all = new Set([...numbers, ...here, 13]);
  expect(Array.from({ length: 98 }, (_, index) => index + 1).filter((number) => !all.has(number))).toEqual([]);
});

test("9 an ended certificate", async () => {
  platform.clock.jump(Date.UTC(2030, 0, 2) - platform.clock.now());
  const begun = await begin(platform);
  expect((await finish(begun, answerTo(begun.request))).status).toBe(401);
  expect(platform.log.join()).toContain("no certificate in the settings is valid now");
});

describe("67, 69 the field", () => {
  const good = (begun: Begun) => Buffer.from(answerTo(begun.request));
  test.each<[string, (begun: Begun) => string]>([
    ["no base64", () => "!!!!"],
    ["the alphabet of addresses", () => "_-__"],
    [
      "data behind the padding",
      (begun) => `${Buffer.concat([good(begun), Buffer.from("x".repeat(2 - (good(begun).length % 3)))]).toString("base64")}AAAA`,
    ],
    ["padding left out", () => "YQ"],
    ["bits behind the last byte", () => "YR=="],
    ["blanks", (begun) => ` ${good(begun).toString("base64")}`],
    ["UTF-16", (begun) => Buffer.from(good(begun).toString(), "utf16le").toString("base64")],
    ["bytes that are not UTF-8", (begun) => Buffer.concat([good(begun), Buffer.from([0xff])]).toString("base64")],
    [
      "an overlong form",
      (begun) => Buffer.from(good(begun).toString("latin1").replace("user-7", "\xc0\xafadmin"), "latin1").toString("base64"),
    ],
  ])("%s", async (_, field) => {
    const begun = await begin(platform);
    const seen = await bring(begun.request.redirectUri, { SAMLResponse: field(begun), RelayState: begun.relayState });
    expect([seen.status, platform.log.length]).toEqual([401, 1]);
    expect(platform.log[0]).toMatch(/not base64|not in UTF-8|character that is not allowed in XML/);
    await isUsedUp(begun);
  });
});

test("70 a field twice, or in the address", async () => {
  const begun = await begin(platform);
  const answer = new URLSearchParams({ SAMLResponse: encoded(answerTo(begun.request)), RelayState: begun.relayState }).toString();
  for (const [query, form] of [
    ["", `${answer}&SAMLResponse=AAAA`],
    ["", `${answer}&RelayState=x`],
    ["?SAMLResponse=AAAA", answer],
    ["?RelayState=x", answer],
    [`?${answer}`, ""],
  ] as const)
    expect((await bring(`${begun.request.redirectUri}${query}`, form)).status).toBe(400);
});

test("84 the same form twice", async () => {
  const begun = await begin(platform);
  const form = { SAMLResponse: encoded(answerTo(begun.request)), RelayState: begun.relayState };
  const [one, other] = await Promise.all([bring(begun.request.redirectUri, form), bring(begun.request.redirectUri, form)]);
  expect([one.status, other.status].sort()).toEqual([303, 400]);
});

test("85 an old answer to a new login", async () => {
  const [old, next] = [await begin(platform), await begin(platform)];
  expect((await finish(next, answerTo(old.request))).status).toBe(401);
  await isUsedUp(next);
});

test("91 the answer for one connector at another", async () => {
  platform.config = { ...platform.config, connectors: [{ id: "corp", saml: SETTINGS }] };
  const begun = await begin(platform);
  const address = begun.request.redirectUri.replace("/auth/saml/", "/auth/corp/");
  const seen = await bring(address, { SAMLResponse: encoded(answerTo(begun.request)), RelayState: begun.relayState });
  expect(seen.status).toBe(400);
  await isUsedUp(begun);
});

test("92 an attacker's answer in another user's browser", async () => {
  const begun = await begin(platform);
  const brought = await bring(begun.request.redirectUri, { SAMLResponse: encoded(answerTo(begun.request)), RelayState: begun.relayState });
  const victim = await begin(platform);
  expect((await victim.browser.visit(brought.location!)).status).toBe(400);
});

test("93 a RelayState that is none", async () => {
  const begun = await begin(platform);
  const SAMLResponse = encoded(answerTo(begun.request));
  for (const RelayState of ["https://evil.example/", "x".repeat(10_000), "__proto__", "", " ", "\0"]) {
    const seen = await bring(begun.request.redirectUri, { SAMLResponse, RelayState });
    expect([seen.status, seen.location]).toEqual([400, null]);
  }
  expect((await bring(begun.request.redirectUri, { SAMLResponse })).status).toBe(400);
});

test("98 answers in other ways", async () => {
  const begun = await begin(platform);
  const { redirectUri } = begun.request;
  const query = new URLSearchParams({ SAMLResponse: encoded(answerTo(begun.request)), RelayState: begun.relayState }).toString();
  expect((await begun.browser.visit(`${redirectUri}?${query}`)).status).toBe(400);
  expect((await begun.browser.visit(`${redirectUri}?SAMLart=x&RelayState=${begun.relayState}`)).status).toBe(400);
  expect((await bring(redirectUri, { SAMLart: "x", RelayState: begun.relayState })).status).toBe(400);
  expect((await bring(redirectUri, query, { "content-type": "application/json" })).status).toBe(415);
  expect((await fetch(redirectUri, { method: "PUT", body: "x" })).status).toBe(405);
  expect((await bring(redirectUri, `SAMLResponse=${"A".repeat(262_144)}&RelayState=x`)).status).toBe(413);
});

test("61, 62 nothing is fetched that a document names", async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  const begun = await begin(platform);
  const xml = `<!DOCTYPE r SYSTEM "${address}" [<!ENTITY e SYSTEM "${address}">]>${answerTo(begun.request, { how: { uri: address } }).replace("user-7", "&e;")}`;
  expect((await finish(begun, xml)).status).toBe(401);
  const next = await begin(platform);
  expect((await finish(next, answerTo(next.request, { how: { uri: address } }))).status).toBe(401);
  await new Promise((resolve) => server.close(resolve));
  expect(asked).toBe(0);
});

test("nothing of an answer but words of the standard is told to people", async () => {
  const begun = await begin(platform);
  const xml = answerTo(begun.request).replace("urn:oasis:names:tc:SAML:2.0:status:Success", "urn:x:&lt;b&gt;INNER");
  const seen = await bring(
    begun.request.redirectUri,
    { SAMLResponse: encoded(xml), RelayState: begun.relayState },
    { accept: "text/html" },
  );
  expect(seen.status).toBe(403);
  expect(seen.text).toContain("the provider did not sign you in: unknown status");
  expect(seen.text).not.toContain("INNER");
  expect((await createBrowser().visit(`${platform.url}/auth/saml/callback`)).status).toBe(400);
});
