import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createLineLogger, silentLogger } from "../../src/base/logger.ts";
import { systemChance } from "../../src/base/chance.ts";
import { delay, systemClock } from "../../src/base/clock.ts";
import { CONFIG_MAPS } from "../../src/kube/object/resource.ts";
import { startApiServer, type ApiServer } from "../../src/apiserver/api-server.ts";
import type { ApiServerOptions } from "../../src/apiserver/api-server-options.ts";
import { createLoopbackAuthentication } from "../../src/apiserver/access/authentication.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { dnsSubdomain } from "../../src/apiserver/types/objects/names.ts";
import { createRegistry, type Registry } from "../../src/apiserver/verbs/registry.ts";
import { unauthorized } from "../../src/apiserver/types/status.ts";
import { SYSTEM_USER } from "../../src/apiserver/verbs/resource-context.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import { textMap } from "../../src/schema/builders.ts";
import { createRawClient, type RawClient } from "../conformance/raw-client.ts";
import { until } from "../support/fake-clock.ts";
import { ownPorts } from "../support/own-port.ts";

const VERSION = { major: "1", minor: "34", gitVersion: "v1.34.0" };
const configMaps = {
  type: CONFIG_MAPS,
  singular: "configmap",
  shape: kindShape({ data: textMap }),
  strategy: { nameRule: dnsSubdomain },
};
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Started {
  readonly server: ApiServer;
  readonly raw: RawClient;
  readonly registry: Registry;
  /** Watches that the store has open. */
  readonly watches: () => number;
}

async function start(options: Partial<ApiServerOptions> = {}): Promise<Started> {
  const store = createMemoryStore();
  let watches = 0;
  const watch = store.watch.bind(store);
  store.watch = async (request) => {
    const { progress, stop } = await watch(request);
    watches += 1;
    return { progress, stop: () => ((watches -= 1), stop()) };
  };
  const registry = createRegistry({ store, definitions: [configMaps], clock: systemClock, chance: systemChance });
  const server = await startApiServer({
    registry,
    clock: systemClock,
    chance: systemChance,
    logger: silentLogger,
    version: VERSION,
    authenticate: createLoopbackAuthentication(SYSTEM_USER),
    ...options,
  });
  const raw = createRawClient({ url: `http://127.0.0.1:${server.port}` });
  cleanups.push(
    () => server.close(),
    () => raw.close(),
  );
  return { server, raw, registry, watches: () => watches };
}

const COLLECTION = "/api/v1/namespaces/shop/configmaps";
const body = (name: string) => ({ body: { metadata: { name } } });

describe("an API server", () => {
  test("answers 429 with a time to come back when too many requests are under way", async () => {
    let release = () => {};
    let admitted = 0;
    const held = new Promise<void>((resolve) => (release = resolve));
    const registry = createRegistry({
      store: createMemoryStore(),
      definitions: [configMaps],
      clock: systemClock,
      chance: systemChance,
      admit: () => ((admitted += 1), held),
    });
    const { raw } = await start({ registry, limits: { writes: 1 } });
    const first = raw.send("POST", COLLECTION, body("a"));
    await until("the first is under way", () => admitted === 1);
    const second = await raw.send("POST", COLLECTION, body("b"));
    expect([second.code, second.headers["retry-after"], second.json]).toMatchObject([
      429,
      "1",
      { reason: "TooManyRequests", details: { retryAfterSeconds: 1 } },
    ]);
    expect((await raw.send("GET", COLLECTION)).code).toBe(200);
    release();
    expect((await first).code).toBe(201);
    expect((await raw.send("POST", COLLECTION, body("c"))).code).toBe(201);
  });

  /** Sends the headers of a request, and hardly anything of its body. */
  function sendSlowly({ port }: ApiServer, name: string, begin = "{") {
    const socket = connect(port, "127.0.0.1");
    const ended = once(socket, "close");
    socket.on("error", () => {});
    socket.resume();
    socket.write(`POST ${COLLECTION} HTTP/1.1\r\nHost: localhost\r\nX-Name: ${name}\r\nContent-Length: 100\r\n\r\n${begin}`);
    return { socket, ended };
  }

  const byName: Partial<ApiServerOptions> = {
    authenticate: ({ headers }) => Promise.resolve({ name: String(headers["x-name"]), groups: [] }),
  };

  test("slow bodies of one caller hold up neither others nor probes", async () => {
    const { raw, server } = await start({ ...byName, limits: { writes: 8, callerShare: 0.25 } });
    const post = (name: string) => raw.send("POST", COLLECTION, { ...body(`by-${name}`), headers: { "x-name": name } });
    const slow = [sendSlowly(server, "eve"), sendSlowly(server, "eve")];
    // A place is taken as soon as the headers are there.
    let refused = await post("eve");
    while (refused.code !== 429) refused = await post("eve");
    expect(refused.headers["retry-after"]).toBe("1");
    expect((await post("jane")).code).toBe(201);
    expect((await raw.send("GET", "/livez")).code).toBe(200);
    for (const { socket } of slow) socket.destroy();
    // She has her share back.
    while ((await post("eve")).code === 429);
  });

  test("bodies of one caller take up a share of what they may have together, and give it back", async () => {
    const { raw, server } = await start({ ...byName, limits: { bytes: 400 } });
    const post = (name: string, bytes: number) =>
      raw.send("POST", COLLECTION, { body: { metadata: { name, annotations: { a: "b".repeat(bytes) } } }, headers: { "x-name": name } });
    expect((await post("eve", 100)).headers["retry-after"]).toBe("1");
    expect((await post("eve", 1)).code).toBe(201);
    const slow = sendSlowly(server, "eve", "x".repeat(80));
    let refused = await post("eve", 2);
    while (refused.code !== 429) refused = await post("eve", 2);
    expect((await post("jane", 1)).code).toBe(201);
    slow.socket.destroy();
    while ((await post("eve", 3)).code === 429);
  });

  test("a body of too many fields and items is refused before it is read, in JSON and in YAML", async () => {
    const { raw } = await start({ limits: { bodyValues: 100 } });
    const send = (text: string, type = "application/json") =>
      raw.send("POST", COLLECTION, { body: text, headers: { "content-type": type } });
    const data = (count: number) => JSON.stringify({ metadata: { name: `n${count}` }, data: Object.fromEntries(keys(count)) });
    const keys = (count: number) => Array.from({ length: count }, (_, index) => [`k${index}`, 'a,b,{"[']);
    const yaml = (count: number) =>
      `metadata: {name: y${count}}\ndata:\n${keys(count)
        .map(([key]) => `  ${key}: a\n`)
        .join("")}`;
    expect([(await send(data(90))).code, (await send(yaml(40), "application/yaml")).code]).toEqual([201, 201]);
    const [json, other] = [await send(data(110)), await send(yaml(60), "application/yaml")];
    expect([json.code, json.json["message"]]).toEqual([413, "Request entity too large: limit is 100 fields and items"]);
    expect([other.code, other.json["message"]]).toMatchObject([413, expect.stringContaining("send JSON instead")]);
    expect((await send(`{"metadata":{"name":"broken"},"data":[${",".repeat(200)}`)).code).toBe(413);
  });

  test("one caller has a share of the watches", async () => {
    const { raw, watches } = await start({ ...byName, limits: { watches: 8, callerShare: 0.25 } });
    const headers = { headers: { "x-name": "eve" } };
    const watching = [1, 2].map(() => raw.watch(`${COLLECTION}?watch=1`, 1, headers));
    let third = await raw.send("GET", `${COLLECTION}?watch=1&timeoutSeconds=1`, headers);
    while (third.code !== 429) third = await raw.send("GET", `${COLLECTION}?watch=1&timeoutSeconds=1`, headers);
    expect(third.headers["retry-after"]).toBe("1");
    const others = raw.watch(`${COLLECTION}?watch=1`, 1, { headers: { "x-name": "jane" } });
    while (watches() < 3) await delay(systemClock, 5);
    await raw.send("POST", COLLECTION, { ...body("a"), headers: { "x-name": "jane" } });
    expect(await others).toHaveLength(1);
    await Promise.all(watching);
  });

  test("too many connections end those that have been idle for longest, of anyone who has most", async () => {
    const { server } = await start({ limits: { connections: 3 } });
    const open = async () => {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      const ended = once(socket, "close");
      const ask = async () => {
        socket.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return String((await once(socket, "data"))[0]).split("\r\n", 1)[0];
      };
      const first = await ask();
      return { ended, ask, first };
    };
    const [first, second, third] = [await open(), await open(), await open()];
    expect(await first.ask()).toBe("HTTP/1.1 200 OK");
    const fourth = await open();
    await second.ended;
    expect([await first.ask(), await third.ask(), fourth.first]).toEqual(Array(3).fill("HTTP/1.1 200 OK"));
  });

  test("a request that does not arrive in time ends", async () => {
    const { server } = await start({ ...byName, limits: { headersMs: 200, requestMs: 400 } });
    await sendSlowly(server, "eve").ended;
  });

  test("a reader that stops in the middle of a long list loses the connection, and the caller's next one is answered", async () => {
    const { server, raw, registry } = await start({ limits: { readMs: 200 } });
    const data = { big: "x".repeat(1_000_000) };
    for (let index = 0; index < 20; index += 1) await registry.create(CONFIG_MAPS, "shop", { metadata: { name: `big-${index}` }, data });
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    cleanups.push(async () => void socket.destroy());
    socket.write(`GET ${COLLECTION} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await once(socket, "readable");
    const { code, json } = await raw.send("GET", COLLECTION);
    expect([code, (json["items"] as readonly unknown[]).length]).toEqual([200, 20]);
  });

  test("says why it does not know a caller, if it may, and that it requires a token", async () => {
    const { raw } = await start({
      authenticate: async ({ headers }) => {
        if (headers["x-key"] !== undefined) throw unauthorized("the key is disabled");
        return undefined;
      },
    });
    const answers = [await raw.send("GET", COLLECTION), await raw.send("GET", COLLECTION, { headers: { "x-key": "a" } })];
    expect(answers.map(({ code, json, headers }) => [code, json["message"], headers["www-authenticate"]])).toEqual([
      [401, "Unauthorized", "Bearer"],
      [401, "the key is disabled", "Bearer"],
    ]);
  });

  test("answers no request before `onListening` is done, and releases the port if that fails", async () => {
    const [port] = await ownPorts(1);
    const raw = createRawClient({ url: `http://127.0.0.1:${port}` });
    const order: string[] = [];
    let answered: Promise<unknown> = Promise.resolve();
    await start({
      port: port!,
      onListening: async () => {
        answered = raw.send("GET", "/livez").then(({ code }) => order.push(`answered ${code}`));
        // Long enough for an answer, if there were one.
        await delay(systemClock, 100);
        order.push("begun");
      },
    }).then(async (second) => {
      await answered;
      await second.server.close();
    });
    expect(order).toEqual(["begun", "answered 200"]);
    const failing = start({ port: port!, onListening: () => Promise.reject(new Error("no")) });
    await expect(failing).rejects.toThrow("no");
    await start({ port: port! });
  });

  test("does not count watches as requests under way", async () => {
    const { raw } = await start({ limits: { reads: 1 } });
    const watching = raw.watch(`${COLLECTION}?watch=1`, 1);
    await raw.send("POST", COLLECTION, body("a"));
    await raw.send("GET", COLLECTION);
    expect(await watching).toHaveLength(1);
  });

  test("refuses a body that says it is too long before it is read, and one that only turns out to be", async () => {
    const { raw, server } = await start({ limits: { bodyBytes: 100 } });
    expect((await raw.send("POST", COLLECTION, { body: { metadata: { name: "a".repeat(100) } } })).json).toMatchObject({
      code: 413,
      message: "Request entity too large: limit is 100",
    });
    const answer = await speak(
      server.port,
      `POST ${COLLECTION} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n${"x".repeat(101)}\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
  });

  test("without credentials serves only those who ask for a loopback host", async () => {
    const { server } = await start();
    const ask = (host: string) => speak(server.port, `GET /api HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await ask("localhost:8001")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask("[::1]:8001")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask("evil.example.com")).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("tells nothing about a bug but that there is one, and logs it", async () => {
    const lines: string[] = [];
    const store = createMemoryStore();
    store.get = async () => {
      throw new Error("the secret of the store");
    };
    const registry = createRegistry({ store, definitions: [configMaps], clock: systemClock, chance: systemChance });
    const logger = createLineLogger({ now: () => 0, write: (line) => lines.push(line) });
    const { raw } = await start({ registry, logger });
    const { code, text } = await raw.send("GET", `${COLLECTION}/a`);
    expect([code, text.includes("secret"), lines.length]).toEqual([500, false, 1]);
  });

  test("forgets a watcher that hangs up", async () => {
    const { raw, watches } = await start();
    const watching = raw.watch(`${COLLECTION}?watch=1`, 1);
    await until("the watch is open", () => watches() === 1);
    await raw.send("POST", COLLECTION, body("a"));
    await watching;
    await until("the watch is stopped", () => watches() === 0);
  });

  test("cuts off watches in the middle when told to, and lives on", async () => {
    const { raw, server, watches } = await start();
    const outcome = raw.watch(`${COLLECTION}?watch=1`, 1).then(
      () => "ended",
      () => "broken",
    );
    await until("the watch is open", () => watches() === 1);
    server.disconnect();
    expect(await outcome).toBe("broken");
    expect((await raw.send("GET", COLLECTION)).code).toBe(200);
  });

  test("closes with watches open, as often as it is told to", async () => {
    const { raw, server, watches } = await start();
    const watching = raw.watch(`${COLLECTION}?watch=1`, 1).catch(() => []);
    await until("the watch is open", () => watches() === 1);
    await Promise.all([server.close(), server.close()]);
    expect(await watching).toEqual([]);
    await until("the watch is stopped", () => watches() === 0);
  });
});

/** Sends raw bytes and answers what comes back until the connection ends. */
async function speak(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
  socket.on("error", () => {});
  socket.write(text);
  await once(socket, "close");
  return answer;
}

describe("a body in protobuf", () => {
  test("is 415 for kinds whose fields have no numbers", async () => {
    const { raw } = await start();
    const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
    expect((await raw.send("POST", COLLECTION, { body: "k8s", headers })).code).toBe(415);
  });
});

describe("the second version of the schemas", () => {
  test("describes no kind in protobuf, so that kubectl leaves what it writes to the server, and is not found in JSON", async () => {
    const { raw } = await start();
    const get = (accept: string) => raw.send("GET", "/openapi/v2", { headers: { accept } });
    const { code, headers, text } = await get("application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    expect([code, headers["content-type"]]).toEqual([200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"]);
    // Fields of the message: 1 swagger, 2 info (1 title, 2 version), 8 paths.
    expect(text).toBe("\x0a\x032.0" + "\x12\x1c" + "\x0a\x0dendpoint-sync" + "\x12\x0bunversioned" + "\x42\x00");
    expect((await get("application/json")).code).toBe(404);
  });
});
