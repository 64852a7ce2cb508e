/** What axe says of the page: in both colour schemes and on a phone, in each state in which people use it. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { LOOKS } from "../../../docs/generate/pictures.ts";
import { graveViolations } from "../../support/axe.ts";
import { BROWSER_TEST_MS, hasChromium } from "./browser-page.ts";
import { BUSY, editor, pane } from "./browser-panes.ts";
import { useBrowser } from "./browser-session.ts";

describe.runIf(hasChromium).each(Object.entries(LOOKS))("axe finds nothing grave in the playground: %s", (look, options) => {
  const { openAnswered } = useBrowser();
  const isPhone = look === "phone";
  const show = async (page: Page, name: string) => {
    if (isPhone) await page.getByRole("navigation", { name: "Panes" }).locator(`[data-to=${name}]`).click();
  };

  test("in a page with a failure, verdicts and edits, pane by pane", { timeout: BROWSER_TEST_MS }, async () => {
    const page = await openAnswered({ state: BUSY, ...options });
    await pane(page, "results").locator(".verdict").first().waitFor({ state: "attached" });
    await show(page, "results");
    const closed = pane(page, "results").locator(".verdict[aria-expanded=false]");
    while ((await closed.count()) > 0) await closed.first().click();
    for (const name of isPhone ? ["config", "tenant", "host", "back", "results"] : ["all"]) {
      await show(page, name);
      expect(await graveViolations(page), name).toEqual([]);
    }
  });

  test("in dialogs and menus", { timeout: BROWSER_TEST_MS }, async () => {
    const page = await openAnswered({ state: BUSY, ...options });
    for (const name of ["Examples", "Help"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog", { name }).waitFor();
      expect(await graveViolations(page), name).toEqual([]);
      await page.keyboard.press("Escape");
    }
    await page.getByRole("button", { name: "Copy as…" }).click();
    expect(await graveViolations(page), "menu").toEqual([]);
    await page.keyboard.press("Escape");
  });

  test("in the list of what can be written", { timeout: BROWSER_TEST_MS }, async () => {
    const page = await openAnswered({ state: BUSY, ...options });
    await show(page, "config");
    await editor(page, "config").locator(".cm-line", { hasText: "value.owner.name" }).click();
    await page.keyboard.press("End");
    await page.keyboard.type(" + v");
    await pane(page, "config").getByRole("listbox").waitFor();
    expect(await graveViolations(page)).toEqual([]);
  });

  test("in a page with problems", { timeout: BROWSER_TEST_MS }, async () => {
    const page = await openAnswered({ state: { ...BUSY, config: `broken: [\n${BUSY.config}` }, ...options });
    await show(page, "results");
    await pane(page, "results").locator(".problems").waitFor();
    expect(await graveViolations(page)).toEqual([]);
  });
});
