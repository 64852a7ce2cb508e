/**
 * Sets of fields, as managers own them. A set has exactly the form of FieldsV1, so that stored sets are used without conversion: a record
 * from steps to nested sets, in order of the steps. The value `{}` of a step means the field itself. A field that is in the set together
 * with fields below it has the member ".". As a whole set, `{}` is the empty set.
 *
 * Sets are never modified. Results share unchanged parts with their arguments.
 *
 * @module
 */
import { isRecord } from "../../../base/json.ts";
import { JSON_DEPTH_MAX } from "../objects/json-data.ts";
import { canonicalStep, type FieldStep } from "./step.ts";

/** A set of fields, or the nested set below one step. */
export interface FieldSet {
  readonly [step: FieldStep]: FieldSet;
}

/** No fields. As a part of a set: the field itself and nothing below it. */
export const NO_FIELDS: FieldSet = Object.freeze({});

/** Marks a field that is in the set together with fields below it. */
const SELF = ".";

/** Reports whether a set has no fields. */
export function isEmptySet(set: FieldSet): boolean {
  for (const _step in set) return false;
  return true;
}

/** Reports whether the part of a set below a step includes the field of that step itself. */
export function includesSelf(part: FieldSet): boolean {
  return part[SELF] !== undefined || isEmptySet(part);
}

/**
 * Creates a set, or the part of a set below a step, from members in any order. A step must not occur twice. `self` adds the field itself.
 *
 * @example
 * fieldSet([["f:b", NO_FIELDS], ["f:a", NO_FIELDS]]); // { "f:a": {}, "f:b": {} }
 */
export function fieldSet(members: readonly (readonly [FieldStep, FieldSet])[], { self = false } = {}): FieldSet {
  if (members.length === 0) return NO_FIELDS;
  const sorted = members.length === 1 ? members : [...members].sort(([left], [right]) => (left < right ? -1 : 1));
  const set: Record<FieldStep, FieldSet> = self ? { [SELF]: NO_FIELDS } : {};
  for (const [step, part] of sorted) set[step] = part;
  return set;
}

/** The part of the set below each step. */
function members(set: FieldSet): [FieldStep, FieldSet][] {
  return Object.entries(set).filter(([step]) => step !== SELF);
}

/**
 * The set with the one field at `path`.
 *
 * @example
 * fieldAt(["f:metadata", "f:name"]); // { "f:metadata": { "f:name": {} } }
 */
export function fieldAt(path: readonly FieldStep[]): FieldSet {
  return path.reduceRight<FieldSet>((part, step) => ({ [step]: part }), NO_FIELDS);
}

/**
 * The fields that are in either set.
 *
 * @example
 * union({ "f:a": {} }, { "f:a": { "f:b": {} } }); // { "f:a": { ".": {}, "f:b": {} } }
 */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left)) return right;
  return isEmptySet(right) ? left : uniteParts(left, right);
}

/**
 * The fields that are in any of the sets. The sets are joined in pairs, so that the cost of many sets depends mainly on their fields.
 *
 * @example
 * unionAll([{ "f:a": {} }, { "f:b": {} }]); // { "f:a": {}, "f:b": {} }
 */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? NO_FIELDS, sets[1] ?? NO_FIELDS);
  const middle = sets.length >> 1;
  return union(unionAll(sets.slice(0, middle)), unionAll(sets.slice(middle)));
}

function uniteParts(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  const self = includesSelf(left) || includesSelf(right);
  let result: Map<FieldStep, FieldSet> | undefined;
  for (const step in right) {
    if (step === SELF) continue;
    const mine = left[step];
    const united = mine === undefined ? right[step]! : uniteParts(mine, right[step]!);
    // A writer usually changes only fields that it already owns; nothing is copied then.
    if (united !== mine) (result ??= new Map(members(left))).set(step, united);
  }
  if (result === undefined && self === includesSelf(left)) return left;
  return fieldSet([...(result ?? members(left))], { self });
}

/**
 * The fields of `left` that are not in `right`. A field does not include the fields below it.
 *
 * @example
 * difference({ "f:a": { ".": {}, "f:b": {} } }, { "f:a": {} }); // { "f:a": { "f:b": {} } }
 */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left) || isEmptySet(right)) return left;
  return subtractPart(left, right) ?? NO_FIELDS;
}

/** The rest of a part; undefined when nothing is left. */
function subtractPart(left: FieldSet, right: FieldSet): FieldSet | undefined {
  const self = includesSelf(left) && !includesSelf(right);
  let result: Map<FieldStep, FieldSet> | undefined;
  // Iterates over the left set, because the right set may be large and is subtracted from the set of each manager.
  for (const step in left) {
    const part = left[step]!;
    const other = right[step];
    if (step === SELF || other === undefined) continue;
    const rest = subtractPart(part, other);
    if (rest === part) continue;
    result ??= new Map(members(left));
    if (rest === undefined) result.delete(step);
    else result.set(step, rest);
  }
  if (result === undefined && self === includesSelf(left)) return left;
  const parts = [...(result ?? members(left))];
  return parts.length > 0 || self ? fieldSet(parts, { self }) : undefined;
}

/**
 * The fields that are in both sets.
 *
 * @example
 * intersection({ "f:a": { "f:b": {} } }, { "f:a": { ".": {}, "f:b": {} } }); // { "f:a": { "f:b": {} } }
 */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left) || isEmptySet(right)) return NO_FIELDS;
  return commonPart(left, right) ?? NO_FIELDS;
}

function commonPart(left: FieldSet, right: FieldSet): FieldSet | undefined {
  const self = includesSelf(left) && includesSelf(right);
  const result: [FieldStep, FieldSet][] = [];
  for (const [step, part] of members(left)) {
    const other = right[step];
    const common = other === undefined ? undefined : commonPart(part, other);
    if (common !== undefined) result.push([step, common]);
  }
  return result.length > 0 || self ? fieldSet(result, { self }) : undefined;
}

/**
 * The path of every field in a set. At each level, the fields of that level come first, in the order of their steps, followed by the fields
 * below them.
 *
 * @example
 * pathsOf({ "f:a": { "f:b": {} }, "f:c": {} }); // [["f:c"], ["f:a", "f:b"]]
 */
export function pathsOf(set: FieldSet): readonly (readonly FieldStep[])[] {
  const parts = members(set);
  const here = parts.filter(([, part]) => includesSelf(part)).map(([step]) => [step]);
  const below = parts.flatMap(([step, part]) => pathsOf(part).map((path) => [step, ...path]));
  return [...here, ...below];
}

/**
 * The paths of the fields in a set that have no other field of the set below them.
 *
 * @example
 * leavesOf({ "f:a": { ".": {}, "f:b": {} } }); // [["f:a", "f:b"]]
 */
export function leavesOf(set: FieldSet): readonly (readonly FieldStep[])[] {
  return members(set).flatMap(([step, part]) => (isEmptySet(part) ? [[step]] : leavesOf(part).map((path) => [step, ...path])));
}

/**
 * Decodes FieldsV1 from a client into the canonical form. Returns undefined if the value is invalid, for example if the same item appears
 * in two spellings. Steps of unknown kinds are ignored, because later versions may add kinds.
 *
 * @example
 * decodeFieldsV1({ "f:a": { ".": {} }, "x:y": {} }); // { "f:a": {} }
 */
export function decodeFieldsV1(fieldsV1: unknown): FieldSet | undefined {
  const decoded = decodePart(fieldsV1, JSON_DEPTH_MAX);
  return decoded && fieldSet(decoded.members);
}

/** A decoded record of FieldsV1; without self and members it has only unknown entries. */
interface Decoded {
  readonly self: boolean;
  readonly members: readonly [FieldStep, FieldSet][];
}

function decodePart(part: unknown, depth: number): Decoded | undefined {
  if (!isRecord(part) || depth === 0) return undefined;
  let self = Object.keys(part).length === 0;
  const found = new Map<FieldStep, FieldSet>();
  for (const [text, value] of Object.entries(part)) {
    const below = decodePart(value, depth - 1);
    if (below === undefined) return undefined;
    const step = canonicalStep(text);
    if (text === SELF) self = true;
    if (step === undefined || !(below.self || below.members.length > 0)) continue;
    if (found.has(step)) return undefined;
    found.set(step, fieldSet(below.members, below));
  }
  return { self, members: [...found] };
}
