import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { readStored, type ResourceContext, type WriteOptions } from "../resource-context.ts";
import { notFound, invalidObject, tooNewVersion } from "../../types/status.ts";
import { parseRevision } from "../../types/objects/metadata.ts";
import { invalid } from "../../types/field-error.ts";
import type { Store } from "../../store/store.ts";

/** The kind that errors of list options name. */
export const LIST_OPTIONS = { apiVersion: "meta.k8s.io/v1", kind: "ListOptions" };

/**
 * Parses the resourceVersion of a request. Returns 0 when the request has none, or accepts any.
 *
 * @throws API_INVALID when the text is not a revision.
 */
export function requestedRevision(resourceVersion: string | undefined): number {
  const revision = parseRevision(resourceVersion);
  if (revision !== undefined) return revision;
  throw invalidObject(LIST_OPTIONS, "", [invalid("resourceVersion", resourceVersion, "must be a decimal number")]);
}

/**
 * Checks that the store has reached `resourceVersion`, and returns it as a revision. Returns 0 when the request has none, or accepts any.
 *
 * @throws API_UNAVAILABLE when the store has not reached it; API_INVALID when the text is not a revision.
 */
export async function demandReached(store: Store, resourceVersion: string | undefined): Promise<number> {
  const requested = requestedRevision(resourceVersion);
  const current = requested === 0 ? 0 : await store.revision();
  if (requested > current) throw tooNewVersion(requested, current);
  return requested;
}

/** Options for reading an object. */
export interface GetOptions extends Pick<WriteOptions, "judge"> {
  /** The oldest acceptable state. Default: any state. */
  readonly resourceVersion?: string | undefined;
}

/**
 * Reads one object, always in its current state.
 *
 * @throws API_NOT_FOUND; any error of `judge`; API_UNAVAILABLE when the store has not reached `resourceVersion`; API_INVALID when that is
 *   not a revision.
 */
export async function get(context: ResourceContext, key: ObjectKey, { resourceVersion, judge }: GetOptions = {}): Promise<KubeObject> {
  if (resourceVersion !== undefined) await demandReached(context.store, resourceVersion);
  const stored = await readStored(context, key, { judge });
  if (stored === undefined) throw notFound(context.definition.type, key.name);
  return stored.object;
}
