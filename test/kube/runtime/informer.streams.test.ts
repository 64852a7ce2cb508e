/** An informer whose lists are the beginnings of its watches, as servers send them when they are asked for initial events. */
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import type { WatchEvent } from "../../../src/kube/object/cluster-client.ts";
import { LIST_TEXT_MAX } from "../../../src/kube/runtime/informer/list-all.ts";
import { settle } from "../../support/fake-clock.ts";
import { bookmark, initialEnd } from "./fake-cluster.ts";
import { createWorld, failOnRejections, MINUTE_MS, stop, unavailable } from "./informer-world.ts";

failOnRejections();

type World = ReturnType<typeof createStreaming>;

/** A world with two objects, over a cluster that streams its lists. */
function createStreaming(options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld({ streams: true, ...options });
  for (const name of ["db", "web"]) world.cluster.put(name);
  return world;
}

/** Replaces what the next stream says, for as many streams as there are entries. */
function streamInstead({ cluster }: World, ...streams: (() => AsyncGenerator<WatchEvent, void, undefined>)[]): void {
  const { watch } = cluster;
  cluster.watch = (resource, options) => {
    const stream = options.initialEvents === true ? streams.shift() : undefined;
    if (stream === undefined) return watch.call(cluster, resource, options);
    cluster.watches.push(options);
    return stream();
  };
}

const streams = ({ cluster }: World) => cluster.watches.filter(({ initialEvents }) => initialEvents === true).length;
const asked = (world: World) => ({ streams: streams(world), lists: world.cluster.lists });
const added = ({ cluster }: World): WatchEvent[] => [...cluster.objects.values()].map((object) => ({ type: "ADDED", object }));

async function follows(world: World): Promise<void> {
  world.cluster.put("later");
  await settle();
  expect({ sees: world.sees(), current: world.informer.current }).toEqual({ sees: world.cluster.state(), current: true });
}

describe("a list from a stream", () => {
  test("is one request, and its stream is the watch that follows", async () => {
    const world = createStreaming();
    world.informer.start();
    await settle();
    await follows(world);
    expect({ ...asked(world), watches: world.cluster.watches.length, open: world.cluster.openWatches }).toEqual({
      streams: 1,
      lists: 0,
      watches: 1,
      open: 1,
    });
    expect(world.cluster.watches[0]).toMatchObject({ resourceVersion: "", initialEvents: true, bookmarks: true });
    expect(world.metrics.text()).toContain('informer_lists_total{cluster="",reason="start",resource="endpoints"} 1');
    await stop(world);
  });

  test("of nothing is an empty list", async () => {
    const world = createStreaming();
    for (const name of ["db", "web"]) world.cluster.remove(name);
    world.informer.start();
    await settle();
    expect({ ...asked(world), synced: world.informer.synced, size: world.informer.size }).toEqual({
      streams: 1,
      lists: 0,
      synced: true,
      size: 0,
    });
    await stop(world);
  });

  test("is nothing before its end: the informer is neither synced nor current, and shows no object", async () => {
    const world = createStreaming();
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    streamInstead(world, async function* () {
      yield* added(world);
      await finished;
      yield initialEnd(world.cluster.version);
    });
    world.informer.start();
    await world.clock.advance(9_000);
    const state = () => ({ synced: world.informer.synced, current: world.informer.current, size: world.informer.size });
    expect(state()).toEqual({ synced: false, current: false, size: 0 });
    finish();
    await world.clock.advance(3_000);
    expect(state()).toEqual({ synced: true, current: true, size: 2 });
    await stop(world);
  });

  test("contains the changes that came while it was sent, and skips bookmarks in between", async () => {
    const world = createStreaming();
    const [db, web] = [...world.cluster.objects.values()];
    world.cluster.remove("web");
    world.cluster.put("db", { subsets: [] });
    streamInstead(world, async function* () {
      yield { type: "ADDED", object: db! };
      yield { type: "ADDED", object: web! };
      yield bookmark(2);
      yield { type: "DELETED", object: web! };
      yield { type: "MODIFIED", object: world.cluster.objects.get("db")! };
      yield initialEnd(world.cluster.version);
    });
    world.informer.start();
    await settle();
    expect({ sees: world.sees(), ...asked(world) }).toEqual({ sees: world.cluster.state(), streams: 1, lists: 0 });
    await stop(world);
  });

  test("shows what was deleted while nothing was heard", async () => {
    const world = createStreaming();
    world.informer.start();
    await settle();
    world.cluster.remove("web", { silently: true });
    world.cluster.compact();
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect({ sees: world.sees(), ...asked(world) }).toEqual({ sees: world.cluster.state(), streams: 2, lists: 0 });
    await follows(world);
    await stop(world);
  });

  test("older than what was seen is refused, and its stream closed", async () => {
    const world = createStreaming();
    world.informer.start();
    await settle();
    world.cluster.staleList = world.cluster.snapshot();
    world.cluster.put("db");
    await settle();
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect({ sees: world.sees(), current: world.informer.current, open: world.cluster.openWatches }).toEqual({
      sees: world.cluster.state(),
      current: false,
      open: 0,
    });
    world.cluster.staleList = undefined;
    await world.clock.advance(3_000);
    await follows(world);
    await stop(world);
  });

  test("is not asked for again in a hot loop when each ends with an expired state", async () => {
    const world = createStreaming();
    world.cluster.onWatch = () => world.cluster.deliver({ type: "error", error: new EngineError("API_EXPIRED", "too old") });
    world.informer.start();
    await world.clock.advance(MINUTE_MS);
    expect(streams(world)).toBeLessThan(25);
    await stop(world);
  });

  test.each(["before the end of the list", "at its end"])("stops %s, and leaves nothing open", async (when) => {
    const world = createStreaming();
    if (when === "at its end") world.informer.onChange(() => void world.informer.stop());
    else world.cluster.onWatch = () => void world.informer.stop();
    world.informer.start();
    await settle();
    await stop(world);
  });

  test("of one name is read as a page", async () => {
    const world = createStreaming({ scope: { fieldSelector: "metadata.name=db" } });
    world.informer.start();
    await settle();
    expect(asked(world)).toEqual({ streams: 0, lists: 1 });
    await stop(world);
  });
});

describe("a stream that fails is followed by pages at once", () => {
  const broken = (world: World) =>
    async function* (): AsyncGenerator<WatchEvent, void, undefined> {
      yield added(world)[0]!;
      throw unavailable("The stream ended in the middle of an event");
    };
  const refused = (code: ConstructorParameters<typeof EngineError>[0]) => () =>
    async function* (): AsyncGenerator<WatchEvent, void, undefined> {
      throw new EngineError(code, "refused");
    };
  const saying =
    (...events: ((world: World) => WatchEvent[])[]) =>
    (world: World) =>
      async function* (): AsyncGenerator<WatchEvent, void, undefined> {
        for (const some of events) yield* some(world);
      };
  const noVersion = (): WatchEvent[] => {
    const { type, object } = initialEnd(1);
    return [{ type, object: { ...object, metadata: { annotations: object.metadata.annotations! } } }];
  };

  test.each([
    { why: "refuses it as invalid (422)", stream: refused("API_INVALID"), again: false },
    { why: "refuses it as a bad request (400)", stream: refused("API_BAD_REQUEST"), again: false },
    {
      why: "begins with a change, as if it was not asked for a list",
      stream: saying((world) => [{ ...added(world)[0]!, type: "MODIFIED" }]),
      again: false,
    },
    { why: "begins with a deletion", stream: saying((world) => [{ ...added(world)[0]!, type: "DELETED" }]), again: false },
    {
      why: "sends more text than a list may have",
      stream: saying((world) => [{ ...added(world)[0]!, textLength: LIST_TEXT_MAX + 1 }]),
      again: false,
    },
    { why: "says that the state expired (410)", stream: refused("API_EXPIRED"), again: true },
    { why: "forbids the watch", stream: refused("API_FORBIDDEN"), again: true },
    { why: "does not know the credentials", stream: refused("API_UNAUTHORIZED"), again: true },
    { why: "cannot be reached", stream: refused("API_UNAVAILABLE"), again: true },
    { why: "sends an event that is too large", stream: refused("API_ERROR"), again: true },
    { why: "cuts the stream in the middle", stream: broken, again: true },
    { why: "ends the stream before the end of the list", stream: saying(added), again: true },
    { why: "ends it with an ordinary bookmark", stream: saying(added, () => [bookmark(9)]), again: true },
    { why: "ends the list without a resourceVersion", stream: saying(added, noVersion), again: true },
  ])("when the server $why; the next list is a stream: $again", async ({ stream, again }) => {
    const world = createStreaming();
    streamInstead(world, stream(world));
    world.informer.start();
    await settle();
    expect({ sees: world.sees(), lines: world.lines, ...asked(world) }).toEqual({
      sees: world.cluster.state(),
      lines: [],
      streams: 1,
      lists: 1,
    });
    await follows(world);
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect(asked(world)).toEqual(again ? { streams: 2, lists: 1 } : { streams: 1, lists: 2 });
    await follows(world);
    await stop(world);
  });

  test.each([
    { why: "nothing", events: () => [] },
    { why: "the objects, without an end", events: added },
    { why: "the objects, and bookmarks without the mark", events: (world: World) => [...added(world), bookmark(world.cluster.version)] },
  ])("when the server sends $why for ten seconds; then never again", async ({ events }) => {
    const world = createStreaming();
    const { cluster } = world;
    const { watch } = cluster;
    // A server that ignores the parameter sends what there is, and then what happens.
    cluster.watch = (resource, options) => {
      if (options.initialEvents !== true) return watch.call(cluster, resource, options);
      cluster.onWatch = ({ deliver }) => events(world).forEach(deliver);
      const { initialEvents: _ignored, ...rest } = options;
      return watch.call(cluster, resource, { ...rest, resourceVersion: String(cluster.version) });
    };
    world.informer.start();
    await world.clock.advance(9_900);
    expect({ synced: world.informer.synced, lists: cluster.lists }).toEqual({ synced: false, lists: 0 });
    await world.clock.advance(200);
    cluster.onWatch = () => undefined;
    expect({ sees: world.sees(), current: world.informer.current, lists: cluster.lists, open: cluster.openWatches }).toEqual({
      sees: cluster.state(),
      current: true,
      lists: 1,
      open: 1,
    });
    const before = cluster.watches.length;
    cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect({ lists: cluster.lists, watches: cluster.watches.length - before }).toEqual({ lists: 2, watches: 1 });
    await stop(world);
  });

  test("when the server does not accept the request for ten seconds, as in a queue; the next list is a stream", async () => {
    const world = createStreaming();
    const { cluster } = world;
    const { watch } = cluster;
    let queued = 1;
    cluster.watch = (resource, options) => {
      if (options.initialEvents !== true || queued-- <= 0) return watch.call(cluster, resource, options);
      cluster.watches.push(options);
      return (async function* (): AsyncGenerator<WatchEvent, void, undefined> {
        await new Promise<void>((resolve) => options.signal.addEventListener("abort", () => resolve(), { once: true }));
      })();
    };
    world.informer.start();
    await world.clock.advance(10_100);
    expect(asked(world)).toEqual({ streams: 1, lists: 1 });
    await follows(world);
    cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect(asked(world)).toEqual({ streams: 2, lists: 1 });
    await stop(world);
  });

  test("when it takes longer than a watch may last; then never again", async () => {
    const world = createStreaming();
    const slowly = async function* (): AsyncGenerator<WatchEvent, void, undefined> {
      for (let second = 0; second < 31; second++) {
        yield added(world)[0]!;
        await new Promise<void>((resolve) => world.clock.schedule(1_000, resolve));
      }
    };
    streamInstead(world, slowly);
    world.informer.start();
    await world.clock.advance(32_000);
    expect({ sees: world.sees(), ...asked(world) }).toEqual({ sees: world.cluster.state(), streams: 1, lists: 1 });
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect(asked(world)).toEqual({ streams: 1, lists: 2 });
    await stop(world);
  });
});

describe("an outage", () => {
  test("costs one stream more than lists, and streams come back after it", async () => {
    const world = createStreaming();
    world.cluster.down = unavailable();
    world.informer.start();
    await world.clock.advance(5_000);
    expect(streams(world)).toBe(1);
    expect(world.cluster.lists).toBeGreaterThan(3);
    world.cluster.down = undefined;
    await world.clock.advance(5_000);
    await follows(world);
    world.cluster.breakWatches(new EngineError("API_EXPIRED", "too old"));
    await settle();
    expect(streams(world)).toBe(2);
    expect(world.lines).toEqual(["warn Cannot follow the cluster", "info Following the cluster again"]);
    await stop(world);
  });

  test("of a server that is overloaded is waited for as long as it asks, without a list", async () => {
    const world = createStreaming();
    world.cluster.watchErrors = [new EngineError("API_TOO_MANY_REQUESTS", "slow down", { details: { retryAfterSeconds: 20 } })];
    world.informer.start();
    await world.clock.advance(19_000);
    expect({ ...asked(world), synced: world.informer.synced }).toEqual({ streams: 1, lists: 0, synced: false });
    await world.clock.advance(2_000);
    expect({ ...asked(world), synced: world.informer.synced }).toEqual({ streams: 2, lists: 0, synced: true });
    expect(world.metrics.text()).toContain(
      'informer_failures_total{cluster="",code="API_TOO_MANY_REQUESTS",resource="endpoints",state="list"} 1',
    );
    await stop(world);
  });
});
