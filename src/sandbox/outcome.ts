import type { TrapReason } from "./engine.ts";

/** What an evaluation came to; `fuel` counts the expression's own steps and those of writing its result. */
export type Outcome =
  | { readonly kind: "value"; readonly value: unknown; readonly fuel: number }
  | { readonly kind: "threw"; readonly thrown: Thrown; readonly fuel: number }
  | { readonly kind: "noJson"; readonly found: string; readonly fuel: number };

/** What the realm says about a thrown value. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** An evaluation that hit a limit, or a fault of the engine. */
export interface Stopped {
  readonly kind: "stopped";
  readonly reason: TrapReason;
  readonly fuel: number;
  readonly cause: unknown;
}
