import { isEngineError } from "../../base/errors.ts";
import { NAMESPACES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../apiserver/verbs/resource-context.ts";
import type { StoreEvent } from "../../apiserver/store/store.ts";
import { SERVICE_ACCOUNTS } from "../kinds/service-accounts.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "./controller.ts";
import { createKeyWorker } from "./key-worker.ts";

/** The account that every namespace has. */
const DEFAULT_ACCOUNT = "default";

/** Keeps a ServiceAccount `default` in every namespace that is not being deleted. Source: the service accounts controller. */
export async function startServiceAccountController({ registry, store, logger }: ClusterControllerOptions): Promise<ClusterController> {
  const worker = createKeyWorker({ name: "service accounts", logger, reconcile: (namespace) => ensureAccount(registry, namespace) });
  const present = await store.list({ prefix: storePrefix(NAMESPACES) });
  for (const { object } of present.objects) worker.add(object.metadata.name!);
  const onNamespace = ({ type, object }: StoreEvent) => {
    if (type === "created") worker.add(object.metadata.name!);
  };
  const onAccount = ({ type, object: { metadata } }: StoreEvent) => {
    if (type === "deleted" && metadata.name === DEFAULT_ACCOUNT) worker.add(metadata.namespace!);
  };
  const watches = [
    await store.watch({ prefix: storePrefix(NAMESPACES), after: present.revision, onEvent: onNamespace }),
    await store.watch({ prefix: storePrefix(SERVICE_ACCOUNTS), after: present.revision, onEvent: onAccount }),
  ];
  return createClusterController(worker, watches);
}

async function ensureAccount(registry: Registry, namespace: string): Promise<void> {
  try {
    const { metadata } = await registry.get(NAMESPACES, { namespace: "", name: namespace });
    if (typeof metadata.deletionTimestamp === "string") return;
    const body: Pick<KubeObject, "metadata"> = { metadata: { name: DEFAULT_ACCOUNT } };
    await registry.create(SERVICE_ACCOUNTS, namespace, body);
  } catch (error) {
    // The account exists, or its namespace has begun to terminate in between.
    if (!isEngineError(error, "API_ALREADY_EXISTS", "API_NOT_FOUND", "API_FORBIDDEN")) throw error;
  }
}
