import type { Settings } from "../../engine/config/settings.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import { CONFIG_MAPS, SECRETS, SERVICES, type ResourceType } from "../../kube/object/resource.ts";

/** Every kind of copy that may exist on a host, even if the kind is no longer synced, in the order in which copies are removed. */
export function copyKinds({ references }: Settings, synced: readonly SyncedKind[]): readonly ResourceType[] {
  const named = references.kinds.flatMap(({ apiVersion, kind, plural }) =>
    plural === undefined ? [] : [{ apiVersion, kind, plural, namespaced: true }],
  );
  // If a Service were removed first, the host would remove its Endpoints by itself in the meantime.
  const before = synced.flatMap(({ resource }) => (resource === SERVICES ? [] : [resource]));
  return [...before, SERVICES, SECRETS, CONFIG_MAPS, ...named];
}
