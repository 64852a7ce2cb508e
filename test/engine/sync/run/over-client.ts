import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";

/** A client that answers some requests in its own way, and passes on the others. */
export function over(client: ClusterClient, changes: Partial<ClusterClient>): ClusterClient {
  return {
    get: (resource, key) => client.get(resource, key),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object) => client.create(resource, object),
    update: (resource, object) => client.update(resource, object),
    patch: (resource, key, type, body) => client.patch(resource, key, type, body),
    delete: (resource, key, preconditions) => client.delete(resource, key, preconditions),
    close: () => client.close(),
    ...changes,
  };
}
