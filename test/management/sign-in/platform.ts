/**
 * The sign-in endpoints behind an HTTP server, with a browser that visits them.
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemChance } from "../../../src/base/chance.ts";
import type { LogFields, Logger } from "../../../src/base/logger.ts";
import type { Identity } from "../../../src/management/sign-in/identity.ts";
import type { ProviderTokens, SignInPorts } from "../../../src/management/sign-in/ports.ts";
import { SIGN_IN_LIMITS, type SignInLimits } from "../../../src/management/sign-in/limits/limits.ts";
import { createProviderFetch, type ProviderFetch, type ProviderFetchOptions } from "../../../src/management/sign-in/oidc/provider-fetch.ts";
import type { UiSettings } from "../../../src/management/sign-in/pages/look.ts";
import { createProviderClients } from "../../../src/management/sign-in/providers/provider-clients.ts";
import { createSignInRoutes } from "../../../src/management/sign-in/routes.ts";
import type { SignInSettings } from "../../../src/management/sign-in/settings.ts";
import { unauthorized } from "../../../src/apiserver/types/status.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";

export const PASSWORD = "correct horse";

/** Running endpoints. */
export interface TestPlatform {
  readonly url: string;
  readonly clock: FakeClock;
  /** `status.auth`; a test may change it. */
  config: SignInSettings;
  /** `uiSettings`; a test may change it. */
  ui: UiSettings;
  /** Users who got a key so far. */
  readonly signedIn: { identity: Identity; tokens: ProviderTokens | undefined }[];
  /** Keys that have been ended. */
  readonly signedOut: string[];
  /** Passwords that have been checked. */
  readonly verified: string[];
  /** Every line of the log. */
  readonly log: string[];
  /** What the ports do; a test may change it. */
  ports: SignInPorts;
  /** The address that requests seem to come from. */
  address: string;
  close(): Promise<void>;
}

/** Stands for all providers. */
export interface Reaching {
  reach(how: ProviderFetchOptions): ProviderFetch;
  /** Files that settings name, by path. Default: those of the machine. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts the endpoints on a free port of loopback. */
export async function startPlatform(config: SignInSettings, limits: Partial<SignInLimits> = {}, doubles?: Reaching): Promise<TestPlatform> {
  const clock = createFakeClock();
  const signedIn: TestPlatform["signedIn"] = [];
  const signedOut: string[] = [];
  const verified: string[] = [];
  const log: string[] = [];
  const write = (message: string, fields?: LogFields) => void log.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  const ports: SignInPorts = {
    async signIn(identity, tokens) {
      signedIn.push({ identity, tokens });
      return { key: `key-${signedIn.length}`, name: `login-${signedIn.length}`, user: identity.username, expiresAt: Date.UTC(2026, 0, 21) };
    },
    async link(key, identity) {
      if (!key.startsWith("key-")) throw unauthorized("no");
      return { user: "jane", subject: `${identity.connector}/${identity.userId}` };
    },
    async verifyPassword(username, password) {
      verified.push(`${username}:${password}`);
      if (username !== "jane" || password !== PASSWORD) return undefined;
      return { userId: "jane", username: "jane", groups: [], connector: "password" };
    },
    async signOut(key) {
      if (!key.startsWith("key-")) return undefined;
      signedOut.push(key);
      return { connector: "oidc", idToken: "id-token" };
    },
  };
  const routes = createSignInRoutes({
    config: () => platform.config,
    ports: {
      signIn: (...given) => platform.ports.signIn(...given),
      link: (...given) => platform.ports.link(...given),
      verifyPassword: (...given) => platform.ports.verifyPassword(...given),
      signOut: (...given) => platform.ports.signOut(...given),
    },
    clock,
    chance: systemChance,
    baseUrl: () => platform.url,
    clients: createProviderClients({
      clock,
      readFile: async (path) => doubles?.files?.[path] ?? readFile(path, "utf8"),
      limits: { ...SIGN_IN_LIMITS, ...limits },
      createFetch: (how) => (doubles === undefined ? createProviderFetch(how) : doubles.reach(how)),
    }),
    ui: () => platform.ui,
    kubeconfig: (key) => `token: ${key}\n`,
    addressOf: () => platform.address,
    limits,
    logger,
  });
  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url!, "http://any");
    void routes({ request, response, query }, pathname).then((answered) => {
      if (!answered) response.writeHead(404).end("another server's");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const platform: TestPlatform = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clock,
    config,
    ui: {},
    signedIn,
    signedOut,
    verified,
    log,
    ports,
    address: "192.0.2.1",
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return platform;
}

/** An answer as a browser sees it. */
export interface Seen {
  readonly status: number;
  readonly location: string | null;
  readonly headers: Headers;
  /** The body, if it is JSON. */
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** A browser: keeps cookies of the platform, and follows redirects one at a time. */
export function createBrowser() {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async visit(url: string, headers: Record<string, string> = {}): Promise<Seen> {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      return seen(await fetch(url, { redirect: "manual", headers: { cookie, ...headers } }), cookies);
    },
    /** Sends the form of a page that asks whether a program may have a key. */
    async answer(url: string, page: Seen, answer = "allow", headers: Record<string, string> = {}): Promise<Seen> {
      const secret = /name="confirm" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const body = new URLSearchParams({ confirm: secret, answer });
      const init = { method: "POST", redirect: "manual", headers: { cookie, ...headers }, body } as const;
      return seen(await fetch(`${url}/auth/confirm`, init), cookies);
    },
  };
}

/** A POST of a JSON document or, with a text, of a form. */
export async function post(url: string, body: object | string, headers: Record<string, string> = {}): Promise<Seen> {
  const isForm = typeof body === "string";
  const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
  const init = { method: "POST", headers: { "content-type": type, ...headers }, body: isForm ? body : JSON.stringify(body) };
  return seen(await fetch(url, init), new Map());
}

async function seen(answer: Response, cookies: Map<string, string>): Promise<Seen> {
  for (const cookie of answer.headers.getSetCookie()) {
    const [name, value] = cookie.split(";")[0]!.split("=") as [string, string];
    if (value === "") cookies.delete(name);
    else cookies.set(name, value);
  }
  const text = await answer.text();
  const body = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: answer.status, location: answer.headers.get("location"), headers: answer.headers, body, text };
}

/** A whole login in one browser, from the platform to the provider and back. A program that asks gets the key. */
export async function login(platform: Pick<TestPlatform, "url">, { connector = "oidc", query = "" } = {}): Promise<Seen> {
  const browser = createBrowser();
  const begun = await browser.visit(`${platform.url}/auth/${connector}/login${query}`);
  if (begun.location === null) return begun;
  const back = await fetchInsecure(begun.location);
  const seen = await browser.visit(back);
  return seen.text.includes('name="confirm"') ? browser.answer(platform.url, seen) : seen;
}

/** Where a provider redirects the browser to; its certificate is the browser's concern, not the platform's. */
async function fetchInsecure(url: string): Promise<string> {
  const { get } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.headers.location!);
    }).on("error", reject);
  });
}
