import type { CompiledPatch } from "../../engine/patch/compile.ts";
import type { KindDescription } from "../../engine/reconcile/rules/kind-description.ts";
import { domainOf } from "../laws/samples/domain.ts";
import { drawValue, edgeValues } from "../laws/samples/draw.ts";
import { findWords } from "../laws/samples/words.ts";
import { createRandom } from "../simulator/model/random.ts";

/**
 * Possible values where a patch applies: first the limits of the values that the kind allows, then random values.
 *
 * @example
 * const three = sampleValues(compiledPatch, { kind: ENDPOINTS_KIND, count: 3, seed: 1 });
 */
export function sampleValues(
  patch: CompiledPatch,
  { kind, count, seed }: { readonly kind: Pick<KindDescription, "schema">; readonly count: number; readonly seed: number },
): readonly unknown[] {
  const { expression, reverseExpression } = patch.definition;
  const words = findWords([expression, reverseExpression].filter((text) => text !== undefined));
  const { shape } = domainOf(patch, kind, []);
  const sources = { words, seen: [] };
  const random = createRandom(seed);
  const edges = edgeValues(shape, sources);
  return Array.from({ length: count }, () => {
    const edge = edges.next();
    return edge.done === true ? drawValue(shape, sources, random) : edge.value;
  });
}
