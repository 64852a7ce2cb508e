/**
 * Concrete paths: one place each, as `find` prints them and as the steps that lead there.
 *
 * @module
 */
import { assert } from "../base/errors.ts";
import { childAt, REMOVE, withValueAt } from "./node.ts";
import { type Part, parseParts } from "./parse.ts";
import { openScanner, syntaxError } from "./scan.ts";
import type { Step } from "./segment.ts";

/**
 * The steps of a concrete path: numbers select list elements, texts object members. `$` is the whole object, no steps.
 *
 * @throws PATH_SYNTAX when the text does not parse, holds a wildcard or counts from the end.
 * @throws PATH_UNSUPPORTED when it uses an operator of another path language.
 * @example
 * parseConcrete('metadata.annotations["example.com/x"]'); // ["metadata", "annotations", "example.com/x"]
 */
export function parseConcrete(path: string): Step[] {
  return parseParts(path).map((part) => toStep(part, path));
}

function toStep({ segment, at }: Part, path: string): Step {
  if (segment.kind === "key") return segment.key;
  if (segment.kind === "index" && segment.index >= 0) return segment.index;
  const problem = segment.kind === "wildcard" ? "[*] is not one place" : `[${segment.index}] depends on the length of the list`;
  throw syntaxError(openScanner(path), { at, problem, hint: "Write the path of one place, as in subsets[0].addresses[3].ip" });
}

/**
 * What stands at one place. `found` is false when a step leads nowhere; a `null` there is found.
 *
 * @example
 * valueAt({ ports: [{ port: 80 }] }, ["ports", 0, "port"]); // { found: true, value: 80 }
 */
export function valueAt(root: unknown, steps: readonly Step[]): { found: boolean; value: unknown } {
  let value = root;
  for (const step of steps) {
    value = childAt(value, step);
    if (value === undefined) break;
  }
  return { found: value !== undefined, value };
}

/**
 * The document with the value at one place changed, copy-on-write. `change` answers with JSON data or REMOVE. The same reference
 * comes back when the place is absent or the answer is the very same value; removing the whole object leaves `undefined`.
 *
 * @example
 * updateAt({ a: [1, 2] }, ["a", 0], () => 3); // { a: [3, 2] }
 */
export function updateAt(root: unknown, steps: readonly Step[], change: (value: unknown) => unknown): unknown {
  const { found, value } = valueAt(root, steps);
  if (!found) return root;
  const answer = change(value);
  assert(answer !== undefined, "an update callback answers with JSON data or REMOVE");
  if (Object.is(answer, value)) return root;
  const result = withValueAt(root, steps, answer);
  return result === REMOVE ? undefined : result;
}
