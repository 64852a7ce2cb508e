import { namespaceOfId } from "../../../engine/sync/state/sync-id.ts";

/** Maximum number of reconciles of one namespace while another namespace waits. */
const RECONCILES_MAX = 1;

/** S14: no tenant namespace waits while another one is reconciled repeatedly. */
export interface Fairness {
  /** Checks the reconcile of `id`, for which others wait. Returns the problem, if there is one. */
  took(id: string, waiting: readonly string[]): string | undefined;
}

/** Counts, for each waiting namespace, how often every other namespace has been served in the meantime. */
export function createFairness(): Fairness {
  const waits = new Map<string, Map<string, number>>();
  return {
    took(id, waiting) {
      const served = namespaceOfId(id);
      const others = new Set(waiting.map(namespaceOfId).filter((namespace) => namespace !== served));
      for (const namespace of waits.keys()) if (!others.has(namespace)) waits.delete(namespace);
      for (const namespace of others) {
        const reconciles = waits.get(namespace) ?? new Map<string, number>();
        waits.set(namespace, reconciles.set(served, (reconciles.get(served) ?? 0) + 1));
        if (reconciles.get(served)! > RECONCILES_MAX)
          return `namespace ${namespace} waits while ${served} has ${reconciles.get(served)} reconciles`;
      }
      return undefined;
    },
  };
}
