import { isRecord } from "../../../base/json.ts";
import type { CompiledPatch } from "../../../engine/patch/compile.ts";
import type { Path } from "../../../engine/path/path.ts";
import type { KindDescription } from "../../../engine/reconcile/rules/kind-description.ts";
import { LABEL_MAP } from "../../../kube/object/kind-shape.ts";
import { bool, either, wholeNumber, listOf, objectOf, textAs } from "../../../schema/builders.ts";
import type { Schema } from "../../../schema/schema.ts";
import { schemaAt } from "./shapes.ts";

/** Possible values where a patch applies. */
export interface Domain {
  readonly shape: Schema;
  /** False: the kind has no such field, and the shape is a guess from values seen there. */
  readonly isKnown: boolean;
}

/** The values that a patch may match; for a reference, those that can name an object. */
export function domainOf(patch: CompiledPatch, { schema }: Pick<KindDescription, "schema">, seen: readonly unknown[]): Domain {
  if (patch.reference !== undefined) return { shape: referenceShape(patch.reference), isKnown: true };
  const shape = schemaAt(schema, patch.path.segments);
  if (shape !== undefined) return { shape, isKnown: true };
  return { shape: seen.length === 0 ? textAs() : guessShape(seen), isKnown: false };
}

function referenceShape(reference: NonNullable<CompiledPatch["reference"]>): Schema {
  if (reference.definition.labels !== undefined) return LABEL_MAP;
  if (reference.name === undefined) return textAs("name");
  const named = fieldAt(reference.name, textAs("name"));
  if (reference.namespace === undefined) return named;
  return merged(named, fieldAt(reference.namespace, textAs("namespace")));
}

/** A schema in which only the field at the path exists. */
function fieldAt(path: Path, shape: Schema): Schema {
  return path.segments.reduceRight<Schema>((inner, segment) => {
    if (segment.kind === "key") return objectOf({ [`${segment.key}!`]: inner });
    return listOf(inner);
  }, shape);
}

function merged(left: Schema, right: Schema): Schema {
  if (left.type !== "object" || right.type !== "object") return left;
  const both = Object.keys(left.fields).filter((name) => Object.hasOwn(right.fields, name));
  const inner = Object.fromEntries(both.map((name) => [name, merged(left.fields[name]!, right.fields[name]!)]));
  return { ...left, fields: { ...left.fields, ...right.fields, ...inner } };
}

function guessShape(values: readonly unknown[]): Schema {
  const shapes = values.map(shapeOf);
  const [first] = shapes;
  return shapes.length === 1 ? first! : either(...shapes);
}

const WIDE = 2_147_483_647;

function shapeOf(value: unknown): Schema {
  if (typeof value === "number") return wholeNumber(-WIDE, WIDE);
  if (typeof value === "boolean") return bool;
  if (Array.isArray(value)) return listOf(value.length === 0 ? textAs() : guessShape(value));
  if (!isRecord(value)) return textAs();
  const fields = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item)]));
  return { type: "object", description: "", fields };
}
