import { expect, test } from "vitest";
import type { ObjectKey } from "../../../../src/kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../../src/kube/object/resource.ts";
import { ENDPOINT_SLICES_KIND } from "../../../../src/engine/kinds/endpoint-slices.ts";
import { addEventHandlers } from "../../../../src/engine/sync/run/event-handlers.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { testRules } from "../../../support/rules.ts";

/** Caches that note which kinds are asked for, and that hold what a test puts. */
function caches() {
  const kinds = new Map<string, ReturnType<typeof createCacheByHand>>();
  const of = ({ plural }: ResourceType) => {
    const known = kinds.get(plural) ?? createCacheByHand();
    kinds.set(plural, known);
    return known;
  };
  return {
    kinds,
    source: (type: ResourceType) => of(type).source,
    put(type: ResourceType, key: ObjectKey, labels: Record<string, string> = {}) {
      of(type).show(key, { apiVersion: type.apiVersion, kind: type.kind, metadata: { ...key, labels } });
    },
  };
}

function router(kinds: readonly ("slices" | "endpoints")[]) {
  const [tenant, host, enqueued] = [caches(), caches(), [] as string[]];
  const rules = kinds.map((kind) => testRules(kind === "slices" ? { kind: ENDPOINT_SLICES_KIND } : {}));
  addEventHandlers({ tenant, host, rules, enqueue: (id) => void enqueued.push(id), changed: () => {} });
  return { tenant, host, enqueued };
}

test.each([
  { kinds: ["endpoints"] as const, want: ["endpoints", "services"] },
  { kinds: ["slices", "endpoints"] as const, want: ["endpoints", "endpointslices", "services"] },
])("no cache is opened but those of $want where $kinds are synced", ({ kinds, want }) => {
  const { tenant, host } = router(kinds);
  for (const { kinds: opened } of [tenant, host]) expect([...opened.keys()].sort()).toEqual(want);
});

test("a slice concerns the Endpoints of its Service, and a Service its slices, on either side", () => {
  const { tenant, host, enqueued } = router(["slices", "endpoints"]);
  const slice = { namespace: "shop", name: "web-1" };
  const taken = () => new Set(enqueued.splice(0));
  tenant.put(ENDPOINT_SLICES, slice, { "kubernetes.io/service-name": "web" });
  expect(taken()).toEqual(new Set(["endpointslices|shop/web-1", "endpoints|shop/web"]));
  tenant.put(SERVICES, { namespace: "shop", name: "web" });
  expect(taken()).toEqual(new Set(["endpointslices|shop/web-1", "endpoints|shop/web"]));
  host.put(SERVICES, { namespace: "vc", name: "web-x-shop-x-blue" });
  expect(taken()).toEqual(new Set(["endpointslices|shop/web-1"]));
  tenant.put(ENDPOINT_SLICES, slice, { "kubernetes.io/service-name": "db" });
  expect(taken()).toEqual(new Set(["endpointslices|shop/web-1", "endpoints|shop/web", "endpoints|shop/db"]));
  tenant.put(ENDPOINTS, { namespace: "shop", name: "web" });
  expect(taken()).toEqual(new Set(["endpoints|shop/web"]));
});

test("while a Service rests, Endpoints of the tenant that change do not bring its unit back, and anything else does", () => {
  const [tenant, host, enqueued] = [caches(), caches(), [] as string[]];
  const rules = [{ ...testRules({ kind: ENDPOINT_SLICES_KIND }), decidesBackends: true }, testRules()];
  const { backends } = addEventHandlers({ tenant, host, rules, enqueue: (id) => void enqueued.push(id), changed: () => {} });
  const web = { namespace: "shop", name: "web" };
  const isBroughtBack = () => enqueued.splice(0).includes("backends|shop/web");
  tenant.put(ENDPOINTS, web);
  expect(isBroughtBack()).toBe(true);
  backends!.rests(web);
  const version = backends!.version(web);
  tenant.put(ENDPOINTS, web);
  expect(isBroughtBack()).toBe(false);
  expect(backends!.version(web)).not.toBe(version);
  tenant.put(SERVICES, web);
  expect(isBroughtBack()).toBe(true);
  tenant.put(ENDPOINTS, web);
  expect(isBroughtBack()).toBe(true);
});
