/**
 * Texts of a report.
 *
 * @module
 */
import { typeInWords } from "../../base/json.ts";
import { shown } from "../asserts/shown.ts";
import type { Alternation } from "./trips/alternate.ts";
import type { LawStep, PairEvidence, PairReport } from "./report.ts";
import type { Arrival, Trip } from "./trips/trip.ts";

/**
 * Formats the steps of a value on one line.
 *
 * @example
 * formatLawSteps([{ on: "tenant", value: "a" }, { on: "host", value: "p-a" }]); // 'tenant "a" → host "p-a"'
 */
export function formatLawSteps(steps: readonly LawStep[]): string {
  return steps
    .map(({ on, value, error }) => `${on} ${error === undefined ? (value === null ? "without the field" : shown(value)) : "fails"}`)
    .join(" → ");
}

/** Explains an expression that failed for a value of the kind; `to` is the side that received nothing. */
export function explainFailure({ message }: Extract<Arrival, { kind: "failed" }>, to: "host" | "tenant"): string {
  const contained =
    to === "host"
      ? "The host keeps the value that was last written; if none was written, it does not have the field"
      : "A host edit of the value is not synced back";
  return `${message}. ${contained}.`;
}

/** Explains a result whose type differs from the type of the value that it replaces. */
export function explainType(before: unknown, after: unknown): string {
  return `The value was ${typeInWords(before)} and becomes ${typeInWords(after)}, which the API server may refuse together with the whole object.`;
}

/** Explains a value that comes back changed. `flows`: the syncer accepts a host edit that sets `host`. */
export function explainJourney(journey: { before: unknown; host: unknown; back: Arrival; flows: boolean }): string {
  const { before, host, back, flows } = journey;
  if (back.kind === "failed")
    return `The result of expression cannot be converted back: ${back.message}. A host edit of the value is not synced back.`;
  const isGone = back.kind === "gone";
  const after = isGone
    ? `it removes the field instead of restoring ${shown(before)}`
    : `${shown(before)} would become ${shown(back.value)}`;
  const what = `reverseExpression does not undo expression: ${after}`;
  const left = isGone ? "removes the field in the tenant" : `leaves the tenant with ${shown(back.value)}`;
  return flows
    ? `${what}. A host edit that sets ${shown(host)} is synced back, and ${left}.`
    : `${what}. A host edit that sets ${shown(host)} does not survive the round trip, so it is not synced back (REVERSE_NOT_INVERSE).`;
}

/** Explains a host edit that cannot be applied in the tenant. */
export function explainEdit(edit: unknown, back: Arrival): string {
  const why =
    back.kind === "failed"
      ? `reverseExpression fails: ${back.message}`
      : "expression does not reproduce the value from the result of reverseExpression";
  return `A host edit that sets ${shown(edit)} is not synced back: ${why}.`;
}

/** Explains a patch that reads the host object and returns a different value when it runs again and finds its own result there. */
export function explainSecondWrite(): string {
  return "expression reads its own result in context.hostObject and changes it again: the host object is written twice.";
}

const UNREST = {
  cycle: "returns to its original value and starts over",
  growth: "gets longer with every round",
  endless: "is different after every round",
} as const;

/** Explains round trips that do not end. */
export function explainUnrest(unrest: NonNullable<Alternation["unrest"]>, rounds: number, { comesBack }: Trip): string {
  const how = `The value ${UNREST[unrest]} and does not settle within ${rounds} rounds.`;
  return comesBack
    ? `${how} If every edit were copied in both directions, the writes would never end; this syncer does not sync back an edit that would change on its way (REVERSE_NOT_INVERSE).`
    : `${how} expression reads its own result in context.hostObject, so every reconcile of the object writes it again.`;
}

const VERDICTS: Readonly<Record<PairReport["verdict"], string>> = {
  lossless: "values come back unchanged",
  "one-way": "host edits are not synced back",
  drifts: "the value that comes back differs from the original",
  oscillates: "each side keeps overwriting the other",
};

/**
 * Meaning of a verdict, in a few words.
 *
 * @example
 * meaningOf("drifts"); // "the value that comes back differs from the original"
 */
export function meaningOf(verdict: PairReport["verdict"]): string {
  return VERDICTS[verdict];
}

/**
 * Evidence for a verdict, in a few words.
 *
 * @example
 * evidenceInWords({ kind: "tried", values: 300 }); // "no counter-example in 300 values"
 */
export function evidenceInWords({ kind, values }: PairEvidence): string {
  if (kind === "proved") return "holds for every value";
  if (kind === "counterExample") return "there is a counter-example";
  const count = values.toLocaleString("en");
  return kind === "exhausted" ? `holds for all ${count} values` : `no counter-example in ${count} ${values === 1 ? "value" : "values"}`;
}
