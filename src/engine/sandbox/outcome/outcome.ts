import type { TrapReason } from "../quickjs/engine.ts";

/** Fuel that is charged to an object for an evaluation. */
export interface Price {
  /** Fuel for everything but the context: the expression's own steps, its value, its result, and the work of the host. */
  readonly charged: number;
  /** Fuel for loading the context: the same if an earlier evaluation has loaded it. Repeated evaluations pay it once. */
  readonly contextCharged: number;
}

/** Outcome and cost of an evaluation. */
export type Priced = EvaluationOutcome & Price;

/** Outcome of an evaluation; `fuel` counts the expression's own steps and those of writing its result. */
export type EvaluationOutcome =
  | { readonly kind: "value"; readonly value: unknown; readonly fuel: number }
  | { readonly kind: "threw"; readonly thrown: Thrown; readonly fuel: number }
  | { readonly kind: "noJson"; readonly found: string; readonly fuel: number };

/** A thrown value as the realm reports it. Control characters in the name and the message are escaped. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  /** Empty for values that are not errors, because any object can claim any origin. */
  readonly stack: string;
  /** True if it has a class that the engine uses for excessive nesting. */
  readonly byEngine: boolean;
}

/** An evaluation that hit a limit, or a fault of the engine. */
export interface Stopped {
  readonly kind: "stopped";
  /** "input": loading its value or context took more steps than are allowed. */
  readonly reason: TrapReason | "input";
  readonly fuel: number;
  /** Its cost in a fresh engine, including the replacement of the engine. It does not depend on earlier evaluations. */
  readonly attempted: number;
  /** Its total cost, including an attempt in a used engine that did not have enough memory left. */
  readonly charged: number;
  /** JSON length of the input, in code units. */
  readonly inputLength: number;
  readonly cause: unknown;
}
