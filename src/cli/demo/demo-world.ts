import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemChance } from "../../base/chance.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import { createMetrics, type MetricsRegistry } from "../../base/metrics.ts";
import { loadKubeConfig } from "../../kube/client/kube-config.ts";
import { startCluster } from "../../cluster/cluster.ts";
import type { ClusterClient, ListScope } from "../../kube/object/cluster-client.ts";
import { CONFIG_MAPS, ENDPOINTS, NAMESPACES, SECRETS, SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { createSyncer, type Syncer } from "../../engine/syncer.ts";
import type { LoadedConfiguration } from "../input/configuration.ts";
import { followCluster, type FollowedCluster, type Runtime } from "../input/followed-cluster.ts";
import { writeKubeconfigFile } from "../files/kubeconfig-file.ts";
import { demoValues, type DemoSide, type DemoValues } from "./demo-values.ts";
import type { Teardown } from "../process/teardown.ts";

/** Returns the path of a file of the demonstration; it is the same in the sources and in the built package. */
export function demoFile(name: string): string {
  return fileURLToPath(new URL(`../../../fixtures/demo/${name}`, import.meta.url));
}

/** Two embedded clusters with a syncer between them, all over TLS. */
export interface DemoWorld {
  readonly syncer: Syncer;
  readonly metrics: MetricsRegistry;
  /** Paths of the kubeconfigs. */
  readonly kubeconfigs: { readonly tenant: string; readonly host: string };
  /** Current values of Endpoints and Services in both clusters. */
  values(): Promise<DemoValues>;
}

/** Input of a world. */
export interface DemoInput {
  readonly loaded: LoadedConfiguration;
  /** Objects in the tenant cluster when the syncer starts. */
  readonly objects: readonly KubeObject[];
  readonly teardown: Teardown;
}

const KINDS = [NAMESPACES, SECRETS, CONFIG_MAPS, SERVICES, ENDPOINTS];

/** Starts both clusters and the syncer. `teardown` stops them, even if only some of them could be started. */
export async function startDemoWorld({ loaded, objects, teardown }: DemoInput): Promise<DemoWorld> {
  const folder = await mkdtemp(join(tmpdir(), "endpoint-sync-demo-"));
  teardown.add(() => rm(folder, { recursive: true, force: true }));
  const metrics = createMetrics();
  const runtime: Runtime = { clock: systemClock, chance: systemChance, logger: silentLogger, metrics };
  const kubeconfigs = { tenant: join(folder, "tenant.kubeconfig"), host: join(folder, "host.kubeconfig") };
  const start = (side: "tenant" | "host", scope: ListScope) => startSide({ side, scope, path: kubeconfigs[side], runtime, teardown });
  const [tenant, host] = await Promise.all([start("tenant", {}), start("host", { namespace: loaded.vcluster.namespace })]);
  await prepareHost(host.client, loaded);
  for (const object of objects) await create(tenant.client, object);
  const syncer = await createSyncer({ ...loaded, tenant: tenant.access, host: host.access, ...runtime });
  teardown.add(() => syncer.stop());
  await syncer.start();
  return { syncer, metrics, kubeconfigs, values: async () => demoValues(await Promise.all([tenant, host].map(shownObjects))) };
}

async function shownObjects({ side, client, scope }: FollowedCluster): Promise<DemoSide> {
  const lists = await Promise.all([ENDPOINTS, SERVICES].map((resource) => client.list(resource, scope)));
  return { side, objects: lists.flatMap(({ items }) => items) };
}

interface SideInput {
  readonly side: "tenant" | "host";
  readonly scope: ListScope;
  /** The path of the kubeconfig. */
  readonly path: string;
  readonly runtime: Runtime;
  readonly teardown: Teardown;
}

async function startSide({ side, scope, path, runtime, teardown }: SideInput): Promise<FollowedCluster> {
  const cluster = await startCluster({ name: side });
  teardown.add(() => cluster.stop());
  await writeKubeconfigFile(path, cluster.kubeconfig);
  const followed = followCluster({ side, scope, kubeConfig: await loadKubeConfig({ path }), runtime });
  teardown.add(() => followed.stop());
  return followed;
}

/** Creates the host namespace of the virtual cluster, and the virtual cluster's own Service, which owns the copies. */
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
