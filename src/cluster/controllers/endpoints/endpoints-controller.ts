import { jsonEqual } from "../../../base/json.ts";
import { isEngineError } from "../../../base/errors.ts";
import { formatKey, keyOf, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import { repackSubsets } from "../../../kube/object/endpoints/subsets.ts";
import type { Endpoints, EndpointSubset, KubeObject, StringMap } from "../../../kube/object/types.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../../apiserver/verbs/resource-context.ts";
import type { StoreEvent } from "../../../apiserver/store/store.ts";
import { isHeadless, serviceSpecOf } from "../../kinds/services.ts";
import { createClusterController, type ClusterController, type ClusterControllerOptions } from "../controller.ts";
import { truncatedSubsets } from "./endpoints-capacity.ts";
import { subsetsOf } from "./endpoints-of-pods.ts";
import { createKeyWorker } from "../key-worker.ts";
import { followSelectedPods, selectedPods } from "./selected-pods.ts";

const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const HEADLESS_LABEL = "service.kubernetes.io/headless";
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
const LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader";

/**
 * Keeps Endpoints in step with their Service: lists the matching Pods while the Service has a selector, and deletes the Endpoints with
 * the Service. Endpoints of a Service without a selector stay unchanged. Source: the endpoints controller, including its
 * cleanup of leftovers at startup.
 */
export async function startEndpointsController({ registry, store, logger }: ClusterControllerOptions): Promise<ClusterController> {
  const worker = createKeyWorker({ name: "endpoints", logger, reconcile: (key) => reconcile(registry, parseKey(key)) });
  const add = (object: KubeObject) => worker.add(formatKey(keyOf(object)));
  const selected = await followSelectedPods(store, add);
  const { objects, revision } = await store.list({ prefix: storePrefix(ENDPOINTS) });
  const led = ({ metadata }: KubeObject) => Object.hasOwn(metadata.annotations ?? {}, LEADER_ANNOTATION);
  for (const { object } of objects) if (!led(object)) add(object);
  const onEvent = ({ type, object }: StoreEvent) => void (type === "deleted" && add(object));
  return createClusterController(worker, [...selected, await store.watch({ prefix: storePrefix(ENDPOINTS), after: revision, onEvent })]);
}

async function reconcile(registry: Registry, key: ObjectKey): Promise<void> {
  const service = await read(registry, SERVICES, key);
  const current = (await read(registry, ENDPOINTS, key)) as Endpoints | undefined;
  if (service === undefined) return current && discard(registry, current);
  const { selector, type } = serviceSpecOf(service);
  if (selector === undefined || type === "ExternalName") return;
  await write(registry, service, current, repackSubsets(subsetsOf(service, await selectedPods(registry, service))));
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
  found: readonly EndpointSubset[],
): Promise<void> {
  const labels = labelsFor(service);
  const truncated = truncatedSubsets(found);
  const subsets = truncated ?? found;
  const { [OVER_CAPACITY]: before, ...others } = current?.metadata.annotations ?? {};
  const isMarked = truncated === undefined ? before === undefined : before === "truncated";
  if (current !== undefined && isMarked && jsonEqual(current.subsets ?? [], subsets) && jsonEqual(current.metadata.labels, labels)) return;
  const { name, namespace = "" } = service.metadata;
  const annotations = truncated === undefined ? others : { ...others, [OVER_CAPACITY]: "truncated" };
  const hasAnnotations = Object.keys(annotations).length > 0;
  const metadata = { ...current?.metadata, name: name!, namespace, labels, annotations: hasAnnotations ? annotations : undefined };
  const desired = { apiVersion: "v1", kind: "Endpoints", metadata, subsets };
  if (current === undefined) await registry.create(ENDPOINTS, namespace, desired);
  else await registry.update(ENDPOINTS, { namespace, name: name! }, desired);
}

function labelsFor(service: KubeObject): StringMap {
  const { [HEADLESS_LABEL]: _own, ...labels } = service.metadata.labels ?? {};
  return { ...labels, [MANAGED_BY]: "endpoint-controller", ...(isHeadless(serviceSpecOf(service)) && { [HEADLESS_LABEL]: "" }) };
}

async function read(registry: Registry, type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
  try {
    return await registry.get(type, key);
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}
