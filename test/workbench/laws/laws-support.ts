/** Shared setting of the law tests. */
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { checkLaws, type LawReport, type PairReport } from "../../../src/workbench/laws/check-laws.ts";

const VCLUSTER = { name: "vcluster", namespace: "vcluster-ns" };

type Lists = Partial<Record<"endpoints" | "services" | "endpointSlices", readonly PatchDefinition[]>>;

/** An engine with these patches. */
export async function engineWith(lists: Lists): Promise<Engine> {
  const toHost = Object.fromEntries(Object.entries(lists).map(([list, patches]) => [list, { patches }]));
  const config = resolveConfig({ sync: { toHost } });
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  return createEngine({ config: config.config, vcluster: VCLUSTER });
}

/** The report of these patches. */
export async function reportOf(lists: Lists, options: Parameters<typeof checkLaws>[1] = {}): Promise<LawReport> {
  const engine = await engineWith(lists);
  try {
    return checkLaws(engine, options);
  } finally {
    engine.dispose();
  }
}

/** The report of one patch of Endpoints. */
export async function check(patch: PatchDefinition, options: Parameters<typeof checkLaws>[1] = {}): Promise<PairReport> {
  return (await reportOf({ endpoints: [patch] }, options)).pairs[0]!;
}

/** The names of the laws that a report says are broken. */
export function brokenLaws({ laws }: PairReport): string[] {
  return laws.filter(({ held }) => !held).map(({ law }) => law);
}
