/** What axe says of the pages of sign-in: in both colour schemes and on a phone. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOOKS } from "../../../docs/generate/pictures.ts";
import { graveViolations } from "../../support/axe.ts";
import { SIDEWAYS } from "../../workbench/playground/browser-checks.ts";
import { BROWSER_TEST_MS, hasChromium, launchChromium } from "../../workbench/playground/browser-page.ts";
import { PASSWORD, startPlatform, type TestPlatform } from "./platform.ts";

describe.runIf(hasChromium)("axe finds nothing grave in the pages of sign-in", { timeout: BROWSER_TEST_MS }, () => {
  let browser: Browser;
  let platform: TestPlatform;
  beforeAll(async () => {
    const oidc = { issuerUrl: "https://id.example", clientId: "platform" };
    const clusterManager = { host: "https://manager.example" };
    platform = await startPlatform({ clusterManager, connectors: [{ id: "corp", displayName: "Corp", oidc }] });
    platform.ui = { legalTemplate: '<b>Terms</b> <a href="https://x.example/">here</a>' };
    browser = await launchChromium();
  }, BROWSER_TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await platform?.close();
  }, BROWSER_TEST_MS);

  test.each(Object.entries(LOOKS))("%s", async (_look, options) => {
    const page = await browser.newPage(options);
    const judge = async (title: string) => {
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      expect(await graveViolations(page), title).toEqual([]);
      expect(await page.evaluate(SIDEWAYS), title).toBe(0);
    };
    const signIn = async (password: string) => {
      await page.getByLabel("User name").fill("jane");
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.keyboard.press("Enter");
    };
    await page.goto(`${platform.url}/login`);
    await judge("Sign in");
    await signIn("wrong");
    await judge("You are not signed in");
    await page.getByRole("link", { name: "Start again" }).click();
    await signIn(PASSWORD);
    await judge("You are signed in");
    // A program that waits: the form, and the question whether it may have a key.
    await page.goto(`${platform.url}/login?redirect=${encodeURIComponent("http://127.0.0.1:9/done")}&code_challenge=${"c".repeat(43)}`);
    await judge("Sign in");
    await signIn(PASSWORD);
    await judge("Let a program sign in?");
    await page.close();
  });
});
