import { EngineError, messageOf } from "../../base/errors.ts";
import { isRecord, parseJson } from "../../base/json.ts";
import { formatKey, type ObjectKey } from "../object/key.ts";
import type { ResourceType } from "../object/resource.ts";
import { errorFromStatus, type Status } from "../object/status.ts";
import type { KubeObject } from "../object/types.ts";

/** A complete response of the API server. */
export interface Answer {
  readonly status: number;
  /** Value of the Retry-After header, if there was one. */
  readonly retryAfter: string | undefined;
  readonly text: string;
  /** The request, for messages: `GET /api/v1/…`. */
  readonly request: string;
}

/** Maximum length of a response's text in messages. */
const EXCERPT_MAX = 200;
/**
 * Deeper nesting is refused, because code that later walks the objects could overflow the stack. The kinds of Kubernetes have about ten
 * levels; an embedded cluster accepts 200, and a list with the managed fields of such an object doubles them.
 */
export const ANSWER_DEPTH_MAX = 500;

/** Reports whether the server accepted the request. */
export function isSuccess(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

/**
 * Returns the JSON object in a response.
 *
 * @throws API_UNAVAILABLE when the response is not a JSON object: for example, a truncated response, a proxy's login page, or data that is
 *   nested too deeply.
 */
export function parseAnswer(answer: Answer): Record<string, unknown> {
  const body = parse(answer.text);
  if (isRecord(body)) return body;
  throw new EngineError(
    "API_UNAVAILABLE",
    `Cannot read the response to ${answer.request}: expected a JSON object of at most ${ANSWER_DEPTH_MAX} levels, found ${excerpt(answer.text)}`,
  );
}

/** Expected object in a response. */
export interface Expected {
  readonly resource: ResourceType;
  /** Omitted if the server generates the name, or stores nothing. */
  readonly key?: ObjectKey | undefined;
}

/**
 * Returns the Kubernetes object in a response.
 *
 * @throws API_UNAVAILABLE if the response is not an object, or not the requested one.
 */
export function objectFromAnswer(answer: Answer, expected: Expected): KubeObject {
  const body = parseAnswer(answer);
  if (isObjectOf(body, expected)) return body as unknown as KubeObject;
  throw new EngineError(
    "API_UNAVAILABLE",
    `Cannot read the response to ${answer.request}: expected ${describe(expected)}, found ${excerpt(answer.text)}`,
  );
}

function describe({ resource: { apiVersion, kind }, key }: Expected): string {
  return `${apiVersion} ${kind}${key === undefined ? "" : ` ${JSON.stringify(formatKey(key))}`}`;
}

function isObjectOf({ apiVersion, kind, metadata }: Record<string, unknown>, { resource, key }: Expected): boolean {
  if (apiVersion !== resource.apiVersion || kind !== resource.kind || !isRecord(metadata)) return false;
  if (key === undefined) return true;
  const { name, namespace = "" } = metadata;
  return name === key.name && (!resource.namespaced || namespace === key.namespace);
}

/**
 * Verifies that a delete happened: a server responds with a successful Status, or with the object as it was or as it is being deleted.
 *
 * @throws API_UNAVAILABLE when the response is neither: the outcome is then unknown.
 */
export function checkDeleted(answer: Answer, expected: Expected): void {
  const body = parseAnswer(answer);
  const isStatus = body["kind"] === "Status" && body["status"] === "Success";
  if (isStatus || isObjectOf(body, expected)) return;
  throw new EngineError(
    "API_UNAVAILABLE",
    `Cannot read the response to ${answer.request}: expected a successful Status or ${describe(expected)}, found ${excerpt(answer.text)}`,
  );
}

/** Returns the Status in a response, if the response is one. */
export function statusInAnswer(answer: Answer): Status | undefined {
  const body = parse(answer.text);
  return isRecord(body) && body["kind"] === "Status" ? (body as unknown as Status) : undefined;
}

/**
 * Returns the error for an unsuccessful response. It contains the server's own Status, or one made from the HTTP status and the beginning
 * of the text, because load balancers and proxies respond in HTML. The header Retry-After becomes `details.retryAfterSeconds`. `now` is the
 * wall time in milliseconds since 1970.
 *
 * @example
 * errorFromAnswer({ status: 502, retryAfter: undefined, text: "<h1>Bad gateway</h1>", request: "GET /api" }, now).code; // "API_UNAVAILABLE"
 */
export function errorFromAnswer(answer: Answer, now: number): EngineError {
  const { status, request } = answer;
  const message = `The API server responded with ${status} to ${request}: ${excerpt(answer.text)}`;
  const known = statusInAnswer(answer) ?? { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: status };
  return errorFromStatus({ ...known, code: status, details: withRetryAfter(known, answer.retryAfter, now) });
}

function withRetryAfter(status: Status, header: string | undefined, now: number): NonNullable<Status["details"]> {
  const details = isRecord(status.details) ? status.details : {};
  const seconds = details.retryAfterSeconds ?? retryAfterSeconds(header, now);
  return seconds === undefined ? details : { ...details, retryAfterSeconds: seconds };
}

/**
 * Returns the seconds in a Retry-After header, which contains seconds or an HTTP date (RFC 9110 §10.2.3); undefined if it contains neither.
 * `now` is the wall time in milliseconds since 1970.
 *
 * @example
 * retryAfterSeconds("7", 0); // 7
 */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header);
  // Date.parse accepts almost any text, even "-5".
  if (!/^[A-Z][a-z]{2,8}, /.test(header)) return undefined;
  const seconds = Math.ceil((Date.parse(header) - now) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/**
 * The error API_UNAVAILABLE, for a request that got no response.
 *
 * @example
 * unreachable("GET https://10.0.0.1/api", new Error("connect ECONNREFUSED")).code; // "API_UNAVAILABLE"
 */
export function unreachable(request: string, cause: unknown): EngineError {
  return new EngineError("API_UNAVAILABLE", `${request} failed: ${describeFailure(cause)}`, { cause });
}

/** Advice of Node.js about its own flags, which does not help with a kubeconfig. */
const ADVICE_OF_NODE = /; if the root CA is installed locally, .*$/;

/** Describes a failure. Connection attempts to several addresses fail with an empty message and a code. */
function describeFailure(error: unknown): string {
  const code = isRecord(error) || error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return messageOf(error).replace(ADVICE_OF_NODE, "") || (typeof code === "string" ? code : "unknown reason");
}

function parse(text: string): unknown {
  try {
    return parseJson(text, ANSWER_DEPTH_MAX);
  } catch {
    // A response may be something other than JSON; each caller reports what it expected.
    return undefined;
  }
}

/** The beginning of a text without markup, quoted. */
export function excerpt(text: string): string {
  const plain = text
    .slice(0, 10 * EXCERPT_MAX)
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return JSON.stringify(plain.length > EXCERPT_MAX ? `${plain.slice(0, EXCERPT_MAX)}…` : plain);
}
