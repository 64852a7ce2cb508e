/**
 * Plans the copy of one object that reference patches name, for example a Secret. The copy follows its source, and is deleted a while after
 * the last reference to it. Pure, as `plan.ts` is.
 *
 * @module
 */
import { jsonEqual } from "../../../base/json.ts";
import { formatKey, sameKey } from "../../../kube/object/key.ts";
import { SECRETS } from "../../../kube/object/resource.ts";
import { compareResourceVersions } from "../../../kube/object/resource-version.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";
import { formatKind, readMarkers, STANDS_FOR } from "../../translate/markers.ts";
import { UNSEEN_RETRY_MS } from "../machine.ts";
import { isMappedElsewhere } from "../predicate/mapped-elsewhere.ts";
import { sourceVersion, type Note, type Operation, type Plan } from "../plan-types.ts";
import { bodyOf, desiredCopy, differsFrom, newCopy, refreshedCopy } from "./reference-body.ts";
import type { CopyPlace, ReferenceInput, ReferenceRules, SourcedInput } from "./reference-rules.ts";
import { isMarkedBySyncer, namesAnotherCluster, readForeignMarkers } from "../../translate/foreign-markers.ts";

/** The result of {@link planReferenceCopy}. */
export interface ReferencePlan extends Plan {
  /** Delay before the object is planned again although nothing has changed, in milliseconds. */
  readonly againInMs?: number;
  /** True when the copy may be deleted only if it is still not referenced. */
  readonly confirmUnused?: boolean;
  /** For an import: nothing can be planned before it is known which of these tenant namespaces exist. */
  readonly restsOnNamespaces?: readonly string[];
  /** True when only the cluster knows whether the copy still exists, because the cache does not show it. */
  readonly restsOnCopy?: boolean;
  /** For a stale plan: the cached state of the source suffices while its cluster cannot be reached. */
  readonly cacheSuffices?: boolean;
}

/** Types of Secrets that grant access to their own cluster. */
const CREDENTIAL_TYPES: readonly unknown[] = ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"];

/** Delay before a host object that may be meant for another tenant object is checked again, in milliseconds. */
const FOREIGN_AGAIN_MS = 60_000;

/**
 * Decides what to do about one referenced object. After the operations are applied, planning again yields no operations.
 *
 * @example
 * planReferenceCopy(rules, { kind, key, hostKey, source: secret, target: undefined, unusedMs: undefined }).operations[0].action; // "create"
 */
export function planReferenceCopy(rules: ReferenceRules, input: ReferenceInput): ReferencePlan {
  const { source, unusedMs } = input;
  if (unusedMs !== undefined) return planUnused(rules, { ...input, unusedMs });
  const restsOnNamespaces = source === undefined ? [] : (input.namesakes ?? namesakes(rules, { ...input, source }));
  if (restsOnNamespaces.length > 0) return { ...answer(input, "waiting"), restsOnNamespaces };
  // A copy must not be treated as a source: it is from before the configuration reversed the direction.
  if (source !== undefined && isReferenceCopy(rules, input, source)) return planTurned(input, source);
  if (source === undefined) return planMissing(rules, input);
  if (source.kind === SECRETS.kind && CREDENTIAL_TYPES.includes(source["type"]))
    return planRefused(rules, input, `is of type ${String(source["type"])}, which gives access to a cluster; it is not copied`);
  const foreign = whyNotImported(rules, { ...input, source });
  // Namespaces are created and deleted unseen.
  if (foreign !== undefined) return { ...planRefused(rules, input, `is not copied: ${foreign}`), againInMs: FOREIGN_AGAIN_MS };
  return planWanted(rules, { ...input, source });
}

function planUnused(rules: ReferenceRules, input: ReferenceInput & { readonly unusedMs: number }): ReferencePlan {
  const { target, unusedMs, known, copyConfirmed, unprovenMs } = input;
  // A list may have omitted the copy. If the copy were forgotten now, it would not be recognized when the next list has it.
  const copy = target ?? known;
  if (copy === undefined && unprovenMs !== undefined && (unprovenMs > 0 || copyConfirmed === undefined))
    return { ...answer(input, "absent"), ...(unprovenMs > 0 ? { againInMs: unprovenMs } : { restsOnCopy: true }) };
  if (!isLiveCopy(rules, input, copy)) return answer(input, "absent");
  const leftMs = rules.retentionMs - unusedMs;
  if (leftMs > 0) return { ...answer(input, target === undefined ? "absent" : "copied"), againInMs: leftMs };
  if (input.deletesHeld === true) return held(input, []);
  if (target === undefined && copyConfirmed === undefined) return { ...answer(input, "absent"), restsOnCopy: true };
  return {
    ...answer(input, "absent", { operations: [deletion(input, copy, "The object is no longer referenced")] }),
    confirmUnused: true,
  };
}

/** Plans for a copy that stays while the delete brake is engaged. */
function held(input: ReferenceInput, notes: readonly Note[]): ReferencePlan {
  const note: Note = { code: "DELETE_BRAKE", message: `Many tenant objects are missing; the copy of ${named(input)} is kept` };
  return { ...answer(input, "waiting", { notes: [...notes, note] }), againInMs: UNSEEN_RETRY_MS };
}

function planTurned(input: ReferenceInput, source: KubeObject): ReferencePlan {
  const notes = [missing(input)];
  if (source.metadata.deletionTimestamp) return answer(input, "waiting", { notes });
  const side = sourceSide(input);
  const operation = { ...deletion(input, source, "The source is now mapped to the place of the copy"), side };
  return answer(input, "waiting", { operations: [operation], notes });
}

function planMissing(rules: ReferenceRules, input: ReferenceInput): ReferencePlan {
  const { target } = input;
  const notes = [missing(input)];
  if (!isLiveCopy(rules, input, target)) return answer(input, "waiting", { notes });
  if (input.deletesHeld === true) return held(input, notes);
  return answer(input, "waiting", { operations: [{ ...deletion(input, target, "The source is gone"), confirm: "absent" }], notes });
}

function planRefused(rules: ReferenceRules, input: ReferenceInput, reason: string): ReferencePlan {
  const notes: Note[] = [{ code: "REFERENCE_REFUSED", message: `${named(input)} ${reason}` }];
  const { target } = input;
  if (!isLiveCopy(rules, input, target)) return answer(input, "refused", { notes });
  return answer(input, "refused", { operations: [deletion(input, target, "Copying the source is no longer allowed")], notes });
}

function planWanted(rules: ReferenceRules, input: SourcedInput): ReferencePlan {
  const { target } = input;
  const side = targetSide(input);
  const desired = desiredCopy(rules, input);
  if (target === undefined) {
    // A client that deleted the copy may know that its source is gone. A stale cache would bring the copy back forever.
    const { known, sourceConfirmed } = input;
    if (known !== undefined && !sourceConfirmed) return { ...answer(input, "stale"), cacheSuffices: !isStale(rules, input, known) };
    const reason = "The referenced object has no copy";
    return answer(input, "copied", { operations: [{ action: "create", side, object: newCopy(rules, input, desired), reason }] });
  }
  const isOurs = isReferenceCopy(rules, input, target);
  if (!isOurs && !isOfMovedSource(rules, input, target)) return planForeign(rules, { ...input, target });
  if (target.metadata.deletionTimestamp) return answer(input, "waiting");
  if (isOurs && isStale(rules, input, target)) return answer(input, "stale");
  const difference = differsFrom(rules, input, { target, desired });
  if (difference === "recreate") {
    return answer(input, "copied", {
      operations: [deletion(input, target, "A field that cannot be changed differs; the copy is recreated")],
    });
  }
  if (difference === "none") return answer(input, "copied");
  const restores = input.writtenFrom === sourceVersion(input.source);
  const reason = restores ? "Edits of the copy are undone" : "The source changed";
  const object = refreshedCopy(rules, input, { target, desired });
  return answer(input, "copied", { operations: [{ action: "update", side, object, reason, ...(restores && { restores }) }] });
}

/** Reports whether the copy in this place is from before its namespace was remapped: it is replaced in one write, as for other kinds. */
function isOfMovedSource(rules: ReferenceRules, input: SourcedInput, target: KubeObject): boolean {
  const { resource } = input.kind;
  const other = targetSide(input) === "host" ? ourMarkers(rules, target, resource) : undefined;
  return other !== undefined && isMappedElsewhere(rules.translator, resource, other, input.hostKey);
}

/** Plans for an object in the place of the copy that is not ours. With the same content, it serves as the copy. */
function planForeign(rules: ReferenceRules, input: SourcedInput & { readonly target: KubeObject }): ReferencePlan {
  const { target, source, kind } = input;
  const isHost = targetSide(input) === "host";
  const other = isHost ? ourMarkers(rules, target, kind.resource) : undefined;
  if (other !== undefined) {
    const message = `${named(input)} and "${formatKey(other)}" have the same name on the host`;
    return answer(input, "refused", { notes: [{ code: "NAME_COLLISION", message }] });
  }
  if (jsonEqual(bodyOf(source), bodyOf(target))) return answer(input, "left");
  const where = isHost ? "on the host with the name of the copy" : "in the tenant cluster";
  const message = `${named(input)} is not copied: another object, which the syncer does not manage, exists ${where}`;
  return answer(input, "refused", { notes: [{ code: "REFERENCE_FOREIGN", message }] });
}

/** The fence: a cache that lags behind the copied version must not undo it. */
function isStale({ translator }: ReferenceRules, { source, sourceConfirmed }: SourcedInput, target: KubeObject): boolean {
  const copied = readMarkers(translator.markerPrefix, target)!.resourceVersion;
  const cached = source.metadata.resourceVersion;
  return !sourceConfirmed && copied !== undefined && cached !== undefined && compareResourceVersions(cached, copied) < 0;
}

/** Reports whether an object on either side is our copy of exactly the planned object. */
export function isReferenceCopy(rules: ReferenceRules, { kind, key, hostKey }: CopyPlace, object: KubeObject): boolean {
  const markers = readMarkers(rules.translator.markerPrefix, object);
  return (
    markers !== undefined &&
    whose(rules, markers) === "ours" &&
    markers.kind === formatKind(kind.resource) &&
    sameKey(markers, key) &&
    sameKey({ namespace: markers.hostNamespace, name: markers.hostName }, hostKey)
  );
}

function isLiveCopy(rules: ReferenceRules, input: ReferenceInput, object: KubeObject | undefined): object is KubeObject {
  return object !== undefined && !object.metadata.deletionTimestamp && isReferenceCopy(rules, input, object);
}

/** Returns the cluster of the source. */
export function sourceSide({ kind }: Pick<ReferenceInput, "kind">): "tenant" | "host" {
  return kind.direction === "toHost" ? "tenant" : "host";
}

/** Returns the cluster of the copy. */
export function targetSide({ kind }: Pick<ReferenceInput, "kind">): "tenant" | "host" {
  return kind.direction === "toHost" ? "host" : "tenant";
}

function deletion(input: ReferenceInput, { metadata }: KubeObject, reason: string): Extract<Operation, { action: "delete" }> {
  const { uid, resourceVersion, name = "", namespace = "" } = metadata;
  const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
  return { action: "delete", side: targetSide(input), key: { namespace, name }, preconditions, reason, confirm: "none" };
}

/** Returns the note about a missing source. It contains no host name, because it becomes an Event in the tenant cluster. */
function missing(input: ReferenceInput): Note {
  const { kind } = input.kind.resource;
  const isFromHost = sourceSide(input) === "host";
  const setting = isFromHost ? SWITCHES[kind] : undefined;
  const where = isFromHost ? "on the host, from which the configuration copies it" : "in the tenant cluster";
  const remedy = setting === undefined ? "" : `. To copy the tenant's ${kind}, set ${setting}: true`;
  return { code: "REFERENCE_MISSING", message: `${named(input)} does not exist ${where}${remedy}` };
}

/** Settings that reverse the direction of a kind. */
const SWITCHES: Readonly<Record<string, string | undefined>> = {
  Secret: "sync.toHost.secrets.enabled",
  ConfigMap: "sync.toHost.configMaps.enabled",
};

function named({ kind, key }: CopyPlace): string {
  return `${kind.resource.kind} "${formatKey(key)}"`;
}

function answer({ hostKey }: ReferenceInput, state: Plan["state"], parts: Partial<ReferencePlan> = {}): ReferencePlan {
  return { state, hostKey, operations: [], notes: [], outcomes: [], references: [], ...parts };
}

/**
 * Separates the parts of a shared host name, and may also occur within each of them. Host names are therefore not unique:
 * `db-x-shop-x-a-x-blue` is `db-x-shop` of namespace `a`, and `db` of namespace `shop-x-a`.
 */
const JOINT = "-x-";

/**
 * Returns the other tenant namespaces whose imports can have the same host name, whether or not these namespaces exist. Empty if the host
 * operator has stated which one is meant.
 *
 * @example
 * namesakes(rules, { kind, key: { namespace: "a", name: "db-x-shop" }, hostKey, source }); // ["shop-x-a"]
 */
function namesakes(rules: ReferenceRules, { kind, key, hostKey, source }: SourcedInput): readonly string[] {
  const { translator } = rules;
  if (kind.direction === "toHost" || wordOf(rules, { key }, source) !== undefined) return [];
  const joined = `${key.name}${JOINT}${key.namespace}`;
  const found = new Set<string>();
  for (let at = joined.indexOf(JOINT); at >= 0; at = joined.indexOf(JOINT, at + 1)) {
    const other = { name: joined.slice(0, at), namespace: joined.slice(at + JOINT.length) };
    const place = other.name === "" || other.namespace === "" ? undefined : translator.toHost(other, kind.resource);
    if (!sameKey(other, key) && place !== undefined && sameKey(place, hostKey)) found.add(other.namespace);
  }
  return [...found];
}

/** Returns the host operator's statement about an object: that it is meant for this tenant object, or for another one. */
function wordOf(
  { translator }: ReferenceRules,
  { key }: Pick<SourcedInput, "key">,
  { metadata }: KubeObject,
): "this" | "another" | undefined {
  const said = metadata.annotations?.[translator.markerPrefix + STANDS_FOR];
  return said === undefined ? undefined : said === formatKey(key) ? "this" : "another";
}

/** Returns why a source on the host must not be copied to the tenant, in words that reveal nothing about the host; undefined if it may. */
function whyNotImported(rules: ReferenceRules, input: SourcedInput): string | undefined {
  const { kind, key, source, namesakeExists } = input;
  if (kind.direction === "toHost") return undefined;
  const { vcluster, markerPrefix } = rules.translator;
  const about = { vcluster: vcluster.name, resource: kind.resource, ownPrefix: markerPrefix };
  const [theirs] = readForeignMarkers(source, about);
  const isTheirs = theirs !== undefined ? !sameKey(theirs, key) : isMarkedBySyncer(source) || namesAnotherCluster(source, about);
  if (isTheirs) return "the object on the host has another owner";
  const word = wordOf(rules, input, source);
  if (word === "another") return "the object on the host is meant for another tenant object";
  if (word === "this" || namesakeExists !== true) return undefined;
  return `several tenant objects can have this name on the host. If the object on the host is for this one, the host's operator must set its annotation ${markerPrefix}${STANDS_FOR} to "${formatKey(key)}"`;
}
