/**
 * A cluster is the same API, wherever its objects are: every case of the suites, on etcd.
 */
import { afterAll, beforeAll } from "vitest";
import { createEmbeddedCluster, openEtcdStore, startCluster } from "../../../src/clusters.ts";
import { clusterClientSuite } from "../../conformance/cluster-client.ts";
import { clusterSuite } from "../../conformance/cluster.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";

describeEtcd("on etcd", () => {
  let etcd: Etcd;
  let stores = 0;
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  const newStore = () => openEtcdStore({ endpoints: [etcd.url], prefix: `/cluster/${(stores += 1)}` });

  clusterClientSuite({
    name: "in-process client on etcd",
    offers: ["compact", "disconnect"],
    create: async () => {
      const { client, compact, stop } = await createEmbeddedCluster({ store: await newStore() });
      return { client, compact, disconnect: () => client.disconnect(), close: stop };
    },
  });

  clusterSuite({
    name: "embedded cluster on etcd",
    offers: ["compact"],
    create: async () => {
      const { url, caPem, token, compact, stop } = await startCluster({ name: "conformance", store: await newStore() });
      return { url, caPem, token, compact, close: stop };
    },
  });
});
