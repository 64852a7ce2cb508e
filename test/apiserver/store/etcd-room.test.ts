/** A store in etcd when etcd has no space left, when there is much to read at once, and when etcd does not answer. */
import { afterEach, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { ETCD_TIMES, openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { key, object, PREFIX } from "../../conformance/store-setting.ts";
import { createFakeClock, settle } from "../../support/fake-clock.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";

/** The answer that a caller gets. */
async function told(action: Promise<unknown>): Promise<string> {
  try {
    await action;
    return "done";
  } catch (error) {
    if (!isEngineError(error)) throw error;
    const { code = 0, message = "" } = (error.details["status"] ?? {}) as { code?: number; message?: string };
    return `${code} ${message}`;
  }
}

describeEtcd("room", () => {
  let etcd: Etcd | undefined;
  afterEach(async () => {
    await etcd?.remove();
    etcd = undefined;
  });

  test("that etcd lacks is named with the remedy, readiness knows of it, and all goes on once the alarm is off", async () => {
    etcd = await startEtcd({ args: ["--quota-backend-bytes=4000000"] });
    const store = await openEtcdStore({ endpoints: [etcd.url] });
    const first = (await store.create(key("a"), object("a")))!;
    await store.demandWritable();
    let answer = "done";
    for (let count = 0; answer === "done" && count < 100; count += 1) {
      answer = await told(store.create(key(`large-${count}`), object("a", "x".repeat(200_000))));
    }
    expect(answer).toMatch(
      /^507 etcd has no space left \(alarm NOSPACE\).*etcdctl compact and etcdctl defrag.*then run etcdctl alarm disarm/,
    );
    expect(await told(store.delete(key("a"), first.revision))).toBe(answer);
    expect(await told(store.demandWritable())).toBe(answer);
    expect((await store.get(key("a")))?.revision).toBe(first.revision);
    await store.compact();
    await etcd.ask("/v3/maintenance/defragment", {});
    const { alarms } = (await etcd.ask("/v3/maintenance/alarm", { action: "GET" })) as { alarms: { memberID: string }[] };
    for (const { memberID } of alarms) await etcd.ask("/v3/maintenance/alarm", { action: "DEACTIVATE", memberID, alarm: "NOSPACE" });
    await store.demandWritable();
    await store.close();
  });

  test("is enough to start on and to follow many large objects, whose past is told as far as there is memory for it", async () => {
    etcd = await startEtcd();
    const options = { endpoints: [etcd.url], prefix: "/large/" };
    const store = await openEtcdStore(options);
    const other = await openEtcdStore(options);
    const large = (name: string) => object(name, name.repeat(500_000));
    for (let count = 0; count < 20; count += 1) {
      const stored = (await store.create(key(`o${count}`), large(`${count % 10}`)))!;
      await store.update(key(`o${count}`), large(`${(count + 1) % 10}`), stored.revision);
    }
    const present = await store.list({ prefix: PREFIX });
    expect(await other.list({ prefix: PREFIX })).toEqual(present);
    await Promise.all([store.close(), other.close()]);
    const again = await openEtcdStore({ ...options, memory: { historyBytes: 5_000_000 } });
    expect(await again.list({ prefix: PREFIX })).toEqual(present);
    expect(again.oldest()).toBeGreaterThan(present.revision - 20);
    await again.close();
    const refused = openEtcdStore({ ...options, memory: { objectBytes: 5_000_000 } });
    await expect(refused).rejects.toMatchObject({
      code: "STORE_FAILED",
      details: { hint: expect.stringContaining("--max-stored") as string },
    });
  });

  test("for more requests than etcd is asked at once: each is answered in 15 s of the server's clock if etcd does not answer", async () => {
    etcd = await startEtcd();
    const clock = createFakeClock();
    const store = await openEtcdStore({ endpoints: [etcd.url], clock });
    const { revision } = (await store.create(key("a"), object("a")))!;
    etcd.pause();
    const { giveUpMs, requestMs } = ETCD_TIMES;
    let open = 0;
    const answers: Promise<string>[] = [];
    const ask = (action: Promise<unknown>) => {
      open += 1;
      answers.push(told(action).finally(() => (open -= 1)));
    };
    for (let count = 0; count < 100; count += 1) {
      ask(store.create(key(`n${count}`), object("n")));
      ask(store.update(key("a"), object("a"), revision));
      ask(store.get(key("a")));
    }
    for (let passed = 0; passed < giveUpMs + requestMs; passed += 100) await clock.advance(100);
    await settle();
    expect(open).toBe(0);
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^50[34] etcd /);
    etcd.resume();
    await store.close();
  });
});
