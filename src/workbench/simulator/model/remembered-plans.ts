import type { Planner } from "../../../engine/reconcile/plan.ts";
import type { Plan, PlanInput } from "../../../engine/reconcile/plan-types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";

/** A plan, with its input. */
interface Known {
  readonly rules: Rules;
  readonly input: PlanInput;
  readonly planned: Plan;
}

/**
 * A planner that caches results for the same input. Plans depend only on their input; two replicas, or one that has
 * restarted, often see the same objects. The cache lives as long as the planner: for one seed.
 */
export function rememberPlans(planner: Planner): Planner {
  const all = new Map<unknown, Known[]>();
  return (rules, input) => {
    const about = input.tenant ?? input.host;
    const known = all.get(about) ?? [];
    const same = known.find((entry) => entry.rules === rules && isSame(entry.input, input));
    if (same !== undefined) return same.planned;
    const planned = planner(rules, input);
    all.set(about, [...known, { rules, input, planned }]);
    return planned;
  };
}

function isSame(left: PlanInput, right: PlanInput): boolean {
  for (const name in right) if (!isSamePart(left[name as keyof PlanInput], right[name as keyof PlanInput])) return false;
  for (const name in left) if (!(name in right) && left[name as keyof PlanInput] !== undefined) return false;
  return true;
}

/** Compares keys and lists by content, because they are created for each input. Everything else is compared by identity. */
function isSamePart(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) return Array.isArray(right) && left.length === right.length && left.every((item, at) => item === right[at]);
  return isKey(left) && isKey(right) && left.name === right.name && left.namespace === right.namespace;
}

function isKey(part: unknown): part is { readonly namespace: string; readonly name: string } {
  return typeof part === "object" && part !== null && "namespace" in part && "name" in part;
}
