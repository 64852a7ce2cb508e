import { viewOfSlices } from "../../../kube/object/endpoints/reader-view.ts";
import { sameKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { madeFrom } from "../../kinds/made-slices.ts";
import { MIRROR, serviceOfSlice, SLICE_MANAGER } from "../../kinds/slice-labels.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers } from "../../translate/identity.ts";

/** Some of the slices by which readers on the host know of a Service. */
export interface TellingSlices {
  /** The writer of them there, in words. */
  readonly who: string;
  readonly slices: number;
  /** Addresses in them that take traffic. */
  readonly ready: number;
}

const MADE = "made by this syncer of its copy of Endpoints";
const COPIED = "copies of the tenant's slices";

/**
 * Finds what informs readers of slices on the host about one Service, `hostService`.
 *
 * @example
 * tellersOf(rules, slices, { namespace: "vc-blue", name: "db-x-shop-x-blue" }); // [{ who: "the host's mirror", slices: 1, ready: 3 }]
 */
export function tellersOf(rules: Rules, slices: readonly KubeObject[], hostService: ObjectKey): TellingSlices[] {
  const groups = new Map<string, EndpointSlice[]>();
  for (const slice of slices as readonly EndpointSlice[]) {
    const service = serviceOfSlice(slice);
    if (service === undefined || !sameKey(service, hostService)) continue;
    const who = whoHas(rules, slice);
    groups.set(who, [...(groups.get(who) ?? []), slice]);
  }
  return [...groups].map(([who, own]) => {
    const ready = [...viewOfSlices(own).values()].flatMap((backend) => (backend.ready ? [backend.address] : []));
    return { who, slices: own.length, ready: new Set(ready).size };
  });
}

function whoHas(rules: Rules, slice: EndpointSlice): string {
  const manager = slice.metadata.labels?.[SLICE_MANAGER];
  if (ourMarkers(rules, slice, ENDPOINT_SLICES) !== undefined) return COPIED;
  if (madeFrom(rules.translator.markerPrefix, slice) !== undefined) return MADE;
  return manager === MIRROR ? "the host's mirror" : (manager ?? "somebody who does not say who");
}
