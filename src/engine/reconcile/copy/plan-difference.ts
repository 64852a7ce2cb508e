/**
 * Plans the write for an existing copy, with a three-way comparison of each field: tenant, host, and the last agreed state.
 *
 * @module
 */
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import { writeMarkers } from "../../translate/markers.ts";
import {
  agreedBase,
  changedSides,
  entryLength,
  isAsWritten,
  isForeign,
  comparedFields,
  type Base,
  type ComparedField,
  type FieldId,
} from "../agreement/base.ts";
import { withoutKeys } from "../rules/excluded-keys.ts";
import { planHostEditsInPieces, type HostEdits } from "../convert/host-edits.ts";
import { toHostInPieces, type HostBody } from "../convert/to-host.ts";
import { readFlowed, stamped } from "../agreement/flow-stamp.ts";
import { copySourceOf, updatedCopy, missingOwner, rejection, reported } from "./host-copy.ts";
import { recreation, type MakePlan, type CopyInput, type Note, type Operation, type Plan } from "../plan-types.ts";
import type { Rules } from "../rules/rules.ts";

/** Plans the write of the fields that differ between a copy and its desired state. */
export function* planDifference(
  rules: Rules,
  input: CopyInput & { host: KubeObject },
  written: Base,
  answer: MakePlan,
): Generator<undefined, Plan> {
  const wanted = yield* toHostInPieces(rules, input);
  const parts = reported(wanted);
  if (wanted.rejected !== undefined) return answer("refused", { ...parts, notes: rejection(wanted) });
  const fields = comparedFields(rules, input.tenant, wanted.object, input.host, written);
  const flowed = readFlowed(rules, input, fields, written);
  const base = flowed.fields.size === 0 ? written : new Map([...written, ...flowed.fields]);
  const [edits, conflicting]: [ComparedField[], ComparedField[]] = [[], []];
  for (const field of fields) {
    if (field.desired === field.host) continue;
    const changed = changedSides(field, base);
    if (changed.host && !changed.tenant) edits.push(field);
    if (changed.host && changed.tenant) conflicting.push(field);
  }
  const standing = input.host.metadata.annotations;
  const stays = (field: ComparedField) => !isWritten(base, field);
  const noRoom = fieldsWithoutRoom(rules, { fields, edits, standing, stays, others: () => othersOn(rules, input, fields) });
  const counts = ({ id }: ComparedField) => !flowed.isOld && !noRoom.has(id);
  const flowing = edits.filter(counts);
  const waiting = input.editsWait === true ? flowing : [];
  const isFlow = flowing.length > 0 && input.editsWait !== true;
  const flow = isFlow ? yield* planFlow(rules, input, { wanted, written, before: flowed.fields, edits: flowing }) : NO_FLOW;
  const refusals = flow.refusals.map(({ code, message }) => ({ code, message }));
  const conflicts = conflicting
    .filter(counts)
    .map(({ id }): Note => ({ code: "BOTH_SIDES_CHANGED", message: `${id} changed on both sides; the tenant's value was taken` }));
  const notes = [
    ...parts.notes,
    ...conflicts,
    ...refusals,
    ...roomNotes(new Map([...noRoom, ...flow.noRoom.map((id) => [id, "size"] as const)])),
  ];
  const outcomes = [...parts.outcomes, ...flow.outcomes];
  if (flow.operation !== undefined) return answer("copied", { ...parts, outcomes, notes, operations: [flow.operation] });
  const left = new Set([...noRoom.keys(), ...[...waiting, ...edits.filter(isForeign)].map(({ id }) => id)]);
  const operations = hostUpdate(rules, input, { wanted, fields, left, waiting, known: base, base: written, edits });
  const restsOnCopy = flowed.isOld && edits.length > 0 && operations.length === 0;
  // The edit of a body is undone because the tenant Service has a selector, which only a cache has reported so far.
  const isOfSelector = input.tenantService?.spec?.selector !== undefined && refusals.length > 0 && edits.some(({ id }) => id === "body");
  const rests = { ...(restsOnCopy && { restsOnCopy }), ...(isOfSelector && { restsOnServices: ["tenant"] as const }) };
  return answer("copied", { ...parts, outcomes, notes, operations, ...rests });
}

const OWNER = "The virtual cluster's Service now owns the copy";

interface Flow extends Pick<HostEdits, "refusals" | "outcomes"> {
  readonly operation?: Operation;
  /** Edits that the tenant object has no room for. */
  readonly noRoom: readonly FieldId[];
}

const NO_FLOW: Flow = { refusals: [], outcomes: [], noRoom: [] };

/** Plans the tenant write with the edits that flow: all of them, or only the body if the others are too long for the tenant object. */
function* planFlow(
  rules: Rules,
  input: CopyInput & { host: KubeObject },
  { edits, wanted, written, before }: Flowing,
): Generator<undefined, Flow> {
  const back = yield* planHostEditsInPieces(rules, input, edits);
  if (back.flowing.length === 0) return { ...back, noRoom: [] };
  const flowing = new Set(back.flowing);
  const after = comparedFields(rules, back.tenant, wanted.object, input.host, written).filter(({ id }) => flowing.has(id));
  const object = stamped(rules, input, back.tenant, after, before);
  if (annotationsLength(object.metadata.annotations) > ANNOTATIONS_LENGTH_MAX) {
    const body = edits.filter(({ id }) => id === "body");
    const noRoom = back.flowing.filter((id) => id !== "body");
    if (noRoom.length === 0) return { ...back, noRoom: back.flowing };
    return { ...(yield* planFlow(rules, input, { edits: body, wanted, written, before })), noRoom };
  }
  const reason = `Host edits of ${back.flowing.join(", ")} are synced back`;
  return { ...back, operation: { action: "update", side: "tenant", object, reason }, noRoom: [] };
}

interface Flowing {
  readonly edits: readonly ComparedField[];
  readonly wanted: HostBody;
  readonly written: Base;
  /** Host edits applied earlier that still hold. */
  readonly before: Base;
}

/** Returns the annotations of a copy besides its fields and its base. */
function othersOn(rules: Rules, input: CopyInput & { host: KubeObject }, fields: readonly ComparedField[]): StringMap {
  const ids = new Set<string>(fields.map(({ id }) => id));
  const isOther = (key: string) => !ids.has(`annotations/${key}`) && key !== `${rules.translator.markerPrefix}base`;
  const kept = withoutKeys(input.host.metadata.annotations ?? {}, (key) => !isOther(key));
  return { ...kept, ...writeMarkers(rules.translator.markerPrefix, copySourceOf(rules, input)).annotations };
}

interface Difference {
  readonly wanted: HostBody;
  readonly fields: readonly ComparedField[];
  /** Fields that are not written: foreign keys, edits that wait, and fields without room. */
  readonly left: ReadonlySet<FieldId>;
  /** Those of them that flow later: their last agreed state is kept until then. */
  readonly waiting: readonly ComparedField[];
  /** The last agreed state: the copy's base, and the host edits applied since. */
  readonly known: Base;
  /** The copy's base. */
  readonly base: Base;
  readonly edits: readonly ComparedField[];
}

function hostUpdate(
  rules: Rules,
  input: CopyInput & { host: KubeObject },
  { wanted, fields, left, waiting, known, base, edits }: Difference,
): Operation[] {
  if (rules.kind.mustRecreate(input.host, wanted.object)) return [recreation(input.host)];
  // A value without room that the syncer wrote is removed together with its entry in the base: without one, it would look like a host edit.
  const removed = fields
    .filter((field) => left.has(field.id) && isWritten(known, field))
    .map((field) => ({ ...field, desired: undefined }));
  const owned = [...fields.filter(({ id }) => !left.has(id)), ...removed];
  /** Returns the agreed base, with the entries of `from` for the fields that wait. */
  const baseWith = (from: Base) =>
    new Map([...agreedBase(owned), ...waiting.flatMap(({ id }) => (from.has(id) ? [[id, from.get(id)!] as const] : []))]);
  const changed = owned.filter((field) => field.desired !== field.host);
  const { host, owner } = input;
  // Host edits that have flowed are no reason to write: the answer to a later one may be lost, and its stamp belongs to this version.
  const agreed = changed.length === 0 && sameBase(base, baseWith(base));
  if (agreed && missingOwner(host, owner) === undefined) return [];
  const object = updatedCopy({
    rules,
    host,
    desired: wanted.object,
    changed,
    source: copySourceOf(rules, input),
    base: baseWith(known),
    owner,
  });
  const restores = changed.length > 0 && changed.every(({ id }) => edits.some((edit) => edit.id === id));
  const nothingElse = agreed ? OWNER : "Both sides agree again";
  const reason = changed.length === 0 ? nothingElse : restores ? "Host edits are undone" : "The tenant object or the configuration changed";
  return [{ action: "update", side: "host", object, reason, ...(restores && { restores }) }];
}

/** Reports whether the host has what the syncer wrote, or what was agreed since. */
function isWritten(known: Base, { id, host }: ComparedField): boolean {
  return host !== undefined && isAsWritten(known, id, host);
}

function sameBase(left: Base, right: Base): boolean {
  return left.size === right.size && [...left].every(([id, text]) => right.get(id) === text);
}

/*
 * Limits the labels and annotations of a copy. The base records each of them, and an API server limits the total size of the annotations
 * of one object. The body always fits: addresses are synced regardless of the annotations.
 */

/** Maximum length of the text of a base, in bytes. The tenant's annotations also need room. */
export const BASE_LENGTH_MAX = 64 * 1024;

/** Maximum size of all annotations of one object, keys and values together, in bytes: API servers refuse more. */
export const ANNOTATIONS_LENGTH_MAX = 256 * 1024;

/** Current and desired metadata of a copy. */
export interface CopyMetadata {
  readonly fields: readonly ComparedField[];
  /** Host edits: of these, the value on the host counts. */
  readonly edits: readonly ComparedField[];
  /** Annotations of the copy besides the fields and the base. Read only if there may be too many. */
  readonly others: () => StringMap;
  /** All annotations that the copy has now. */
  readonly standing: StringMap | undefined;
  /** Reports whether the value of a field on the host stays there if there is no room for the field. */
  readonly stays: (field: ComparedField) => boolean;
}

/** Fields for which there is no room, each with the limit that it exceeds: the length of the base, or the size of all annotations. */
export type FieldsWithoutRoom = ReadonlyMap<FieldId, "count" | "size">;

const NONE: FieldsWithoutRoom = new Map();

/**
 * Returns the labels and annotations that do not fit: they are not written. Keys that only the engine sets get room first, then labels,
 * then annotations, each sorted by key. Edits under keys that only the host has come last.
 */
export function fieldsWithoutRoom(rules: Rules, wanted: CopyMetadata): FieldsWithoutRoom {
  if (fitsAtOnce(wanted)) return NONE;
  const edited = new Set(wanted.edits.map(({ id }) => id));
  const standing = (field: ComparedField) => (wanted.stays(field) ? lengthOn(field, field.host) : 0);
  const candidates = wanted.fields.flatMap((field) => {
    const value = edited.has(field.id) ? field.host : field.desired;
    return value === undefined ? [] : [{ field, value, isNew: field.desired === undefined, rank: rankOf(rules, field) }];
  });
  const inOrder = candidates.sort((left, right) => Number(left.isNew) - Number(right.isNew) || (left.rank < right.rank ? -1 : 1));
  let total = annotationsLength(wanted.others()) + inOrder.reduce((sum, { field }) => sum + standing(field), 0);
  let base = 0;
  // For new keys, every field counts as if both sides had different digests: host edits that have flowed must not make room for more.
  let widest = 0;
  const left = new Map<FieldId, "count" | "size">();
  let exceeded: "count" | "size" = "count";
  for (const { field, value, isNew } of inOrder) {
    const wide = entryLength(field.id, false);
    const entry = isNew ? wide : entryLength(field.id, field.tenant === value);
    const more = entry + lengthOn(field, value) - standing(field);
    const isCounted = (isNew ? widest : base) + entry <= BASE_LENGTH_MAX;
    const fits = isCounted && total + more <= ANNOTATIONS_LENGTH_MAX;
    if ((!fits || (isNew && left.size > 0)) && field.id !== "body") {
      if (!fits) exceeded = isCounted ? "size" : "count";
      left.set(field.id, exceeded);
      continue;
    }
    base += entry;
    widest += wide;
    total += more;
  }
  return left;
}

/** Reports whether everything surely fits: most objects are far from any limit, and every plan checks this. */
function fitsAtOnce({ fields, standing }: Pick<CopyMetadata, "fields" | "standing">): boolean {
  let entries = 0;
  let characters = MARKERS_LENGTH_MAX;
  for (const { id, desired = "", host = "" } of fields) {
    entries += entryLength(id, false);
    characters += id.length + desired.length + host.length;
  }
  for (const key in standing) characters += key.length + standing[key]!.length;
  return entries <= BASE_LENGTH_MAX && entries + BYTES_PER_CHARACTER * characters <= ANNOTATIONS_LENGTH_MAX;
}

/** Reports whether a new copy surely has room for all labels and annotations of an object. Cheap: the body is not compared. */
export function surelyFits({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean {
  const field = (id: FieldId, value: string): ComparedField => ({ id, tenant: undefined, desired: value, host: value });
  const ofLabels = Object.entries(labels).map(([key, value]) => field(`labels/${key}`, value));
  const ofAnnotations = Object.entries(annotations).map(([key, value]) => field(`annotations/${key}`, value));
  return fitsAtOnce({ fields: [...ofLabels, ...ofAnnotations, field("body", "0".repeat(DIGITS))], standing: undefined });
}

/** Number of hex digits of the SHA-256 for which a body stands. */
const DIGITS = 64;

const BYTES_PER_CHARACTER = 3;

/** More characters than the markers of a copy can have: names, namespaces and kinds are short. */
const MARKERS_LENGTH_MAX = 8 * 1024;

/** Returns a text that sorts by importance, then by key. */
function rankOf({ kind }: Rules, { id }: ComparedField): string {
  if (id === "body") return "0";
  const isOwn = kind.ownLabelKeys.some((key) => id === `labels/${key}`);
  return isOwn ? `1${id}` : id.startsWith("labels/") ? `2${id}` : `3${id}`;
}

function lengthOn({ id }: ComparedField, value: string | undefined): number {
  if (value === undefined || !id.startsWith("annotations/")) return 0;
  return byteLength(id) - "annotations/".length + byteLength(value);
}

/** Returns the total size of the annotations in bytes, as API servers count it. */
export function annotationsLength(annotations: StringMap = {}): number {
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Returns the notes on the fields that do not fit; empty if all fit. */
export function roomNotes(left: FieldsWithoutRoom): Note[] {
  return (["count", "size"] as const).flatMap((exceeded): Note[] => {
    const [first, ...more] = [...left.keys()].filter((id) => left.get(id) === exceeded).sort();
    if (first === undefined) return [];
    const are = more.length === 0 ? "is" : "are";
    const several = `${more.length + 1} labels and annotations`;
    const whole = more.length === 0 ? "1 label or annotation exceeds" : `${several} exceed`;
    const message =
      exceeded === "count"
        ? `${whole} what the copy can track, and ${are} not copied in either direction; the first is ${first}`
        : `${more.length === 0 ? first : `${several}, the first of which is ${first},`} ${are} too large, and ${are} not copied in either direction: ${SIZE_LIMIT}`;
    return [{ code: "TOO_MANY_KEYS", message }];
  });
}

const SIZE_LIMIT = `all annotations of an object, including the syncer's own, may have at most ${ANNOTATIONS_LENGTH_MAX} bytes`;

/** Returns a new copy without the fields that do not fit. */
export function omitFields(object: KubeObject, left: FieldsWithoutRoom): KubeObject {
  if (left.size === 0) return object;
  const { labels = {}, annotations = {} } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: withoutKeys(labels, (key) => left.has(`labels/${key}`)),
      annotations: withoutKeys(annotations, (key) => left.has(`annotations/${key}`)),
    },
  };
}
