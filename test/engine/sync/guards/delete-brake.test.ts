/** The delete brake over caches that a test moves by hand. */
import { expect, test } from "vitest";
import { silentLogger } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { keyOf, type ObjectKey } from "../../../../src/kube/object/key.ts";
import type { ChangeSign } from "../../../../src/kube/object/object-source.ts";
import { ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import { plan } from "../../../../src/engine/reconcile/plan.ts";
import { createDeleteBrake, createDeleteConfirmation } from "../../../../src/engine/sync/guards/delete-brake.ts";
import { syncId } from "../../../../src/engine/sync/state/sync-id.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { stored, tenantEndpoints, testRules } from "../../../support/rules.ts";

const RULES = { ...testRules(), servicesEnabled: false };

/** A cache with given contents. */
function cache() {
  const { source, show, set, tell } = createCacheByHand();
  return {
    source,
    put: (object: KubeObject) => show(keyOf(object), object, "event"),
    remove: (key: ObjectKey, sign?: ChangeSign) => show(key, undefined, sign),
    /** A complete list without these: all of them are removed before the first is reported. */
    lose(keys: readonly ObjectKey[]) {
      for (const key of keys) set(key, undefined);
      for (const key of keys) tell(key, "list");
    },
  };
}

function tenantObject(index: number): KubeObject {
  return { ...tenantEndpoints(), metadata: { namespace: "shop", name: `e${index}`, uid: `uid-${index}`, resourceVersion: "10" } };
}

function copyOf(object: KubeObject): KubeObject {
  const [create] = plan(RULES, { key: keyOf(object), tenant: object, host: undefined }).operations;
  return stored((create as Extract<Operation, { action: "create" }>).object, "20");
}

/** As many synced objects as asked for, with a brake beside them. */
function setting(count: number, { confirm = 0, tenantHas = count }: { confirm?: number; tenantHas?: number } = {}) {
  const [tenant, host] = [cache(), cache()];
  const objects = Array.from({ length: count }, (_, index) => tenantObject(index));
  for (const object of objects.slice(0, tenantHas)) tenant.put(object);
  for (const object of objects) host.put(copyOf(object));
  const enqueued: string[] = [];
  const notes: string[] = [];
  const metrics = createMetrics();
  const brake = createDeleteBrake({
    tenant: { source: () => tenant.source },
    host: { source: () => host.source },
    rules: [RULES],
    limits: { percent: 30, count: 20 },
    confirmation: createDeleteConfirmation(confirm),
    orphans: () => [],
    enqueue: (id) => enqueued.push(id),
    engaged: ({ message }) => notes.push(message),
    logger: silentLogger,
    metrics,
  });
  const keys = objects.map(keyOf);
  const holds = (index: number) => brake.holds(syncId(ENDPOINTS.plural, keys[index]!));
  const engaged = () => metrics.text().includes("endpoint_sync_delete_brake_engaged 1");
  const hostKey = (index: number) => RULES.translator.toHost(keys[index]!, ENDPOINTS)!;
  return { tenant, host, objects, keys, hostKey, holds, engaged, enqueued, notes, brake };
}

test("a list that is suddenly empty deletes nothing, and says so once", () => {
  const { tenant, keys, holds, engaged, notes } = setting(30);
  expect(holds(0)).toBe(false);
  tenant.lose(keys);
  expect([holds(0), holds(29), engaged()]).toEqual([true, true, true]);
  expect(notes).toEqual([expect.stringContaining("30 of 30 copies")]);
});

test("a list that lacks too much at the start counts like any other", () => {
  expect(setting(60, { tenantHas: 35 }).holds(59)).toBe(true);
  expect(setting(60, { tenantHas: 45 }).holds(59)).toBe(false);
});

test("what events said to be deleted goes, however much it is", () => {
  const { tenant, keys, holds } = setting(50);
  for (const key of keys) tenant.remove(key, "event");
  expect(holds(0)).toBe(false);
});

test("a source that does not tell events from lists counts as lists", () => {
  const { tenant, keys, holds } = setting(50);
  for (const key of keys) tenant.remove(key);
  expect(holds(0)).toBe(true);
});

test("while it is engaged, deletes that events announce wait too", () => {
  const { tenant, keys, holds } = setting(60);
  tenant.lose(keys.slice(0, 30));
  expect(holds(0)).toBe(true);
  tenant.remove(keys[50]!, "event");
  expect(holds(50)).toBe(true);
});

test("a copy that appears after its object was deleted by an event is no absence of a list", () => {
  const { tenant, host, objects, keys, hostKey, holds } = setting(30);
  holds(0);
  for (const [index] of keys.entries()) host.remove(hostKey(index));
  for (const key of keys) tenant.remove(key, "event");
  for (const object of objects) host.put(copyOf(object));
  expect(holds(0)).toBe(false);
});

test("it lets go when enough objects are back, and what is still missing is looked at again", () => {
  const { tenant, keys, objects, holds, engaged, enqueued } = setting(30);
  tenant.lose(keys);
  expect(holds(0)).toBe(true);
  for (const object of objects.slice(0, 9)) tenant.put(object);
  expect([engaged(), enqueued]).toEqual([true, []]);
  for (const object of objects.slice(9, 28)) tenant.put(object);
  expect(engaged()).toBe(false);
  expect(enqueued).toContain("endpoints|shop/e29");
  expect(holds(29)).toBe(false);
});

test("a confirmation covers at least as many deletes as it names, once", () => {
  expect(setting(30, { confirm: 29, tenantHas: 0 }).holds(0)).toBe(true);
  const { tenant, objects, keys, holds } = setting(30, { confirm: 30, tenantHas: 0 });
  expect(holds(0)).toBe(false);
  for (const object of objects) tenant.put(object);
  tenant.lose(keys);
  expect(holds(0)).toBe(true);
});

test("removing copies by hand does not engage it", () => {
  const { host, hostKey, keys, holds, engaged } = setting(30);
  holds(0);
  for (const [index] of keys.entries()) host.remove(hostKey(index), "list");
  expect([holds(0), engaged()]).toEqual([false, false]);
});

test("a brake that is closed hears of nothing any more", () => {
  const { tenant, keys, holds, brake } = setting(30);
  holds(0);
  brake.close();
  tenant.lose(keys);
  expect(holds(0)).toBe(false);
});

test("another object of the same host name does not count as the one whose copy is there", () => {
  const { tenant, host, keys, holds, engaged, enqueued } = setting(30);
  const first = { ...tenantObject(99), metadata: { ...tenantObject(99).metadata, namespace: "b-x-shop", name: "a" } };
  const second = { ...tenantObject(98), metadata: { ...tenantObject(98).metadata, namespace: "shop", name: "a-x-b" } };
  for (const object of [first, second]) tenant.put(object);
  host.put(copyOf(first));
  tenant.lose([...keys.slice(0, 21), keyOf(first)]);
  expect(holds(0)).toBe(true);
  tenant.put({ ...second, metadata: { ...second.metadata, resourceVersion: "30" } });
  for (const index of [0, 1]) tenant.put(tenantObject(index));
  expect(engaged()).toBe(false);
  expect(enqueued).toContain("endpoints|b-x-shop/a");
});

test("a copy that another object's copy has replaced no longer counts as one of a missing object", () => {
  const { tenant, host, keys, hostKey, holds, engaged, enqueued } = setting(30);
  tenant.lose(keys.slice(0, 21));
  expect(holds(0)).toBe(true);
  // The place has the markers of an object that exists.
  const other = copyOf(tenantObject(25));
  host.put({ ...other, metadata: { ...other.metadata, ...hostKey(0), annotations: inPlace(other, hostKey(0)) } });
  expect(engaged()).toBe(false);
  expect(enqueued).not.toContain("endpoints|shop/e0");
});

/** The markers of a copy, as one in another place has them. */
function inPlace(copy: KubeObject, { namespace, name }: ObjectKey): Record<string, string> {
  return { ...copy.metadata.annotations, "sync.platform/object-host-name": name, "sync.platform/object-host-namespace": namespace };
}
