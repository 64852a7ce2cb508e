/** How often a write is tried again. */
import { expect, test } from "vitest";
import type { EtcdConnection } from "../../../src/apiserver/store/etcd/client/connection.ts";
import { EtcdClient } from "../../../src/apiserver/store/etcd/client/client.ts";
import { layoutOf } from "../../../src/apiserver/store/etcd/contents.ts";
import { Replica } from "../../../src/apiserver/store/etcd/replica.ts";
import { EtcdWriter } from "../../../src/apiserver/store/etcd/writer.ts";
import { createFakeClock, settle } from "../../support/fake-clock.ts";

const GIVE_UP_MS = 10_000;
const layout = layoutOf("/write/");
const range = (revision: number) => ({ response_range: { kvs: [{ key: "", mod_revision: String(revision) }] } });

/** A writer to whose transactions etcd says that the fence is at 9, which its process comes to know when it asks, or never. */
function start({ told }: { readonly told: boolean }) {
  const clock = createFakeClock();
  const contents = { revision: 8, objects: [], older: new Map<string, string>(), fence: 7, last: { revision: 8, version: 1, id: "a" } };
  const replica = new Replica({ contents, history: 10, memory: {}, layout, cipher: undefined });
  const state = { tried: 0, wanted: true };
  const post = async () => {
    state.tried += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (replica.fence === 9) return { succeeded: true, header: { revision: "10" }, responses: [{}] };
    return { responses: [range(9), range(8), range(0)] };
  };
  const client = new EtcdClient({
    connection: { post } as unknown as EtcdConnection,
    credentials: undefined,
    clock,
    chance: { fraction: () => 0.5 },
    giveUpMs: GIVE_UP_MS,
  });
  const nothing = async () => {};
  const fence = { kv: { key: Buffer.from(layout.fence).toString("base64"), mod_revision: "9", version: "2" } };
  const writer = new EtcdWriter({
    ...{ client, layout, replica, cipher: undefined, clock, processId: "p", giveUpMs: GIVE_UP_MS },
    ...{ reach: nothing, isLost: () => false, readAgain: nothing },
    catchUp: async () => void (told && replica.take([fence])),
  });
  const demand = () => {
    if (!state.wanted) throw new Error("the caller has left");
  };
  const writing = writer.write({
    key: "/teams/a",
    object: { apiVersion: "v1", kind: "Team", metadata: { name: "a" } },
    expected: 0,
    demand,
  });
  writing.catch(() => {});
  return { clock, state, writing };
}

test("a write that keeps failing for an unknown reason waits longer from try to try, while its caller waits for it", async () => {
  const { clock, state, writing } = start({ told: false });
  for (let turn = 0; turn < 20; turn += 1) await settle();
  expect(state.tried).toBe(1);
  await clock.advance(GIVE_UP_MS);
  const tried = state.tried;
  expect(tried).toBeGreaterThan(5);
  expect(tried).toBeLessThan(40);
  await clock.advance(GIVE_UP_MS);
  expect(state.tried - tried).toBeLessThan(tried);
  state.wanted = false;
  await clock.advance(GIVE_UP_MS);
  await expect(writing).rejects.toThrow("the caller has left");
});

test("a write that is refused for what its process comes to know is tried again at once", async () => {
  const { state, writing } = start({ told: true });
  expect((await writing)?.revision).toBe(10);
  expect(state.tried).toBe(2);
});
