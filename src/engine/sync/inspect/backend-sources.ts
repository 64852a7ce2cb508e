import { viewOfSlices } from "../../../kube/object/endpoints/reader-view.ts";
import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, SERVICES } from "../../../kube/object/resource.ts";
import type { EndpointSlice, KubeObject } from "../../../kube/object/types.ts";
import { madeFrom } from "../../kinds/made-slices.ts";
import { MIRROR, serviceOfSlice, SLICE_MANAGER } from "../../kinds/slice-labels.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";
import { ourMarkers, whose } from "../../translate/identity.ts";

/** Those slices of a host Service that have the same writer. */
export interface SourceSlices {
  /** Their writer, in words. */
  readonly who: string;
  readonly slices: number;
  /** Number of addresses in them that take traffic. */
  readonly ready: number;
}

const MADE = "slices made by this syncer from its copy of Endpoints";
const COPIED = "copies of the tenant's slices";

/** One tenant Service, and the slices from which readers get the backends of its host Service. */
export interface ServiceSources {
  readonly tenant: ObjectKey;
  readonly host: ObjectKey;
  /** Never empty: one entry "none" if there are no slices. */
  readonly sources: readonly SourceSlices[];
}

/**
 * Returns, for each Service, the slices that readers on the host use, by writer. `services` are tenant keys; Services without a host
 * namespace are left out.
 *
 * @example
 * sourcesOfServices(rules, slices, [{ namespace: "shop", name: "db" }])[0]?.sources; // [{ who: "the host's mirror", slices: 1, ready: 3 }]
 */
export function sourcesOfServices(rules: Rules, slices: readonly KubeObject[], services: readonly ObjectKey[]): ServiceSources[] {
  const groups = new Map<string, EndpointSlice[]>();
  for (const slice of slices as readonly EndpointSlice[]) {
    const service = serviceOfSlice(slice);
    if (service === undefined) continue;
    const group = groups.get(formatKey(service));
    if (group === undefined) groups.set(formatKey(service), [slice]);
    else group.push(slice);
  }
  return services.flatMap((tenant) => {
    const host = rules.translator.toHost(tenant, SERVICES);
    return host === undefined ? [] : [{ tenant, host, sources: sourcesAmong(rules, groups.get(formatKey(host)) ?? []) }];
  });
}

const NONE: SourceSlices = { who: "none", slices: 0, ready: 0 };

function sourcesAmong(rules: Rules, slices: readonly EndpointSlice[]): readonly SourceSlices[] {
  if (slices.length === 0) return [NONE];
  const groups = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
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
  const source = madeFrom(rules.translator.markerPrefix, slice);
  if (source !== undefined && whose(rules, source) === "ours") return MADE;
  return manager === MIRROR ? "the host's mirror" : (manager ?? "an unnamed writer");
}
