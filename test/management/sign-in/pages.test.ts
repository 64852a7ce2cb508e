/**
 * The pages of sign-in: what they show, to whom, and that nothing from other sites runs on them.
 */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { legalHtml } from "../../../src/management/sign-in/pages/legal.ts";
import { imageOf, styleSheet } from "../../../src/management/sign-in/pages/look.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./doubles/oauth.ts";
import { sourceHostA } from "./doubles/source-host-a.ts";
import { startWorld, type World } from "./doubles/world.ts";
import { createBrowser, PASSWORD, post, startPlatform, type Seen, type TestPlatform } from "./platform.ts";

const PAGE = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const VERIFIER = "v".repeat(43);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
const PROGRAM = `?redirect=${encodeURIComponent("http://127.0.0.1:8000/done")}&code_challenge=${CHALLENGE}`;
const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

let world: World;
let platform: TestPlatform;
beforeEach(async () => {
  world = await startWorld(sourceHostA().double);
  platform = await startPlatform({ sourceHostA: CLIENT }, {}, { reach: world.reach });
});
afterEach(() => Promise.all([platform.close(), world.close()]));

const visit = (path: string) => createBrowser().visit(`${platform.url}${path}`, PAGE);

/** A login up to the page at its end. */
async function signIn(query = ""): Promise<{ readonly browser: ReturnType<typeof createBrowser>; readonly page: Seen }> {
  const browser = createBrowser();
  const begun = await browser.visit(`${platform.url}/auth/sourceHostA/login${query}`, PAGE);
  return { browser, page: await browser.visit(await world.visit(begun.location!), PAGE) };
}

function expectSafe({ headers, text }: Seen): void {
  const policy = headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|data:/);
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(text).not.toMatch(/<script(?! src=")|<style|\sstyle=|\son\w+=|javascript:/i);
  // For phones, screen readers and keyboards.
  expect(text).toMatch(/<html lang="en">[^]*<meta name="viewport"[^]*<title>[^<]+<\/title>[^]*<main>[^]*<h1>/);
  for (const [, id] of text.matchAll(/<input id="([^"]+)"/g)) expect(text).toContain(`<label for="${id!}">`);
}

describe("GET /login", () => {
  test("shows every live way by its name, in the order of the settings, and passwords", async () => {
    platform.config = {
      sourceHostA: CLIENT,
      sourceHostB: { clientId: "platform" },
      saml: {},
      clusterManager: { host: "rancher.example", bearerToken: "a:b" },
      connectors: [{ id: "corp", displayName: "Corp <b>&", oidc: { issuerUrl: "https://secret.example", clientId: "platform" } }],
    };
    const seen = await visit("/login");
    expectSafe(seen);
    const { text } = seen;
    expect([...text.matchAll(/<a class="button" href="([^"]+)">([^<]+)</g)].map((match) => match.slice(1))).toEqual([
      ["/auth/sourceHostA/login", "Sign in with GitHub"],
      ["/auth/corp/login", "Sign in with Corp &lt;b&gt;&amp;"],
    ]);
    expect(text).toContain('action="/auth/clusterManager/login"');
    expect(text).toContain('action="/auth/password/login"');
    expect(text).not.toMatch(/secret\.example|rancher\.example/);
    platform.config = { password: { disabled: true } };
    expect((await visit("/login")).text).toMatch(/^(?![^]*<form)[^]*no provider is set up/);
  });

  test("passes the waiting program on to every way, and says that it waits", async () => {
    const { text, headers } = await visit(`/login${PROGRAM}`);
    expect(text).toContain(`/auth/sourceHostA/login?redirect=http%3A%2F%2F127.0.0.1%3A8000%2Fdone&amp;code_challenge=${CHALLENGE}`);
    expect(text).toContain("A program on this computer (http://127.0.0.1:8000) is waiting");
    expect(headers.get("content-security-policy")).toContain("form-action 'self' http://127.0.0.1:8000");
    expect((await visit("/login?redirect=https://evil.example/")).status).toBe(400);
  });

  test("has the style sheet and the script beside it", async () => {
    const { text } = await visit("/login");
    const [, css] = /href="([^"]+\.css)"/.exec(text)!;
    const [, script] = /<script src="([^"]+)"/.exec(text)!;
    const types = await Promise.all([css, script].map(async (path) => (await visit(path!)).headers.get("content-type")));
    expect(types).toEqual(["text/css; charset=utf-8", "text/javascript; charset=utf-8"]);
  });

  test("is read-only", async () => {
    expect((await post(`${platform.url}/login`, {})).status).toBe(405);
    expect((await post(`${platform.url}/auth/connectors`, {})).status).toBe(405);
  });
});

test("GET /auth/connectors gives programs names and kinds, and nothing else of the settings", async () => {
  platform.config = {
    ...platform.config,
    directoryProviderA: { ...CLIENT, serviceAccountFilePath: "/etc/account.json", adminEmail: "a@x.example", groups: ["secret-group"] },
    connectors: [{ id: "corp", displayName: "Corp", oidc: { issuerUrl: "https://id.example", clientId: "platform", caFile: "/etc/ca" } }],
  };
  const { text, body } = await createBrowser().visit(`${platform.url}/auth/connectors`);
  expect(body).toEqual({
    password: { enabled: true },
    connectors: [
      { id: "sourceHostA", displayName: "GitHub", type: "sourceHostA", flow: "redirect" },
      { id: "directoryProviderA", displayName: "Google", type: "directoryProviderA", flow: "redirect" },
      { id: "corp", displayName: "Corp", type: "oidc", flow: "redirect" },
    ],
  });
  expect(text).not.toMatch(/\/etc|secret|id\.example|x\.example/);
});

describe("the page after a login", () => {
  test("shows the key once, with its expiry, and offers a kubeconfig", async () => {
    const { page } = await signIn();
    expect(page.status).toBe(200);
    expectSafe(page);
    expect(page.text).toContain('<code id="key">key-1</code>');
    expect(page.text).toContain("It ends at 2026-01-21T00:00:00Z");
    const file = await post(`${platform.url}/auth/kubeconfig`, "key=key-1", { "sec-fetch-site": "same-origin" });
    expect([file.status, file.text]).toEqual([200, "token: key-1\n"]);
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="platform.kubeconfig"');
    expect((await post(`${platform.url}/auth/kubeconfig`, "key=key-1", { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post(`${platform.url}/auth/kubeconfig`, "key=a%0Ab")).status).toBe(404);
    expect(platform.log.join()).not.toContain("key-1");
  });

  test("comes after a password too, and as JSON on request", async () => {
    const form = `username=jane&password=${encodeURIComponent(PASSWORD)}`;
    const url = `${platform.url}/auth/password/login`;
    expect((await post(url, form, PAGE)).text).toContain("key-1");
    expect((await post(url, form, { accept: "application/json" })).body["accessKey"]).toBe("key-2");
    expect((await post(url, form, { ...PAGE, "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect(platform.signedIn).toHaveLength(2);
  });

  test("says why there is no key, without quoting the provider", async () => {
    platform.config = { sourceHostA: { ...CLIENT, orgs: [{ name: "acme" }] } };
    const { page } = await signIn();
    expectSafe(page);
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("none of your organisations and teams")]);
    expect(page.text).toContain('<a class="button" href="/login">Start again</a>');
  });
});

describe("a program that waits", () => {
  test("gets nothing by a link: the user is asked first", async () => {
    const { page, browser } = await signIn(PROGRAM);
    expect([page.status, page.location]).toEqual([200, null]);
    expectSafe(page);
    expect(page.text).toMatch(/A program on this computer, at http:\/\/127\.0\.0\.1:8000, requests[^]*jane/);
    expect(platform.signedIn).toEqual([]);
    const sent = await browser.answer(platform.url, page);
    expect(sent.status).toBe(302);
    const { origin, searchParams } = new URL(sent.location!);
    expect([origin, [...searchParams.keys()]]).toEqual(["http://127.0.0.1:8000", ["code"]]);
    const body = { code: searchParams.get("code")!, code_verifier: VERIFIER };
    expect((await post(`${platform.url}/auth/exchange`, body)).body["accessKey"]).toBe("key-1");
  });

  test("learns that the user refused", async () => {
    const { page, browser } = await signIn(PROGRAM);
    const sent = await browser.answer(platform.url, page, "refuse");
    expect(new URL(sent.location!).searchParams.get("error")).toBe("access_denied");
    expect((await browser.answer(platform.url, page)).status).toBe(400);
    expect(platform.signedIn).toEqual([]);
  });

  test.each<[string, (platform: TestPlatform) => Promise<number>]>([
    [
      "another browser",
      async ({ url }) => {
        const { page } = await signIn(PROGRAM);
        return (await createBrowser().answer(url, page)).status;
      },
    ],
    [
      "another site",
      async ({ url }) => {
        const { page, browser } = await signIn(PROGRAM);
        return (await browser.answer(url, page, "allow", { "sec-fetch-site": "cross-site" })).status;
      },
    ],
    ["an unknown secret", async ({ url }) => (await post(`${url}/auth/confirm`, { confirm: "x".repeat(43), answer: "allow" })).status],
    [
      "a person who answers too late",
      async ({ url, clock }) => {
        const { page, browser } = await signIn(PROGRAM);
        await clock.advance(5 * 60_000);
        return (await browser.answer(url, page)).status;
      },
    ],
  ])("gets nothing by %s", async (_, attack) => {
    expect([400, 403]).toContain(await attack(platform));
    expect(platform.signedIn).toEqual([]);
  });

  test("is asked about after a password too", async () => {
    const fields = { username: "jane", password: PASSWORD, redirect: "http://127.0.0.1:8000/done", code_challenge: CHALLENGE };
    const page = await post(`${platform.url}/auth/password/login`, fields);
    expect(page.text).toContain('name="confirm"');
    expect(platform.signedIn).toEqual([]);
    expect((await post(`${platform.url}/auth/password/login`, { ...fields, redirect: "https://evil.example/" })).status).toBe(400);
  });
});

describe("the look of the settings", () => {
  test("has valid colours, with readable letters", () => {
    expect(styleSheet({ primaryColor: "#ff0", accentColor: "rgba(1, 2, 3, 0.5)" })).toContain(
      ":root, :root:root { --primary: #ff0; --on-primary: #000; --focus: rgba(1, 2, 3, 0.5); }",
    );
    expect(styleSheet({ logoBackgroundColor: "#123456" })).toContain(":root, :root:root { --logo: #123456; }");
    const plain = styleSheet({});
    for (const primaryColor of ["red; } body { display: none", "url(https://evil.example)", "#12345", "rgb(300, 0, 0)", "rgb(1,1,1)}"])
      expect(styleSheet({ primaryColor })).toBe(plain);
  });

  test.each<[string, boolean, readonly string[], string | undefined]>([
    ["https://cdn.example/logo.png", false, [], "https://cdn.example"],
    ["/logo.png", false, [], "'self'"],
    ["https://cdn.example/logo.png", true, [], undefined],
    ["https://cdn.example/logo.png", true, ["https://cdn.example"], "https://cdn.example"],
    ["http://cdn.example/logo.png", false, [], undefined],
    ["//evil.example/logo.png", false, [], undefined],
    ["/\\evil.example/logo.png", false, [], undefined],
    ["javascript:alert(1)", false, [], undefined],
    ["data:image/svg+xml,x", false, [], undefined],
    ["https://a.example;script-src *", false, [], undefined],
    ['/x" onerror="y', false, [], undefined],
  ])("shows the image %s with block %s and allow %j from %s", (address, block, allow, source) => {
    expect(imageOf(address, { block, allow })?.source).toBe(source);
  });

  test.each([
    ["<b>Hello</b> you<br>all", "<b>Hello</b> you<br>all"],
    ['<a href="https://x.example/?a=1&b=2">terms</a>', '<a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer">terms</a>'],
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    ['<a href="javascript:alert(1)">x</a>', "&lt;a href=&quot;javascript:alert(1)&quot;&gt;x&lt;/a&gt;"],
    ['<b onclick="x">y</b>', "&lt;b onclick=&quot;x&quot;&gt;y&lt;/b&gt;"],
    ["<img src=x onerror=y>", "&lt;img src=x onerror=y&gt;"],
    ["<p>open <i>and", "<p>open <i>and</i></p>"],
    ["</p></div><b></i></b>", "&lt;/p&gt;&lt;/div&gt;<b>&lt;/i&gt;</b>"],
  ])("shows the legal text %s as %s", (template, shown) => {
    expect(legalHtml(template).html).toBe(shown);
  });

  test("reads a long legal text once", () => {
    expect(legalHtml("<a ".repeat(200_000)).html.length).toBeLessThan(200_000);
  });

  test("never runs a script of the settings", async () => {
    const settings = { customJavaScript: ["https://evil.example/x.js"], customCss: ["https://evil.example/x.css"] };
    platform.ui = { ...settings, logoURL: "https://cdn.example/l.png", faviconURL: "/f.ico", legalTemplate: "<b>Terms</b>" };
    const seen = await visit("/login");
    expectSafe(seen);
    expect(seen.text).toContain('<img class="logo" src="https://cdn.example/l.png" alt="" />');
    expect(seen.text).toContain("<footer><b>Terms</b></footer>");
    expect(seen.headers.get("content-security-policy")).toContain("img-src https://cdn.example 'self'");
    expect(seen.text + (await visit("/auth/page.css")).text).not.toContain("evil.example");
  });
});
