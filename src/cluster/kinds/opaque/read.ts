/**
 * Reads parts of opaque objects, which are not validated: a value of an unexpected type counts as absent.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";

/**
 * The value at a path of names; undefined if the path does not exist.
 *
 * @example
 * memberAt({ spec: { replicas: 2 } }, "spec", "replicas"); // 2
 */
export function memberAt(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce((inner, name) => (isRecord(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value);
}

/** The string at a path of names; undefined if it is empty or not a string. */
export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = memberAt(value, ...names);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** The 32-bit integer at a path of names; undefined if the value is anything else. */
export function integerAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = memberAt(value, ...names);
  return Number.isInteger(found) && (found as number) === ((found as number) | 0) ? (found as number) : undefined;
}

/** The list at a path of names; empty if it is not a list. */
export function listAt(value: unknown, ...names: readonly string[]): readonly unknown[] {
  const found = memberAt(value, ...names);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

/**
 * A value on one line: strings as they are, everything else as JSON. `String` would call an object's own `toString`.
 *
 * @example
 * inOneLine({ toString: 1 }); // '{"toString":1}'
 */
export function inOneLine(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
