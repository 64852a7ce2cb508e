import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import type { Segment } from "../../../engine/path/path.ts";
import { findWords } from "../samples/words.ts";

/**
 * Patches of a list that may interact: the path of one is inside that of another, or an expression of one
 * reads what the other writes. All others act independently.
 */
export function patchesThatMeet(patches: readonly CompiledPatch[]): readonly CompiledPatch[] {
  const all = patches.map((patch) => ({ patch, reads: readsOf(patch) }));
  return all
    .filter((one) => all.some((other) => one !== other && (overlap(one.patch, other.patch) || sees(one, other) || sees(other, one))))
    .map(({ patch }) => patch);
}

interface Reader {
  readonly patch: CompiledPatch;
  /** Parts of objects that its expressions read; "all" if unknown. */
  readonly reads: "all" | readonly (readonly Segment[])[];
}

function readsOf({ definition: { expression, reverseExpression } }: CompiledPatch): Reader["reads"] {
  const { reads } = findWords([expression, reverseExpression].filter((text) => text !== undefined));
  if (reads === "all") return reads;
  const ofObjects = reads.filter(([first]) => first === "hostObject" || first === "virtualObject");
  return ofObjects.map(([, ...keys]) => keys.map((key): Segment => ({ kind: "key", key })));
}

function overlap(left: CompiledPatch, right: CompiledPatch): boolean {
  return isWithin(left.path.segments, right.path.segments);
}

function sees({ reads }: Reader, { patch }: Reader): boolean {
  return reads === "all" || reads.some((segments) => isWithin(segments, patch.path.segments));
}

/** Reports whether one of two paths may select something at or below a place that the other selects. */
function isWithin(left: readonly Segment[], right: readonly Segment[]): boolean {
  return left.slice(0, right.length).every((segment, at) => isCompatible(segment, right[at]!));
}

function isCompatible(left: Segment, right: Segment): boolean {
  if (left.kind === "wildcard" || right.kind === "wildcard") return true;
  if (left.kind !== right.kind) return false;
  if (left.kind === "key") return right.kind === "key" && left.key === right.key;
  // A negative index counts from the end, and may mean any element.
  return right.kind === "index" && (left.index === right.index || left.index < 0 || right.index < 0);
}
