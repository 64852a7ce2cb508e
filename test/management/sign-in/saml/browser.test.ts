/**
 * SAML in a browser: the provider is another site, whose form brings no cookie of the platform's; the policy of the page lets the form go
 * there; and all of it works without scripts.
 */
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSER_TEST_MS, hasChromium, launchChromium } from "../../../workbench/playground/browser-page.ts";
import { settingsOf } from "../doubles/cases.ts";
import { startPlatform } from "../platform.ts";
import type { TestPlatform } from "../platform.ts";
import { answerTo, encoded } from "./identity-provider.ts";
import { SETTINGS } from "./visitor.ts";

describe.runIf(hasChromium)("in a browser", { timeout: BROWSER_TEST_MS }, () => {
  let browser: Browser;
  let platform: TestPlatform;
  let provider: Server;
  /** Cookies that came with forms of the provider's. */
  const cookies: (string | undefined)[] = [];

  beforeAll(async () => {
    provider = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        cookies.push(request.headers.cookie);
        const sent = new URLSearchParams(Buffer.concat(chunks).toString());
        const xml = Buffer.from(sent.get("SAMLRequest") ?? "", "base64").toString();
        const part = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1] ?? "";
        const asked = { id: part("ID"), redirectUri: part("AssertionConsumerServiceURL"), nowMs: platform.clock.now() };
        const field = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`;
        const fields = field("SAMLResponse", encoded(answerTo(asked, { by: "AR" }))) + field("RelayState", sent.get("RelayState") ?? "");
        response.writeHead(200, { "content-type": "text/html" });
        response.end(`<title>Provider</title><form method="post" action="${asked.redirectUri}">${fields}<button>Go back</button></form>`);
      });
    });
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    // Another site than 127.0.0.1, where the platform is.
    const ssoURL = `http://localhost:${(provider.address() as AddressInfo).port}/sso`;
    platform = await startPlatform(settingsOf("saml", { ...SETTINGS, ssoURL }));
    browser = await launchChromium();
  }, BROWSER_TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await platform?.close();
    provider?.closeAllConnections();
    provider?.close();
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
    expect(cookies.at(-1)).toBeUndefined();
    expect(complaints.filter((text) => !text.includes("favicon"))).toEqual([]);
    await page.close();
  });
});
