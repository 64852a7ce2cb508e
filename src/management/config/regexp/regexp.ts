/**
 * Regular expressions that match in time linear in the text, regardless of the expression: all alternatives are followed in parallel,
 * without backtracking.
 *
 * @module
 */
import { WORD_CHARACTERS, type Characters } from "./characters.ts";
import { parseRegexp, RegexpRefusal, type Assertion, type Tree } from "./parse.ts";

/** Most steps of one expression, with counted repetitions expanded. */
const STEPS_MAX = 1_000;

/** A compiled expression, or why it is refused and where: an offset in UTF-16 units from 0. */
export type RegexpResult =
  | { readonly ok: true; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly message: string; readonly offset: number };

/**
 * Compiles an expression in RE2's syntax. `matches` reports whether it matches anywhere in a text, in at most a
 * thousand steps per character.
 *
 * @example
 * const result = compileRegexp("^team-(a|b)+$");
 * result.ok && result.matches("team-ab"); // true
 */
export function compileRegexp(source: string): RegexpResult {
  try {
    const tree = parseRegexp(source);
    if (stepsOf(tree) > STEPS_MAX)
      return {
        ok: false,
        offset: 0,
        message: `The expression is too complex: with repetitions such as {100} expanded, it has more than ${STEPS_MAX} steps`,
      };
    const steps: Step[] = [{ kind: "match" }];
    const start = addSteps(steps, tree, 0);
    return { ok: true, matches: (text) => run(steps, start, text) };
  } catch (error) {
    if (!(error instanceof RegexpRefusal)) throw error;
    return { ok: false, message: error.message, offset: error.offset };
  }
}

/** One step: what it matches, and where it continues, as indices. */
type Step =
  | { readonly kind: "match" }
  | { readonly kind: "characters"; readonly set: Characters; readonly next: number }
  | { readonly kind: "place"; readonly place: Assertion; readonly next: number }
  | { readonly kind: "split"; next: readonly number[] };

function stepsOf(tree: Tree): number {
  switch (tree.kind) {
    case "characters":
    case "place":
      return 1;
    case "sequence":
    case "choice":
      return 1 + tree.parts.reduce((sum, part) => sum + stepsOf(part), 0);
    case "repeat":
      return (1 + stepsOf(tree.part)) * Math.max(1, tree.most === Infinity ? tree.least + 1 : tree.most);
  }
}

/** Adds the steps of a tree, which continue at `next`; returns where they start. */
function addSteps(steps: Step[], tree: Tree, next: number): number {
  switch (tree.kind) {
    case "characters":
      return steps.push({ kind: "characters", set: tree.set, next }) - 1;
    case "place":
      return steps.push({ kind: "place", place: tree.place, next }) - 1;
    case "sequence":
      return tree.parts.reduceRight((after, part) => addSteps(steps, part, after), next);
    case "choice":
      return steps.push({ kind: "split", next: tree.parts.map((part) => addSteps(steps, part, next)) }) - 1;
    case "repeat":
      return addRepeat(steps, tree, next);
  }
}

function addRepeat(steps: Step[], { part, least, most }: Tree & { kind: "repeat" }, next: number): number {
  let start = next;
  if (most === Infinity) {
    const loop: Step & { kind: "split" } = { kind: "split", next: [next] };
    start = steps.push(loop) - 1;
    loop.next = [addSteps(steps, part, start), next];
  } else {
    for (let count = least; count < most; count += 1) start = steps.push({ kind: "split", next: [addSteps(steps, part, start), next] }) - 1;
  }
  for (let count = 0; count < least; count += 1) start = addSteps(steps, part, start);
  return start;
}

function run(steps: readonly Step[], start: number, text: string): boolean {
  const points = Array.from(text, (character) => character.codePointAt(0)!);
  let reached: number[] = [];
  for (let at = 0; at <= points.length; at += 1) {
    // A match may begin at every position.
    const open = follow(steps, [...reached, start], { points, at });
    if (open === "match") return true;
    const point = points[at];
    if (point === undefined) return false;
    reached = [];
    for (const step of open) if (step.set(point)) reached.push(step.next);
  }
  return false;
}

/** The steps that wait for the next character, each once; "match" if the end is reached. */
function follow(steps: readonly Step[], from: readonly number[], where: Where): (Step & { kind: "characters" })[] | "match" {
  const seen = new Set<number>();
  const open: (Step & { kind: "characters" })[] = [];
  const left = [...from];
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    if (seen.has(index)) continue;
    seen.add(index);
    const step = steps[index]!;
    if (step.kind === "match") return "match";
    if (step.kind === "characters") open.push(step);
    else if (step.kind === "split") left.push(...step.next);
    else if (holds(step.place, where)) left.push(step.next);
  }
  return open;
}

interface Where {
  readonly points: readonly number[];
  readonly at: number;
}

const LINE_BREAK = 10;

function holds(place: Assertion, { points, at }: Where): boolean {
  const [before, after] = [points[at - 1], points[at]];
  const isEdge = (before !== undefined && WORD_CHARACTERS(before)) !== (after !== undefined && WORD_CHARACTERS(after));
  switch (place) {
    case "textStart":
      return at === 0;
    case "textEnd":
      return at === points.length;
    case "lineStart":
      return at === 0 || before === LINE_BREAK;
    case "lineEnd":
      return at === points.length || after === LINE_BREAK;
    case "wordEdge":
      return isEdge;
    case "noWordEdge":
      return !isEdge;
  }
}
