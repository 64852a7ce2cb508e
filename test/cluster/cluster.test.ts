import { startCluster, type ClusterOptions } from "../../src/clusters.ts";
import { clusterSuite } from "../conformance/cluster.ts";

const create = (options: Omit<ClusterOptions, "name">) => async () => {
  const { url, caPem, token, compact, stop } = await startCluster({ name: "conformance", ...options });
  return { url, caPem, token, compact, close: stop };
};

clusterSuite({ name: "embedded cluster over HTTPS", offers: ["compact"], create: create({}) });
clusterSuite({ name: "embedded cluster over HTTP", offers: ["compact"], authenticates: false, create: create({ tls: false }) });
