import { finish } from "../../../base/finish.ts";
import type { Code } from "../../../base/codes.ts";
import { sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { parseConcrete } from "../../path/path.ts";
import { applyPatchesInPieces, type ApplyPatchesOptions, type PatchedObject } from "../../patch/apply.ts";
import type { FoundReference, Outcome } from "../../patch/types.ts";
import { isMarkerKey, readMarkers } from "../../translate/markers.ts";
import { isAsWritten, readBase } from "../agreement/base.ts";
import { withoutKeys } from "../rules/excluded-keys.ts";
import { withoutStamp } from "../agreement/flow-stamp.ts";
import type { Rules, Surroundings, AllowedBody } from "../rules/rules.ts";
import { remembered } from "../rules/remembered.ts";

/** Desired host form of a tenant object, without markers. */
export interface HostBody {
  readonly object: KubeObject;
  readonly outcomes: readonly Outcome[];
  readonly references: readonly FoundReference[];
  readonly refusedAddresses: readonly { readonly ip: string; readonly reason: string }[];
  /** Paths of removed values that the host's API server would refuse. */
  readonly leftOut: readonly string[];
  /** Reason why the object must not be written at all. */
  readonly rejected?: string;
  /** Code of the note with that reason. Default EXPRESSION_RESULT. */
  readonly rejectedAs?: Code;
}

/** Input objects of the translation. */
export interface ToHostInput extends Surroundings, PatchedFrom {}

/** Labels that make proxies ignore an object; a copy may have them only if the host Service has them too. */
const PROXY_LABELS = ["service.kubernetes.io/headless", "service.kubernetes.io/service-proxy-name"];

/** Translates and patches one tenant object. Pure: the same input gives the same result. */
export function toHost(rules: Rules, input: ToHostInput): HostBody {
  return finish(toHostInPieces(rules, input));
}

/** Like {@link toHost}, but pauses after each value. */
export function* toHostInPieces(rules: Rules, input: ToHostInput): Generator<undefined, HostBody> {
  return withTooManyKeys(rules, input) ?? finished(rules, input, yield* patchedBody(rules, input));
}

/** Maximum number of labels and annotations of an object. A copy has room for about 1,500; processing more would delay other objects. */
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
  const { kind, settings, translator } = rules;
  const { object } = admission;
  // A patch may have added an excluded key, and excluded keys are never compared.
  const annotations = withoutKeys(object.metadata.annotations ?? {}, neverCrosses(rules));
  let labels = withoutKeys(object.metadata.labels ?? {}, settings.excluded);
  const ofTenant = input.tenant.metadata.labels ?? {};
  const onService = input.hostService?.metadata.labels ?? {};
  for (const key of PROXY_LABELS) {
    const value = ofTenant[key];
    if (value !== undefined && value === onService[key]) labels = { ...labels, [key]: value };
  }
  // These labels are set last, so that no patch decides which Service an object belongs to, or which controller writes it.
  if (kind.ownLabelKeys.length > 0) {
    const kept = withoutKeys(labels, (key) => kind.ownLabelKeys.includes(key));
    labels = { ...kept, ...kind.ownLabels(input.tenant, { ...input, translator }) };
  }
  const rejected = patched.blocked ? "a patch failed and onError is block-object" : admission.rejected;
  return {
    object: { ...object, metadata: { ...object.metadata, labels, annotations } },
    outcomes: patched.outcomes,
    references: patched.references,
    refusedAddresses: admission.refusedAddresses,
    leftOut: admission.leftOut ?? [],
    ...(rejected !== undefined && { rejected }),
  };
}

function patchOptions(rules: Rules, { tenant, host }: PatchedFrom): ApplyPatchesOptions {
  return {
    direction: "toHost",
    engine: rules.engine,
    names: rules.names,
    // A value that no expression can read is not computed.
    context: {
      vcluster: rules.vcluster,
      hostObject: seesHostObject(rules) ? visibleHostObject(rules, host) : null,
      virtualObject: withoutStamp(rules, tenant),
    },
    onError: rules.settings.onError,
    fuelMax: rules.settings.objectFuel,
    markerPrefix: rules.translator.markerPrefix,
    namespace: tenant.metadata.namespace ?? "",
    // Labels and annotations that the same patches wrote for the same object before, and that have not changed since; a failing patch may
    // keep them. They are read only when a patch fails, which is rare.
    lastWritten(place) {
      if (host === undefined) return undefined;
      const [, field, key] = parseConcrete(place) as ["metadata", "labels" | "annotations", string?];
      const written = asWritten(rules, { tenant, host, field });
      if (key === undefined) return { value: Object.fromEntries(written) };
      return written.has(key) ? { value: written.get(key) } : undefined;
    },
  };
}

/** Returns the tenant object under its host name, before patches. */
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

/** Returns a test for the keys that are never copied to the other side: excluded keys and markers. */
export function neverCrosses(rules: Rules): (key: string) => boolean {
  return (key) => rules.settings.excluded(key) || isMarkerKey(rules.translator.markerPrefix, key);
}

/** Returns the host object that expressions receive: without fields that change on their own, and without markers. */
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

function asWritten(
  { translator, configHash }: Rules,
  { tenant, host, field }: { tenant: KubeObject; host: KubeObject; field: "labels" | "annotations" },
): Map<string, string> {
  const markers = readMarkers(translator.markerPrefix, host);
  const base = readBase(translator.markerPrefix, host);
  if (base === undefined || markers?.uid !== tenant.metadata.uid || markers?.configHash !== configHash) return new Map();
  return new Map(Object.entries(host.metadata[field] ?? {}).filter(([key, value]) => isAsWritten(base, `${field}/${key}`, value)));
}

/** Everything that the patches of one object can depend on, besides the rules. The objects must not change. */
export interface PatchedFrom {
  readonly tenant: KubeObject;
  readonly host: KubeObject | undefined;
  readonly hostKey: ObjectKey;
}

/** A patched object, and the part of it that may be written. */
export interface PatchedBody {
  readonly patched: PatchedObject;
  readonly admission: AllowedBody;
}

/** Number of cached results per kind: for the objects of all workers, and for some whose own write has not been seen yet. */
export const REMEMBERED_MAX = 64;

interface Remembered extends PatchedBody {
  readonly from: PatchedFrom;
  /** False if the result is valid for one host object only. */
  readonly forAnyHost: boolean;
}

/** Cached results under one set of rules, oldest first. */
type Memory = Map<KubeObject, Remembered>;

/** Reports whether an `expression` can read the host object. */
export const seesHostObject = remembered(({ engine, patches }: Rules): boolean =>
  patches.some(({ expression }) => expression !== undefined && (engine.readsHostObject?.(expression) ?? true)),
);

/** Cached results, by their rules. */
const memoryOf = remembered((_rules: Rules): Memory => new Map());

/**
 * Returns the patched object. The cached result for the same tenant object, rules and host key is used; the host object must be the same
 * too if an expression can read it, or if a patch failed and may keep the current value. Every write is planned a second time to prove that
 * nothing is left to do; evaluating all expressions again for that would double the cost of a change.
 */
function* patchedBody(rules: Rules, { tenant, host, hostKey }: PatchedFrom): Generator<undefined, PatchedBody> {
  // The lookup of a reference is recorded for the reverse direction, and must not be skipped.
  const memory = rules.patches.every(({ reference }) => reference === undefined) ? memoryOf(rules) : undefined;
  const known = memory?.get(tenant);
  if (known !== undefined && (known.forAnyHost || host === known.from.host) && sameKey(hostKey, known.from.hostKey)) return known;
  const translated = translate(rules, tenant, hostKey);
  const patched =
    rules.patches.length === 0
      ? { object: translated, outcomes: [], references: [], blocked: false }
      : yield* applyPatchesInPieces(rules.patches, translated, patchOptions(rules, { tenant, host, hostKey }));
  yield;
  const made = { patched, admission: rules.kind.admitBody(patched.object, rules) };
  if (memory === undefined) return made;
  memory.delete(tenant);
  const hasFailed = patched.outcomes.some(({ failures = [] }) => failures.length > 0);
  memory.set(tenant, { ...made, from: { tenant, host, hostKey }, forAnyHost: !seesHostObject(rules) && !hasFailed });
  if (memory.size > REMEMBERED_MAX) memory.delete(memory.keys().next().value!);
  return made;
}
