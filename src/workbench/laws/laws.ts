/**
 * The laws: each decides whether one value breaks it, and shows how.
 *
 * @module
 */
import { isRecord, jsonEqual } from "../../base/json.ts";
import type { Schema } from "../../schema/schema.ts";
import { alternate, stepOf } from "./trips/alternate.ts";
import type { LawName, LawStep } from "./report.ts";
import { accepts } from "./samples/shapes.ts";
import type { Situation } from "./trips/situations.ts";
import type { Arrival, Trip } from "./trips/trip.ts";
import { explainEdit, explainFailure, explainJourney, explainSecondWrite, explainType, explainUnrest } from "./wording.ts";

/** A value in its surroundings, on the side that the law starts from. */
export interface Trial {
  readonly value: unknown;
  readonly situation: Situation;
}

/** The data that a law needs besides the value. */
export interface LawContext {
  readonly trip: Trip;
  /** Round trips after which a value must have stopped changing. */
  readonly rounds: number;
  /** Shape of tenant values; undefined if unknown. */
  readonly shape: Schema | undefined;
}

/** How a value breaks a law. */
export interface Breach {
  readonly steps: readonly LawStep[];
  readonly explanation: string;
}

/** `undefined`: the value satisfies the law. "void": the law does not apply to the value. */
export type Judgement = Breach | "void" | undefined;

/** A property that every value of a patch must have. */
export interface Law {
  readonly name: LawName;
  /** The side that its values are on. */
  readonly on: LawStep["on"];
  /** Reports whether the law applies to a patch. */
  applies(trip: Trip): boolean;
  judge(trial: Trial, context: LawContext): Judgement;
}

const there = ({ value, situation }: Trial, { trip }: LawContext): Arrival => trip.toHost(value, situation);

const total: Law = {
  name: "total",
  on: "tenant",
  applies: () => true,
  judge(trial, context) {
    const { trip } = context;
    const forth = there(trial, context);
    const first: LawStep = { on: "tenant", value: trial.value };
    if (forth.kind === "failed") return { steps: [first, stepOf("host", forth)], explanation: explainFailure(forth, "host") };
    if (forth.kind === "gone" || !trip.comesBack) return undefined;
    const back = trip.toTenant(forth.value, trial.situation, { value: trial.value });
    if (back.kind !== "failed") return undefined;
    return { steps: [first, stepOf("host", forth), stepOf("tenant", back)], explanation: explainFailure(back, "tenant") };
  },
};

const deterministic: Law = {
  name: "deterministic",
  on: "tenant",
  applies: ({ goesToHost }) => goesToHost,
  judge(trial, context) {
    const left = there(trial, context);
    context.trip.forget();
    const right = there(trial, context);
    if (jsonEqual(left, right)) return undefined;
    const steps: LawStep[] = [{ on: "tenant", value: trial.value }, stepOf("host", left), stepOf("host", right)];
    return { steps, explanation: "The same value gives different results, or the same result at a different cost." };
  },
};

const typeKept: Law = {
  name: "typeKept",
  on: "tenant",
  applies: () => true,
  judge(trial, context) {
    const forth = there(trial, context);
    if (forth.kind !== "value") return "void";
    const steps: LawStep[] = [{ on: "tenant", value: trial.value }, stepOf("host", forth)];
    if (typeOf(forth.value) !== typeOf(trial.value)) return { steps, explanation: explainType(trial.value, forth.value) };
    if (!context.trip.comesBack) return undefined;
    const back = context.trip.toTenant(forth.value, trial.situation, { value: trial.value });
    if (back.kind !== "value" || typeOf(back.value) === typeOf(trial.value)) return undefined;
    return { steps: [...steps, stepOf("tenant", back)], explanation: explainType(forth.value, back.value) };
  },
};

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  return isRecord(value) ? "object" : value === null ? "null" : typeof value;
}

const roundTrip: Law = {
  name: "roundTrip",
  on: "tenant",
  applies: ({ comesBack }) => comesBack,
  judge(trial, context) {
    const { trip } = context;
    const { value, situation } = trial;
    const forth = there(trial, context);
    if (forth.kind !== "value") return "void";
    const back = trip.toTenant(forth.value, situation, { value });
    if (back.kind === "value" && jsonEqual(back.value, value)) return undefined;
    const again = back.kind === "value" ? trip.toHost(back.value, situation, { value: forth.value }) : undefined;
    const steps: LawStep[] = [
      { on: "tenant", value },
      stepOf("host", forth),
      stepOf("tenant", back),
      ...(again ? [stepOf("host", again)] : []),
    ];
    const flows = again?.kind === "value" && jsonEqual(again.value, forth.value);
    return { steps, explanation: explainJourney({ before: value, host: forth.value, back, flows: flows || !trip.goesToHost }) };
  },
};

const hostEdits: Law = {
  name: "hostEdits",
  on: "host",
  applies: ({ comesBack }) => comesBack,
  judge({ value, situation }, context) {
    const { trip } = context;
    const back = trip.toTenant(value, situation);
    if (back.kind === "gone") return "void";
    const start: LawStep[] = [{ on: "host", value }, stepOf("tenant", back)];
    if (back.kind === "failed") return { steps: start, explanation: explainEdit(value, back) };
    // Without an expression, both sides then have the returned value.
    if (!trip.goesToHost) return undefined;
    const again = trip.toHost(back.value, situation, { value });
    if (again.kind === "value" && jsonEqual(again.value, value)) return undefined;
    return { steps: [...start, stepOf("host", again)], explanation: explainEdit(value, back) };
  },
};

const idempotent: Law = {
  name: "idempotent",
  on: "tenant",
  applies: ({ seesHost }) => seesHost,
  judge(trial, context) {
    const forth = there(trial, context);
    if (forth.kind !== "value") return "void";
    const again = context.trip.toHost(trial.value, trial.situation, { value: forth.value });
    if (again.kind === "value" && jsonEqual(again.value, forth.value)) return undefined;
    const steps: LawStep[] = [{ on: "tenant", value: trial.value }, stepOf("host", forth), stepOf("host", again)];
    return { steps, explanation: explainSecondWrite() };
  },
};

const settles: Law = {
  name: "settles",
  on: "tenant",
  applies: ({ comesBack, seesHost }) => comesBack || seesHost,
  judge({ value, situation }, { trip, rounds }) {
    const { unrest, steps } = alternate(trip, value, { situation, rounds });
    return unrest && { steps, explanation: explainUnrest(unrest, rounds, trip) };
  },
};

/** Like `settles`, but starts from a host edit: its result in the tenant must settle too. */
const settlesFromHost: Law = {
  ...settles,
  on: "host",
  applies: ({ comesBack }) => comesBack,
  judge({ value, situation }, context) {
    const back = context.trip.toTenant(value, situation);
    if (back.kind !== "value" || (context.shape !== undefined && !accepts(context.shape, back.value))) return "void";
    const judged = settles.judge({ value: back.value, situation }, context);
    return typeof judged === "object" ? { ...judged, steps: [{ on: "host", value }, ...judged.steps] } : judged;
  },
};

/** All laws; `settles` exists for each side. */
export const LAWS_KNOWN: readonly Law[] = [roundTrip, settles, settlesFromHost, total, typeKept, idempotent, hostEdits, deterministic];
