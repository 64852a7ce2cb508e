import { load } from "js-yaml";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { BROWSER_TEST_MS, hasChromium } from "./browser-page.ts";
import { editor, eventually, focusedPane, linesOf, markedIn, openSettings, pane, replaceIn, STATE } from "./browser-panes.ts";
import { useBrowser } from "./browser-session.ts";
import { DRIFTING_TOGETHER } from "./drifting-together.ts";

/** A list of what can be written takes keys after 75 ms, by the page's own clock. */
const LIST_FOR_KEYS_MS = 150;

describe.runIf(hasChromium)("the playground in a browser", { timeout: BROWSER_TEST_MS }, () => {
  const session = useBrowser();
  const { open } = session;
  /** Opened with {@link STATE}, and answered. */
  const openState = (change: Partial<typeof STATE> = {}): Promise<Page> => session.openAnswered({ state: { ...STATE, ...change } });
  const clipboard = (page: Page) => page.evaluate<string>("navigator.clipboard.readText()");

  test("opens with an example, answers it, and judges its pairs", async () => {
    const page = await open();
    await page.getByText("5 applied").waitFor();
    await eventually(() => pane(page, "results").locator(".verdict").count()).toBe(5);
    expect(await linesOf(page, "host")).toContain("    example.com/team: blue-payments");
    expect(await pane(page, "back").getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/Synced back[\s\S]*"storefront" → "payments"/),
    ]);
  });

  test("shows in the host object what an edit of a patch comes to, and marks the difference", async () => {
    const page = await openState();
    await replaceIn(page, "config", '"blue-" + value', '"green-" + value');
    await eventually(() => linesOf(page, "host")).toContain("    example.com/team: green-storefront");
    expect(await editor(page, "host").locator(".cm-changedText").allInnerTexts()).toContain("green-");
    expect(await editor(page, "host").locator(".cm-deletedChunk").allInnerTexts()).toContainEqual(
      expect.stringContaining("example.com/team: storefront"),
    );
  });

  test("compares with what is chosen", async () => {
    const page = await openState();
    await pane(page, "host").getByText("Off").click();
    await eventually(() => editor(page, "host").locator(".cm-changedText").count()).toBe(0);
    await pane(page, "host").getByText("Synced").click();
    await replaceIn(page, "host", "blue-storefront", "blue-ops");
    await eventually(() => editor(page, "host").locator(".cm-deletedChunk").allInnerTexts()).toEqual([
      expect.stringContaining("blue-storefront"),
    ]);
  });

  test("shows the place of a broken expression, and goes there", async () => {
    const page = await openState();
    await replaceIn(page, "config", '"blue-" + value', '"blue-" + value;');
    const problem = pane(page, "results").locator(".problems button");
    await problem.waitFor();
    expect(await problem.innerText()).toMatch(/EXPRESSION_SYNTAX[\s\S]*line 6, column 39[\s\S]*Leave out the semicolon/);
    expect(await editor(page, "config").locator(".cm-lintRange-error").allInnerTexts()).toEqual([";"]);
    await pane(page, "host").getByText("Out of date").waitFor();
    await editor(page, "tenant").click();
    await problem.click();
    expect(await focusedPane(page)).toBe("config");
    expect(await pane(page, "config").locator(".cm-lineNumbers .cm-activeLineGutter").innerText()).toBe("6");
    await page.keyboard.press("Delete");
    await page.getByText("2 applied").waitFor();
    expect(await editor(page, "config").locator(".cm-lintRange-error").count()).toBe(0);
  });

  test("draws what the parts of a failing expression came to", async () => {
    const page = await openState();
    await replaceIn(page, "config", '"blue-" + value', "value.owner.name");
    const drawing = pane(page, "results").locator(".drawing");
    await drawing.waitFor();
    expect(await drawing.innerText()).toMatch(/^value\.owner\.name\n[\s\S]*undefined[\s\S]*"storefront"/);
    expect(await editor(page, "config").locator(".cm-lintRange-error").innerText()).toContain("value.owner.name");
  });

  test("brings a host edit back into the tenant, and says what it takes back", async () => {
    const page = await openState();
    await replaceIn(page, "host", "blue-storefront", "blue-ops");
    await eventually(() => linesOf(page, "back")).toContain("    example.com/team: ops");
    expect(await pane(page, "back").getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/Synced back[\s\S]*"storefront" → "ops"/),
    ]);
    await replaceIn(page, "host", "blue-web-0", "blue-web-9");
    await eventually(() => pane(page, "back").getByRole("listitem").allInnerTexts()).toContainEqual(expect.stringMatching(/^Undone/));
    await page.getByRole("button", { name: "Discard" }).click();
    await pane(page, "back").getByText("Nothing is synced back yet").waitFor();
    await eventually(() => linesOf(page, "host")).toContain("    example.com/team: blue-storefront");
  });

  test("shows on demand how a pair oscillates", async () => {
    const config = STATE.config.replace('value.replace(/^blue-/, "")', "value.slice(4)");
    const page = await openState({ config });
    const verdict = page.getByRole("button", { name: "Round trip: Oscillates" });
    await verdict.waitFor();
    expect(await verdict.getAttribute("aria-expanded")).toBe("false");
    await verdict.click();
    const rows = await pane(page, "results").locator(".rounds tbody tr").allInnerTexts();
    expect(rows.length).toBeGreaterThan(2);
    expect(rows[1]).toMatch(/"-.*"blue--/s);
    expect(await focusedPane(page)).toBe("results");
    await verdict.click();
    expect(await pane(page, "results").locator(".rounds").count()).toBe(0);
  });

  test("shows what patches do only together", async () => {
    const page = await openState({ config: DRIFTING_TOGETHER });
    const together = pane(page, "results").getByRole("region", { name: "Together" });
    await together.getByText("Drifts").waitFor();
    expect(await together.getByRole("list", { name: "Patches of Endpoints" }).getByRole("listitem").allInnerTexts()).toEqual([
      "metadata.annotations.a",
      "metadata.annotations.b",
    ]);
    expect(await together.locator(".rounds tbody tr").count()).toBeGreaterThan(1);
  });

  test("marks what a patch finds when it is clicked, and when the cursor is in it", async () => {
    const page = await openState();
    await pane(page, "results").getByRole("button", { name: "hostname" }).click();
    expect(await focusedPane(page)).toBe("config");
    await eventually(() => markedIn(page, "tenant")).toEqual(["web-0", "web-1"]);
    await editor(page, "config").locator(".cm-line", { hasText: "reverseExpression" }).click();
    await eventually(() => markedIn(page, "tenant")).toEqual(["storefront"]);
  });

  test("opens examples, and comes back by undo and reset", async () => {
    const page = await openState();
    await page.getByRole("button", { name: "Examples" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "A pair that oscillates" }).click();
    await eventually(() => linesOf(page, "config")).toContain("          expression: '\"my-prefix-\" + value'");
    expect(await focusedPane(page)).toBe("config");
    await page.keyboard.press("Control+Z");
    await eventually(() => linesOf(page, "config")).toContain("          expression: '\"blue-\" + value'");
    await page.getByRole("button", { name: "Reset" }).click();
    await eventually(() => linesOf(page, "config")).toContain("          expression: '\"my-prefix-\" + value'");
  });

  test("shares everything that is on the page by a link", async () => {
    const page = await openState();
    await replaceIn(page, "host", "blue-storefront", "blue-ops");
    await eventually(() => linesOf(page, "back")).toContain("    example.com/team: ops");
    await openSettings(page);
    await page.getByLabel("vcluster", { exact: true }).fill("green");
    await pane(page, "settings").getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByText("Link copied").waitFor();
    const link = await clipboard(page);
    const other = await open();
    await other.goto(link);
    await other.reload();
    await eventually(() => linesOf(other, "host")).toContain("    example.com/team: blue-ops");
    expect(await linesOf(other, "config")).toEqual(await linesOf(page, "config"));
    expect(await other.getByLabel("vcluster", { exact: true }).inputValue()).toBe("green");
  });

  test("copies a test file", async () => {
    const page = await openState();
    await page.getByRole("button", { name: "Copy test" }).click();
    await page.getByText("Test file copied").waitFor();
    expect(load(await clipboard(page))).toMatchObject({ kind: "PatchTest", context: { vcluster: STATE.vcluster } });
    await replaceIn(page, "config", "sync:", "sync: [");
    await pane(page, "results").locator(".problems").waitFor();
    await page.getByRole("button", { name: "Copy test" }).click();
    await page.getByText("There is nothing to copy yet").waitFor();
  });

  test("copies commands and a module, by the menu beside it", async () => {
    const page = await openState();
    const menu = page.getByRole("button", { name: "Copy as…" });
    await menu.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Command line" }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toContain("Command line");
    await page.keyboard.press("Enter");
    await page.getByText("Commands copied").waitFor();
    expect(await clipboard(page)).toContain(
      "npx endpoint-sync render --config vcluster.yaml -f tenant.yaml --name blue --namespace vc-blue",
    );
    expect(await menu.getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Escape");
    expect(await page.getByRole("menu").count()).toBe(0);
    await menu.click();
    await page.getByRole("menuitem", { name: "TypeScript" }).click();
    await page.getByText("TypeScript copied").waitFor();
    expect(await clipboard(page)).toContain('import { createPatcher, parseConfig } from "endpoint-sync";');
    await menu.click();
    await editor(page, "tenant").click();
    expect(await page.getByRole("menu").count()).toBe(0);
  });

  test("says what it is for until it is dismissed", async () => {
    const page = await openState();
    await page.getByRole("region", { name: "How it works" }).getByText("Change a patch").waitFor();
    await page.getByRole("button", { name: "Got it" }).click();
    expect(await focusedPane(page)).toBe("config");
    await page.reload();
    await pane(page, "results").locator(".patch").first().waitFor();
    expect(await page.getByRole("region", { name: "How it works" }).count()).toBe(0);
  });

  test("explains its words in place", async () => {
    const page = await openState();
    await page.getByRole("button", { name: /^[\d,]+ ?fuel$/ }).click();
    const help = page.getByRole("dialog", { name: "Help" });
    for (const word of ["fuel", "Lossless", "One-way", "Drifts", "Oscillates", "No match"])
      expect(await help.getByRole("term").filter({ hasText: word }).count()).toBe(1);
    await page.keyboard.press("Escape");
    const verdict = page.getByRole("button", { name: "Round trip: One-way" });
    await verdict.click();
    await pane(page, "results").getByText("Host edits are not synced back.").waitFor();
  });

  test("tells of a path that finds nothing how far it leads", async () => {
    const page = await openState({ config: STATE.config.replace("].hostname", "].hostnames") });
    await pane(page, "results").getByText("Did you mean subsets[*].addresses[*].hostname?").waitFor();
  });

  test.each(["folder", "file", "command"] as const)("works from %s, links included", async (from) => {
    const page = await open({ state: STATE, from });
    await eventually(() => linesOf(page, "host")).toContain("    example.com/team: blue-storefront");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByText(/Link copied|The link is now in the address bar/).waitFor();
    expect(page.url()).toMatch(/#1\.[-\w]+$/);
  });

  test("offers what can be written, by typing and by keys", async () => {
    const page = await openState();
    await replaceIn(page, "config", '"blue-" + value', '"blue-" + value');
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type(".tr");
    const list = pane(page, "config").getByRole("listbox");
    await eventually(() => list.getByRole("option").allInnerTexts()).toContain("trim");
    await page.keyboard.press("Escape");
    await eventually(() => list.count()).toBe(0);
    // Escape closed the list, and the editor is not left.
    await page.keyboard.press("Control+Space");
    await list.getByRole("option", { name: "trimEnd" }).waitFor();
    await page.keyboard.type("imE");
    await eventually(() => list.getByRole("option").allInnerTexts()).toEqual(["trimEnd"]);
    // So that nothing that has just appeared is taken by accident, the list gets keys only after a moment.
    await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${LIST_FOR_KEYS_MS}))`);
    await page.keyboard.press("Tab");
    await eventually(() => linesOf(page, "config")).toContain("          expression: '\"blue-\" + value.trimEnd'");
    expect(await focusedPane(page)).toBe("config");
  });

  test("offers the keys of the tenant's object in a path, in brackets where they need them", async () => {
    const page = await openState();
    await replaceIn(page, "config", 'annotations["example.com/team"]', "annotations");
    await page.keyboard.type(".");
    await pane(page, "config").getByRole("option", { name: "example.com/team" }).click();
    await eventually(() => linesOf(page, "config")).toContain('        - path: metadata.annotations["example.com/team"]');
    await page.getByText("2 applied").waitFor();
  });

  test("says what an API server would refuse", async () => {
    const page = await openState({ config: STATE.config.replace('context.vcluster.name + "-" + value', "value.toUpperCase()") });
    await page.getByText("2 refused").waitFor();
    await pane(page, "results")
      .getByText(/An API server refuses what the patch of .* wrote: .*"WEB-0"/)
      .waitFor();
  });

  test("keeps what was written, and the chosen colours, for the next visit", async () => {
    const page = await openState();
    await replaceIn(page, "config", '"blue-" + value', '"green-" + value');
    await page.getByRole("button", { name: /^Colours/ }).click();
    await page.getByRole("button", { name: /^Colours: light/ }).click();
    await eventually(() => linesOf(page, "host")).toContain("    example.com/team: green-storefront");
    await page.goto(session.address);
    await eventually(() => linesOf(page, "host")).toContain("    example.com/team: green-storefront");
    expect(await page.evaluate("getComputedStyle(document.documentElement).colorScheme")).toBe("dark");
  });

  test("works where the browser keeps nothing", async () => {
    const page = await open({ script: `Object.defineProperty(window, "localStorage", { get() { throw new Error("forbidden"); } });` });
    await page.getByText("5 applied").waitFor();
    await page.getByRole("button", { name: /^Colours/ }).click();
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("light");
  });

  test("refuses a name of a virtual cluster that is none, and keeps the last", async () => {
    const page = await openState();
    await openSettings(page);
    await page.getByLabel("vcluster", { exact: true }).fill("Not a name");
    expect(await page.getByLabel("vcluster", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("vcluster", { exact: true }).fill("green");
    await eventually(() => linesOf(page, "host")).toContain("  name: web-x-shop-x-green");
  });
});
