import type { IncomingMessage, ServerResponse } from "node:http";
import { isRecord } from "../../base/json.ts";
import type { AuditRecord } from "../../apiserver/types/audit-record.ts";
import { mediaTypeOf, readBytes } from "../../apiserver/http/body/request-body.ts";
import { badRequest, forbiddenPath, methodNotAllowed, unsupportedMediaType } from "../../apiserver/types/status.ts";

/** One request for sign-in in progress. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** Absent without an audit. */
  readonly audit?: AuditRecord | undefined;
}

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";

/** Longest body in bytes; names and passwords are far shorter. */
const BODY_BYTES_MAX = 16_384;

/**
 * Requires a method.
 *
 * @throws API_ERROR (405) for any other method; the response contains the allowed one.
 */
export function expectMethod({ request, response }: Visit, method: "GET" | "POST"): void {
  if (request.method === method) return;
  response.setHeader("Allow", method);
  throw methodNotAllowed();
}

/**
 * Returns the fields of a body, which is JSON or a form. Optional fields are "" when they are absent.
 *
 * @throws API_BAD_REQUEST when a field is missing or not a string; API_INVALID (413) when the body is too long; API_ERROR (415) when it
 * has another type.
 */
export async function readFields<Name extends string, Optional extends string = never>(
  { request }: Visit,
  names: readonly Name[],
  optional: readonly Optional[] = [],
): Promise<Record<Name | Optional, string>> {
  const type = mediaTypeOf(request);
  if (type !== JSON_TYPE && type !== FORM_TYPE) throw unsupportedMediaType([JSON_TYPE, FORM_TYPE]);
  const text = (await readBytes(request, BODY_BYTES_MAX)).toString();
  const body = type === FORM_TYPE ? Object.fromEntries(new URLSearchParams(text)) : parsed(text);
  const given = optional.map((name) => [name, Object.hasOwn(body, name) ? fieldOf(body, name, true) : ""] as const);
  return Object.fromEntries([...names.map((name) => [name, fieldOf(body, name)] as const), ...given]) as Record<Name | Optional, string>;
}

/**
 * Returns the fields of a form from another site. Each must occur exactly once, and none in the address.
 *
 * @throws API_BAD_REQUEST when one is missing, empty or repeated; API_INVALID (413) when the form is too long; API_ERROR (415) when the
 * body is not a form.
 */
export async function readForm<Name extends string>(
  { request, query }: Visit,
  names: readonly Name[],
  bytesMax: number,
): Promise<Record<Name, string>> {
  if (mediaTypeOf(request) !== FORM_TYPE) throw unsupportedMediaType([FORM_TYPE]);
  const form = new URLSearchParams((await readBytes(request, bytesMax)).toString());
  const values = names.map((name): [Name, string] => {
    const [value = "", ...others] = form.getAll(name);
    if (value === "" || others.length > 0 || query.has(name))
      throw badRequest(`the form must contain the field ${name} exactly once, with a value`);
    return [name, value];
  });
  return Object.fromEntries(values) as Record<Name, string>;
}

function parsed(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may contain a password.
    throw badRequest("the body is not JSON");
  }
  if (!isRecord(value)) throw badRequest("the body is not a JSON object");
  return value;
}

function fieldOf(body: Record<string, unknown>, name: string, mayBeEmpty = false): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (typeof value !== "string" || (value === "" && !mayBeEmpty)) throw badRequest(`the field ${name} is missing, empty or not a string`);
  return value;
}

/**
 * Requires that a form comes from a page of the platform, or from a program. Browsers report the site in a header.
 *
 * @throws API_FORBIDDEN when another site sends it.
 */
export function demandOwnPage({ request }: Visit): void {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") throw forbiddenPath("another site sent this form");
}

/** Reports whether the client is a browser, which shows pages; programs get JSON. */
export function wantsPage({ request }: Pick<Visit, "request">): boolean {
  return /\btext\/html\b/i.test(request.headers.accept ?? "");
}

/** Sends a document as the response. */
export function answerJson({ response }: Pick<Visit, "response">, document: object): void {
  const bytes = Buffer.from(`${JSON.stringify(document)}\n`);
  response.writeHead(200, { "Content-Type": JSON_TYPE, "Content-Length": bytes.length });
  response.end(bytes);
}

/** Redirects the browser. */
export function answerRedirect({ response }: Pick<Visit, "response">, url: URL): void {
  response.writeHead(302, { Location: url.href, "Content-Length": 0 });
  response.end();
}

/** Redirects the browser with a GET, which drops the form that it sent. */
export function answerSeeOther({ response }: Pick<Visit, "response">, url: URL): void {
  response.writeHead(303, { Location: url.href, "Content-Length": 0 });
  response.end();
}

/** A cookie of the request; undefined when none has that name. */
export function cookieOf({ request }: Visit, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** The key that a request presents; undefined when there is none. Schemes are case-insensitive. Source: RFC 9110, section 11.1. */
export function bearerOf({ request }: Visit): string | undefined {
  return /^Bearer +([^ ]+)$/i.exec(request.headers.authorization ?? "")?.[1];
}
