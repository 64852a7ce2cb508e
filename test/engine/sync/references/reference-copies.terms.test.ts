/** Copies of referenced objects when a process that led leads again. */
import { expect, test } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { createInformedAccess } from "../../../../src/engine/sync/cluster/informed-access.ts";
import { createSyncer } from "../../../../src/engine/syncer.ts";
import { ENDPOINTS, SECRETS } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import { planReferenceCopy } from "../../../../src/engine/reconcile/references/reference-copy.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { copiesBetween, referenceInput, secret, testReferenceRules } from "../../../support/references.ts";
import { stored } from "../../../support/rules.ts";
import { clock, cluster, fill, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

const COPY = { namespace: "vc", name: "db-x-shop-x-blue" };
const MINUTE_MS = 60_000;

/** A process of the virtual cluster "blue", which can lead several times. */
async function process({ tenant, on }: { tenant: EmbeddedCluster; on: EmbeddedCluster }) {
  const shared = { clock, chance: systemChance };
  const access = {
    tenant: createInformedAccess({ client: tenant.client, ...shared }),
    host: createInformedAccess({ client: on.client, ...shared }),
  };
  const patches = [{ path: "metadata.annotations.secret", reference: { apiVersion: "v1", kind: "Secret" } }];
  const config = resolveConfig({ sync: { toHost: { secrets: { enabled: true }, endpoints: { patches } } } });
  if (!config.ok) throw new Error("The configuration has errors");
  const syncer = await createSyncer({ config: config.config, vcluster: { name: "blue", namespace: "vc" }, ...access, ...shared });
  const during = async (work: Promise<unknown>) => {
    let done = false;
    void work.finally(() => (done = true));
    while (!done) await clock.advance(5);
  };
  await during(syncer.prepare());
  return {
    async lead(work: () => Promise<unknown>) {
      const lost = new AbortController();
      const leading = syncer.lead(lost.signal);
      await clock.advance(1_000);
      await work();
      lost.abort();
      await during(leading);
    },
    async stop() {
      await during(syncer.stop());
      await Promise.all([access.tenant.stop(), access.host.stop()]);
    },
  };
}

/** Two clusters with Endpoints and a Secret `shop/db`. */
async function clusters() {
  const both = { tenant: await cluster("shop"), on: await cluster("vc") };
  const { client } = both.tenant;
  await fill(both.tenant, "shop", ["web"]);
  const metadata = { namespace: "shop", name: "db" };
  await client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data: { v: "YQ==" } } as KubeObject);
  const refer = async (name: string, secret: string | null) => {
    await client.patch(ENDPOINTS, { namespace: "shop", name }, "merge", { metadata: { annotations: { secret } } });
    await clock.advance(1_000);
  };
  return { ...both, refer, copy: () => both.on.client.get(SECRETS, COPY) };
}

test("a process that leads again deletes the copies that another one left unreferenced in between", async () => {
  const { refer, copy, ...both } = await clusters();
  const [first, second] = [await process(both), await process(both)];
  await first.lead(async () => undefined);
  await second.lead(async () => {
    await refer("web", "db");
    expect(await copy()).toBeDefined();
    await refer("web", null);
  });
  await second.stop();
  await first.lead(() => clock.advance(15 * MINUTE_MS));
  expect(await copy()).toBeUndefined();
  await first.stop();
});

test("retention times begin again when another process may have led, because it may have planned other references", async () => {
  const [source, rules, clock] = [secret("shop", "db"), testReferenceRules(), createFakeClock()];
  const [planned] = planReferenceCopy(rules, referenceInput({ source })).operations;
  const copy = stored((planned as Extract<Operation, { action: "create" }>).object, "20");
  const caches = { tenant: createCacheByHand(source).source, host: createCacheByHand(copy).source };
  const copies = copiesBetween(caches, { rules, clock });
  const begin = () => copies.begin("secrets|shop/db", silentLogger)!;
  copies.found(referenceInput().kind, copy);
  begin();
  await clock.advance(rules.retentionMs);
  copies.standBy();
  expect(begin().request).toMatchObject({ type: "done", ending: { requeueAfterMs: rules.retentionMs } });
  await clock.advance(rules.retentionMs);
  expect(begin().request).toMatchObject({ type: "write", operation: { action: "delete" } });
});
