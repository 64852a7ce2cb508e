/** Requests and events while the identity of the cluster is unknown. */
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import type { ClusterClient, WatchEvent, WatchOptions } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, NAMESPACES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createClusterGuard, verifiedOnly } from "../../../../src/engine/sync/cluster/cluster-guard.ts";
import { createFakeClock, settle } from "../../../support/fake-clock.ts";

const KEY = { namespace: "shop", name: "web" };
const WEB: KubeObject = { apiVersion: "v1", kind: "Endpoints", metadata: KEY };
const DOWN = new EngineError("API_UNAVAILABLE", "connect ECONNREFUSED");
const FORBIDDEN = new EngineError("API_FORBIDDEN", "namespaces is forbidden");
const EVENT: WatchEvent = { type: "MODIFIED", object: WEB };
const BOOKMARK: WatchEvent = { type: "BOOKMARK", object: WEB };
const LIST_END: WatchEvent = {
  type: "BOOKMARK",
  object: { ...WEB, metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
};

function createWorld() {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const state = {
    uid: "right" as string | undefined,
    asked: 0,
    lists: 0,
    writes: 0,
    failure: undefined as EngineError | undefined,
    refusal: undefined as EngineError | undefined,
    events: [] as WatchEvent[],
  };
  const answer = <Result>(result: Result) => (state.failure === undefined ? Promise.resolve(result) : Promise.reject(state.failure));
  const write = () => ((state.writes += 1), answer(WEB));
  const client: ClusterClient = {
    get(resource) {
      if (resource !== NAMESPACES) return answer(WEB);
      state.asked += 1;
      if (state.refusal !== undefined) return Promise.reject(state.refusal);
      const metadata = { name: "kube-system", ...(state.uid !== undefined && { uid: state.uid }) };
      return answer({ apiVersion: "v1", kind: "Namespace", metadata });
    },
    list: () => ((state.lists += 1), answer({ items: [WEB], resourceVersion: "1" })),
    async *watch(_resource, { onOpen }: WatchOptions) {
      await answer(undefined);
      onOpen?.();
      yield* state.events;
    },
    create: write,
    update: write,
    patch: write,
    delete: () => answer("deleted" as const),
    close: () => Promise.resolve(),
  };
  const guard = createClusterGuard({ client, clock, logger: silentLogger, metrics, cluster: "tenant" });
  const seen: string[] = [];
  const watch = async (initialEvents = false) => {
    const signal = new AbortController().signal;
    const options = { resourceVersion: "1", initialEvents, timeoutSeconds: 28, signal, onOpen: () => void seen.push("open") };
    for await (const { type } of guard.client.watch(ENDPOINTS, options)) seen.push(type);
  };
  const told = () => metrics.value("endpoint_sync_cluster_is_another", { cluster: "tenant" });
  return { clock, state, client, guard, seen, watch, told };
}

/** A guard that has seen the right cluster a while ago. */
async function createSettled() {
  const world = createWorld();
  await world.guard.client.list(ENDPOINTS);
  await world.clock.advance(5_000);
  world.state.asked = 0;
  return world;
}

const wrong = { code: "CLUSTER_IDENTITY" };

test("a list of another cluster is not handed on", async () => {
  const { state, guard, told } = await createSettled();
  state.uid = "other";
  await expect(guard.client.list(ENDPOINTS)).rejects.toMatchObject(wrong);
  expect([guard.wrong?.code, told()]).toEqual(["CLUSTER_IDENTITY", 1]);
});

test.each([undefined, "other"])("another cluster, whose uid is %s, is asked once a second at most, and listed no more", async (uid) => {
  const { clock, state, guard } = await createSettled();
  state.uid = uid;
  await expect(guard.client.list(ENDPOINTS)).rejects.toMatchObject(wrong);
  const before = state.lists;
  state.asked = 0;
  for (let i = 0; i < 100; i++) {
    await expect(guard.client.list(ENDPOINTS)).rejects.toMatchObject(wrong);
    await expect(guard.client.get(ENDPOINTS, KEY)).rejects.toMatchObject(wrong);
    await clock.advance(100);
  }
  expect(state.asked).toBeLessThanOrEqual(10);
  expect(state.lists).toBe(before);
});

test("the right cluster is followed as soon as it answers again", async () => {
  const { clock, state, guard, told } = await createSettled();
  state.uid = "other";
  await expect(guard.client.list(ENDPOINTS)).rejects.toMatchObject(wrong);
  state.uid = "right";
  await clock.advance(1_000);
  expect((await guard.client.list(ENDPOINTS)).items).toHaveLength(1);
  expect([guard.wrong, told()]).toEqual([undefined, 0]);
});

test("a watch after a failure is opened only when it is known who answers, and nothing of another cluster passes", async () => {
  const { clock, state, guard, seen, watch } = await createSettled();
  state.failure = DOWN;
  await expect(watch()).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  state.failure = undefined;
  state.uid = "other";
  state.events = [BOOKMARK, EVENT];
  await expect(watch()).rejects.toMatchObject(wrong);
  expect([seen, state.asked]).toEqual([[], 1]);
  state.uid = "right";
  await clock.advance(1_000);
  await watch();
  expect(seen.toSorted()).toEqual(["BOOKMARK", "MODIFIED", "open"]);
  expect(guard.wrong).toBe(undefined);
});

test("a watch that follows another one as agreed is asked about before its first event, and not for bookmarks", async () => {
  const { state, seen, watch } = await createSettled();
  state.events = [BOOKMARK];
  await watch();
  expect([seen, state.asked]).toEqual([["open", "BOOKMARK"], 0]);
});

test("an event of another cluster does not pass, even if no connection broke", async () => {
  const { state, seen, watch } = await createSettled();
  state.events = [EVENT];
  state.uid = "other";
  await expect(watch()).rejects.toMatchObject(wrong);
  expect(seen).toEqual(["open"]);
});

test("a list that is streamed is asked about at its end, once, whatever came before it", async () => {
  const { state, seen, watch } = await createSettled();
  state.events = [EVENT, EVENT, BOOKMARK, LIST_END, EVENT];
  await watch(true);
  expect([seen, state.asked]).toEqual([["open", "MODIFIED", "MODIFIED", "BOOKMARK", "BOOKMARK", "MODIFIED"], 1]);
});

test.each([0, 2])("the end of a streamed list of another cluster does not pass, after %s objects", async (objects) => {
  const { state, guard, seen, watch } = await createSettled();
  // The last answer was right just now.
  await guard.client.list(ENDPOINTS);
  state.events = [...Array.from({ length: objects }, () => EVENT), LIST_END];
  state.uid = "other";
  await expect(watch(true)).rejects.toMatchObject(wrong);
  expect(seen).not.toContain("BOOKMARK");
});

test("a client that streams lists does so behind a guard, and no other does", () => {
  const { guard, client } = createWorld();
  expect(guard.client.streamsLists).toBeUndefined();
  const streaming = { ...client, streamsLists: true };
  const options = { clock: createFakeClock(), logger: silentLogger, metrics: createMetrics(), cluster: "tenant" };
  expect(createClusterGuard({ client: streaming, ...options }).client.streamsLists).toBe(true);
});

test("who asks at the same time shares one request", async () => {
  const { state, guard } = await createSettled();
  await Promise.all(Array.from({ length: 50 }, () => guard.client.list(ENDPOINTS)));
  // The second one is for those whose list came while the first was on its way.
  expect(state.asked).toBeLessThanOrEqual(2);
});

test("without the permission to see it everything passes, and the check is not repeated", async () => {
  const { state, guard, watch } = createWorld();
  state.refusal = FORBIDDEN;
  state.events = [EVENT];
  for (let i = 0; i < 5; i++) {
    await guard.client.list(ENDPOINTS);
    await guard.verify();
    await watch();
  }
  expect([state.asked, guard.wrong]).toEqual([1, undefined]);
});

test("a permission that is taken away later is no other cluster, and none that is given back either", async () => {
  const { state, guard } = await createSettled();
  state.refusal = FORBIDDEN;
  await guard.client.list(ENDPOINTS);
  state.refusal = undefined;
  state.uid = "other";
  await expect(guard.client.list(ENDPOINTS)).rejects.toMatchObject(wrong);
  state.refusal = FORBIDDEN;
  await expect(guard.client.list(ENDPOINTS)).rejects.toMatchObject(wrong);
});

test("no write begins before it is known who answers after a failure, nor while another cluster answers on the side it comes from", async () => {
  const [tenant, host] = [await createSettled(), await createSettled()];
  const writer = verifiedOnly(host.guard.client, { to: { identity: host.guard }, from: { identity: tenant.guard } });
  await writer.create(ENDPOINTS, WEB);
  expect([host.state.asked, host.state.writes]).toEqual([0, 1]);
  host.state.failure = DOWN;
  await expect(writer.update(ENDPOINTS, WEB)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  Object.assign(host.state, { failure: undefined, uid: "other", writes: 0 });
  for (const write of [() => writer.create(ENDPOINTS, WEB), () => writer.update(ENDPOINTS, WEB), () => writer.delete(ENDPOINTS, KEY)])
    await expect(write()).rejects.toMatchObject(wrong);
  host.state.uid = "right";
  await host.clock.advance(1_000);
  tenant.state.uid = "other";
  await expect(tenant.guard.client.list(ENDPOINTS)).rejects.toMatchObject(wrong);
  await expect(writer.delete(ENDPOINTS, KEY)).rejects.toMatchObject(wrong);
  expect(host.state.writes).toBe(0);
  tenant.state.failure = DOWN;
  await settle();
});
