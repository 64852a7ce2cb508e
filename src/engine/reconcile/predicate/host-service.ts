/**
 * Whose a host Service is that this syncer did not make: Endpoints beside it become its backends, so that it must be known to be the
 * Service of the very tenant Service that they belong to. What a tenant writes never crosses under any of the keys that say so.
 *
 * @module
 */
import { formatKey, sameKey } from "../../../kube/object/key.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import { SERVICES } from "../../../kube/object/resource.ts";
import type { Service } from "../../../kube/object/types.ts";
import { isMarkedBySyncer, readForeignMarkers } from "../../translate/foreign-markers.ts";
import { ourMarkers, readCopyMarkers } from "../../translate/identity.ts";
import { STANDS_FOR } from "../../translate/markers.ts";
import type { Rules, Surroundings } from "../rules/rules.ts";

/** `other`: that of the tenant Service `of`. `foreign`: of another virtual cluster. `unknown`: nothing on it says whose it is. */
export type HostServiceOwner = { readonly whose: "this" | "foreign" | "unknown" } | { readonly whose: "other"; readonly of: ObjectKey };

/** Whose `hostService` is, for the tenant Service `key`. Markers go before the word of the operator, which says something of unmarked Services. */
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
