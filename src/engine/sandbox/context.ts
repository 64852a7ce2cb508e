import { EngineError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Reads } from "../expression/reads.ts";

/** Data that an expression can see in addition to its value. The objects must not change while they are used. */
export interface EvaluationContext {
  readonly vcluster: { readonly name: string; readonly namespace: string; readonly config: unknown };
  /** Null when there is none. */
  readonly hostObject: unknown;
  /** Null when there is none. */
  readonly virtualObject: unknown;
  /** Concrete path of the value. */
  readonly path: string;
}

/**
 * Returns the parts of `context` that `reads` contains, except the path, as JSON text.
 *
 * A checked expression cannot distinguish the result from the whole context: only parts that it does not read are left out.
 */
export function projectContext({ vcluster, hostObject, virtualObject }: EvaluationContext, reads: Reads): string {
  const whole = { vcluster, hostObject, virtualObject };
  if (reads === "all") return jsonOf("context", whole);
  const target = emptyRecord();
  for (const path of reads) copyPath(whole, target, path);
  return jsonOf("context", target);
}

/**
 * The JSON text of an expression's input; `name` appears in errors.
 *
 * @throws USAGE when it is not JSON data; RangeError when it is nested too deeply.
 */
export function jsonOf(name: "value" | "context", data: unknown): string {
  try {
    const json = JSON.stringify(data) as string | undefined;
    if (json !== undefined) return json;
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw new EngineError("USAGE", `Cannot evaluate: ${name} is not JSON data. Leave out cycles and BigInts`, { cause });
  }
  throw new EngineError("USAGE", `Cannot evaluate: ${name} is not JSON data, but a ${typeof data}`);
}

/** Creates an object without a prototype, so that `__proto__` is a key like any other. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function copyPath(source: Record<string, unknown>, target: Record<string, unknown>, path: readonly string[]): void {
  const [name, ...deeper] = path as [string, ...string[]];
  if (!Object.hasOwn(source, name)) return;
  const value = source[name];
  // A list is copied as a whole, because an expression can see its length and its gaps.
  if (deeper.length === 0 || !isRecord(value)) target[name] = value;
  else copyPath(value, (target[name] ??= emptyRecord()) as Record<string, unknown>, deeper);
}

/** The parts of a context that an expression depends on. */
export interface ContextUse {
  readonly name: boolean;
  readonly namespace: boolean;
  readonly config: boolean;
  readonly hostObject: boolean;
  readonly virtualObject: boolean;
  readonly path: boolean;
}

/** The parts of a context that `reads` lists. */
export function usedParts(reads: Reads): ContextUse {
  const uses = (...path: string[]) =>
    reads === "all" || reads.some((read) => path.every((name, at) => read[at] === undefined || read[at] === name));
  return {
    name: uses("vcluster", "name"),
    namespace: uses("vcluster", "namespace"),
    config: uses("vcluster", "config"),
    hostObject: uses("hostObject"),
    virtualObject: uses("virtualObject"),
    path: uses("path"),
  };
}

/** Source of a projected context; its objects are distinguished by identity. */
export type ContextSource = Omit<EvaluationContext["vcluster"] & EvaluationContext, "vcluster" | "path">;

/** The parts of `context` that its projection depends on. */
export function contextSourceOf({ vcluster, hostObject, virtualObject }: EvaluationContext): ContextSource {
  const { name, namespace, config } = vcluster;
  return { name, namespace, config, hostObject, virtualObject };
}

/** Reports whether `context` has the same projection as `source`, apart from the path. */
export function hasSource(context: EvaluationContext, source: ContextSource, use: ContextUse): boolean {
  const { vcluster } = context;
  return (
    (!use.virtualObject || context.virtualObject === source.virtualObject) &&
    (!use.hostObject || context.hostObject === source.hostObject) &&
    (!use.config || vcluster.config === source.config) &&
    (!use.name || vcluster.name === source.name) &&
    (!use.namespace || vcluster.namespace === source.namespace)
  );
}
