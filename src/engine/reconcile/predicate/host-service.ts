/**
 * Ownership of a host Service that this syncer did not make: Endpoints of the same name become its backends, so it must be the copy of
 * exactly the tenant Service that they belong to. Tenants cannot write any of the keys that record this.
 *
 * @module
 */
import { formatKey, sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import { SERVICES } from "../../../kube/object/resource.ts";
import type { Service } from "../../../kube/object/types.ts";
import { isMarkedBySyncer, readForeignMarkers } from "../../translate/foreign-markers.ts";
import { ourMarkers, readCopyMarkers } from "../../translate/identity.ts";
import { STANDS_FOR } from "../../translate/markers.ts";
import type { Rules, Surroundings } from "../rules/rules.ts";

/** `other`: it belongs to the tenant Service `of`. `foreign`: to another virtual cluster. `unknown`: it names no owner. */
export type HostServiceOwner = { readonly whose: "this" | "foreign" | "unknown" } | { readonly whose: "other"; readonly of: ObjectKey };

/**
 * Returns the owner of `hostService`, as seen from the tenant Service `key`. Markers take precedence over the operator's annotation, which
 * counts only for unmarked Services.
 */
export function hostServiceOwner(
  rules: Rules,
  key: ObjectKey,
  { hostService, ownsHostService }: Surroundings & { readonly hostService: Service },
): HostServiceOwner {
  if (ownsHostService === true) return { whose: "this" };
  const { vcluster, markerPrefix } = rules.translator;
  const copy = ourMarkers(rules, hostService, SERVICES);
  if (copy !== undefined) return sameKey(copy, key) ? { whose: "this" } : { whose: "other", of: copy };
  if (readCopyMarkers(markerPrefix, hostService, SERVICES) !== undefined) return { whose: "foreign" };
  const [theirs] = readForeignMarkers(hostService, { vcluster: vcluster.name, resource: SERVICES, ownPrefix: markerPrefix });
  if (theirs !== undefined) return sameKey(theirs, key) ? { whose: "this" } : { whose: "other", of: theirs };
  if (isMarkedBySyncer(hostService)) return { whose: "foreign" };
  const said = hostService.metadata.annotations?.[markerPrefix + STANDS_FOR];
  return { whose: said === formatKey(key) ? "this" : "unknown" };
}
