/**
 * One engine with the expressions and contexts that it has loaded.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";
import { escapeControls } from "../../../base/escape-controls.ts";
import type { CheckedExpression } from "../../expression/check.ts";
import {
  hasSource,
  jsonOf,
  projectContext,
  contextSourceOf,
  usedParts,
  type ContextSource,
  type ContextUse,
  type EvaluationContext,
} from "../context.ts";
import { QuickJsInstance, HOST_FUEL, type QuickJsInstanceOptions, type Handle, type Steps } from "../quickjs/engine.ts";
import type { EvaluationOutcome, Priced, Stopped, Thrown } from "../outcome/outcome.ts";
import type { RealmImage } from "./realm.ts";
import {
  chargeOf,
  EVALUATION_FUEL,
  FREE_TEXT_MAX,
  inputAllowance,
  InputTooDear,
  RESULT_UNIT_FUEL,
  STEPS_PER_FUEL,
  type InputCost,
} from "./price.ts";
import { EXPRESSION_FILE, functionSource, probeSource } from "../source.ts";

/** Input of one evaluation: the value, its surroundings, and its limits: steps, and bytes of JSON in the result. */
export interface Evaluation {
  readonly value: unknown;
  readonly valueExists: boolean;
  readonly context: EvaluationContext;
  readonly fuel: number;
  readonly resultBytes: number;
}

/** Result of compiling an expression. */
export interface Compilation {
  /** Error of the engine's parser. */
  readonly problem: Thrown | undefined;
  /** Steps that it took. */
  readonly fuel: number;
}

/** Cost and reason of a stopped evaluation. */
export type StoppedEvaluation = Pick<Stopped, "reason" | "fuel" | "charged" | "inputLength">;

/** An expression inside the engine, with the context that it was last evaluated with. */
interface Loaded {
  readonly callee: Handle;
  readonly use: ContextUse;
  context: CachedContext | undefined;
}

interface CachedContext {
  readonly source: ContextSource;
  readonly base: Handle;
  readonly bytes: number;
  readonly cost: InputCost;
}

/** Maximum JSON text of the contexts that an instance keeps, in characters. Inside the engine, contexts are several times as large. */
const CACHED_CONTEXTS_MAX = 512 * 1024;

/** Maximum number of expressions that an instance keeps. */
const LOADED_MAX = 1000;

/** Fuel for converting an error to text, which is enough unless the error is hostile. */
const DESCRIBE_FUEL = 100_000;

const NO_STEPS: Steps = { fuel: 0, overhead: 0 };
const NOTHING_KNOWN: Thrown = { name: "", message: "", stack: "", byEngine: false };

/** A running engine. After an exception from any method, it must be discarded. */
export class Instance {
  readonly engine: QuickJsInstance;
  readonly #tools: RealmImage["tools"];
  readonly #loaded = new Map<CheckedExpression, Loaded>();
  #cachedBytes = 0;
  #used = false;
  #fallback: EvaluationOutcome | undefined;
  #phase: "input" | "run" = "run";
  /** Steps that the evaluation has left, and its charge before the current phase. */
  #stepsLeft = 0;
  #charged = 0;
  #contextCharged = 0;
  #inputLength = 0;
  /** True while the steps since the last refuel belong to the evaluation. Otherwise, they belong to the host or to earlier evaluations. */
  #paying = false;

  constructor(options: QuickJsInstanceOptions, image: RealmImage) {
    this.engine = new QuickJsInstance(options, image.snapshot);
    this.#tools = image.tools;
  }

  /** False until the first evaluation: a failure in an unused instance would occur in any other. */
  get used(): boolean {
    return this.#used;
  }

  /** The outcome of an evaluation that had ended when the instance stopped, because reading the message of its error hit a limit. */
  get fallback(): EvaluationOutcome | undefined {
    return this.#fallback;
  }

  /** Cost and reason of a stopped evaluation, given the error of {@link evaluate}. */
  stopped(cause: unknown): StoppedEvaluation {
    const found = this.engine.trapReason(cause);
    const byData = this.#phase === "input" && (found === "fuel" || found === "overhead" || cause instanceof InputTooDear);
    const taken = this.#paying ? this.engine.taken : NO_STEPS;
    const charged = this.#charged + this.#contextCharged + chargeOf(taken);
    return { reason: byData ? "input" : found, fuel: byData ? 0 : taken.fuel, charged, inputLength: this.#inputLength };
  }

  /** Compiles the expression without running it. */
  compile(expression: CheckedExpression, fuel: number): Compilation {
    const { engine } = this;
    engine.refuel(fuel);
    const probe = engine.evaluateSource(probeSource(expression.text), { file: EXPRESSION_FILE, compileOnly: true });
    const compiles = engine.kind(probe) !== "exception";
    if (compiles) engine.free(probe);
    const callee = compiles ? engine.evaluateSource(functionSource(expression.text), { file: EXPRESSION_FILE }) : probe;
    const spent = fuel - engine.fuel;
    engine.refuel(HOST_FUEL);
    if (engine.kind(callee) === "exception") {
      const problem = this.#describe(callee);
      engine.free(callee);
      return { problem, fuel: spent };
    }
    if (this.#loaded.size >= LOADED_MAX) this.#unloadOldest();
    this.#loaded.set(expression, { callee, use: usedParts(expression.reads), context: undefined });
    return { problem: undefined, fuel: spent };
  }

  #load(expression: CheckedExpression): Loaded {
    const { problem } = this.compile(expression, HOST_FUEL);
    assert(problem === undefined, "an expression that compiled before compiles again");
    return this.#loaded.get(expression)!;
  }

  /** Evaluates the expression; compiles it first when this instance does not know it yet. */
  evaluate(expression: CheckedExpression, evaluation: Evaluation): Priced {
    const { engine } = this;
    this.#used = true;
    this.#phase = "input";
    this.#stepsLeft = evaluation.fuel * STEPS_PER_FUEL;
    this.#charged = EVALUATION_FUEL;
    this.#contextCharged = 0;
    const loaded = this.#loaded.get(expression) ?? this.#load(expression);
    const value = this.#newValue(evaluation.value);
    const base = this.#contextBase(expression, loaded, evaluation.context);
    const context = loaded.use.path ? this.#withPath(base, evaluation.context.path) : base;

    this.#phase = "run";
    const fuel = Math.min(evaluation.fuel, Math.floor(this.#stepsLeft / 2));
    this.#allow(fuel);
    const result = engine.call(loaded.callee, value, context, evaluation.valueExists ? engine.true : engine.false);
    const outcome = this.#readOutcome(result, evaluation.resultBytes);
    this.#host();
    engine.free(result);
    this.#freeValue(value);
    if (loaded.use.path) engine.free(context);
    return outcome;
  }

  /** From now on, the engine's work uses `fuel` and its overhead, and is charged. */
  #allow(fuel: number): void {
    this.#settle();
    this.#paying = true;
    this.engine.refuel(fuel);
  }

  /** From now on, the engine works for the host, with fuel that is not charged. */
  #host(): void {
    this.#settle();
    this.engine.refuel(HOST_FUEL);
  }

  /** Charges the steps since {@link #allow}, and returns those of the program. */
  #settle(): number {
    if (!this.#paying) return 0;
    const { taken } = this.engine;
    this.#charged += chargeOf(taken);
    this.#paying = false;
    return taken.fuel;
  }

  /**
   * Loads data of `length` code units of JSON. That may take the steps that are allowed for this length, but not more than the evaluation
   * has left.
   *
   * @throws InputTooDear, or a trap of the engine, when that is not enough.
   */
  #bringIn(length: number, make: () => Handle): { readonly handle: Handle; readonly cost: InputCost } {
    const { engine } = this;
    const allowed = inputAllowance(length);
    this.#inputLength = length;
    this.#paying = true;
    engine.refuel(Math.floor(Math.min(this.#stepsLeft, allowed.fuel)), Math.floor(Math.min(this.#stepsLeft, allowed.overhead)));
    const handle = make();
    const { taken } = engine;
    const steps = taken.fuel + taken.overhead;
    if (steps > this.#stepsLeft) throw new InputTooDear();
    this.#stepsLeft -= steps;
    this.#paying = false;
    engine.refuel(HOST_FUEL);
    // The host has written the JSON text as well.
    return { handle, cost: { steps, charged: chargeOf(taken) + length } };
  }

  /** Reads the result of the expression, with the rest of its fuel. */
  #readOutcome(result: Handle, resultBytes: number): Priced {
    const { engine } = this;
    const kind = engine.kind(result);
    if (kind === "object" || kind === "rope") return this.#readObject(result, resultBytes);
    if (kind === "exception") return this.#readThrown(result);
    // Reading a number takes steps of the engine.
    const number = kind === "number" ? engine.readNumber(result) : 0;
    const fuel = this.#settle();
    switch (kind) {
      case "string":
        if (engine.lengthOf(result) > resultBytes) return this.#noJson(tooLong(resultBytes), fuel);
        return this.#checked(this.#readResult(result), { fuel, resultBytes });
      case "number":
        // JSON has no negative zero.
        return Number.isFinite(number) ? this.#value(number + 0, fuel) : this.#noJson(String(number), fuel);
      case "boolean":
        return this.#value(engine.readBoolean(result), fuel);
      case "null":
        return this.#value(null, fuel);
      case "undefined":
        return this.#noJson("undefined", fuel);
      case "symbol":
      case "bigint":
        return this.#noJson(`a ${kind === "bigint" ? "BigInt" : kind}`, fuel);
    }
  }

  #value(value: unknown, fuel: number): Priced {
    return { kind: "value", value, fuel, charged: this.#charged, contextCharged: this.#contextCharged };
  }

  #noJson(found: string, fuel: number): Priced {
    return { kind: "noJson", found, fuel, charged: this.#charged, contextCharged: this.#contextCharged };
  }

  #readThrown(exception: Handle): Priced {
    const fuel = this.#settle();
    const thrown = this.#describe(exception, { kind: "threw", thrown: NOTHING_KNOWN, fuel });
    return { kind: "threw", thrown, fuel, charged: this.#charged, contextCharged: this.#contextCharged };
  }

  #readObject(result: Handle, resultBytes: number): Priced {
    const { engine } = this;
    const json = engine.call(this.#tools.stringify, result);
    const outcome = this.#readJson(json, { fuel: this.#settle(), resultBytes });
    this.#host();
    engine.free(json);
    return outcome;
  }

  #readJson(json: Handle, { fuel, resultBytes }: { fuel: number; resultBytes: number }): Priced {
    const { engine } = this;
    const kind = engine.kind(json);
    if (kind === "exception") {
      const { message } = this.#describe(json, { kind: "noJson", found: "a value that JSON cannot represent", fuel });
      return this.#noJson(`a value that JSON cannot represent (${message})`, fuel);
    }
    if (kind !== "string") return this.#noJson("a function or a value that JSON cannot represent", fuel);
    if (engine.lengthOf(json) > resultBytes) return this.#noJson(tooLong(resultBytes), fuel);
    const text = this.#readResult(json);
    // `new Date(NaN)` and `new Number(NaN)` are written as null, which would delete the field.
    if (text === "null") return this.#noJson("an object that is written as null", fuel);
    return this.#checked(JSON.parse(text), { fuel, resultBytes });
  }

  /** Refuses a result whose JSON text is too long. A code unit takes at most six bytes there, so most texts need not be measured. */
  #checked(value: unknown, { fuel, resultBytes }: { fuel: number; resultBytes: number }): Priced {
    if (typeof value === "string" && value.length * 6 + 2 <= resultBytes) return this.#value(value, fuel);
    if (new TextEncoder().encode(JSON.stringify(value)).length <= resultBytes) return this.#value(value, fuel);
    return this.#noJson(tooLong(resultBytes), fuel);
  }

  #readResult(text: Handle): string {
    this.#charged += this.engine.lengthOf(text) * RESULT_UNIT_FUEL;
    return this.engine.readText(text);
  }

  /** Returns the name, message and stack of the value that was thrown. `fallback` is the outcome if reading them hits a limit. */
  #describe(exception: Handle, fallback?: EvaluationOutcome): Thrown {
    const { engine } = this;
    this.#fallback = fallback;
    this.#allow(DESCRIBE_FUEL);
    const thrown = engine.takeThrown(exception);
    const text = engine.call(this.#tools.describe, thrown);
    const described = engine.kind(text) === "string" ? engine.readText(text) : "{}";
    this.#host();
    engine.free(text);
    engine.free(thrown);
    this.#fallback = undefined;
    const known = { ...NOTHING_KNOWN, ...(JSON.parse(described) as Partial<Thrown>) };
    return { ...known, name: escapeControls(known.name), message: escapeControls(known.message) };
  }

  #newValue(value: unknown): Handle {
    const { engine } = this;
    if (typeof value === "string") return this.#newText(value);
    if (typeof value === "number" && Number.isFinite(value)) return engine.newNumber(value + 0);
    if (typeof value === "boolean") return value ? engine.true : engine.false;
    if (value === undefined) return engine.undefined;
    if (value === null) return engine.null;
    return this.#chargedValue(jsonOf("value", value));
  }

  /** Frees a value, except the shared values of the engine, which must not be freed. */
  #freeValue(value: Handle): void {
    const { engine } = this;
    if (value !== engine.true && value !== engine.false && value !== engine.null && value !== engine.undefined) engine.free(value);
  }

  #newText(text: string): Handle {
    if (text.length <= FREE_TEXT_MAX) return this.engine.newText(text) ?? this.#chargedValue(JSON.stringify(text));
    const { handle, cost } = this.#bringIn(
      text.length,
      () => this.engine.newText(text) ?? this.#parse(JSON.stringify(text), this.#tools.parse),
    );
    this.#charged += cost.charged;
    return handle;
  }

  #chargedValue(json: string): Handle {
    const { handle, cost } = this.#bringIn(json.length, () => this.#parse(json, this.#tools.parse));
    this.#charged += cost.charged;
    return handle;
  }

  #parse(json: string, parser: Handle): Handle {
    const { engine } = this;
    const text = engine.newPlainText(json);
    const value = engine.call(parser, text);
    engine.free(text);
    if (engine.kind(value) === "exception") throw new RangeError("The value is nested too deeply for the engine");
    return value;
  }

  #contextBase(expression: CheckedExpression, loaded: Loaded, context: EvaluationContext): Handle {
    const { engine } = this;
    if (expression.reads !== "all" && expression.reads.length === 0) return engine.undefined;
    const cached = loaded.context;
    if (cached !== undefined && hasSource(context, cached.source, loaded.use)) return this.#payContext(cached);
    this.#dropContext(loaded);
    const json = projectContext(context, expression.reads);
    if (this.#cachedBytes + json.length > CACHED_CONTEXTS_MAX) for (const other of this.#loaded.values()) this.#dropContext(other);
    const { handle, cost } = this.#bringIn(json.length, () => this.#parse(json, this.#tools.freezeParsed));
    loaded.context = { source: contextSourceOf(context), base: handle, bytes: json.length, cost };
    this.#cachedBytes += json.length;
    this.#contextCharged = cost.charged;
    return handle;
  }

  /** Charges for a context that is already present, so that the expression has the same steps left as if the context were loaded. */
  #payContext({ base, cost }: CachedContext): Handle {
    this.#stepsLeft -= cost.steps;
    this.#contextCharged = cost.charged;
    return base;
  }

  #withPath(base: Handle, path: string): Handle {
    const { engine } = this;
    const text = this.#newText(path);
    const context = engine.call(this.#tools.withPath, base, text);
    engine.free(text);
    return context;
  }

  #dropContext(loaded: Loaded): void {
    if (loaded.context === undefined) return;
    this.engine.free(loaded.context.base);
    this.#cachedBytes -= loaded.context.bytes;
    loaded.context = undefined;
  }

  #unloadOldest(): void {
    const [expression, loaded] = this.#loaded.entries().next().value!;
    this.#dropContext(loaded);
    this.engine.free(loaded.callee);
    this.#loaded.delete(expression);
  }
}

function tooLong(resultBytes: number): string {
  return `more than ${resultBytes} bytes`;
}
