import { NAMESPACES } from "../kube/object/resource.ts";
import { storeKey, type Admit } from "../apiserver/verbs/resource-context.ts";
import { forbiddenRequest, notFound } from "../apiserver/types/status.ts";
import type { Store } from "../apiserver/store/store.ts";

/** Namespaces that cannot be deleted. */
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

/**
 * Admission by namespace: nothing is written into a namespace that does not exist, nothing is created in a namespace that is being
 * deleted, and the initial namespaces cannot be deleted. Source: the NamespaceLifecycle admission plug-in.
 */
export function createNamespaceLifecycle(store: Store): Admit {
  return async ({ verb, type, key }) => {
    if (!type.namespaced) {
      const immortal = verb === "delete" && type.kind === NAMESPACES.kind && IMMORTAL.has(key.name);
      if (immortal) throw forbiddenRequest(type, key.name, "this namespace may not be deleted");
      return;
    }
    if (verb === "delete") return;
    const namespace = await store.get(storeKey(NAMESPACES, { namespace: "", name: key.namespace }));
    if (namespace === undefined) throw notFound(NAMESPACES, key.namespace);
    const terminating = typeof namespace.object.metadata.deletionTimestamp === "string";
    if (verb !== "create" || !terminating) return;
    const why = `unable to create new content in namespace ${key.namespace} because it is being terminated`;
    const cause = {
      reason: "NamespaceTerminating",
      message: `namespace ${key.namespace} is being terminated`,
      field: "metadata.namespace",
    };
    throw forbiddenRequest(type, key.name, why, [cause]);
  };
}
