import { keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { madeFrom } from "../../kinds/made-slices.ts";
import type { Note } from "../../reconcile/plan-types.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { whose } from "../../translate/identity.ts";
import { MANAGED_BY, managedByValue } from "../../translate/markers.ts";
import type { Translator } from "../../translate/translator.ts";
import { SKIP_MIRROR, SLICE_MANAGER, sliceManager } from "../../kinds/slice-labels.ts";

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
