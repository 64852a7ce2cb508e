/**
 * The informer over the HTTP client, through each of the faults that stop or mislead client-node's informer forever. The table
 * follows the order in which they are usually met; none of the cases has user code that reacts.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Chance } from "../../../src/base/chance.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createInformer } from "../../../src/kube/runtime/informer/informer.ts";
import { createFakeClock, settle, until } from "../../support/fake-clock.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { failure, json, startScriptedServer, stream, type Script, type ScriptedServer } from "../../support/scripted-server.ts";
import { FakeCluster, stateOf } from "../runtime/fake-cluster.ts";

const chance: Chance = { fraction: () => 0.5, uuid: () => "", bytes: (length) => new Uint8Array(length) };

/** Serves the list and watch of a fake cluster as an API server does; an older one knows nothing of initial events. */
function serve(cluster: FakeCluster): Script {
  return async ({ query }, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    if (query.get("watch") === null) return json(response, listOf(cluster));
    const initialEvents = query.get("sendInitialEvents") === "true";
    if (initialEvents && !cluster.streamsLists) return failure(response, 422, "Invalid");
    const where = { resourceVersion: query.get("resourceVersion") ?? "", timeoutSeconds: Number(query.get("timeoutSeconds")) };
    const options = { ...where, initialEvents, signal: gone.signal, onOpen: () => stream(response) };
    try {
      for await (const event of cluster.watch(ENDPOINTS, options)) stream(response, event);
      response.end();
    } catch (error) {
      if (!response.headersSent) failure(response, isEngineError(error, "API_EXPIRED") ? 410 : 500, "Expired");
      else response.destroy();
    }
  };
}

/** Lists come without apiVersion and kind on their items. */
function listOf(cluster: FakeCluster): unknown {
  const { items, resourceVersion } = cluster.snapshot();
  return {
    kind: "EndpointsList",
    apiVersion: "v1",
    metadata: { resourceVersion },
    items: items.map(({ apiVersion: _a, kind: _k, ...rest }) => rest),
  };
}

const open: { close(): Promise<void> }[] = [];
const rejections: unknown[] = [];
const keep = (reason: unknown) => void rejections.push(reason);
beforeEach(() => void process.on("unhandledRejection", keep));
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await settle();
  process.off("unhandledRejection", keep);
  expect(rejections.splice(0)).toEqual([]);
});

interface WorldOptions {
  readonly user?: Record<string, unknown>;
  readonly scheme?: "http" | "https";
  /** Whether the server knows initial events. */
  readonly streams?: boolean;
}

async function createWorld({ user = {}, scheme = "http", streams = true }: WorldOptions = {}) {
  const clock = createFakeClock();
  const cluster = new FakeCluster({ clock });
  cluster.streamsLists = streams;
  const server = await startScriptedServer({ scheme, script: serve(cluster) });
  const lines: string[] = [];
  const line = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const logger: Logger = { debug() {}, info: line("info"), warn: line("warn"), error: line("error") };
  const kubeConfig = await loadKubeConfig({ text: server.kubeconfig(user) });
  const client = createHttpClient({ kubeConfig, clock, environment: { PATH: process.env["PATH"] } });
  const informer = createInformer({ client, resource: ENDPOINTS, clock, chance, logger });
  open.push(server, client, { close: () => informer.stop() });
  cluster.put("db");
  cluster.put("web");

  /** Lets simulated time pass until `condition` holds, and real time for sockets and processes. */
  async function passUntil(what: string, condition: () => boolean): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    while (!condition() && performance.now() < deadlineMs) {
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect({ [what]: condition() }).toEqual({ [what]: true });
  }
  const followed = () => JSON.stringify(stateOf(informer.list())) === JSON.stringify(cluster.state()) && informer.current;

  async function follow(): Promise<void> {
    informer.start();
    await until("the watch is open", () => cluster.openWatches === 1 && informer.synced);
    await settle();
  }
  return { clock, cluster, server, client, informer, lines, passUntil, followed, follow };
}

type World = Awaited<ReturnType<typeof createWorld>>;

/** Replaces the script until the returned function is called. */
function interrupt(server: ScriptedServer, script: Script): () => void {
  const before = server.script;
  server.script = script;
  return () => void (server.script = before);
}

/** Writes raw text into every watch that opens, after its first events. */
function writing(world: World, text: string): Script {
  const good = serve(world.cluster);
  let broken = false;
  return async (request, response) => {
    if (request.query.get("watch") !== null && !broken) {
      broken = true;
      stream(response);
      response.write(text);
      return;
    }
    await good(request, response);
  };
}

describe.each([
  { streams: true, server: "one with initial events" },
  { streams: false, server: "one without" },
])("the informer over HTTP, of $server, goes on", ({ streams }) => {
  test.each<{ row: number; why: string; fault: (world: World) => Promise<void> | void }>([
    { row: 1, why: "the stream is reset", fault: ({ server }) => server.resetConnections() },
    {
      row: 2,
      why: "a watch is answered 503, then 429",
      async fault({ server, cluster, passUntil }) {
        let asked = 0;
        const restore = interrupt(server, (_, response) =>
          failure(response, asked++ % 2 === 0 ? 503 : 429, "ServiceUnavailable", { "retry-after": "1" }),
        );
        cluster.endWatches();
        await passUntil("both were answered", () => asked >= 2);
        restore();
      },
    },
    {
      row: 4,
      why: "the server is down for a while",
      async fault({ server, clock }) {
        await server.shut();
        await clock.advance(6_000);
        await server.listen();
      },
    },
    {
      row: 7,
      why: "its state expired before the watch",
      async fault({ server, cluster }) {
        server.resetConnections();
        cluster.remove("db");
        cluster.put("after");
        cluster.compact();
      },
    },
    {
      row: 7,
      why: "its state expired inside the stream",
      fault(world) {
        const error = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" } };
        world.server.script = writing(world, `${JSON.stringify(error)}\n`);
        world.server.resetConnections();
      },
    },
    {
      row: 8,
      why: "an ERROR event 500 came",
      fault(world) {
        world.server.script = writing(world, '{"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd leader changed"}}\n');
        world.server.resetConnections();
      },
    },
    {
      row: 9,
      why: "an object was deleted and recreated meanwhile",
      fault({ server, cluster }) {
        server.resetConnections();
        cluster.remove("db");
        cluster.put("db");
      },
    },
    { row: 10, why: "the server ended the watch cleanly", fault: ({ cluster }) => cluster.endWatches() },
    {
      row: 11,
      why: "the stream fell silent without an end",
      async fault({ server, clock, cluster }) {
        // The old stream stays open and says nothing; its events are lost.
        const streams: ServerResponse[] = [];
        const restore = interrupt(server, (_, response) => {
          streams.push(response);
          stream(response);
        });
        server.resetConnections();
        await clock.advance(1_000);
        await until("the silent stream is open", () => streams.length > 0);
        restore();
        cluster.put("unanswered");
        await clock.advance(100_000);
      },
    },
    {
      row: 15,
      why: "a line of broken JSON came",
      fault(world) {
        world.server.script = writing(world, '{"type":"MODIFIED","object":{"metadata":\n');
        world.server.resetConnections();
      },
    },
    {
      row: 15,
      why: "a proxy answered with HTML",
      fault(world) {
        const restore = interrupt(world.server, (_, response) => {
          response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
          restore();
        });
        world.server.resetConnections();
      },
    },
  ])("after $why (row $row)", async ({ fault }) => {
    const world = await createWorld({ streams });
    await world.follow();
    await fault(world);
    world.cluster.put("changed-later");
    world.cluster.remove("web");
    await world.passUntil("the copy is current and equal", world.followed);
    world.cluster.put("and-again");
    await world.passUntil("it follows", world.followed);
    expect(world.cluster.openWatches).toBeGreaterThanOrEqual(1);
  });

  test("after lists that fail at the start (row 3)", async () => {
    const world = await createWorld({ streams });
    let asked = 0;
    const restore = interrupt(
      world.server,
      (_, response) => void (asked++ === 0 ? failure(response, 500, "InternalError") : response.destroy()),
    );
    world.informer.start();
    await world.passUntil("three were refused", () => asked >= 3);
    expect(world.informer.synced).toBe(false);
    restore();
    await world.passUntil("it follows", world.followed);
    expect(world.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
  });

  test("after a credential plugin failed while it reconnected (row 5)", async () => {
    const directory = await mkdtemp(join(tmpdir(), "informer-"));
    const flag = join(directory, "flag");
    await writeFile(flag, "");
    const expired = new Date(Date.UTC(2020, 0, 1)).toISOString();
    const script = `test -f ${flag} && echo '{"status":{"token":"t","expirationTimestamp":"${expired}"}}'`;
    const world = await createWorld({ user: { exec: { command: "sh", args: ["-c", script] } } });
    await world.follow();
    await rm(flag);
    await world.clock.advance(2_000);
    world.server.resetConnections();
    await world.passUntil("the failure is noticed", () => world.lines.length > 0);
    expect(world.informer.current).toBe(false);
    spawnSync("touch", [flag]);
    await world.passUntil("it follows", world.followed);
    await rm(directory, { recursive: true });
  });

  test("after listeners that throw (row 6)", async () => {
    const world = await createWorld();
    world.informer.onChange(() => {
      throw new Error("listener failed");
    });
    await world.follow();
    world.cluster.put("db");
    await world.passUntil("it follows", world.followed);
  });
});

describe("the informer over HTTP", () => {
  test("follows an idle kind over one connection, one request each half a minute, without a gap (row 12)", async () => {
    const world = await createWorld({ scheme: "https" });
    await world.follow();
    const { connections } = world.server;
    for (let second = 0; second < 150; second++) {
      await world.clock.advance(1_000);
      await until("the watch is open", () => world.cluster.openWatches === 1);
      expect(world.informer.current).toBe(true);
    }
    expect(world.server.requests.filter(({ query }) => query.get("watch") !== null)).toHaveLength(5);
    expect(world.server.requests.filter(({ query }) => query.get("watch") === null)).toEqual([]);
    expect(world.server.connections).toBe(connections);
    expect(world.lines).toEqual([]);
  });

  test("stops without a word, and leaves no connection busy and no timer (row 13)", async () => {
    const world = await createWorld();
    await world.follow();
    await world.informer.stop();
    await until("the watch is closed", () => world.cluster.openWatches === 0);
    expect({ lines: world.lines, timers: world.clock.pending }).toEqual({ lines: [], timers: 0 });
  });

  test("stops during a list, and no watch follows (row 14)", async () => {
    const world = await createWorld();
    interrupt(world.server, () => undefined);
    world.informer.start();
    await until("the list is asked for", () => world.server.requests.length === 1);
    await world.informer.stop();
    await until("the connection is gone", () => world.server.openConnections === 0);
    await world.clock.advance(60_000);
    expect({ requests: world.server.requests.length, timers: world.clock.pending }).toEqual({ requests: 1, timers: 0 });
  });

  test("shares its connections with everything else that uses the client", async () => {
    const world = await createWorld({ scheme: "https" });
    const others = [ENDPOINTS, ENDPOINTS].map((resource) => createInformer({ client: world.client, resource, clock: world.clock, chance }));
    const all = [world.informer, ...others];
    for (const one of all) one.start();
    await Promise.all(all.map((one) => one.whenSynced()));
    await until("every watch is open", () => world.cluster.openWatches === 3);
    const calls = Array.from({ length: 500 }, () => world.client.list(ENDPOINTS));
    await Promise.all(calls);
    expect(world.server.connections).toBeLessThanOrEqual(8 + 3);
    await Promise.all(others.map((other) => other.stop()));
  });
});
