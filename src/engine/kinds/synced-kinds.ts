import { CONFIG_MAPS, ENDPOINT_SLICES, SECRETS, type ResourceType } from "../../kube/object/resource.ts";
import type { SyncedKind } from "../reconcile/rules/rules.ts";
import { ENDPOINT_SLICES_KIND } from "./endpoint-slices.ts";
import { ENDPOINTS_KIND } from "./endpoints.ts";
import { SERVICES_KIND } from "./services.ts";

/**
 * The kinds that are synced. The configuration, commands, permissions, laws, samples and the simulator use this list, in this order;
 * another kind needs only one entry. It is the default of all options that are named `kinds`.
 */
export const SYNCED_KINDS: readonly SyncedKind[] = [ENDPOINTS_KIND, SERVICES_KIND, ENDPOINT_SLICES_KIND];

/**
 * The kinds that references can name without an entry in `references.kinds`. EndpointSlices are not among them: nothing refers to their
 * names, which controllers generate.
 */
export function referableKinds(kinds: readonly SyncedKind[] = SYNCED_KINDS): readonly ResourceType[] {
  return [SECRETS, CONFIG_MAPS, ...kinds.flatMap(({ resource }) => (resource === ENDPOINT_SLICES ? [] : [resource]))];
}
