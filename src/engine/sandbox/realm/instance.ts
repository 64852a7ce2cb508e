/**
 * One engine with the expressions and contexts that were brought into it.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";
import { escapeControls } from "../../../base/escape-controls.ts";
import type { CheckedExpression } from "../../expression/check.ts";
import { hasSource, jsonOf, projectContext, contextSourceOf, usedParts } from "../context.ts";
import type { ContextSource, ContextUse, EvaluationContext } from "../context.ts";
import { QuickJsInstance, HOST_FUEL } from "../quickjs/engine.ts";
import type { QuickJsInstanceOptions, Handle, TrapReason } from "../quickjs/engine.ts";
import type { EvaluationOutcome, Price, Priced, Thrown } from "../outcome/outcome.ts";
import type { RealmImage } from "./realm.ts";
import { chargeOf, EVALUATION_FUEL, FREE_TEXT_MAX, inputAllowance, InputTooDear, RESULT_UNIT_FUEL, STEPS_PER_FUEL } from "./price.ts";
import type { InputCost } from "./price.ts";
import { EXPRESSION_FILE, functionSource, probeSource } from "../source.ts";

/** Input of one evaluation: the value, its surroundings, and how many steps it may take and bytes of JSON it may answer. */
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

/** JSON text of contexts that an instance keeps, in characters. Inside the engine it is several times as large. */
const CACHED_CONTEXTS_MAX = 512 * 1024;

/** Expressions that an instance keeps. */
const LOADED_MAX = 1000;

/** Enough to turn any error into text that does not resist. */
const DESCRIBE_FUEL = 100_000;

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
  /** True while the engine's steps are charged. */
  #paying = false;

  constructor(options: QuickJsInstanceOptions, image: RealmImage) {
    this.engine = new QuickJsInstance(options, image.snapshot);
    this.#tools = image.tools;
  }

  /** False until the first evaluation: a failure in an unused instance would occur in any other. */
  get used(): boolean {
    return this.#used;
  }

  /** The outcome of an evaluation that was over when the instance stopped: reading the message of its error hit a limit. */
  get fallback(): EvaluationOutcome | undefined {
    return this.#fallback;
  }

  /** Cost and reason of a stopped evaluation, given the error of {@link evaluate}. */
  stopped(cause: unknown): { readonly reason: TrapReason | "input"; readonly charged: number; readonly inputLength: number } {
    const found = this.engine.trapReason(cause);
    const byData = this.#phase === "input" && (found === "fuel" || found === "overhead" || cause instanceof InputTooDear);
    const charged = this.#charged + this.#contextCharged + chargeOf(this.engine.taken);
    return { reason: byData ? "input" : found, charged, inputLength: this.#inputLength };
  }

  /** Compiles the expression, without running anything of it. */
  compile(expression: CheckedExpression, fuel: number): Compilation {
    const { engine } = this;
    engine.refuel(fuel);
    const probe = engine.evaluateSource(probeSource(expression.text), { file: EXPRESSION_FILE, compileOnly: true });
    const callee = engine.kind(probe) === "exception" ? probe : this.#compileFunction(probe, expression.text);
    const spent = fuel - engine.fuel;
    if (engine.kind(callee) === "exception") return { problem: this.#takeProblem(callee), fuel: spent };
    if (this.#loaded.size >= LOADED_MAX) this.#unloadOldest();
    this.#loaded.set(expression, { callee, use: usedParts(expression.reads), context: undefined });
    return { problem: undefined, fuel: spent };
  }

  #compileFunction(probe: Handle, text: string): Handle {
    this.engine.free(probe);
    return this.engine.evaluateSource(functionSource(text), { file: EXPRESSION_FILE });
  }

  #takeProblem(exception: Handle): Thrown {
    const problem = this.#describe(exception);
    this.engine.free(exception);
    return problem;
  }

  #load(expression: CheckedExpression): Loaded {
    const { problem } = this.compile(expression, HOST_FUEL);
    assert(problem === undefined, "what compiled once compiles again");
    return this.#loaded.get(expression)!;
  }

  /** Evaluates the expression; compiles it first when this instance does not know it yet. */
  evaluate(expression: CheckedExpression, evaluation: Evaluation): Priced {
    const { engine } = this;
    this.#used = true;
    const loaded = this.#loaded.get(expression) ?? this.#load(expression);
    this.#phase = "input";
    this.#stepsLeft = evaluation.fuel * STEPS_PER_FUEL;
    this.#charged = EVALUATION_FUEL;
    this.#contextCharged = 0;
    this.#host();
    const value = this.#newValue(evaluation.value);
    const base = this.#contextBase(expression, loaded, evaluation.context);
    const context = loaded.use.path ? this.#withPath(base, evaluation.context.path) : base;

    this.#phase = "run";
    const fuel = Math.min(evaluation.fuel, Math.floor(this.#stepsLeft / 2));
    this.#allow(fuel);
    const result = engine.call(loaded.callee, value, context, evaluation.valueExists ? engine.true : engine.false);
    const outcome = this.#readOutcome(result, { ...evaluation, fuel });
    this.#host();
    engine.free(result);
    this.#freeValue(value);
    if (loaded.use.path) engine.free(context);
    const price: Price = { charged: this.#charged, contextCharged: this.#contextCharged };
    return Object.assign(outcome, price);
  }

  /** From now on, the engine's work uses `fuel` and its overhead, and is charged. */
  #allow(fuel: number): void {
    this.#settle();
    this.#paying = true;
    this.engine.refuel(fuel);
  }

  /** From now on the engine works for the host, on fuel that was charged before. */
  #host(): void {
    this.#settle();
    this.engine.refuel(HOST_FUEL);
  }

  #settle(): void {
    if (this.#paying) this.#charged += chargeOf(this.engine.taken);
    this.#paying = false;
  }

  /**
   * Brings in data of `length` code units of JSON: for no more than its fair price, and the rest of the evaluation.
   *
   * @throws InputTooDear, or a trap of the engine, when that does not do.
   */
  #bringIn(length: number, make: () => Handle): { readonly handle: Handle; readonly cost: InputCost } {
    const { engine } = this;
    const allowed = inputAllowance(length);
    this.#inputLength = length;
    engine.refuel(Math.floor(Math.min(this.#stepsLeft, allowed.fuel)), Math.floor(Math.min(this.#stepsLeft, allowed.overhead)));
    const handle = make();
    const { taken } = engine;
    const steps = taken.fuel + taken.overhead;
    if (steps > this.#stepsLeft) throw new InputTooDear();
    this.#stepsLeft -= steps;
    engine.refuel(HOST_FUEL);
    // The host has written the JSON text as well.
    return { handle, cost: { steps, charged: chargeOf(taken) + length } };
  }

  #readOutcome(result: Handle, { fuel, resultBytes }: Evaluation): EvaluationOutcome {
    const { engine } = this;
    const spent = () => fuel - engine.fuel;
    const kind = engine.kind(result);
    switch (kind) {
      case "string":
        if (engine.lengthOf(result) > resultBytes) return { kind: "noJson", found: tooLong(resultBytes), fuel: spent() };
        return checkLength({ kind: "value", value: this.#readResult(result), fuel: spent() }, resultBytes);
      case "number": {
        const number = engine.readNumber(result);
        if (!Number.isFinite(number)) return { kind: "noJson", found: String(number), fuel: spent() };
        // JSON has no negative zero.
        return { kind: "value", value: number + 0, fuel: spent() };
      }
      case "boolean":
        return { kind: "value", value: engine.readBoolean(result), fuel: spent() };
      case "null":
        return { kind: "value", value: null, fuel: spent() };
      case "object":
      case "rope":
        return this.#readObject(result, { fuel, resultBytes });
      case "exception": {
        const steps = spent();
        return { kind: "threw", thrown: this.#describe(result, { kind: "threw", thrown: NOTHING_KNOWN, fuel: steps }), fuel: steps };
      }
      case "undefined":
        return { kind: "noJson", found: "undefined", fuel: spent() };
      case "symbol":
      case "bigint":
        return { kind: "noJson", found: `a ${kind === "bigint" ? "BigInt" : kind}`, fuel: spent() };
    }
  }

  #readObject(result: Handle, { fuel, resultBytes }: { fuel: number; resultBytes: number }): EvaluationOutcome {
    const { engine } = this;
    const json = engine.call(this.#tools.stringify, result);
    const outcome = this.#readJson(json, { steps: fuel - engine.fuel, resultBytes });
    this.#host();
    engine.free(json);
    return outcome;
  }

  #readJson(json: Handle, { steps: fuel, resultBytes }: { steps: number; resultBytes: number }): EvaluationOutcome {
    const { engine } = this;
    const kind = engine.kind(json);
    if (kind === "exception") {
      const { message } = this.#describe(json, { kind: "noJson", found: "a value that JSON cannot represent", fuel });
      return { kind: "noJson", found: `a value that JSON cannot represent (${message})`, fuel };
    }
    if (kind !== "string") return { kind: "noJson", found: "a function or a value that JSON cannot represent", fuel };
    if (engine.lengthOf(json) > resultBytes) return { kind: "noJson", found: tooLong(resultBytes), fuel };
    const text = this.#readResult(json);
    // `new Date(NaN)` and `new Number(NaN)` are written as null, which would delete the field.
    if (text === "null") return { kind: "noJson", found: "an object that is written as null", fuel };
    return checkLength({ kind: "value", value: JSON.parse(text), fuel }, resultBytes);
  }

  #readResult(text: Handle): string {
    this.#charged += this.engine.lengthOf(text) * RESULT_UNIT_FUEL;
    return this.engine.readText(text);
  }

  /** Name, message and place of what an exception threw. `fallback` is the outcome if that cannot be found out. */
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

  /** The shared values of the engine must not be freed. */
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

  /** A context that is already present leaves as little for the expression as one that is brought in. */
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

/** Refuses a result whose JSON text is too long. A code unit takes at most six bytes there, so that most texts need no count. */
function checkLength(outcome: Extract<EvaluationOutcome, { kind: "value" }>, resultBytes: number): EvaluationOutcome {
  const { value, fuel } = outcome;
  if (typeof value === "string" && value.length * 6 + 2 <= resultBytes) return outcome;
  if (new TextEncoder().encode(JSON.stringify(value)).length <= resultBytes) return outcome;
  return { kind: "noJson", found: tooLong(resultBytes), fuel };
}
