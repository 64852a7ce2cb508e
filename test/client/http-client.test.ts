import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Logger } from "../../src/base/logger.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { createHttpClient, type HttpClientOptions } from "../../src/client/http-client.ts";
import { loadKubeConfig } from "../../src/client/kube-config.ts";
import type { ClusterClient } from "../../src/object/cluster-client.ts";
import { ENDPOINTS, NAMESPACES } from "../../src/object/resource.ts";
import type { KubeObject } from "../../src/object/types.ts";
import { createFakeClock, until } from "../support/fake-clock.ts";
import { failure, json, startScriptedServer, type Script, type ScriptedServer } from "../support/scripted-server.ts";

const KEY = { namespace: "shop", name: "db" };
const db: KubeObject = { apiVersion: "v1", kind: "Endpoints", metadata: { ...KEY, uid: "1", resourceVersion: "5" } };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface WorldOptions extends Partial<HttpClientOptions> {
  readonly scheme?: "http" | "https";
  readonly user?: Record<string, unknown>;
  readonly cluster?: Record<string, unknown>;
}

async function createWorld(script: Script, { scheme = "http", user = {}, cluster = {}, ...options }: WorldOptions = {}) {
  const server = await startScriptedServer({ scheme, script });
  const metrics = createMetrics();
  const lines: string[] = [];
  const line = (message: string, fields = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const kubeConfig = await loadKubeConfig({ text: server.kubeconfig(user, cluster) });
  const client = createHttpClient({ kubeConfig, clock: systemClock, metrics, logger, ...options });
  open.push(server, client);
  return { server, client, metrics, lines };
}

/** Everything that a client can be asked for, in one word each. */
const CALLS: Record<string, (client: ClusterClient) => Promise<unknown>> = {
  get: (client) => client.get(ENDPOINTS, KEY),
  list: (client) => client.list(ENDPOINTS),
  create: (client) => client.create(ENDPOINTS, db),
  update: (client) => client.update(ENDPOINTS, db),
  patch: (client) => client.patch(ENDPOINTS, KEY, "merge", {}),
  delete: (client) => client.delete(ENDPOINTS, KEY),
};
const WRITES = ["create", "update", "patch", "delete"];

describe("requests", () => {
  test.each([
    { call: "get", want: "GET /api/v1/namespaces/shop/endpoints/db", body: "" },
    { call: "create", want: "POST /api/v1/namespaces/shop/endpoints", body: JSON.stringify(db) },
    { call: "update", want: "PUT /api/v1/namespaces/shop/endpoints/db", body: JSON.stringify(db) },
    { call: "patch", want: "PATCH /api/v1/namespaces/shop/endpoints/db", body: "{}" },
    { call: "delete", want: "DELETE /api/v1/namespaces/shop/endpoints/db", body: '{"kind":"DeleteOptions","apiVersion":"v1"}' },
  ])("$call is $want", async ({ call, want, body }) => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    await CALLS[call]!(client);
    const [request] = server.requests;
    expect(`${request!.method} ${request!.path}`).toBe(want);
    expect(request!.body).toBe(body);
    expect(request!.headers).toMatchObject({ accept: "application/json", "user-agent": "endpoint-sync" });
  });

  test("carry the content type of each patch", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    await client.patch(ENDPOINTS, KEY, "json", []);
    await client.patch(ENDPOINTS, KEY, "merge", {});
    await client.create(ENDPOINTS, db);
    expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual([
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/json",
    ]);
  });

  test("to delete carry the preconditions", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    expect(await client.delete(ENDPOINTS, KEY, { uid: "1", resourceVersion: "5" })).toBe("deleted");
    expect(JSON.parse(server.requests[0]!.body)).toMatchObject({ preconditions: { uid: "1", resourceVersion: "5" } });
  });

  test("go below the path of the server's address", async () => {
    const { server } = await createWorld((_, response) => json(response, db));
    const kubeConfig = await loadKubeConfig({ text: server.kubeconfig({}, { server: `${server.url}/k8s/clusters/blue` }) });
    const client = createHttpClient({ kubeConfig, clock: systemClock });
    open.push(client);
    await client.get(ENDPOINTS, KEY);
    expect(server.requests[0]!.path).toBe("/k8s/clusters/blue/api/v1/namespaces/shop/endpoints/db");
  });

  test("to list name the page, the selectors and a state that may be newer", async () => {
    const { server, client } = await createWorld((_, response) => json(response, { metadata: { resourceVersion: "9" }, items: [] }));
    await client.list(ENDPOINTS, {
      namespace: "shop",
      labelSelector: "a=b",
      fieldSelector: "metadata.name=db",
      limit: 2,
      resourceVersion: "7",
    });
    await client.list(ENDPOINTS, { limit: 2, continue: "next" });
    expect(server.requests.map(({ path, query }) => ({ path, ...Object.fromEntries(query) }))).toEqual([
      {
        path: "/api/v1/namespaces/shop/endpoints",
        labelSelector: "a=b",
        fieldSelector: "metadata.name=db",
        limit: "2",
        resourceVersion: "7",
        resourceVersionMatch: "NotOlderThan",
      },
      { path: "/api/v1/endpoints", limit: "2", continue: "next" },
    ]);
  });

  test("to update an object without a resourceVersion are not sent: the server would overwrite anything", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    await expect(client.update(ENDPOINTS, { ...db, metadata: KEY })).rejects.toMatchObject({ code: "INTERNAL" });
    expect(server.requests).toEqual([]);
  });
});

describe("answers", () => {
  test("of a list have apiVersion and kind on every item", async () => {
    const script: Script = (_, response) =>
      json(response, {
        metadata: { resourceVersion: "9", continue: "next" },
        items: [{ metadata: { name: "db" } }, { metadata: { name: "web" } }],
      });
    const { client } = await createWorld(script);
    expect(await client.list(ENDPOINTS)).toEqual({
      items: ["db", "web"].map((name) => ({ apiVersion: "v1", kind: "Endpoints", metadata: { name } })),
      resourceVersion: "9",
      continue: "next",
    });
  });

  test.each([{ items: null }, { items: [] }])("that list nothing are an empty list: %j", async (body) => {
    const { client } = await createWorld((_, response) => json(response, { metadata: { resourceVersion: "9", continue: "" }, ...body }));
    expect(await client.list(ENDPOINTS)).toEqual({ items: [], resourceVersion: "9" });
  });

  test.each([
    {},
    { items: [] },
    { metadata: { resourceVersion: "9" } },
    { metadata: { resourceVersion: "9" }, items: {} },
    { metadata: { resourceVersion: "9" }, items: [null] },
  ])("that are no list are API_UNAVAILABLE: %j", async (body) => {
    const { client } = await createWorld((_, response) => json(response, body));
    await expect(client.list(ENDPOINTS)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });

  test("404 of an absent object is a value", async () => {
    const { client } = await createWorld((_, response) => failure(response, 404, "NotFound"));
    expect(await client.get(ENDPOINTS, KEY)).toBeUndefined();
    expect(await client.delete(ENDPOINTS, KEY)).toBe("absent");
    await expect(client.update(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_NOT_FOUND" });
    await expect(client.create(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_NOT_FOUND" });
  });

  test("404 of an absent resource is an error for everybody", async () => {
    const { client } = await createWorld((_, response) => void response.writeHead(404).end("404 page not found\n"));
    for (const call of Object.values(CALLS)) await expect(call(client)).rejects.toMatchObject({ code: "API_NOT_FOUND" });
  });

  test.each([
    { code: 409, reason: "Conflict", want: "API_CONFLICT" },
    { code: 409, reason: "AlreadyExists", want: "API_ALREADY_EXISTS" },
    { code: 422, reason: "Invalid", want: "API_INVALID" },
    { code: 403, reason: "Forbidden", want: "API_FORBIDDEN" },
    { code: 410, reason: "Expired", want: "API_EXPIRED" },
    { code: 429, reason: "TooManyRequests", want: "API_TOO_MANY_REQUESTS" },
    { code: 500, reason: "InternalError", want: "API_UNAVAILABLE" },
  ])("$code $reason is $want, asked for once only", async ({ code, reason, want }) => {
    const { server, client } = await createWorld((_, response) => failure(response, code, reason, { "retry-after": "4" }));
    for (const call of Object.values(CALLS)) {
      await expect(call(client)).rejects.toMatchObject({ code: want, message: `scripted ${reason}`, details: { retryAfterSeconds: 4 } });
    }
    expect(server.requests).toHaveLength(Object.keys(CALLS).length);
  });

  test("of a proxy in HTML are API_UNAVAILABLE, with an error status or without", async () => {
    for (const status of [502, 200]) {
      const { client } = await createWorld(
        (_, response) => void response.writeHead(status, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
      );
      for (const call of Object.keys(CALLS).filter((name) => name !== "delete")) {
        await expect(CALLS[call]!(client)).rejects.toMatchObject({
          code: "API_UNAVAILABLE",
          message: expect.stringContaining("Bad gateway") as string,
        });
      }
    }
  });

  test("that are larger than the limit are refused", async () => {
    const { client } = await createWorld((_, response) => json(response, { ...db, big: "x".repeat(5_000) }), { answerBytesMax: 2_000 });
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({
      code: "API_ERROR",
      message: expect.stringContaining("limit") as string,
    });
  });

  test("with a Warning are logged once for each text", async () => {
    const script: Script = ({ method }, response) => json(response, db, 200, { warning: `299 - "${method} is deprecated"` });
    const { client, lines } = await createWorld(script);
    for (let i = 0; i < 3; i++) await client.get(ENDPOINTS, KEY);
    await client.update(ENDPOINTS, db);
    expect(lines.map((line) => /"299 - .*deprecated/.exec(line)?.[0])).toEqual([
      '"299 - \\"GET is deprecated',
      '"299 - \\"PUT is deprecated',
    ]);
  });

  test("are counted as client-go counts them", async () => {
    const { server, client, metrics } = await createWorld(({ path }, response) =>
      path.endsWith("db") ? json(response, db) : failure(response, 503, "ServiceUnavailable"),
    );
    await client.get(ENDPOINTS, KEY);
    await client.get(ENDPOINTS, KEY);
    await client.list(ENDPOINTS).catch(() => undefined);
    const value = (code: string) => metrics.value("rest_client_requests_total", { code, method: "GET", host: server.url });
    expect([value("200"), value("503")]).toEqual([2, 1]);
    await server.shut();
    await client.get(ENDPOINTS, KEY).catch(() => undefined);
    expect(value("<error>")).toBeGreaterThan(0);
  });
});

describe("broken connections", () => {
  test("a read is sent once more, a write never", async () => {
    const { server, client } = await createWorld(({ socket }) => void socket.destroy());
    for (const [name, call] of Object.entries(CALLS)) {
      const before = server.requests.length;
      await expect(call(client)).rejects.toMatchObject({ code: "API_UNAVAILABLE", cause: expect.any(Error) as Error });
      expect({ name, sent: server.requests.length - before }).toEqual({ name, sent: WRITES.includes(name) ? 1 : 2 });
    }
  });

  test("a read that breaks once is not noticed", async () => {
    let broken = 0;
    const { client } = await createWorld(({ socket }, response) => (broken++ === 0 ? void socket.resetAndDestroy() : json(response, db)));
    expect(await client.get(ENDPOINTS, KEY)).toEqual(db);
  });

  test("an answer that breaks off in its middle is no answer", async () => {
    const script: Script = ({ socket }, response) => {
      response.writeHead(200, { "content-length": "1000" }).write('{"kind":"Endpoints","metadata":{}');
      setImmediate(() => socket.destroy());
    };
    const { server, client } = await createWorld(script);
    await expect(client.update(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    expect(server.requests).toHaveLength(1);
  });

  test("a server that is not there is API_UNAVAILABLE, and is found again when it is back", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    await client.get(ENDPOINTS, KEY);
    await server.shut();
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await server.listen();
    expect(await client.get(ENDPOINTS, KEY)).toEqual(db);
  });

  test("a server that nobody vouches for is API_UNAVAILABLE with the reason", async () => {
    const { server } = await createWorld((_, response) => json(response, db), { scheme: "https" });
    const kubeConfig = await loadKubeConfig({ text: server.kubeconfig({}, { "certificate-authority-data": undefined }) });
    const stranger = createHttpClient({ kubeConfig, clock: systemClock });
    open.push(stranger);
    await expect(stranger.get(ENDPOINTS, KEY)).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      message: expect.stringMatching(/certificate/) as string,
    });
    const trusting = createHttpClient({
      kubeConfig: await loadKubeConfig({
        text: server.kubeconfig({}, { "certificate-authority-data": undefined, "insecure-skip-tls-verify": true }),
      }),
      clock: systemClock,
    });
    open.push(trusting);
    expect(await trusting.get(ENDPOINTS, KEY)).toEqual(db);
  });
});

describe("time", () => {
  test("a call without an answer ends after the timeout, and frees its connection", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld(() => undefined, { clock, timeoutMs: 30_000 });
    const failed = expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      message: expect.stringContaining("within 30000 ms") as string,
    });
    await until("the request arrives", () => server.requests.length === 1);
    await clock.advance(30_000);
    await failed;
    await until("the connection is gone", () => server.openConnections === 0);
    expect(clock.pending).toBe(0);
  });

  test("a call whose answer never ends is ended too", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld((_, response) => void response.writeHead(200).write('{"kind":'), { clock });
    const failed = expect(client.update(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await until("the request arrives", () => server.requests.length === 1);
    await clock.advance(30_000);
    await failed;
  });

  test("a list can be ended early", async () => {
    const { server, client } = await createWorld(() => undefined);
    const ending = new AbortController();
    const failed = expect(client.list(ENDPOINTS, { signal: ending.signal })).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await until("the request arrives", () => server.requests.length === 1);
    ending.abort();
    await failed;
    await expect(client.list(ENDPOINTS, { signal: ending.signal })).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    expect(server.requests).toHaveLength(1);
  });

  test("writes keep to their rate, reads do not wait", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld((_, response) => json(response, db), { clock, writeRate: { perSecond: 10, burst: 2 } });
    const writes = [1, 2, 3, 4].map(() => client.update(ENDPOINTS, db));
    await client.get(ENDPOINTS, KEY);
    await until("the burst arrives", () => server.requests.length === 3);
    const first = server.requests.filter(({ method }) => method === "PUT").length;
    await clock.advance(100);
    await until("the third arrives", () => server.requests.length === 4);
    await clock.advance(100);
    await Promise.all(writes);
    expect(first).toBe(2);
  });

  test("a write that the server sends away takes its turn again like any other", async () => {
    const clock = createFakeClock();
    const { server, client } = await createWorld(
      (_, response) => {
        if (server.requests.length > 2) return json(response, db);
        json(response, { kind: "Status", code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 1 } }, 429);
      },
      { clock, writeRate: { perSecond: 10, burst: 2 } },
    );
    const refused = [1, 2].map(() => expect(client.update(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_TOO_MANY_REQUESTS" }));
    await Promise.all(refused);
    const again = [1, 2].map(() => client.update(ENDPOINTS, db));
    await client.get(ENDPOINTS, KEY);
    expect(server.requests.filter(({ method }) => method === "PUT")).toHaveLength(2);
    await clock.advance(100);
    await until("the first arrives", () => server.requests.length === 4);
    await clock.advance(100);
    await Promise.all(again);
  });
});

describe("a closed client", () => {
  test("fails the calls in flight and those that come later", async () => {
    const { server, client } = await createWorld(() => undefined);
    const failing = Object.values(CALLS).map((call) => expect(call(client)).rejects.toMatchObject({ code: "API_UNAVAILABLE" }));
    await until("the requests arrive", () => server.requests.length === Object.keys(CALLS).length);
    await client.close();
    await Promise.all(failing);
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE", message: "The client is closed" });
    await until("no connection is open", () => server.openConnections === 0);
  });

  test("fails the writes that wait for their turn", async () => {
    const { client } = await createWorld((_, response) => json(response, db), {
      clock: createFakeClock(),
      writeRate: { perSecond: 1, burst: 1 },
    });
    await client.update(ENDPOINTS, db);
    const failed = expect(client.update(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await client.close();
    await failed;
  });

  test("can be closed again", async () => {
    const { client } = await createWorld(() => undefined);
    await client.close();
    await client.close();
  });
});

describe("connections", () => {
  async function callMany(server: ScriptedServer, client: ClusterClient, calls: number): Promise<void> {
    let left = calls;
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        while (left-- > 0) await client.update(ENDPOINTS, db);
      }),
    );
    expect(server.requests).toHaveLength(calls);
  }

  test("a thousand calls, forty at a time, take eight handshakes at most", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db), { scheme: "https" });
    await callMany(server, client, 1_000);
    expect(server.connections).toBeLessThanOrEqual(8);
  });

  test("their number is a setting", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db), { scheme: "https", connectionsMax: 2 });
    await callMany(server, client, 200);
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  test("deletes leave theirs open", async () => {
    const { server, client } = await createWorld((_, response) => json(response, { kind: "Status", metadata: {} }), { connectionsMax: 1 });
    for (let call = 0; call < 5; call++) await client.delete(ENDPOINTS, KEY, { uid: "life-1" });
    expect({ requests: server.requests.length, connections: server.connections }).toEqual({ requests: 5, connections: 1 });
  });

  test("a call that ends while it waits for one fails at once and is never sent", async () => {
    let answer = (): void => undefined;
    const script: Script = (_, response) => void (answer = () => json(response, { metadata: { resourceVersion: "1" }, items: [] }));
    const { server, client } = await createWorld(script, { connectionsMax: 1 });
    const first = client.list(ENDPOINTS);
    await until("the first is under way", () => server.requests.length === 1);
    const ending = new AbortController();
    const second = client.list(ENDPOINTS, { signal: ending.signal });
    // By then it waits.
    await new Promise((resolve) => setImmediate(resolve));
    ending.abort();
    await expect(second).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    answer();
    await first;
    const third = client.list(ENDPOINTS);
    await until("the third is under way", () => server.requests.length === 2);
    answer();
    await third;
    expect(server.requests).toHaveLength(2);
  });

  test("nothing is opened before the first call", async () => {
    const { server } = await createWorld((_, response) => json(response, db));
    expect(server.connections).toBe(0);
  });
});

test("a cluster-scoped object is found without a namespace", async () => {
  const { server, client } = await createWorld((_, response) => json(response, { metadata: { name: "shop" } }));
  await client.get(NAMESPACES, { namespace: "", name: "shop" });
  expect(server.requests[0]!.path).toBe("/api/v1/namespaces/shop");
});

describe("writes that may not be", () => {
  test("fail with LEADERSHIP_LOST and are not sent, while reads are", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db), { mayWrite: () => false });
    await client.get(ENDPOINTS, { namespace: "shop", name: "db" });
    const writes = [
      client.create(ENDPOINTS, db),
      client.update(ENDPOINTS, db),
      client.patch(ENDPOINTS, { namespace: "shop", name: "db" }, "merge", {}),
      client.delete(ENDPOINTS, { namespace: "shop", name: "db" }),
    ];
    for (const write of writes) await expect(write).rejects.toMatchObject({ code: "LEADERSHIP_LOST" });
    expect(server.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("are asked about after they waited for a connection, which is kept", async () => {
    let allowed = true;
    let answer = (): void => undefined;
    const script: Script = (request, response) => {
      if (request.method === "PUT") answer = () => json(response, db);
      else json(response, db);
    };
    const { server, client } = await createWorld(script, { mayWrite: () => allowed, connectionsMax: 1 });
    const [first, second] = [client.update(ENDPOINTS, db), client.update(ENDPOINTS, db)];
    second.catch(() => undefined);
    await until("the first is under way", () => server.requests.length === 1);
    allowed = false;
    answer();
    await first;
    await expect(second).rejects.toMatchObject({ code: "LEADERSHIP_LOST" });
    await client.get(ENDPOINTS, { namespace: "shop", name: "db" });
    expect({ requests: server.requests.length, connections: server.connections }).toEqual({ requests: 2, connections: 1 });
  });

  test("are asked about after they waited for their turn", async () => {
    const clock = createFakeClock();
    let allowed = true;
    const options = { clock, mayWrite: () => allowed, writeRate: { perSecond: 1, burst: 1 } };
    const { server, client } = await createWorld((_, response) => json(response, db), options);
    await client.update(ENDPOINTS, db);
    const second = client.update(ENDPOINTS, db);
    second.catch(() => undefined);
    allowed = false;
    await clock.advance(1_000);
    await expect(second).rejects.toMatchObject({ code: "LEADERSHIP_LOST" });
    expect(server.requests).toHaveLength(1);
  });
});
