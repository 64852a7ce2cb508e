/**
 * Shapes of values that are tried: what lies where in them, and which values they allow. What the kinds look like, their entries say.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import type { Segment } from "../../../engine/path/path.ts";
import type { SampleShape } from "../../../kube/object/value-shape.ts";
import { FORMATS } from "./formats.ts";

/** The shape of the values that a path selects; undefined if the kind has no such field. */
export function sampleShapeAt(shape: SampleShape | undefined, segments: readonly Segment[]): SampleShape | undefined {
  const [segment, ...deeper] = segments;
  if (segment === undefined || shape === undefined) return shape;
  return sampleShapeAt(childShape(shape, segment), deeper);
}

function childShape(shape: SampleShape, segment: Segment): SampleShape | undefined {
  if (shape.type === "list") return segment.kind === "key" ? undefined : shape.items;
  if (shape.type === "map") return shape.values;
  if (shape.type !== "object") return undefined;
  if (segment.kind === "wildcard") return { type: "either", shapes: Object.values(shape.fields) };
  const name = segment.kind === "key" ? segment.key : String(segment.index);
  return Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
}

/** Every value of a shape that has few; undefined for all other shapes. */
export function allValues(shape: SampleShape): readonly unknown[] | undefined {
  if (shape.type === "boolean") return [true, false];
  return shape.type === "word" ? shape.values : undefined;
}

/** Tells whether the shape allows a value. */
export function accepts(shape: SampleShape, value: unknown): boolean {
  switch (shape.type) {
    case "text":
      return typeof value === "string" && FORMATS[shape.format].accepts(value);
    case "word":
      return shape.values.includes(value as string);
    case "integer":
      return Number.isInteger(value) && (value as number) >= shape.minimum && (value as number) <= shape.maximum;
    case "boolean":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value) && value.every((item) => accepts(shape.items, item));
    case "map":
      return (
        isRecord(value) && Object.entries(value).every(([key, item]) => FORMATS[shape.keys].accepts(key) && accepts(shape.values, item))
      );
    case "either":
      return shape.shapes.some((one) => accepts(one, value));
    case "object":
      return (
        isRecord(value) &&
        shape.required.every((name) => Object.hasOwn(value, name)) &&
        Object.entries(value).every(([name, item]) => Object.hasOwn(shape.fields, name) && accepts(shape.fields[name]!, item))
      );
  }
}
