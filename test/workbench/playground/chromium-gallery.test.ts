/**
 * Every example of the gallery, evaluated by Node and by the built page's own worker in a real Chromium.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { evaluate } from "../../../src/workbench/playground/worker/evaluate.ts";
import { GALLERY } from "../../../src/workbench/playground/gallery.ts";
import { tryPairs } from "../../../src/workbench/playground/worker/pairs.ts";
import type { PlaygroundReply, PlaygroundRequest } from "../../../src/workbench/playground/protocol.ts";
import { WORKER_ELEMENT } from "../../../src/workbench/playground/worker-element.ts";
import { BROWSER_TEST_MS, hasChromium, startBrowser, type OpenedPage, type PlaygroundBrowser } from "./browser-page.ts";

/** Asks a worker that is made of the page's script, under the page's policy. */
const ASK = `(requests) => new Promise((resolve, reject) => {
  const script = document.getElementById(${JSON.stringify(WORKER_ELEMENT)}).textContent;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const replies = [];
  worker.onerror = (event) => reject(new Error(event.message));
  worker.onmessage = ({ data }) => {
    replies.push(data);
    if (replies.length === requests.length) resolve(JSON.stringify(replies));
  };
  for (const request of requests) worker.postMessage(request);
})`;

/** As it crosses: what is undefined is not there. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.runIf(hasChromium)("in Chromium, from a file", () => {
  let browser: PlaygroundBrowser;
  let opened: OpenedPage;
  const replies = new Map<string, PlaygroundReply>();

  beforeAll(async () => {
    browser = await startBrowser();
    opened = await browser.open({ from: "file" });
    const requests = GALLERY.flatMap(({ state }, index): PlaygroundRequest[] => [
      { id: 2 * index, wanted: "answer", state },
      { id: 2 * index + 1, wanted: "pairs", state },
    ]);
    const text = await opened.page.evaluate<string>(`(${ASK})(${JSON.stringify(requests)})`);
    for (const reply of JSON.parse(text) as PlaygroundReply[]) {
      const { name } = GALLERY[Math.floor(reply.id / 2)]!;
      replies.set(`${name} ${reply.id % 2 === 0 ? "answer" : "pairs"}`, reply);
    }
  }, BROWSER_TEST_MS);

  afterAll(() => browser?.close(), BROWSER_TEST_MS);

  test("breaks no rule of the page's policy", () => {
    expect(opened.complaints).toEqual([]);
  });

  test.each(GALLERY)("$name has the same values for the same fuel", async ({ name, state }) => {
    expect(replies.get(`${name} answer`)).toEqual({
      kind: "answer",
      id: expect.any(Number) as number,
      answer: asJson(await evaluate(state)),
    });
  });

  test.each(GALLERY)("$name has the same verdicts by the same counter-examples", async ({ name, state }) => {
    expect(replies.get(`${name} pairs`)).toEqual({
      kind: "pairs",
      id: expect.any(Number) as number,
      verdicts: asJson(await tryPairs(state)),
    });
  });
});
