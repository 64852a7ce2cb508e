import { jsonEqual } from "../../base/json.ts";
import { isEngineError } from "../../base/errors.ts";
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINTS, SERVICES } from "../../kube/object/resource.ts";
import { repackSubsets } from "../../kube/object/endpoints/subsets.ts";
import type { Endpoints, KubeObject, StringMap } from "../../kube/object/types.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../apiserver/verbs/resource-context.ts";
import type { Store, StoreEvent, StoreWatch } from "../../apiserver/store/store.ts";
import { PODS } from "../kinds/pods.ts";
import { isHeadless, serviceSpecOf } from "../kinds/services.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "./controller.ts";
import { subsetsOf } from "./endpoints-of-pods.ts";
import { createKeyWorker } from "./key-worker.ts";

const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const HEADLESS_LABEL = "service.kubernetes.io/headless";
const LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader";

/**
 * Keeps Endpoints in step with their Service: lists the matching Pods while the Service has a selector, and deletes the Endpoints with
 * the Service. Endpoints of a Service without a selector stay unchanged. Source: the endpoints controller, including its
 * cleanup of leftovers at startup.
 */
export async function startEndpointsController({ registry, store, logger }: ClusterControllerOptions): Promise<ClusterController> {
  const worker = createKeyWorker({ name: "endpoints", logger, reconcile: (key) => reconcile(registry, parseKey(key)) });
  const present = await store.list({ prefix: storePrefix(SERVICES) });
  const leftovers = await store.list({ prefix: storePrefix(ENDPOINTS) });
  const led = ({ metadata }: KubeObject) => Object.hasOwn(metadata.annotations ?? {}, LEADER_ANNOTATION);
  for (const { object } of present.objects) worker.add(formatKey(keyOf(object)));
  for (const { object } of leftovers.objects) if (!led(object)) worker.add(formatKey(keyOf(object)));
  const services = new Map(present.objects.map(({ key, object }) => [key, object]));
  const watches = await Promise.all([
    follow(store, SERVICES, present.revision, (event) => {
      if (event.type === "deleted") services.delete(event.key);
      else services.set(event.key, event.object);
      worker.add(formatKey(keyOf(event.object)));
    }),
    follow(store, ENDPOINTS, leftovers.revision, (event) => event.type === "deleted" && worker.add(formatKey(keyOf(event.object)))),
    follow(store, PODS, present.revision, (event) => {
      for (const service of services.values()) if (selects(service, event)) worker.add(formatKey(keyOf(service)));
    }),
  ]);
  return createClusterController(worker, watches);
}

function follow(store: Store, type: typeof PODS, after: number, onEvent: (event: StoreEvent) => void): Promise<StoreWatch> {
  return store.watch({ prefix: storePrefix(type), after, onEvent });
}

function selects(service: KubeObject, { object, previous }: StoreEvent): boolean {
  const { selector } = serviceSpecOf(service);
  if (selector === undefined || service.metadata.namespace !== object.metadata.namespace) return false;
  return matches(selector, object) || (previous !== undefined && matches(selector, previous));
}

function matches(selector: StringMap, { metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(selector).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

async function reconcile(registry: Registry, key: ObjectKey): Promise<void> {
  const service = await read(registry, SERVICES, key);
  const current = (await read(registry, ENDPOINTS, key)) as Endpoints | undefined;
  if (service === undefined) return current && discard(registry, current);
  const { selector, type } = serviceSpecOf(service);
  if (selector === undefined || type === "ExternalName") return;
  const { items } = await registry.list(PODS, { namespace: key.namespace });
  const pods = items.filter((pod) => matches(selector, pod));
  await write(registry, service, current, repackSubsets(subsetsOf(service, pods)));
}

async function discard(registry: Registry, { metadata }: KubeObject): Promise<void> {
  const key = { namespace: metadata.namespace!, name: metadata.name! };
  try {
    await registry.delete(ENDPOINTS, key, { preconditions: { uid: metadata.uid!, resourceVersion: metadata.resourceVersion! } });
  } catch (error) {
    if (!isEngineError(error, "API_NOT_FOUND")) throw error;
  }
}

async function write(
  registry: Registry,
  service: KubeObject,
  current: Endpoints | undefined,
  subsets: Endpoints["subsets"],
): Promise<void> {
  const labels = labelsFor(service);
  if (current !== undefined && jsonEqual(current.subsets ?? [], subsets) && jsonEqual(current.metadata.labels, labels)) return;
  const { name, namespace = "" } = service.metadata;
  const metadata = { ...current?.metadata, name: name!, namespace, labels };
  const desired = { apiVersion: "v1", kind: "Endpoints", metadata, subsets };
  if (current === undefined) await registry.create(ENDPOINTS, namespace, desired);
  else await registry.update(ENDPOINTS, { namespace, name: name! }, desired);
}

function labelsFor(service: KubeObject): StringMap {
  const { [HEADLESS_LABEL]: _own, ...labels } = service.metadata.labels ?? {};
  return { ...labels, [MANAGED_BY]: "endpoint-controller", ...(isHeadless(serviceSpecOf(service)) && { [HEADLESS_LABEL]: "" }) };
}

async function read(registry: Registry, type: typeof PODS, key: ObjectKey): Promise<KubeObject | undefined> {
  try {
    return await registry.get(type, key);
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}
