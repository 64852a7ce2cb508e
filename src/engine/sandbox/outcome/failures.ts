/**
 * Failures of evaluations, as errors with codes.
 *
 * @module
 */
import type { Code } from "../../../base/codes.ts";
import { EngineError, type ErrorDetails } from "../../../base/errors.ts";
import { excerptOf, quote, showPlace, type TextPosition } from "../../expression/excerpt.ts";
import { adviseOnResult, adviseOnThrown, kindOf } from "./advice.ts";
import type { FuelBudget } from "../fuel.ts";
import type { SandboxLimits } from "../limits.ts";
import type { EvaluationOutcome, Price, Stopped, Thrown } from "./outcome.ts";
import { positionInText } from "../source.ts";

const MESSAGE_MAX = 500;

/** Conditions of an evaluation. */
export interface Conditions {
  readonly limits: SandboxLimits;
  readonly budget: FuelBudget | undefined;
  /** The evaluation's own limit, or the rest of the budget if that is less. */
  readonly fuel: number;
  readonly value: unknown;
}

type Failed = (Exclude<EvaluationOutcome, { kind: "value" }> & Price) | Stopped;

/** The error for an evaluation of `text` that returned no value. */
export function evaluationError(text: string, outcome: Failed, conditions: Conditions): EngineError {
  switch (outcome.kind) {
    case "threw":
      return failureOfThrown(text, outcome, conditions);
    case "stopped":
      return failureOfStop(text, outcome, conditions);
    case "noJson":
      return failureOfResult(text, outcome, conditions);
  }
}

/** Cost of an evaluation, for the caller's budget. */
function priceOf(outcome: Failed): ErrorDetails {
  return { charged: outcome.charged, ...("contextCharged" in outcome && { contextCharged: outcome.contextCharged }) };
}

/** The error for source text that the engine does not compile. */
export function compileFailure(text: string, what: string, place: TextPosition = { line: 1, column: 1 }): EngineError {
  const message = `Cannot compile expression ${quote(text)}: ${what}${showPlace(text, place)}`;
  return new EngineError("EXPRESSION_SYNTAX", message, { details: { ...place, text, excerpt: excerptOf(text, place) } });
}

/** The error for source text whose compilation exceeds the rest of a budget. */
export function compileBudgetFailure(text: string, budget: FuelBudget, fuel: number): EngineError {
  const { limit } = budget;
  const what = `exceeds the shared budget of ${limit} steps for compiling all expressions of a configuration`;
  return failure(
    "EXPRESSION_FUEL",
    text,
    { what, hint: "Write fewer or shorter expressions, or raise limits.configurationFuel" },
    { fuel, limit },
  );
}

/** Parts of a message after the expression. */
interface Words {
  readonly what: string;
  readonly hint: string | undefined;
}

function failure(code: Code, text: string, { what, hint }: Words, details: ErrorDetails, options: { cause?: unknown } = {}): EngineError {
  const advice = hint === undefined ? {} : { hint };
  return new EngineError(code, `Expression ${quote(text)} ${what}${hint === undefined ? "" : `. ${hint}`}`, {
    details: { expression: text, ...details, ...advice },
    ...options,
  });
}

function failureOfResult(text: string, outcome: Extract<Failed, { kind: "noJson" }>, { limits, value }: Conditions): EngineError {
  const { found, fuel } = outcome;
  const limit = limits.resultBytes;
  const wanted = found.startsWith("more than") ? `a JSON value of at most ${limit} bytes` : "a JSON value";
  const words = { what: `must return ${wanted}, found ${found}; value is ${kindOf(value)}`, hint: adviseOnResult(found) };
  return failure("EXPRESSION_RESULT", text, words, { fuel, limit, valueKind: kindOf(value), ...priceOf(outcome) });
}

function failureOfStop(text: string, stopped: Stopped, conditions: Conditions): EngineError {
  const { reason, cause, attempted, charged } = stopped;
  const { limits } = conditions;
  switch (reason) {
    case "fuel":
      return failureOfFuel(text, stopped, conditions);
    case "overhead": {
      const what = `caused more work in the engine's internal tables than its ${conditions.fuel} steps cover (limits.fuel)`;
      const hint = "Look for a loop that creates very many values, or for objects with many keys that are large round numbers";
      return failure("EXPRESSION_FUEL", text, { what, hint }, { fuel: stopped.fuel, charged, limit: conditions.fuel });
    }
    case "input": {
      const what = `was not evaluated: reading its ${stopped.inputLength} characters of data takes more steps than are allowed for that amount of data (limits.fuel)`;
      const hint = "Match a smaller value, read single fields of context, or look for maps with many keys that are large round numbers";
      return failure("EXPRESSION_FUEL", text, { what, hint }, { fuel: stopped.fuel, charged, limit: conditions.fuel });
    }
    case "memory": {
      const words = {
        what: `needed more than ${limits.memoryBytes} bytes of memory (limits.memoryBytes)`,
        hint: "Create fewer or shorter values at a time",
      };
      return failure("EXPRESSION_MEMORY", text, words, { fuel: attempted, charged, limit: limits.memoryBytes });
    }
    case "stack": {
      const words = { what: "recursed too deeply", hint: "The value or the context is nested too deeply" };
      return failure("EXPRESSION_STACK", text, words, { fuel: attempted, charged, limit: limits.stackBytes });
    }
    case "fault":
      return failure("EXPRESSION_ERROR", text, { what: "broke the engine", hint: undefined }, { fuel: attempted, charged }, { cause });
  }
}

function failureOfFuel(text: string, { fuel, charged }: Stopped, { limits, budget, fuel: given }: Conditions): EngineError {
  const shared = budget !== undefined && given < limits.fuel;
  const limit = shared ? budget.limit : given;
  const what = shared
    ? `used up its shared budget of ${limit} steps, of which ${given} were left before it ran`
    : `took more than ${limit} steps (limits.fuel)`;
  const hint = "Look for an endless loop, a repeated group in a regular expression such as (a+)+, or a very long value";
  return failure("EXPRESSION_FUEL", text, { what, hint }, { fuel, charged, limit });
}

function failureOfThrown(text: string, outcome: Extract<Failed, { kind: "threw" }>, { limits, value }: Conditions): EngineError {
  const { thrown, fuel } = outcome;
  const place = positionInText(thrown.stack, text);
  const at = place === undefined ? "" : showPlace(text, place);
  const where = place === undefined ? {} : { ...place, excerpt: excerptOf(text, place) };
  if (isStackOverflow(thrown)) {
    const words = {
      what: `recursed too deeply${at}`,
      hint: `Nested calls share ${limits.stackBytes} bytes (limits.stackBytes); use a loop over a list`,
    };
    return failure("EXPRESSION_STACK", text, words, { fuel, limit: limits.stackBytes, ...where, ...priceOf(outcome) });
  }
  const what = `${thrown.name === "" ? "" : `${thrown.name}: `}${thrown.message}`.slice(0, MESSAGE_MAX);
  const words = {
    what: `threw ${what || "an error"}${at}; value is ${kindOf(value)}`,
    hint: adviseOnThrown(thrown, { text, value, place }),
  };
  return failure("EXPRESSION_ERROR", text, words, { fuel, valueKind: kindOf(value), ...where, ...priceOf(outcome) });
}

function isStackOverflow({ byEngine, message }: Thrown): boolean {
  return byEngine && message.includes("stack overflow");
}
