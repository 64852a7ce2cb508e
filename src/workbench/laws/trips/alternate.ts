import { canonicalJson, jsonEqual } from "../../../base/json.ts";
import type { LawStep } from "../report.ts";
import type { Situation } from "./situations.ts";
import type { Arrival, Trip } from "./trip.ts";

/** Result of repeated round trips. */
export interface Alternation {
  /** Undefined if the value settled. */
  readonly unrest?: "cycle" | "growth" | "endless";
  /** The first steps, at most {@link STEPS_SHOWN}. */
  readonly steps: readonly LawStep[];
}

/** Maximum number of steps in a result. */
const STEPS_SHOWN = 7;

/** Maximum rounds for a value that only gets shorter, which settles eventually. */
const ROUNDS_MAX = 1_000;

/** Length of a value, as JSON, at which the round trips stop. */
const LENGTH_MAX = 20_000;

/** Converts the arrival of a value into a step of a counter-example. */
export function stepOf(on: LawStep["on"], arrival: Arrival): LawStep {
  if (arrival.kind === "value") return { on, value: arrival.value };
  return arrival.kind === "gone" ? { on, value: null } : { on, value: null, error: `${arrival.code}: ${arrival.message}` };
}

/**
 * Lets both sides copy each other, as two syncers without a guard would: the tenant's value goes to the host, the result
 * comes back, and so on. It ends when a value comes back unchanged, fails, or is removed on the way.
 */
export function alternate(trip: Trip, start: unknown, { situation, rounds }: { situation: Situation; rounds: number }): Alternation {
  const steps: LawStep[] = [{ on: "tenant", value: start }];
  const seen = new Set([canonicalJson(start)]);
  const shown = () => steps.slice(0, STEPS_SHOWN);
  let tenant = start;
  let host: unknown;
  let length = Infinity;
  let last: string | undefined;
  let repeated = false;
  let shrinks = true;
  let wasSame = false;
  for (let round = 0; round <= rounds || (shrinks && round < ROUNDS_MAX); round += 1) {
    const there = trip.toHost(tenant, situation, { value: host });
    steps.push(stepOf("host", there));
    if (there.kind !== "value") return { steps: shown() };
    const stays = !trip.seesHost || (round > 0 && jsonEqual(there.value, host));
    host = there.value;
    if (trip.comesBack) {
      const back = trip.toTenant(host, situation, { value: tenant });
      if (back.kind !== "value") return { steps: [...steps, stepOf("tenant", back)].slice(0, STEPS_SHOWN) };
      if (stays && jsonEqual(back.value, tenant)) return { steps: shown() };
      steps.push(stepOf("tenant", back));
      tenant = back.value;
    } else if (stays) return { steps: shown() };
    const text = canonicalJson(trip.comesBack ? tenant : host);
    const isSame = text === last;
    repeated ||= seen.has(text) && round > 0 && !isSame;
    seen.add(text);
    const next = lengthOf(trip.comesBack ? tenant : host);
    // A value that keeps getting shorter has settled only after a round without a change.
    shrinks &&= next < length || (isSame && !wasSame);
    wasSame = isSame;
    length = next;
    last = text;
    if (text.length > LENGTH_MAX) break;
  }
  return { unrest: repeated ? "cycle" : isGrowing(steps) ? "growth" : "endless", steps: shown() };
}

function lengthOf(value: unknown): number {
  // JSON escapes some characters with six characters; each counts as one.
  return typeof value === "string" ? value.length : canonicalJson(value).replace(/\\u[0-9a-f]{4}/gi, "?").length;
}

function isGrowing(steps: readonly LawStep[]): boolean {
  const lengths = steps.filter(({ on }) => on === "host").map(({ value }) => lengthOf(value));
  return lengths.every((length, at) => at === 0 || length > lengths[at - 1]!);
}
