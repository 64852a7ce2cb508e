/**
 * Records the evaluations of patches, so that the evaluation that produced a value can be found later.
 *
 * @module
 */
import type { CompiledPatch } from "../../engine/patch/compile.ts";
import type { CompiledExpression, PatchScope } from "../../engine/patch/types.ts";
import { parseConcrete } from "../../engine/path/path.ts";
import type { Rules } from "../../engine/reconcile/rules/rules.ts";
import { isPathWithin } from "../asserts/differences.ts";

/** One evaluation of a patch's expression. */
export interface PatchEvaluation {
  readonly patch: CompiledPatch;
  /** The expression's text. */
  readonly text: string;
  readonly scope: PatchScope;
}

/**
 * Rules that record every evaluation, in order.
 *
 * @example
 * const { rules, evaluations } = watched(engine.rules);
 * patcherOf(rules).toHost(object);
 * evaluations.at(-1)?.scope.context.path; // "subsets[0].addresses[0].ip"
 */
export function watched(all: readonly Rules[]): { readonly rules: readonly Rules[]; readonly evaluations: readonly PatchEvaluation[] } {
  const evaluations: PatchEvaluation[] = [];
  const rules = all.map((own): Rules => {
    const { engine, patches } = own;
    const evaluate = (expression: CompiledExpression, scope: PatchScope) => {
      const patch = patches.find((candidate) => isOf(candidate, expression) && reaches(candidate, scope.context.path));
      if (patch !== undefined) {
        const { definition } = patch;
        const text = patch.expression === expression ? definition.expression : definition.reverseExpression;
        evaluations.push({ patch, text: text!, scope });
      }
      return engine.evaluate(expression, scope);
    };
    return { ...own, engine: { compile: (text) => engine.compile(text), evaluate } };
  });
  return { rules, evaluations };
}

/** Reports whether an expression belongs to a patch. Patches with the same text share one expression. */
function isOf({ expression, reverseExpression }: CompiledPatch, evaluated: CompiledExpression): boolean {
  return expression === evaluated || reverseExpression === evaluated;
}

function reaches({ path }: CompiledPatch, concrete: string): boolean {
  const steps = parseConcrete(concrete);
  // The segments of a path with operators are only an approximation.
  if (path.canonical.includes("..") || path.segments.length !== steps.length) return path.canonical.startsWith("$");
  return path.segments.every((segment, index) => {
    if (segment.kind === "wildcard") return true;
    return segment.kind === "key" ? segment.key === String(steps[index]) : segment.index < 0 || segment.index === Number(steps[index]);
  });
}

/** The last evaluation that produced the value at a place, a value inside it, or a value that contains it. */
export function evaluationAt(evaluations: readonly PatchEvaluation[], place: string): PatchEvaluation | undefined {
  return evaluations.findLast(({ patch, scope: { context } }) => {
    return isPathWithin(place, context.path) || isPathWithin(context.path, place) || patch.path.canonical === place;
  });
}
