/**
 * The granularity of ownership: values that are owned as a whole, values whose members or items are owned separately, and the identity of
 * an item.
 * Source: the list and map types of Kubernetes' structural schemas.
 *
 * @module
 */
import { isRecord, type JsonObject } from "../../../base/json.ts";
import { anything, listOf } from "../../../schema/builders.ts";
import type { AnySchema, ListSchema, Opaque, Schema } from "../../../schema/schema.ts";

import { isScalar, keyStep, valueStep, type Scalar, type FieldStep } from "./step.ts";

/** The parts of a value that are owned separately; undefined if the value is owned as a whole. An absent or null map counts as empty. */
export type Division =
  | { readonly by: "members"; readonly members: JsonObject }
  | { readonly by: "items"; readonly items: readonly unknown[]; readonly list: ListSchema }
  | undefined;

const NO_MEMBERS: JsonObject = Object.freeze({});
const NO_ITEMS: readonly unknown[] = Object.freeze([]);

/** Splits a value into its parts; undefined if it is owned as a whole. */
export function divide(shape: Schema, value: unknown): Division {
  const absent = value === null || value === undefined;
  switch (shape.type) {
    case "object":
    case "map":
      if (absent) return { by: "members", members: NO_MEMBERS };
      return isRecord(value) ? { by: "members", members: value } : undefined;
    case "any":
      return isRecord(value) ? { by: "members", members: value } : undefined;
    case "list":
      if (shape.merge === undefined) return undefined;
      if (absent) return { by: "items", items: NO_ITEMS, list: shape };
      return Array.isArray(value) ? { by: "items", items: value, list: shape } : undefined;
    case "string":
    case "literals":
    case "integer":
    case "number":
    case "boolean":
    case "either":
      return undefined;
  }
}

/** Reports whether a member is a field that the kind declares, not an entry of a map. In opaque values, every member counts as declared. */
export function isDeclared(shape: Schema, name: string): boolean {
  return (shape.type === "any" && shape.opaque !== undefined) || declaredField(shape, name) !== undefined;
}

function declaredField(shape: Schema, name: string): Schema | undefined {
  return shape.type === "object" && Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
}

/** Reports whether a member is internal to the server. */
export function isInternal(shape: Schema, name: string): boolean {
  return declaredField(shape, name)?.internal === true;
}

/** The shape of a member of a map or object. Undeclared members may be anything. */
export function memberShape(shape: Schema, name: string): Schema {
  if (shape.type === "map") return shape.values;
  if (shape.type === "any" && shape.opaque !== undefined) return opaqueMember(shape.opaque, name);
  return declaredField(shape, name) ?? anything;
}

/**
 * The shape of a member of an opaque value: a list if `lists` contains the member. A value that is not a list is merged by its own type.
 */
function opaqueMember({ lists, within }: Opaque, name: string): Schema {
  const inner: AnySchema = { ...anything, opaque: { lists, within: name } };
  const entry = [`${within}.${name}`, name].find((candidate) => Object.hasOwn(lists, candidate));
  const merge = entry === undefined ? undefined : lists[entry]!;
  if (merge === undefined) return inner;
  return merge.as === "whole" ? listOf(inner) : listOf(inner, merge);
}

/** The record's own member with this name, if there is one. */
export function ownMember(record: JsonObject, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * The step that identifies an item of a merged list; undefined if the item has no identity.
 *
 * @example
 * itemStep(listOf(PORT, { as: "map", keys: ["port", "protocol"], defaults: { protocol: "TCP" } }), { port: 80 }); // 'k:{"port":80,"protocol":"TCP"}'
 */
export function itemStep({ merge }: ListSchema, item: unknown): FieldStep | undefined {
  if (merge === undefined) return undefined;
  if (merge.as === "set") return isScalar(item) ? valueStep(item) : undefined;
  if (!isRecord(item)) return undefined;
  const keys: Record<string, Scalar> = {};
  for (const name of merge.keys) {
    const value = ownMember(item, name) ?? merge.defaults?.[name];
    if (!isScalar(value)) return undefined;
    keys[name] = value;
  }
  return keyStep(keys);
}

/** Items by identity. If several have the same identity, the first counts; those without identity are left out. */
export function itemsByStep(list: ListSchema, items: readonly unknown[]): ReadonlyMap<FieldStep, unknown> {
  const found = new Map<FieldStep, unknown>();
  for (const item of items) {
    const step = itemStep(list, item);
    if (step !== undefined && !found.has(step)) found.set(step, item);
  }
  return found;
}
