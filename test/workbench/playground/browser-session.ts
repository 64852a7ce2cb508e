/** One browser for a suite of tests: every test opens its pages, and none may have complained when it ends. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { BROWSER_TEST_MS, startBrowser, type OpenedPage, type OpenOptions, type PlaygroundBrowser } from "./browser-page.ts";
import { pane } from "./browser-panes.ts";

/** How the tests of a suite come by their pages. */
export interface BrowserSession {
  /** Where the page is served. */
  readonly address: string;
  /** Opens the page; it is closed after the test. */
  open(options?: OpenOptions): Promise<Page>;
  /** Opens the page, and waits for its first answer. */
  openAnswered(options?: OpenOptions): Promise<Page>;
}

/** To be called inside `describe`: the browser starts before its tests and ends after them. */
export function useBrowser(): BrowserSession {
  let browser: PlaygroundBrowser;
  let opened: OpenedPage[] = [];

  const open = async (options?: OpenOptions): Promise<Page> => {
    const one = await browser.open(options);
    opened.push(one);
    return one.page;
  };

  beforeAll(async () => {
    browser = await startBrowser();
  }, BROWSER_TEST_MS);
  afterAll(() => browser?.close(), BROWSER_TEST_MS);

  afterEach(async () => {
    const complaints = opened.flatMap((one) => one.complaints);
    await Promise.all(opened.map(({ page }) => page.context().close()));
    opened = [];
    expect(complaints, "violations of the policy, errors, and requests").toEqual([]);
  }, BROWSER_TEST_MS);

  return {
    get address() {
      return browser.address;
    },
    open,
    async openAnswered(options) {
      const page = await open(options);
      await pane(page, "results").locator(".patch, .problems").first().waitFor({ state: "attached" });
      return page;
    },
  };
}
