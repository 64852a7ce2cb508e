/**
 * Compiles stages to closures that update what `find` finds, copy-on-write.
 *
 * Two walks: the first takes all matches, then every change is decided, then the second walk meets the same matches in the same
 * order and copies only the nodes above a change. Nothing is cloned, and what did not change is shared with the document given.
 *
 * @module
 */
import { assert } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { childAt, REMOVE, setMember, stepOfIndex, withChild, withValueAt } from "./node.ts";
import type { Stage } from "./stages.ts";
import type { Match } from "./walk.ts";

/** Decides the new value of one match: JSON data, or REMOVE. The very same value means no change. */
export type Change = (value: unknown, path: string) => unknown;

/** The decided values, in the order of the matches. */
interface Answers {
  readonly values: readonly unknown[];
  /** How many of them are used. */
  taken: number;
}

type Rebuild = (node: unknown, answers: Answers) => unknown;

/** Compiles `update` for the stages that `find` was compiled from. */
export function compileUpdate(stages: readonly Stage[], find: (root: unknown) => Match[]): (root: unknown, change: Change) => unknown {
  const rebuild = stages.reduceRight<Rebuild>((next, stage) => rebuilder(stage, next), takeAnswer);
  return (root, change) => {
    const values = decide(find(root), change);
    if (values === undefined) return root;
    const answers = { values, taken: 0 };
    const result = rebuild(root, answers);
    assert(answers.taken === values.length, "an update callback leaves the document alone");
    return result === REMOVE ? undefined : result;
  };
}

/** The answer to every match, or nothing when none of them is a change. */
export function decide(matches: readonly Match[], change: Change): unknown[] | undefined {
  let changed = false;
  const values = matches.map(({ value, path }) => {
    const answer = change(value, path);
    assert(answer !== undefined, "an update callback answers with JSON data or REMOVE");
    changed ||= !Object.is(answer, value);
    return answer;
  });
  return changed ? values : undefined;
}

function takeAnswer(_value: unknown, answers: Answers): unknown {
  return answers.values[answers.taken++];
}

function rebuilder(stage: Stage, next: Rebuild): Rebuild {
  if (stage.select === "wildcard") return rebuildAll(stage, next);
  if (stage.select === "index") return rebuildOne(stage, next);
  return rebuildItself(stage, next);
}

/** Follows the stage's names, lets `next` rebuild what is there and copies the nodes between only when that changed. */
function rebuildItself({ keys, read }: Stage, next: Rebuild): Rebuild {
  return (node, answers) => {
    const value = read(node);
    if (value === undefined) return node;
    const rebuilt = next(value, answers);
    return Object.is(rebuilt, value) ? node : withValueAt(node, keys, rebuilt);
  };
}

function rebuildOne(stage: Stage, next: Rebuild): Rebuild {
  const itself = rebuildItself(stage, next);
  return (node, answers) => {
    const step = stepOfIndex(node, stage.index);
    if (step === undefined) return node;
    const child = childAt(node, step);
    const rebuilt = itself(child, answers);
    return Object.is(rebuilt, child) ? node : withChild(node, step, rebuilt);
  };
}

function rebuildAll(stage: Stage, next: Rebuild): Rebuild {
  const itself = rebuildItself(stage, next);
  return (node, answers) => {
    if (Array.isArray(node)) return rebuildElements(node, itself, answers);
    return isRecord(node) ? rebuildMembers(node, itself, answers) : node;
  };
}

function rebuildElements(list: readonly unknown[], rebuild: Rebuild, answers: Answers): unknown {
  let copy: unknown[] | undefined;
  let removed = false;
  for (let at = 0; at < list.length; at++) {
    const rebuilt = rebuild(list[at], answers);
    if (Object.is(rebuilt, list[at])) continue;
    copy ??= list.slice();
    copy[at] = rebuilt;
    removed ||= rebuilt === REMOVE;
  }
  // Only now, so that no index shifts while later elements are still to come.
  return removed ? copy!.filter((item) => item !== REMOVE) : (copy ?? list);
}

function rebuildMembers(node: Record<string, unknown>, rebuild: Rebuild, answers: Answers): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(node)) {
    const rebuilt = rebuild(node[key], answers);
    if (Object.is(rebuilt, node[key])) continue;
    copy ??= { ...node };
    setMember(copy, key, rebuilt);
  }
  return copy ?? node;
}
