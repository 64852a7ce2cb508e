import { EngineError } from "../../base/errors.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import type { ResourceType } from "../../kube/object/resource.ts";

/** Short names, as in kubectl, of kinds that are not synced kinds. */
const SHORT_NAMES: Readonly<Record<string, string>> = { configmaps: "cm" };

/**
 * Finds a kind by its kind, plural, singular or short name, in upper or lower case. The short names are those of `synced`.
 *
 * @throws USAGE when none of `kinds` has that name.
 * @example
 * findKind("svc", [SERVICES, ENDPOINTS], SYNCED_KINDS).kind; // "Service"
 */
export function findKind(name: string, kinds: readonly ResourceType[], synced: readonly SyncedKind[]): ResourceType {
  const wanted = name.toLowerCase();
  const shortOf = (kind: ResourceType) => synced.find(({ resource }) => resource === kind)?.shortName ?? SHORT_NAMES[kind.plural];
  const found = kinds.find((kind) => [kind.plural, kind.kind.toLowerCase(), shortOf(kind)].includes(wanted));
  if (found !== undefined) return found;
  throw new EngineError("USAGE", `Unknown kind "${name}"; the kinds are ${kinds.map(({ plural: one }) => one).join(", ")}`);
}
