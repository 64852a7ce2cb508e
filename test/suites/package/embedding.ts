/** `fixtures/embedder` between two clusters in this process; prints what the copy's addresses are. */
import { createEmbeddedCluster } from "../../../src/clusters.ts";
import type { KubeObject } from "../../../src/index.ts";
import { ENDPOINTS, SERVICES } from "../../../fixtures/embedder/caches.ts";
import { startHostProgram } from "../../../fixtures/embedder/host-program.ts";

const namespaces = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const metadata = { namespace: "shop", name: "web" };
const copy = { namespace: "vc-blue", name: "shop-web" };

const [tenant, host] = await Promise.all([createEmbeddedCluster(), createEmbeddedCluster()]);
await tenant.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
await host.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
const program = await startHostProgram({
  tenant: tenant.client,
  host: host.client,
  vcluster: { name: "blue", namespace: "vc-blue" },
  config: `sync: { toHost: { endpoints: { patches: [{ path: "subsets[*].addresses[*].ip", expression: '"192.168." + value.slice(5)' }] } } }`,
});
const { resourceVersion } = await host.client.list(ENDPOINTS, { namespace: "vc-blue" });
const service = { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 80 }] } } as KubeObject;
await tenant.client.create(SERVICES, service);
await tenant.client.create(ENDPOINTS, {
  apiVersion: "v1",
  kind: "Endpoints",
  metadata,
  subsets: [{ addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 80 }] }],
});
const watching = new AbortController();
for await (const { object } of host.client.watch(ENDPOINTS, { namespace: "vc-blue", resourceVersion, signal: watching.signal })) {
  if (object.metadata.name !== copy.name) continue;
  console.log(JSON.stringify((object as { subsets?: { addresses?: unknown }[] }).subsets?.[0]?.addresses));
  break;
}
watching.abort();
await program.stop();
await Promise.all([tenant.stop(), host.stop()]);
