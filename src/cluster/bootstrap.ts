import { isEngineError } from "../base/errors.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES, SERVICES, type ResourceType } from "../kube/object/resource.ts";
import type { StringMap } from "../kube/object/types.ts";
import type { Registry } from "../apiserver/verbs/registry.ts";
import { defaultRoles } from "./rbac/default-roles.ts";

const NAMESPACE_NAMES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** First address of the range: the API server's own Service has it in every cluster. */
const API_SERVICE_IP = "10.96.0.1";
/** Address of the API server in its Endpoints: a documentation address, so that clients cannot reach a real host by mistake. */
const API_SERVER_IP = "192.0.2.1";
const API_SERVER_PORT = 6_443;

const LABELS = { component: "apiserver", provider: "kubernetes" };

/**
 * Creates the objects that every cluster has from the start: its initial namespaces, its roles, and the Service of its API server.
 * Existing objects do not change.
 */
export async function bootstrap(registry: Registry): Promise<void> {
  for (const name of NAMESPACE_NAMES) await ensure(registry, NAMESPACES, { metadata: { name } });
  for (const { type, body } of defaultRoles()) await ensure(registry, type, body);
  const port = { name: "https", protocol: "TCP", port: API_SERVER_PORT };
  await ensure(registry, SERVICES, {
    metadata: { name: "kubernetes", labels: LABELS },
    spec: { clusterIP: API_SERVICE_IP, ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: API_SERVER_PORT }] },
  });
  await ensure(registry, ENDPOINTS, {
    metadata: { name: "kubernetes", labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    subsets: [{ addresses: [{ ip: API_SERVER_IP }], ports: [port] }],
  });
  await ensure(registry, ENDPOINT_SLICES, {
    metadata: { name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [API_SERVER_IP], conditions: { ready: true } }],
    ports: [port],
  });
}

interface Body {
  readonly metadata: { readonly name: string; readonly labels?: StringMap };
  readonly [field: string]: unknown;
}

async function ensure(registry: Registry, type: ResourceType, body: Body): Promise<void> {
  const namespace = type.namespaced ? "default" : "";
  try {
    await registry.get(type, { namespace, name: body.metadata.name });
  } catch (error) {
    if (!isEngineError(error, "API_NOT_FOUND")) throw error;
    await registry.create(type, namespace, body);
  }
}
