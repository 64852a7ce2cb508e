/** The pane of settings: by mouse, by keys, on a phone, and for axe. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { LOOKS } from "../../../docs/generate/pictures.ts";
import { graveViolations } from "../../support/axe.ts";
import { CLIPPED, CONTROLS_WITHOUT_NAME, SHOWN_PANES, SIDEWAYS, SMALL_TARGETS, TEXTS_OF_LOW_CONTRAST } from "./browser-checks.ts";
import { BROWSER_TEST_MS, hasChromium } from "./browser-page.ts";
import { editor, eventually, focusedPane, linesOf, openSettings, pane, STATE } from "./browser-panes.ts";
import { useBrowser } from "./browser-session.ts";

/** A file with comments, and with settings that have no field. */
const SETTINGS = `# As in production.
onError: skip-patch # agreed
hostQps: 20
addressPolicy:
  allow:
    - 10.0.0.0/8 # pods
`;

describe.runIf(hasChromium)("the playground's settings", { timeout: BROWSER_TEST_MS }, () => {
  const { open, openAnswered } = useBrowser();
  const field = (page: Page, name: string) => pane(page, "settings").getByLabel(name, { exact: true });
  const openPane = async (settings = SETTINGS) => {
    const page = await openAnswered({ state: { ...STATE, settings } });
    await openSettings(page);
    return page;
  };

  test("show what the text says, and change it without touching anything else", async () => {
    const page = await openPane();
    expect(await page.evaluate(SHOWN_PANES)).toEqual(["settings", "host", "back", "results"]);
    expect(await field(page, "onError").inputValue()).toBe("skip-patch");
    expect(await field(page, "addressPolicy.allow").inputValue()).toBe("10.0.0.0/8");
    expect(await field(page, "addressPolicy.action").inputValue()).toBe("");
    await field(page, "addressPolicy.allow").fill("10.0.0.0/8\n172.16.0.0/12");
    await field(page, "addressPolicy.action").selectOption("reject-object");
    await field(page, "onError").selectOption("block-object");
    await field(page, "limits.fuel").fill("50000");
    expect(await linesOf(page, "settings")).toEqual([
      "# As in production.",
      "onError: block-object # agreed",
      "hostQps: 20",
      "addressPolicy:",
      "  allow:",
      "    - 10.0.0.0/8 # pods",
      "    - 172.16.0.0/12",
      "  action: reject-object",
      "limits:",
      "  fuel: 50000",
      expect.stringMatching(/^\s*$/),
    ]);
    await field(page, "limits.fuel").fill("");
    await field(page, "addressPolicy.action").selectOption({ label: "drop-address (default)" });
    expect((await linesOf(page, "settings")).join("\n")).not.toMatch(/limits|action/);
  });

  test("act at once, and are counted where they are closed", async () => {
    const page = await openPane("");
    expect(await pane(page, "settings").getByRole("group", { name: "Addresses" }).isVisible()).toBe(true);
    await field(page, "addressPolicy.allow").fill("10.9.0.0/16");
    await pane(page, "results").getByText("No address is left on the host").waitFor();
    await field(page, "addressPolicy.allow").fill("10.1.0.0/16");
    await eventually(() => pane(page, "results").getByText("No address is left on the host").count()).toBe(0);
    await field(page, "vcluster").fill("green");
    await eventually(() => linesOf(page, "host")).toContain("  name: web-x-shop-x-green");
    await pane(page, "settings").getByRole("button", { name: "Close" }).click();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Settings1 set");
    expect(await pane(page, "config").locator(".pane-note").innerText()).toBe("green in vc-blue");
  });

  test("say at the field what is wrong, and follow the text", async () => {
    const page = await openPane();
    await field(page, "addressPolicy.deny").fill("10.");
    await pane(page, "settings")
      .getByText(/^Expected a CIDR, found "10\."/)
      .waitFor();
    expect(await field(page, "addressPolicy.deny").getAttribute("aria-invalid")).toBe("true");
    expect(await field(page, "addressPolicy.allow").getAttribute("aria-invalid")).toBe("false");
    await pane(page, "results").locator(".problems button").first().click();
    expect(await focusedPane(page)).toBe("settings");
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText("backends: both\n");
    await eventually(() => field(page, "backends").inputValue()).toBe("both");
    expect(await field(page, "onError").inputValue()).toBe("");
    await page.keyboard.insertText("a: [");
    await eventually(() => field(page, "backends").isDisabled()).toBe(true);
    await pane(page, "settings").getByText("The text below cannot be read").waitFor();
    expect(await field(page, "vcluster").isDisabled()).toBe(false);
  });

  test("say so where a field cannot change what the text says, and then begin with what was opened", async () => {
    const page = await openPane("addressPolicy: { allow: &pods [10.0.0.0/8] }\nexcludedKeys: *pods\n");
    await field(page, "addressPolicy.allow").fill("10.9.0.0/16");
    await pane(page, "settings").getByText("This field cannot change the setting").waitFor();
    expect(await field(page, "addressPolicy.allow").inputValue()).toBe("10.0.0.0/8");
    await field(page, "addressPolicy.action").selectOption("reject-object");
    await eventually(() => pane(page, "settings").getByText("This field cannot change").isVisible()).toBe(false);
    await editor(page, "settings").click();
    for (let count = 0; count < 3; count += 1) await page.keyboard.press("Control+Z");
    await eventually(() => field(page, "addressPolicy.action").inputValue()).toBe("");
    expect((await linesOf(page, "settings"))[0]).toBe("addressPolicy: { allow: &pods [10.0.0.0/8] }");
  });

  test("explain the value that is chosen", async () => {
    const page = await openPane("");
    const help = pane(page, "settings").locator("#setting-onError-help");
    expect(await help.innerText()).toMatch(/^The effect of a failing patch\. keep-last: [^:]*$/);
    await field(page, "onError").selectOption("block-object");
    expect(await help.innerText()).toBe("The effect of a failing patch. block-object: the object is not synced.");
    expect(await field(page, "onError").getAttribute("aria-describedby")).toContain("setting-onError-help");
  });

  test("accept a drift, which is nothing to look at then", async () => {
    const config = STATE.config.replace(`'"blue-" + value'`, "value.toLowerCase()").replace(`'value.replace(/^blue-/, "")'`, "value");
    const page = await openAnswered({ state: { ...STATE, config } });
    await pane(page, "results").getByText("1 drifts").waitFor();
    await openSettings(page);
    await editor(page, "settings").click();
    await page.keyboard.insertText(`acceptedDrifts: [{ path: 'metadata.annotations["example.com/team"]', reason: only small letters }]\n`);
    await pane(page, "results").getByRole("button", { name: "Round trip: Drifts, accepted" }).click();
    await pane(page, "results").getByText("The settings accept this drift: only small letters").waitFor();
    expect(await pane(page, "results").getByText("1 drifts").count()).toBe(0);
    expect(await graveViolations(page)).toEqual([]);
  });

  test("can be set by keys alone", async () => {
    const page = await openAnswered({ state: STATE });
    await page.keyboard.press("Alt+6");
    expect(await focusedPane(page)).toBe("settings");
    expect(await field(page, "vcluster").evaluate((element) => element.matches(":focus"))).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("10.9.0.0/16");
    await pane(page, "results").getByText("No address is left on the host").waitFor();
    for (let count = 0; count < 3; count += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await eventually(() => linesOf(page, "settings")).toContain("onError: skip-patch");
    await page.keyboard.press("Alt+1");
    expect(await focusedPane(page)).toBe("config");
    expect(await page.evaluate(SHOWN_PANES)).toEqual(["config", "tenant", "host", "back", "results"]);
  });

  test("go with a link and with what the browser keeps, and an undo brings them back", async () => {
    const page = await openPane("");
    await field(page, "requireService").selectOption("true");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByText("Link copied").waitFor();
    const other = await open();
    await other.goto(page.url());
    await other.reload();
    await openSettings(other);
    await eventually(() => field(other, "requireService").inputValue()).toBe("true");
    await editor(page, "settings").click();
    await page.keyboard.press("Control+Z");
    await eventually(() => field(page, "requireService").inputValue()).toBe("");
  });

  test.each(["light", "dark"] as const)("can be read, and every control has a name, %s", async (colorScheme) => {
    const page = await openAnswered({ state: { ...STATE, settings: SETTINGS }, colorScheme });
    await openSettings(page);
    await field(page, "addressPolicy.deny").fill("10.");
    await pane(page, "settings")
      .getByText(/^Expected a CIDR/)
      .waitFor();
    expect(await page.evaluate(CONTROLS_WITHOUT_NAME)).toEqual([]);
    expect(await page.evaluate(TEXTS_OF_LOW_CONTRAST)).toEqual([]);
    expect(await page.evaluate(SMALL_TARGETS)).toEqual([]);
  });

  test.each([360, 390])("fit a phone of %i pixels, where a finger sets them", async (width) => {
    const page = await openAnswered({ state: STATE, viewport: { width, height: 740 }, hasTouch: true, isMobile: true });
    await page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name: "Settings" }).tap();
    expect(await page.evaluate(SHOWN_PANES)).toEqual(["settings"]);
    expect(await page.evaluate(SIDEWAYS)).toBe(0);
    expect(await page.evaluate(CLIPPED)).toEqual([]);
    await field(page, "addressPolicy.allow").tap();
    await page.keyboard.type("10.1.0.0/16");
    await field(page, "onError").selectOption("skip-patch");
    await eventually(() => linesOf(page, "settings")).toContain("onError: skip-patch");
    await page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name: "Patches" }).tap();
    await pane(page, "config").getByRole("button", { name: "Settings 2 set" }).tap();
    expect(await page.evaluate(SHOWN_PANES)).toEqual(["settings"]);
  });

  test.each(Object.entries(LOOKS))("leave axe nothing grave: %s", async (_look, options) => {
    const page = await openAnswered({ state: { ...STATE, settings: SETTINGS }, ...options });
    await openSettings(page);
    await field(page, "addressPolicy.deny").fill("10.");
    await pane(page, "settings")
      .getByText(/^Expected a CIDR/)
      .waitFor();
    expect(await graveViolations(page)).toEqual([]);
    await editor(page, "settings").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("a: [");
    await pane(page, "settings").getByText("The text below cannot be read").waitFor();
    expect(await graveViolations(page)).toEqual([]);
  });
});
