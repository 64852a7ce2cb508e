/**
 * The base: each field of an object on both sides when they last agreed, as a pair of digests (tenant value, host value). It makes three-way
 * comparisons possible, and is stored on the host object as an annotation, so that it survives a restart.
 *
 * @module
 */
import { sha256Hex } from "../../../base/digest.ts";
import { isRecord } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { isMarkerKey } from "../../translate/markers.ts";
import { TRIGGER_TIME } from "../rules/excluded-keys.ts";
import type { Rules } from "../rules/rules.ts";

/** Name of a field, by the host's key: `labels/app`, `annotations/example.com/x` or `body`. */
export type FieldId = `labels/${string}` | `annotations/${string}` | "body";

/** One field on both sides, as text (the body as its SHA-256); `undefined` if the field is absent. */
export interface ComparedField {
  readonly id: FieldId;
  readonly tenant: string | undefined;
  readonly desired: string | undefined;
  readonly host: string | undefined;
}

/** Per field: the digests of both sides when they last agreed, as `tenant.host`, or as one digest if they are equal. */
export type Base = ReadonlyMap<FieldId, string>;

/** Digest of an absent field. */
export const ABSENT = "-";
const DIGEST_LENGTH = 10;

/** Reads the base of a host object; `undefined` if it has no readable one. */
export function readBase(prefix: string, host: KubeObject): Base | undefined {
  const text = host.metadata.annotations?.[`${prefix}base`];
  if (text === undefined) return undefined;
  return parseDigests(parseNote(text));
}

/** Reads the digests per field; `undefined` if `value` has another form, because the annotation may have been edited. */
export function parseDigests(value: unknown): Base | undefined {
  if (!isRecord(value) || !Object.values(value).every((item) => typeof item === "string")) return undefined;
  return new Map(Object.entries(value) as [FieldId, string][]);
}

/** Parses the data in one of the engine's own annotations; `undefined` if it is unreadable. */
export function parseNote(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the annotation for a base. */
export function writeBase(prefix: string, base: Base): Record<string, string> {
  const members = [...base.keys()].sort().map((id) => `${JSON.stringify(id)}:${JSON.stringify(base.get(id))}`);
  return { [`${prefix}base`]: `{${members.join(",")}}` };
}

/** Returns the number of characters of one field in the text of a base: fewer if both sides are equal. */
export function entryLength(id: FieldId, isSame: boolean): number {
  return JSON.stringify(id).length + (isSame ? DIGEST_LENGTH : 2 * DIGEST_LENGTH + 1) + ENTRY_MARKS;
}

/** Quotes, colon and comma. */
const ENTRY_MARKS = 4;

/** Returns the digests of a field's two sides as text. Either side may be absent. */
export function digestPair(id: FieldId, tenant: string | undefined, host: string | undefined): string {
  const left = digest(id, tenant);
  return pairOf(left, tenant === host ? left : digest(id, host));
}

/** Formats two digests as text: one digest if they are equal. */
export function pairOf(tenant: string, host: string): string {
  return tenant === host ? tenant : `${tenant}.${host}`;
}

/** Parses the text of two digests. */
export function sidesOf(pair: string): { readonly tenant: string; readonly host: string } {
  const [tenant = ABSENT, host = tenant] = pair.split(".");
  return { tenant, host };
}

/** Reports which sides of a field differ from the base. A field that is not in the base was absent on the host. */
export function changedSides(field: ComparedField, base: Base): { tenant: boolean; host: boolean } {
  const known = base.get(field.id);
  if (known === undefined) return { tenant: field.desired !== undefined, host: field.host !== undefined };
  const sides = sidesOf(known);
  return { tenant: digest(field.id, field.tenant) !== sides.tenant, host: digest(field.id, field.host) !== sides.host };
}

/** Reports whether neither the tenant nor a patch has the key: it belongs to the host, and is not undone there. */
export function isForeign({ tenant, desired }: ComparedField): boolean {
  return tenant === undefined && desired === undefined;
}

/** Reports whether a field on the host is unchanged since both sides last agreed. */
export function isAsWritten(base: Base, id: FieldId, host: string): boolean {
  const known = base.get(id);
  return known !== undefined && sidesOf(known).host === digest(id, host);
}

/** Returns the digest of a field. The text of a body is already a digest. */
function digest(id: FieldId, text: string | undefined): string {
  if (text === undefined) return ABSENT;
  return (id === "body" ? text : sha256Hex(text)).slice(0, DIGEST_LENGTH);
}

/** Returns the base of fields that are in their desired state on both sides. Fields that are absent from the host have no entry. */
export function agreedBase(fields: readonly ComparedField[]): Base {
  const base = new Map<FieldId, string>();
  for (const { id, tenant, desired } of fields) if (desired !== undefined) base.set(id, digestPair(id, tenant, desired));
  return base;
}

const NOTHING_WRITTEN: Base = new Map();

/**
 * Returns every field that at least one of the three objects has. A host value that `base` has recorded counts even if its key is not
 * synced, or is no longer synced: a former patch, or a host Service, has set it.
 */
export function comparedFields(
  rules: Rules,
  tenant: KubeObject,
  desired: KubeObject,
  host: KubeObject,
  base: Base = NOTHING_WRITTEN,
): ComparedField[] {
  return [
    ...comparedKeys(rules, "labels", { tenant, desired, host, base }),
    ...comparedKeys(rules, "annotations", { tenant, desired, host, base }),
    {
      id: "body",
      tenant: rules.kind.tenantFingerprint(tenant),
      desired: rules.kind.hostFingerprint(desired),
      host: rules.kind.hostFingerprint(host),
    },
  ];
}

interface Compared {
  readonly tenant: KubeObject;
  readonly desired: KubeObject;
  readonly host: KubeObject;
  readonly base: Base;
}

function comparedKeys({ kind, translator, settings }: Rules, map: "labels" | "annotations", compared: Compared): ComparedField[] {
  const tenant = compared.tenant.metadata[map] ?? {};
  const desired = compared.desired.metadata[map] ?? {};
  const host = compared.host.metadata[map] ?? {};
  const fields: ComparedField[] = [];
  for (const key of Object.keys({ ...desired, ...host })) {
    if (key === TRIGGER_TIME) continue;
    // The engine's own labels and annotations are not compared, whatever the base contains.
    if (!Object.hasOwn(desired, key) && isMarkerKey(translator.markerPrefix, key)) continue;
    const id = `${map}/${key}` as const;
    // Values that the engine alone decides have no counterpart in the tenant.
    const there = map === "annotations" ? key : kind.ownLabelKeys.includes(key) ? undefined : translator.tenantLabelKey(key);
    if (!Object.hasOwn(desired, key)) {
      // A host key to which no tenant key translates belongs to the host, unless it still has the value that the syncer wrote.
      const isComparable = there !== undefined && !settings.excluded(key);
      if (!isComparable && !(compared.base.has(id) && isAsWritten(compared.base, id, host[key]!))) continue;
    }
    fields.push({
      id,
      tenant: there !== undefined && Object.hasOwn(tenant, there) ? tenant[there] : undefined,
      desired: Object.hasOwn(desired, key) ? desired[key] : undefined,
      host: Object.hasOwn(host, key) ? host[key] : undefined,
    });
  }
  return fields;
}
