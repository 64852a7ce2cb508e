import type { Code } from "../../../base/codes.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { parseConcrete } from "../../path/path.ts";
import { applyPatches, applyPatchesInPieces } from "../../patch/apply.ts";
import type { ApplyPatchesOptions } from "../../patch/apply.ts";
import type { LastWritten } from "../../patch/containment.ts";
import type { FoundReference, Outcome } from "../../patch/types.ts";
import { isMarkerKey, readMarkers } from "../../translate/markers.ts";
import { isAsWritten, readBase } from "../agreement/base.ts";
import { withoutKeys } from "../rules/excluded-keys.ts";
import { withoutStamp } from "../agreement/flow-stamp.ts";
import { rememberPatched, seesHostObject } from "./patched.ts";
import type { PatchedBody, PatchedFrom } from "./patched.ts";
import type { Rules, Surroundings } from "../rules/rules.ts";

/** Desired host form of a tenant object, without markers. */
export interface HostBody {
  readonly object: KubeObject;
  readonly outcomes: readonly Outcome[];
  readonly references: readonly FoundReference[];
  readonly refusedAddresses: readonly { readonly ip: string; readonly reason: string }[];
  /** Where something stood that the host's API server would refuse. */
  readonly leftOut: readonly string[];
  /** Why the object must not be written at all. */
  readonly rejected?: string;
  /** Code that reports it. Default EXPRESSION_RESULT. */
  readonly rejectedAs?: Code;
}

/** Input objects of the translation. */
export interface ToHostInput extends Surroundings, PatchedFrom {}

/** Labels that make proxies ignore an object; they may stand on a copy only where the host Service carries them too. */
const PROXY_LABELS = ["service.kubernetes.io/headless", "service.kubernetes.io/service-proxy-name"];

/** Translates and patches one tenant object. Pure: the same input gives the same result. */
export function toHost(rules: Rules, input: ToHostInput): HostBody {
  return withTooManyKeys(rules, input) ?? finished(rules, input, patches.patch(rules, input));
}

/** Like {@link toHost}, but pauses after each value. */
export function* toHostInPieces(rules: Rules, input: ToHostInput): Generator<undefined, HostBody> {
  return withTooManyKeys(rules, input) ?? finished(rules, input, yield* patches.patchInPieces(rules, input));
}

/** Labels and annotations of an object together; a copy has room for some 1,500. Processing more of them would delay all other objects. */
const KEYS_MAX = 10_000;

/** Rejects an object with more labels and annotations than are processed; undefined for any other. */
function withTooManyKeys({ kind }: Rules, { tenant, hostKey }: ToHostInput): HostBody | undefined {
  const { labels = {}, annotations = {} } = tenant.metadata;
  let count = 0;
  for (const map of [labels, annotations]) for (const _key in map) if ((count += 1) > KEYS_MAX) break;
  if (count <= KEYS_MAX) return undefined;
  const { apiVersion, kind: name } = kind.resource;
  return {
    object: { apiVersion, kind: name, metadata: { ...hostKey } },
    ...{ outcomes: [], references: [], refusedAddresses: [], leftOut: [] },
    rejected: `it has more than ${KEYS_MAX} labels and annotations`,
    rejectedAs: "TOO_MANY_KEYS",
  };
}

function finished(rules: Rules, input: ToHostInput, { patched, admission }: PatchedBody): HostBody {
  const rejected = patched.blocked ? "a patch failed and onError is block-object" : admission.rejected;
  return {
    object: withOwnLabels(rules, crossable(rules, admission.object, input), input),
    outcomes: patched.outcomes,
    references: patched.references,
    refusedAddresses: admission.refusedAddresses,
    leftOut: admission.leftOut ?? [],
    ...(rejected !== undefined && { rejected }),
  };
}

/** A write is planned once more when it is done: the results of its patches are still cached then. */
const patches = rememberPatched({
  patch(rules, from) {
    const patched = applyPatches(rules.patches, translate(rules, from.tenant, from.hostKey), patchOptions(rules, from));
    return { patched, admission: rules.kind.admitBody(patched.object, rules) };
  },
  *patchInPieces(rules, from) {
    const translated = translate(rules, from.tenant, from.hostKey);
    const patched = yield* applyPatchesInPieces(rules.patches, translated, patchOptions(rules, from));
    yield;
    return { patched, admission: rules.kind.admitBody(patched.object, rules) };
  },
});

function patchOptions(rules: Rules, { tenant, host }: PatchedFrom): ApplyPatchesOptions {
  return {
    direction: "toHost",
    engine: rules.engine,
    names: rules.names,
    // Values that no expression can see need not be made.
    context: {
      vcluster: rules.vcluster,
      hostObject: seesHostObject(rules) ? visibleHostObject(rules, host) : null,
      virtualObject: withoutStamp(rules, tenant),
    },
    onError: rules.settings.onError,
    fuelMax: rules.settings.objectFuel,
    markerPrefix: rules.translator.markerPrefix,
    namespace: tenant.metadata.namespace ?? "",
    lastWritten: lastWritten(rules, tenant, host),
  };
}

/** The tenant object under its host name, before patches. */
function translate(rules: Rules, tenant: KubeObject, hostKey: ObjectKey): KubeObject {
  const { labels = {}, annotations = {} } = tenant.metadata;
  const metadata = {
    name: hostKey.name,
    namespace: hostKey.namespace,
    labels: rules.translator.labels(withoutKeys(labels, rules.settings.excluded)),
    annotations: withoutKeys(annotations, neverCrosses(rules)),
  };
  const { apiVersion, kind } = rules.kind.resource;
  return { apiVersion, kind, metadata, ...rules.kind.translateBody(tenant, rules.translator) };
}

/** Keys that stay where they are: excluded ones and markers. */
export function neverCrosses(rules: Rules): (key: string) => boolean {
  return (key) => rules.settings.excluded(key) || isMarkerKey(rules.translator.markerPrefix, key);
}

/** The host object that expressions receive: without fields that change on their own and without the engine's own annotations. */
export function visibleHostObject(rules: Rules, host: KubeObject | undefined): KubeObject | null {
  if (host === undefined) return null;
  const { resourceVersion: _resourceVersion, generation: _generation, managedFields: _managedFields, ...metadata } = host.metadata;
  const mine = (key: string) => isMarkerKey(rules.translator.markerPrefix, key);
  return {
    ...host,
    metadata: {
      ...metadata,
      ...(metadata.labels && { labels: withoutKeys(metadata.labels, mine) }),
      ...(metadata.annotations && { annotations: withoutKeys(metadata.annotations, mine) }),
    },
  };
}

/** Drops what a patch may have added under an excluded key, since such keys are never compared either. */
function crossable(rules: Rules, object: KubeObject, { tenant, hostService }: ToHostInput): KubeObject {
  const { labels, annotations } = object.metadata;
  const kept = labels && withoutKeys(labels, rules.settings.excluded);
  const ofTenant = tenant.metadata.labels ?? {};
  const onService = hostService?.metadata.labels ?? {};
  const proxy = PROXY_LABELS.filter((key) => ofTenant[key] !== undefined && ofTenant[key] === onService[key]);
  const allowed = { ...kept, ...Object.fromEntries(proxy.map((key) => [key, ofTenant[key]!])) };
  return {
    ...object,
    metadata: { ...object.metadata, labels: allowed, annotations: withoutKeys(annotations ?? {}, neverCrosses(rules)) },
  };
}

/** Last of all, so that no patch decides to which Service something belongs, or who writes it. */
function withOwnLabels({ kind, translator }: Rules, object: KubeObject, input: ToHostInput): KubeObject {
  if (kind.ownLabelKeys.length === 0) return object;
  const { labels = {} } = object.metadata;
  const kept = withoutKeys(labels, (name) => kind.ownLabelKeys.includes(name));
  const own = Object.entries(kind.ownLabels(input.tenant, { ...input, translator }));
  if (kept === labels && own.length === 0) return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...kept, ...Object.fromEntries(own) } } };
}

/**
 * Labels and annotations that the same patches wrote for the same object before, and that have not been touched since; a failing
 * patch may keep them.
 */
function lastWritten(rules: Rules, tenant: KubeObject, host: KubeObject | undefined): LastWritten {
  // Read only when a patch fails, which is seldom.
  return (place) => {
    if (host === undefined) return undefined;
    const [, field, key] = parseConcrete(place) as ["metadata", "labels" | "annotations", string?];
    const written = asWritten(rules, { tenant, host, field });
    if (key === undefined) return { value: Object.fromEntries(written) };
    return written.has(key) ? { value: written.get(key) } : undefined;
  };
}

function asWritten(
  { translator, configHash }: Rules,
  { tenant, host, field }: { tenant: KubeObject; host: KubeObject; field: "labels" | "annotations" },
): Map<string, string> {
  const markers = readMarkers(translator.markerPrefix, host);
  const base = readBase(translator.markerPrefix, host);
  if (base === undefined || markers?.uid !== tenant.metadata.uid || markers?.configHash !== configHash) return new Map();
  return new Map(Object.entries(host.metadata[field] ?? {}).filter(([key, value]) => isAsWritten(base, `${field}/${key}`, value)));
}
