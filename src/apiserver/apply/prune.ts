import type { JsonObject } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { ListSchema, Schema } from "../../schema/schema.ts";
import { includesSelf, type FieldSet } from "../types/fields/field-set.ts";
import { fieldStep } from "../types/fields/step.ts";
import { divide, itemStep, memberShape } from "../types/fields/structure.ts";

/** Fields to remove, and fields to keep even if all of their content is removed. */
export interface PruneOptions {
  readonly remove: FieldSet;
  /** Fields that have an owner. */
  readonly owned: FieldSet;
}

/**
 * Removes fields from an object. A map or list that becomes empty is removed as well, unless it has an owner itself.
 *
 * @example
 * prune(shape, { ...object, data: { a: "1", b: "2" } }, { remove: { "f:data": { "f:a": {} } }, owned: {} }); // { ...object, data: { b: "2" } }
 */
export function prune(shape: Schema, object: KubeObject, { remove, owned }: PruneOptions): KubeObject {
  return pruneMembers(shape, object, { remove, owned }) as KubeObject;
}

/** The parts of both sets that belong to a value; undefined where a set has no such part. */
interface Parts {
  readonly remove: FieldSet | undefined;
  readonly owned: FieldSet | undefined;
}

function pruneMembers(shape: Schema, members: JsonObject, { remove, owned }: Parts): JsonObject {
  const entries = Object.entries(members).flatMap(([name, value]) => {
    const step = fieldStep(name);
    const kept = pruneValue(memberShape(shape, name), value, { remove: remove?.[step], owned: owned?.[step] });
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return Object.fromEntries(entries);
}

/** Removes fields from a value. Returns undefined when no part of the value remains. */
function pruneValue(shape: Schema, value: unknown, parts: Parts): unknown {
  const { remove, owned } = parts;
  if (remove === undefined) return value;
  if (includesSelf(remove)) return undefined;
  const division = divide(shape, value);
  if (division === undefined) return value;
  const { by } = division;
  const kept = by === "members" ? pruneMembers(shape, division.members, parts) : pruneItems(division.list, division.items, parts);
  const empty = Object.keys(kept).length === 0;
  return empty && !(owned !== undefined && includesSelf(owned)) ? undefined : kept;
}

function pruneItems(list: ListSchema, items: readonly unknown[], { remove, owned }: Parts): unknown[] {
  return items.flatMap((item) => {
    const step = itemStep(list, item);
    const kept = step === undefined ? item : pruneValue(list.items, item, { remove: remove?.[step], owned: owned?.[step] });
    return kept === undefined ? [] : [kept];
  });
}
