/**
 * The HTTP client when connections break, answers do not come, and after it is closed.
 */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { json, type Script } from "../../support/scripted-server.ts";
import { closeAfterTest, CALLS, KEY, createWorld, db } from "./http-world.ts";

const WRITES = ["create", "update", "patch", "delete"];

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

  test("a server with an untrusted certificate is API_UNAVAILABLE with the reason", async () => {
    const { server } = await createWorld((_, response) => json(response, db), { scheme: "https" });
    const kubeConfig = await loadKubeConfig({ text: server.kubeconfig({}, { "certificate-authority-data": undefined }) });
    const stranger = createHttpClient({ kubeConfig, clock: systemClock });
    closeAfterTest(stranger);
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
    closeAfterTest(trusting);
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
