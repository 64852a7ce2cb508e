/** Copies of Endpoints without a Service, which the host's endpoints controller deletes at each of its starts. */
import { expect, test } from "vitest";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import { clock, cluster, fill, start, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

const WRITES = ["create", "update", "patch", "delete"];

/** Notes the syncer's writes to the host, with the names of the objects. */
function writing(writes: string[]) {
  return (client: ClusterClient, side: "tenant" | "host"): ClusterClient =>
    new Proxy(client, {
      get(target, verb) {
        const value: unknown = Reflect.get(target, verb);
        if (typeof value !== "function") return value;
        return (resource: { plural: string }, ...rest: unknown[]) => {
          const isWrite = side === "host" && WRITES.includes(String(verb)) && resource.plural !== "selfsubjectaccessreviews";
          const about = rest[0] as { name?: string; metadata?: { name?: string } };
          if (isWrite) writes.push(`${String(verb)} ${resource.plural} ${about.metadata?.name ?? about.name}`);
          return (value as (...args: unknown[]) => unknown).call(target, resource, ...rest);
        };
      },
    });
}

test.each([
  { backends: "auto", requireService: false, creates: 1 },
  { backends: "endpoints", requireService: false, creates: 1 },
  { backends: "auto", requireService: true, creates: 0 },
] as const)(
  "are created again at each start, $creates times, with backends: $backends and requireService: $requireService",
  async ({ creates, ...settings }) => {
    const sides = { tenant: await cluster("shop"), on: await cluster("vc"), namespace: "vc" };
    await fill(sides.tenant, "shop", ["web"]);
    // Endpoints that are made while the controller runs stay, also without a Service.
    const subsets = [{ addresses: [{ ip: "10.0.0.7" }], ports: [{ port: 80 }] }];
    await sides.tenant.client.create(ENDPOINTS, {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { namespace: "shop", name: "lock" },
      subsets,
    });
    const writes: string[] = [];
    await start({ ...sides, settings, through: writing(writes) });
    await clock.advance(10_000);
    const namesOf = async () => (await sides.on.client.list(ENDPOINTS, { namespace: "vc" })).items.map(({ metadata }) => metadata.name);
    const names = await namesOf();
    expect(names.includes("lock-x-shop-x-blue")).toBe(creates > 0);
    for (let times = 0; times < 2; times += 1) {
      writes.length = 0;
      await sides.on.controllers.stop("endpoints-controller");
      await sides.on.controllers.start("endpoints-controller");
      await sides.on.settled();
      await clock.advance(60_000);
      expect(writes).toEqual(creates > 0 ? ["create endpoints lock-x-shop-x-blue"] : []);
      expect(await namesOf()).toEqual(names);
    }
  },
);
