import { EngineError } from "../../../base/errors.ts";
import type { ClusterClient, ListScope } from "../../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { listAll } from "../../../kube/runtime/informer/list-all.ts";

/** The part of a client that reads lists. */
export type ListClient = Pick<ClusterClient, "list">;

/** Reads of one cluster, all of them by lists: an inspection must not even be able to write. */
export interface ClusterReads {
  /** Reads all objects of one kind. */
  list(resource: ResourceType, scope: ListScope): Promise<readonly KubeObject[]>;
  /** Reads one object by its name. It needs no more permissions than a watch of the object. */
  one(resource: ResourceType, key: ObjectKey): Promise<KubeObject | undefined>;
}

/** Objects per page. */
const PAGE_SIZE = 500;

/**
 * Creates reads through a client, until `signal` aborts.
 *
 * @example
 * const endpoints = await createClusterReads({ client, signal }).list(ENDPOINTS, { namespace: "vc-blue" });
 */
export function createClusterReads({ client, signal }: { client: ListClient; signal: AbortSignal }): ClusterReads {
  const list = async (resource: ResourceType, scope: ListScope) => {
    if (signal.aborted) throw new EngineError("API_UNAVAILABLE", `The list of ${resource.plural} was stopped`);
    return (await listAll({ client, resource, scope, pageSize: PAGE_SIZE, signal })).items;
  };
  return {
    list,
    async one(resource, { namespace, name }) {
      const scope = { ...(namespace !== "" && { namespace }), fieldSelector: `metadata.name=${name}` };
      return (await list(resource, scope)).find(({ metadata }) => metadata.name === name);
    },
  };
}
