/** With `backends: auto`, what a tenant deletes is compared with a few objects of the host, however many there are. */
import { expect, test } from "vitest";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES } from "../../../../src/kube/object/resource.ts";
import { over } from "../run/over-client.ts";
import { clock, fill, start, useRunningSyncers } from "../running-syncers.ts";
import { AUTO, HTTP, ips, ownSlice, sidesWith, slicesIn, write } from "./seen-backends.ts";

useRunningSyncers();

test("the copy of a slice of one endpoint goes after a few reads, however many slices the Service has", async () => {
  const sides = await sidesWith(false, false);
  await fill(sides.tenant, "shop", ["web"]);
  await write(sides.tenant, [{ addresses: ips(2_000), ports: HTTP }]);
  for (let index = 0; index < 10; index += 1)
    await sides.tenant.client.create(ENDPOINT_SLICES, ownSlice(`own-${index}`, [`10.200.0.${index + 1}`]));
  let gets = 0;
  const through = (client: ClusterClient, side: "tenant" | "host") =>
    over(client, { get: (resource, key) => ((gets += side === "host" ? 1 : 0), client.get(resource, key)) });
  await start({ ...sides, settings: AUTO, through });
  await clock.advance(10_000);
  expect((await slicesIn(sides.on)).length).toBe(30);
  gets = 0;
  for (let index = 0; index < 10; index += 1)
    await sides.tenant.client.delete(ENDPOINT_SLICES, { namespace: "shop", name: `own-${index}` });
  await clock.advance(10_000);
  expect(gets / 10).toBeLessThan(10);
  expect((await slicesIn(sides.on)).length).toBe(20);
});
