import { isEngineError } from "../../../base/errors.ts";
import { formatKey, keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { endpointsBehind, madeFrom } from "../../kinds/made-slices.ts";
import { MIRROR, serviceOfSlice, SKIP_MIRROR, SLICE_MANAGER, sliceManager } from "../../kinds/slice-labels.ts";
import type { Note } from "../../reconcile/plan-types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";
import { MANAGED_BY, managedByValue } from "../../translate/markers.ts";
import type { Translator } from "../../translate/translator.ts";
import type { ClusterAccess } from "../cluster/access.ts";

/**
 * Returns the commands for a host administrator to use if the syncer lacks the permission: they remove slices that were made from copies of
 * Endpoints, and the label that marks these copies.
 *
 * @example
 * removalOfSlices(translator, ["vc-blue"]); // "kubectl delete endpointslices -n vc-blue -l … && kubectl label endpoints -n vc-blue -l … …-"
 */
export function removalOfSlices({ markerPrefix, vcluster }: Translator, namespaces: readonly string[]): string {
  const [first, ...more] = [...new Set(namespaces)];
  const place = first === undefined || more.length > 0 ? "--all-namespaces" : `-n ${first}`;
  const ours = `${markerPrefix}${MANAGED_BY}=${managedByValue(vcluster.name)}`;
  const slices = `kubectl delete endpointslices ${place} -l ${ours},${SLICE_MANAGER}=${sliceManager(markerPrefix)}`;
  return `${slices} && kubectl label endpoints ${place} -l ${ours} ${SKIP_MIRROR}-`;
}

/** A slice on the host that was made from a copy of Endpoints. */
export interface LeftSlice {
  readonly host: ObjectKey;
  readonly tenant: ObjectKey;
  /** Describes the slice, and names the command that removes it. */
  readonly message: string;
}

/**
 * Returns the slices that were made from copies of Endpoints and are no longer kept up to date, because backends: auto is no longer set.
 *
 * @example
 * slicesLeft(rules, slices).map(({ host }) => host.name); // ["db-x-shop-x-blue-0c1d9b2e-0"]
 */
export function slicesLeft(rules: readonly Rules[], slices: readonly KubeObject[]): LeftSlice[] {
  const [identity] = rules;
  if (identity === undefined || rules.some(({ decidesBackends }) => decidesBackends === true)) return [];
  return slices.flatMap((slice) => {
    const source = madeFrom(identity.translator.markerPrefix, slice);
    if (source === undefined || whose(identity, source) !== "ours") return [];
    const { namespace, name } = keyOf(slice);
    const command = `kubectl delete endpointslice -n ${namespace} ${name}`;
    const message = `It was made from the copy of Endpoints and is not kept up to date; set backends: auto again, or remove it with \`${command}\` once other slices show its backends`;
    return [{ host: { namespace, name }, tenant: { namespace: source.namespace, name: source.name }, message }];
  });
}

/**
 * Returns the note to the tenant about the made slices that are left of one Service, without their names on the host.
 *
 * @example
 * leftNote(11).code; // "SLICES_LEFT"
 */
export function leftNote(slices: number): Note {
  const what = slices === 1 ? "1 slice" : `${slices} slices`;
  return {
    code: "SLICES_LEFT",
    message: `Readers on the host get backends from ${what} made from these Endpoints. Nothing updates such slices, because backends: auto is no longer set. Set backends: auto again, or remove the slices that endpoint-sync audit lists`,
  };
}

/** The syncer's slices in a list, by the host key of the copy of Endpoints: a search in all of them for each copy would take too long. */
export interface FoundSlices {
  /** Made from the copy. */
  readonly made: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** Made from it by the host's mirror. */
  readonly mirrored: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** Copies of the tenant's slices beside it. */
  readonly beside: ReadonlyMap<string, readonly EndpointSlice[]>;
}

/** Lists the slices that this syncer writes; undefined without permission to list slices. @throws API_… when the host cannot answer. */
export async function listFoundSlices({ list }: ClusterAccess, rules: Rules): Promise<FoundSlices | undefined> {
  const { translator } = rules;
  const labelSelector = `${translator.markerPrefix}${MANAGED_BY}=${managedByValue(translator.vcluster.name)}`;
  const targets = translator.targetNamespaces();
  const scopes = targets === "all" ? [{}] : targets.map((namespace) => ({ namespace }));
  try {
    const lists = await Promise.all(
      scopes.map((scope) => (list === undefined ? Promise.resolve([]) : list(ENDPOINT_SLICES, { ...scope, labelSelector }))),
    );
    return sorted(rules, lists.flat() as EndpointSlice[]);
  } catch (error) {
    if (isEngineError(error, "API_FORBIDDEN")) return undefined;
    // A cluster without the kind has none of our slices.
    if (isEngineError(error, "API_NOT_FOUND")) return sorted(rules, []);
    throw error;
  }
}

function sorted(rules: Rules, slices: readonly EndpointSlice[]): FoundSlices {
  const prefix = rules.translator.markerPrefix;
  const found = { made: new Map<string, EndpointSlice[]>(), mirrored: new Map<string, EndpointSlice[]>(), beside: new Map() };
  const put = (group: Map<string, EndpointSlice[]>, place: string | undefined, slice: EndpointSlice) => {
    if (place === undefined) return;
    const before = group.get(place);
    if (before === undefined) group.set(place, [slice]);
    else before.push(slice);
  };
  for (const slice of slices) {
    const source = madeFrom(prefix, slice);
    put(found.made, source && whose(rules, source) !== "foreign" ? placeOfSource(source) : undefined, slice);
    if (slice.metadata.labels?.[SLICE_MANAGER] === MIRROR) put(found.mirrored, placeOfSource(endpointsBehind(prefix, slice)), slice);
    const service = ourMarkers(rules, slice, ENDPOINT_SLICES) && serviceOfSlice(slice);
    put(found.beside, service && formatKey(service), slice);
  }
  return found;
}

/** Returns the host key, as text, of the Endpoints that a slice was made from. */
export function placeOfSource(source: ReturnType<typeof madeFrom>): string | undefined {
  return source && formatKey({ namespace: source.hostNamespace, name: source.hostName });
}
