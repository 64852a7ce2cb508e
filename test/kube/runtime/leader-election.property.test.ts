import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Sight } from "../../../src/kube/runtime/election/election-step.ts";
import { createElectionWorld, type ElectionWorld } from "./election-world.ts";

/** Event of one process, and its duration, in virtual milliseconds. */
interface Happening {
  readonly who: number;
  readonly what:
    "pause" | "resume" | "refused" | "blocked" | "answer-lost" | "late" | "healed" | "slow" | "forward" | "back" | "stop" | "kill" | Sight;
  readonly thenMs: number;
}

const CANDIDATES = 3;
const STEP_MS = 250;
const HOUR_MS = 3_600_000;

const happening: fc.Arbitrary<Happening> = fc.record({
  who: fc.nat(CANDIDATES - 1),
  what: fc.constantFrom(
    ...(["pause", "pause", "resume", "refused", "blocked", "answer-lost", "late", "healed", "healed", "slow", "forward", "back"] as const),
    ...(["stop", "kill", "blind", "blind", "unsteady", "clear"] as const),
  ),
  thenMs: fc.constantFrom(500, 2_000, 6_000, 12_000, 20_000),
});

function apply({ candidates }: ElectionWorld, { who, what }: Happening): void {
  const candidate = candidates[who]!;
  const { network } = candidate;
  if (what === "pause" || what === "resume" || what === "stop" || what === "kill") candidate[what]();
  else if (what === "forward" || what === "back") candidate.skew(what === "forward" ? HOUR_MS : -HOUR_MS);
  else if (what === "blind" || what === "unsteady" || what === "clear") candidate.sight = what;
  else if (what === "slow") network.latencyMs = 1_500;
  else Object.assign(network, what === "healed" ? { fault: "none", latencyMs: 5 } : { fault: what });
}

/** The process that may write now. A paused process checks again before it does anything. */
function leaders({ candidates }: ElectionWorld, killed: ReadonlySet<number>): string[] {
  return candidates.filter(({ election }, index) => !killed.has(index) && election.leading).map(({ identity }) => identity);
}

test("there are never two leaders, whatever happens to clocks, processes and network; afterwards there is one", async () => {
  const chances = fc.array(fc.double({ min: 0, max: 0.99, noNaN: true }), { minLength: 1, maxLength: 7 });
  let terms = 0;
  const run = async (happenings: readonly Happening[], fractions: readonly number[]) => {
    const world = await createElectionWorld();
    const killed = new Set<number>();
    let drawn = 0;
    try {
      for (let i = 0; i < CANDIDATES; i++) world.join({ fraction: () => fractions[drawn++ % fractions.length]! });
      for (const one of [{ who: 0, what: "healed", thenMs: 2_000 } as const, ...happenings]) {
        apply(world, one);
        if (one.what === "kill") killed.add(one.who);
        for (let passed = 0; passed < one.thenMs; passed += STEP_MS) {
          await world.clock.advance(STEP_MS);
          expect(leaders(world, killed).length, `leaders: ${leaders(world, killed).join(", ")}`).toBeLessThanOrEqual(1);
        }
      }
      for (const candidate of world.candidates) {
        candidate.resume();
        candidate.sight = "clear";
        Object.assign(candidate.network, { fault: "none", latencyMs: 5 });
      }
      const fresh = world.join();
      await world.clock.advance(45_000);
      expect(leaders(world, killed)).toHaveLength(1);
      terms += [...world.candidates].reduce((sum, candidate) => sum + candidate.terms, 0);
      expect(fresh.election.holder).toBe(leaders(world, killed)[0]);
    } finally {
      await world.close();
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(happening, { minLength: 2, maxLength: 16 }), chances, run), { numRuns: 250 });
  // The search is worth something only if leadership changes hands.
  expect(terms).toBeGreaterThan(200);
});
