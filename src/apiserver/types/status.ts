/**
 * Creates the Status objects with which the API server responds. The texts are those of Kubernetes, because clients and users compare them.
 *
 * @module
 */
import { isEngineError, type EngineError } from "../../base/errors.ts";
import { groupOf, qualifiedPlural, type ResourceType } from "../../kube/object/resource.ts";
import { errorFromStatus, type Status } from "../../kube/object/status.ts";
import type { FieldError } from "./field-error.ts";

type Details = NonNullable<Status["details"]>;

/** Content of a refusal. */
interface Failure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** As in Kubernetes: empty for paths, absent if the error is not about an object or a path. */
  readonly details?: Details;
  /** A fresh continue token. */
  readonly continue?: string;
}

function failure({ code, reason, message, details, continue: token }: Failure): EngineError {
  const metadata = token === undefined ? {} : { continue: token };
  return errorFromStatus({
    kind: "Status",
    apiVersion: "v1",
    metadata,
    status: "Failure",
    message,
    reason,
    ...(details && { details }),
    code,
  });
}

function named(type: ResourceType, name: string): Details {
  const group = groupOf(type);
  return { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: type.plural };
}

/** `Kind` or `Kind.group`, as validation names objects. */
function qualifiedKind(type: Pick<ResourceType, "apiVersion" | "kind">): string {
  const group = groupOf(type);
  return group === "" ? type.kind : `${type.kind}.${group}`;
}

/** The response to a completed deletion. Kubernetes omits the code here. */
export function deletedStatus(type: ResourceType, name: string, uid: string | undefined): Omit<Status, "code"> {
  const details = { ...named(type, name), ...(uid !== undefined && { uid }) };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

/** 400: the request cannot be understood. */
export function badRequest(message: string): EngineError {
  return failure({ code: 400, reason: "BadRequest", message });
}

/** 401: the credentials are missing or unknown. */
export function unauthorized(message = "Unauthorized"): EngineError {
  return failure({ code: 401, reason: "Unauthorized", message });
}

/** 403 for an object or collection. */
export function forbiddenRequest(type: ResourceType, name: string, why: string, causes?: Details["causes"]): EngineError {
  const subject = name === "" ? qualifiedPlural(type) : `${qualifiedPlural(type)} ${JSON.stringify(name)}`;
  const details = { ...named(type, name), ...(causes && { causes }) };
  return failure({ code: 403, reason: "Forbidden", message: `${subject} is forbidden: ${why}`, details });
}

/** 403 for a path that is not a resource. */
export function forbiddenPath(why: string): EngineError {
  return failure({ code: 403, reason: "Forbidden", message: `forbidden: ${why}`, details: {} });
}

/** 404: no such object. */
export function notFound(type: ResourceType, name: string): EngineError {
  const message = `${qualifiedPlural(type)} ${JSON.stringify(name)} not found`;
  return failure({ code: 404, reason: "NotFound", message, details: named(type, name) });
}

/** 404: no such path. */
export function noSuchPath(): EngineError {
  return failure({ code: 404, reason: "NotFound", message: "the server could not find the requested resource", details: {} });
}

/** 405: the path exists but does not support the method. */
export function methodNotAllowed(): EngineError {
  const message = "the server does not allow this method on the requested resource";
  return failure({ code: 405, reason: "MethodNotAllowed", message, details: {} });
}

/** 406: none of the accepted media types is available. */
export function notAcceptable(types: readonly string[]): EngineError {
  return failure({ code: 406, reason: "NotAcceptable", message: `only the following media types are accepted: ${types.join(", ")}` });
}

/** 409: an object with this name exists; with `terminating`, it is being deleted. */
export function alreadyExists(type: ResourceType, name: string, { terminating = false } = {}): EngineError {
  const message = `${terminating ? "object is being deleted: " : ""}${qualifiedPlural(type)} ${JSON.stringify(name)} already exists`;
  return failure({ code: 409, reason: "AlreadyExists", message, details: named(type, name) });
}

/** 409: every generated name was taken. */
export function generatedNameTaken(type: ResourceType, name: string): EngineError {
  const subject = `${qualifiedPlural(type)} ${JSON.stringify(name)}`;
  const message = `${subject} already exists, the server was not able to generate a unique name for the object`;
  return failure({ code: 409, reason: "AlreadyExists", message, details: { ...named(type, name), retryAfterSeconds: 1 } });
}

/** Message of {@link conflict} if the resourceVersion is not the current one. */
export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 409: the object has changed since the writer read it. */
export function conflict(type: ResourceType, name: string, why: string): EngineError {
  const message = `Operation cannot be fulfilled on ${qualifiedPlural(type)} ${JSON.stringify(name)}: ${why}`;
  return failure({ code: 409, reason: "Conflict", message, details: named(type, name) });
}

/** 410: the requested version is older than the history. */
export function tooOldVersion(requested: number, oldest: number): EngineError {
  return failure({ code: 410, reason: "Expired", message: `too old resource version: ${requested} (${oldest})` });
}

/** 410: the page belongs to a state that is no longer available. The list can continue with the current state, from `token`. */
export function expiredPage(token: string): EngineError {
  const message =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
    "or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an " +
    "inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
  return failure({ code: 410, reason: "Expired", message, continue: token });
}

/** 413: the body, or the resulting object, is too large. */
export function tooLarge(message: string): EngineError {
  return failure({ code: 413, reason: "RequestEntityTooLarge", message });
}

/** 415: the body's media type is not one of `types`. */
export function unsupportedMediaType(types: readonly string[]): EngineError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${types.join(", ")}`;
  return failure({ code: 415, reason: "UnsupportedMediaType", message });
}

/** 422: the object breaks rules of its kind. Duplicate findings are reported once. */
export function invalidObject(type: Pick<ResourceType, "apiVersion" | "kind">, name: string, errors: readonly FieldError[]): EngineError {
  const group = groupOf(type);
  const texts = [...new Set(errors.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)))];
  const message = `${qualifiedKind(type)} ${JSON.stringify(name)} is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`}`;
  const details = { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: type.kind, causes: errors };
  return failure({ code: 422, reason: "Invalid", message, details });
}

/** 422: the patch can be read but does not apply. The causes contain `why`; the message is that of Kubernetes. */
export function patchRefused(why: string): EngineError {
  const message = "the server rejected our request due to an error in our request";
  return failure({
    code: 422,
    reason: "Invalid",
    message,
    details: { causes: [{ reason: "FieldValueInvalid", message: why, field: "patch" }] },
  });
}

/** 429: too many requests at once. */
export function tooManyRequests(retryAfterSeconds = 1): EngineError {
  const message = "the server has received too many requests and has asked us to try again later";
  return failure({ code: 429, reason: "TooManyRequests", message, details: { retryAfterSeconds } });
}

/** 500: a bug. Only the log has details. */
export function internalError(): EngineError {
  return failure({ code: 500, reason: "InternalError", message: "Internal error occurred", details: {} });
}

/** 503: the server, or a service that it needs, is temporarily unavailable. */
export function unavailable(message: string): EngineError {
  return failure({ code: 503, reason: "ServiceUnavailable", message, details: { retryAfterSeconds: 1 } });
}

/** 500: the store fails. */
export function storeRefuses(message: string): EngineError {
  return failure({ code: 500, reason: "InternalError", message, details: {} });
}

/** 507: there is no space for the write. */
export function insufficientStorage(message: string): EngineError {
  return failure({ code: 507, reason: "InsufficientStorage", message });
}

/** 504: a write timed out, and its outcome is unknown. */
export function timedOut(message: string): EngineError {
  return failure({ code: 504, reason: "Timeout", message, details: {} });
}

/** 504: the requested state does not exist yet. */
export function tooNewVersion(requested: number, current: number): EngineError {
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return failure({ code: 504, reason: "Timeout", message, details: { causes, retryAfterSeconds: 1 } });
}

/** The Status of a failure, or undefined if clients should not see it. */
export function statusOf(error: unknown): Status | undefined {
  return isEngineError(error) ? (error.details["status"] as Status | undefined) : undefined;
}
