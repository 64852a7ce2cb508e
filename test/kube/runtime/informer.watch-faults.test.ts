/** An informer and watches that break, end, fall silent or send too much. */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { settle } from "../../support/fake-clock.ts";
import type { FakeCluster } from "./fake-cluster.ts";
import { chance, createFollowing, failOnRejections, MINUTE_MS, stop, unavailable } from "./informer-world.ts";

failOnRejections();

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

  test("an outage whose reason changes is reported once for each code", async () => {
    const world = await createFollowing();
    world.cluster.down = unavailable();
    world.cluster.breakWatches();
    await world.clock.advance(MINUTE_MS);
    world.cluster.down = new EngineError("API_FORBIDDEN", "endpoints is forbidden");
    await world.clock.advance(2 * MINUTE_MS);
    expect(world.lines).toEqual(["warn Cannot follow the cluster", "warn Cannot follow the cluster"]);
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
