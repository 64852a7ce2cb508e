import { SERVICES } from "../../../kube/object/resource.ts";
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import type { Registry } from "../../../apiserver/verbs/registry.ts";
import { storePrefix } from "../../../apiserver/verbs/resource-context.ts";
import type { Store, StoreEvent, StoreWatch } from "../../../apiserver/store/store.ts";
import { PODS } from "../../kinds/pods.ts";
import { serviceSpecOf } from "../../kinds/services.ts";

/** Calls `add` with every stored Service, and with each one that changes or whose selected Pods change. */
export async function followSelectedPods(store: Store, add: (service: KubeObject) => void): Promise<readonly StoreWatch[]> {
  const { objects, revision: after } = await store.list({ prefix: storePrefix(SERVICES) });
  const services = new Map(objects.map(({ key, object }) => [key, object]));
  for (const service of services.values()) add(service);
  return Promise.all([
    store.watch({
      prefix: storePrefix(SERVICES),
      after,
      onEvent({ type, key, object }) {
        if (type === "deleted") services.delete(key);
        else services.set(key, object);
        add(object);
      },
    }),
    store.watch({
      prefix: storePrefix(PODS),
      after,
      onEvent: (event) => void [...services.values()].filter((service) => selects(service, event)).forEach(add),
    }),
  ]);
}

/** Lists the Pods that a Service selects; none without a selector. */
export async function selectedPods(registry: Registry, service: KubeObject): Promise<readonly KubeObject[]> {
  const { selector } = serviceSpecOf(service);
  if (selector === undefined) return [];
  const { items } = await registry.list(PODS, { namespace: service.metadata.namespace! });
  return items.filter((pod) => matches(selector, pod));
}

function selects(service: KubeObject, { object, previous }: StoreEvent): boolean {
  const { selector } = serviceSpecOf(service);
  if (selector === undefined || service.metadata.namespace !== object.metadata.namespace) return false;
  return matches(selector, object) || (previous !== undefined && matches(selector, previous));
}

function matches(selector: StringMap, { metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(selector).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}
