/**
 * The callback from an OpenID Connect provider: once, soon, and in the browser that began. The numbers are rows of the checklist.
 */
import { describe, expect, test } from "vitest";
import { SIGN_IN_LIMITS } from "../../../src/management/sign-in/limits/limits.ts";
import { createBrowser, startPlatform } from "./platform.ts";
import { freshProvider, platform, settings } from "./oidc-setting.ts";

freshProvider();

describe("a callback", () => {
  /** A login up to the redirect back from the provider. */
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
    expect(await browser.visit(back)).toMatchObject({ status: 400, body: { message: expect.stringContaining("start again") as unknown } });
    expect(platform.signedIn).toHaveLength(1);
  });

  test("works in the browser that began, and in no other", async () => {
    const { browser, back } = await sentBack();
    expect((await createBrowser().visit(back)).status).toBe(400);
    // The other browser has used it up.
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

  test("shows what the provider refused", async () => {
    const { browser, back } = await sentBack();
    const url = new URL(back);
    url.searchParams.delete("code");
    url.searchParams.set("error", "access_denied");
    expect(await browser.visit(url.href)).toMatchObject({
      status: 403,
      body: { message: "forbidden: you or your organisation declined the request at the provider: access_denied" },
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
    const small = await startPlatform(platform.config, { beginsPerMinute: 12 });
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

  test("begins at an address with an earlier sign-in, whatever strangers do elsewhere", async () => {
    const small = await startPlatform(platform.config, { beginsPerMinute: 12 });
    try {
      const begin = async () => (await createBrowser().visit(`${small.url}/auth/oidc/login`)).status;
      const browser = createBrowser();
      const { location } = await browser.visit(`${small.url}/auth/oidc/login`);
      const back = (await fetch(location!, { redirect: "manual" })).headers.get("location")!;
      expect((await browser.visit(back)).status).toBe(200);
      for (let count = 0; count < 8; count += 1) {
        small.address = `198.51.100.${count}`;
        await begin();
      }
      expect(await begin()).toBe(429);
      small.address = "192.0.2.1";
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
