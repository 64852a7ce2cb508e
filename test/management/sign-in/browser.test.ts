/**
 * The pages of sign-in in a browser: the whole flow of a program, with nothing that the policy of the pages refuses; by keyboard, on a
 * phone, and in both colour schemes.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONTROLS_WITHOUT_NAME, SIDEWAYS, TEXTS_OF_LOW_CONTRAST } from "../../workbench/playground/browser-checks.ts";
import { BROWSER_TEST_MS, hasChromium, launchChromium } from "../../workbench/playground/browser-page.ts";
import { PASSWORD, startPlatform, type TestPlatform } from "./platform.ts";

describe.runIf(hasChromium)("in a browser", { timeout: BROWSER_TEST_MS }, () => {
  let browser: Browser;
  let platform: TestPlatform;
  beforeAll(async () => {
    const oidc = { issuerUrl: "https://id.example", clientId: "platform" };
    platform = await startPlatform({ connectors: [{ id: "corp", displayName: "Corp", oidc }] });
    platform.ui = { primaryColor: "#ffcc00", legalTemplate: '<b>Terms</b> <a href="https://x.example/">here</a>' };
    browser = await launchChromium();
  }, BROWSER_TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await platform?.close();
  }, BROWSER_TEST_MS);

  async function open(query = "", options: Parameters<Browser["newPage"]>[0] = {}): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    page.on("pageerror", (error) => void complaints.push(error.message));
    await page.goto(`${platform.url}/login${query}`);
    return { page, complaints };
  }

  test.each([
    ["light", { colorScheme: "light", viewport: { width: 1_280, height: 800 } }],
    ["dark", { colorScheme: "dark", viewport: { width: 1_280, height: 800 } }],
    ["on a phone", { colorScheme: "light", viewport: { width: 320, height: 640 } }],
    ["without scripts", { javaScriptEnabled: false }],
  ] as const)("the page can be read and used: %s", async (name, options) => {
    const { page, complaints } = await open("", options);
    if (name !== "without scripts") {
      const found = await Promise.all([CONTROLS_WITHOUT_NAME, TEXTS_OF_LOW_CONTRAST, SIDEWAYS].map((check) => page.evaluate(check)));
      expect(found).toEqual([[], [], 0]);
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Sign in with Corp");
    }
    await page.getByLabel("User name").fill("jane");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "You are signed in" }).waitFor();
    expect(await page.locator("#key").textContent()).toMatch(/^key-\d+$/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download a kubeconfig" }).click(),
    ]);
    expect([download.suggestedFilename(), download.url()]).toEqual(["platform.kubeconfig", `${platform.url}/auth/kubeconfig`]);
    expect(complaints.filter((text) => !text.includes("favicon"))).toEqual([]);
    await page.close();
  });

  test("a program gets its code after the user has agreed", async () => {
    const brought: string[] = [];
    const program = createServer((request, response) => {
      brought.push(request.url!);
      response.end("done");
    });
    await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve));
    try {
      const redirect = `http://127.0.0.1:${(program.address() as AddressInfo).port}/done`;
      const { page, complaints } = await open(`?redirect=${encodeURIComponent(redirect)}&code_challenge=${"c".repeat(43)}`);
      await page.getByLabel("User name").fill("jane");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Allow" }).waitFor();
      expect(brought).toEqual([]);
      await page.getByRole("button", { name: "Allow" }).click();
      await page.waitForURL(/\/done\?code=/);
      expect(brought.filter((url) => url.startsWith("/done?code="))).toHaveLength(1);
      expect(complaints.filter((text) => !text.includes("favicon"))).toEqual([]);
      await page.close();
    } finally {
      program.closeAllConnections();
      program.close();
    }
  });
});
