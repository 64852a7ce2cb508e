import type { EngineError } from "../../base/errors.ts";
import { errorFromStatus } from "../../kube/object/status.ts";
import { formatPath, type FieldStep } from "../types/fields/step.ts";
import type { ManagerIdentity } from "./managers.ts";

/** A manager that owns fields that an applier wants to change. */
export interface Conflict {
  readonly manager: ManagerIdentity;
  readonly paths: readonly (readonly FieldStep[])[];
}

/**
 * 409: an apply without `force` conflicts with other managers.
 *
 * @example
 * applyConflict(conflicts).message; // 'Apply failed with 1 conflict: conflict with "kubectl-create" using v1: .data.a'
 */
export function applyConflict(conflicts: readonly Conflict[]): EngineError {
  const named = conflicts.map(({ manager, paths }) => ({ name: nameOf(manager), fields: paths.map(formatPath) }));
  const sorted = named.sort((left, right) => (left.name < right.name ? -1 : 1));
  const causes = sorted.flatMap(({ name, fields }) =>
    fields.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${name}`, field })),
  );
  const texts = sorted.flatMap(({ name, fields }) => [`conflicts with ${name}:`, ...fields.map((field) => `- ${field}`)]);
  const [only] = causes;
  const what = causes.length === 1 ? `1 conflict: ${only!.message}: ${only!.field}` : `${causes.length} conflicts: ${texts.join("\n")}`;
  const message = `Apply failed with ${what}`;
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
  return errorFromStatus({ ...head, message, reason: "Conflict", details: { causes }, code: 409 });
}

function nameOf({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const part = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${part}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}
