import type { Report } from "../../../schema/problem.ts";
import type { Settings } from "../settings.ts";

/** What the checks of a `patches` list go by. */
export interface PatchRules {
  readonly report: Report;
  readonly settings: Settings;
}
