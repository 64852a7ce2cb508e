/**
 * Takes the pictures of the playground and of the page to sign in: `npm run docs:pictures`, where a Chromium is installed. Their bytes
 * depend on the fonts of the machine, so that no test compares them; `test/docs/pictures.test.ts` says which there are, and how large.
 *
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { launchChromium, startBrowser } from "../test/workbench/playground/browser-page.ts";
import { pane } from "../test/workbench/playground/browser-panes.ts";
import { startPlatform } from "../test/management/sign-in/platform.ts";
import { GALLERY } from "../src/workbench/playground/gallery.ts";
import { smallPng } from "./generate/small-png.ts";
import { LOOKS } from "./generate/pictures.ts";

const FOLDER = join(import.meta.dirname, "images");

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await writeFile(join(FOLDER, name), smallPng(await page.screenshot({ animations: "disabled", caret: "hide" })));
}

async function takePlayground(): Promise<void> {
  const browser = await startBrowser();
  try {
    for (const [look, options] of Object.entries(LOOKS)) {
      const state = GALLERY.find(({ name }) => name === (look === "dark" ? "oscillating-pair" : "demo"))!.state;
      const { page } = await browser.open({ ...(options as BrowserContextOptions), state });
      await pane(page, "results").locator(".verdict").first().waitFor({ state: "attached" });
      await page.getByRole("button", { name: "Got it" }).click();
      if (look === "dark") await page.getByRole("button", { name: "Round trip: Oscillates" }).click();
      await page.evaluate("document.activeElement.blur()");
      await take(page, `playground-${look}.png`);
      await page.context().close();
    }
  } finally {
    await browser.close();
  }
}

async function takeLogin(): Promise<void> {
  const oidc = { issuerUrl: "https://id.example", clientId: "platform" };
  const platform = await startPlatform({ connectors: [{ id: "corp", displayName: "Corp", oidc }] });
  const browser = await launchChromium();
  try {
    for (const [look, options] of Object.entries(LOOKS)) {
      const page = await browser.newPage({ ...options, viewport: look === "phone" ? options.viewport! : { width: 720, height: 560 } });
      await page.goto(`${platform.url}/login`);
      await take(page, `login-${look}.png`);
      await page.close();
    }
  } finally {
    await browser.close();
    await platform.close();
  }
}

await takePlayground();
await takeLogin();
