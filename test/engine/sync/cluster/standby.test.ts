/** A syncer that stands by for a long time. */
import { expect, test } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import { createEmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { ENDPOINTS, NAMESPACES } from "../../../../src/kube/object/resource.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../../../src/engine/syncer.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";

test("keeps no more keys than twice the objects and a thousand, whatever comes and goes, and copies what is there when it leads", async () => {
  const clock = createFakeClock();
  const [tenant, host] = await Promise.all([createEmbeddedCluster({ clock }), createEmbeddedCluster({ clock })]);
  await tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc" } });
  const shared = { clock, chance: systemChance };
  const access = {
    tenant: createInformedAccess({ client: tenant.client, ...shared }),
    host: createInformedAccess({ client: host.client, ...shared }),
  };
  const config = resolveConfig({});
  if (!config.ok) throw new Error("An empty configuration is valid");
  const syncer = await createSyncer({ config: config.config, vcluster: { name: "blue", namespace: "vc" }, ...access, ...shared });
  const during = async (work: Promise<unknown>) => {
    let done = false;
    void work.finally(() => (done = true));
    while (!done) await clock.advance(5);
  };
  await during(syncer.prepare());
  await expect(syncer.start()).rejects.toMatchObject({ code: "USAGE" });
  const most = 2 * syncer.status().waiting + 1_000;
  const waiting: number[] = [];
  for (let round = 0; round < 30; round++) {
    const names = Array.from({ length: 100 }, (_, index) => `gone-${round}-${index}`);
    for (const name of names)
      await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name } });
    for (const name of names) await tenant.client.delete(ENDPOINTS, { namespace: "shop", name });
    await clock.advance(10);
    waiting.push(syncer.status().waiting);
  }
  // Collected again as soon as one more waits; a round of changes may come before that.
  expect(Math.max(...waiting)).toBeLessThanOrEqual(most + 100);
  expect(Math.max(...waiting)).toBeGreaterThan(900);
  expect(waiting.filter((count, round) => round > 0 && count < waiting[round - 1]!).length).toBeGreaterThanOrEqual(2);
  await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name: "web" } });
  await clock.advance(10);
  const lost = new AbortController();
  const leading = syncer.lead(lost.signal);
  while (syncer.status().waiting > 0) await clock.advance(5);
  await clock.advance(100);
  expect(await host.client.get(ENDPOINTS, { namespace: "vc", name: "web-x-shop-x-blue" })).toBeDefined();
  lost.abort();
  await during(leading);
  await during(syncer.stop());
  await Promise.all([access.tenant.stop(), access.host.stop(), tenant.stop(), host.stop()]);
});
