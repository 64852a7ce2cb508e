import { afterEach, describe, expect, test } from "vitest";
import type { ApiServerOptions } from "../../src/apiserver/api-server-options.ts";
import type { Status } from "../../src/kube/object/status.ts";
import { unauthorized, statusOf } from "../../src/apiserver/types/status.ts";
import { createWatchQueue } from "../../src/apiserver/verbs/watch/watch-queue.ts";
import { until } from "../support/fake-clock.ts";
import { LOCKS_PATH, startLockServer } from "./support/lock-server.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Open {
  readonly who: readonly string[];
  readonly end: (status?: Status) => void;
}

/** A server whose open watches are known. */
async function start(options: Partial<ApiServerOptions> = {}) {
  const open = new Set<Open>();
  const started = await startLockServer({
    onWatch(user, end, caller) {
      const watch = { who: [user.name, caller.name], end };
      open.add(watch);
      return () => void open.delete(watch);
    },
    ...options,
  });
  cleanups.push(started.close);
  return { ...started, open };
}

const WATCH = `${LOCKS_PATH}?watch=1`;
const status = statusOf(unauthorized("the key is disabled"))!;

describe("anyone who minds the open watches", () => {
  test("ends one with an error, and the reader is told why", async () => {
    const { raw, open } = await start();
    const lines = raw.watch(WATCH, 5);
    await until("the watch is open", () => open.size === 1);
    for (const { end } of open) end(status);
    expect(await lines).toEqual([{ type: "ERROR", object: JSON.parse(JSON.stringify(status)) }]);
    expect(open.size).toBe(0);
  });

  test("ends one in order, in tables too", async () => {
    const { raw, open } = await start();
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    const lines = raw.watch(WATCH, 5, { headers });
    await until("the watch is open", () => open.size === 1);
    for (const { end } of open) end();
    expect(await lines).toEqual([]);
  });

  test("may refuse one as it opens: nothing of what is there goes out", async () => {
    const { raw, registry } = await start({
      onWatch(_user, end) {
        end(status);
        return () => {};
      },
    });
    await registry.create({ apiVersion: "example.com/v1", kind: "Lock", plural: "locks", namespaced: true }, "shop", {
      metadata: { name: "a" },
    });
    expect((await raw.watch(WATCH, 5)).map(({ type }) => type)).toEqual(["ERROR"]);
  });

  test("is told when the reader leaves or the server stops", async () => {
    const { raw, server, open } = await start();
    const first = raw.watch(WATCH, 1);
    await until("the watch is open", () => open.size === 1);
    await raw.send("POST", LOCKS_PATH, { body: { metadata: { name: "a" } } });
    await first;
    await until("the watch is over", () => open.size === 0);
    const second = raw.watch(`${WATCH}&resourceVersion=2`, 1).catch(() => undefined);
    await until("the watch is open", () => open.size === 1);
    await server.close();
    await second;
    await until("the watch is over", () => open.size === 0);
  });

  test("learns the user and the owner of the credentials", async () => {
    const { raw, open } = await start({ authorizer: { decide: () => ({ allowed: true, reason: "" }), rulesFor: () => [] } });
    const lines = raw.watch(WATCH, 1, { headers: { "impersonate-user": "bob" } });
    await until("the watch is open", () => open.size === 1);
    expect([...open][0]!.who).toEqual(["bob", "jane"]);
    for (const { end } of open) end();
    await lines;
  });
});

describe("a queue that is cut", () => {
  test("drops what waits, and hands out one last record", async () => {
    let ends = 0;
    const queue = createWatchQueue({ capacity: 1, onEnd: () => (ends += 1) });
    const last = { type: "ERROR" as const, object: {} };
    queue.push({ type: "ADDED", object: {} }, 1);
    queue.cut(last);
    queue.push({ type: "ADDED", object: {} }, 1);
    expect([await queue.take(), await queue.take(), queue.ended, ends]).toEqual([[last], undefined, true, 1]);
  });

  test("that ended before drops what is left", async () => {
    const queue = createWatchQueue({ capacity: 1, onEnd: () => {} });
    queue.push({ type: "ADDED", object: {} }, 1);
    queue.end();
    queue.cut();
    expect(await queue.take()).toBeUndefined();
  });
});
