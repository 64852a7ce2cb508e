import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { readStored } from "../resource-context.ts";
import type { ResourceContext, WriteOptions } from "../resource-context.ts";
import { notFound } from "../../types/status.ts";
import { demandReached } from "./revision.ts";

/** How an object is read. */
export interface GetOptions extends Pick<WriteOptions, "judge"> {
  /** The state must be as new as this. Default: any is. */
  readonly resourceVersion?: string | undefined;
}

/**
 * Reads one object, always its present state.
 *
 * @throws API_NOT_FOUND; what `judge` throws; API_UNAVAILABLE when `resourceVersion` is in the future; API_BAD_REQUEST when it is not a revision.
 */
export async function get(context: ResourceContext, key: ObjectKey, { resourceVersion, judge }: GetOptions = {}): Promise<KubeObject> {
  await demandReached(context.store, resourceVersion);
  const stored = await readStored(context, key, { judge });
  if (stored === undefined) throw notFound(context.definition.type, key.name);
  return stored.object;
}
