import type { Settings } from "../../engine/config/settings.ts";
import { CONFIG_MAPS, ENDPOINT_SLICES, ENDPOINTS, SECRETS, SERVICES } from "../../kube/object/resource.ts";
import type { ResourceType } from "../../kube/object/resource.ts";

/** Every kind of copy that may exist on a host, whatever is synced now; in order of removal. */
export function copyKinds({ references }: Settings): readonly ResourceType[] {
  const named = references.kinds.flatMap(({ apiVersion, kind, plural }) =>
    plural === undefined ? [] : [{ apiVersion, kind, plural, namespaced: true }],
  );
  // Without its Service, the host would collect Endpoints by itself in between.
  return [ENDPOINTS, ENDPOINT_SLICES, SERVICES, SECRETS, CONFIG_MAPS, ...named];
}
