/** Copies of referenced objects that earlier processes made, when a syncer starts. */
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import type { Operation, Plan, PlanInput } from "../../../../src/engine/reconcile/plan-types.ts";
import { planReferenceCopy } from "../../../../src/engine/reconcile/references/reference-copy.ts";
import { DEFAULT_SETTINGS } from "../../../../src/engine/config/settings.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, SECRETS } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { copiesBetween, referenceInput, secret, testReferenceRules } from "../../../support/references.ts";
import { stored, tenantEndpoints, testRules } from "../../../support/rules.ts";
import { clock, cluster, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

const PATCHES = [{ path: "metadata.annotations.secret", reference: { apiVersion: "v1", kind: "Secret" } }];

test("a copy that is found at a start is not deleted before all objects that may refer to it have been planned", () => {
  const source = secret("shop", "db");
  const rules = testReferenceRules({ retentionMs: 0 });
  const input = referenceInput({ source });
  const [planned] = planReferenceCopy(rules, input).operations;
  const copy = stored((planned as Extract<Operation, { action: "create" }>).object, "20");
  const caches = { tenant: createCacheByHand(source), host: createCacheByHand(copy) };
  const [endpoints, synced] = [tenantEndpoints(), testRules({ patches: PATCHES as never })];
  const enqueued: string[] = [];
  const copies = copiesBetween(
    { tenant: caches.tenant.source, host: caches.host.source },
    {
      ...{ rules, synced: [synced] },
      tenant: { source: ({ kind }) => (kind === "Endpoints" ? createCacheByHand(endpoints) : caches.tenant).source },
      enqueue: (id) => void enqueued.push(id),
    },
  );
  const begin = () => copies.begin("secrets|shop/db", silentLogger)!;
  const plan = (seen: Partial<PlanInput>, state: Plan["state"]) => {
    const about = ["endpoints|shop/web", synced, { ...seen } as PlanInput, { state, references: [] } as unknown as Plan] as const;
    copies.planned(...about);
    // A plan that is not carried out yet may be wrong.
    expect(begin().request).toEqual({ type: "done", ending: { result: "settled" } });
    copies.settled(...about);
  };

  copies.found(input.kind, copy);
  expect(begin().request).toEqual({ type: "done", ending: { result: "settled" } });
  // The delete brake holds the copy of the Endpoints: what they refer to is not known.
  plan({ tenant: undefined, host: copy }, "waiting");
  expect(begin().request).toEqual({ type: "done", ending: { result: "settled" } });
  enqueued.length = 0;
  plan({ tenant: endpoints, host: undefined }, "copied");
  expect(enqueued).toEqual(["secrets|shop/db"]);
  const reconcile = begin();
  expect(reconcile.request).toMatchObject({ type: "write", operation: { action: "delete" } });
  finish(reconcile.answer({ type: "absent" }));
});

test("without retention, a start deletes copies that are not referenced, and no others, although the host refuses an object for good", async () => {
  const [tenant, on] = [await cluster("shop"), await cluster("vc")];
  const names = Array.from({ length: 30 }, (_, index) => `web-${index}`);
  await fill(tenant, "shop", names);
  for (const name of names) {
    const metadata = { namespace: "shop", name };
    await tenant.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data: { v: "YQ==" } } as KubeObject);
    await tenant.client.patch(ENDPOINTS, metadata, "merge", { metadata: { annotations: { secret: name } } });
  }
  const deleted: string[] = [];
  const through = (client: ClusterClient): ClusterClient => ({
    ...{ get: client.get.bind(client), list: client.list.bind(client), watch: client.watch.bind(client), patch: client.patch.bind(client) },
    ...{ update: client.update.bind(client), close: client.close.bind(client) },
    create: async (resource, object) => {
      if (resource.kind === "Endpoints" && object.metadata.name?.startsWith("denied"))
        throw new EngineError("API_FORBIDDEN", "exceeded quota");
      return client.create(resource, object);
    },
    delete: (resource, key, preconditions) => (deleted.push(key.name), client.delete(resource, key, preconditions)),
  });
  const settings = { references: { ...DEFAULT_SETTINGS.references, retentionMinutes: 0 } };
  const options = {
    tenant,
    on,
    namespace: "vc",
    toHost: { secrets: { enabled: true }, endpoints: { patches: PATCHES } },
    settings,
    through,
  };
  await fill(tenant, "shop", ["denied"]);
  await start(options);
  await stopAll();
  await tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "web-0" }, "merge", { metadata: { annotations: { secret: null } } });
  await start(options);
  await clock.advance(5_000);
  expect(deleted).toEqual(["web-0-x-shop-x-blue"]);
});

test("copies of an earlier process are found also if the cache of their kind is opened for the search", async () => {
  const [tenant, on] = [await cluster("shop"), await cluster("vc")];
  await fill(tenant, "shop", ["web"]);
  const metadata = { namespace: "shop", name: "web" };
  await tenant.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data: { v: "YQ==" } } as KubeObject);
  await tenant.client.patch(ENDPOINTS, metadata, "merge", { metadata: { annotations: { secret: "web" } } });
  const settings = { references: { ...DEFAULT_SETTINGS.references, retentionMinutes: 1 } };
  const options = { tenant, on, namespace: "vc", toHost: { secrets: { enabled: true }, endpoints: { patches: PATCHES } }, settings };
  await start(options);
  await stopAll();
  await tenant.client.patch(ENDPOINTS, metadata, "merge", { metadata: { annotations: { secret: null } } });
  await start({ ...options, access: ({ source, writer }) => ({ source, writer }) });
  const copy = { namespace: "vc", name: "web-x-shop-x-blue" };
  expect(await on.client.get(SECRETS, copy)).toBeDefined();
  await clock.advance(70_000);
  expect(await on.client.get(SECRETS, copy)).toBeUndefined();
});
