import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { storeKey } from "../resource-context.ts";
import type { ResourceContext } from "../resource-context.ts";
import { notFound } from "../../types/status.ts";
import { demandReached } from "./revision.ts";

/**
 * Reads one object, always its present state.
 *
 * @throws API_NOT_FOUND; API_UNAVAILABLE when `resourceVersion` is of the future; API_BAD_REQUEST when it is no revision.
 */
export async function get({ definition, store }: ResourceContext, key: ObjectKey, resourceVersion?: string): Promise<KubeObject> {
  await demandReached(store, resourceVersion);
  const stored = await store.get(storeKey(definition.type, key));
  if (stored === undefined) throw notFound(definition.type, key.name);
  return stored.object;
}
