/**
 * Runs the expressions of a configuration. The only module that uses QuickJS.
 *
 * Guarantees:
 * - An evaluation is a function of its text and scope: no clock, no randomness, no state of other evaluations.
 * - An evaluation always ends: fuel, memory, stack and the size of the result are limited, and guest code cannot catch the stop.
 * - An evaluation can access its scope and `toHostDns`, and nothing else; no object crosses the boundary of the engine.
 * - A failing evaluation does not affect others: after a trap, a new instance replaces the old one.
 *
 * @module
 */
import { assert, EngineError, isEngineError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { checkExpression, type CheckedExpression } from "../expression/check.ts";
import { HOST_FUNCTIONS, type Outside } from "../expression/functions/host-functions.ts";
import { usedParts, type EvaluationContext } from "./context.ts";
import { INITIAL_PAGES, PAGE_BYTES, type QuickJsInstanceOptions, type TrapReason } from "./quickjs/engine.ts";
import { compileBudgetFailure, compileFailure, evaluationError } from "./outcome/failures.ts";
import type { FuelBudget } from "./fuel.ts";
import { Instance, type Evaluation } from "./realm/instance.ts";
import { resolveLimits, type SandboxLimits } from "./limits.ts";
import { loadRealm, type LoadedRealm } from "./realm/load.ts";
import type { Priced, Stopped, Thrown } from "./outcome/outcome.ts";
import { replacementFuel } from "./realm/price.ts";
import { positionInText } from "./source.ts";

export { createFuelBudget } from "./fuel.ts";
export type { EvaluationContext, FuelBudget, SandboxLimits };

/** Values of the names that an expression can use. */
export interface Scope {
  /** The matched value: JSON data. The expression gets its own copy. */
  readonly value: unknown;
  /** Default true. */
  readonly valueExists?: boolean;
  /**
   * Deeply read-only for the expression. Its objects must not change while the sandbox exists, because they are distinguished by
   * identity.
   */
  readonly context: EvaluationContext;
}

/** A compiled expression, valid for the sandbox that compiled it. */
export interface Expression {
  readonly text: string;
}

/** Options of one evaluation. */
export interface BudgetOptions {
  /** A shared budget; the operation uses at most its remaining steps. */
  readonly budget?: FuelBudget;
}

/** Options of compiling. */
export interface CompileOptions extends BudgetOptions {
  /** The result of an earlier check of the text, which is then not parsed again. */
  readonly checked?: CheckedExpression | undefined;
}

/** A value, and the steps that computing it took. */
export interface Evaluated {
  /** JSON data. */
  readonly value: unknown;
  /** The expression's own steps. */
  readonly fuel: number;
  /** Fuel of the evaluation charged to its object: its own steps, and those for its value, its result and the host's work. */
  readonly charged: number;
  /** Fuel for loading the context, regardless of whether it was still loaded; charged once for repeated evaluations of an expression. */
  readonly contextCharged: number;
}

/** Runs expressions. */
export interface Sandbox {
  /** The limits in effect; `objectFuel` and `configurationFuel` are for {@link createFuelBudget}. */
  readonly limits: SandboxLimits;
  /**
   * Compiles an expression without running it. Compiling the same text again returns the same result, at no cost.
   *
   * @throws EXPRESSION_SYNTAX when the text is not one expression, or is too much work for the compiler; details: line, column (from 1),
   *   text, hint.
   * @throws EXPRESSION_FUEL if it needs more steps than the budget has left; details: expression, fuel, limit.
   * @throws USAGE after {@link dispose}, and within `toHostDns`.
   */
  compile(text: string, options?: CompileOptions): Expression;
  /**
   * Evaluates an expression.
   *
   * @throws EXPRESSION_ERROR when it throws; details: expression, fuel, line, column where they are known.
   * @throws EXPRESSION_RESULT when its result is not a JSON value, or too long; details: expression, fuel, limit.
   * @throws EXPRESSION_FUEL when it needs more steps than its own limit or the budget, or when reading its value or context takes more
   *   steps than are allowed for their size; details: expression, fuel, limit.
   * @throws EXPRESSION_MEMORY when it needs more memory; details: expression, fuel (including the cost of a fresh engine), limit.
   * @throws EXPRESSION_STACK when it recurses too deeply; details: expression, fuel, limit.
   *
   * All of these errors have details.charged: the fuel charged to the object, which includes the context if the evaluation was stopped.
   *
   * @throws USAGE when the scope is not JSON data or lacks its context, for an expression of another sandbox, after {@link dispose}, and
   *   within `toHostDns`; nothing was evaluated.
   */
  evaluate(expression: Expression, scope: Scope, options?: BudgetOptions): Evaluated;
  /**
   * Reports whether a compiled expression can read `context.hostObject`. If not, its value is the same for every host object.
   *
   * @throws USAGE for an expression of another sandbox.
   */
  readsHostObject(expression: Expression): boolean;
  /**
   * Frees the engine. Later calls throw USAGE.
   *
   * @throws USAGE within `toHostDns`.
   */
  dispose(): void;
}

/** Options of a sandbox. */
export interface SandboxOptions {
  /** Overrides single limits; the others are `DEFAULT_LIMITS` of limits.ts. */
  readonly limits?: Partial<SandboxLimits>;
  /**
   * Implementation of `virtualToHostDNS`. May throw DNS_NAME_INVALID: the expression sees an Error with its message.
   * Default: every call throws.
   */
  readonly toHostDns?: (name: string) => string;
}

/** An expression of one sandbox with its compilation cost. */
class CompiledExpression implements CheckedExpression {
  readonly text: string;
  readonly reads: CheckedExpression["reads"];
  readonly warnings: CheckedExpression["warnings"];
  compileFuel = 0;
  /** True if it needs more memory than a used instance may have: each of its evaluations then has its own instance. */
  needsMemory = false;
  readonly #owner: Sandbox;

  constructor({ text, reads, warnings }: CheckedExpression, owner: Sandbox) {
    this.text = text;
    this.reads = reads;
    this.warnings = warnings;
    this.#owner = owner;
  }

  /** No other object can pass for one of these: a private field cannot be copied. */
  static isOf(owner: Sandbox, expression: Expression): expression is CompiledExpression {
    return isRecord(expression) && #owner in expression && expression.#owner === owner;
  }
}

/** An evaluation in a used instance that needed more memory than earlier evaluations have left. */
interface Crowded {
  readonly kind: "crowded";
  readonly charged: number;
}

/** A used instance may not grow beyond this: memory left over from earlier evaluations must not limit this one. */
const USED_MEMORY_BYTES = INITIAL_PAGES * PAGE_BYTES;

/** Maximum number of compiled texts that a sandbox remembers. */
const COMPILED_MAX = 1000;

/**
 * Creates a sandbox with its own engine.
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
  return new QuickJsSandbox({ limits, realm, outside: { toHostDns: options.toHostDns } });
}

class QuickJsSandbox implements Sandbox {
  readonly limits: SandboxLimits;
  readonly #options: QuickJsInstanceOptions;
  readonly #realm: LoadedRealm;
  readonly #compiled = new Map<string, CompiledExpression>();
  /** Kept from one evaluation to the next as long as its memory has not grown. */
  #instance: Instance | undefined;
  #busy = false;
  #disposed = false;

  constructor({ limits, realm, outside }: { limits: SandboxLimits; realm: LoadedRealm; outside: Outside }) {
    const { memoryBytes, stackBytes } = limits;
    this.limits = limits;
    this.#realm = realm;
    this.#options = { module: realm.module, memoryBytes, stackBytes, functions: HOST_FUNCTIONS, outside };
    this.#instance = this.#newInstance();
  }

  compile(text: string, { budget, checked: known }: CompileOptions = {}): Expression {
    this.#mustBeFree("compile");
    const before = this.#compiled.get(text);
    if (before !== undefined) return before;
    const checked = checkExpression(text, { maximumBytes: this.limits.sourceBytes, checked: known });
    const compiled = this.#compileInEngine(checked, budget);
    if (this.#compiled.size >= COMPILED_MAX) this.#compiled.delete(this.#compiled.keys().next().value!);
    this.#compiled.set(text, compiled);
    return compiled;
  }

  evaluate(expression: Expression, scope: Scope, { budget }: BudgetOptions = {}): Evaluated {
    this.#mustBeFree("evaluate");
    const compiled = this.#mustBeOwn(expression);
    mustHaveContext(scope);
    const { limits } = this;
    const fuel = Math.min(limits.fuel, budget?.remaining ?? limits.fuel);
    const { value, valueExists = true, context } = scope;
    const outcome = this.#run(compiled, { value, valueExists, context, fuel, resultBytes: limits.resultBytes });
    budget?.spend(outcome.charged + (outcome.kind === "stopped" ? 0 : outcome.contextCharged));
    if (outcome.kind === "value") {
      const { value, fuel, charged, contextCharged } = outcome;
      return { value, fuel, charged, contextCharged };
    }
    throw evaluationError(expression.text, outcome, { limits, budget, fuel, value });
  }

  readsHostObject(expression: Expression): boolean {
    return usedParts(this.#mustBeOwn(expression).reads).hostObject;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#mustBeFree("dispose of the sandbox");
    this.#disposed = true;
    this.#instance = undefined;
    this.#compiled.clear();
  }

  #mustBeFree(task: string): void {
    if (this.#disposed) throw misuse(`Cannot ${task}: the sandbox was disposed of. Dispose of it only after its last evaluation`);
    if (this.#busy) throw misuse(`Cannot ${task} during an evaluation. toHostDns and the data of a scope must not use the sandbox`);
  }

  #mustBeOwn(expression: Expression): CompiledExpression {
    if (CompiledExpression.isOf(this, expression)) return expression;
    throw misuse("Cannot use an expression that this sandbox has not compiled. Pass its text to compile first");
  }

  #newInstance(): Instance {
    return new Instance(this.#options, this.#realm.image);
  }

  #run(expression: CompiledExpression, evaluation: Evaluation): Priced | Stopped {
    const first = this.#attempt(expression, evaluation);
    if (first.kind !== "crowded") return first;
    // Leftovers of earlier evaluations must not decide the outcome of this one. The next instance is fresh, so its answer is final.
    const second = this.#attempt(expression, evaluation);
    assert(second.kind !== "crowded", "a new instance has no state of earlier evaluations");
    return { ...second, charged: second.charged + first.charged };
  }

  #attempt(expression: CompiledExpression, evaluation: Evaluation): Priced | Stopped | Crowded {
    const instance = (expression.needsMemory ? undefined : this.#instance) ?? this.#newInstance();
    const isFresh = !instance.used;
    instance.engine.allowMemory(isFresh ? this.limits.memoryBytes : USED_MEMORY_BYTES);
    this.#busy = true;
    try {
      const outcome = instance.evaluate(expression, evaluation);
      if (instance.engine.memoryBytes <= USED_MEMORY_BYTES) {
        this.#instance ??= instance;
        return outcome;
      }
      // The memory of an instance never shrinks, so this one is not used again.
      expression.needsMemory = true;
      if (this.#instance === instance) this.#instance = undefined;
      return { ...outcome, charged: outcome.charged + priceOfReplacement(expression, instance) };
    } catch (cause) {
      if (this.#instance === instance) this.#instance = undefined;
      if (isEngineError(cause, "USAGE")) throw cause;
      const { reason, fuel, charged, inputLength } = instance.stopped(cause);
      const price = { charged: charged + priceOfReplacement(expression, instance), contextCharged: 0 };
      if (instance.fallback !== undefined) return { ...instance.fallback, ...price };
      if (reason === "memory" && !isFresh) return { kind: "crowded", charged: price.charged };
      if (reason === "memory") expression.needsMemory = true;
      const spent = reason === "fuel" ? evaluation.fuel : fuel;
      return { kind: "stopped", reason, cause, fuel: spent, inputLength, attempted: price.charged, charged: price.charged };
    } finally {
      this.#busy = false;
    }
  }

  #compileInEngine(checked: CheckedExpression, budget: FuelBudget | undefined): CompiledExpression {
    const given = Math.min(this.limits.fuel, budget?.remaining ?? this.limits.fuel);
    const compiled = new CompiledExpression(checked, this);
    const { problem, fuel } = this.#tryToCompile(compiled, given);
    budget?.spend(fuel);
    compiled.compileFuel = fuel;
    if (problem === undefined) return compiled;
    if (problem === "fuel" && budget !== undefined && given < this.limits.fuel) throw compileBudgetFailure(checked.text, budget, fuel);
    if (typeof problem === "string") throw compileFailure(checked.text, `it is too much work for the compiler (${problem})`);
    throw compileFailure(checked.text, problem.message, positionInText(problem.stack, checked.text));
  }

  #tryToCompile(
    expression: CheckedExpression,
    given: number,
  ): { readonly problem: Thrown | TrapReason | undefined; readonly fuel: number } {
    const instance = (this.#instance ??= this.#newInstance());
    try {
      return instance.compile(expression, given);
    } catch (error) {
      this.#instance = undefined;
      return { problem: instance.engine.trapReason(error), fuel: instance.engine.taken.fuel };
    }
  }
}

function priceOfReplacement(expression: CompiledExpression, { engine }: Instance): number {
  return expression.compileFuel + replacementFuel(engine.memoryBytes - USED_MEMORY_BYTES);
}

function mustHaveContext(scope: Scope): void {
  const context: unknown = isRecord(scope) ? scope.context : undefined;
  if (!isRecord(context)) throw misuse("Cannot evaluate: the scope has no context. Provide it as described for EvaluationContext");
  if (!isRecord(context["vcluster"])) throw misuse("Cannot evaluate: context.vcluster is missing. It must have name, namespace and config");
  if (typeof context["path"] !== "string")
    throw misuse("Cannot evaluate: context.path is missing. It must be a string, empty if there is no path");
}

function misuse(message: string): EngineError {
  return new EngineError("USAGE", message);
}
