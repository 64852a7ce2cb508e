/**
 * Outcomes for display: with the expression, its place, and an explanation of a failure or a missing match.
 *
 * @module
 */
import type { Engine } from "../../../engine/engine.ts";
import type { Direction } from "../../../engine/patch/patch-definition.ts";
import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import type { Outcome } from "../../../engine/patch/types.ts";
import { nearestPath } from "../../../engine/path/path.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";
import { createSandbox, type Sandbox } from "../../../engine/sandbox/sandbox.ts";
import { locate, type Node } from "../../../schema/node.ts";
import { explain, watchingLimits } from "../../explain/explain.ts";
import type { PatchEvaluation } from "../../patch-tests/evaluations.ts";
import type { ShownOutcome } from "../protocol.ts";

/** Context for the description of outcomes. */
export interface OutcomeContext {
  readonly engine: Engine;
  readonly rules: Rules;
  /** Everything that was evaluated so far. */
  readonly evaluations: readonly PatchEvaluation[];
  /** The configuration as it was written. */
  readonly config: Node | undefined;
}

/** Codes of limits: an expression that exceeds one would exceed it again when it is watched, so there is nothing to show. */
const LIMITS: readonly string[] = ["EXPRESSION_FUEL", "EXPRESSION_MEMORY", "EXPRESSION_STACK"];

/**
 * Adds details for the user to the outcomes of patches.
 *
 * @param seen `object`: the object that the patches of this direction were applied to.
 */
export async function showOutcomes(
  outcomes: readonly Outcome[],
  seen: { readonly direction: Direction; readonly object: unknown },
  context: OutcomeContext,
): Promise<ShownOutcome[]> {
  const { rules } = context;
  const list = rules.kind.section;
  const explainer = createExplainer(context.engine);
  try {
    const shown: ShownOutcome[] = [];
    for (const outcome of outcomes) {
      const patch = rules.patches[outcome.patch]!;
      const text = seen.direction === "toHost" ? patch.definition.expression : patch.definition.reverseExpression;
      const line = context.config && locate(context.config, `/sync/toHost/${list}/patches/${outcome.patch}`)?.value.line;
      const evaluation = outcome.outcome === "error" ? failedEvaluation(outcome, text, context) : undefined;
      shown.push({
        ...outcome,
        direction: seen.direction,
        list,
        ...(text !== undefined && { expression: text }),
        ...(line !== undefined && { line }),
        ...(evaluation && { explanation: await explainer.draw(evaluation) }),
        ...(outcome.outcome === "noMatch" && { hint: missed(patch, seen.object) }),
      });
    }
    return shown;
  } finally {
    explainer.dispose();
  }
}

function failedEvaluation(
  { patch, place, code }: Outcome,
  text: string | undefined,
  { evaluations }: OutcomeContext,
): PatchEvaluation | undefined {
  if (code === undefined || LIMITS.includes(code)) return undefined;
  return evaluations.findLast((one) => one.patch.index === patch && one.text === text && one.scope.context.path === place);
}

/** Watching takes more steps than evaluating, so it has its own sandbox, which is created when it is needed. */
function createExplainer({ settings, translator }: Engine) {
  let sandbox: Promise<Sandbox> | undefined;
  return {
    async draw({ text, scope }: PatchEvaluation): Promise<string> {
      sandbox ??= createSandbox({ limits: watchingLimits(settings.limits), toHostDns: (name) => translator.dns(name) });
      return explain(await sandbox, text, scope).drawing;
    },
    dispose: () => void sandbox?.then((made) => made.dispose()),
  };
}

function missed({ path }: CompiledPatch, object: unknown): string {
  const { reached, suggestion } = nearestPath(path, object);
  const got = reached === "$" ? "No part of the path exists" : `${reached} exists, but the rest of the path does not`;
  return suggestion === undefined ? `${got}.` : `${got}. Did you mean ${suggestion}?`;
}
