import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHttpClient, type HttpClientOptions } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import type { ClusterClient, WatchEvent, WatchOptions } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createFakeClock, settle, until } from "../../support/fake-clock.ts";
import { failure, json, startScriptedServer, stream, type Script } from "../../support/scripted-server.ts";

const open: { close(): Promise<void> }[] = [];
const rejections: unknown[] = [];
const keep = (reason: unknown) => void rejections.push(reason);
process.on("unhandledRejection", keep);
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await settle();
  expect(rejections.splice(0)).toEqual([]);
});

async function createWorld(
  script: Script,
  { scheme = "http", ...options }: Partial<HttpClientOptions> & { scheme?: "http" | "https" } = {},
) {
  const server = await startScriptedServer({ scheme, script });
  const kubeConfig = await loadKubeConfig({ text: server.kubeconfig() });
  const client = createHttpClient({ kubeConfig, clock: systemClock, ...options });
  open.push(server, client);
  return { server, client };
}

function event(type: WatchEvent["type"], resourceVersion: number, name = "db"): WatchEvent {
  return {
    type,
    object: { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name, resourceVersion: String(resourceVersion) } },
  };
}

/** Reads a watch to its end. */
function read(client: ClusterClient, options: Partial<WatchOptions> = {}) {
  const ending = new AbortController();
  const events: WatchEvent[] = [];
  const all = { resourceVersion: "1", signal: ending.signal, ...options };
  const ended = (async () => {
    for await (const one of client.watch(ENDPOINTS, all)) events.push(one);
  })();
  // Anyone who looks at `ended` later still sees how it ended.
  ended.catch(() => undefined);
  return { events, ended, end: () => ending.abort() };
}

describe("a watch", () => {
  test("asks for events after a state, with bookmarks and an end", async () => {
    const { server, client } = await createWorld((_, response) => void response.writeHead(200).end());
    await read(client, { resourceVersion: "7", namespace: "shop", labelSelector: "a=b", timeoutSeconds: 300 }).ended;
    await read(client, { bookmarks: false }).ended;
    expect(server.requests.map(({ path, query }) => ({ path, ...Object.fromEntries(query) }))).toEqual([
      {
        path: "/api/v1/namespaces/shop/endpoints",
        watch: "true",
        labelSelector: "a=b",
        resourceVersion: "7",
        allowWatchBookmarks: "true",
        timeoutSeconds: "300",
      },
      { path: "/api/v1/endpoints", watch: "true", resourceVersion: "1", allowWatchBookmarks: "false" },
    ]);
  });

  test("yields events in order and ends when the server ends it", async () => {
    const events = [event("ADDED", 2), event("MODIFIED", 3), event("BOOKMARK", 4), event("DELETED", 5)];
    const { client } = await createWorld((_, response) => {
      stream(response, ...events);
      response.end();
    });
    const watch = read(client);
    await watch.ended;
    expect(watch.events).toEqual(events);
  });

  test("yields events as they come, however the network cuts them", async () => {
    const text = `${JSON.stringify(event("ADDED", 2, "größe-🧵"))}\n`;
    const bytes = Buffer.from(text);
    const { client } = await createWorld(async (_, response) => {
      stream(response);
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await settle();
      }
    });
    const watch = read(client);
    await until("the event arrives", () => watch.events.length === 1);
    expect(watch.events[0]).toEqual(JSON.parse(text));
    watch.end();
    await watch.ended;
  });

  test("tells when the server has accepted it, long before the first event", async () => {
    let opened = 0;
    const { client } = await createWorld((_, response) => stream(response));
    const watch = read(client, { onOpen: () => (opened += 1) });
    await until("it is open", () => opened === 1);
    watch.end();
    await watch.ended;
    expect({ opened, events: watch.events }).toEqual({ opened: 1, events: [] });
  });

  test("reads ten thousand events in order", async () => {
    const { client } = await createWorld((_, response) => {
      stream(response, ...Array.from({ length: 10_000 }, (_one, index) => event("MODIFIED", index + 2)));
      response.end();
    });
    const watch = read(client);
    await watch.ended;
    expect(watch.events.map(({ object }) => Number(object.metadata.resourceVersion))).toEqual(
      Array.from({ length: 10_000 }, (_one, index) => index + 2),
    );
  });
});

describe("the end of a watch", () => {
  test.each([
    { why: "while it is idle", script: ((_, response) => stream(response)) satisfies Script },
    { why: "before the server answered", script: (() => undefined) satisfies Script },
    {
      why: "in a flood",
      script: ((_, response) => stream(response, ...Array.from({ length: 5_000 }, (_one, i) => event("MODIFIED", i + 2)))) satisfies Script,
    },
  ])("by its signal is prompt $why, and leaves nothing open", async ({ script }) => {
    const clock = createFakeClock();
    const { server, client } = await createWorld(script, { clock });
    const watch = read(client);
    await until("the request arrives", () => server.requests.length === 1);
    await settle();
    watch.end();
    await watch.ended;
    await until("the connection is gone", () => server.openConnections === 0);
    expect(clock.pending).toBe(0);
  });

  test("before its beginning asks for nothing", async () => {
    const { server, client } = await createWorld((_, response) => stream(response));
    const watch = read(client, { signal: AbortSignal.abort() });
    await watch.ended;
    expect(server.requests).toEqual([]);
  });

  test("by its reader, who leaves the loop, leaves nothing open", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld((_, response) => stream(response, event("ADDED", 2)), { clock });
    for await (const _event of client.watch(ENDPOINTS, { resourceVersion: "1", signal: new AbortController().signal })) break;
    await until("the connection is gone", () => server.openConnections === 0);
    expect(clock.pending).toBe(0);
  });

  test("by the closing of the client is a failure", async () => {
    const { server, client } = await createWorld((_, response) => stream(response));
    const watch = read(client);
    await until("it is open", () => server.requests.length === 1);
    await settle();
    await client.close();
    await expect(watch.ended).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await expect(read(client).ended).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });
});

describe("a watch that fails", () => {
  const good = event("ADDED", 2);
  const status = (code: number, reason: string) => ({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: "scripted",
    reason,
    code,
  });

  test.each([
    { why: "an ERROR event 410", write: { type: "ERROR", object: status(410, "Expired") }, code: "API_EXPIRED" },
    { why: "an ERROR event 410 with the older reason", write: { type: "ERROR", object: status(410, "Gone") }, code: "API_EXPIRED" },
    { why: "an ERROR event 500", write: { type: "ERROR", object: status(500, "InternalError") }, code: "API_UNAVAILABLE" },
    { why: "an ERROR event without a usable Status", write: { type: "ERROR", object: {} }, code: "API_UNAVAILABLE" },
    { why: "an event of an unknown type", write: { type: "PATCHED", object: good.object }, code: "API_UNAVAILABLE" },
    { why: "an event without metadata", write: { type: "ADDED", object: {} }, code: "API_UNAVAILABLE" },
    { why: "an event without an object", write: { type: "ADDED" }, code: "API_UNAVAILABLE" },
    { why: "a line that is not an object", write: 7, code: "API_UNAVAILABLE" },
  ])("throws after $why, when all before it was read", async ({ write, code }) => {
    const { server, client } = await createWorld((_, response) => stream(response, good, write));
    const watch = read(client);
    await expect(watch.ended).rejects.toMatchObject({ code });
    expect(watch.events).toEqual([good]);
    await until("the connection is gone", () => server.openConnections === 0);
  });

  test.each([
    { why: "a line of broken JSON", text: '{"type":"ADDED","obj\n' },
    { why: "HTML", text: "<html>\n" },
    { why: "an event that the end of the stream cut off", text: '{"type":"ADDED"', end: true },
  ])("throws API_UNAVAILABLE after $why", async ({ text, end }) => {
    const { client } = await createWorld((_, response) => {
      stream(response, good);
      response.write(text);
      if (end) response.end();
    });
    const watch = read(client);
    await expect(watch.ended).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    expect(watch.events).toEqual([good]);
  });

  test("throws API_UNAVAILABLE when its connection is reset", async () => {
    const { server, client } = await createWorld((_, response) => stream(response, good));
    const watch = read(client);
    await until("the event arrives", () => watch.events.length === 1);
    server.resetConnections();
    await expect(watch.ended).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });

  test.each([
    { code: 410, reason: "Expired", want: "API_EXPIRED" },
    { code: 429, reason: "TooManyRequests", want: "API_TOO_MANY_REQUESTS" },
    { code: 503, reason: "ServiceUnavailable", want: "API_UNAVAILABLE" },
    { code: 403, reason: "Forbidden", want: "API_FORBIDDEN" },
  ])("throws $want when the server answers $code", async ({ code, reason, want }) => {
    const { server, client } = await createWorld((_, response) => failure(response, code, reason, { "retry-after": "2" }));
    await expect(read(client).ended).rejects.toMatchObject({ code: want, details: { retryAfterSeconds: 2 } });
    expect(server.requests).toHaveLength(1);
  });

  test("throws API_UNAVAILABLE if no server listens, or none answers in time", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld(() => undefined, { clock });
    const silent = read(client);
    await until("the request arrives", () => server.requests.length === 1);
    await clock.advance(30_000);
    await expect(silent.ended).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await server.shut();
    await expect(read(client).ended).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });

  test("throws API_ERROR for an event over the limit, before it has all of it", async () => {
    const { client } = await createWorld(
      (_, response) => {
        stream(response, good);
        response.write("x".repeat(5_000));
      },
      { eventBytesMax: 2_000 },
    );
    const watch = read(client);
    await expect(watch.ended).rejects.toMatchObject({ code: "API_ERROR" });
    expect(watch.events).toEqual([good]);
  });
});

describe("silence", () => {
  test("of 90 seconds ends a watch with API_UNAVAILABLE", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld((_, response) => stream(response, event("ADDED", 2)), { clock });
    const watch = read(client);
    await until("the event arrives", () => watch.events.length === 1);
    await clock.advance(89_000);
    expect(server.openConnections).toBe(1);
    await clock.advance(91_000);
    await expect(watch.ended).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      message: expect.stringContaining("silent for 90000 ms") as string,
    });
    expect(clock.pending).toBe(0);
  });

  test("between bookmarks a minute apart is healthy", async () => {
    const clock = createFakeClock();
    let response: Parameters<Script>[1] | undefined;
    const { client } = await createWorld((_, open) => stream((response = open)), { clock });
    const watch = read(client);
    await until("the request arrives", () => response !== undefined);
    for (let minute = 1; minute <= 10; minute++) {
      await clock.advance(60_000);
      stream(response!, event("BOOKMARK", minute + 1));
      await until("the bookmark arrives", () => watch.events.length === minute);
    }
    watch.end();
    await watch.ended;
  });

  test("of the reader is not held against the server", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld((_, response) => stream(response, event("ADDED", 2)), { clock });
    const watch = client.watch(ENDPOINTS, { resourceVersion: "1", signal: new AbortController().signal })[Symbol.asyncIterator]();
    await watch.next();
    await clock.advance(300_000);
    expect(server.openConnections).toBe(1);
    await watch.return?.();
  });

  test("is a setting", async () => {
    const clock = createFakeClock();
    const { client } = await createWorld((_, response) => stream(response), { clock, inactivityMs: 5_000 });
    let opened = 0;
    const watch = read(client, { onOpen: () => (opened += 1) });
    await until("it is open", () => opened === 1);
    await clock.advance(10_000);
    await expect(watch.ended).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });
});

describe("connections of watches", () => {
  test("are their own: open watches never keep calls waiting", async () => {
    const script: Script = ({ query }, response) =>
      query.get("watch")
        ? stream(response)
        : json(response, { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "shop", name: "db" } });
    const { server, client } = await createWorld(script, { scheme: "https", connectionsMax: 2 });
    const watches = Array.from({ length: 12 }, () => read(client));
    await until("all are open", () => server.requests.length === 12);
    for (let i = 0; i < 20; i++) await client.get(ENDPOINTS, { namespace: "shop", name: "db" });
    expect(server.connections).toBeLessThanOrEqual(12 + 2);
    for (const watch of watches) watch.end();
    await Promise.all(watches.map(({ ended }) => ended));
  });

  test("are used again by the next watch when the server ended the last one", async () => {
    const { server, client } = await createWorld(
      (_, response) => {
        stream(response, event("ADDED", 2));
        response.end();
      },
      { scheme: "https" },
    );
    for (let i = 0; i < 20; i++) {
      await read(client).ended;
      await settle();
    }
    expect(server.connections).toBeLessThanOrEqual(2);
  });
});
