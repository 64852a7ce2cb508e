/** An informer and lists that fail or are wrong, and states that the cluster has dropped. */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { LIST_TEXT_MAX } from "../../../src/kube/runtime/informer/list-all.ts";
import { settle } from "../../support/fake-clock.ts";
import { stateOf } from "./fake-cluster.ts";
import { createFollowing, createWorld, failOnRejections, MINUTE_MS, stop, unavailable } from "./informer-world.ts";

failOnRejections();

describe("an expired state", () => {
  test.each(["when the watch begins", "inside the stream"])("%s is followed by a list at once", async (where) => {
    const world = await createFollowing();
    world.cluster.put("changed-unseen", {});
    await settle();
    world.heard.length = 0;
    const { cluster } = world;
    const expired = new EngineError("API_EXPIRED", "too old resource version");
    const error = where === "inside the stream" ? expired : unavailable();
    // Both objects change without a watch, and history is gone.
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

  test("a list that is too large does not make the pages of the next ones smaller", async () => {
    const world = createWorld();
    const limits: (number | undefined)[] = [];
    world.cluster.list = async (_, options) => {
      limits.push(options?.limit);
      return { items: [], resourceVersion: "1", continue: "again", textLength: LIST_TEXT_MAX };
    };
    world.informer.start();
    await world.clock.advance(MINUTE_MS);
    expect(limits.length).toBeGreaterThan(2);
    expect(new Set(limits)).toEqual(new Set([500]));
    await world.informer.stop();
  });
});
