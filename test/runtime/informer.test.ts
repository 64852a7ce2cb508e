import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Chance } from "../../src/base/chance.ts";
import { EngineError } from "../../src/base/errors.ts";
import type { Logger } from "../../src/base/logger.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { formatKey } from "../../src/object/key.ts";
import { ENDPOINTS } from "../../src/object/resource.ts";
import { createInformer, type Informer, type InformerOptions } from "../../src/runtime/informer.ts";
import { createFakeClock, settle } from "../support/fake-clock.ts";
import { bookmark, FakeCluster, stateOf } from "./fake-cluster.ts";

const chance: Chance = { fraction: () => 0.5, uuid: () => "", bytes: (length) => new Uint8Array(length) };
const unavailable = (message = "connect ECONNREFUSED") => new EngineError("API_UNAVAILABLE", message);
const MINUTE_MS = 60_000;

const rejections: unknown[] = [];
const keep = (reason: unknown) => void rejections.push(reason);
beforeEach(() => void process.on("unhandledRejection", keep));
afterEach(() => {
  process.off("unhandledRejection", keep);
  expect(rejections.splice(0)).toEqual([]);
});

function createWorld(options: Partial<InformerOptions> = {}) {
  const clock = createFakeClock();
  const cluster = new FakeCluster({ clock });
  const metrics = createMetrics();
  const lines: string[] = [];
  const line = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const logger: Logger = { debug() {}, info: line("info"), warn: line("warn"), error: line("error") };
  const informer = createInformer({ client: cluster, resource: ENDPOINTS, clock, chance, metrics, logger, ...options });
  const heard: string[] = [];
  informer.onChange((key) => void heard.push(formatKey(key)));
  return { clock, cluster, informer, heard, metrics, lines, sees: () => stateOf(informer.list()) };
}

/** A world that follows a cluster with two objects. */
async function createFollowing(options: Partial<InformerOptions> = {}) {
  const world = createWorld(options);
  world.cluster.put("db");
  world.cluster.put("web");
  world.informer.start();
  await settle();
  world.heard.length = 0;
  expect({ current: world.informer.current, watches: world.cluster.openWatches }).toEqual({ current: true, watches: 1 });
  return world;
}

async function stop({ informer, cluster, clock }: { informer: Informer; cluster: FakeCluster; clock: { pending: number } }) {
  await informer.stop();
  expect({ watches: cluster.openWatches, timers: clock.pending, current: informer.current }).toEqual({
    watches: 0,
    timers: 0,
    current: false,
  });
}

describe("an informer", () => {
  test("lists first and tells every object while it is not yet synced", async () => {
    const { cluster, informer, heard } = createWorld();
    cluster.put("db");
    cluster.put("web");
    const synced: boolean[] = [];
    informer.onChange(() => synced.push(informer.synced));
    expect({ synced: informer.synced, current: informer.current }).toEqual({ synced: false, current: false });
    informer.start();
    expect(await informer.whenSynced()).toBe(true);
    expect({ heard, synced, current: informer.current }).toEqual({ heard: ["shop/db", "shop/web"], synced: [false, false], current: true });
    cluster.put("db");
    await settle();
    expect(synced.at(-1)).toBe(true);
  });

  test("follows changes, with the newest state there when a listener is called", async () => {
    const world = await createFollowing();
    const seen: (string | undefined)[] = [];
    world.informer.onChange((key) => seen.push(world.informer.get(key)?.metadata.resourceVersion));
    world.cluster.put("db");
    world.cluster.remove("web");
    world.cluster.put("new");
    await settle();
    expect(world.heard).toEqual(["shop/db", "shop/web", "shop/new"]);
    expect(seen).toEqual(["4", undefined, "6"]);
    expect(world.sees()).toEqual(world.cluster.state());
    await stop(world);
  });

  test("asks for pages, for bookmarks and for an end of the watch after half a minute", async () => {
    const world = createWorld({ pageSize: 2, scope: { namespace: "shop", labelSelector: "a=b" } });
    for (let i = 0; i < 5; i++) world.cluster.put(`db-${i}`);
    world.informer.start();
    await settle();
    expect(world.cluster.lists).toBe(3);
    expect(world.informer.size).toBe(5);
    expect(world.cluster.watches[0]).toMatchObject({
      namespace: "shop",
      labelSelector: "a=b",
      resourceVersion: "6",
      bookmarks: true,
      timeoutSeconds: 31,
    });
    await stop(world);
  });

  test("drops managedFields, and keeps what a transform of one's own keeps", async () => {
    const world = createWorld();
    const slim = createWorld({ transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) });
    for (const { cluster, informer } of [world, slim]) {
      cluster.put("db", { subsets: [], metadata: { name: "db", namespace: "shop", resourceVersion: "2", managedFields: [{}] } });
      informer.start();
    }
    await settle();
    const key = { namespace: "shop", name: "db" };
    expect(world.informer.get(key)).toEqual({
      apiVersion: "v1",
      kind: "Endpoints",
      subsets: [],
      metadata: { name: "db", namespace: "shop", resourceVersion: "2" },
    });
    expect(Object.keys(slim.informer.get(key)!)).toEqual(["apiVersion", "kind", "metadata"]);
  });

  test("calls every listener though one of them throws", async () => {
    const world = createWorld();
    world.informer.onChange(() => {
      throw new Error("listener failed");
    });
    const heard: string[] = [];
    const unsubscribe = world.informer.onChange((key) => heard.push(key.name));
    world.cluster.put("db");
    world.informer.start();
    await settle();
    world.cluster.put("web");
    await settle();
    unsubscribe();
    world.cluster.put("db");
    await settle();
    expect(heard).toEqual(["db", "web"]);
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.lines).toEqual(["error Listener failed", "error Listener failed", "error Listener failed"]);
    await stop(world);
  });

  test("starts once, however often it is told to", async () => {
    const world = createWorld();
    world.informer.start();
    world.informer.start();
    await settle();
    expect({ lists: world.cluster.lists, watches: world.cluster.openWatches }).toEqual({ lists: 1, watches: 1 });
    await stop(world);
  });
});

describe("faults of the watch", () => {
  test.each([
    { why: "a reset stream", fault: (cluster: FakeCluster) => cluster.breakWatches() },
    {
      why: "an ERROR event 500",
      fault: (cluster: FakeCluster) => cluster.breakWatches(new EngineError("API_UNAVAILABLE", "internal error")),
    },
    {
      why: "lost credentials",
      fault: (cluster: FakeCluster) => cluster.breakWatches(new EngineError("API_UNAUTHORIZED", "exec plugin failed")),
    },
    {
      why: "too many requests",
      fault: (cluster: FakeCluster) => cluster.breakWatches(new EngineError("API_TOO_MANY_REQUESTS", "slow down")),
    },
  ])("after $why it goes on from where it was, within a second, without a list", async ({ fault }) => {
    const world = await createFollowing();
    fault(world.cluster);
    world.cluster.put("missed");
    await settle();
    expect(world.informer.current).toBe(false);
    await world.clock.advance(900);
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.cluster.lists).toBe(1);
    expect(world.informer.current).toBe(false);
    await world.clock.advance(1_000);
    expect(world.informer.current).toBe(true);
    await stop(world);
  });

  test("a bookmark on the resumed stream proves that the copy is current", async () => {
    const world = await createFollowing();
    world.cluster.breakWatches();
    await world.clock.advance(900);
    expect(world.informer.current).toBe(false);
    world.cluster.bookmark();
    await settle();
    expect(world.informer.current).toBe(true);
  });

  test("an outage is reported once, with one line more when it is over", async () => {
    const world = await createFollowing();
    world.cluster.down = unavailable();
    world.cluster.breakWatches();
    await world.clock.advance(3 * MINUTE_MS);
    expect(world.informer.current).toBe(false);
    world.cluster.down = undefined;
    await world.clock.advance(31_000);
    expect(world.informer.current).toBe(true);
    expect(world.lines).toEqual(["warn Cannot follow the cluster", "info Following the cluster again"]);
  });

  test.each([1, 2, 3, 4, 5])("is back within 1.3 s after an outage of %i s", async (seconds) => {
    const world = await createFollowing();
    world.cluster.down = unavailable();
    world.cluster.breakWatches();
    await world.clock.advance(seconds * 1_000);
    world.cluster.down = undefined;
    world.cluster.put("missed");
    await world.clock.advance(1_300);
    expect(world.sees()).toEqual(world.cluster.state());
  });

  test("is back within 30 s after an outage of an hour, by a list", async () => {
    const world = await createFollowing();
    world.cluster.down = unavailable();
    world.cluster.breakWatches();
    await world.clock.advance(60 * MINUTE_MS);
    world.cluster.down = undefined;
    world.cluster.remove("db");
    await world.clock.advance(30_000);
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.informer.current).toBe(true);
    expect(world.metrics.value("informer_lists_total", { cluster: "", resource: "endpoints", reason: "failures" })).toBe(1);
  });

  test.each([
    {
      why: "a change came",
      heal: (cluster: FakeCluster) => cluster.put("db"),
      ms: 0,
      end: (cluster: FakeCluster) => cluster.breakWatches(),
    },
    { why: "it was quiet for half a minute", heal: () => undefined, ms: 30_000, end: (cluster: FakeCluster) => cluster.breakWatches() },
    { why: "the server ended it as agreed", heal: () => undefined, ms: 31_000, end: (cluster: FakeCluster) => cluster.endWatches() },
  ])("the delays start over once a watch was healthy: $why", async ({ heal, ms, end }) => {
    const world = await createFollowing();
    world.cluster.down = unavailable();
    world.cluster.breakWatches();
    await world.clock.advance(3 * MINUTE_MS);
    world.cluster.down = undefined;
    await world.clock.advance(31_000);
    heal(world.cluster);
    await world.clock.advance(ms);
    end(world.cluster);
    await settle();
    world.cluster.breakWatches();
    world.cluster.put("missed");
    await world.clock.advance(900);
    expect(world.sees()).toEqual(world.cluster.state());
  });

  test("the delays do not start over while watches break as soon as they open", async () => {
    const world = await createFollowing();
    world.cluster.onWatch = ({ deliver }) => deliver({ type: "error", error: unavailable("reset") });
    world.cluster.breakWatches();
    await world.clock.advance(3 * MINUTE_MS);
    const before = world.cluster.watches.length;
    await world.clock.advance(MINUTE_MS);
    expect(world.cluster.watches.length - before).toBeLessThanOrEqual(3);
  });

  test("waits as long as the server asks", async () => {
    const world = await createFollowing();
    const slowDown = new EngineError("API_TOO_MANY_REQUESTS", "slow down", { details: { retryAfterSeconds: 20 } });
    world.cluster.watchErrors = [slowDown];
    world.cluster.endWatches();
    await world.clock.advance(30_000);
    world.cluster.watchErrors = [slowDown];
    world.cluster.breakWatches(slowDown);
    await world.clock.advance(19_000);
    const before = world.cluster.watches.length;
    await world.clock.advance(1_000);
    expect(world.cluster.watches.length).toBe(before + 1);
  });

  test("a clean end is followed by a new watch at once, from the last state, without a gap in being current", async () => {
    const world = await createFollowing();
    await world.clock.advance(MINUTE_MS / 3);
    world.cluster.put("db");
    await settle();
    world.cluster.endWatches();
    await settle();
    expect({ lists: world.cluster.lists, watches: world.cluster.openWatches, current: world.informer.current }).toEqual({
      lists: 1,
      watches: 1,
      current: true,
    });
    expect(world.cluster.watches.at(-1)?.resourceVersion).toBe("4");
    expect(world.lines).toEqual([]);
  });

  test("bookmarks carry the place to go on from, so that a quiet kind survives a compaction", async () => {
    const world = await createFollowing();
    world.cluster.version = 500;
    world.cluster.bookmark();
    world.cluster.compact();
    await settle();
    world.cluster.breakWatches();
    await world.clock.advance(1_000);
    expect(world.cluster.watches.at(-1)?.resourceVersion).toBe("500");
    expect(world.cluster.lists).toBe(1);
  });

  test("a bookmark that goes backwards is ignored", async () => {
    const world = await createFollowing();
    world.cluster.bookmark(1);
    await settle();
    world.cluster.endWatches();
    await world.clock.advance(1_000);
    expect(world.cluster.watches.at(-1)?.resourceVersion).toBe("3");
  });

  test("a server that ends every watch at once is not asked in a hot loop", async () => {
    const world = await createFollowing();
    world.cluster.onWatch = ({ deliver }) => deliver({ type: "end" });
    world.cluster.endWatches();
    const before = world.cluster.watches.length;
    await world.clock.advance(MINUTE_MS);
    expect(world.cluster.watches.length - before).toBeLessThan(25);
    world.cluster.onWatch = () => undefined;
    await world.clock.advance(30_000);
    expect(world.cluster.openWatches).toBe(1);
  });

  test("a silent watch that does not end as agreed is given up 8 s later, and what it may have missed is fetched", async () => {
    const world = await createFollowing();
    world.cluster.forgetsTimeouts = true;
    await world.clock.advance(31_000 + 7_999);
    expect({ watches: world.cluster.watches.length, lines: world.lines }).toEqual({ watches: 1, lines: [] });
    await world.clock.advance(1);
    expect(world.cluster.watches).toHaveLength(2);
    expect({ open: world.cluster.openWatches, current: world.informer.current }).toEqual({ open: 1, current: false });
    await world.clock.advance(1_000);
    expect(world.informer.current).toBe(true);
    expect(world.lines).toEqual(["warn Cannot follow the cluster", "info Following the cluster again"]);
  });

  test("a watch that does not end as agreed, but goes on telling, is replaced without a word", async () => {
    const world = await createFollowing();
    world.cluster.forgetsTimeouts = true;
    for (let second = 0; second < 60; second++) {
      await world.clock.advance(1_000);
      world.cluster.put("db");
    }
    expect({ watches: world.cluster.watches.length, open: world.cluster.openWatches, lines: world.lines }).toEqual({
      watches: 2,
      open: 1,
      lines: [],
    });
  });

  test.each([0, 0.25, 0.5, 0.75, 0.999])("with default settings a dead connection is noticed within 45 s (chance %d)", async (fraction) => {
    const world = await createFollowing({ chance: { ...chance, fraction: () => fraction } });
    await world.clock.advance(MINUTE_MS);
    world.cluster.forgetsTimeouts = true;
    const diedMs = world.clock.monotonic();
    await world.clock.advance(45_000);
    expect(world.lines).toContain("warn Cannot follow the cluster");
    expect(world.clock.monotonic() - diedMs).toBeLessThanOrEqual(45_000);
  });

  test("events that come twice, late or in the wrong order change nothing that is newer", async () => {
    const world = await createFollowing();
    const old = world.cluster.objects.get("db")!;
    world.cluster.put("db");
    world.cluster.deliver({ type: "MODIFIED", object: old });
    world.cluster.deliver({ type: "ADDED", object: old });
    world.cluster.deliver({ type: "MODIFIED", object: world.cluster.objects.get("db")! });
    await settle();
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.heard).toEqual(["shop/db"]);
  });

  test("no watch that the client refuses before it begins breaks the informer", async () => {
    const world = await createFollowing();
    const { watch } = world.cluster;
    world.cluster.watch = () => {
      throw new TypeError("not a function");
    };
    world.cluster.endWatches();
    await world.clock.advance(2_000);
    world.cluster.watch = watch;
    await world.clock.advance(5_000);
    expect(world.informer.current).toBe(true);
  });
});

describe("an expired state", () => {
  test.each(["when the watch begins", "inside the stream"])("%s is followed by a list at once", async (where) => {
    const world = await createFollowing();
    world.cluster.put("changed-unseen", {});
    await settle();
    world.heard.length = 0;
    const { cluster } = world;
    const expired = new EngineError("API_EXPIRED", "too old resource version");
    const error = where === "inside the stream" ? expired : unavailable();
    // Both objects change while nobody watches, and history is gone.
    cluster.breakWatches(error);
    cluster.remove("db");
    cluster.put("db");
    cluster.remove("web");
    cluster.compact();
    await world.clock.advance(2_000);
    expect(world.sees()).toEqual(cluster.state());
    expect(world.heard.filter((key) => key !== "shop/changed-unseen").sort()).toEqual(["shop/db", "shop/web"]);
    expect(cluster.lists).toBe(2);
  });

  test("is not current until the list has come", async () => {
    const world = await createFollowing();
    let answer = (): void => undefined;
    world.cluster.listGate = new Promise((resolve) => (answer = resolve));
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect(world.informer.current).toBe(false);
    answer();
    await settle();
    expect(world.informer.current).toBe(true);
    expect(world.lines).toEqual([]);
  });

  test("again and again right after the list is not answered in a hot loop", async () => {
    const world = await createFollowing();
    world.cluster.onWatch = ({ deliver }) => deliver({ type: "error", error: new EngineError("API_EXPIRED", "too old") });
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await world.clock.advance(MINUTE_MS);
    expect(world.cluster.lists).toBeLessThan(25);
    world.cluster.onWatch = () => undefined;
    await world.clock.advance(30_000);
    expect(world.informer.current).toBe(true);
  });

  test("between two pages is answered with one list in one piece", async () => {
    const world = createWorld({ pageSize: 2 });
    for (let i = 0; i < 5; i++) world.cluster.put(`db-${i}`);
    const { list } = world.cluster;
    world.cluster.list = async (resource, options) => {
      if (options?.continue === "4") throw new EngineError("API_EXPIRED", "continue token expired");
      return list.call(world.cluster, resource, options);
    };
    world.informer.start();
    await settle();
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.cluster.lists).toBe(3);
  });
});

describe("faults of the list", () => {
  test.each([
    { why: "an internal error", error: unavailable("internal error") },
    { why: "a missing permission", error: new EngineError("API_FORBIDDEN", "endpoints is forbidden") },
    { why: "a bug of the client", error: new TypeError("x is not a function") },
  ])("$why at the start is survived: the list is tried until it works", async ({ error }) => {
    const world = createWorld();
    world.cluster.put("db");
    world.cluster.listErrors = [error as EngineError, error as EngineError, error as EngineError];
    world.informer.start();
    await settle();
    expect({ synced: world.informer.synced, current: world.informer.current }).toEqual({ synced: false, current: false });
    await world.clock.advance(5_000);
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.lines).toEqual(["warn Cannot follow the cluster", "info Following the cluster again"]);
    await stop(world);
  });

  test("a list that is older than what was seen is refused", async () => {
    const world = await createFollowing();
    world.cluster.staleList = world.cluster.snapshot();
    world.cluster.put("db");
    world.cluster.put("later");
    await settle();
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await world.clock.advance(1_500);
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.informer.current).toBe(false);
    world.cluster.staleList = undefined;
    await world.clock.advance(3_000);
    expect({ state: world.sees(), current: world.informer.current }).toEqual({ state: world.cluster.state(), current: true });
  });

  test("lists that stay older are the truth after all: the cluster was restored from a backup", async () => {
    const world = await createFollowing();
    const backup = world.cluster.snapshot();
    world.cluster.put("db");
    world.cluster.put("made-after-the-backup");
    await settle();
    world.cluster.staleList = backup;
    world.cluster.version = Number(backup.resourceVersion);
    world.cluster.compact();
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await world.clock.advance(30_000);
    expect(world.sees()).toEqual(stateOf(backup.items));
    expect(world.informer.current).toBe(true);
    // A new history needs no less proof than the first one did.
    world.cluster.put("db");
    await settle();
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await world.clock.advance(1_500);
    expect({ db: world.sees()["db"], current: world.informer.current }).toEqual({ db: "life-1@4", current: false });
  });

  test("pages of huge objects, larger than the client takes, are followed by smaller ones", async () => {
    const world = createWorld({ pageSize: 4 });
    for (let i = 0; i < 5; i++) world.cluster.put(`db-${i}`);
    const { list } = world.cluster;
    world.cluster.list = async (resource, options) => {
      if (options?.limit !== 1) throw new EngineError("API_ERROR", "The answer is larger than the limit");
      return list.call(world.cluster, resource, options);
    };
    world.informer.start();
    await world.clock.advance(1_000);
    expect(world.sees()).toEqual(world.cluster.state());
  });

  test("pages without an end are refused", async () => {
    const world = createWorld();
    world.cluster.list = async () => ({ items: [], resourceVersion: "1", continue: "again" });
    world.informer.start();
    await settle();
    for (let i = 0; i < 200 && world.lines.length === 0; i++) await settle();
    expect(world.lines).toEqual(["warn Cannot follow the cluster"]);
    await world.informer.stop();
  });
});

describe("deletions", () => {
  test("and a new life under the old name while disconnected end in the new life", async () => {
    const world = await createFollowing();
    world.cluster.breakWatches();
    world.cluster.remove("db");
    world.cluster.put("db");
    await world.clock.advance(2_000);
    expect(world.informer.get({ namespace: "shop", name: "db" })?.metadata.uid).toBe("life-3");
  });

  test("that the server lost are found by the next periodic list", async () => {
    const world = await createFollowing({ relistMs: 30 * MINUTE_MS });
    world.cluster.remove("db", { silently: true });
    world.cluster.put("web");
    await settle();
    expect(world.informer.size).toBe(2);
    world.heard.length = 0;
    await world.clock.advance(30 * MINUTE_MS + 10 * MINUTE_MS);
    expect(world.sees()).toEqual(world.cluster.state());
    expect(world.heard).toEqual(["shop/db"]);
    expect(world.informer.current).toBe(true);
    expect(world.lines).toEqual([]);
  });

  test("are never looked for by a list when the setting says so", async () => {
    const world = await createFollowing({ relistMs: 0 });
    await world.clock.advance(5 * 60 * MINUTE_MS);
    expect(world.cluster.lists).toBe(1);
  });
});

describe("stopping", () => {
  test("during a list leaves nothing open and opens no watch", async () => {
    const world = createWorld();
    world.cluster.listGate = new Promise(() => undefined);
    world.informer.start();
    await settle();
    await stop(world);
    expect(world.cluster.watches).toEqual([]);
    expect(await world.informer.whenSynced()).toBe(false);
  });

  test("during a list that answers all the same takes nothing of it", async () => {
    const world = createWorld();
    let answer = (): void => undefined;
    const snapshot = { items: [], resourceVersion: "1" };
    world.cluster.list = () => new Promise((resolve) => (answer = () => resolve(snapshot)));
    world.informer.start();
    await settle();
    const stopping = world.informer.stop();
    answer();
    await stopping;
    expect({ synced: world.informer.synced, watches: world.cluster.watches }).toEqual({ synced: false, watches: [] });
  });

  test("during a wait ends the wait", async () => {
    const world = createWorld();
    world.cluster.down = unavailable();
    world.informer.start();
    await settle();
    expect(world.clock.pending).toBe(1);
    await stop(world);
  });

  test("during a watch ends it, tells nobody and reports nothing", async () => {
    const world = await createFollowing();
    await stop(world);
    world.cluster.put("db");
    await world.clock.advance(MINUTE_MS);
    expect({ heard: world.heard, lines: world.lines, watches: world.cluster.watches.length }).toEqual({ heard: [], lines: [], watches: 1 });
    expect(world.informer.size).toBe(2);
  });

  test("before the start keeps it from starting", async () => {
    const world = createWorld();
    await world.informer.stop();
    world.informer.start();
    await settle();
    expect({ lists: world.cluster.lists, synced: await world.informer.whenSynced() }).toEqual({ lists: 0, synced: false });
  });

  test("twice is the same as once", async () => {
    const world = await createFollowing();
    await Promise.all([world.informer.stop(), world.informer.stop()]);
    await stop(world);
  });
});

test("a bookmark is not an object", async () => {
  const world = await createFollowing();
  world.cluster.deliver(bookmark(9));
  await settle();
  expect(world.informer.size).toBe(2);
  await stop(world);
});
