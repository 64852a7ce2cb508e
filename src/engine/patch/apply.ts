/**
 * Applies a list of patches to one object, in one direction.
 *
 * Guarantees:
 * - Pure: the same object, patches, options and engine give the same result; no input is modified.
 * - Only matched values change, and values are created only inside a matched value. Unchanged parts are shared; if nothing has changed,
 * the result is the same object.
 * - Protected fields and markers are unchanged.
 * - A failing patch is an outcome, never an exception, and affects only its own value or the nearest element around it.
 *
 * Assumption: the object is JSON data as an API server returns it.
 *
 * @module
 */
import { isEngineError, EngineError } from "../../base/errors.ts";
import { jsonEqual } from "../../base/json.ts";
import type { Direction } from "./patch-definition.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { REMOVE } from "../path/path.ts";
import type { CompiledPatch } from "./compile.ts";
import { containFailure, dropLeftOut, keepLast, LEFT_OUT, type LastWritten } from "./containment.ts";
import { guardResult } from "./guard.ts";
import { closeObject, openObject } from "./opened.ts";
import { placesOf, type MetadataPlace, type ValueRole } from "./place.ts";
import { rewriteReference, type RewrittenReference } from "./reference.ts";
import type {
  CompiledExpression,
  FoundReference,
  NameRules,
  OnError,
  Outcome,
  PatchContext,
  PatchEngine,
  PricedValue,
  OutcomeKind,
  PatchFailure,
} from "./types.ts";

/** Options for applying patches. */
export interface ApplyPatchesOptions extends ObjectLimits {
  /** "toHost": list order, `expression`. "toTenant": reverse order, `reverseExpression`. */
  readonly direction: Direction;
  readonly engine: PatchEngine;
  /** Context of expressions without the path, which is added for every value. */
  readonly context: Omit<PatchContext, "path">;
  readonly names: NameRules;
  /**
   * Handling of a value whose patch fails on the way to the host. "keep-last" (default): a label or annotation keeps the
   * value last written or is left out, a list loses the nearest element, any other field is left out. "skip-patch": the value
   * stays as it was before the patch. "block-object": like skip-patch, and the object must not be written.
   */
  readonly onError?: OnError;
  readonly markerPrefix: string;
  /** Values written before for the same source object and the same patches, by concrete path. Default: none are known. */
  readonly lastWritten?: LastWritten;
  /** Namespace of the tenant object. */
  readonly namespace: string;
}

/** A patched object. */
export interface PatchedObject {
  readonly object: KubeObject;
  /** One record per patch, in the order in which they ran. */
  readonly outcomes: Outcome[];
  /** References of the object, in document order per patch. */
  readonly references: FoundReference[];
  /** True when a patch failed and `onError` is "block-object": the object must not be written. */
  readonly blocked: boolean;
}

/** State of one call of {@link applyPatches}. */
interface Run extends Required<ApplyPatchesOptions> {
  /** Fuel of all evaluations so far, failed or not. */
  fuelSpent: number;
  /** Characters of all results so far. */
  resultLength: number;
  /** Namespace of the object on the side that it comes from. */
  readonly sourceNamespace: string;
  readonly references: FoundReference[];
  /** Places that failed and keep their last value. */
  readonly failed: MetadataPlace[];
  /** The expression whose context was loaded last, and already charged. */
  contextPaid: CompiledExpression | undefined;
}

/**
 * Applies `patches` to `object`, which is the translated tenant object on the way to the host, and the host object on the way back.
 *
 * @example
 * const { object, outcomes } = applyPatches(patches, translated, { direction: "toHost", engine, context, names, markerPrefix, namespace });
 */
export function applyPatches(patches: readonly CompiledPatch[], object: KubeObject, options: ApplyPatchesOptions): PatchedObject {
  const work = startWork(object, options);
  for (const patch of ordered(patches, options)) {
    const step = beginPatch(patch, work.run);
    const patched = step === undefined ? work.current : patch.path.update(work.current, step.change);
    endPatch(work, { patch, step, patched });
  }
  return endWork(work);
}

/**
 * Like {@link applyPatches}, but pauses after each value, so that other work can run in between.
 *
 * @example
 * const pieces = applyPatchesInPieces(patches, translated, options);
 * let piece = pieces.next();
 * while (!piece.done) piece = pieces.next();
 * piece.value.object;
 */
export function* applyPatchesInPieces(
  patches: readonly CompiledPatch[],
  object: KubeObject,
  options: ApplyPatchesOptions,
): Generator<undefined, PatchedObject> {
  const work = startWork(object, options);
  for (const patch of ordered(patches, options)) {
    const step = beginPatch(patch, work.run);
    const answers: unknown[] = [];
    for (const { value, path } of step === undefined ? [] : patch.path.find(work.current)) {
      answers.push(step!.change(value, path));
      yield;
    }
    // An update visits the same matches in the same order.
    let taken = 0;
    const patched = answers.length === 0 ? work.current : patch.path.update(work.current, () => answers[taken++]);
    endPatch(work, { patch, step, patched });
  }
  return endWork(work);
}

/** Result of the patches so far. */
interface Work {
  readonly run: Run;
  readonly opened: ReturnType<typeof openObject>;
  readonly outcomes: Outcome[];
  current: KubeObject;
}

function startWork(object: KubeObject, options: ApplyPatchesOptions): Work {
  const run: Run = {
    onError: "keep-last",
    lastWritten: () => undefined,
    ...OBJECT_LIMITS,
    ...options,
    fuelSpent: 0,
    resultLength: 0,
    sourceNamespace: options.direction === "toHost" ? options.namespace : (object.metadata.namespace ?? ""),
    references: [],
    failed: [],
    contextPaid: undefined,
  };
  const opened = openObject(object, run.markerPrefix);
  return { run, opened, outcomes: [], current: opened.object };
}

function ordered(patches: readonly CompiledPatch[], { direction }: ApplyPatchesOptions): readonly CompiledPatch[] {
  return direction === "toHost" ? patches : patches.toReversed();
}

function endWork({ run, opened, outcomes, current }: Work): PatchedObject {
  const kept = keepLast(current, run.failed, { last: run.lastWritten, markerPrefix: run.markerPrefix });
  return {
    object: closeObject(opened, kept),
    outcomes,
    references: run.references,
    blocked: run.onError === "block-object" && outcomes.some(({ outcome }) => outcome === "error"),
  };
}

/** State of one patch while it runs. */
interface PatchStep {
  readonly tally: Tally;
  readonly change: (value: unknown, path: string) => unknown;
  /** True if a list element around a value must be left out. */
  incomplete: boolean;
}

/** Undefined when the patch does nothing in this direction. */
function beginPatch(patch: CompiledPatch, run: Run): PatchStep | undefined {
  const tally: Tally = { matches: 0, changed: 0, fuel: 0, errors: [], denied: [] };
  const rewrite = rewriteOf(patch, run, tally);
  if (rewrite === undefined) return undefined;
  const placeOf = placesOf(patch.path.segments);
  const step: PatchStep = {
    tally,
    change(value, path) {
      const next = applyToValue(rewrite, { value, place: placeOf(path) }, run, tally);
      step.incomplete ||= next === LEFT_OUT;
      return next;
    },
    incomplete: false,
  };
  return step;
}

function endPatch(work: Work, { patch, step, patched }: { patch: CompiledPatch; step: PatchStep | undefined; patched: unknown }): void {
  work.current = (step?.incomplete ? dropLeftOut(patched) : patched) as KubeObject;
  work.outcomes.push(step === undefined ? noExpression(patch) : closeTally(patch, step.tally));
}

/** The new value of one match (null deletes it), or undefined if there is nothing to do. */
type Rewrite = (value: unknown, path: string) => RewrittenReference | undefined;

/** The patch's rewrite in this direction, or undefined if none. */
function rewriteOf({ reference, expression, reverseExpression }: CompiledPatch, run: Run, tally: Tally): Rewrite | undefined {
  const { direction, names, sourceNamespace, namespace: tenantNamespace } = run;
  if (reference !== undefined) {
    const site = { direction, names, namespace: sourceNamespace, tenantNamespace };
    return (value, place) => rewriteReference(reference, value, { ...site, place });
  }
  const chosen = direction === "toHost" ? expression : reverseExpression;
  return chosen && ((value, path) => ({ value: evaluate(chosen, { value, path }, run, tally) }));
}

function evaluate(expression: CompiledExpression, { value, path }: { value: unknown; path: string }, run: Run, tally: Tally): unknown {
  const { fuelMax, resultMax } = run;
  if (run.fuelSpent >= fuelMax)
    throw new EngineError("EXPRESSION_FUEL", `Cannot evaluate: the patches of this object have used up its ${fuelMax} steps of fuel`);
  const { vcluster, hostObject, virtualObject } = run.context;
  let evaluated: PricedValue;
  try {
    evaluated = run.engine.evaluate(expression, { value, valueExists: true, context: { vcluster, hostObject, virtualObject, path } });
  } catch (error) {
    if (isEngineError(error)) spend(error.details as Partial<PricedValue>, { expression, run, tally });
    throw error;
  }
  spend(evaluated, { expression, run, tally });
  const length = lengthOf(evaluated.value);
  if (run.resultLength + length > resultMax)
    throw new EngineError(
      "EXPRESSION_RESULT",
      `Cannot use the result: the results for this object have more than ${resultMax} characters in total`,
    );
  run.resultLength += length;
  return wellFormed(evaluated.value);
}

/** Replaces lone surrogates with U+FFFD, as an API server does: an object that kept them would never equal its copy. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

function spend(
  { fuel = 0, charged = fuel, contextCharged }: Partial<PricedValue>,
  { expression, run, tally }: { expression: CompiledExpression; run: Run; tally: Tally },
): void {
  tally.fuel += fuel;
  run.fuelSpent += charged + (run.contextPaid === expression ? 0 : (contextCharged ?? 0));
  // A stopped engine has lost the context.
  run.contextPaid = contextCharged === undefined ? undefined : expression;
}

function applyToValue(rewrite: Rewrite, { value, place }: { value: unknown; place: ValueRole }, run: Run, tally: Tally): unknown {
  try {
    const rewritten = rewrite(value, place.path);
    if (rewritten === undefined) return value;
    const guarded = guardResult(place, { before: value, result: rewritten.value, markerPrefix: run.markerPrefix });
    if (rewritten.found !== undefined) run.references.push(rewritten.found);
    tally.matches += 1;
    if (guarded.denied.length > 0) tally.denied.push(...guarded.denied);
    // An equal value is not a change, and keeping the old one keeps the object shared.
    if (guarded.value !== REMOVE && jsonEqual(guarded.value, value)) return value;
    tally.changed += 1;
    return guarded.value;
  } catch (error) {
    tally.errors.push(patchFailureOf(error, place.path));
    tally.matches += 1;
    const kept = containFailure(place, value, run);
    if (kept !== value && (place.role === "map" || place.role === "entry")) run.failed.push(place);
    return kept;
  }
}

/** The record of a patch while it runs. */
interface Tally {
  matches: number;
  changed: number;
  fuel: number;
  readonly errors: PatchFailure[];
  readonly denied: PatchFailure[];
}

/** Maximum length of a message in a record: the text that an expression throws can be as long as its memory allows. */
const MESSAGE_LENGTH_MAX = 1000;

/** The record of an error at `place`. A broken invariant, or anything but an EngineError, is a bug and is rethrown. */
function patchFailureOf(error: unknown, place: string): PatchFailure {
  if (!isEngineError(error) || error.code === "INTERNAL") throw error;
  const { code, message } = error;
  const text = message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX)}…` : message;
  return { place, code, message: text };
}

/** The finished record. */
function closeTally(patch: CompiledPatch, tally: Tally): Outcome {
  const failures = [...tally.errors, ...tally.denied];
  const { code, message, place } = failures[0] ?? {};
  return {
    ...noExpression(patch),
    outcome: outcomeOf(tally),
    matches: tally.matches,
    changed: tally.changed,
    fuel: tally.fuel,
    ...(code !== undefined && message !== undefined && place !== undefined && { code, message, place, failures }),
  };
}

function outcomeOf({ errors, denied, matches, changed }: Tally): OutcomeKind {
  if (errors.length > 0) return "error";
  if (denied.length > 0) return "denied";
  if (matches === 0) return "noMatch";
  return changed > 0 ? "applied" : "noChange";
}

/** The record of a patch that has nothing for this direction. */
function noExpression(patch: CompiledPatch): Outcome {
  return { patch: patch.index, path: patch.path.canonical, outcome: "noExpression", matches: 0, changed: 0, fuel: 0 };
}

/** Cost limits of all evaluations for one object, over all its patches and matches. */
export interface ObjectLimits {
  /** Once this much fuel is spent, further evaluations fail with EXPRESSION_FUEL. Default 30 million. */
  readonly fuelMax?: number;
  /**
   * Once all results together have this many characters (every value that is not a string counts as one), further results fail with
   * EXPRESSION_RESULT. Default 8 Mi, several times what an API server stores: a tenant must not be able to fill the memory with
   * a thousand addresses and an expression that makes each of them long.
   */
  readonly resultMax?: number;
}

/** The defaults of {@link ObjectLimits}. */
export const OBJECT_LIMITS: Required<ObjectLimits> = { fuelMax: 30_000_000, resultMax: 8 * 1024 * 1024 };

function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 1);
  return Object.entries(value).reduce((sum, [key, item]) => sum + key.length + lengthOf(item), 1);
}
