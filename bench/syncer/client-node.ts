/**
 * The same job on @kubernetes/client-node's own informers and typed API, as its documentation shows it: every change of a tenant
 * object is compared with the cached host object, and written when it differs.
 */
import { join } from "node:path";
import {
  CoreV1Api,
  KubeConfig,
  makeInformer,
  type Informer,
  type KubernetesObject,
  type ObjectCache,
  type V1Endpoints,
  type V1Service,
} from "@kubernetes/client-node";
import { createTranslator } from "../../src/engine/translate/translator.ts";
import { answer, usage } from "./child.ts";

const [folder] = process.argv.slice(2) as [string];
const HOST_NAMESPACE = "vc-blue";
const translator = createTranslator({ vcluster: { name: "blue", namespace: HOST_NAMESPACE }, mode: "single-namespace" });
const [tenant, host] = ["tenant", "host"].map((side) => {
  const config = new KubeConfig();
  config.loadFromFile(join(folder, `${side}.kubeconfig`));
  return { config, api: config.makeApiClient(CoreV1Api) };
}) as [Side, Side];

interface Side {
  readonly config: KubeConfig;
  readonly api: CoreV1Api;
}

type Cache<T extends KubernetesObject> = Informer<T> & ObjectCache<T>;

/** How one kind is read and written. */
interface Kind<T extends KubernetesObject> {
  readonly tenant: Cache<T>;
  readonly host: Cache<T>;
  bodyOf(object: T): Partial<T>;
  create(body: T): Promise<T>;
  replace(name: string, body: T): Promise<T>;
  remove(name: string): Promise<unknown>;
}

const services: Kind<V1Service> = {
  tenant: makeInformer(tenant.config, "/api/v1/services", () => tenant.api.listServiceForAllNamespaces()),
  host: makeInformer(host.config, `/api/v1/namespaces/${HOST_NAMESPACE}/services`, () =>
    host.api.listNamespacedService({ namespace: HOST_NAMESPACE }),
  ),
  bodyOf: ({ spec }) => ({ spec: { ports: spec!.ports!.map(({ port, protocol }) => ({ port, ...(protocol && { protocol }) })) } }),
  create: (body) => host.api.createNamespacedService({ namespace: HOST_NAMESPACE, body }),
  replace: (name, body) => host.api.replaceNamespacedService({ namespace: HOST_NAMESPACE, name, body }),
  remove: (name) => host.api.deleteNamespacedService({ namespace: HOST_NAMESPACE, name }),
};
const endpoints: Kind<V1Endpoints> = {
  tenant: makeInformer(tenant.config, "/api/v1/endpoints", () => tenant.api.listEndpointsForAllNamespaces()),
  host: makeInformer(host.config, `/api/v1/namespaces/${HOST_NAMESPACE}/endpoints`, () =>
    host.api.listNamespacedEndpoints({ namespace: HOST_NAMESPACE }),
  ),
  bodyOf: ({ subsets }) => ({ subsets: subsets ?? [] }),
  create: (body) => host.api.createNamespacedEndpoints({ namespace: HOST_NAMESPACE, body }),
  replace: (name, body) => host.api.replaceNamespacedEndpoints({ namespace: HOST_NAMESPACE, name, body }),
  remove: (name) => host.api.deleteNamespacedEndpoints({ namespace: HOST_NAMESPACE, name }),
};

let busy = 0;

/** A cache that is behind its own writes makes conflicts; the next event has caught up. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: number }).code !== 409) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

function report(error: unknown): void {
  console.error("client-node:", error instanceof Error ? error.message : error);
}

/** One write at a time for each object, as a queue would do it. */
function watch<T extends KubernetesObject>(kind: Kind<T>, apiVersion: string, name: string): void {
  const running = new Map<string, Promise<void>>();
  const enqueue = (object: T, work: () => Promise<void>) => {
    const id = `${object.metadata!.namespace}/${object.metadata!.name}`;
    busy += 1;
    const done = (running.get(id) ?? Promise.resolve())
      .then(work)
      .catch(report)
      .finally(() => (busy -= 1));
    running.set(id, done);
  };
  const changed = (object: T) => enqueue(object, () => untilDone(() => copy(kind, object, { apiVersion, kind: name })));
  kind.tenant.on("add", changed);
  kind.tenant.on("update", changed);
  kind.tenant.on("delete", (object) => enqueue(object, async () => void (await kind.remove(hostName(object)))));
}

function hostName({ metadata }: KubernetesObject): string {
  return translator.toHost({ namespace: metadata!.namespace!, name: metadata!.name! }, { apiVersion: "v1", kind: "Service" })!.name;
}

async function copy<T extends KubernetesObject>(kind: Kind<T>, object: T, type: { apiVersion: string; kind: string }): Promise<void> {
  if (object.metadata!.namespace === "default" && object.metadata!.name === "kubernetes") return;
  const name = hostName(object);
  const { labels, annotations } = object.metadata!;
  const metadata = { name, namespace: HOST_NAMESPACE, ...(labels && { labels }), ...(annotations && { annotations }) };
  const wanted = { ...type, ...kind.bodyOf(object), metadata } as unknown as T;
  const known = kind.host.get(name, HOST_NAMESPACE);
  if (known === undefined) return void (await kind.create(wanted));
  const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);
  if (
    same(known.metadata!.labels, labels) &&
    same(known.metadata!.annotations, annotations) &&
    same(kind.bodyOf(known), kind.bodyOf(object))
  )
    return;
  await kind.replace(name, { ...known, ...wanted, metadata: { ...known.metadata, ...metadata } });
}

for (const kind of [services, endpoints]) await kind.host.start();
watch(services, "v1", "Service");
watch(endpoints, "v1", "Endpoints");
for (const kind of [services, endpoints]) await kind.tenant.start();
const startedMs = performance.now();

answer({
  usage,
  started: () => ({ startedMs }),
  idle: async () => {
    while (busy > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return { idleMs: performance.now() };
  },
});
