import type { Report } from "../../../schema/problem.ts";
import type { Settings } from "../settings.ts";

/** Input of the checks of a `patches` list. */
export interface PatchRules {
  readonly report: Report;
  readonly settings: Settings;
}
