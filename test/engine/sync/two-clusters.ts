/** Two empty clusters for each test of a file: `shop` is there for tenants, `vc` for the copies of virtual cluster "blue". */
import { afterEach, beforeEach } from "vitest";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { NAMESPACES } from "../../../src/kube/object/resource.ts";

/** The clusters of the test that runs. */
export interface TwoClusters {
  readonly tenant: EmbeddedCluster;
  readonly host: EmbeddedCluster;
}

/** To be called at the top of a test file, before its own hooks: these clusters stop after what they began. */
export function useTwoClusters(): TwoClusters {
  let tenant: EmbeddedCluster;
  let host: EmbeddedCluster;
  beforeEach(async () => {
    [tenant, host] = await Promise.all([createEmbeddedCluster(), createEmbeddedCluster()]);
    await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
  });
  afterEach(async () => void (await Promise.all([tenant.stop(), host.stop()])));
  return {
    get tenant() {
      return tenant;
    },
    get host() {
      return host;
    },
  };
}
