/**
 * The built page in a real browser. Every page that is opened here keeps what the browser complains about and what it asks the network
 * for, so that tests can expect nothing of either.
 */
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { PlaygroundState } from "../../src/playground/protocol.ts";
import { packState } from "../../src/playground/share.ts";
import { buildPage } from "./built-page.ts";
import { findChromium, launchChromium, tellSkipped } from "./chromium.ts";

const chromium = findChromium();
if (chromium === undefined) tellSkipped("the playground's page in a browser");

/** Tells whether there is a browser to try the page in. */
export const hasChromium = chromium !== undefined;

/** One page, and what must stay empty. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors, warnings, violations of the policy, and requests for anything but the page itself. */
  readonly complaints: string[];
}

/** A browser with the page behind a server. */
export interface PlaygroundBrowser {
  readonly address: string;
  /** Opens the page in a profile of its own; with a state behind a link. */
  open(options?: BrowserContextOptions & { readonly state?: PlaygroundState; readonly script?: string }): Promise<OpenedPage>;
  close(): Promise<void>;
}

/** Builds the page, serves it, and starts the browser. */
export async function startBrowser(): Promise<PlaygroundBrowser> {
  const server = await serve(await buildPage());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const browser = await launchChromium(chromium!);
  return {
    address,
    open: (options = {}) => openPage(browser, address, options),
    async close() {
      await browser.close();
      server.close();
    },
  };
}

async function openPage(
  browser: Browser,
  address: string,
  { state, script, ...options }: NonNullable<Parameters<PlaygroundBrowser["open"]>[0]>,
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
  if (script !== undefined) await context.addInitScript(script);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().split("#")[0]!.endsWith(address))
      complaints.push(`request: ${request.url()}`);
  });
  await page.goto(state === undefined ? address : `${address}#${await fragmentOf(state)}`);
  return { page, complaints };
}

async function fragmentOf(state: PlaygroundState): Promise<string> {
  const packed = await packState(state);
  if (!packed.ok) throw new Error(packed.message);
  return packed.fragment;
}

/** The one page, and nothing else. */
async function serve(page: string): Promise<Server> {
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/" ? 200 : 404;
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(request.url === "/" ? page : "");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}
