/**
 * Strategic merge patch: a merge patch that merges some lists item by item, and can contain directives.
 * Source: the API machinery's `strategicpatch`, and Kubernetes' page on it for the directives.
 *
 * @module
 */
import { isRecord, type JsonObject } from "../../base/json.ts";
import { isScalar } from "../types/fields/step.ts";
import { itemStep, memberShape, ownMember } from "../types/fields/structure.ts";
import { PatchApplyError, PatchSyntaxError } from "./json-patch.ts";
import type { ListSchema, Schema } from "../../schema/schema.ts";

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const SET_ORDER = "$setElementOrder/";
const DELETE_PRIMITIVES = "$deleteFromPrimitiveList/";

/**
 * Returns the document after a strategic merge patch; neither argument is modified. Lists that the shape merges are merged by their first
 * key, or as sets. Items that the patch contains are in its order. They precede the other items, except those that they follow in the
 * document.
 *
 * - `$patch`: `replace` the whole map or list, `delete` the map or the item with this key; `merge` is the default.
 * - `$retainKeys` lists the members to keep; all others are removed.
 * - `$deleteFromPrimitiveList/name` lists the items to remove from the set `name`.
 * - `$setElementOrder/name` lists the items of `name`, or their keys, in their final order.
 *
 * @throws PatchSyntaxError when a directive has the wrong form, PatchApplyError when the patch does not fit the lists.
 * @example
 * strategicMerge(kindShape({ data: textMap }), { data: { a: "1", b: "2" } }, { data: { $retainKeys: ["b"], b: "3" } }); // { data: { b: "3" } }
 */
export function strategicMerge(shape: Schema, document: unknown, patch: JsonObject): JsonObject {
  return mergeRecord(shape, isRecord(document) ? document : {}, patch);
}

function mergeRecord(shape: Schema, original: JsonObject, patch: JsonObject): JsonObject {
  switch (directiveOf(patch)) {
    case "replace":
      return cleanRecord(patch);
    case "delete":
      return {};
    case "merge":
    case undefined:
  }
  const members = new Map(Object.entries(retained(original, patch)));
  const set = (name: string, value: unknown) => void (value === undefined ? members.delete(name) : members.set(name, value));
  for (const name of namesIn(patch)) set(name, mergeMember(memberShape(shape, name), members.get(name), changeOf(patch, name)));
  // fromEntries, unlike assignment, treats "__proto__" as a name like any other.
  return Object.fromEntries(members);
}

/** The value of `$patch`. */
function directiveOf(record: JsonObject): "replace" | "delete" | "merge" | undefined {
  const directive = ownMember(record, DIRECTIVE);
  if (directive === undefined || directive === "replace" || directive === "delete" || directive === "merge") return directive;
  throw new PatchApplyError(`unknown patch type: ${JSON.stringify(directive)}`);
}

function isDirective(name: string): boolean {
  return name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(SET_ORDER) || name.startsWith(DELETE_PRIMITIVES);
}

/** The names of all members that a patch changes, including those in directives. */
function namesIn(patch: JsonObject): Set<string> {
  const names = Object.keys(patch).filter((name) => name !== DIRECTIVE && name !== RETAIN_KEYS);
  return new Set(names.map((name) => (isDirective(name) ? name.slice(name.indexOf("/") + 1) : name)));
}

/** The change of one member by a patch. */
interface MemberChange {
  readonly value: unknown;
  readonly order: readonly unknown[] | undefined;
  readonly gone: readonly unknown[];
}

function changeOf(patch: JsonObject, name: string): MemberChange {
  return {
    value: ownMember(patch, name),
    order: readList(patch, `${SET_ORDER}${name}`),
    gone: readList(patch, `${DELETE_PRIMITIVES}${name}`) ?? [],
  };
}

function readList(patch: JsonObject, name: string): readonly unknown[] | undefined {
  const value = ownMember(patch, name);
  if (value === undefined || Array.isArray(value)) return value;
  throw new PatchSyntaxError(`the value of ${JSON.stringify(name)} is not a list`);
}

/** The members of the original that a patch keeps. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = readList(patch, RETAIN_KEYS);
  if (keys === undefined) return original;
  const kept = new Set(keys);
  const extra = Object.keys(patch).find((name) => !isDirective(name) && patch[name] !== null && !kept.has(name));
  if (extra !== undefined) throw new PatchSyntaxError(`${JSON.stringify(extra)} is in the patch but not in its ${RETAIN_KEYS}`);
  return Object.fromEntries(Object.entries(original).filter(([name]) => kept.has(name)));
}

/** Returns the new value of a member; undefined when the member is removed. */
function mergeMember(shape: Schema, original: unknown, { value, order, gone }: MemberChange): unknown {
  if (value === null) return undefined;
  const merged = value === undefined ? original : mergeValue(shape, original, value);
  if (!Array.isArray(merged)) return merged;
  const known = Array.isArray(original) ? original : [];
  const ordered = order === undefined ? merged : setOrder(shape, { merged, known, order, patch: value });
  if (gone.length === 0) return ordered;
  if (!gone.every(isScalar)) throw new PatchSyntaxError(`${DELETE_PRIMITIVES} may list only strings, numbers and booleans`);
  const names = new Set(gone);
  return ordered.filter((item) => !names.has(item));
}

function mergeValue(shape: Schema, original: unknown, patch: unknown): unknown {
  if (isRecord(patch) && isRecord(original)) return mergeRecord(shape, isWhole(shape) ? {} : original, patch);
  if (Array.isArray(patch) && Array.isArray(original) && shape.type === "list") return mergeList(shape, original, patch);
  return clean(patch);
}

/** Reports whether a patch replaces the whole value. */
function isWhole(shape: Schema): boolean {
  return shape.type === "list" && shape.merge === undefined;
}

/** Removes directives and nulls from a value that is merged with nothing. Returns undefined for a map with the directive `$patch`. */
function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((item) => (isRecord(item) && Object.hasOwn(item, DIRECTIVE) ? [] : [clean(item)]));
  if (!isRecord(value)) return value;
  return Object.hasOwn(value, DIRECTIVE) ? undefined : cleanRecord(value);
}

function cleanRecord(record: JsonObject): JsonObject {
  const entries = Object.entries(record).filter(([name, value]) => !isDirective(name) && value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name, clean(value)]).filter(([, value]) => value !== undefined));
}

function mergeList(list: ListSchema, original: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const { merge } = list;
  if (merge === undefined) return clean(patch) as unknown[];
  if (merge.as === "set") {
    return arrange([...new Set([...original, ...patch])], { wanted: patch, known: original, idOf: scalarId });
  }
  const idOf = keyId(merge.keys[0]!);
  const { kept, items, replace } = takeDirectives(list, original, patch);
  if (replace) return items.map((item) => cleanRecord(item));
  return arrange(mergeItems(list, kept, items), { wanted: items, known: original, idOf });
}

/** Computes the identity of an item; undefined if it has none. */
type IdOf = (item: unknown) => string | undefined;

const scalarId: IdOf = (item) => JSON.stringify(item);

function keyId(key: string): IdOf {
  return (item) => {
    const value = isRecord(item) ? ownMember(item, key) : undefined;
    return value === undefined ? undefined : JSON.stringify(value);
  };
}

/** A patch of a list of objects, after the deletions. */
interface ListPatch {
  readonly kept: readonly unknown[];
  readonly items: readonly JsonObject[];
  readonly replace: boolean;
}

function takeDirectives(list: ListSchema, original: readonly unknown[], patch: readonly unknown[]): ListPatch {
  const items: JsonObject[] = [];
  const deletions: JsonObject[] = [];
  let replace = false;
  for (const item of patch) {
    if (!isRecord(item))
      throw new PatchApplyError(`a patch of a list of objects contains ${JSON.stringify(item)?.slice(0, 100)}, which is not an object`);
    const directive = directiveOf(item);
    if (directive === "replace") replace = true;
    else if (directive === "delete") deletions.push(item);
    else items.push(item);
  }
  if (!replace) [...items, ...deletions].forEach((item) => demandKey(list, item));
  return { kept: withoutDeleted(list, original, deletions), items, replace };
}

function demandKey({ merge }: ListSchema, item: JsonObject): void {
  const key = merge?.as === "map" ? merge.keys[0]! : "";
  if (isScalar(ownMember(item, key))) return;
  throw new PatchApplyError(`map: ${JSON.stringify(item).slice(0, 200)} does not contain declared merge key: ${key}`);
}

/** Removes items by their first key. A deletion with all keys removes only the item with these keys. */
function withoutDeleted(list: ListSchema, original: readonly unknown[], deletions: readonly JsonObject[]): readonly unknown[] {
  if (deletions.length === 0 || list.merge?.as !== "map") return original;
  const { keys } = list.merge;
  const idOf = keyId(keys[0]!);
  const isExact = (deletion: JsonObject) => keys.every((key) => ownMember(deletion, key) !== undefined);
  const exact = new Set(deletions.filter(isExact).map((deletion) => itemStep(list, deletion)));
  const byKey = new Set(deletions.filter((deletion) => !isExact(deletion)).map(idOf));
  return original.filter((item) => !byKey.has(idOf(item)) && !exact.has(itemStep(list, item) ?? "none"));
}

/**
 * Merges items, which are matched by their first key. If several original items have the same first key, as Services have for two protocols
 * on one port, an item with all keys equal is preferred. Each original item is matched once; further items of the patch are added.
 */
function mergeItems(list: ListSchema, original: readonly unknown[], patch: readonly JsonObject[]): unknown[] {
  const idOf = list.merge?.as === "map" ? keyId(list.merge.keys[0]!) : scalarId;
  const stepOf = (item: unknown) => itemStep(list, item);
  const met = new Map<JsonObject, number>();
  const left = (items: readonly JsonObject[]) => items.filter((item) => !met.has(item));
  for (const meeting of [stepOf, idOf]) {
    const taken = new Set(met.values());
    const free = positions(original, (item) => meeting(item), taken);
    for (const item of left(patch)) {
      const index = free.get(meeting(item));
      if (index === undefined) continue;
      met.set(item, index);
      free.delete(meeting(item));
    }
  }
  const merged = [...original];
  for (const [item, index] of met) merged[index] = mergeRecord(list.items, merged[index] as JsonObject, item);
  return [...merged, ...left(patch).map(cleanRecord)];
}

interface Ordering {
  readonly merged: readonly unknown[];
  readonly known: readonly unknown[];
  readonly order: readonly unknown[];
  readonly patch: unknown;
}

function setOrder(shape: Schema, { merged, known, order, patch }: Ordering): unknown[] {
  if (shape.type !== "list" || shape.merge === undefined) return [...merged];
  const idOf = shape.merge.as === "set" ? scalarId : keyId(shape.merge.keys[0]!);
  const items = (Array.isArray(patch) ? patch : []).filter((item) => !isRecord(item) || !Object.hasOwn(item, DIRECTIVE));
  let found = 0;
  for (const wanted of order) if (found < items.length && idOf(items[found]) === idOf(wanted)) found += 1;
  if (found < items.length) throw new PatchApplyError(`the items of the patch are not in the order of its ${SET_ORDER} list`);
  return arrange(merged, { wanted: order, known, idOf });
}

interface Arrangement {
  /** The order in which items are wanted. */
  readonly wanted: readonly unknown[];
  /** The order that the original had. */
  readonly known: readonly unknown[];
  readonly idOf: IdOf;
}

/** Sorts the wanted items in wanted order and the others in original order, and merges the two by their positions in the original. */
function arrange(items: readonly unknown[], { wanted, known, idOf }: Arrangement): unknown[] {
  const wantedAt = positions(wanted, idOf);
  const knownAt = positions(known, idOf);
  const at = (positions: ReadonlyMap<string | undefined, number>, item: unknown) => positions.get(idOf(item)) ?? -1;
  const inOrder = (order: ReadonlyMap<string | undefined, number>) => (left: unknown, right: unknown) => at(order, left) - at(order, right);
  const named = items.filter((item) => wantedAt.has(idOf(item))).sort(inOrder(wantedAt));
  const others = items.filter((item) => !wantedAt.has(idOf(item))).sort(inOrder(knownAt));
  const arranged: unknown[] = [];
  let next = 0;
  for (const other of others) {
    const before = at(knownAt, other);
    while (next < named.length && before >= at(knownAt, named[next])) arranged.push(named[next++]);
    arranged.push(other);
  }
  return [...arranged, ...named.slice(next)];
}

/** The first index of each item, without the indexes in `except`. */
function positions(items: readonly unknown[], idOf: IdOf, except: ReadonlySet<number> = NOWHERE): Map<string | undefined, number> {
  const found = new Map<string | undefined, number>();
  items.forEach((item, index) => {
    const id = idOf(item);
    if (id !== undefined && !except.has(index) && !found.has(id)) found.set(id, index);
  });
  return found;
}

const NOWHERE: ReadonlySet<number> = new Set();
