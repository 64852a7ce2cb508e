import { jsonEqual, type JsonObject } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { decodeObject } from "../types/objects/decode.ts";
import { deepFreeze } from "../types/objects/json-data.ts";
import { timestamp, withMetadata } from "../types/objects/metadata.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import type { ObjectSchema } from "../../schema/schema.ts";
import { invalidObject } from "../types/status.ts";
import { compare, fieldsOfNew, hasNoDifference, NO_CHANGE, type Comparison } from "./compare.ts";
import { difference, intersection, isEmptySet, NO_FIELDS, union, type FieldSet } from "../types/fields/field-set.ts";
import {
  identityOf,
  parseManagers,
  readManagers,
  withManagedFields,
  withoutExcess,
  writeEntry,
  writeManagers,
  type ManagerEntry,
  type ManagerIdentity,
  type Managers,
} from "./managers.ts";

/** A create, update or patch that is about to be stored. */
export interface TrackedUpdateOptions {
  readonly definition: Pick<ResourceDefinition, "type" | "shape">;
  /** The stored object; undefined for a creation. */
  readonly before: KubeObject | undefined;
  /** The object to store; its `managedFields` are ignored. */
  readonly after: KubeObject;
  /** The name of the writer. */
  readonly manager: string;
  /** The part of the object that is written. Default: the object itself. */
  readonly subresource?: string | undefined;
  /**
   * `metadata.managedFields` in the request, before decoding. A different list replaces the stored one; `[]` and `[{}]` clear it. If it is
   * absent or null, the stored list remains. Ignored for subresources.
   */
  readonly requested?: unknown;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Returns the object with `metadata.managedFields` after the write: the writer owns the fields that it added or changed, and removed fields
 * have no owner. If no owner changes, the result contains the stored list itself. If a client clears the list of an object that has fields,
 * the object is not tracked until the next apply. The result is frozen.
 *
 * @throws API_INVALID when `requested` is not a list of managers.
 * @example
 * applyUpdate({ definition, before: undefined, after: object, manager: "kubectl-create", now: clock.now() });
 */
export function applyUpdate(options: TrackedUpdateOptions): KubeObject {
  return deepFreeze(withMetadata(options.after, { managedFields: managedFieldsAfter(options) }));
}

function managedFieldsAfter(options: TrackedUpdateOptions): readonly unknown[] | undefined {
  const { definition, before, after } = options;
  const stored = before?.metadata.managedFields;
  const requested = requestedManagers(options);
  if (before === undefined && requested === undefined) return managersOfNew(options);
  const managed = requested === undefined ? stored !== undefined && stored.length > 0 : requested.size > 0;
  const tracked = managed || isBare(definition.shape, before);
  const comparison = tracked ? compare(definition.shape, before ?? zeroObject(definition.shape), after) : NO_CHANGE;
  if (requested === undefined && hasNoDifference(comparison)) return stored;
  return writeManagers(afterUpdate(requested ?? readManagers(stored), comparison, writerOf(options)));
}

/** The author of a new object owns all of its fields. */
function managersOfNew(options: TrackedUpdateOptions): readonly unknown[] | undefined {
  const { shape } = options.definition;
  const fields = fieldsOfNew(shape, zeroObject(shape), options.after);
  return isEmptySet(fields) ? undefined : [writeEntry({ ...writerOf(options), fields })];
}

/** Reports whether an object has no field that can be owned. The absence of owners then does not mean that the object is untracked. */
function isBare(shape: ObjectSchema, object: KubeObject | undefined): boolean {
  return object === undefined || hasNoDifference(compare(shape, zeroObject(shape), object));
}

/** The managers that the request sets; undefined when the stored ones remain. */
function requestedManagers({ definition, before, after, subresource = "", requested }: TrackedUpdateOptions): Managers | undefined {
  const stored = before?.metadata.managedFields;
  if (requested === undefined || requested === null || requested === stored || subresource !== "") return undefined;
  if (isReset(requested)) return new Map();
  // Most writers of the whole object send the list unchanged.
  if (jsonEqual(requested, stored)) return undefined;
  const { managers, errors } = parseManagers(requested);
  if (errors.length > 0) throw invalidObject(definition.type, after.metadata.name ?? "", errors);
  return managers;
}

function isReset(requested: unknown): boolean {
  return Array.isArray(requested) && (requested.length === 0 || jsonEqual(requested, [{}]));
}

/** The identity of the writer, and the time of the write. */
export interface FieldWriter extends ManagerIdentity {
  readonly time: string;
}

function writerOf({ definition, manager, subresource = "", now }: TrackedUpdateOptions): FieldWriter {
  return { manager, operation: "Update", apiVersion: definition.type.apiVersion, subresource, time: timestamp(now) };
}

/** Returns the managers after `writer` has changed the object. */
export function afterUpdate(managers: Managers, comparison: Comparison, writer: FieldWriter): Managers {
  if (hasNoDifference(comparison)) return managers;
  const { removed, modified, added } = comparison;
  const touched = union(modified, added);
  const id = identityOf(writer);
  const before = managers.get(id)?.fields ?? NO_FIELDS;
  const left = withoutFields(managers, union(removed, touched), id);
  const after = union(difference(before, removed), touched);
  // A writer that only removes fields of others owns no new fields.
  const changed = !isEmptySet(touched) || !isEmptySet(intersection(before, removed));
  if (isEmptySet(after)) left.delete(id);
  else if (changed) left.set(id, { ...writer, fields: after });
  return withoutExcess(left);
}

/** Removes `fields` from every manager except one, and drops managers without remaining fields. Times do not change. */
export function withoutFields(managers: Managers, fields: FieldSet, except: string): Map<string, ManagerEntry> {
  const left = new Map(managers);
  for (const [id, entry] of managers) {
    const rest = id === except ? entry.fields : difference(entry.fields, fields);
    if (isEmptySet(rest)) left.delete(id);
    else if (rest !== entry.fields) left.set(id, withManagedFields(entry, rest));
  }
  return left;
}

const zeroObjects = new WeakMap<ObjectSchema, KubeObject>();

/** Returns an object with only the fields that every object of the kind has by default. The creator does not own these fields. */
export function zeroObject(shape: ObjectSchema): KubeObject {
  const known = zeroObjects.get(shape);
  if (known !== undefined) return known;
  const refuse = (why: string): never => {
    throw new TypeError(why);
  };
  const zero = decodeObject(shape, {}, { root: "", onUnknownField: () => {}, refuse }) as KubeObject;
  zeroObjects.set(shape, deepFreeze(zero));
  return zero;
}

/**
 * Restores the stored managers if the new ones differ only in their times, so that a write that changes only times changes nothing.
 *
 * @example
 * withoutIdleTimes(old, object).metadata.managedFields === old.metadata.managedFields; // true when only times differ
 */
export function withoutIdleTimes(before: KubeObject, after: KubeObject): KubeObject {
  const { managedFields: stored = [] } = before.metadata;
  const { managedFields: list = [] } = after.metadata;
  if (list === stored || !jsonEqual(stored.map(timeless), list.map(timeless))) return after;
  const settled = deepFreeze(withMetadata(after, { managedFields: before.metadata.managedFields }));
  return jsonEqual(before, settled) ? settled : after;
}

function timeless(entry: unknown): unknown {
  return { ...(entry as JsonObject), time: undefined };
}
