/** What tests do with the panes of the page. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { PlaygroundState } from "../../../src/workbench/playground/protocol.ts";
import { PATIENCE_MS } from "./browser-page.ts";

/** One pair, on an object with two addresses. */
export const STATE: PlaygroundState = {
  vcluster: { name: "blue", namespace: "vc-blue" },
  config: `sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations["example.com/team"]
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
        - path: subsets[*].addresses[*].hostname
          expression: context.vcluster.name + "-" + value
`,
  tenant: `apiVersion: v1
kind: Endpoints
metadata:
  name: web
  namespace: shop
  annotations:
    example.com/team: storefront
subsets:
  - addresses:
      - { ip: 10.1.0.11, hostname: web-0 }
      - { ip: 10.1.0.12, hostname: web-1 }
    ports:
      - { name: http, port: 8080 }
`,
};

/** Shows a failure with its drawing, a verdict of each kind, and edits that came back and did not. */
export const BUSY: PlaygroundState = {
  ...STATE,
  config: `${STATE.config}        - path: metadata.labels.tier
          expression: value.owner.name
        - path: metadata.labels.none
          expression: value
        - path: metadata.annotations["example.com/owner"]
          expression: '"o-" + value'
          reverseExpression: value.slice(1)
`,
  tenant: STATE.tenant.replace("  annotations:", "  labels: { tier: front }\n  annotations:"),
  host: `apiVersion: v1
kind: Endpoints
metadata:
  name: web-x-shop-x-blue
  namespace: vc-blue
  annotations:
    example.com/team: blue-ops
subsets:
  - addresses:
      - { ip: 10.1.0.11, hostname: blue-web-7 }
`,
};

/** A name of a pane. */
export type PaneName = "config" | "settings" | "tenant" | "host" | "back" | "results";

/** A pane. */
export function pane(page: Page, name: PaneName): Locator {
  return page.locator(`[data-pane=${name}]`);
}

/** Opens the settings, where there is room for more than one pane. */
export async function openSettings(page: Page): Promise<void> {
  await pane(page, "config")
    .getByRole("button", { name: /^Settings/ })
    .click();
}

/** The text of an editor that people write in. */
export function editor(page: Page, name: PaneName): Locator {
  return pane(page, name).locator(".cm-content");
}

/** The lines of an editor, without those that a diff shows of another text. */
export async function linesOf(page: Page, name: PaneName): Promise<string[]> {
  return editor(page, name).locator(".cm-line").allInnerTexts();
}

/** Puts the cursor into an editor and replaces `old`, which stands there once, by typing. */
export async function replaceIn(page: Page, name: PaneName, old: string, text: string): Promise<void> {
  const line = editor(page, name).locator(".cm-line", { hasText: old });
  const before = await line.innerText();
  await line.click();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+Home");
  // A second time for the indentation, which the first leaves.
  await page.keyboard.press("Shift+Home");
  await page.keyboard.insertText(before.replace(old, text));
}

/** What is marked in an editor as found by a patch. Marks that a diff cuts into pieces are several. */
export async function markedIn(page: Page, name: PaneName): Promise<string[]> {
  return editor(page, name).locator(".cm-patch-match").allInnerTexts();
}

/** The pane that has the focus; undefined when none has. */
export async function focusedPane(page: Page): Promise<string | undefined> {
  return page.evaluate("document.activeElement.closest('[data-pane]')?.dataset.pane");
}

/** Expects what comes after a moment: the engine answers when it can. */
export function eventually<Value>(read: () => Promise<Value>) {
  return expect.poll(read, { timeout: PATIENCE_MS });
}
