import type { Plan } from "../../../engine/reconcile/plan-types.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";

/** Ways that one plan can go with the patches of one object: there, back, and there once more to see whether that cancels. */
const WAYS = 3;

/**
 * S10: no plan spends more fuel than an object has. S11: what is said about an object in the tenant cluster does not name the host
 * object.
 */
export function checkPlan(rules: Rules, { hostKey, notes, outcomes }: Plan): { oracle: string; message: string } | undefined {
  const fuel = outcomes.reduce((sum, outcome) => sum + outcome.fuel, 0);
  if (fuel > rules.settings.objectFuel * WAYS) return { oracle: "S10", message: `a plan spent ${fuel} fuel` };
  // Where a namespace is mapped, the host object has the tenant's own name, which is no secret.
  if (hostKey === undefined || rules.translator.mode !== "single-namespace") return undefined;
  const named = notes.find(({ message }) => message.includes(hostKey.name));
  return named && { oracle: "S11", message: `a note names the host object: ${named.message}` };
}
