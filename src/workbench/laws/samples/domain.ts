import { isRecord } from "../../../base/json.ts";
import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import type { Path } from "../../../engine/path/path.ts";
import type { KindDescription } from "../../../engine/reconcile/rules/kind-description.ts";
import { LABELS_SHAPE, objectShape } from "../../../kube/object/value-shape.ts";
import type { SampleShape } from "../../../kube/object/value-shape.ts";
import { sampleShapeAt } from "./shapes.ts";

/** Possible values where a patch applies. */
export interface Domain {
  readonly shape: SampleShape;
  /** False: the kind has no such field, and the shape is a guess from values seen there. */
  readonly isKnown: boolean;
}

const TEXT: SampleShape = { type: "text", format: "text" };
const NAME: SampleShape = { type: "text", format: "name" };

/** The values that a patch may meet; of a reference those that can name something. */
export function domainOf(patch: CompiledPatch, { values }: Pick<KindDescription, "values">, seen: readonly unknown[]): Domain {
  if (patch.reference !== undefined) return { shape: referenceShape(patch.reference), isKnown: true };
  const shape = sampleShapeAt(values, patch.path.segments);
  if (shape !== undefined) return { shape, isKnown: true };
  return { shape: seen.length === 0 ? TEXT : guessShape(seen), isKnown: false };
}

function referenceShape(reference: NonNullable<CompiledPatch["reference"]>): SampleShape {
  if (reference.definition.labels !== undefined) return LABELS_SHAPE;
  if (reference.name === undefined) return NAME;
  const named = fieldAt(reference.name, NAME);
  if (reference.namespace === undefined) return named;
  return merged(named, fieldAt(reference.namespace, { type: "text", format: "namespace" }));
}

/** An object with one field, however deep. */
function fieldAt(path: Path, shape: SampleShape): SampleShape {
  return path.segments.reduceRight<SampleShape>((inner, segment) => {
    if (segment.kind === "key") return objectShape({ [`${segment.key}!`]: inner });
    return { type: "list", items: inner };
  }, shape);
}

function merged(left: SampleShape, right: SampleShape): SampleShape {
  if (left.type !== "object" || right.type !== "object") return left;
  const both = Object.keys(left.fields).filter((name) => Object.hasOwn(right.fields, name));
  const inner = Object.fromEntries(both.map((name) => [name, merged(left.fields[name]!, right.fields[name]!)]));
  return {
    type: "object",
    fields: { ...left.fields, ...right.fields, ...inner },
    required: [...new Set([...left.required, ...right.required])],
  };
}

function guessShape(values: readonly unknown[]): SampleShape {
  const shapes = values.map(shapeOf);
  const [first] = shapes;
  return shapes.length === 1 ? first! : { type: "either", shapes };
}

const WIDE = 2_147_483_647;

function shapeOf(value: unknown): SampleShape {
  if (typeof value === "number") return { type: "integer", minimum: -WIDE, maximum: WIDE };
  if (typeof value === "boolean") return { type: "boolean" };
  if (Array.isArray(value)) return { type: "list", items: value.length === 0 ? TEXT : guessShape(value) };
  if (isRecord(value)) {
    return { type: "object", fields: Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item)])), required: [] };
  }
  return TEXT;
}
