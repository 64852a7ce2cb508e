import { forbidden, invalid, required, type FieldError } from "../types/field-error.ts";
import { invalidObject } from "../types/status.ts";
import { isPrintable, MANAGER_LENGTH_MAX } from "./managers.ts";

/** The parameters of a patch that concern managers. */
export interface PatchParameters {
  /** True if the patch is an applied configuration. */
  readonly apply: boolean;
  readonly fieldManager?: string | undefined;
  readonly force?: boolean | undefined;
}

/**
 * Checks the parameters of a patch: an apply must name its manager, and only an apply may use `force`.
 *
 * @throws API_INVALID when the manager is missing or has an invalid name, or when another patch uses `force`.
 */
export function checkPatchParameters({ apply, fieldManager = "", force }: PatchParameters): void {
  const errors: FieldError[] = [];
  if (!apply && force !== undefined) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  if (apply && fieldManager === "") errors.push(required("fieldManager", "is required for apply patch"));
  if (fieldManager.length > MANAGER_LENGTH_MAX) {
    errors.push({
      reason: "FieldValueTooLong",
      field: "fieldManager",
      message: `Too long: may not be more than ${MANAGER_LENGTH_MAX} bytes`,
    });
  }
  if (!isPrintable(fieldManager)) errors.push(invalid("fieldManager", fieldManager, "should only contain printable characters"));
  if (errors.length > 0) throw invalidObject({ apiVersion: "meta.k8s.io/v1", kind: "PatchOptions" }, "", errors);
}

/** The possible sources of a manager's name. */
export interface ManagerSource {
  readonly fieldManager?: string | undefined;
  readonly userAgent?: string | undefined;
}

/**
 * The name of the manager that a request writes as: the parameter, the client's name if there is no parameter, or "unknown".
 *
 * @example
 * managerName({ userAgent: "kubectl/v1.33.1 (linux/amd64)" }); // "kubectl"
 */
export function managerName({ fieldManager = "", userAgent = "" }: ManagerSource): string {
  if (fieldManager !== "") return fieldManager;
  if (userAgent !== lastClient.userAgent) lastClient = { userAgent, name: clientName(userAgent) };
  return lastClient.name;
}

/** Caches the name of the last client, because most clients write repeatedly. */
let lastClient = { userAgent: "", name: "unknown" };

function clientName(userAgent: string): string {
  const printable = [...userAgent.split("/", 1)[0]!].filter(isPrintable).join("");
  return printable.slice(0, MANAGER_LENGTH_MAX) || "unknown";
}
