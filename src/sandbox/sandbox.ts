/**
 * Runs the expressions of a configuration. The only room that knows QuickJS.
 *
 * Guarantees:
 * - An evaluation is a function of its text and scope: no clock, no chance, nothing left over from another evaluation.
 * - It ends: fuel, memory, stack and the size of the result are bounded, and no guest code can catch the end.
 * - It reaches its scope and `toHostDns`, nothing else; only strings cross.
 * - A failing evaluation harms no other one: after a trap the instance is dropped and a fresh one continues.
 *
 * @module
 */
import { EngineError, assert } from "../base/errors.ts";
import { checkExpression } from "../expression/check.ts";
import type { CheckedExpression } from "../expression/check.ts";
import type { EvaluationContext } from "./context.ts";
import type { EngineOptions, TrapReason } from "./engine.ts";
import { failure, failureOfThrown, placeOf, quote } from "./failures.ts";
import type { FuelBudget } from "./fuel.ts";
import { createHostCall } from "./host-call.ts";
import { Instance } from "./instance.ts";
import type { Evaluation, Outcome } from "./instance.ts";
import { resolveLimits } from "./limits.ts";
import type { SandboxLimits } from "./limits.ts";
import { loadRealm } from "./load.ts";
import type { LoadedRealm } from "./load.ts";

/** What the names of an expression stand for. */
export interface Scope {
  /** The matched value: JSON data. The expression gets a copy of its own. */
  readonly value: unknown;
  /** Default true. */
  readonly valueExists?: boolean;
  /** Deeply read-only for the expression. Its objects must not change while the sandbox lives: they are told apart by identity. */
  readonly context: EvaluationContext;
}

/** A compiled expression, good for the sandbox that compiled it. */
export interface Expression {
  readonly text: string;
}

/** Conditions of one evaluation. */
export interface EvaluateOptions {
  /** Shared with other evaluations; this one takes no more than what is left of it. */
  readonly budget?: FuelBudget;
}

/** A value, and the steps it took to compute it. */
export interface Evaluated {
  /** JSON data. */
  readonly value: unknown;
  readonly fuel: number;
}

/** Runs expressions. */
export interface Sandbox {
  /** The limits that hold; `objectFuel` and `configurationFuel` are for {@link createFuelBudget}. */
  readonly limits: SandboxLimits;
  /**
   * Compiles an expression. The same text gives the same answer again.
   *
   * @throws EXPRESSION_SYNTAX when the text is not one expression; details: line, column (from 1), text, hint.
   */
  compile(text: string): Expression;
  /**
   * Evaluates an expression.
   *
   * @throws EXPRESSION_ERROR when it throws; details: expression, fuel, line, column where they are known.
   * @throws EXPRESSION_RESULT when its result is no JSON value, or too long; details: expression, fuel, limit.
   * @throws EXPRESSION_FUEL when it needs more steps than its own limit or the budget; details: expression, fuel, limit.
   * @throws EXPRESSION_MEMORY when it needs more memory; details: expression, fuel, limit.
   * @throws EXPRESSION_STACK when it recurses too deep; details: expression, fuel, limit.
   */
  evaluate(expression: Expression, scope: Scope, options?: EvaluateOptions): Evaluated;
  /** Frees the engine. Nothing can be compiled or evaluated any more. */
  dispose(): void;
}

/** How a sandbox is made. */
export interface SandboxOptions {
  /** Replaces single limits of {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<SandboxLimits>;
  /**
   * What `virtualToHostDNS` answers. May throw DNS_NAME_INVALID: the expression sees an Error with its message.
   * Default: every call throws.
   */
  readonly toHostDns?: (name: string) => string;
}

const NOTHING_KNOWN = { name: "", message: "", stack: "" };

/** Compiled texts that a sandbox remembers. */
const COMPILED_MAX = 1000;

/**
 * A sandbox with an engine of its own.
 *
 * @throws CONFIG_VALUE when a limit is out of its range.
 * @example
 * const sandbox = await createSandbox();
 * const context = { vcluster: { name: "blue", namespace: "team-a", config: {} }, hostObject: null, virtualObject: null, path: "metadata.name" };
 * sandbox.evaluate(sandbox.compile("value + '-' + context.vcluster.name"), { value: "db", context }).value; // "db-blue"
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const limits = resolveLimits(options.limits);
  const realm = await loadRealm(limits.stackBytes);
  return new QuickJsSandbox({ limits, realm, callHost: createHostCall(options.toHostDns) });
}

class QuickJsSandbox implements Sandbox {
  readonly limits: SandboxLimits;
  readonly #options: EngineOptions;
  readonly #realm: LoadedRealm;
  readonly #compiled = new Map<string, CheckedExpression>();
  #instance: Instance | undefined;

  constructor({ limits, realm, callHost }: { limits: SandboxLimits; realm: LoadedRealm; callHost: (text: string) => string }) {
    const { memoryBytes, stackBytes } = limits;
    this.limits = limits;
    this.#realm = realm;
    this.#options = { module: realm.module, memoryBytes, stackBytes, callHost };
    this.#instance = this.#newInstance();
  }

  compile(text: string): Expression {
    const known = this.#compiled.get(text);
    if (known !== undefined) return known;
    const checked = checkExpression(text, { maximumBytes: this.limits.sourceBytes });
    this.#compileInEngine(checked);
    if (this.#compiled.size >= COMPILED_MAX) this.#compiled.delete(this.#compiled.keys().next().value!);
    this.#compiled.set(text, checked);
    return checked;
  }

  evaluate(expression: Expression, scope: Scope, options: EvaluateOptions = {}): Evaluated {
    assert("reads" in expression, "an expression is evaluated by the sandbox that compiled it");
    const fuel = Math.min(this.limits.fuel, options.budget?.remaining ?? this.limits.fuel);
    const { value, valueExists = true, context } = scope;
    const evaluation = { value, valueExists, context, fuel, resultBytes: this.limits.resultBytes };
    const outcome = this.#run(expression as CheckedExpression, evaluation, options.budget);
    options.budget?.spend(outcome.fuel);
    if (outcome.kind === "value") return { value: outcome.value, fuel: outcome.fuel };
    throw this.#failure(expression.text, outcome);
  }

  dispose(): void {
    this.#instance = undefined;
    this.#compiled.clear();
  }

  #newInstance(): Instance {
    return new Instance(this.#options, this.#realm.image);
  }

  #running(): Instance {
    assert(this.#instance !== undefined, "a disposed sandbox is not used any more");
    return this.#instance;
  }

  #run(expression: CheckedExpression, evaluation: Evaluation, budget: FuelBudget | undefined): Outcome {
    const instance = this.#running();
    const { used } = instance;
    try {
      const outcome = instance.evaluate(expression, evaluation);
      if (instance.grown) this.#instance = this.#newInstance();
      return outcome;
    } catch (error) {
      this.#instance = this.#newInstance();
      if (instance.thrownAfter !== undefined) return { kind: "threw", thrown: NOTHING_KNOWN, fuel: instance.thrownAfter };
      const reason = instance.engine.trapReason(error);
      // Memory may have run out because of what earlier evaluations left in the caches: that must not decide this one's fate.
      if (used && reason !== "fuel") return this.#run(expression, evaluation, budget);
      throw this.#trapFailure(expression.text, { reason, cause: error, evaluation, budget });
    }
  }

  #compileInEngine(checked: CheckedExpression): void {
    let problem;
    try {
      problem = this.#running().compile(checked, this.limits.fuel);
    } catch (error) {
      const reason = this.#running().engine.trapReason(error);
      this.#instance = this.#newInstance();
      problem = { name: "", message: `it is too much work for the compiler (${reason})`, stack: "" };
    }
    if (problem === undefined) return;
    const { line, column } = placeOf(problem.stack) ?? { line: 1, column: 1 };
    const message = `Cannot compile expression ${quote(checked.text)}: ${problem.message} at line ${line}, column ${column}`;
    throw new EngineError("EXPRESSION_SYNTAX", message, { details: { line, column, text: checked.text } });
  }

  #failure(text: string, outcome: Exclude<Outcome, { kind: "value" }>): EngineError {
    const { fuel } = outcome;
    if (outcome.kind === "threw") return failureOfThrown(text, outcome.thrown, { fuel, stackBytes: this.limits.stackBytes });
    const limit = this.limits.resultBytes;
    return failure("EXPRESSION_RESULT", text, `must return a JSON value of at most ${limit} bytes, found ${outcome.found}`, {
      fuel,
      limit,
    });
  }

  #trapFailure(
    text: string,
    trap: { reason: TrapReason; cause: unknown; evaluation: Evaluation; budget: FuelBudget | undefined },
  ): EngineError {
    const { reason, evaluation, budget } = trap;
    const { fuel } = evaluation;
    const { memoryBytes, stackBytes } = this.limits;
    switch (reason) {
      case "fuel":
      case "overhead": {
        budget?.spend(fuel);
        const shared = budget !== undefined && fuel < this.limits.fuel;
        const limit = shared ? budget.limit : fuel;
        const what = shared ? `used up the budget of ${limit} steps that it shares` : `took more than ${limit} steps`;
        return failure("EXPRESSION_FUEL", text, what, { fuel, limit });
      }
      case "memory":
        return failure("EXPRESSION_MEMORY", text, `needed more than ${memoryBytes} bytes of memory`, { fuel: 0, limit: memoryBytes });
      case "stack":
        return failure("EXPRESSION_STACK", text, `recursed too deep`, { fuel: 0, limit: stackBytes });
      case "fault":
        return new EngineError("EXPRESSION_ERROR", `Expression ${quote(text)} broke the engine`, {
          details: { expression: text, fuel: 0 },
          cause: trap.cause,
        });
    }
  }
}
