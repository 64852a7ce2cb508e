import type { CompiledExpression, PatchEngine, PatchScope } from "../patch/types.ts";

/** An engine that remembers what each place was evaluated with last, so that a failure can be explained afterwards. */
export interface Recorder {
  readonly engine: PatchEngine;
  /** What an expression's names stood for when it ran at a concrete path; undefined if it did not. */
  scopeAt(expression: CompiledExpression, place: string): PatchScope | undefined;
}

/** Places of one object and its expressions that are remembered. */
const PLACES_MAX = 10_000;

/** Wraps an engine. */
export function createRecorder(engine: PatchEngine): Recorder {
  const scopes = new Map<CompiledExpression, Map<string, PatchScope>>();
  let places = 0;
  const note = (expression: CompiledExpression, scope: PatchScope) => {
    places += 1;
    if (places > PLACES_MAX) return;
    const known = scopes.get(expression) ?? new Map<string, PatchScope>();
    scopes.set(expression, known.set(scope.context.path, scope));
  };
  return {
    engine: {
      compile: (text) => engine.compile(text),
      evaluate(expression, scope) {
        note(expression, scope);
        return engine.evaluate(expression, scope);
      },
      readsHostObject: (expression) => engine.readsHostObject?.(expression) ?? true,
    },
    scopeAt: (expression, place) => scopes.get(expression)?.get(place),
  };
}
