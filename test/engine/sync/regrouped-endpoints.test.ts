/** Endpoints between API servers that store subsets as they are written and those that regroup them, as before Kubernetes 1.36. */
import { expect, test } from "vitest";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { Endpoints, EndpointSubset } from "../../../src/kube/object/types.ts";
import { clock, clusterWith, fill, start, stopAll, useRunningSyncers } from "./running-syncers.ts";
import { copyIn, write } from "./backends/seen-backends.ts";

useRunningSyncers();

const port = { name: "a", port: 80, protocol: "TCP" };
const SPLIT: readonly EndpointSubset[] = [
  { addresses: [{ ip: "10.0.0.3" }, { ip: "10.0.0.2" }], ports: [port] },
  { addresses: [{ ip: "10.0.0.1" }], ports: [port] },
];
const PACKED: readonly EndpointSubset[] = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }, { ip: "10.0.0.3" }], ports: [port] }];

test.each([
  { tenant: false, host: false, stored: SPLIT },
  { tenant: false, host: true, stored: PACKED },
  { tenant: true, host: false, stored: PACKED },
  { tenant: true, host: true, stored: PACKED },
])("nothing is written at rest, tenant regroups: $tenant, host regroups: $host", async ({ tenant, host, stored }) => {
  const sides = {
    tenant: await clusterWith({ regroupsEndpoints: tenant }, "shop"),
    on: await clusterWith({ regroupsEndpoints: host }, "vc"),
    namespace: "vc",
  };
  await fill(sides.tenant, "shop", ["web"]);
  await write(sides.tenant, SPLIT);
  await start(sides);
  const copy = await copyIn(sides.on);
  expect(copy?.subsets).toEqual(stored);
  const source = await sides.tenant.client.get(ENDPOINTS, { namespace: "shop", name: "web" });
  await clock.advance(3_600_000);
  await stopAll();
  await start(sides);
  expect(await copyIn(sides.on)).toEqual(copy);
  // Written in other subsets, it means the same.
  await write(sides.tenant, PACKED);
  await clock.advance(20_000);
  expect(await copyIn(sides.on)).toEqual(copy);
  const now = (await sides.tenant.client.get(ENDPOINTS, { namespace: "shop", name: "web" })) as Endpoints;
  expect(now.subsets).toEqual(PACKED);
  // A regrouping server has not even stored that.
  expect(now.metadata.resourceVersion === source?.metadata.resourceVersion).toBe(tenant);
});
