import type { FoundReference } from "../../patch/types.ts";
import { toHost } from "../convert/to-host.ts";
import { isCopyOf } from "../copy/ownership.ts";
import type { Plan, PlanInput } from "../plan-types.ts";
import type { Rules } from "../rules/rules.ts";

/**
 * Returns the references of a tenant object's copy after a plan; undefined while unknown. A copy that is left as it is, for example of a
 * paused object, still needs its references.
 *
 * @example
 * referencesInUse(rules, input, plan(rules, input)); // [{ kind: "Secret", tenant: { namespace: "shop", name: "db" }, … }]
 */
export function referencesInUse(
  rules: Rules,
  input: PlanInput,
  { state, references, hostKey }: Plan,
): readonly FoundReference[] | undefined {
  const { tenant, host } = input;
  if (state === "stale") return undefined;
  // The delete brake holds a copy whose source is missing.
  if (tenant === undefined && host !== undefined && state === "waiting") return undefined;
  if (state === "absent" || tenant === undefined) return [];
  if (state === "copied" || hostKey === undefined || references.length > 0) return references;
  return host !== undefined && isCopyOf(rules, host, input.key) ? toHost(rules, { ...input, tenant, host, hostKey }).references : [];
}
