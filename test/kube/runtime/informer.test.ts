import { describe, expect, test } from "vitest";
import { settle } from "../../support/fake-clock.ts";
import { bookmark } from "./fake-cluster.ts";
import { createFollowing, createWorld, failOnRejections, MINUTE_MS, stop, unavailable } from "./informer-world.ts";

failOnRejections();

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

  test("that the server lost are found by a requested list, at most once a minute", async () => {
    const world = await createFollowing({ relistMs: 0 });
    world.cluster.remove("db", { silently: true });
    for (let times = 0; times < 5; times += 1) world.informer.relist?.();
    await world.clock.advance(1_000);
    expect({ lists: world.cluster.lists, state: world.sees() }).toEqual({ lists: 2, state: world.cluster.state() });
    world.cluster.put("web");
    await settle();
    expect(world.sees()).toEqual(world.cluster.state());

    world.informer.relist?.();
    await world.clock.advance(50_000);
    expect(world.cluster.lists).toBe(2);
    await world.clock.advance(11_000);
    expect({ lists: world.cluster.lists, current: world.informer.current, lines: world.lines }).toEqual({
      lists: 3,
      current: true,
      lines: [],
    });
  });

  test("that the server lost are found by a list that is requested while another one is read", async () => {
    const world = createWorld({ relistMs: 30 * MINUTE_MS });
    world.cluster.put("db");
    let answer = (): void => undefined;
    world.cluster.listGate = new Promise((resolve) => (answer = resolve));
    world.cluster.staleList = world.cluster.snapshot();
    world.informer.onChange(() => (world.cluster.staleList = undefined));
    world.informer.start();
    await world.clock.advance(10);
    world.cluster.remove("db", { silently: true });
    world.informer.relist?.();
    await world.clock.advance(500);
    expect({ lists: world.cluster.lists, synced: world.informer.synced }).toEqual({ lists: 1, synced: false });
    answer();
    await world.clock.advance(1_000);
    expect({ lists: world.cluster.lists, heard: world.heard, state: world.sees() }).toEqual({
      lists: 2,
      heard: ["shop/db", "shop/db"],
      state: {},
    });
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.cluster.lists).toBe(2);
    await stop(world);
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

  test("during a watch ends it, notifies no listener and reports nothing", async () => {
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
