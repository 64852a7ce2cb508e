/**
 * Links and texts that mean harm, in a real browser: whatever is in them is shown as text, what takes too long is ended, and the page can
 * be used afterwards.
 */
import { deflateRawSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { ANSWER_TOO_LONG, WATCHDOG_MS } from "../../../src/workbench/playground/client.ts";
import { BROWSER_TEST_MS, hasChromium } from "./browser-page.ts";
import { editor, eventually, linesOf, pane, replaceIn, STATE } from "./browser-panes.ts";
import { useBrowser } from "./browser-session.ts";

const MARKUP = `<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>`;
const fragmentWith = (json: string | Buffer) => `1.${deflateRawSync(json).toString("base64url")}`;

/** A configuration whose only patch is this expression. */
const configWith = (expression: string) =>
  `sync: { toHost: { endpoints: { patches: [{ path: 'metadata.annotations["example.com/team"]', expression: ${JSON.stringify(expression)} }] } } }\n`;

describe.runIf(hasChromium)("the playground under attack", { timeout: BROWSER_TEST_MS }, () => {
  const { open } = useBrowser();
  const writeConfig = async (page: Page, text: string) => {
    await editor(page, "config").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
  };

  test("a link that means harm is not opened, and says why until it was read", async () => {
    const names = `{"config":"","tenant":"","vcluster":{"name":"${MARKUP}","namespace":"a"}}`;
    const links = [
      ["1.broken", "cut off or damaged"],
      [`1.${"A".repeat(1_000_000)}`, "longer than any"],
      [fragmentWith(Buffer.alloc(40_000_000, " ")), "too long"],
      [fragmentWith("[".repeat(400_000)), "damaged"],
      [fragmentWith(names), "names are not valid"],
    ] as const;
    const page = await open({ fragment: links[0][0] });
    const message = page.getByRole("alert").filter({ hasText: "The link cannot be opened" });
    for (const [fragment, why] of links) {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
      await eventually(() => message.allInnerTexts()).toEqual([expect.stringContaining(why)]);
    }
    await page.getByText("5 applied").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    expect(await message.count()).toBe(0);
  });

  test("a link with keys of every object brings its texts and nothing else", async () => {
    const { config, tenant } = STATE;
    const json = JSON.stringify({ config, tenant }).replace("{", '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},');
    const page = await open({ fragment: fragmentWith(json) });
    await pane(page, "results").getByText("2 patches").waitFor();
    expect(await page.evaluate("[({}).polluted, Object.prototype.polluted]")).toEqual([undefined, undefined]);
  });

  test("markup in every text is shown as text", async () => {
    const page = await open({
      state: {
        config: `sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: 'JSON.parse(${JSON.stringify(MARKUP)})'
        - path: metadata.labels['${MARKUP}']
          expression: value
`,
        tenant: STATE.tenant.replace("storefront", `'${MARKUP}'`).replace("metadata:", `metadata:\n  labels: { '${MARKUP}': '${MARKUP}' }`),
      },
    });
    await pane(page, "results").getByText("<img src=x").first().waitFor();
    const wrong = { ...STATE, config: `${STATE.config}          '${MARKUP}': 1\n` };
    await page.evaluate(`location.hash = ${JSON.stringify(fragmentWith(JSON.stringify(wrong)))}`);
    await pane(page, "results").locator(".problems").getByText("<img src=x").first().waitFor();
    await editor(page, "config").locator(".cm-lintRange-error").first().hover();
    expect(
      await page.evaluate(`(() => {
      const roots = [document, ...[...document.querySelectorAll("*")].flatMap((element) => element.shadowRoot ?? [])];
      return roots.flatMap((root) => [...root.querySelectorAll("img, script, [onerror], [onload]")]).map((element) => element.outerHTML.slice(0, 60));
    })()`),
    ).toEqual([expect.stringMatching(/^<script type="text\/plain"/), expect.stringMatching(/^<script type="module"/)]);
  });

  test("an expression without measure is ended, which is said, and the page goes on", async () => {
    const page = await open({ state: STATE });
    const expressions = [
      ["(() => { for (;;) { Math.sqrt(2) } return value })()", "EXPRESSION_FUEL"],
      ["value + 'x'.repeat(1e9)", "EXPRESSION_MEMORY"],
      ["(function again() { return again() + value })()", "EXPRESSION_STACK"],
      ['/^(a+)+$/.test("a".repeat(40) + "b") ? value : value', "EXPRESSION_FUEL"],
    ] as const;
    for (const [expression, code] of expressions) {
      await writeConfig(page, configWith(expression));
      await pane(page, "results").locator(".why").getByText(code).waitFor();
      await writeConfig(page, configWith('"usable-" + value'));
      await eventually(() => linesOf(page, "host")).toContain("    example.com/team: usable-storefront");
    }
  });

  test("what takes too long is ended, which is said, and the next edit is answered by another worker", async () => {
    const script = `(() => {
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (request) {
        if (!request.state.config.includes("# never answered")) postMessage.call(this, request);
      };
    })()`;
    const page = await open({ script });
    // The page has no timer left once its pairs are judged. The clock of the test could not cancel one that started before it.
    await eventually(() => pane(page, "results").locator(".verdict").count()).toBe(5);
    await page.clock.install();
    await editor(page, "config").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("# never answered\n");
    await page.clock.runFor(WATCHDOG_MS + 5_000);
    await pane(page, "results").getByRole("alert").filter({ hasText: ANSWER_TOO_LONG }).waitFor();
    await page.clock.resume();
    await replaceIn(page, "config", "# never answered", "# answered");
    await eventually(() => pane(page, "results").getByRole("alert").count()).toBe(0);
    await page.getByText("5 applied").waitFor();
  });
});
