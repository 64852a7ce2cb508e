/**
 * SAML in a browser: the provider is another site, whose form brings no cookie of the platform's; the policy of the page lets the form go
 * there; and all of it works without scripts.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSER_TEST_MS, hasChromium, launchChromium } from "../../../workbench/playground/browser-page.ts";
import { settingsOf } from "../doubles/cases.ts";
import { startPlatform, type TestPlatform } from "../platform.ts";
import { startProviderSite, type ProviderSite } from "./provider-site.ts";
import { SETTINGS } from "./visitor.ts";

describe.runIf(hasChromium)("in a browser", { timeout: BROWSER_TEST_MS }, () => {
  let browser: Browser;
  let platform: TestPlatform;
  let site: ProviderSite;

  beforeAll(async () => {
    site = await startProviderSite(() => platform.clock.now());
    platform = await startPlatform(settingsOf("saml", { ...SETTINGS, ssoURL: site.ssoURL }));
    browser = await launchChromium();
  }, BROWSER_TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await platform?.close();
    site?.close();
  }, BROWSER_TEST_MS);

  test.each([
    ["with scripts", true],
    ["without scripts", false],
  ])("a user signs in %s", async (_, javaScriptEnabled) => {
    const page = await browser.newPage({ javaScriptEnabled });
    const complaints: string[] = [];
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    await page.goto(`${platform.url}/login`);
    await page.getByRole("link", { name: "Sign in with SAML" }).click();
    if (!javaScriptEnabled) await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Go back" }).click();
    await page.getByRole("heading", { name: "You are signed in" }).waitFor();
    expect(await page.locator("#key").textContent()).toMatch(/^key-\d+$/);
    expect(site.cookies.at(-1)).toBeUndefined();
    expect(complaints.filter((text) => !text.includes("favicon"))).toEqual([]);
    await page.close();
  });
});
