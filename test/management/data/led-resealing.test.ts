/** Values of several management servers on one etcd under another key: the leader seals them again, and another one continues. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createLineLogger } from "../../../src/base/logger.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { openEtcdStore, type EtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { cipherOf, keyId } from "../../conformance/resealable.ts";
import { key, object } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { until } from "../../support/fake-clock.ts";

/** A server that stops releases its Lease, and none loses it because a machine is slow. */
const FAST = { leaseDurationSeconds: 60, renewDeadlineSeconds: 40, retryPeriodSeconds: 0.3 };
const COUNT = 200;

interface Server {
  readonly management: Management;
  readonly store: EtcdStore;
  /** Its log lines about sealing again. */
  readonly begun: () => boolean;
  readonly ended: () => boolean;
  stop(): Promise<void>;
}

describeEtcd("management servers whose encryption key is replaced", () => {
  let etcd: Etcd;
  const running = new Set<Server>();
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  afterEach(async () => {
    for (const server of running) await server.stop();
  });

  async function start(...keys: number[]): Promise<Server> {
    const store = await openEtcdStore({ endpoints: [etcd.url], cipher: cipherOf(...keys) });
    const lines: string[] = [];
    const logger = createLineLogger({ write: (line) => lines.push(line), now: () => 0, format: "json", level: "info" });
    const sharing = { times: FAST, resealable: store };
    const management = await startManagement({ tls: false, clock: systemClock, store, sharing, logger });
    const logged = (text: string) => lines.some((line) => line.includes(text));
    const server = {
      ...{ management, store },
      begun: () => logged("Re-encrypting values encrypted with older keys"),
      ended: () => logged("Every value is encrypted with the first key"),
      async stop() {
        running.delete(server);
        await management.stop();
      },
    };
    running.add(server);
    return server;
  }

  test("leave it to one of them, and what it leaves to the next one", async () => {
    const before = await start(1);
    for (let index = 0; index < COUNT; index += 1) await before.store.create(key(`n${index}`), object(`n${index}`));
    await before.stop();

    const servers = [await start(2, 1), await start(2, 1), await start(2, 1)];
    await until("one has begun", () => servers.some(({ begun }) => begun()));
    const first = servers.find(({ begun }) => begun())!;
    expect([first.management.leading, first.ended()]).toEqual([true, false]);
    await first.stop();
    expect(first.ended()).toBe(false);

    const others = servers.filter((server) => server !== first);
    await until("another one has ended it", () => others.some(({ ended }) => ended()));
    const second = others.find(({ ended }) => ended())!;
    expect(others.map(({ begun }) => begun())).toEqual(others.map((server) => server === second));
    expect(second.management.leading).toBe(true);
    const seals = await second.store.sealedBy();
    expect([seals.get(keyId(1)), seals.get(keyId(2))! > COUNT]).toEqual([0, true]);

    for (const server of others) await server.stop();
    const alone = await start(2);
    expect((await alone.store.list({ prefix: "/core/" })).objects).toHaveLength(COUNT);
  });
});
