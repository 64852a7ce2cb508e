/**
 * What went wrong in an evaluation, as errors with codes.
 *
 * @module
 */
import type { Code } from "../base/codes.ts";
import { EngineError } from "../base/errors.ts";
import type { ErrorDetails } from "../base/errors.ts";
import { LEFT_OUT } from "../expression/left-out.ts";
import type { FuelBudget } from "./fuel.ts";
import type { SandboxLimits } from "./limits.ts";
import type { Outcome, Stopped, Thrown } from "./outcome.ts";
import { placeOf } from "./source.ts";

const QUOTED_MAX = 80;
const MESSAGE_MAX = 500;

/** `text`, quoted and cut for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text);
}

/** What an evaluation was given. */
export interface Conditions {
  readonly limits: SandboxLimits;
  readonly budget: FuelBudget | undefined;
  /** Its own limit, or what was left of the budget. */
  readonly fuel: number;
}

/** The error for an evaluation of `text` that gave no value. */
export function failureOf(text: string, outcome: Exclude<Outcome, { kind: "value" }> | Stopped, conditions: Conditions): EngineError {
  const { limits } = conditions;
  const { fuel } = outcome;
  switch (outcome.kind) {
    case "threw":
      return failureOfThrown(text, outcome.thrown, { fuel, stackBytes: limits.stackBytes });
    case "stopped":
      return failureOfStop(text, outcome, conditions);
    case "noJson": {
      const what = `must return a JSON value of at most ${limits.resultBytes} bytes, found ${outcome.found}`;
      return failure("EXPRESSION_RESULT", text, what, { fuel, limit: limits.resultBytes });
    }
  }
}

function failureOfStop(text: string, stopped: Stopped, { limits, budget, fuel: given }: Conditions): EngineError {
  const { fuel, reason, cause } = stopped;
  const { memoryBytes, stackBytes } = limits;
  switch (reason) {
    case "fuel":
    case "overhead": {
      const shared = budget !== undefined && given < limits.fuel;
      const limit = shared ? budget.limit : given;
      const what = shared ? `used up the budget of ${limit} steps that it shares` : `took more than ${limit} steps`;
      return failure("EXPRESSION_FUEL", text, what, { fuel, limit });
    }
    case "memory":
      return failure("EXPRESSION_MEMORY", text, `needed more than ${memoryBytes} bytes of memory`, { fuel, limit: memoryBytes });
    case "stack":
      return failure("EXPRESSION_STACK", text, "recursed too deep", { fuel, limit: stackBytes });
    case "fault":
      return failure("EXPRESSION_ERROR", text, "broke the engine", { fuel }, { cause });
  }
}

function failure(code: Code, text: string, what: string, details: ErrorDetails, options: { cause?: unknown } = {}): EngineError {
  return new EngineError(code, `Expression ${quote(text)} ${what}`, { details: { expression: text, ...details }, ...options });
}

function failureOfThrown(text: string, thrown: Thrown, facts: { fuel: number; stackBytes: number }): EngineError {
  const { fuel, stackBytes } = facts;
  const place = placeOf(thrown.stack);
  const at = place === undefined ? "" : ` at line ${place.line}, column ${place.column}`;
  // The parsers of JSON and of regular expressions report it as a SyntaxError.
  if (/^(InternalError|SyntaxError)$/.test(thrown.name) && thrown.message.includes("stack overflow")) {
    return failure("EXPRESSION_STACK", text, `recursed too deep${at}`, { fuel, limit: stackBytes, ...place });
  }
  const what = `${thrown.name === "" ? "" : `${thrown.name}: `}${thrown.message}`.slice(0, MESSAGE_MAX);
  const hint = hintFor(thrown);
  const advice = hint === undefined ? {} : { hint };
  return failure("EXPRESSION_ERROR", text, `threw ${what || "an error"}${at}${hint === undefined ? "" : `. ${hint}`}`, {
    fuel,
    ...place,
    ...advice,
  });
}

function hintFor({ name, message }: Thrown): string | undefined {
  if (name !== "ReferenceError") return undefined;
  return LEFT_OUT.get(/^'?([\w$]+)'? is not defined/.exec(message)?.[1] ?? "");
}
