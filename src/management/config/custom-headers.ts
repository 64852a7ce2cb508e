import { validateHeaderName, validateHeaderValue, type ServerResponse } from "node:http";
import { messageOf } from "../../base/errors.ts";

/** Headers that describe one connection or the encoding of a body, and those that the server sets in its responses. */
const OURS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "content-type",
  "content-encoding",
  "cache-control",
  "date",
  "location",
  "retry-after",
  "set-cookie",
  "www-authenticate",
]);

/**
 * Returns why a header is not allowed in `customHttpHeaders`; undefined when it is allowed.
 *
 * @example
 * headerProblem("Set-Cookie", "a=b"); // "the server sets this header itself"
 */
export function headerProblem(name: string, value: string): string | undefined {
  if (OURS.has(name.toLowerCase())) return "the server sets this header itself";
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Sets `customHttpHeaders` on a response whose headers have not been sent, except those that have a {@link headerProblem}. */
export function setCustomHeaders(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(headers)) {
    if (headerProblem(name, value) === undefined) response.setHeader(name, value);
  }
}
