/** Answers arrive: that of a request whose body was not read, and those that a server makes while it stops. */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { nextMacrotask, systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import { startApiServer, type ApiServer } from "../../../src/apiserver/api-server.ts";
import type { ApiServerOptions } from "../../../src/apiserver/api-server-options.ts";
import { dnsSubdomain } from "../../../src/apiserver/types/objects/names.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { textMap } from "../../../src/schema/builders.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { SYSTEM_USER } from "../../../src/apiserver/verbs/resource-context.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { until } from "../../support/fake-clock.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

const definitions = [
  { type: CONFIG_MAPS, singular: "configmap", shape: kindShape({ data: textMap }), strategy: { nameRule: dnsSubdomain } },
];
const COLLECTION = "/api/v1/namespaces/shop/configmaps";
let server: ApiServer | undefined;
afterEach(async () => server?.close());

async function start(authenticate: ApiServerOptions["authenticate"]): Promise<ApiServer> {
  const registry = createRegistry({ store: createMemoryStore(), definitions, clock: systemClock, chance: systemChance });
  const parts = { registry, clock: systemClock, chance: systemChance, logger: silentLogger, authenticate };
  server = await startApiServer({ ...parts, version: { major: "1", minor: "34", gitVersion: "v1.34.0" } });
  return server;
}

/** Data that a connection received, and how it ended. */
function follow(socket: Socket) {
  const told = { text: "", error: undefined as string | undefined, ended: false };
  socket.on("data", (chunk: Buffer) => (told.text += chunk.toString()));
  socket.on("error", (error) => (told.error = String(error)));
  socket.once("end", () => (told.ended = true));
  return told;
}

test.each([
  ["of 1 MB", 1_000_000],
  ["that the server would refuse", 8_000_000],
])("a client whose unread body %s gets its answer, and may send all of it", async (_what, length) => {
  const { port } = await start(async () => undefined);
  const socket = connect(port, "127.0.0.1");
  const told = follow(socket);
  socket.write(
    `PATCH ${COLLECTION}/a HTTP/1.1\r\nHost: here\r\nContent-Type: application/merge-patch+json\r\nContent-Length: ${length}\r\n\r\n{`,
  );
  await until("the answer is there", () => told.text.endsWith("}\n"));
  expect(told.text).toMatch(/^HTTP\/1\.1 401 [^]*Connection: close/);
  for (let sent = 1; sent < length; sent += 100_000) {
    if (!socket.write(Buffer.alloc(Math.min(100_000, length - sent), " "))) await once(socket, "drain");
  }
  await once(socket, "close");
  expect([told.error, told.ended]).toEqual([undefined, true]);
});

test("a body without an end is read only so far", async () => {
  const { port } = await start(async () => undefined);
  const socket = connect(port, "127.0.0.1");
  const told = follow(socket);
  socket.write(`PATCH ${COLLECTION}/a HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  let sent = 0;
  while (!socket.destroyed && told.error === undefined && sent < 1_000_000_000) {
    sent += piece.length;
    if (!socket.write(piece)) await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined);
  }
  expect(sent).toBeLessThan(1_000_000_000);
  expect(told.text).toMatch(/^HTTP\/1\.1 401 /);
});

test("a watch that was on its way when the server began to stop ends in order, and holds nothing up", async () => {
  let admit = () => {};
  const admitted = new Promise<void>((resolve) => (admit = resolve));
  let asked = false;
  const { port, close } = await start(async () => {
    asked = true;
    await admitted;
    return SYSTEM_USER;
  });
  const answering = once(get(`http://127.0.0.1:${port}${COLLECTION}?watch=true`), "response") as Promise<[IncomingMessage]>;
  await until("the request is there", () => asked);
  const closing = close({ drainMs: PATIENCE_MS });
  admit();
  const [answer] = await answering;
  answer.resume();
  await once(answer, "end");
  await closing;
  expect([answer.statusCode, answer.complete]).toEqual([200, true]);
});

test.each([
  ["with the head", [""]],
  ["behind the head", ["\r\n\r\n"]],
  ["in pieces", ["\r\n\r\n", "{", '"data"']],
])("a refused body that comes %s leaves the connection open", async (_how, cuts) => {
  const { port } = await start(async () => SYSTEM_USER);
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  const told = follow(socket);
  const body = '{"metadata":{"name":"A"},"data":{"a":"1"}}';
  const text = `POST ${COLLECTION} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const answers = () => told.text.split("HTTP/1.1 422 ").length - 1;
  for (let count = 1; count <= 2; count += 1) {
    let sent = 0;
    for (const cut of cuts) {
      const to = cut === "" ? text.length : text.indexOf(cut, sent) + cut.length;
      await new Promise<void>((done) => void socket.write(text.slice(sent, to), () => done()));
      await nextMacrotask();
      sent = to;
    }
    socket.write(text.slice(sent));
    await until("it is answered", () => answers() === count || told.ended);
  }
  expect([answers(), told.text.includes("Connection: close"), told.ended]).toEqual([2, false, false]);
  socket.destroy();
});
