import { isEngineError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { ListScope } from "../../../kube/object/cluster-client.ts";
import { qualifiedPlural } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { targetSide } from "../../reconcile/references/reference-copy.ts";
import type { ReferenceKind, ReferenceRules } from "../../reconcile/references/reference-rules.ts";
import { withoutWords } from "../../reconcile/references/reference-strategy.ts";
import { managedByValue, MANAGED_BY } from "../../translate/markers.ts";
import type { ClusterAccess } from "../cluster/access.ts";

/** Queue id of the search for copies of earlier processes. */
export const FIND_COPIES = "reference-copies|";

/** Options of the search for copies. */
export interface FindCopiesOptions {
  readonly rules: ReferenceRules;
  readonly tenant: ClusterAccess;
  readonly host: ClusterAccess;
  readonly logger: Logger;
  /** The kinds to search for. */
  readonly kinds: readonly ReferenceKind[];
  found(kind: ReferenceKind, copy: KubeObject): void;
}

/**
 * Lists the copies of referenced objects that earlier processes made, so that copies that are no longer referenced are deleted in time.
 * Without permission to list them, these copies stay; everything else works. Returns the kinds whose cache is not complete yet: the search for
 * them must be repeated.
 *
 * @throws API_… when a cluster cannot respond.
 */
export async function findCopies({ rules, logger, kinds, found, ...clusters }: FindCopiesOptions): Promise<readonly ReferenceKind[]> {
  const left: ReferenceKind[] = [];
  for (const kind of kinds) {
    const cluster = targetSide({ kind });
    try {
      const copies = await listCopies(clusters[cluster], kind, scopeOf(rules, cluster));
      if (copies === undefined) left.push(kind);
      for (const copy of copies ?? []) found(kind, copy);
    } catch (error) {
      if (!isEngineError(error, "API_FORBIDDEN", "API_NOT_FOUND")) throw withoutWords(error);
      const resource = qualifiedPlural(kind.resource);
      logger.warn("Cannot search for copies of referenced objects", { cluster, resource, code: error.code });
    }
  }
  return left;
}

/** Returns undefined while the cache, which may have been opened just now, is not complete. */
async function listCopies(
  access: ClusterAccess,
  { resource }: ReferenceKind,
  scope: ListScope,
): Promise<readonly KubeObject[] | undefined> {
  if (access.list !== undefined) return access.list(resource, scope);
  const source = access.source(resource);
  return source.synced ? source.list() : undefined;
}

function scopeOf({ translator }: ReferenceRules, cluster: "tenant" | "host"): ListScope {
  const labelSelector = `${translator.markerPrefix}${MANAGED_BY}=${managedByValue(translator.vcluster.name)}`;
  const namespaces = translator.targetNamespaces();
  if (cluster === "tenant" || namespaces === "all" || namespaces.length > 1) return { labelSelector };
  return { labelSelector, namespace: namespaces[0]! };
}
