import { parseConfig } from "../config/config.ts";
import { createEngine } from "../engine.ts";
import { Report } from "../schema/problem.ts";
import { checkLaws } from "../testing/laws/check-laws.ts";
import { DEFAULT_VCLUSTER } from "./protocol.ts";
import type { PlaygroundState, ShownPair } from "./protocol.ts";
import { readObjects } from "./read-objects.ts";

/**
 * Tries the patches of a state on many values: those that their kind allows, those of the objects, and those that the expressions name.
 * None where the configuration has errors.
 */
export async function tryPairs({ config: text, tenant, vcluster = DEFAULT_VCLUSTER }: PlaygroundState): Promise<readonly ShownPair[]> {
  const parsed = parseConfig(text, { vcluster });
  if (!parsed.ok) return [];
  const objects = readObjects(tenant, { file: "tenant", report: new Report() }).map(({ object }) => object);
  const engine = await createEngine({ config: parsed.config, vcluster });
  try {
    return checkLaws(engine, { objects }).pairs;
  } finally {
    engine.dispose();
  }
}
