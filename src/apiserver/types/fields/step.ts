/**
 * The steps of paths to fields, in the notation of FieldsV1 in `managedFields`: `f:name` is a member of a map or object, `k:{"port":80}`
 * the item of a list with these keys, `v:"x"` the item of a set with this value, and `i:0` the item of a list at this index.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";

/** A step in canonical spelling: keys sorted by name, JSON without spaces. */
export type FieldStep = string;

/** Value that can identify an item of a list. */
export type Scalar = string | number | boolean;

/** Reports whether a value can identify an item of a list. */
export function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/**
 * The step to a member of a map or object.
 *
 * @example
 * fieldStep("spec"); // "f:spec"
 */
export function fieldStep(name: string): FieldStep {
  return `f:${name}`;
}

/**
 * The step to the list item with these keys.
 *
 * @example
 * keyStep({ protocol: "TCP", port: 80 }); // 'k:{"port":80,"protocol":"TCP"}'
 */
export function keyStep(keys: Readonly<Record<string, Scalar>>): FieldStep {
  const names = Object.keys(keys).sort();
  return `k:{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(keys[name])}`).join(",")}}`;
}

/**
 * The step to an item of a set.
 *
 * @example
 * valueStep("orphan"); // 'v:"orphan"'
 */
export function valueStep(value: Scalar): FieldStep {
  return `v:${JSON.stringify(value)}`;
}

/**
 * Returns the canonical spelling of a step from a client; undefined if the step is invalid.
 *
 * @example
 * canonicalStep('k:{"protocol": "TCP", "port": 80}'); // 'k:{"port":80,"protocol":"TCP"}'
 */
export function canonicalStep(text: string): FieldStep | undefined {
  if (text.startsWith("f:")) return text;
  if (text.startsWith("i:")) return /^i:(0|[1-9][0-9]{0,8})$/.test(text) ? text : undefined;
  if (!text.startsWith("k:") && !text.startsWith("v:")) return undefined;
  const value = parsed(text.slice(2));
  if (text.startsWith("v:")) return isScalar(value) ? valueStep(value) : undefined;
  if (!isRecord(value)) return undefined;
  const keys = Object.entries(value);
  return keys.length > 0 && keys.every(([, key]) => isScalar(key)) ? keyStep(value as Record<string, Scalar>) : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Formats a path for messages.
 *
 * @example
 * formatPath(["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"]); // '.spec.ports[port=80,protocol="TCP"].name'
 */
export function formatPath(path: readonly FieldStep[]): string {
  return path.map(formatStep).join("");
}

function formatStep(step: FieldStep): string {
  const rest = step.slice(2);
  if (step.startsWith("f:")) return `.${rest}`;
  if (step.startsWith("i:")) return `[${rest}]`;
  if (step.startsWith("v:")) return `[=${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as Record<string, Scalar>);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
}
