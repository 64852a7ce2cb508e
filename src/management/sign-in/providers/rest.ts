/**
 * Requests to the API of a provider: JSON only, each with a limit for time and size, and lists in pages up to a limit.
 *
 * @module
 */
import { messageOf } from "../../../base/errors.ts";
import { isRecord, parseJson } from "../../../base/json.ts";
import { forbiddenPath, unauthorized, unavailable } from "../../../apiserver/types/status.ts";
import type { ProviderFetch } from "../oidc/provider-fetch.ts";
import { troubled } from "../provider-troubles.ts";

/** Options of a provider's API. */
export interface RestOptions {
  readonly fetch: ProviderFetch;
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long one response may take, in seconds. */
  readonly timeoutSeconds: number;
  /** How long all requests of one login may take together, in seconds. */
  readonly totalSeconds: number;
  /** Maximum number of pages of one list. */
  readonly pagesMax: number;
}

/** One request. */
export interface RestRequest {
  readonly method?: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** Statuses that are not failures, in addition to 2xx. */
  readonly expected?: readonly number[];
}

/** A decoded response. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined for a failure whose body is not JSON. */
  readonly body: unknown;
}

/** A provider's API during one login. */
export interface Rest {
  /**
   * @throws API_UNAUTHORIZED for 401; API_UNAVAILABLE when the provider refuses otherwise, does not respond in time, or returns something
   *   other than JSON.
   */
  ask(url: string, request?: RestRequest): Promise<RestAnswer>;
  /**
   * Returns the responses to a request and to the requests for further pages, whose addresses `next` returns. Each page is requested only
   * once.
   *
   * @throws API_FORBIDDEN when there are too many pages; API_UNAVAILABLE when a page is at another origin than the first, which must not
   * get the token.
   */
  pages(url: string, next: (answer: RestAnswer, url: string) => string | undefined, request?: RestRequest): Promise<readonly RestAnswer[]>;
}

const refusedTokens = new WeakSet<object>();

/** Reports whether a request failed because its token was refused. */
export function isTokenRefused(error: unknown): boolean {
  return typeof error === "object" && error !== null && refusedTokens.has(error);
}

/**
 * Rethrows the error of requests with a new token. A new token that is refused has not expired: it lacks a permission.
 *
 * @throws API_UNAVAILABLE for a token that was refused, or else `error`.
 */
export function withFreshToken(error: unknown): never {
  throw isTokenRefused(error) ? troubled("permission", `${messageOf(error)}: ${String((error as Error).cause)}`) : error;
}

/** Deepest nesting of a response. */
const DEPTH_MAX = 32;

/**
 * Opens an API for one login.
 *
 * @example
 * const rest = createRest({ fetch, headers: { authorization: "Bearer TOKEN" }, timeoutSeconds: 10, totalSeconds: 30, pagesMax: 100 });
 * const { body } = await rest.ask("https://code.example/api/v4/user");
 */
export function createRest({ fetch, headers, timeoutSeconds, totalSeconds, pagesMax }: RestOptions): Rest {
  const whole = AbortSignal.timeout(totalSeconds * 1_000);
  const ask = async (url: string, { method = "GET", body, form, expected = [] }: RestRequest = {}): Promise<RestAnswer> => {
    const where = `${method} ${placeIn(url)}`;
    const signal = AbortSignal.any([whole, AbortSignal.timeout(timeoutSeconds * 1_000)]);
    const allHeaders = { accept: "application/json", ...headers, ...typeOf(body, form) };
    const answer = await fetch(url, { method, headers: allHeaders, signal, ...sent(body, form) });
    const { status } = answer;
    if (!answer.ok && !expected.includes(status)) throw failureOf(answer, where);
    const text = await answer.text();
    const isEmpty = status === 204;
    return { status, headers: answer.headers, body: isEmpty ? undefined : answer.ok ? parsed(text, answer, where) : jsonIn(text) };
  };
  return {
    ask,
    async pages(first, next, request) {
      const answers: RestAnswer[] = [];
      const asked = new Set<string>();
      for (let url: string | undefined = first; url !== undefined && !asked.has(url);) {
        if (asked.size >= pagesMax) throw forbiddenPath(`the provider sends more than ${pagesMax} pages of data about you`);
        asked.add(url);
        const answer: RestAnswer = await ask(url, request);
        answers.push(answer);
        url = next(answer, url);
        if (url !== undefined && (!URL.canParse(url) || new URL(url).origin !== new URL(first).origin))
          throw unavailable(`the address of the next page of ${placeIn(first)} is invalid or has another origin`);
      }
      return answers;
    },
  };
}

/** Host and path of a URL, without the query, which may contain an email address. */
function placeIn(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function typeOf(body: object | undefined, form: object | undefined): Record<string, string> {
  if (body !== undefined) return { "content-type": "application/json" };
  return form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
}

function sent(body: object | undefined, form: Readonly<Record<string, string>> | undefined): { readonly body?: string } {
  if (body !== undefined) return { body: JSON.stringify(body) };
  return form === undefined ? {} : { body: new URLSearchParams(form).toString() };
}

function failureOf({ status, headers }: Response, where: string) {
  const isBusy = status === 429 || headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0";
  if (isBusy && (status === 403 || status === 429 || status === 503)) return troubled("busy", `${where}: ${status}, too many requests`);
  if (status === 401) {
    const error = Object.assign(unauthorized("the provider does not accept the token"), { cause: `${where}: 401` });
    refusedTokens.add(error);
    return error;
  }
  if (status === 403) return troubled("permission", `${where}: 403`);
  return unavailable(`${where}: ${status}`);
}

function parsed(text: string, { headers }: Response, where: string): unknown {
  const type = headers.get("content-type") ?? "";
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) throw unavailable(`${where}: the response is not JSON`);
  try {
    return parseJson(text, DEPTH_MAX);
  } catch (error) {
    throw unavailable(`${where}: the response cannot be read: ${messageOf(error).slice(0, 100)}`);
  }
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text, DEPTH_MAX);
  } catch {
    // A failure says by its status what it is; only some have more to say.
    return undefined;
  }
}

/** The address of the next page in the header `Link`. Source: RFC 8288. */
export function linkedNext({ headers }: RestAnswer): string | undefined {
  const links = (headers.get("link") ?? "").split(",");
  const next = links.find((link) => /;\s*rel="?next"?\s*(?:;|$)/i.test(link));
  return next === undefined ? undefined : /<([^>]*)>/.exec(next)?.[1];
}

/** An object in a response. */
export function recordIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw unavailable(`the provider's ${what} is not an object`);
  return value;
}

/** The objects of a list. */
export function recordsIn(value: unknown, what: string): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) throw unavailable(`the provider's ${what} is not a list`);
  return value.map((item) => recordIn(item, what));
}

/** A required string of an object. */
export function requiredText(record: Readonly<Record<string, unknown>>, name: string, what: string): string {
  const value = optionalText(record, name, what);
  if (value === undefined) throw unavailable(`the provider's ${what} has no ${name}`);
  return value;
}

/** A string of an object; undefined when it is absent, null or empty. */
export function optionalText(record: Readonly<Record<string, unknown>>, name: string, what: string): string | undefined {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw unavailable(`in the provider's ${what}, ${name} is not a string`);
  return value;
}

/** A numeric id, as text. Numbers that are too large to be exact are refused. */
export function numericId(record: Readonly<Record<string, unknown>>, name: string, what: string): string {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value <= 0)
    throw unavailable(`in the provider's ${what}, ${name} is not a positive whole number`);
  return String(value);
}
