import { isEngineError } from "../base/errors.ts";
import type { EngineError } from "../base/errors.ts";
import { keyOf } from "../object/key.ts";
import type { ObjectKey } from "../object/key.ts";
import type { ResourceType } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";
import type { Note, Operation } from "../reconcile/plan.ts";
import type { Writer } from "./access.ts";
import type { Latest } from "./latest.ts";

/** Where operations go. */
export interface ApplyTarget {
  readonly resource: ResourceType;
  readonly tenantKey: ObjectKey;
  readonly tenant: { readonly writer: Writer; readonly latest: Latest };
  readonly host: { readonly writer: Writer; readonly latest: Latest };
}

/** What came of an operation. */
export type Applied =
  | { readonly result: "written"; readonly object: KubeObject }
  | { readonly result: "deleted" }
  /** The world is not as it was when the operation was planned: plan again. */
  | { readonly result: "outdated"; readonly reason: string }
  /** The write can not succeed before something else changes. */
  | { readonly result: "refused"; readonly note: Note };

/**
 * Carries out one operation.
 *
 * @throws API_… when the API server can not do it now; the caller decides when to try again.
 */
export async function applyOperation(operation: Operation, target: ApplyTarget): Promise<Applied> {
  try {
    return operation.action === "delete" ? await applyDelete(operation, target) : await applyWrite(operation, target);
  } catch (error) {
    return whatItMeans(operation, error);
  }
}

async function applyWrite(
  operation: Operation & { action: "create" | "update" },
  { resource, tenant, host }: ApplyTarget,
): Promise<Applied> {
  const { writer, latest } = operation.side === "host" ? host : tenant;
  const object = await latest.write(keyOf(operation.object), () => writer[operation.action](resource, operation.object));
  return { result: "written", object };
}

async function applyDelete(
  operation: Operation & { action: "delete" },
  { resource, tenantKey, tenant, host }: ApplyTarget,
): Promise<Applied> {
  if (operation.confirmAbsent && (await tenant.writer.get(resource, tenantKey)) !== undefined) {
    return { result: "outdated", reason: "the tenant object is there after all" };
  }
  const before = host.latest.get(operation.key);
  await host.writer.delete(resource, operation.key, operation.preconditions);
  if (before !== undefined) host.latest.removed(before);
  return { result: "deleted" };
}

function whatItMeans(operation: Operation, error: unknown): Applied {
  if (isEngineError(error, "API_CONFLICT", "API_ALREADY_EXISTS")) return { result: "outdated", reason: error.message };
  if (isEngineError(error, "API_NOT_FOUND")) {
    if (operation.action !== "create") return { result: "outdated", reason: error.message };
    return { result: "refused", note: { code: "HOST_NAMESPACE_MISSING", message: "The host namespace does not exist" } };
  }
  if (isEngineError(error, "API_INVALID"))
    return { result: "refused", note: { code: "API_INVALID", message: invalidFields(operation, error) } };
  throw error;
}

/** The fields of a 422 without the host object's name, which is nobody's business in the tenant cluster. */
function invalidFields(operation: Operation, error: EngineError): string {
  const status = error.details["status"] as { details?: { causes?: readonly { field?: string; message?: string }[] } } | undefined;
  const causes = status?.details?.causes ?? [];
  const text = causes.map(({ field, message }) => `${field}: ${message}`).join("; ");
  const { name = "" } = operation.action === "delete" ? operation.key : operation.object.metadata;
  const shown = operation.side === "host" && name !== "" ? text.replaceAll(name, "…") : text;
  return `The ${operation.side}'s API server refuses the object as invalid${shown === "" ? "" : `: ${shown}`}`;
}
