import { formatKey, keyOf, type ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import { SERVICES_KIND } from "../../kinds/services.ts";
import { MIRROR, serviceOfSlice, SLICE_MANAGER } from "../../kinds/slice-labels.ts";
import { decideAlone } from "../../reconcile/predicate/should-copy.ts";
import type { Rules } from "../../reconcile/rules/rules.ts";

/**
 * Returns the synced Services whose Endpoints, if there are any, readers of slices do not see, because nothing in the tenant seems to mirror
 * Endpoints: Services without a selector and without slices. None if a single slice in the tenant is a mirror's.
 *
 * @example
 * unmirroredServices(rules, services, []).map(({ name }) => name); // ["db"]
 */
export function unmirroredServices(
  [rules]: readonly Rules[],
  services: readonly KubeObject[],
  slices: readonly KubeObject[],
): readonly ObjectKey[] {
  if (rules === undefined || slices.some(({ metadata }) => metadata.labels?.[SLICE_MANAGER] === MIRROR)) return [];
  const sliced = new Set(slices.flatMap((slice) => serviceOfSlice(slice) ?? []).map(formatKey));
  const ofServices = { ...rules, kind: SERVICES_KIND };
  return services.flatMap((service) => {
    const key = keyOf(service);
    if (Object.keys((service as Service).spec?.selector ?? {}).length > 0 || sliced.has(formatKey(key))) return [];
    return decideAlone(ofServices, key, service).action === "copy" ? [key] : [];
  });
}
