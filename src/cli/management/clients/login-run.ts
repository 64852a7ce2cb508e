/**
 * `login`: a person signs in by a browser, and a kubeconfig gets the key. The key is never shown.
 *
 * @module
 */
import { systemChance } from "../../../base/chance.ts";
import { delay, systemClock } from "../../../base/clock.ts";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { BASE_PATH } from "../../../management/api/base-path.ts";
import { isLoopback } from "../../../management/sign-in/oidc/loopback.ts";
import { challengeOf, secretText } from "../../../management/sign-in/oidc/pkce.ts";
import { createProviderFetch } from "../../../management/sign-in/oidc/provider-fetch.ts";
import type { ProviderFetch } from "../../../management/sign-in/oidc/provider-fetch.ts";
import type { CommandContext } from "../../process/command.ts";
import { openBrowser } from "./browser.ts";
import { checkContext, writeContext } from "./login-kubeconfig.ts";
import { listenForLogin } from "./login-listener.ts";

/** The options of `login`. */
export interface LoginFlags {
  readonly server: string;
  readonly ca?: string;
  readonly connector?: string;
  readonly context: string;
  readonly kubeconfig?: string;
  readonly timeout: number;
  readonly browser: boolean;
}

/**
 * Signs a person in at a platform.
 *
 * @throws USAGE for a server by plain HTTP elsewhere than on this machine; API_UNAUTHORIZED if the sign-in fails; API_UNAVAILABLE when the
 * platform cannot be asked; CONFIG_FILE when the kubeconfig cannot be written.
 */
export async function runLogin({ terminal }: CommandContext, flags: LoginFlags): Promise<void> {
  const server = serverOf(flags.server);
  const path = flags.kubeconfig ?? `${flags.context}.kubeconfig`;
  const caPem = flags.ca === undefined ? undefined : await terminal.read(flags.ca);
  const context = { name: flags.context, url: `${server}${BASE_PATH}`, ...(caPem !== undefined && { caPem }) };
  await checkContext(path, context);
  const fetch = createProviderFetch(caPem === undefined ? {} : { ca: caPem });
  await demandConnector(fetch, server, flags.connector);
  const stop = terminal.stopSignal();
  const verifier = secretText(systemChance);
  const listener = await listenForLogin(secretText(systemChance));
  const ended = new AbortController();
  try {
    const login = flags.connector === undefined ? "/login" : `/auth/${encodeURIComponent(flags.connector)}/login`;
    const url = new URL(`${server}${login}`);
    url.search = new URLSearchParams({ redirect: listener.redirect, code_challenge: challengeOf(verifier) }).toString();
    terminal.err(`Sign in with a browser on this machine:\n${url.href}`);
    if (flags.browser && terminal.screen !== undefined) openBrowser(url.href);
    const waited = delay(systemClock, flags.timeout * 1_000, AbortSignal.any([stop, ended.signal])).then(() => undefined);
    const brought = await Promise.race([listener.brought, waited]);
    if (brought === undefined) throw new EngineError("API_UNAUTHORIZED", stop.aborted ? "Stopped before the sign-in completed" : LATE);
    if ("error" in brought) throw new EngineError("API_UNAUTHORIZED", `Sign-in failed: ${brought.error}`);
    const { accessKey, name, expiresAt } = await exchange(fetch, server, { code: brought.code, code_verifier: verifier });
    await writeContext(path, { ...context, token: accessKey });
    terminal.out(`Signed in${expiresAt === undefined ? "" : ` until ${expiresAt}`}; the key is ${name}\n`);
    terminal.out(`kubectl --kubeconfig ${path} get teams\n`);
  } finally {
    ended.abort();
    listener.close();
  }
}

const LATE = "Sign-in timed out; --timeout sets how long to wait";

/** The address of a platform without what stands behind it. A key must not be read on its way. */
function serverOf(text: string): string {
  const url = new URL(text);
  if (url.protocol !== "https:" && !isLoopback(url))
    throw new EngineError("USAGE", "--server must begin with https://, except on this machine");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(new RegExp(`${BASE_PATH}$`), "");
}

/** A misspelt connector would be seen in the browser only. */
async function demandConnector(fetch: ProviderFetch, server: string, connector: string | undefined): Promise<void> {
  const { connectors } = await ask(fetch, `${server}/auth/connectors`, { method: "GET", headers: {} });
  const ids = Array.isArray(connectors) ? connectors.flatMap((one) => (isRecord(one) ? [String(one["id"])] : [])) : [];
  if (connector === undefined || ids.includes(connector)) return;
  throw new EngineError("USAGE", `The platform has no connector "${connector}"`, {
    details: { hint: ids.length === 0 ? "It has none" : `It has ${ids.join(", ")}` },
  });
}

interface Exchanged {
  readonly accessKey: string;
  readonly name: string;
  readonly expiresAt: string | undefined;
}

async function exchange(fetch: ProviderFetch, server: string, body: object): Promise<Exchanged> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const answer = await ask(fetch, `${server}/auth/exchange`, { method: "POST", headers, body: JSON.stringify(body) });
  const { accessKey, name, expiresAt } = answer;
  if (typeof accessKey !== "string" || typeof name !== "string") throw strange(`${server}/auth/exchange`);
  return { accessKey, name, expiresAt: typeof expiresAt === "string" ? expiresAt : undefined };
}

async function ask(fetch: ProviderFetch, url: string, request: Parameters<ProviderFetch>[1]): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(ANSWER_MS) }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
    throw new EngineError("API_UNAVAILABLE", `The platform at ${url} cannot be asked: ${messageOf(error)}${cause}`);
  });
  const document: unknown = await answer.json().catch(() => undefined);
  if (answer.ok && isRecord(document)) return document;
  const message = isRecord(document) && typeof document["message"] === "string" ? document["message"] : undefined;
  if (answer.ok || message === undefined) throw strange(url);
  throw new EngineError(answer.status === 401 ? "API_UNAUTHORIZED" : "API_UNAVAILABLE", `The platform refused: ${message.slice(0, 500)}`);
}

/** How long the platform may take for one answer, in milliseconds. */
const ANSWER_MS = 30_000;

function strange(url: string): EngineError {
  return new EngineError("API_UNAVAILABLE", `What answers at ${url} is no platform`, { details: { hint: "Look at --server" } });
}
