/**
 * Finds deviations on the host: every copy is derived again, by a preview, and compared with the object there.
 *
 * @module
 */
import { formatKey, keyOf, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, qualifiedPlural, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import type { Translator } from "../../translate/translator.ts";
import type { LeftSlice } from "../backends/left-slices.ts";
import type { ClusterView } from "./cluster-view.ts";
import { objectChanges, type ObjectChange } from "./object-changes.ts";
import type { InvisibleBackends } from "./invisible-backends.ts";
import type { MarkedCopy } from "./marked-copies.ts";
import type { Preview } from "./preview.ts";
import type { SyncRecord } from "../state/status-records.ts";
import { parseSyncId, syncId } from "../state/sync-id.ts";

/** Kinds of findings for one object. */
export type FindingKind =
  /** One of our copies whose source is deleted. */
  | "orphan"
  /** One of our copies that differs from its desired state. */
  | "stale"
  /** A foreign object has the name of a copy. */
  | "foreign"
  /** The copy of another tenant object has the name. */
  | "collision"
  /** One of our copies that is not synced, or no longer, although its source exists or is not checked. */
  | "leftover"
  /** A copy is missing. */
  | "missing"
  /** Its backends are not what readers on the host see. */
  | "invisible";

/** One object that is not as it should be. */
export interface AuditFinding {
  readonly finding: FindingKind;
  readonly resource: ResourceType;
  /** Undefined when the object is not mapped to the host. */
  readonly host: ObjectKey | undefined;
  /** The tenant object that it is, or would be, the copy of. */
  readonly tenant: ObjectKey;
  readonly message: string;
}

/** Input of the comparison. */
export interface AuditOptions {
  readonly preview: Preview;
  readonly tenant: ClusterView;
  readonly host: ClusterView;
  readonly translator: Translator;
  /** Every kind of which there may be copies. */
  readonly kinds: readonly ResourceType[];
  /** All of our copies on the host, including those of kinds that are not synced. */
  readonly copies: readonly MarkedCopy[];
  /** Services whose backends readers on the host do not see. Default none. */
  readonly invisible?: readonly InvisibleBackends[];
  /** Slices on the host that were made from copies of Endpoints and are not kept up to date. Default none. */
  readonly left?: readonly LeftSlice[];
}

/**
 * Returns all findings, ordered by kind and name.
 *
 * @example
 * auditCopies({ preview: await preview(options), tenant, host, translator, kinds, copies }).map(({ finding }) => finding); // ["stale"]
 */
export function auditCopies(options: AuditOptions): AuditFinding[] {
  const written = objectChanges(options.preview.writes, options).map((change) => changeFinding(options, change));
  const noted = options.preview.records.flatMap((record) => notedFinding(options, record) ?? []);
  const standing = options.copies.flatMap((copy) => standingFinding(options, copy) ?? []);
  const invisible = (options.invisible ?? []).map(invisibleFinding);
  const left = (options.left ?? []).map(leftFinding);
  // Each object has one finding, besides the finding about its readers. Pending writes are the most specific and replace the others.
  const byPlace = new Map([...left, ...standing, ...noted, ...written, ...invisible].map((finding) => [placeText(finding), finding]));
  return [...byPlace].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, finding]) => finding);
}

function placeText({ finding, resource, host, tenant }: AuditFinding): string {
  const place = [qualifiedPlural(resource), host === undefined ? `tenant ${formatKey(tenant)}` : formatKey(host)];
  return [...place, ...(finding === "invisible" ? [finding] : [])].join(" ");
}

function invisibleFinding({ tenant, host, note: { code, message } }: InvisibleBackends): AuditFinding {
  return { finding: "invisible", resource: SERVICES, tenant, host, message: `${code}: ${message}` };
}

function leftFinding({ host, tenant, message }: LeftSlice): AuditFinding {
  return { finding: "leftover", resource: ENDPOINT_SLICES, tenant, host, message };
}

/** Returns the finding for an object that a run would write. A host edit that would be synced back is a finding for the copy on the host. */
function changeFinding(
  { tenant, translator }: AuditOptions,
  { id, side, resource, key, reasons, before, after }: ObjectChange,
): AuditFinding {
  const source = parseSyncId(id).key;
  const host = side === "host" ? key : translator.toHost(source, resource);
  const shared = { resource, host, tenant: source, message: [...new Set(reasons)].join("; ") };
  if (before === undefined) return { ...shared, finding: "missing" };
  if (after !== undefined) return { ...shared, finding: "stale" };
  const hasSource = side === "host" && tenant.before(resource, source) !== undefined;
  return { ...shared, finding: hasSource ? "leftover" : "orphan" };
}

/** Obstacles to making a copy or keeping it current. */
const OBSTACLES = new Map<string, FindingKind>([
  ["NAME_COLLISION", "collision"],
  ["HOST_OBJECT_FOREIGN", "foreign"],
  ["REFERENCE_FOREIGN", "foreign"],
  ["HOST_NAMESPACE_MISSING", "missing"],
]);

function notedFinding(
  { host, kinds }: AuditOptions,
  { resource: plural, tenantKey, hostKey, state, notes }: SyncRecord,
): AuditFinding | undefined {
  const resource = kinds.find((kind) => kind.plural === plural || qualifiedPlural(kind) === plural);
  if (resource === undefined) return undefined;
  const shared = { resource, host: hostKey, tenant: tenantKey };
  const obstacle = notes.find(({ code }) => OBSTACLES.has(code));
  if (obstacle !== undefined) return { ...shared, finding: OBSTACLES.get(obstacle.code)!, message: obstacle.message };
  if (state !== "refused") return undefined;
  const stands = hostKey !== undefined && host.before(resource, hostKey) !== undefined;
  return { ...shared, finding: stands ? "stale" : "missing", message: notes.map(({ message }) => message).join("; ") };
}

/** Returns the finding for an existing copy that a run would leave in place although it should not be there. */
function standingFinding(
  { preview, translator }: AuditOptions,
  { resource, object, source: markers }: MarkedCopy,
): AuditFinding | undefined {
  const source = { namespace: markers.namespace, name: markers.name };
  const shared = { resource, host: keyOf(object), tenant: source };
  if (object.metadata.deletionTimestamp) return { ...shared, finding: "leftover", message: `It is being deleted${heldBy(object)}` };
  const place = translator.toHost(source, resource);
  if (place === undefined || !sameKey(place, keyOf(object))) {
    const belongs = place === undefined ? "is not mapped to the host" : `has its copy at ${formatKey(place)}`;
    return { ...shared, finding: "leftover", message: `The tenant object ${belongs} now; a cleanup removes this copy` };
  }
  if (isReferenced(preview, resource, source)) return undefined;
  const look = preview.looks.get(syncId(resource.plural, source));
  if (look === undefined || !look.rules.enabled) {
    return { ...shared, finding: "leftover", message: `${resource.kind} objects are not synced; a cleanup removes this copy` };
  }
  if (look.input.tenant !== undefined) return undefined;
  return { ...shared, finding: "orphan", message: look.plan.notes[0]?.message ?? "The tenant object is gone" };
}

/** Reports whether an object is a referenced one: these have records, but no plans of their own. */
function isReferenced({ records, looks }: Preview, resource: ResourceType, key: ObjectKey): boolean {
  if (looks.has(syncId(resource.plural, key))) return false;
  return records.some((record) => record.resource === qualifiedPlural(resource) && formatKey(record.tenantKey) === formatKey(key));
}

function heldBy({ metadata: { finalizers = [] } }: KubeObject): string {
  return finalizers.length === 0 ? "" : `, and held by ${finalizers.join(", ")}`;
}
