import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemChance } from "../base/chance.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import { createMetrics } from "../base/metrics.ts";
import type { MetricsRegistry } from "../base/metrics.ts";
import { createHttpClient } from "../client/http-client.ts";
import { loadKubeConfig } from "../client/kube-config.ts";
import { startCluster } from "../clusters/cluster.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { ClusterClient } from "../object/cluster-client.ts";
import { CONFIG_MAPS, ENDPOINTS, NAMESPACES, SECRETS, SERVICES } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";
import { createInformedAccess } from "../sync/informed-access.ts";
import type { InformedAccess } from "../sync/informed-access.ts";
import { createSyncer } from "../syncer.ts";
import type { Syncer } from "../syncer.ts";
import type { LoadedConfiguration } from "./configuration.ts";

/** Where the demonstration's files are: beside the sources, and beside the built package. */
export function demoFile(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/demo/${name}`, import.meta.url));
}

/** Two embedded clusters with a syncer between them, all over TLS. */
export interface DemoWorld {
  readonly syncer: Syncer;
  readonly metrics: MetricsRegistry;
  readonly tenant: DemoCluster;
  readonly host: DemoCluster;
  stop(): Promise<void>;
}

/** One side of the demonstration. */
export interface DemoCluster {
  readonly url: string;
  /** Path of its kubeconfig. */
  readonly kubeconfig: string;
  readonly client: ClusterClient;
}

const KINDS = [NAMESPACES, SECRETS, CONFIG_MAPS, SERVICES, ENDPOINTS];

/** Starts everything and creates `objects` in the tenant cluster. */
export async function startDemoWorld(loaded: LoadedConfiguration, objects: readonly KubeObject[]): Promise<DemoWorld> {
  const folder = await mkdtemp(join(tmpdir(), "endpoint-sync-demo-"));
  const metrics = createMetrics();
  const [tenant, host] = await Promise.all([
    startSide("tenant", folder, metrics),
    startSide("host", folder, metrics, loaded.vcluster.namespace),
  ]);
  await prepareHost(host.client, loaded);
  for (const object of objects) await create(tenant.client, object);
  const syncer = await createSyncer({ ...loaded, tenant: tenant.access, host: host.access, metrics });
  await syncer.start();
  return {
    syncer,
    metrics,
    tenant,
    host,
    async stop() {
      await syncer.stop();
      await Promise.all([tenant.stop(), host.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Side extends DemoCluster {
  readonly access: InformedAccess;
  stop(): Promise<void>;
}

async function startSide(name: string, folder: string, metrics: MetricsRegistry, namespace?: string): Promise<Side> {
  const cluster: Cluster = await startCluster({ name });
  const kubeconfig = join(folder, `${name}.kubeconfig`);
  await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  const runtime = { clock: systemClock, chance: systemChance, logger: silentLogger, metrics };
  const client = createHttpClient({ kubeConfig: await loadKubeConfig({ path: kubeconfig }), ...runtime });
  const access = createInformedAccess({ client, ...(namespace !== undefined && { scope: { namespace } }), ...runtime });
  return {
    url: cluster.url,
    kubeconfig,
    client,
    access,
    async stop() {
      await access.stop();
      await client.close();
      await cluster.stop();
    },
  };
}

/** The host namespace of the virtual cluster, and its own Service, which owns the copies. */
async function prepareHost(client: ClusterClient, { vcluster }: LoadedConfiguration): Promise<void> {
  await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: vcluster.namespace } });
  await client.create(SERVICES, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: vcluster.name, namespace: vcluster.namespace },
    spec: { ports: [{ name: "https", port: 443 }] },
  });
}

async function create(client: ClusterClient, object: KubeObject): Promise<void> {
  const resource = KINDS.find(({ kind }) => kind === object.kind);
  if (resource !== undefined) await client.create(resource, object);
}
