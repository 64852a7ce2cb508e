import type { Report } from "../../../schema/problem.ts";
import type { Settings } from "../settings.ts";

/** Rules for checking a `patches` list. */
export interface PatchRules {
  readonly report: Report;
  readonly settings: Settings;
}
