/**
 * Server-side apply. An applier sends the fields and values that it wants and becomes the owner of these fields. Fields that it no longer
 * sends are removed, and fields that other managers own with different values are conflicts.
 *
 * @module
 */
import { finish } from "../../base/finish.ts";
import { jsonEqual } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { timestamp, withMetadata } from "../types/objects/metadata.ts";
import type { ResourceDefinition } from "../types/resource-definition.ts";
import type { ObjectSchema } from "../../schema/schema.ts";
import { compare, hasNoDifference, UNOWNED } from "./compare.ts";
import { readConfig } from "./config.ts";
import type { Conflict } from "./conflict.ts";
import { difference, intersection, isEmptySet, pathsOf, union, unionAll, type FieldSet } from "../types/fields/field-set.ts";
import { appliedFields, withDeclared } from "./fields-of.ts";
import { appliedByClient, withLastApplied } from "./last-applied.ts";
import { identityOf, readManagers, writeManagers, type ManagerEntry, type Managers } from "./managers.ts";
import { mergeConfig } from "./merge.ts";
import { prune } from "./prune.ts";
import { afterUpdate, withoutFields, zeroObject, type FieldWriter } from "./update.ts";

/** A configuration that is applied. */
export interface ApplyOptions {
  readonly definition: Pick<ResourceDefinition, "type" | "shape" | "strategy">;
  /** The stored object; undefined when the configuration creates it. */
  readonly live: KubeObject | undefined;
  /** The object that the configuration is merged into. Default: the stored object. */
  readonly opened?: KubeObject | undefined;
  /** The body as received, not decoded, because absent and empty fields differ here. */
  readonly config: unknown;
  /** The name of the applier; not empty. */
  readonly manager: string;
  /** Take fields from their owners instead of reporting conflicts. Default false. */
  readonly force?: boolean | undefined;
  /** The part of the object that is written. Default: the object itself. */
  readonly subresource?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Completes a merged object as the server would, with defaults and canonical spelling. Two appliers of equivalent values then do not
   * conflict, and applying again does not change times. Default: the merged object is complete.
   */
  readonly complete?: (merged: KubeObject) => KubeObject;
}

/** Result of an apply: the object, not yet decoded or completed, with its managers; or the conflicts. */
export type Applied = { readonly object: KubeObject } | { readonly conflicts: readonly Conflict[] };

/** The manager that owns all fields of an untracked object at the first apply. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/**
 * Applies a configuration. No argument is modified.
 *
 * Guarantees:
 * - Fields that are in neither the configuration nor the applier's previous configuration keep their value.
 * - The same value from two appliers is not a conflict; both own it.
 * - Applying the same configuration again changes nothing.
 *
 * @throws API_BAD_REQUEST when the body is not a configuration of this kind; API_INVALID if items of a list cannot be distinguished.
 * @example
 * const result = applyPatch({ definition, live, config: body, manager: "deployer", now: clock.now() });
 * if ("conflicts" in result) throw applyConflict(result.conflicts);
 */
export function applyPatch(options: ApplyOptions): Applied {
  return finish(applyInPieces(options));
}

/** Like {@link applyPatch}, but in steps, so that other work can run in between. */
export function* applyInPieces(options: ApplyOptions): Generator<undefined, Applied> {
  const { definition, live: stored, manager, subresource = "" } = options;
  const { shape, type } = definition;
  const config = readConfig({ definition, body: options.config, subresource: options.subresource });
  yield;
  const live = stored ?? zeroObject(shape);
  const opened = options.opened ?? live;
  const writer: FieldWriter = { manager, operation: "Apply", apiVersion: type.apiVersion, subresource, time: timestamp(options.now) };
  const managers = managersBefore(stored, { shape, writer });
  const given = appliedFields(shape, config);
  yield;
  const merged = mergeConfig(shape, opened, config) as KubeObject;
  yield;
  const pruned = withoutGivenUp(shape, merged, { managers, writer, given });
  yield;
  const next = options.complete?.(withMetadata(pruned, { managedFields: undefined })) ?? pruned;
  yield;
  const { contested, removed } = changeOf(shape, { live, opened, pruned, next });
  const conflicts = conflictsOf(managers, writer, contested);
  if (options.force !== true && !areOwn(conflicts, () => appliedByClient(definition, live, manager)))
    return { conflicts: shown(conflicts) };
  yield;
  const others = withoutFields(managers, union(contested, removed), identityOf(writer));
  const changed = stored === undefined || !sameContent(stored, next);
  const after = withApplier(others, { before: managers.get(identityOf(writer)), writer, given, changed });
  const managedFields = writeManagers(after);
  return { object: withMetadata(withLastApplied(pruned, config, manager), { managedFields }) };
}

interface Situation {
  readonly shape: ObjectSchema;
  readonly writer: FieldWriter;
}

/** The managers before the apply. One manager owns all fields of an untracked object, so that the first apply can conflict with it. */
function managersBefore(stored: KubeObject | undefined, { shape, writer }: Situation): Managers {
  const managers = readManagers(stored?.metadata.managedFields);
  if (stored === undefined || managers.size > 0) return managers;
  const unknown: FieldWriter = { ...writer, manager: BEFORE_FIRST_APPLY, operation: "Update" };
  return afterUpdate(managers, compare(shape, zeroObject(shape), stored), unknown);
}

interface Giving {
  readonly managers: Managers;
  readonly writer: FieldWriter;
  readonly given: FieldSet;
}

/** The merged object without the fields that the applier no longer sends and that no other manager owns. */
function withoutGivenUp(shape: ObjectSchema, merged: KubeObject, { managers, writer, given }: Giving): KubeObject {
  const own = identityOf(writer);
  const last = managers.get(own)?.fields;
  if (last === undefined) return merged;
  const others = [...managers].filter(([id]) => id !== own).map(([, entry]) => entry.fields);
  const owned = unionAll([given, ...others]);
  const givenUp = difference(difference(withDeclared(shape, last), withDeclared(shape, owned)), UNOWNED);
  return isEmptySet(givenUp) ? merged : prune(shape, merged, { remove: givenUp, owned });
}

interface States {
  readonly live: KubeObject;
  /** The object that the configuration is merged into. */
  readonly opened: KubeObject;
  /** The merged object, without fields that the applier has given up. */
  readonly pruned: KubeObject;
  /** The object that the server would store. */
  readonly next: KubeObject;
}

/** The fields that the apply changes, both before and after the server completes the object, and the fields that it removes. */
function changeOf(
  shape: ObjectSchema,
  { live, opened, pruned, next }: States,
): { readonly contested: FieldSet; readonly removed: FieldSet } {
  const applied = compare(shape, opened, pruned);
  const touched = union(applied.modified, applied.added);
  if (next === pruned || hasNoDifference(applied)) return { contested: touched, removed: applied.removed };
  const completed = compare(shape, live, next);
  const contested = intersection(touched, union(completed.modified, completed.added));
  // The applier cannot remove fields that it did not see, or that it saw although they are not stored.
  const gone = opened === live ? completed.removed : intersection(completed.removed, compare(shape, opened, next).removed);
  return { contested, removed: union(applied.removed, gone) };
}

interface Contested {
  readonly owner: ManagerEntry;
  readonly fields: FieldSet;
}

function conflictsOf(managers: Managers, writer: FieldWriter, contested: FieldSet): Contested[] {
  const own = identityOf(writer);
  const others = [...managers].filter(([id]) => id !== own).map(([, owner]) => ({ owner, fields: intersection(owner.fields, contested) }));
  return others.filter(({ fields }) => !isEmptySet(fields));
}

function areOwn(conflicts: readonly Contested[], own: () => FieldSet): boolean {
  if (conflicts.length === 0) return true;
  const allowed = own();
  return conflicts.every(({ fields }) => isEmptySet(difference(fields, allowed)));
}

function shown(conflicts: readonly Contested[]): Conflict[] {
  return conflicts.map(({ owner, fields }) => ({ manager: owner, paths: pathsOf(fields) }));
}

function sameContent(before: KubeObject, after: KubeObject): boolean {
  const content = ({ metadata, ...rest }: KubeObject) => [rest, { ...metadata, managedFields: undefined }];
  return jsonEqual(content(before), content(after));
}

interface Applying {
  readonly before: ManagerEntry | undefined;
  readonly writer: FieldWriter;
  readonly given: FieldSet;
  /** Reports whether the object changed. */
  readonly changed: boolean;
}

/** Sets the applier's fields to exactly those in its configuration. Its entry stays unchanged if the apply has no effect. */
function withApplier(others: Managers, { before, writer, given, changed }: Applying): Managers {
  const managers = new Map(others);
  const fields = difference(given, UNOWNED);
  const same = before !== undefined && !changed && before.apiVersion === writer.apiVersion && jsonEqual(before.fields, fields);
  if (isEmptySet(fields)) managers.delete(identityOf(writer));
  else managers.set(identityOf(writer), same ? before : { ...writer, fields });
  return managers;
}
