import { systemClock } from "../../../src/base/clock.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { startCluster } from "../../../src/clusters.ts";
import { clusterClientSuite } from "../../conformance/cluster-client.ts";

for (const tls of [true, false]) {
  clusterClientSuite({
    name: `the client over ${tls ? "HTTPS" : "HTTP"}, with an embedded cluster behind it`,
    offers: ["compact", "disconnect"],
    async create() {
      const cluster = await startCluster({ name: "blue", tls });
      const client = createHttpClient({ kubeConfig: await loadKubeConfig({ text: cluster.kubeconfig }), clock: systemClock });
      return {
        client,
        compact: () => cluster.compact(),
        disconnect: () => cluster.disconnect(),
        async close() {
          await client.close();
          await cluster.stop();
        },
      };
    },
  });
}
