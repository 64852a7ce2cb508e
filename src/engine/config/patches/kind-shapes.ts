import type { KnownShape } from "../../expression/shape.ts";
import type { Segment } from "../../path/syntax/segment.ts";

const UNKNOWN: KnownShape = { kind: "scalar" };

/** The known shape of a value that a path matches. Labels and annotations always exist while patches run. */
export function kindShapeAt(shape: KnownShape, segments: readonly Segment[]): KnownShape {
  let at = shape;
  for (const segment of segments) {
    if (at.kind === "list") at = segment.kind === "key" ? UNKNOWN : at.items;
    else if (at.kind === "map") at = at.entries;
    else if (at.kind === "object" && segment.kind === "key" && Object.hasOwn(at.fields, segment.key)) at = at.fields[segment.key]!.shape;
    else return UNKNOWN;
  }
  return at;
}
