/** In which order a server begins with requests that wait: by whose credentials they carry, as far as it knows them, else by address. */
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { startApiServer, type ApiServer } from "../../../src/apiserver/api-server.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { until } from "../../support/fake-clock.ts";

let server: ApiServer;
afterEach(() => server.close());

/** Credentials, and the address that sends them. */
type Sent = readonly [credentials: string, address: string];

/**
 * A server that accepts these credentials. The returned function sends requests at once, the last of them from an unknown caller, lets all of them
 * wait, and answers in which order they were begun.
 */
async function start(accepted: ReadonlySet<string>): Promise<(...requests: Sent[]) => Promise<readonly string[]>> {
  const begun: string[] = [];
  const strangers: string[] = [];
  let [time, waits] = [0, false];
  // While every look at the clock takes longer than a turn, no request is begun.
  const clock = { ...systemClock, monotonic: () => (waits ? (time += 1_000) : time) };
  server = await startApiServer({
    registry: createRegistry({ store: createMemoryStore(), definitions: [], clock, chance: systemChance }),
    ...{ clock, chance: systemChance, logger: silentLogger, version: { major: "1", minor: "34", gitVersion: "v1.34.0" } },
    async authenticate({ headers: { authorization = "" } }) {
      begun.push(authorization);
      return accepted.has(authorization) ? { name: "jane", groups: [] } : undefined;
    },
    addressOf({ headers: { authorization = "", "x-test-address": address } }) {
      strangers.push(authorization);
      return String(address);
    },
  });
  return async (...requests) => {
    begun.length = strangers.length = 0;
    waits = true;
    const socket = connect(server.port, "127.0.0.1");
    const text = ([credentials, address]: Sent) =>
      `GET /apis HTTP/1.1\r\nHost: here\r\nAuthorization: ${credentials}\r\nX-Test-Address: ${address}\r\n\r\n`;
    socket.write(requests.map(text).join(""));
    // They arrive in order.
    await until("the last one has arrived", () => strangers.includes(requests.at(-1)![0]));
    waits = false;
    await until("all are begun", () => begun.length === requests.length);
    socket.destroy();
    return [...begun];
  };
}

test("made-up credentials have one place for each address; known ones have their own, wherever they come from", async () => {
  const send = await start(new Set(["jane"]));
  await send(["jane", "b"], ["first", "a"]);
  expect(await send(["x1", "a"], ["x2", "a"], ["x3", "a"], ["jane", "a"], ["y1", "b"])).toEqual(["x1", "jane", "y1", "x2", "x3"]);
});

test("credentials that are refused have no place of their own any more", async () => {
  const accepted = new Set(["jane"]);
  const send = await start(accepted);
  await send(["jane", "b"], ["first", "a"]);
  accepted.clear();
  expect(await send(["x1", "a"], ["x2", "a"], ["jane", "a"], ["y1", "b"])).toEqual(["x1", "jane", "y1", "x2"]);
  expect(await send(["x1", "a"], ["x2", "a"], ["jane", "a"], ["y1", "b"])).toEqual(["x1", "y1", "x2", "jane"]);
});
