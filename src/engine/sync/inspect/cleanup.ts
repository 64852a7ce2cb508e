import { isEngineError } from "../../../base/errors.ts";
import type { ClusterClient } from "../../../kube/object/cluster-client.ts";
import { keyOf } from "../../../kube/object/key.ts";
import { isOurs } from "../../translate/identity.ts";
import type { Translator } from "../../translate/translator.ts";
import type { MarkedCopy } from "./marked-copies.ts";

/** Outcome for one copy. */
export interface Removal {
  readonly copy: MarkedCopy;
  /** `held`: finalizers delay its deletion. `left`: it has changed and is no longer this cluster's copy, or it keeps changing. */
  readonly result: "removed" | "held" | "left";
}

/** Dependencies of the removal. */
export interface RemovalOptions {
  readonly client: Pick<ClusterClient, "get" | "delete">;
  readonly translator: Translator;
}

/** Maximum number of attempts. An object that changes more often is in active use. */
const ATTEMPTS_MAX = 5;

/**
 * Removes copies one after the other, each only in the state in which it was read, so that only our copies are removed.
 *
 * @throws API_… when the cluster refuses a delete or cannot respond; the deletions yielded before are complete.
 * @example
 * for await (const { result } of removeCopies(copies, { client, translator })) count(result);
 */
export async function* removeCopies(copies: readonly MarkedCopy[], options: RemovalOptions): AsyncGenerator<Removal> {
  for (const copy of copies) yield { copy, result: await removeCopy(copy, options) };
}

async function removeCopy(
  { resource, object, source: { clusterUid } }: MarkedCopy,
  { client, translator }: RemovalOptions,
): Promise<Removal["result"]> {
  let found: typeof object | undefined = object;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (found === undefined) return "removed";
    if (!isOurs({ translator, clusterUid }, found, resource)) return "left";
    const { uid, resourceVersion, finalizers = [], deletionTimestamp } = found.metadata;
    // It was already being deleted.
    if (deletionTimestamp) return "held";
    try {
      await client.delete(resource, keyOf(found), {
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      });
      return finalizers.length > 0 ? "held" : "removed";
    } catch (error) {
      if (!isEngineError(error, "API_CONFLICT")) throw error;
      found = await client.get(resource, keyOf(object));
    }
  }
  return "left";
}
