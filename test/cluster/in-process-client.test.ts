import { createEmbeddedCluster } from "../../src/clusters.ts";
import { clusterClientSuite } from "../conformance/cluster-client.ts";

clusterClientSuite({
  name: "in-process client",
  offers: ["compact", "disconnect"],
  create: async () => {
    const { client, compact, stop } = await createEmbeddedCluster();
    return { client, compact, disconnect: () => client.disconnect(), close: stop };
  },
});
