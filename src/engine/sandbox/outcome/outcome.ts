import type { TrapReason } from "../quickjs/engine.ts";

/** Fuel of an evaluation charged to its object, beside the expression's own steps. */
export interface Price {
  /** Everything but the context: the expression's own steps, its value, its result, and the work of the host for each evaluation. */
  readonly charged: number;
  /** Bringing in the context. It is the same whether an earlier evaluation has left it there; frequent evaluations pay it once. */
  readonly contextCharged: number;
}

/** Outcome and cost of an evaluation. */
export type Priced = EvaluationOutcome & Price;

/** Outcome of an evaluation; `fuel` counts the expression's own steps and those of writing its result. */
export type EvaluationOutcome =
  | { readonly kind: "value"; readonly value: unknown; readonly fuel: number }
  | { readonly kind: "threw"; readonly thrown: Thrown; readonly fuel: number }
  | { readonly kind: "noJson"; readonly found: string; readonly fuel: number };

/** A thrown value as the realm reports it. Name and message are on one line, whatever the expression wrote into them. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  /** Empty for values that are no errors: any object can claim any origin. */
  readonly stack: string;
  /** It has the class of the engine's errors for too deep nesting. */
  readonly byEngine: boolean;
}

/** An evaluation that hit a limit, or a fault of the engine. */
export interface Stopped {
  readonly kind: "stopped";
  /** "input": its value or context could not be brought in for a fair price. */
  readonly reason: TrapReason | "input";
  readonly fuel: number;
  /** Its cost in a fresh engine, with the price of what it broke: the same whatever was evaluated before. */
  readonly attempted: number;
  /** Its total cost, with an attempt in a used engine that had not enough memory left. */
  readonly charged: number;
  /** JSON length of the input, in code units. */
  readonly inputLength: number;
  readonly cause: unknown;
}
