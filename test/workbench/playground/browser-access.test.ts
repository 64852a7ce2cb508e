/** The page by keyboard, for a screen reader, in both colour schemes, and on a phone. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { GALLERY } from "../../../src/workbench/playground/gallery.ts";
import {
  COLUMN_OF_SECOND_ROW,
  CLIPPED,
  CONTROLS_WITHOUT_NAME,
  EDITORS_SIDEWAYS,
  SHOWN_PANES,
  SIDEWAYS,
  SMALL_TARGETS,
  TEXTS_OF_LOW_CONTRAST,
} from "./browser-checks.ts";
import { BROWSER_TEST_MS, hasChromium } from "./browser-page.ts";
import { BUSY, eventually, focusedPane, linesOf, pane, STATE } from "./browser-panes.ts";
import { useBrowser } from "./browser-session.ts";

describe.runIf(hasChromium)("the playground for all users", { timeout: BROWSER_TEST_MS }, () => {
  const { openAnswered: open } = useBrowser();
  const active = (page: Page) =>
    page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent");

  test("goes from an edit to its cause and to a link by keys alone", async () => {
    const page = await open({ state: STATE });
    await page.keyboard.press("Tab");
    expect(await active(page)).toBe("Skip to patches");
    await page.keyboard.press("Enter");
    expect(await focusedPane(page)).toBe("config");
    await page.keyboard.press("Alt+2");
    expect(await focusedPane(page)).toBe("tenant");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("x: [");
    await pane(page, "results").locator(".problems").waitFor();
    await page.keyboard.press("Alt+5");
    expect(await focusedPane(page)).toBe("results");
    await page.keyboard.press("F8");
    expect(await focusedPane(page)).toBe("tenant");
    await page.keyboard.press("Control+Z");
    await eventually(() => pane(page, "results").locator(".problems").count()).toBe(0);
    await page.keyboard.press("Control+S");
    await page.getByText("Link copied").waitFor();
    expect(page.url()).toContain("#1.");
  });

  test("Tab indents in an editor, and leaves it after Escape", async () => {
    const page = await open({ state: STATE });
    await page.keyboard.press("Alt+1");
    await page.keyboard.press("Tab");
    expect(await focusedPane(page)).toBe("config");
    expect((await linesOf(page, "config"))[0]).toBe("  sync:");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    // Into the next editor, where the same holds.
    expect(await focusedPane(page)).toBe("tenant");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Shift+Tab");
    expect(await focusedPane(page)).toBe("config");
    await page.keyboard.press("Shift+Tab");
    expect((await linesOf(page, "config"))[0]).toBe("sync:");
  });

  test("Tab reaches every control in the order of the page, and comes out again", async () => {
    const page = await open({ state: BUSY });
    const seen: string[] = [];
    for (let count = 0; count < 80; count += 1) {
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      if (await page.evaluate("document.activeElement === document.body")) break;
      seen.push((await focusedPane(page)) ?? "head");
    }
    expect(seen.filter((name, index) => name !== seen[index - 1])).toEqual(["head", "config", "tenant", "host", "back", "results"]);
  });

  test("dialogs take the focus, close by Escape, and give it back", async () => {
    const page = await open({ state: STATE });
    await page.getByRole("button", { name: "Help" }).focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await active(page)).toBe("Help");
    await page.keyboard.press("Alt+E");
    await page.getByRole("dialog", { name: "Examples" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText(`Opened “${GALLERY[0]!.title}”`).waitFor();
    expect(await focusedPane(page)).toBe("config");
  });

  test("says what came of an edit", async () => {
    const page = await open({ state: STATE });
    const said = page.locator("#said");
    await eventually(() => said.textContent()).toMatch(/^2 patches applied\. \d+ fuel\.$/);
    await page.keyboard.press("Alt+1");
    await page.keyboard.type("{");
    await eventually(() => said.textContent()).toMatch(/problems? found\.$/);
  });

  test.each(["light", "dark"] as const)("every text can be read and every control has a name, %s", async (colorScheme) => {
    const page = await open({ state: BUSY, colorScheme });
    await pane(page, "results").locator(".verdict").first().waitFor();
    const closed = pane(page, "results").locator(".verdict[aria-expanded=false]");
    while ((await closed.count()) > 0) await closed.first().click();
    await pane(page, "back").getByText("Synced back", { exact: true }).waitFor();
    expect(await page.evaluate(CONTROLS_WITHOUT_NAME)).toEqual([]);
    expect(await page.evaluate(TEXTS_OF_LOW_CONTRAST)).toEqual([]);
    expect(await page.evaluate(SMALL_TARGETS)).toEqual([]);
    await page.getByRole("button", { name: "Examples" }).click();
    expect(await page.evaluate(TEXTS_OF_LOW_CONTRAST)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Alt+1");
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("broken: [");
    await pane(page, "results").locator(".problems").waitFor();
    expect(await page.evaluate(CONTROLS_WITHOUT_NAME)).toEqual([]);
    expect(await page.evaluate(TEXTS_OF_LOW_CONTRAST)).toEqual([]);
  });

  test("has its landmarks, and one heading per pane", async () => {
    const page = await open({ state: STATE });
    expect(await page.getByRole("main").count()).toBe(1);
    expect(await page.getByRole("banner").count()).toBe(1);
    expect(await page.getByRole("heading", { level: 1 }).allInnerTexts()).toEqual(["endpoint-sync playground"]);
    const regions = page.getByRole("main").getByRole("heading", { level: 2 });
    expect(await regions.allInnerTexts()).toEqual(["Patches", "Tenant object", "On the host", "Back in the tenant", "Results"]);
    for (const name of await regions.allInnerTexts()) expect(await page.getByRole("region", { name, exact: true }).count()).toBe(1);
  });

  test.each([360, 390, 412, 768])("fits a screen of %i pixels, pane by pane", async (width) => {
    const page = await open({ state: BUSY, viewport: { width, height: 740 }, hasTouch: true, isMobile: width < 700 });
    expect(await page.evaluate(SIDEWAYS)).toBe(0);
    for (const button of await page.getByRole("navigation", { name: "Panes" }).getByRole("button").all()) {
      await button.tap();
      const name = await button.getAttribute("data-to");
      expect(await page.evaluate(SHOWN_PANES)).toEqual([name]);
      expect(await page.evaluate(SIDEWAYS)).toBe(0);
    }
    await page.getByRole("button", { name: "Examples" }).tap();
    expect(await page.evaluate(SIDEWAYS)).toBe(0);
  });

  test.each(["light", "dark"] as const)("cuts nothing off on a phone, %s", async (colorScheme) => {
    const page = await open({ state: BUSY, colorScheme, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    for (const button of await page.getByRole("navigation", { name: "Panes" }).getByRole("button").all()) {
      await button.tap();
      expect(await page.evaluate(CLIPPED), (await button.getAttribute("data-to"))!).toEqual([]);
      // A finger has no Escape: the hint about keys is not there.
      await page.locator(".editor:visible, .results:visible").first().tap();
      expect(await page.locator(".editor-hint:visible").count()).toBe(0);
    }
    for (const name of ["Examples", "Help"]) {
      await page.getByRole("button", { name, exact: true }).tap();
      await page.getByRole("dialog", { name }).waitFor();
      expect(await page.evaluate(CLIPPED), name).toEqual([]);
      await page.keyboard.press("Escape");
    }
  });

  test("a phone counts beside Results what is to be looked at, once an example is open", async () => {
    const page = await open({ state: STATE, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const results = page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name: /^Results/ });
    await page.getByRole("button", { name: "Examples" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "A pair that oscillates" }).tap();
    await eventually(() => results.innerText()).toMatch(/^Results\s*1/);
  });

  test.each([360, 390, 1_000])("at %i pixels long lines go on below, to the right of where they start", async (width) => {
    const page = await open({ state: STATE, viewport: { width, height: 740 } });
    expect(await page.evaluate(COLUMN_OF_SECOND_ROW)).toBe(12);
    expect(await page.evaluate(EDITORS_SIDEWAYS)).toEqual([0]);
    await page.setViewportSize({ width: 3_000, height: 900 });
    await eventually(() => page.evaluate(COLUMN_OF_SECOND_ROW)).toBe(-1);
  });

  test("a phone shows the pane that a problem is in", async () => {
    const page = await open({
      state: { ...STATE, config: STATE.config.replace("expression:", "expresion:") },
      viewport: { width: 360, height: 740 },
    });
    await page
      .getByRole("navigation", { name: "Panes" })
      .getByRole("button", { name: /^Results/ })
      .click();
    await pane(page, "results").locator(".problems button").first().click();
    expect(await pane(page, "config").isVisible()).toBe(true);
    expect(await focusedPane(page)).toBe("config");
  });

  test("nothing moves for people who want that", async () => {
    const page = await open({ state: STATE, reducedMotion: "reduce" });
    const moving = `[...document.querySelectorAll("*")].filter((element) => getComputedStyle(element).transitionDuration !== "0s").length`;
    expect(await page.evaluate(moving)).toBe(0);
  });
});
