import { sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Translator } from "../../translate/translator.ts";

/**
 * Reports whether a tenant object belongs to a place other than `hostKey`, or to none: a copy at `hostKey` then dates from before the
 * namespace was remapped.
 */
export function isMappedElsewhere(translator: Translator, resource: ResourceType, source: ObjectKey, hostKey: ObjectKey): boolean {
  const place = translator.toHost(source, resource);
  return place === undefined || !sameKey(place, hostKey);
}
