import { isEngineError, type EngineError } from "../../../base/errors.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Request, Response } from "../../reconcile/machine.ts";
import type { Operation } from "../../reconcile/plan-types.ts";
import type { Writer } from "../cluster/access.ts";

/** A request that a cluster answers. */
export type ClusterRequest = Extract<Request, { type: "get" | "write" }>;

/** The writers of both clusters. */
export interface Writers {
  readonly tenant: Writer;
  readonly host: Writer;
}

/**
 * Time for which a write without an answer can still be carried out, also after the end of its process, in milliseconds. kube-apiserver works on a request for 60 s
 * (`--request-timeout`), and etcd works on its own part for 5 s and two elections of 1 s each.
 */
export const LATE_WRITES_MS = 70_000;

/** Failures of writes that the API server has refused, or that were never sent. */
const NEVER_CARRIED_OUT = ["API_FORBIDDEN", "API_TOO_MANY_REQUESTS", "LEADERSHIP_LOST"] as const;

/** Reports whether a write that did not succeed may have been carried out, or may be later. */
export function mayHappenLater(response: Response): boolean {
  return response.type === "outdated" || (response.type === "failed" && !isEngineError(response.error, ...NEVER_CARRIED_OUT));
}

/** Sends one request and returns the outcome. Never throws. */
export async function send(request: ClusterRequest, resource: ResourceType, writers: Writers): Promise<Response> {
  try {
    if (request.type === "get") {
      const object = await writers[request.side].get(request.resource ?? resource, request.key);
      return object === undefined ? { type: "absent" } : { type: "object", object };
    }
    const { operation } = request;
    const writer = writers[operation.side];
    if (operation.action !== "delete") return { type: "object", object: await writer[operation.action](resource, operation.object) };
    // The object is gone as planned, even if it was deleted before.
    await writer.delete(resource, operation.key, operation.preconditions);
    return { type: "absent" };
  } catch (error) {
    return responseTo(request, error);
  }
}

/**
 * Maps an error to the response of the request.
 *
 * @example
 * responseTo({ type: "write", operation }, new EngineError("API_CONFLICT", "The object changed")).type; // "outdated"
 */
export function responseTo(request: ClusterRequest, error: unknown): Response {
  if (request.type === "get") return { type: "failed", error };
  const { operation } = request;
  if (isEngineError(error, "API_CONFLICT", "API_ALREADY_EXISTS")) return { type: "outdated", reason: error.message };
  if (isEngineError(error, "API_NOT_FOUND")) {
    if (operation.action !== "create") return { type: "outdated", reason: error.message };
    return { type: "refused", note: { code: "HOST_NAMESPACE_MISSING", message: NAMESPACE_MISSING } };
  }
  if (operation.action === "create" && isEngineError(error, "API_FORBIDDEN") && isTerminating(error))
    return { type: "refused", note: { code: "HOST_NAMESPACE_MISSING", message: NAMESPACE_GOES } };
  if (isEngineError(error, "API_INVALID"))
    return { type: "refused", note: { code: "API_INVALID", message: invalidFields(operation, error) } };
  return { type: "failed", error };
}

const NAMESPACE_MISSING =
  "The host namespace does not exist, and the syncer does not create it; the object is copied once the namespace exists";
const NAMESPACE_GOES =
  "The host namespace is being deleted, and the syncer does not recreate it; the object is copied once the namespace exists again";

/** Reports whether the namespace is being deleted; a missing permission is also a 403. */
function isTerminating({ details }: EngineError): boolean {
  const status = details["status"] as { details?: { causes?: readonly { reason?: string }[] } } | undefined;
  return status?.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true;
}

/** The fields of a 422 without the host object's name, which must not be disclosed in the tenant cluster. */
function invalidFields(operation: Operation, error: EngineError): string {
  const status = error.details["status"] as { details?: { causes?: readonly { field?: string; message?: string }[] } } | undefined;
  const causes = status?.details?.causes ?? [];
  // A cause of an admission policy names no field.
  const text = causes.flatMap(({ field, message }) => [field, message].filter(Boolean).join(": ") || []).join("; ");
  const { name = "" } = operation.action === "delete" ? operation.key : operation.object.metadata;
  const shown = operation.side === "host" && name !== "" ? text.replaceAll(name, "…") : text;
  return `The ${operation.side}'s API server refuses the object as invalid${shown === "" ? "" : `: ${shown}`}`;
}
