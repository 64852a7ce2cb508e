import { isRecord } from "../../../base/json.ts";
import type { PathStep, Segment } from "../../../engine/path/path.ts";
import type { Schema } from "../../../schema/schema.ts";

/** The key of members that a path with `[*]` finds in a map. */
const KEY = "example";

/** A place in an object, and the schema of its values as far as it is known. */
export interface FreePlace {
  readonly steps: readonly PathStep[];
  readonly schema: Schema | undefined;
}

/**
 * Returns the first place of a path at which an object can have a value: `[*]` and negative indexes become members that exist, or the first
 * member of a list or map that the object lacks. Returns undefined if the object can have none, or the schema does not tell.
 *
 * @example
 * freePlace({ endpoints: [{}] }, compilePath("endpoints[*].zone").segments, schema)?.steps; // ["endpoints", 0, "zone"]
 */
export function freePlace(node: unknown, [segment, ...deeper]: readonly Segment[], schema: Schema | undefined): FreePlace | undefined {
  if (segment === undefined) return { steps: [], schema };
  for (const step of stepsTo(node, segment, schema)) {
    const inner = isRecord(node) || Array.isArray(node) ? (node as Readonly<Record<PathStep, unknown>>)[step] : undefined;
    const rest = freePlace(inner, deeper, memberSchema(schema, step));
    if (rest !== undefined) return { ...rest, steps: [step, ...rest.steps] };
  }
  return undefined;
}

function memberSchema(schema: Schema | undefined, step: PathStep): Schema | undefined {
  if (schema?.type === "list") return schema.items;
  if (schema?.type === "map") return schema.values;
  return schema?.type === "object" && Object.hasOwn(schema.fields, step) ? schema.fields[step] : undefined;
}

/** Returns the members that a segment can select, existing ones first. */
function stepsTo(node: unknown, segment: Segment, schema: Schema | undefined): readonly PathStep[] {
  const isList = node === undefined ? segment.kind === "index" || schema?.type === "list" : Array.isArray(node);
  if (node !== undefined && !isList && !isRecord(node)) return [];
  if (!isList) return segment.kind === "wildcard" ? [...Object.keys(node ?? {}), ...newKeys(schema)] : [keyOf(segment)];
  const length = Array.isArray(node) ? node.length : 0;
  if (segment.kind === "key") return [];
  if (segment.kind === "wildcard") return Array.from({ length: length + 1 }, (_unused, index) => index);
  const index = segment.index < 0 ? Math.max(length, 1) + segment.index : segment.index;
  return index >= 0 && index <= length ? [index] : [];
}

function keyOf(segment: Exclude<Segment, { kind: "wildcard" }>): string {
  return segment.kind === "key" ? segment.key : String(segment.index);
}

function newKeys(schema: Schema | undefined): readonly string[] {
  if (schema?.type === "object") return Object.keys(schema.fields);
  return schema?.type === "map" ? [KEY] : [];
}
