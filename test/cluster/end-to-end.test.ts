/**
 * The syncer between two clusters over HTTPS: embedded ones, or those that TENANT_KUBECONFIG and HOST_KUBECONFIG name. With
 * these set, the API behaviour of both is checked as well, by the suite that the embedded clusters run.
 */
import { systemClock } from "../../src/base/clock.ts";
import { createHttpClient } from "../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../src/kube/client/kube-config.ts";
import { startCluster } from "../../src/clusters.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { addressOf } from "../conformance/kube-config-address.ts";
import { clusterSuite } from "../conformance/cluster.ts";
import { clusterClientSuite } from "../conformance/cluster-client.ts";
import { syncerSuite } from "../conformance/syncer.ts";

const { TENANT_KUBECONFIG: tenantPath, HOST_KUBECONFIG: hostPath } = process.env;

async function clientFor(source: { path: string } | { text: string }): Promise<ClusterClient> {
  return createHttpClient({ kubeConfig: await loadKubeConfig(source), clock: systemClock });
}

async function embeddedSide(name: string) {
  const cluster = await startCluster({ name });
  const client = await clientFor({ text: cluster.kubeconfig });
  return {
    client,
    async close() {
      await client.close();
      await cluster.stop();
    },
  };
}

if (tenantPath !== undefined && hostPath !== undefined) {
  for (const path of new Set([tenantPath, hostPath])) {
    clusterClientSuite({
      name: `the cluster of ${path}`,
      create: async () => {
        const client = await clientFor({ path });
        return { client, close: () => client.close() };
      },
    });
    clusterSuite({
      name: `the cluster of ${path} over HTTP`,
      // Whether strangers may ask for more than health and version is for the administrator to say.
      authenticates: false,
      create: async () => ({ ...(await addressOf(await loadKubeConfig({ path }))), close: async () => {} }),
    });
  }
  syncerSuite({
    name: `between ${tenantPath} and ${hostPath}`,
    create: async () => {
      const [tenant, host] = [await clientFor({ path: tenantPath }), await clientFor({ path: hostPath })];
      return { tenant, host, close: async () => void (await Promise.all([tenant.close(), host.close()])) };
    },
  });
} else {
  syncerSuite({
    name: "between two embedded clusters over HTTPS",
    create: async () => {
      const [tenant, host] = await Promise.all([embeddedSide("tenant"), embeddedSide("host")]);
      return { tenant: tenant.client, host: host.client, close: async () => void (await Promise.all([tenant.close(), host.close()])) };
    },
  });
}
