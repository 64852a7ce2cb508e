import { createServer, type IncomingMessage } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { json, startScriptedServer, stream, type Script } from "../../support/scripted-server.ts";

const KEY = { namespace: "shop", name: "db" };
const db = { apiVersion: "v1", kind: "Endpoints", metadata: KEY };
const script: Script = ({ query }, response) =>
  query.get("watch") === null ? json(response, db) : stream(response, { type: "ADDED", object: db });

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A proxy that opens tunnels and counts them. */
async function startProxy() {
  const sockets = new Set<Socket>();
  const tunnels: string[] = [];
  const proxy = createServer((_, response) => void response.writeHead(405).end());
  proxy.on("connection", (socket: Socket) => void sockets.add(socket));
  proxy.on("connect", (request: IncomingMessage, client: Socket) => {
    tunnels.push(request.url!);
    const [host, port] = request.url!.split(":");
    const upstream = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream);
    for (const socket of [upstream, client]) socket.on("error", () => undefined);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  open.push({
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, tunnels };
}

describe("a proxy", () => {
  test("named by the kubeconfig carries calls and watches through tunnels that are kept", async () => {
    const server = await startScriptedServer({ script });
    open.push(server);
    const proxy = await startProxy();
    const kubeConfig = await loadKubeConfig({ text: server.kubeconfig({ token: "t" }, { "proxy-url": proxy.url }) });
    const client = createHttpClient({ kubeConfig, clock: systemClock, connectionsMax: 2 });
    open.push(client);
    const call = async () => {
      for (let i = 0; i < 25; i++) expect(await client.get(ENDPOINTS, KEY)).toEqual(db);
    };
    await Promise.all([call(), call(), call(), call()]);
    const ending = new AbortController();
    for await (const event of client.watch(ENDPOINTS, { resourceVersion: "1", signal: ending.signal })) {
      expect(event.object).toEqual(db);
      ending.abort();
    }
    expect(new Set(proxy.tunnels)).toEqual(new Set([server.url.replace("https://", "")]));
    expect(proxy.tunnels.length).toBeLessThanOrEqual(3);
    expect(server.requests[0]!.headers.authorization).toBe("Bearer t");
  });

  test("that refuses is API_UNAVAILABLE", async () => {
    const server = await startScriptedServer({ scheme: "http", script: (_, response) => void response.writeHead(407).end("who are you?") });
    open.push(server);
    const text = server.kubeconfig({}, { server: "https://10.0.0.1", "proxy-url": server.url });
    const client = createHttpClient({ kubeConfig: await loadKubeConfig({ text }), clock: systemClock });
    open.push(client);
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });
});

describe("connections", () => {
  test("of replaced certificates carry their watch to its end, and the closing ends them too", async () => {
    const directory = await mkdtemp(join(tmpdir(), "transport-"));
    const server = await startScriptedServer({ script });
    open.push(server);
    const file = join(directory, "ca.crt");
    await writeFile(file, server.certificate!.caPem);
    const clock = createFakeClock();
    const text = server.kubeconfig({}, { "certificate-authority-data": undefined, "certificate-authority": file });
    const client = createHttpClient({ kubeConfig: await loadKubeConfig({ text }), clock });
    const events: unknown[] = [];
    const watching = (async () => {
      for await (const event of client.watch(ENDPOINTS, { resourceVersion: "1", signal: new AbortController().signal })) events.push(event);
    })();
    const failed = expect(watching).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    await until("the watch is open", () => events.length === 1);
    await writeFile(file, `# renewed\n${server.certificate!.caPem}`);
    await clock.advance(60_000);
    await client.get(ENDPOINTS, KEY);
    expect(server.openConnections).toBe(2);
    await client.close();
    await failed;
    await until("nothing is open", () => server.openConnections === 0);
    await rm(directory, { recursive: true });
  });

  test("are not opened for a call that was still reading its credentials when the client closed", async () => {
    const server = await startScriptedServer({ script });
    open.push(server);
    const client = createHttpClient({ kubeConfig: await loadKubeConfig({ text: server.kubeconfig() }), clock: systemClock });
    const failed = expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE", message: "The client is closed" });
    await client.close();
    await failed;
    expect(server.connections).toBe(0);
  });

  /** A server that accepts connections and never answers; before that it sends `greeting`. */
  async function startMute(greeting = "") {
    const sockets = new Set<Socket>();
    const mute = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
      if (greeting !== "") socket.write(greeting);
      socket.resume();
    });
    mute.listen(0, "127.0.0.1");
    await once(mute, "listening");
    open.push({
      async close() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => mute.close(resolve));
      },
    });
    return { address: `localhost:${(mute.address() as AddressInfo).port}`, sockets };
  }

  test.each([
    { where: "the server", greeting: "", proxy: undefined },
    { where: "a proxy", greeting: "", proxy: "https" },
    { where: "the server behind a proxy", greeting: "HTTP/1.1 200 Connection Established\r\n\r\n", proxy: "http" },
  ])("whose handshake with $where has not ended end with the client", async ({ greeting, proxy }) => {
    const { address, sockets } = await startMute(greeting);
    const cluster =
      proxy === undefined ? { server: `https://${address}` } : { server: "https://10.0.0.1", "proxy-url": `${proxy}://${address}` };
    const text = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "mute", cluster }],
      contexts: [{ name: "mute", context: { cluster: "mute" } }],
      "current-context": "mute",
    });
    const client = createHttpClient({ kubeConfig: await loadKubeConfig({ text }), clock: systemClock, connectTimeoutMs: 600_000 });
    const failed = expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
    let heard = 0;
    await until("a connection is being made", () => {
      for (const socket of sockets) heard = Math.max(heard, socket.bytesRead);
      return heard > 0;
    });
    await client.close();
    await failed;
    await until("nothing is open", () => sockets.size === 0);
  });
});
