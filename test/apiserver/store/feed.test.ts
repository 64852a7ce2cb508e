/** When the watch of etcd is given up for another one. */
import { expect, test } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import type { EtcdClient } from "../../../src/apiserver/store/etcd/client/client.ts";
import { layoutOf } from "../../../src/apiserver/store/etcd/contents.ts";
import { Feed } from "../../../src/apiserver/store/etcd/feed.ts";
import { createFakeClock, settle } from "../../support/fake-clock.ts";

const SILENT_MS = 100;
const CREATED = { created: true };
const EVENTS = { events: [{ kv: { key: "", mod_revision: "2" } }] };

type StreamOptions = Parameters<EtcdClient["stream"]>[2];

/** A feed whose streams say `created` at once and bring events after `eventsMs`, and an owner who knows all the time that there is more. */
async function start(eventsMs: number) {
  const clock = createFakeClock();
  const streams: { brought: boolean; readonly from: number; aborted?: number }[] = [];
  const stream = (_path: string, _body: object, { onMessage, signal }: StreamOptions) =>
    new Promise<void>((_resolve, reject) => {
      const one: (typeof streams)[number] = { brought: false, from: clock.monotonic() };
      streams.push(one);
      onMessage(CREATED);
      const timer = clock.schedule(eventsMs, () => {
        one.brought = true;
        onMessage(EVENTS);
      });
      signal.addEventListener("abort", () => {
        one.aborted = clock.monotonic();
        timer.cancel();
        reject(new Error("aborted"));
      });
    });
  const client = { stream, pause: () => Promise.resolve(), forgetToken: () => undefined } as unknown as EtcdClient;
  const options = {
    clock,
    logger: silentLogger,
    known: () => 1,
    onEvents: () => undefined,
    onBegin: async () => undefined,
    onGap: () => Promise.resolve(),
  };
  const feed = new Feed({ client, layout: layoutOf("/feed/"), ...options });
  const running = feed.run();
  await settle();
  return {
    streams,
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += SILENT_MS / 2) {
        await clock.advance(SILENT_MS / 2);
        feed.prod(SILENT_MS);
        await settle();
      }
    },
    async stop() {
      feed.stop();
      await running;
    },
  };
}

test("a watch that falls silent is given up for another one, as often as it does", async () => {
  const { streams, pass, stop } = await start(10);
  await pass(1_000);
  expect(streams.length).toBeGreaterThan(5);
  expect(streams.every(({ brought }) => brought)).toBe(true);
  for (const { from, aborted } of streams.slice(0, -1)) expect(aborted! - from).toBeLessThanOrEqual(2 * SILENT_MS);
  await stop();
});

test.each([150, 1_000, 20_000])("a watch whose first events take %i ms is given them", async (eventsMs) => {
  const { streams, pass, stop } = await start(eventsMs);
  await pass(5 * eventsMs);
  expect(streams.some(({ brought }) => brought)).toBe(true);
  await stop();
});

test("no reader waits forever for events", async () => {
  const { streams, pass, stop } = await start(Infinity);
  await pass(300_000);
  const times = streams.flatMap(({ from, aborted }) => (aborted === undefined ? [] : [aborted - from]));
  expect(times.length).toBeGreaterThan(10);
  expect(Math.max(...times)).toBeLessThanOrEqual(31_000);
  await stop();
});

test("a transaction that is told in two messages is taken whole", async () => {
  const event = (key: string, revision: number) => ({ kv: { key, mod_revision: String(revision) } });
  const messages = [
    { events: [event("a", 2), event("b", 3)], fragment: true },
    { events: [event("c", 3), event("d", 4)], fragment: true },
    { events: [event("e", 4)] },
  ];
  const taken: string[] = [];
  const stream = async (_path: string, _body: object, { onMessage }: StreamOptions) => {
    messages.splice(0).forEach(onMessage);
    await new Promise(() => {});
  };
  const client = { stream, pause: () => Promise.resolve(), forgetToken: () => undefined } as unknown as EtcdClient;
  const onEvents = (events: readonly { readonly kv: { readonly key: string } }[]) => taken.push(events.map(({ kv }) => kv.key).join(""));
  const options = {
    clock: createFakeClock(),
    logger: silentLogger,
    known: () => 1,
    onEvents,
    onBegin: async () => {},
    onGap: () => Promise.resolve(),
  };
  const feed = new Feed({ client, layout: layoutOf("/feed/"), ...options });
  void feed.run();
  await settle();
  expect(taken).toEqual(["a", "bc", "de"]);
  feed.stop();
});
