/**
 * Limits the labels and annotations of a copy. The base records each of them, and an API server limits the total size of the annotations
 * of one object. The body always fits: addresses are synced regardless of the annotations.
 *
 * @module
 */
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import { entryLength } from "../agreement/base.ts";
import type { Unit, UnitId } from "../agreement/base.ts";
import { withoutKeys } from "../rules/excluded-keys.ts";
import type { Note } from "../plan-types.ts";
import type { Rules } from "../rules/rules.ts";

/** Longest text of a base, in bytes. Annotations of the tenant need room beside it. */
export const BASE_LENGTH_MAX = 64 * 1024;

/** Bytes that all annotations of one object may have, keys and values together: more is refused by API servers. */
export const ANNOTATIONS_LENGTH_MAX = 256 * 1024;

/** Present or desired metadata of a copy. */
export interface CopyMetadata {
  readonly units: readonly Unit[];
  /** Host edits that are to flow; the value that counts is the host's. */
  readonly edits: readonly Unit[];
  /** Annotations of the copy beside the units and the base. Read only if there may be too many. */
  readonly others: () => StringMap;
  /** All annotations that the copy has now. */
  readonly standing: StringMap | undefined;
  /** None of the units is on the host yet. Default false. */
  readonly fresh?: boolean;
}

const NONE: ReadonlySet<UnitId> = new Set();

/**
 * The labels and annotations without room: they are not written, and stay as they are on the host. Keys that only the
 * engine sets come first, then labels, then annotations, each by their keys; and edits under keys that only the host has come last.
 */
export function unitsWithoutRoom(rules: Rules, wanted: CopyMetadata): ReadonlySet<UnitId> {
  if (fitsAtOnce(wanted)) return NONE;
  const edited = new Set(wanted.edits.map(({ id }) => id));
  const standing = (unit: Unit) => (wanted.fresh === true ? 0 : lengthOn(unit, unit.host));
  const candidates = wanted.units.flatMap((unit) => {
    const value = edited.has(unit.id) ? unit.host : unit.desired;
    return value === undefined ? [] : [{ unit, value, isNew: unit.desired === undefined, rank: rankOf(rules, unit) }];
  });
  const inOrder = candidates.sort((left, right) => Number(left.isNew) - Number(right.isNew) || (left.rank < right.rank ? -1 : 1));
  let total = annotationsLength(wanted.others()) + inOrder.reduce((sum, { unit }) => sum + standing(unit), 0);
  let base = 0;
  // For new keys, every part counts as if both sides had digests of their own: applied host edits must not make room for more.
  let widest = 0;
  const left = new Set<UnitId>();
  for (const { unit, value, isNew } of inOrder) {
    const wide = entryLength(unit.id, false);
    const entry = isNew ? wide : entryLength(unit.id, unit.tenant === value);
    const more = entry + lengthOn(unit, value) - standing(unit);
    const fits = (isNew ? widest : base) + entry <= BASE_LENGTH_MAX && total + more <= ANNOTATIONS_LENGTH_MAX;
    if ((!fits || (isNew && left.size > 0)) && unit.id !== "body") {
      left.add(unit.id);
      continue;
    }
    base += entry;
    widest += wide;
    total += more;
  }
  return left;
}

/** Most objects are far from any limit, and every plan checks. */
function fitsAtOnce({ units, standing }: CopyMetadata): boolean {
  let entries = 0;
  let characters = MARKERS_LENGTH_MAX;
  for (const { id, desired = "", host = "" } of units) {
    entries += entryLength(id, false);
    characters += id.length + desired.length + host.length;
  }
  for (const key in standing) characters += key.length + standing[key]!.length;
  return entries <= BASE_LENGTH_MAX && entries + BYTES_PER_CHARACTER * characters <= ANNOTATIONS_LENGTH_MAX;
}

const BYTES_PER_CHARACTER = 3;

/** More characters than the markers of a copy can have: names, namespaces and kinds are short. */
const MARKERS_LENGTH_MAX = 8 * 1024;

/** Sorts by importance, then by key. */
function rankOf({ kind }: Rules, { id }: Unit): string {
  if (id === "body") return "0";
  const isOwn = kind.ownLabelKeys.some((key) => id === `labels/${key}`);
  return isOwn ? `1${id}` : id.startsWith("labels/") ? `2${id}` : `3${id}`;
}

function lengthOn({ id }: Unit, value: string | undefined): number {
  if (value === undefined || !id.startsWith("annotations/")) return 0;
  return byteLength(id) - "annotations/".length + byteLength(value);
}

/** Total bytes of the annotations, as API servers count them. */
export function annotationsLength(annotations: StringMap = {}): number {
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Notes on parts without room; empty if there are none. */
export function roomNotes(left: Iterable<UnitId>): Note[] {
  const ids = [...left].sort();
  if (ids.length === 0) return [];
  const count = ids.length === 1 ? "1 label or annotation is" : `${ids.length} labels and annotations are`;
  return [
    {
      code: "TOO_MANY_KEYS",
      message: `${count} more than the copy can track, and not copied in either direction; the first is ${ids[0]!}`,
    },
  ];
}

/** A new copy without the parts that have no room. */
export function withoutUnits(object: KubeObject, left: ReadonlySet<UnitId>): KubeObject {
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
