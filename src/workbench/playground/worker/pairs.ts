import { createEngine } from "../../../engine/engine.ts";
import { Report } from "../../../schema/problem.ts";
import { breachesOf } from "../../laws/breaches.ts";
import { checkLaws } from "../../laws/check-laws.ts";
import type { PlaygroundState, ShownVerdicts } from "../protocol.ts";
import { readObjectsOfText } from "./read-objects.ts";
import { readState } from "./read-state.ts";

/**
 * Tries the patches of a state, alone and together, on many values: those that their kind allows, those in the objects, and those in the expressions.
 * Nothing is tried if the configuration has errors.
 */
export async function tryPairs(state: PlaygroundState): Promise<ShownVerdicts> {
  const { parts, vcluster } = readState(state);
  if (parts === undefined) return { pairs: [], together: [] };
  const objects = readObjectsOfText(state.tenant, { file: "tenant", report: new Report() }).map(({ object }) => object);
  const engine = await createEngine({ ...parts, vcluster });
  try {
    const report = checkLaws(engine, { objects, acceptedDrifts: parts.settings.acceptedDrifts });
    return { pairs: report.pairs, together: breachesOf(report).filter(({ patches }) => patches.length > 1) };
  } finally {
    engine.dispose();
  }
}
