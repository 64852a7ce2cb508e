/**
 * How many connections the HTTP client opens and keeps, and who may write through them.
 */
import { describe, expect, test } from "vitest";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { json, type Script, type ScriptedServer } from "../../support/scripted-server.ts";
import { KEY, createWorld, db } from "./http-world.ts";

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
    const { server, client } = await createWorld((_, response) => json(response, { kind: "Status", metadata: {}, status: "Success" }), {
      connectionsMax: 1,
    });
    for (let call = 0; call < 5; call++) await client.delete(ENDPOINTS, KEY, { uid: "life-1" });
    expect({ requests: server.requests.length, connections: server.connections }).toEqual({ requests: 5, connections: 1 });
  });

  test("a call that ends while it waits for one fails at once and is never sent", async () => {
    let answer = (): void => undefined;
    const script: Script = (_, response) =>
      void (answer = () => json(response, { kind: "EndpointsList", metadata: { resourceVersion: "1" }, items: [] }));
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
