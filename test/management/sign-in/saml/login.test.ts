/**
 * Signing in by SAML from the first page to the key: what is sent, what is taken, and in which browser.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settingsOf } from "../doubles/cases.ts";
import { createBrowser, startPlatform, type TestPlatform } from "../platform.ts";
import { createSigner, FOREIGN, OWN, pemOf } from "./certificates.ts";
import { answerTo, assertionFor, at, encoded, responseWith, signed, SSO_URL } from "./identity-provider.ts";
import { begin, bring, finish, SETTINGS, signInAs } from "./visitor.ts";

let platform: TestPlatform;
beforeEach(async () => void (platform = await startPlatform(settingsOf("saml", SETTINGS))));
afterEach(() => platform.close());

const configure = (more: object, connector?: string) => void (platform.config = settingsOf("saml", { ...SETTINGS, ...more }, connector));

describe("the request", () => {
  test("is a form for the provider, which works without scripts", async () => {
    const { page, xml, request, relayState } = await begin(platform);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(`<form method="post" action="${SSO_URL}" id="leave">`)]);
    expect(page.text).toContain('<button type="submit">Continue</button>');
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https://id.example;".slice(0, -1));
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    expect(request.redirectUri).toBe(`${platform.url}/auth/saml/callback`);
    expect(relayState).toMatch(/^[\w-]{43}$/);
    expect(request.id).toMatch(/^_[\w-]{43}$/);
    expect(request.id).not.toContain(relayState);
    const callback = `AssertionConsumerServiceURL="${request.redirectUri}" ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"`;
    expect(xml).toBe(
      `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${request.id}" Version="2.0" ` +
        `IssueInstant="2026-01-01T00:00:00.000Z" Destination="${SSO_URL}" ${callback}>` +
        '<samlp:NameIDPolicy AllowCreate="true" Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"/></samlp:AuthnRequest>',
    );
  });

  test("names who asks and which names it wants, and escapes what the settings say", async () => {
    configure({
      entityIssuer: '<&">',
      nameIDPolicyFormat: "urn:x",
      ssoURL: "https://id.example/sso?a=1&b=%22",
      redirectURI: `${platform.url}/auth/saml/callback?x=1&y=2`,
    });
    const { xml, page } = await begin(platform);
    expect(xml).toContain('<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">&lt;&amp;&quot;&gt;</saml:Issuer>');
    expect(xml).toContain('Format="urn:x"');
    expect(xml).toContain("?x=1&amp;y=2");
    expect(page.text).toContain('action="https://id.example/sso?a=1&amp;b=%22"');
  });

  test.each([
    ["http://id.example/sso", 503],
    ["javascript:alert(1)", 503],
    ["https://id.example;sandbox/sso", 503],
    ["https://jane:secret@id.example/sso", 503],
    ["http://127.0.0.1:1/sso", 200],
    ["", 404],
  ])("with the ssoURL %j is %i", async (ssoURL, status) => {
    configure({ ssoURL });
    expect((await begin(platform)).page.status).toBe(status);
  });

  test("is not live with names that do not identify a returning user", async () => {
    configure({ nameIDPolicyFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" });
    expect((await begin(platform)).page.status).toBe(503);
    expect(platform.log.join()).toContain("a transient NameID differs at each sign-in");
  });

  test("metadata say what the provider's administrator has to enter", async () => {
    configure({ entityIssuer: "platform" });
    const { status, headers, text } = await createBrowser().visit(`${platform.url}/auth/saml/metadata`);
    expect([status, headers.get("content-type")]).toEqual([200, "application/samlmetadata+xml"]);
    expect(text).toContain('entityID="platform"');
    expect(text).toContain(`Location="${platform.url}/auth/saml/callback"`);
    platform.config = { oidc: { issuerUrl: "https://x.example", clientId: "a" } };
    expect((await createBrowser().visit(`${platform.url}/auth/oidc/metadata`)).status).toBe(404);
  });
});

describe("a good answer", () => {
  test.each(["A", "R", "AR"] as const)("signed as %s signs in", async (by) => {
    const begun = await begin(platform);
    const seen = await finish(begun, answerTo(begun.request, { by }));
    expect([seen.status, platform.log]).toEqual([200, []]);
    expect(seen.body).toMatchObject({ accessKey: "key-1" });
    expect(platform.signedIn[0]!.identity).toMatchObject({
      ...{ userId: "user-7", username: "jane", email: "jane@acme.example", groups: ["dev", "ops"], connector: "saml" },
      ...{ place: "saml https://id.example", endsAtMs: platform.clock.now() + 30 * 24 * 3_600_000 },
    });
    expect(platform.signedIn[0]!.identity).not.toHaveProperty("emailVerified");
  });

  test.each([
    ["sha512", { digestMethod: "http://www.w3.org/2001/04/xmlenc#sha512", digestHash: "sha512" }],
    ["rsa-sha512", { method: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512", hash: "sha512" }],
    [
      "a certificate in KeyInfo, which is not read",
      { after: "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>AAAA</ds:X509Certificate></ds:X509Data></ds:KeyInfo>" },
    ],
  ])("with %s signs in", async (_, how) => {
    const begun = await begin(platform);
    expect((await finish(begun, answerTo(begun.request, { how, by: "AR" }))).status).toBe(200);
  });

  test("may be broken into lines, be declared, and have line ends of two characters", async () => {
    const begun = await begin(platform);
    const xml = `<?xml version="1.0" encoding="UTF-8"?>\r\n${answerTo(begun.request)}\r\n`;
    const lines = encoded(xml)
      .match(/.{1,76}/g)!
      .join("\r\n");
    const brought = await bring(begun.request.redirectUri, { SAMLResponse: lines, RelayState: begun.relayState });
    expect([brought.status, platform.log]).toEqual([303, []]);
  });

  test("need not have a destination where the assertion alone is signed", async () => {
    const begun = await begin(platform);
    const xml = answerTo(begun.request).replace(/ Destination="[^"]*"/, "");
    expect((await finish(begun, xml)).status).toBe(200);
  });

  test("says when the key ends", async () => {
    const begun = await begin(platform);
    const sessionEnd = at(begun.request, 3_600);
    expect((await finish(begun, answerTo(begun.request, { person: { sessionEnd } }))).status).toBe(200);
    expect(platform.signedIn[0]!.identity.endsAtMs).toBe(Date.parse(sessionEnd));
  });

  test.each([29, -29])("is taken by a clock that differs by %i seconds", async (seconds) => {
    const begun = await begin(platform);
    const request = { ...begun.request, nowMs: begun.request.nowMs + (seconds > 0 ? 60 + seconds : -300 + seconds + 1) * 1_000 };
    const outcome = await finish(begun, answerTo(request));
    expect([outcome.status, platform.log]).toEqual([200, []]);
  });
});

describe("the browser", () => {
  test("that began the sign-in is the only one that gets the key", async () => {
    const begun = await begin(platform);
    const brought = await bring(begun.request.redirectUri, {
      SAMLResponse: encoded(answerTo(begun.request)),
      RelayState: begun.relayState,
    });
    expect(brought.status).toBe(303);
    expect(brought.location).toMatch(new RegExp(`^${begun.request.redirectUri}\\?saml=[\\w-]{43}$`));
    expect((await createBrowser().visit(brought.location!)).status).toBe(400);
    // The one who tried has used it up.
    expect((await begun.browser.visit(brought.location!)).status).toBe(400);
    expect(platform.signedIn).toEqual([]);
  });

  test("gets the key once, and has no cookie left", async () => {
    const begun = await begin(platform);
    const brought = await bring(begun.request.redirectUri, {
      SAMLResponse: encoded(answerTo(begun.request)),
      RelayState: begun.relayState,
    });
    const cookies = new Map(begun.browser.cookies);
    expect((await begun.browser.visit(brought.location!)).status).toBe(200);
    expect(begun.browser.cookies.size).toBe(0);
    cookies.forEach((value, name) => begun.browser.cookies.set(name, value));
    expect((await begun.browser.visit(brought.location!)).status).toBe(400);
    expect(platform.signedIn).toHaveLength(1);
  });

  test("is asked before a program gets the key, and a program hears why there is none", async () => {
    const query = `?redirect=http://127.0.0.1:9/done&code_challenge=${"a".repeat(43)}`;
    const begun = await begin(platform, { query });
    const page = await finish(begun, answerTo(begun.request));
    expect(page.text).toContain('name="confirm"');
    const sent = await begun.browser.answer(platform.url, page);
    expect(sent.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/done\?code=/);
    const again = await begin(platform, { query });
    const refused = await bring(again.request.redirectUri, { SAMLResponse: "AAAA", RelayState: again.relayState });
    expect(refused.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/done\?error=access_denied/);
    expect(platform.signedIn).toEqual([]);
  });

  test("comes too late", async () => {
    const begun = await begin(platform);
    await platform.clock.advance(10 * 60_000);
    const request = { ...begun.request, nowMs: platform.clock.now() };
    expect((await finish(begun, answerTo(request))).status).toBe(400);
  });

  test("finds another provider behind the connector when it comes back", async () => {
    const begun = await begin(platform);
    configure({ ssoIssuer: "https://other.example" });
    expect((await finish(begun, answerTo(begun.request))).status).toBe(400);
    const next = await begin(platform);
    const brought = await bring(next.request.redirectUri, {
      SAMLResponse: encoded(answerTo(next.request).replaceAll("https://id.example<", "https://other.example<")),
      RelayState: next.relayState,
    });
    expect(brought.status).toBe(401);
    expect(platform.signedIn).toEqual([]);
  });
});

describe("the signers", () => {
  const [one, other] = [OWN.pem, FOREIGN.pem];
  const base64 = (text: string | Buffer) => Buffer.from(text).toString("base64");
  const weak = createSigner({ modulusLength: 1024 });

  test.each<[string, object, number]>([
    ["one in PEM", { caData: base64(one) }, 200],
    ["one in PEM without a line end", { caData: base64(one.trim()) }, 200],
    ["one in PEM and blanks", { caData: base64(`${one}  `) }, 200],
    ["one in PEM and empty lines", { caData: base64(`${one}\n\n`) }, 200],
    ["two", { caData: base64(`${other}${one}`) }, 200],
    ["two without a line between", { caData: base64(`${other.trim()}${one}`) }, 200],
    ["two with empty lines between", { caData: base64(`${other}\n\n${one}`) }, 200],
    ["one in DER", { caData: base64(OWN.der) }, 200],
    ["a file", { caData: "", ca: "/idp.pem" }, 200],
    ["caData beside a file of another", { ca: "/other.pem" }, 200],
    ["another", { caData: base64(other) }, 401],
    ["a file of another", { caData: "", ca: "/other.pem" }, 401],
    ["text behind", { caData: base64(`${one}text`) }, 503],
    ["text before", { caData: base64(`text\n${one}`) }, 503],
    ["nothing that is one", { caData: base64("no certificate") }, 503],
    ["a certificate with more behind it", { caData: base64(Buffer.concat([OWN.der, Buffer.from("x")])) }, 503],
    ["a broken one", { caData: base64(pemOf(OWN.der.subarray(0, -9))) }, 503],
    ["one with a short key", { caData: base64(weak.pem) }, 503],
    ["too many", { caData: base64(one.repeat(11)) }, 503],
    ["a file that is not there", { caData: "", ca: "/none.pem" }, 503],
    ["none", { caData: "" }, 503],
  ])("%s", async (_, more, status) => {
    await platform.close();
    platform = await startPlatform(
      settingsOf("saml", { ...SETTINGS, ...more }),
      {},
      { reach: () => () => Promise.reject(new Error("no provider is called")), files: { "/idp.pem": one, "/other.pem": other } },
    );
    expect((await signInAs(platform)).status).toBe(status);
    expect(platform.signedIn).toHaveLength(status === 200 ? 1 : 0);
  });

  test("whose dates are over sign no one in", async () => {
    const old = createSigner({ untilMs: Date.UTC(2025, 11, 1) });
    configure({ caData: base64(old.pem) });
    const begun = await begin(platform);
    expect((await finish(begun, answerTo(begun.request, { how: { key: old.key } }))).status).toBe(401);
    expect(platform.log.join()).toContain("no certificate in the settings is valid now");
  });

  test("are not asked where the settings say so, and every other rule holds", async () => {
    const insecure = { caData: "", insecureSkipSignatureValidation: true };
    configure(insecure);
    const begun = await begin(platform);
    const xml = responseWith(begun.request, assertionFor(begun.request));
    expect((await finish(begun, xml)).status).toBe(200);
    expect((await finish(begun, xml)).status).toBe(400);
    const next = await begin(platform);
    expect((await finish(next, responseWith(next.request, assertionFor(next.request, { audience: "other" })))).status).toBe(403);
    // Beside a certificate it means nothing.
    configure({ insecureSkipSignatureValidation: true });
    const last = await begin(platform);
    expect((await finish(last, responseWith(last.request, assertionFor(last.request)))).status).toBe(401);
    expect((await finish(await begin(platform), responseWith(last.request, signed(assertionFor(last.request))))).status).toBe(401);
  });
});
