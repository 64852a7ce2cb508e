/**
 * Counts which patches of a configuration run, in which direction, and which branches inside their expressions are taken.
 *
 * Counting has no side effects: values, failures and fuel come from the original expressions, which run as usual; the counts come from a
 * second run of the instrumented expression, in a separate sandbox.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import { readTrace, traceExpression, type TracedExpression } from "../../engine/expression/trace/trace.ts";
import type { Direction } from "../../engine/patch/patch-definition.ts";
import type { CompiledPatch } from "../../engine/patch/compile.ts";
import type { CompiledExpression, PatchEngine, PatchScope } from "../../engine/patch/types.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import type { Evaluator } from "../explain/explain.ts";
import type { CoveredBranch, CoveredPatch, SuiteCoverage } from "./types.ts";

/** The patches of one kind, as in the rules of an engine. */
export interface CoveredRules {
  readonly kind: Pick<SyncedKind, "section">;
  readonly patches: readonly CompiledPatch[];
}

/** Watches one engine. */
export interface Coverage {
  /** Wraps the engine that compiles and applies the patches, so that runs are counted. Pass it to `createEngine` as `instrument`. */
  instrument(engine: PatchEngine): PatchEngine;
  /**
   * Coverage since the last call, for the patches in `rules`.
   *
   * @param source names the configuration, for merging the coverage of several; default "".
   */
  take(rules: readonly CoveredRules[], source?: string): SuiteCoverage;
}

/** One expression of one patch. */
interface Watched {
  /** As the engine itself compiled it. */
  readonly own: CompiledExpression;
  readonly text: string;
  readonly traced: TracedExpression;
  readonly compiled: { readonly text: string } | undefined;
  hit: number;
  branches: number[];
}

/**
 * Measures which expressions and branches of an engine run.
 *
 * @param sandbox runs the watched expressions; create it with `watchingLimits` and the engine's own `toHostDns`. If a limit stops an
 * expression there, the expression counts as run, but none of its branches does.
 * @example
 * const coverage = createCoverage(await createSandbox({ limits: watchingLimits(settings.limits) }));
 * const engine = await createEngine({ config, settings, vcluster, instrument: coverage.instrument });
 * // … plans …
 * percentagesOf(coverage.take(engine.rules)).branches; // 87.5
 */
export function createCoverage(sandbox: Evaluator): Coverage {
  const all = new Set<Watched>();
  const watch = (own: CompiledExpression, text: string): Watched => {
    const traced = traceExpression(text, { values: false });
    const watched = {
      own,
      text,
      traced,
      compiled: tryTo(() => sandbox.compile(traced.text)),
      hit: 0,
      branches: traced.points.map(() => 0),
    };
    all.add(watched);
    return watched;
  };
  const count = (watched: Watched, scope: PatchScope) => {
    watched.hit += 1;
    const { compiled, traced } = watched;
    if (compiled === undefined || traced.points.length === 0) return;
    const evaluated = tryTo(() => sandbox.evaluate(compiled, scope));
    if (evaluated === undefined) return;
    const { seen } = readTrace(evaluated.value);
    watched.branches = watched.branches.map((before, index) => before + seen[index]!.count);
  };
  const ownOf = (expression: CompiledExpression) => (expression as Watched).own;
  return {
    instrument: (engine) => ({
      // Two patches with the same text are two expressions here: each has its own counts.
      compile: (text) => watch(engine.compile(text), text),
      evaluate(expression, scope) {
        count(expression as Watched, scope);
        return engine.evaluate(ownOf(expression), scope);
      },
      readsHostObject: (expression) => engine.readsHostObject?.(ownOf(expression)) ?? true,
    }),
    take(rules, source = "") {
      const coverage = { patches: [] as CoveredPatch[], branches: [] as CoveredBranch[] };
      for (const { list, patch, direction, expression } of expressionsOf(rules)) {
        if (!all.has(expression as Watched)) continue;
        const watched = expression as Watched;
        const place = { source, list, index: patch.index, path: patch.path.canonical, direction };
        coverage.patches.push({ ...place, hit: watched.hit });
        watched.traced.points.forEach(({ start, end, label }, index) => {
          coverage.branches.push({ ...place, text: watched.text, start, end, label, hit: watched.branches[index]! });
        });
        watched.hit = 0;
        watched.branches = watched.branches.map(() => 0);
      }
      return coverage;
    },
  };
}

/** Result of `run`; undefined if a limit stops it. */
function tryTo<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (isEngineError(error)) return undefined;
    throw error;
  }
}

interface PlacedExpression {
  readonly list: string;
  readonly patch: CompiledPatch;
  readonly direction: Direction;
  readonly expression: CompiledExpression;
}

function expressionsOf(rules: readonly CoveredRules[]): PlacedExpression[] {
  return rules.flatMap(({ kind, patches }) => {
    const list = kind.section;
    return patches.flatMap((patch) => {
      const { expression, reverseExpression } = patch;
      return [
        ...(expression === undefined ? [] : [{ list, patch, direction: "toHost" as const, expression }]),
        ...(reverseExpression === undefined ? [] : [{ list, patch, direction: "toTenant" as const, expression: reverseExpression }]),
      ];
    });
  });
}
