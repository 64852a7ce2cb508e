/** A client that runs for months loses its connections again and again: none of them may stay in memory. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { json } from "../../support/scripted-server.ts";
import { createWorld, db, KEY } from "./http-world.ts";

const CUTS = 100;
/** The last connection, and what a collector may keep for a while. */
const KEPT_MAX = 5;
const ROUNDS_MAX = 100;

test.each(["http", "https"] as const)("connections that were cut are freed: %s", async (scheme) => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const sockets: WeakRef<Socket>[] = [];
  const note = (message: unknown) => void sockets.push(new WeakRef((message as { socket: Socket }).socket));
  subscribe("net.client.socket", note);
  const { client } = await createWorld((_, response) => json(response.setHeader("connection", "close"), db), { scheme });
  for (let cut = 0; cut < CUTS; cut += 1) await client.get(ENDPOINTS, KEY);
  unsubscribe("net.client.socket", note);
  expect(sockets.length).toBeGreaterThanOrEqual(CUTS);

  const kept = () => sockets.filter((socket) => socket.deref() !== undefined).length;
  let left = CUTS;
  for (let round = 0; round < ROUNDS_MAX && left > KEPT_MAX; round += 1) {
    // Anyone who asks a weak reference keeps its object until the turn ends.
    await nextTurn();
    collect();
    left = kept();
  }
  expect(left).toBeLessThanOrEqual(KEPT_MAX);
});
