import { afterAll, beforeAll } from "vitest";
import { startCluster, type Cluster } from "../../../src/clusters.ts";
import { createRawClient, type RawClient } from "../../conformance/raw-client.ts";

/** An embedded cluster over HTTP, and a client of its bytes, for all tests of a file. Both are there from the first test on. */
export function useRawCluster(): { readonly cluster: Cluster; readonly client: RawClient } {
  let cluster: Cluster;
  let client: RawClient;
  beforeAll(async () => {
    cluster = await startCluster({ name: "demo", tls: false });
    client = createRawClient(cluster);
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });
  return {
    get cluster() {
      return cluster;
    },
    get client() {
      return client;
    },
  };
}
