/**
 * Computes the fields of a value.
 *
 * @module
 */
import type { JsonObject } from "../../base/json.ts";
import type { ListSchema, Schema } from "../../schema/schema.ts";
import { fieldSet, includesSelf, NO_FIELDS, type FieldSet } from "../types/fields/field-set.ts";
import { fieldStep, type FieldStep } from "../types/fields/step.ts";
import { divide, isDeclared, itemsByStep, memberShape } from "../types/fields/structure.ts";

type Members = (readonly [FieldStep, FieldSet])[];

/** All fields of a value that was added or removed as a whole, including the value itself, as part of a set. */
export function everyField(shape: Schema, value: unknown): FieldSet {
  const division = divide(shape, value);
  if (division === undefined) return NO_FIELDS;
  const { by } = division;
  return fieldSet(by === "members" ? everyMember(shape, division.members) : everyItem(division.list, division.items), { self: true });
}

function everyMember(shape: Schema, members: JsonObject): Members {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return present.map(([name, value]) => [fieldStep(name), everyField(memberShape(shape, name), value)]);
}

function everyItem(list: ListSchema, items: readonly unknown[]): Members {
  return [...itemsByStep(list, items)].map(([step, item]) => [step, everyField(list.items, item)]);
}

/**
 * The fields that the applier of a configuration owns: values, items of lists, entries of maps, and empty values. It does not own the
 * objects that contain them, because other managers may add fields to these objects.
 *
 * @example
 * appliedFields(kindShape({ data: textMap }), { data: { a: "1" } }); // { "f:data": { "f:a": {} } }
 */
export function appliedFields(shape: Schema, config: JsonObject): FieldSet {
  return fieldSet(appliedMembers(shape, config));
}

function appliedMembers(shape: Schema, members: JsonObject): Members {
  return Object.entries(members).flatMap(([name, value]) => {
    const part = appliedPart(memberShape(shape, name), value, { declared: isDeclared(shape, name) });
    return part === undefined ? [] : [[fieldStep(name), part] as const];
  });
}

/** The owned fields of a value; undefined if there are none. */
function appliedPart(shape: Schema, value: unknown, { declared }: { readonly declared: boolean }): FieldSet | undefined {
  const division = divide(shape, value);
  if (division === undefined || value === null) return NO_FIELDS;
  const { by } = division;
  const parts = by === "members" ? appliedMembers(shape, division.members) : appliedItems(division.list, division.items);
  const self = !declared || (by === "members" && Object.keys(division.members).length === 0);
  return self || parts.length > 0 ? fieldSet(parts, { self }) : undefined;
}

function appliedItems(list: ListSchema, items: readonly unknown[]): Members {
  return [...itemsByStep(list, items)].map(([step, item]) => [step, appliedPart(list.items, item, { declared: false })!]);
}

/**
 * Adds to a set every declared object on the path to one of its fields. These objects never have owners themselves, and are removed once no
 * field in them has an owner.
 *
 * @example
 * withDeclared(kindShape({ data: textMap }), { "f:data": { "f:a": {} } }); // { "f:data": { ".": {}, "f:a": {} } }
 */
export function withDeclared(shape: Schema, set: FieldSet): FieldSet {
  return fieldSet(declaredMembers(shape, set));
}

function declaredMembers(shape: Schema, set: FieldSet): Members {
  return Object.entries(set).flatMap(([step, part]) => {
    if (step === ".") return [];
    const name = step.startsWith("f:") ? step.slice(2) : undefined;
    const below = name === undefined ? (shape.type === "list" ? shape.items : shape) : memberShape(shape, name);
    const self = includesSelf(part) || (name !== undefined && isDeclared(shape, name));
    return [[step, fieldSet(declaredMembers(below, part), { self })] as const];
  });
}
