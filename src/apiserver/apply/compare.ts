/**
 * Computes the fields that differ between two states of an object.
 *
 * @module
 */
import { isRecord, jsonEqual, type JsonObject } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { ListSchema, ObjectSchema, Schema } from "../../schema/schema.ts";
import { fieldAt, fieldSet, isEmptySet, NO_FIELDS, union, type FieldSet } from "../types/fields/field-set.ts";
import { everyField } from "./fields-of.ts";
import { fieldStep, type FieldStep } from "../types/fields/step.ts";
import { deepFreeze } from "../types/objects/json-data.ts";
import { divide, isInternal, itemsByStep, memberShape, ownMember, type Division } from "../types/fields/structure.ts";

/** The fields that differ. Values that were added or removed as a whole are included with all fields below them. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

/** The differences of one value. An absent member means no fields; `{}` means the value itself. */
type Difference = { readonly [kind in keyof Comparison]?: FieldSet };

/** Nothing changed. */
export const NO_CHANGE: Comparison = { removed: NO_FIELDS, modified: NO_FIELDS, added: NO_FIELDS };

/** Fields without an owner: identity, and fields that the server sets. Source: the stripped fields of the API server's field manager. */
const UNOWNED_AT_ROOT: ReadonlySet<string> = new Set(["apiVersion", "kind"]);
const APART_AT_ROOT: ReadonlySet<string> = new Set([...UNOWNED_AT_ROOT, "metadata"]);
const UNOWNED_IN_METADATA: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
]);

const METADATA = fieldStep("metadata");

/** The fields without an owner, as a set to subtract from others. */
export const UNOWNED: FieldSet = [
  ...[...APART_AT_ROOT].map((name) => fieldAt([fieldStep(name)])),
  ...[...UNOWNED_IN_METADATA].map((name) => fieldAt([METADATA, fieldStep(name)])),
].reduce((all, one) => union(all, one), NO_FIELDS);

/** Reports whether no field differs. The order of items in merged lists is ignored. */
export function hasNoDifference({ removed, modified, added }: Comparison): boolean {
  return isEmptySet(removed) && isEmptySet(modified) && isEmptySet(added);
}

/**
 * Returns the fields in which two states of an object differ, except those without an owner. Parts that both states share are skipped,
 * which is faster.
 *
 * @example
 * compare(kindShape({ data: textMap }), { ...object, data: { a: "1" } }, { ...object, data: { b: "1" } });
 * // { removed: { "f:data": { "f:a": {} } }, modified: {}, added: { "f:data": { "f:b": {} } } }
 */
export function compare(shape: ObjectSchema, before: KubeObject, after: KubeObject): Comparison {
  const tally = new Tally();
  compareMembers(shape, before, after, { tally, except: APART_AT_ROOT });
  const metadata = compareMetadata(memberShape(shape, "metadata"), before, after);
  if (metadata !== undefined) tally.add(METADATA, metadata);
  return { ...NO_CHANGE, ...tally.difference() };
}

function compareMetadata(shape: Schema, { metadata: was }: JsonObject, { metadata: is }: JsonObject): Difference | undefined {
  if (was === is) return undefined;
  const tally = new Tally();
  compareMembers(shape, was as JsonObject, is as JsonObject, { tally, except: UNOWNED_IN_METADATA });
  return tally.difference();
}

/** Collects the differences of a value's parts. Allocates nothing until there is a difference, because most values have none. */
class Tally {
  #found: { readonly [kind in keyof Comparison]: [FieldStep, FieldSet][] } | undefined;

  add(step: FieldStep, { removed, modified, added }: Difference): void {
    this.#found ??= { removed: [], modified: [], added: [] };
    if (removed !== undefined) this.#found.removed.push([step, removed]);
    if (modified !== undefined) this.#found.modified.push([step, modified]);
    if (added !== undefined) this.#found.added.push([step, added]);
  }

  difference(): Difference | undefined {
    if (this.#found === undefined) return undefined;
    const { removed, modified, added } = this.#found;
    return {
      ...(removed.length > 0 && { removed: fieldSet(removed) }),
      ...(modified.length > 0 && { modified: fieldSet(modified) }),
      ...(added.length > 0 && { added: fieldSet(added) }),
    };
  }
}

interface MembersOptions {
  readonly tally: Tally;
  readonly except?: ReadonlySet<string>;
}

function compareMembers(shape: Schema, before: JsonObject, after: JsonObject, { tally, except }: MembersOptions): void {
  for (const name of Object.keys(after)) {
    const was = ownMember(before, name);
    if (was === after[name] || except?.has(name) === true || isInternal(shape, name)) continue;
    const difference = compareValues(memberShape(shape, name), was, after[name]);
    if (difference !== undefined) tally.add(fieldStep(name), difference);
  }
  for (const name of Object.keys(before)) {
    if (before[name] === undefined || Object.hasOwn(after, name) || except?.has(name) === true || isInternal(shape, name)) continue;
    tally.add(fieldStep(name), { removed: everyField(memberShape(shape, name), before[name]) });
  }
}

/** Returns the difference of two values; undefined when there is none for owners. */
function compareValues(shape: Schema, before: unknown, after: unknown): Difference | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: everyField(shape, after) };
  if (after === undefined) return { removed: everyField(shape, before) };
  const was = divide(shape, before);
  const is = divide(shape, after);
  // Null and empty are different values, although neither has parts.
  const whole = (was === undefined && is === undefined) || (hasNoParts(was) && hasNoParts(is));
  if (whole) return jsonEqual(before, after) ? undefined : { modified: NO_FIELDS };
  const tally = new Tally();
  compareParts(shape, { was, is, tally });
  // Only one of the values is divided into parts.
  const turned = was === undefined || is === undefined;
  return turned ? { ...tally.difference(), modified: NO_FIELDS } : tally.difference();
}

function hasNoParts(division: Division): boolean {
  if (division === undefined) return true;
  return division.by === "members" ? Object.keys(division.members).length === 0 : division.items.length === 0;
}

interface Parts {
  readonly was: Division;
  readonly is: Division;
  readonly tally: Tally;
}

function compareParts(shape: Schema, { was, is, tally }: Parts): void {
  const list = (was?.by === "items" && was.list) || (is?.by === "items" && is.list);
  if (list === false || list === undefined) return compareMembers(shape, membersOf(was), membersOf(is), { tally });
  compareItems(list, itemsOf(was), itemsOf(is), tally);
}

function membersOf(division: Division): JsonObject {
  return division?.by === "members" ? division.members : {};
}

function itemsOf(division: Division): readonly unknown[] {
  return division?.by === "items" ? division.items : [];
}

function compareItems(list: ListSchema, before: readonly unknown[], after: readonly unknown[], tally: Tally): void {
  const was = itemsByStep(list, before);
  const is = itemsByStep(list, after);
  for (const [step, item] of is) {
    const difference = compareValues(list.items, was.get(step), item);
    if (difference !== undefined) tally.add(step, difference);
  }
  for (const [step, item] of was) if (!is.has(step)) tally.add(step, { removed: everyField(list.items, item) });
}

/** Maximum length of a cached form. Most objects of a kind have the same form, which is a description of their fields. */
const FORM_LENGTH_MAX = 512;
/** Maximum number of cached forms for each kind. */
const FORMS_MAX = 64;
const knownForms = new WeakMap<ObjectSchema, Map<string, FieldSet>>();

/**
 * The fields that the author of a new object owns. The set is frozen, and objects of the same form share it.
 *
 * @param zero The fields that every object of the kind has by default: they belong to no author.
 */
export function fieldsOfNew(shape: ObjectSchema, zero: KubeObject, object: KubeObject): FieldSet {
  const form = formOf(shape, object, zero, FORM_LENGTH_MAX);
  if (form === undefined) return computed(shape, zero, object);
  let ofKind = knownForms.get(shape);
  if (ofKind === undefined) knownForms.set(shape, (ofKind = new Map()));
  let fields = ofKind.get(form);
  if (fields !== undefined) return fields;
  if (ofKind.size >= FORMS_MAX) ofKind.clear();
  ofKind.set(form, (fields = deepFreeze(computed(shape, zero, object))));
  return fields;
}

function computed(shape: ObjectSchema, zero: KubeObject, object: KubeObject): FieldSet {
  const { modified, added } = compare(shape, zero, object);
  return union(modified, added);
}

/**
 * Describes everything about a value that determines its fields: its names, and which of its parts equal those of `zero`. Names are
 * preceded by their lengths, so that different forms have different descriptions. Returns undefined if the description is too long, or if
 * the value contains a merged list.
 */
function formOf(shape: Schema, value: unknown, zero: unknown, lengthMax: number): string | undefined {
  if (Array.isArray(value) && value.length > 0 && shape.type === "list" && shape.merge !== undefined) return undefined;
  if (!isRecord(value)) return zero === undefined ? "." : jsonEqual(zero, value) ? "=" : Array.isArray(value) ? "[" : "!";
  let form = zero === undefined ? "{" : "{=";
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue;
    const part = formOf(memberShape(shape, name), value[name], isRecord(zero) ? ownMember(zero, name) : undefined, lengthMax - form.length);
    if (part === undefined) return undefined;
    form += `${name.length}:${name}${part}`;
    if (form.length > lengthMax) return undefined;
  }
  return `${form}}`;
}
