import { isEngineError } from "../../base/errors.ts";
import type { CompiledPatch } from "./compile.ts";
import type { Outcome, OutcomeKind, PatchFailure } from "./types.ts";

/** A patch's record while it runs. */
export interface Tally {
  matches: number;
  changed: number;
  fuel: number;
  readonly errors: PatchFailure[];
  readonly denied: PatchFailure[];
}

/** Creates an empty record. */
export function openTally(): Tally {
  return { matches: 0, changed: 0, fuel: 0, errors: [], denied: [] };
}

/** A thrown text can be as long as the expression's memory; a record is for people. */
const MESSAGE_LENGTH_MAX = 1000;

/** The record of an error at `place`. A broken invariant, or any other error than an EngineError, is a bug and rethrown. */
export function patchFailureOf(error: unknown, place: string): PatchFailure {
  if (!isEngineError(error) || error.code === "INTERNAL") throw error;
  const { code, message } = error;
  const text = message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX)}…` : message;
  return { place, code, message: text };
}

/** The finished record. */
export function closeTally(patch: CompiledPatch, tally: Tally): Outcome {
  const failures = [...tally.errors, ...tally.denied];
  const { code, message, place } = failures[0] ?? {};
  return {
    ...noExpression(patch),
    outcome: outcomeOf(tally),
    matches: tally.matches,
    changed: tally.changed,
    fuel: tally.fuel,
    ...(code !== undefined && message !== undefined && place !== undefined && { code, message, place, failures }),
  };
}

function outcomeOf({ errors, denied, matches, changed }: Tally): OutcomeKind {
  if (errors.length > 0) return "error";
  if (denied.length > 0) return "denied";
  if (matches === 0) return "noMatch";
  return changed > 0 ? "applied" : "noChange";
}

/** The record of a patch that has no expression for this direction. */
export function noExpression(patch: CompiledPatch): Outcome {
  return { patch: patch.index, path: patch.path.canonical, outcome: "noExpression", matches: 0, changed: 0, fuel: 0 };
}
