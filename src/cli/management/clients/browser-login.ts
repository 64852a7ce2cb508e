/**
 * Signs a user in to a platform with a browser, and passes the key to a program on the user's machine.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { systemChance } from "../../../base/chance.ts";
import { delay, systemClock } from "../../../base/clock.ts";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { BASE_PATH } from "../../../management/api/base-path.ts";
import { isLoopback } from "../../../management/sign-in/oidc/loopback.ts";
import { challengeOf, secretText } from "../../../management/sign-in/oidc/pkce.ts";
import type { ProviderFetch } from "../../../management/sign-in/oidc/provider-fetch.ts";
import type { Terminal } from "../../process/terminal.ts";
import { readLoginKey, type LoginKey } from "./login-key.ts";
import { listenForLogin } from "./login-listener.ts";

/** Where and how to sign in. */
export interface BrowserLogin {
  /** As {@link platformAddress} returns it. */
  readonly server: string;
  readonly fetch: ProviderFetch;
  /** Default: the user chooses one on the page. */
  readonly connector?: string | undefined;
  /** How long to wait for the user, in seconds. */
  readonly timeout: number;
  /** True to open a browser. The address is printed in any case. */
  readonly opens: boolean;
}

/**
 * Prints the address of the page and waits for the sign-in. The browser never receives the key.
 *
 * @throws API_UNAUTHORIZED if the sign-in fails or takes too long; API_UNAVAILABLE when the platform cannot be reached.
 */
export async function signInByBrowser(terminal: Pick<Terminal, "err" | "stopSignal">, login: BrowserLogin): Promise<LoginKey> {
  const { server, fetch, connector, timeout, opens } = login;
  const stop = terminal.stopSignal();
  const verifier = secretText(systemChance);
  const listener = await listenForLogin(secretText(systemChance));
  const ended = new AbortController();
  try {
    const url = new URL(`${server}${connector === undefined ? "/login" : `/auth/${encodeURIComponent(connector)}/login`}`);
    url.search = new URLSearchParams({ redirect: listener.redirect, code_challenge: challengeOf(verifier) }).toString();
    terminal.err(`Sign in with a browser on this machine:\n${url.href}`);
    if (opens) openBrowser(url.href);
    const waited = delay(systemClock, timeout * 1_000, AbortSignal.any([stop, ended.signal])).then(() => undefined);
    const brought = await Promise.race([listener.brought, waited]);
    if (brought === undefined)
      throw new EngineError("API_UNAUTHORIZED", stop.aborted ? "Stopped before the sign-in completed" : LATE, AGAIN);
    if ("error" in brought) throw new EngineError("API_UNAUTHORIZED", `Sign-in failed: ${brought.error}`, AGAIN);
    return await exchange(fetch, server, { code: brought.code, code_verifier: verifier });
  } finally {
    ended.abort();
    listener.close();
  }
}

const LATE = "Sign-in timed out; --timeout sets how long to wait";

/** Replaces the usual hint, which mentions the kubeconfig: a sign-in uses none. */
const AGAIN = { details: { hint: "Run the command again to sign in" } };

/**
 * Returns the address of a platform without the path of its API. It requires TLS, except on this machine, so that keys are not readable in
 * transit.
 *
 * @throws USAGE for a server over plain HTTP on another machine.
 * @example
 * platformAddress("https://platform.example/kubernetes/management"); // "https://platform.example"
 */
export function platformAddress(text: string): string {
  const url = new URL(text);
  if (url.protocol !== "https:" && !isLoopback(url))
    throw new EngineError("USAGE", "--server must begin with https://, except on this machine");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(new RegExp(`${BASE_PATH}$`), "");
}

/**
 * Checks that the platform has a connector. Otherwise, the user would notice a misspelled name only in the browser.
 *
 * @throws USAGE when the platform has no such connector; API_UNAVAILABLE when it cannot be reached.
 */
export async function demandConnector(fetch: ProviderFetch, server: string, connector: string | undefined): Promise<void> {
  const { connectors } = await ask(fetch, `${server}/auth/connectors`, { method: "GET", headers: {} });
  const ids = Array.isArray(connectors) ? connectors.flatMap((one) => (isRecord(one) ? [String(one["id"])] : [])) : [];
  if (connector === undefined || ids.includes(connector)) return;
  throw new EngineError("USAGE", `The platform has no connector "${connector}"`, {
    details: { hint: ids.length === 0 ? "It has none" : `It has ${ids.join(", ")}` },
  });
}

async function exchange(fetch: ProviderFetch, server: string, body: object): Promise<LoginKey> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const answer = await ask(fetch, `${server}/auth/exchange`, { method: "POST", headers, body: JSON.stringify(body) });
  const key = readLoginKey(answer);
  if (key === undefined) throw strange(`${server}/auth/exchange`);
  return key;
}

async function ask(fetch: ProviderFetch, url: string, request: Parameters<ProviderFetch>[1]): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(ANSWER_MS) }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
    throw new EngineError("API_UNAVAILABLE", `The platform at ${url} cannot be reached: ${messageOf(error)}${cause}`, {
      details: { hint: "Check --server and the network, and --ca if the certificate is the problem" },
    });
  });
  const document: unknown = await answer.json().catch(() => undefined);
  if (answer.ok && isRecord(document)) return document;
  const message = isRecord(document) && typeof document["message"] === "string" ? document["message"] : undefined;
  if (answer.ok || message === undefined) throw strange(url);
  throw new EngineError(
    answer.status === 401 ? "API_UNAUTHORIZED" : "API_UNAVAILABLE",
    `The platform refused: ${message.slice(0, 500)}`,
    AGAIN,
  );
}

/**
 * Reports whether the platform accepts a key. If the platform cannot be reached, the result is true; the next request with the key reports
 * why.
 */
export async function takesKey(fetch: ProviderFetch, server: string, accessKey: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessKey}`, accept: "application/json" };
  const request = { method: "GET", headers, signal: AbortSignal.timeout(LOOK_MS) };
  const answer = await fetch(`${server}${BASE_PATH}/apis/management.platform/v1`, request).catch(() => undefined);
  return answer?.status !== 401;
}

/** Maximum time for the check of a key, in milliseconds. */
const LOOK_MS = 10_000;
/** Maximum time for a response of the platform, in milliseconds. */
const ANSWER_MS = 30_000;

function strange(url: string): EngineError {
  return new EngineError("API_UNAVAILABLE", `The response from ${url} is not in the platform's format`, {
    details: { hint: "Check --server" },
  });
}

/** The command that opens an address, by system. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  linux: ["xdg-open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the user's browser if the system is known; the address has been printed anyway. */
function openBrowser(url: string): void {
  const [command, ...given] = OPENERS[process.platform] ?? [];
  if (command === undefined) return;
  const child = spawn(command, [...given, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
