import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { clock, cluster, start, useRunningSyncers } from "../running-syncers.ts";
import { over } from "./over-client.ts";

useRunningSyncers();

test("copies that a quota refuses are not all tried again with each other copy that is made", async () => {
  const [tenant, on] = [await cluster("shop"), await cluster("vc")];
  const ports = [{ port: 80 }];
  for (let index = 0; index < 10; index += 1)
    await tenant.client.create(SERVICES, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "shop", name: `big-${index}` },
      spec: { ports },
    } as KubeObject);
  let tries = 0;
  const create: ClusterClient["create"] = (resource, object) => {
    if (resource !== SERVICES || object.metadata.name?.startsWith("big-") !== true) return on.client.create(resource, object);
    tries += 1;
    return Promise.reject(new EngineError("API_FORBIDDEN", "exceeded quota: services, requested: count/services=1, used: 10, limited: 10"));
  };
  const through = (client: ClusterClient, side: "tenant" | "host") => (side === "host" ? over(client, { create }) : client);
  await start({ tenant, on, namespace: "vc", settings: { backends: "endpoints" }, through });
  await clock.advance(30 * 60_000);
  tries = 0;
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports }];
  for (let index = 0; index < 20; index += 1) {
    await tenant.client.create(ENDPOINTS, {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { namespace: "shop", name: `e-${index}` },
      subsets,
    } as KubeObject);
    await clock.advance(2_000);
  }
  // Each has its own retries, at most every 15 s.
  expect(tries).toBeLessThan(50);
});
