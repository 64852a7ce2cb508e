/**
 * The stamp on a tenant object records the host edits that were applied to it. It is written in the same request as the edits, so that
 * neither a lost answer nor a killed process can separate them. Until the copy's base is written again, the stamp records the last
 * agreement of both sides.
 *
 * @module
 */
import { sha256Hex } from "../../../base/digest.ts";
import { isRecord } from "../../../base/json.ts";
import { compareResourceVersions } from "../../../kube/object/resource-version.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { readMarkers } from "../../translate/markers.ts";
import { ABSENT, changedSides, digestPair, pairOf, parseDigests, parseNote, sidesOf, type Base, type ComparedField } from "./base.ts";
import type { Rules } from "../rules/rules.ts";

/** Host edits applied from a copy to its source since the copy's base was written. */
export interface Flowed {
  /** Per field: both sides as they were then, in the form of a base. */
  readonly fields: Base;
  /** True if the copy was read as it was before the last edit that was synced back: none of its content is new. */
  readonly isOld: boolean;
}

interface Stamp {
  /** uid of the copy. */
  readonly copy: string;
  /** resourceVersion of the copy. */
  readonly at: string;
  /** resourceVersion of the tenant object that the edits were added to. */
  readonly onto: string;
  /** Digest of the copy's markers and base. */
  readonly marks: string;
  /** Hash of the configuration with which the edits flowed. Earlier versions did not write it. */
  readonly config?: string;
  /** Stored as `units`. */
  readonly fields: Base;
}

const NOTHING: Flowed = { fields: new Map(), isOld: false };
const MARKS_LENGTH = 10;

interface Sides {
  readonly tenant: KubeObject;
  readonly host: KubeObject;
  /** True if a live read found no newer version of the copy. Default false. */
  readonly copyConfirmed?: boolean;
}

/** Returns the annotation key of the stamp. */
function stampKey({ translator }: Rules): string {
  return `${translator.markerPrefix}flowed`;
}

/**
 * Returns the content of the stamp for this copy. Empty once a syncer has written the copy from the edited tenant object, or from a later
 * version, because the base then records the edits. Also empty if the copy is certainly older than the edits, because its cluster was
 * restored or lost acknowledged writes. `fields` are all fields of both objects, `written` is the copy's base.
 */
export function readFlowed(rules: Rules, { tenant, host, copyConfirmed }: Sides, fields: readonly ComparedField[], written: Base): Flowed {
  const stamp = parseStamp(tenant.metadata.annotations?.[stampKey(rules)]);
  if (stamp === undefined) return NOTHING;
  const { resourceVersion: copied, configHash } = readMarkers(rules.translator.markerPrefix, host) ?? {};
  if (copied === undefined || compareResourceVersions(copied, stamp.onto) > 0) return NOTHING;
  if (stamp.copy !== (host.metadata.uid ?? "")) return { fields: fromEarlierCopy(stamp.fields, written), isOld: false };
  const isOlder = compareResourceVersions(host.metadata.resourceVersion ?? "", stamp.at) < 0;
  if (isOlder) return { fields: new Map(), isOld: copyConfirmed !== true };
  // A syncer that did not know the edits wrote the copy after them. With another configuration, it may have undone them: the values that it
  // wrote are not edits. With the same one, it leaves pending edits alone: the values are later edits by users.
  const isRewritten = stamp.marks !== marksOf(rules, host) && stamp.config !== configHash;
  const rewritten = isRewritten ? fields.filter((field) => !changedSides(field, written).host) : [];
  const excepted = new Set(rewritten.map(({ id }) => id));
  return { fields: new Map([...stamp.fields].filter(([id]) => !excepted.has(id))), isOld: false };
}

/**
 * Returns the host edits that flowed from a deleted copy, as a base for the current copy: the tenant object contains them, and the current
 * copy is as it was written. An edit of the current copy is later than that.
 */
function fromEarlierCopy(flowed: Base, written: Base): Base {
  return new Map([...flowed].map(([id, pair]) => [id, pairOf(sidesOf(pair).tenant, sidesOf(written.get(id) ?? ABSENT).host)]));
}

/**
 * Adds a stamp that records the host edits to `object`, which is `tenant` with these edits. Earlier edits stay in the stamp until the
 * copy's base records them. `fields` are the fields of `object` and the copy.
 */
export function stamped(
  rules: Rules,
  { tenant, host }: Sides,
  object: KubeObject,
  flowing: Iterable<ComparedField>,
  before: Base,
): KubeObject {
  const fields = new Map(before);
  for (const field of flowing) fields.set(field.id, digestPair(field.id, field.tenant, field.host));
  const stamp = {
    copy: host.metadata.uid ?? "",
    at: host.metadata.resourceVersion ?? "",
    onto: tenant.metadata.resourceVersion ?? "",
    marks: marksOf(rules, host),
    config: rules.configHash,
    units: Object.fromEntries([...fields].sort(([left], [right]) => (left < right ? -1 : 1))),
  };
  const annotations = { ...object.metadata.annotations, [stampKey(rules)]: JSON.stringify(stamp) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Returns the tenant object that expressions receive: without the stamp, so that earlier host edits do not change their results. */
export function withoutStamp<T extends KubeObject | undefined>(rules: Rules, tenant: T): T {
  const annotations = tenant?.metadata.annotations;
  const key = stampKey(rules);
  if (tenant === undefined || annotations === undefined || !Object.hasOwn(annotations, key)) return tenant;
  const { [key]: _stamp, ...others } = annotations;
  const { annotations: _all, ...metadata } = tenant.metadata;
  return { ...tenant, metadata: { ...metadata, ...(Object.keys(others).length > 0 && { annotations: others }) } };
}

/** Returns a digest of the markers and the base of a copy, which only syncers write. */
function marksOf({ translator: { markerPrefix } }: Rules, host: KubeObject): string {
  const source = readMarkers(markerPrefix, host) ?? {};
  const marks = [
    Object.entries(source).sort(([left], [right]) => (left < right ? -1 : 1)),
    host.metadata.annotations?.[`${markerPrefix}base`],
  ];
  return sha256Hex(JSON.stringify(marks)).slice(0, MARKS_LENGTH);
}

/** Every user who may write the tenant object may write its stamp; an unreadable one counts as none. */
function parseStamp(text: string | undefined): Stamp | undefined {
  const value = text === undefined ? undefined : parseNote(text);
  if (!isRecord(value)) return undefined;
  const { copy, at, onto, marks, config } = value;
  const fields = parseDigests(value["units"]);
  const isText = (item: unknown): item is string => typeof item === "string";
  if (!isText(copy) || !isText(at) || !isText(onto) || !isText(marks) || fields === undefined) return undefined;
  return { copy, at, onto, marks, fields, ...(isText(config) && { config }) };
}
