import { NAMESPACES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { isEngineError } from "../../base/errors.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../apiserver/verbs/resource-context.ts";
import type { StoreEvent } from "../../apiserver/store/store.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "./controller.ts";
import { createKeyWorker } from "./key-worker.ts";

/**
 * Empties namespaces that are being deleted, then removes them. It waits for contents that finalizers keep.
 * Source: the namespace controller.
 */
export async function startNamespaceController({ registry, store, logger }: ClusterControllerOptions): Promise<ClusterController> {
  const worker = createKeyWorker({ name: "namespace", logger, reconcile: (name) => reconcile(registry, name) });
  const onEvent = ({ type, object }: StoreEvent) => {
    if (isTerminating(object) && type !== "deleted") worker.add(object.metadata.name!);
    // The namespace may have waited for the deletion of this object.
    else if (type === "deleted" && object.metadata.namespace !== undefined) worker.add(object.metadata.namespace);
  };
  const present = await store.list({ prefix: storePrefix(NAMESPACES) });
  for (const { object } of present.objects) if (isTerminating(object)) worker.add(object.metadata.name!);
  const watch = await store.watch({ prefix: "/", after: present.revision, onEvent });
  return createClusterController(worker, [watch]);
}

function isTerminating({ kind, metadata }: KubeObject): boolean {
  return kind === NAMESPACES.kind && typeof metadata.deletionTimestamp === "string";
}

async function reconcile(registry: Registry, name: string): Promise<void> {
  const namespace = await readTerminating(registry, name);
  if (namespace === undefined) return;
  for (const { type } of registry.definitions) {
    if (type.namespaced) await registry.deleteCollection(type, { namespace: name });
  }
  if (await isEmpty(registry, name)) {
    await registry.update(NAMESPACES, { namespace: "", name }, { ...namespace, spec: {} }, { subresource: "finalize" });
  }
}

async function readTerminating(registry: Registry, name: string): Promise<KubeObject | undefined> {
  try {
    const namespace = await registry.get(NAMESPACES, { namespace: "", name });
    return isTerminating(namespace) ? namespace : undefined;
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}

async function isEmpty(registry: Registry, namespace: string): Promise<boolean> {
  for (const { type } of registry.definitions) {
    if (!type.namespaced) continue;
    const { items } = await registry.list(type, { namespace, limit: 1 });
    if (items.length > 0) return false;
  }
  return true;
}
