import type { MetricLabels, Metrics } from "../../../base/metrics.ts";
import { qualifiedPlural } from "../../../kube/object/resource.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Note, Plan, PlanState } from "../../reconcile/plan-types.ts";

/** Codes that alerts ask for. */
const ALERTED: readonly Note["code"][] = ["API_INVALID", "LOOP_STOPPED"];

/**
 * Begins the series that alerts ask for at 0: Prometheus sees no increase in a series whose first value is 1.
 *
 * @example
 * beginSeries(metrics, ENDPOINTS, 1);
 * metrics.text().includes('outcome="error",patch="0",resource="endpoints"'); // true
 */
export function beginSeries(metrics: Metrics, type: ResourceType, patches: number): void {
  const resource = qualifiedPlural(type);
  for (const code of ALERTED) metrics.count("endpoint_sync_notes_total", { resource, code }, 0);
  metrics.count("endpoint_sync_refused_addresses_total", { resource }, 0);
  for (let patch = 0; patch < patches && patch <= PATCHES_MAX; patch += 1)
    metrics.count("endpoint_sync_patch_outcomes_total", { resource, patch: patchLabel(patch), outcome: "error" }, 0);
}

/**
 * Counts results of plans. Every label is from a closed list: kinds that the configuration names, states, outcomes and codes.
 *
 * @example
 * const metrics = createMetrics();
 * countPlan(metrics, ENDPOINTS, { state: "left", outcomes: [] });
 * metrics.value("endpoint_sync_plans_total", { resource: "endpoints", state: "left" }); // 1
 */
export function countPlan(metrics: Metrics, type: ResourceType, { state, outcomes }: Pick<Plan, "state" | "outcomes">): void {
  const resource = qualifiedPlural(type);
  let labels = labelsByType.get(type);
  if (labels === undefined) labelsByType.set(type, (labels = {}));
  metrics.count("endpoint_sync_plans_total", (labels[state] ??= { resource, state }));
  for (const { outcome, patch } of outcomes)
    metrics.count("endpoint_sync_patch_outcomes_total", { resource, patch: patchLabel(patch), outcome });
  const fuel = outcomes.reduce((sum, outcome) => sum + outcome.fuel, 0);
  if (fuel > 0) metrics.count("endpoint_sync_fuel_total", { resource }, fuel);
}

/** Kept, since there is a plan for every change. */
const labelsByType = new WeakMap<ResourceType, Partial<Record<PlanState, MetricLabels>>>();

/**
 * Counts the notes on a fully processed object, including refusals of an API server.
 *
 * @example
 * const metrics = createMetrics();
 * countNotes(metrics, ENDPOINTS, [{ code: "EXCLUDED", message: "The object has the pause annotation" }]);
 * metrics.value("endpoint_sync_notes_total", { resource: "endpoints", code: "EXCLUDED" }); // 1
 */
export function countNotes(metrics: Metrics, type: ResourceType, notes: readonly Note[]): void {
  const resource = qualifiedPlural(type);
  for (const { code } of notes) metrics.count("endpoint_sync_notes_total", { resource, code });
  const refused = notes.filter(({ code }) => code === "ADDRESS_REFUSED").length;
  if (refused > 0) metrics.count("endpoint_sync_refused_addresses_total", { resource }, refused);
}

/** Patches of a list that have series of their own; those after them share one. */
const PATCHES_MAX = 100;

function patchLabel(patch: number): string {
  return patch < PATCHES_MAX ? String(patch) : "more";
}
