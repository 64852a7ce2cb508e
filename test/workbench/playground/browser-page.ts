/**
 * The built page in a real browser. Every page that is opened here keeps what the browser complains about and what it asks the network
 * for, so that tests can expect nothing of either.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { startPageServer } from "../../../src/cli/process/page-server.ts";
import type { PlaygroundState } from "../../../src/workbench/playground/protocol.ts";
import { packState } from "../../../src/workbench/playground/share.ts";
import { buildPage } from "./built-page.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
];

/** The Chromium that `CHROMIUM` names, else the one that is installed; undefined where there is none. */
function findChromium(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const named = process.env["CHROMIUM"];
  const candidates = named === undefined ? folders.flatMap((folder) => NAMES.map((name) => join(folder, name))) : [named];
  return candidates.find((file) => existsSync(file));
}

const executablePath = findChromium();
if (executablePath === undefined)
  process.stdout.write(`skipped: the playground's page in a browser (none of ${NAMES.join(", ")} is installed, and CHROMIUM names none)\n`);

/** Time for one thing that the page does, in milliseconds: a machine may be slow, and have others to serve. */
export const PATIENCE_MS = 120_000;

/** Time for a whole test in the browser, in milliseconds. */
export const BROWSER_TEST_MS = 300_000;

/** Reports whether there is a browser to try the page in. */
export const hasChromium = executablePath !== undefined;

/** Starts the browser that is installed. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath!, args: FLAGS });
}

/** One page, and what must stay empty. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors, warnings, violations of the policy, and requests for anything but the page itself. */
  readonly complaints: string[];
}

/** Where the page can be opened: at a server's root, below a folder of a server, from a file, and from `endpoint-sync playground`. */
export type PageOrigin = "root" | "folder" | "file" | "command";

/** A browser, and the page everywhere. */
export interface PlaygroundBrowser {
  readonly address: string;
  /** Opens the page in a profile of its own; with a state behind a link. */
  open(options?: OpenOptions): Promise<OpenedPage>;
  close(): Promise<void>;
}

/** How a page is opened. */
export interface OpenOptions extends BrowserContextOptions {
  readonly state?: PlaygroundState;
  /** What stands behind the `#`, in the place of a state. */
  readonly fragment?: string;
  /** Runs before the page's own script. */
  readonly script?: string;
  /** Default `root`. */
  readonly from?: PageOrigin;
}

/** Builds the page, serves it, and starts the browser. */
export async function startBrowser(): Promise<PlaygroundBrowser> {
  const html = await buildPage();
  const server = await serve(html);
  const command = await startPageServer(html);
  const folder = await mkdtemp(join(tmpdir(), "playground-"));
  const file = join(folder, "playground.html");
  await writeFile(file, html);
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const addresses: Readonly<Record<PageOrigin, string>> = {
    root,
    folder: `${root}docs/playground/index.html`,
    file: pathToFileURL(file).href,
    command: command.url,
  };
  const browser = await launchChromium();
  return {
    address: root,
    open: ({ from = "root", ...options } = {}) => openPage(browser, addresses[from], options),
    async close() {
      await browser.close();
      server.close();
      await command.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function openPage(
  browser: Browser,
  address: string,
  { state, fragment, script, ...options }: Omit<OpenOptions, "from">,
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  if (address.startsWith("http:")) await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
  if (script !== undefined) await context.addInitScript(script);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && request.url().split("#")[0] !== address) complaints.push(`request: ${request.url()}`);
  });
  const behind = state === undefined ? fragment : await fragmentOf(state);
  await page.goto(behind === undefined ? address : `${address}#${behind}`);
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
    const found = request.url === "/" || request.url === "/docs/playground/index.html";
    response.statusCode = found ? 200 : 404;
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(found ? page : "");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}
