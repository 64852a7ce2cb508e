import { parseConfig } from "../../../engine/config/config.ts";
import { createEngine } from "../../../engine/engine.ts";
import { Report } from "../../../schema/problem.ts";
import { breachesOf } from "../../laws/breaches.ts";
import { checkLaws } from "../../laws/check-laws.ts";
import { SAMPLE_VCLUSTER } from "../protocol.ts";
import type { PlaygroundState, ShownVerdicts } from "../protocol.ts";
import { readObjectsOfText } from "./read-objects.ts";

/**
 * Tries the patches of a state, alone and together, on many values: those that their kind allows, those of the objects, and those that the expressions name.
 * None where the configuration has errors.
 */
export async function tryPairs({ config: text, tenant, vcluster = SAMPLE_VCLUSTER }: PlaygroundState): Promise<ShownVerdicts> {
  const parsed = parseConfig(text, { vcluster });
  if (!parsed.ok) return { pairs: [], together: [] };
  const objects = readObjectsOfText(tenant, { file: "tenant", report: new Report() }).map(({ object }) => object);
  const engine = await createEngine({ config: parsed.config, vcluster });
  try {
    const report = checkLaws(engine, { objects });
    return { pairs: report.pairs, together: breachesOf(report).filter(({ patches }) => patches.length > 1) };
  } finally {
    engine.dispose();
  }
}
