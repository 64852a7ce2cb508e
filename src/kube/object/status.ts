import type { Code } from "../../base/codes.ts";
import { EngineError } from "../../base/errors.ts";

/** One cause of a refused request. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** Response of a Kubernetes API server that is not an object. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
  readonly code: number;
}

const CODE_BY_REASON: Readonly<Record<string, Code>> = {
  BadRequest: "API_BAD_REQUEST",
  Unauthorized: "API_UNAUTHORIZED",
  Forbidden: "API_FORBIDDEN",
  NotFound: "API_NOT_FOUND",
  AlreadyExists: "API_ALREADY_EXISTS",
  Conflict: "API_CONFLICT",
  Expired: "API_EXPIRED",
  Gone: "API_EXPIRED",
  Invalid: "API_INVALID",
  RequestEntityTooLarge: "API_INVALID",
  TooManyRequests: "API_TOO_MANY_REQUESTS",
  ServiceUnavailable: "API_UNAVAILABLE",
  Timeout: "API_UNAVAILABLE",
  ServerTimeout: "API_UNAVAILABLE",
  InternalError: "API_UNAVAILABLE",
};

const CODE_BY_HTTP: Readonly<Record<number, Code>> = {
  400: "API_BAD_REQUEST",
  401: "API_UNAUTHORIZED",
  403: "API_FORBIDDEN",
  404: "API_NOT_FOUND",
  409: "API_CONFLICT",
  410: "API_EXPIRED",
  413: "API_INVALID",
  422: "API_INVALID",
  429: "API_TOO_MANY_REQUESTS",
  500: "API_UNAVAILABLE",
  502: "API_UNAVAILABLE",
  503: "API_UNAVAILABLE",
  504: "API_UNAVAILABLE",
};

/**
 * Returns the error for a Status of failure. Its code follows from the reason or, if that is unknown, from the HTTP code. Its message is
 * the server's own. `details.status` is the Status, and `details.retryAfterSeconds` is the delay that it requests, if any.
 *
 * @example
 * errorFromStatus({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Conflict", code: 409 }).code; // "API_CONFLICT"
 */
export function errorFromStatus(status: Status): EngineError {
  const code = own(CODE_BY_REASON, status.reason) ?? own(CODE_BY_HTTP, status.code) ?? "API_ERROR";
  const retryAfterSeconds = status.details?.retryAfterSeconds;
  const details = retryAfterSeconds === undefined ? { status } : { status, retryAfterSeconds };
  return new EngineError(code, status.message || `The API server responded with ${status.code}`, { details });
}

/** Looks up a code. A reason is a text of the server: "constructor" must not find an inherited property. */
function own(codes: Readonly<Record<string | number, Code>>, name: string | number | undefined): Code | undefined {
  return name !== undefined && Object.hasOwn(codes, name) ? codes[name] : undefined;
}
