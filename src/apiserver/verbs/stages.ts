import { assert } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { decodeObject } from "../types/objects/decode.ts";
import { deepFreeze } from "../types/objects/json-data.ts";
import { validateMetadata, validateMetadataUpdate, withUniqueOwners } from "../types/objects/metadata.ts";
import type { PendingAllocation, ResourceDefinition } from "../types/resource-definition.ts";
import { SYSTEM_USER, type WriteOptions } from "./resource-context.ts";
import { invalidObject } from "../types/status.ts";
import type { FieldError } from "../types/field-error.ts";
import { readBody } from "./body.ts";

/** An object that is ready to be stored, and its allocation, which must be committed or rolled back. */
export interface Finished {
  readonly object: KubeObject;
  readonly allocation: PendingAllocation;
}

/** A write before {@link finishWrite}. */
export interface Unfinished {
  readonly object: KubeObject;
  /** Undefined for a creation. */
  readonly old: KubeObject | undefined;
  /** The decoded body from which the object was created; see {@link seal}. Default: unknown. */
  readonly decoded?: KubeObject | undefined;
}

/**
 * Runs the steps of every write between decoding and storing an object: prepare, allocate, validate, canonicalize. The caller must call
 * `commit` of the allocation when the object is stored, and `rollback` otherwise. The result is a promise only if the kind allocates
 * asynchronously.
 *
 * @throws API_INVALID when the object breaks a rule of its kind; the allocation is then rolled back.
 */
export function finishWrite(
  definition: ResourceDefinition,
  write: Unfinished,
  { warn, user = SYSTEM_USER }: Pick<WriteOptions, "warn" | "user">,
): Finished | Promise<Finished> {
  const { strategy } = definition;
  const { object, old } = write;
  const given = withUniqueOwners(object, warn);
  const prepared = strategy.prepare?.(given, old, user) ?? given;
  const finish = (allocation: PendingAllocation) => finishAllocated(definition, allocation, write, warn);
  const allocation = strategy.allocate === undefined ? { object: prepared, ...NOTHING_HELD } : strategy.allocate(prepared, old);
  return allocation instanceof Promise ? allocation.then(finish) : finish(allocation);
}

function finishAllocated(
  definition: ResourceDefinition,
  allocation: PendingAllocation,
  { old, decoded }: Unfinished,
  warn: WriteOptions["warn"],
): Finished {
  const { type, strategy } = definition;
  const errors = [...validationErrors(definition, allocation.object, old), ...(allocation.errors ?? [])];
  if (errors.length > 0) {
    allocation.rollback();
    throw invalidObject(type, allocation.object.metadata.name ?? "", errors);
  }
  for (const text of strategy.warnings?.(allocation.object) ?? []) warn?.(text);
  for (const text of allocation.warnings ?? []) warn?.(text);
  return { object: seal(definition, strategy.canonicalize?.(allocation.object) ?? allocation.object, decoded), allocation };
}

const NOTHING_HELD = { commit() {}, rollback() {} };

/**
 * Reserves the claimed values against other processes. This is the last step before the object is stored.
 *
 * @throws API_INVALID if another process has already reserved one of them.
 */
export async function secure({ type }: ResourceDefinition, { allocation, object }: Finished): Promise<void> {
  if (allocation.secure === undefined) return;
  const errors = await allocation.secure();
  if (errors.length > 0) throw invalidObject(type, object.metadata.name ?? "", errors);
}

/** Returns the object for the response to the author of a write, given the stored object. */
export function answered(definition: ResourceDefinition, allocation: PendingAllocation, stored: KubeObject): KubeObject {
  if (allocation.answer === undefined) return stored;
  const answer = seal(definition, allocation.answer(stored));
  if (answer !== stored) storedOf.set(answer, stored);
  return answer;
}

const storedOf = new WeakMap<KubeObject, KubeObject>();

/** Returns the stored object for an object that {@link answered} returned. Other clients may see the stored object. */
export function withoutAnswer(object: KubeObject): KubeObject {
  return storedOf.get(object) ?? object;
}

/**
 * Validates `body` as in the creation of an object, and returns the errors. Considers only the body: nothing is claimed, looked up or
 * stored. Unknown fields are dropped, as in a creation.
 *
 * @throws API_BAD_REQUEST when the body is not an object of the kind.
 */
export function checkCreation(definition: ResourceDefinition, body: unknown): readonly FieldError[] {
  const object = readBody(definition, body, { fieldValidation: "Ignore" });
  return validationErrors(definition, definition.strategy.prepare?.(object, undefined, SYSTEM_USER) ?? object, undefined);
}

function validationErrors({ type, strategy }: ResourceDefinition, object: KubeObject, old: KubeObject | undefined) {
  return [
    ...validateMetadata(object.metadata, { namespaced: type.namespaced, nameRule: strategy.nameRule }),
    ...(old ? validateMetadataUpdate(object.metadata, old.metadata) : []),
    ...(strategy.validate?.(object, old) ?? []),
  ];
}

/**
 * Converts an object to the kind's canonical form, in which equal objects have equal JSON text, and freezes it. `decoded` is the object
 * from which `object` was derived, if that already has this form.
 */
export function seal({ shape, type }: ResourceDefinition, object: KubeObject, decoded?: KubeObject): KubeObject {
  const sealed = decodeObject(shape, object, {
    root: type.kind,
    internal: true,
    decoded,
    onUnknownField: (path) => assert(false, `the strategy of ${type.kind} adds no unknown field ${path}`),
    refuse: (why) => {
      assert(false, `the strategy of ${type.kind} keeps the shape of the kind: ${why}`);
      throw new Error(why);
    },
  });
  return deepFreeze(sealed as KubeObject);
}
