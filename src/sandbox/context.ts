import { isRecord } from "../base/json.ts";
import type { Reads } from "../expression/reads.ts";

/** What an expression can see beside its value. The objects must not change while they are used. */
export interface EvaluationContext {
  readonly vcluster: { readonly name: string; readonly namespace: string; readonly config: unknown };
  /** Null when there is none. */
  readonly hostObject: unknown;
  /** Null when there is none. */
  readonly virtualObject: unknown;
  /** Where the value stands, as a concrete path. */
  readonly path: string;
}

/** Tells whether an expression with `reads` sees `context.path`. */
export function readsPath(reads: Reads): boolean {
  return reads === "all" || reads.some(([name]) => name === "path");
}

/**
 * The parts of `context` that `reads` names, but for the path, as JSON text.
 *
 * An expression that was checked can not tell the result from the whole: parts that it does not name are not there.
 */
export function projectContext({ vcluster, hostObject, virtualObject }: EvaluationContext, reads: Reads): string {
  const whole = { vcluster, hostObject, virtualObject };
  if (reads === "all") return JSON.stringify(whole);
  const target = emptyRecord();
  for (const path of reads) copyPath(whole, target, path);
  return JSON.stringify(target);
}

/** Without a prototype, so that a key `__proto__` is a key like any other. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function copyPath(source: Record<string, unknown>, target: Record<string, unknown>, path: readonly string[]): void {
  const [name, ...deeper] = path as [string, ...string[]];
  if (!Object.hasOwn(source, name)) return;
  const value = source[name];
  // A list is taken as a whole: its length and its holes can be seen.
  if (deeper.length === 0 || !isRecord(value)) target[name] = value;
  else copyPath(value, (target[name] ??= emptyRecord()) as Record<string, unknown>, deeper);
}

/** The objects and names that decide {@link projectContext}: equal keys, equal projection. */
export function contextKey(context: EvaluationContext, reads: Reads): unknown[] {
  const { name, namespace, config } = context.vcluster;
  const { hostObject, virtualObject } = context;
  const seen = (...path: string[]) =>
    reads === "all" || reads.some((read) => path.every((part, at) => read[at] === undefined || read[at] === part));
  return [
    seen("vcluster", "name") && name,
    seen("vcluster", "namespace") && namespace,
    seen("vcluster", "config") && config,
    seen("hostObject") && hostObject,
    seen("virtualObject") && virtualObject,
  ];
}
