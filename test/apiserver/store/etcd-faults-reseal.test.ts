/**
 * Faults while values in etcd are resealed: the process ends anywhere, others write, etcd is away, keys are replaced on
 * one server after the other. At every moment every value opens with both keys, and after the end with the new one alone.
 *
 * RESEAL_KILLS says how often the process is killed.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { openEtcdStore, type EtcdStore, type EtcdStoreOptions } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { startResealing } from "../../../src/apiserver/store/resealing.ts";
import { cipherOf, keyId, resealAll } from "../../conformance/resealable.ts";
import { key, object, PREFIX } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { until } from "../../support/fake-clock.ts";
import { startEtcdProxy, type EtcdProxy, type Fate, type ProxiedRequest } from "../support/etcd-proxy.ts";
import { presentTexts, textsOfHistory } from "../support/sealed-texts.ts";
import { TEST_MS } from "../../support/patience.ts";

const HASTY = { connectMs: 5_000, requestMs: 5_000, giveUpMs: 500, silentMs: 100, heartbeatMs: 3_600_000 };
const KILLS = Number(process.env["RESEAL_KILLS"] ?? 4);
const WRITER = join(import.meta.dirname, "../support/reseal-writer.ts");

/** Options of a server. */
type Act =
  | { readonly what: "restart" | "reseal"; readonly server: number }
  | { readonly what: "write"; readonly server: number; readonly name: number };

describeEtcd("while values in etcd are sealed again", () => {
  let etcd: Etcd;
  let proxy: EtcdProxy;
  let places = 0;
  let prefix = "";
  let start = 0;
  const stores: EtcdStore[] = [];
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  beforeEach(async () => {
    proxy = await startEtcdProxy(etcd.url);
    await newPlace();
  });
  afterEach(async () => {
    etcd.resume();
    await closeAll();
    await proxy.close();
  });

  const closeAll = async () => {
    for (const store of stores.splice(0)) await store.close();
  };
  const newPlace = async () => {
    await closeAll();
    prefix = `/reseal-faults/${(places += 1)}/`;
    start = Number(((await etcd.ask("/v3/kv/range", { key: "AA==" }))["header"] as { revision: string }).revision);
  };
  const open = async (keys: readonly number[], options: Partial<EtcdStoreOptions> = {}) => {
    const times = { silentMs: 100 };
    const store = await openEtcdStore({ endpoints: [etcd.url], prefix, cipher: cipherOf(...keys), times, ...options });
    stores.push(store);
    return store;
  };
  /** A store behind the proxy that gives up soon. On a slow machine it may give up before it is open, too: then another one is opened. */
  const openHasty = async (): Promise<EtcdStore> => {
    for (;;) {
      try {
        return await open([2, 1], { endpoints: [proxy.url], times: HASTY });
      } catch (error) {
        if (!isEngineError(error, "API_UNAVAILABLE")) throw error;
      }
    }
  };
  const fill = async (count: number) => {
    const store = await open([1]);
    for (let index = 0; index < count; index += 1) await store.create(key(`n${index}`), object(`n${index}`, `text of ${index}`));
    await store.close();
  };
  const textsOf = async (store: EtcdStore) =>
    new Map(
      (await store.list({ prefix: PREFIX })).objects.map(({ key: at, object: read }) => [at, (read["data"] as { text: string }).text]),
    );
  const filled = (count: number) => new Map(Array.from({ length: count }, (_, index) => [key(`n${index}`), `text of ${index}`]));
  /** The present contents of etcd, opened with both keys. */
  const opened = async () =>
    new Map(
      (await presentTexts(etcd, prefix)).map(([at, text]) => [
        at,
        (JSON.parse(cipherOf(2, 1).open(at, text)) as { data: { text: string } }).data.text,
      ]),
    );
  /** A process with both keys goes on and ends; then nothing of the old key is anywhere, and one with the new key has everything. */
  const finish = async (texts: ReadonlyMap<string, string>) => {
    await resealAll(await open([2, 1]));
    expect(await textsOf(await open([2]))).toEqual(texts);
    const all = await textsOfHistory(etcd, prefix, start);
    expect(all.filter(([, text]) => !text.startsWith(`aesgcm1:${keyId(2)}:`))).toEqual([]);
  };
  const asksFor = ({ path, body }: ProxiedRequest, name: string) =>
    path === "/v3/kv/range" && body.includes(Buffer.from(`${prefix}${name}`).toString("base64"));

  test.each(["lose-request", "lose-answer"] as const)(
    "a process that ends between any two steps leaves nothing that the next one does not finish (%s)",
    async (fate) => {
      let whole = false;
      let cuts = 0;
      for (; !whole; cuts += 1) {
        await newPlace();
        await fill(3);
        proxy.decide = () => "pass";
        const ending = await openHasty();
        let passing = cuts;
        proxy.decide = ({ path }): Fate => {
          if (path === "/v3/watch") return passing > 0 ? "pass" : "lose-request";
          passing -= 1;
          if (passing >= 0) return "pass";
          proxy.cutWatches();
          return passing === -1 ? fate : "lose-request";
        };
        whole = await resealAll(ending, 2).then(
          () => true,
          () => false,
        );
        await ending.close();
        expect(await opened()).toEqual(filled(3));
        await finish(filled(3));
      }
      // The present and `swept` are read in each of four steps, two values and one are written, the history is ended.
      expect(cuts).toBeGreaterThan(8);
    },
  );

  const meanwhile: Record<string, (rival: EtcdStore) => Promise<readonly [string, string][]>> = {
    async update(rival) {
      await rival.update(key("n1"), object("n1", "theirs"), (await rival.get(key("n1")))!.revision);
      return [[key("n1"), "theirs"]];
    },
    async delete(rival) {
      await rival.delete(key("n1"), (await rival.get(key("n1")))!.revision);
      return [];
    },
    async "create again"(rival) {
      await rival.delete(key("n1"), (await rival.get(key("n1")))!.revision);
      await rival.create(key("n1"), object("n1", "other"));
      return [[key("n1"), "other"]];
    },
  };
  test.each(
    Object.keys(meanwhile).flatMap((what) =>
      [
        [2, 1],
        [1, 2],
      ].map((keys) => ({ what, keys })),
    ),
  )(
    // prettier-ignore
    "a server with the keys $keys may $what what is about to be sealed again: that counts",
    async ({ what, keys }) => {
      await fill(3);
      const rival = await open(keys);
      const store = await open([2, 1], { endpoints: [proxy.url] });
      const texts = filled(3);
      let written = false;
      proxy.decide = async (request): Promise<Fate> => {
        // The values have been chosen by then.
        if (!written && asksFor(request, "swept")) {
          written = true;
          texts.delete(key("n1"));
          for (const [at, text] of await meanwhile[what]!(rival)) texts.set(at, text);
        }
        return "pass";
      };
      expect(await store.reseal(3)).toEqual({ resealed: 2, done: false });
      expect(await opened()).toEqual(texts);
      await closeAll();
      await finish(texts);
    },
  );

  test("etcd may be away: it goes on by itself afterwards, and tells why not before", async () => {
    await fill(40);
    const store = await open([2, 1], { endpoints: [proxy.url], times: { ...HASTY, giveUpMs: 3_000 } });
    await store.reseal(2);
    proxy.decide = () => "lose-request";
    proxy.cutWatches();
    const failure = await store.reseal(2).catch((error: unknown) => error);
    expect(isEngineError(failure, "API_UNAVAILABLE")).toBe(true);
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const resealing = startResealing({ store, clock: systemClock, logger, most: 4, pauseMs: 1, retryMs: 50 });
    await until("it has tried", () => warnings.length > 0);
    expect([resealing.done, await opened()]).toEqual([false, filled(40)]);
    proxy.decide = () => "pass";
    await until("it is done", () => resealing.done);
    await resealing.stop();
    await finish(filled(40));
  });

  test("what a server has missed is sealed again, and forgotten, as what it has seen", async () => {
    await fill(3);
    const store = await open([2, 1], { endpoints: [proxy.url] });
    await resealAll(store);
    proxy.decide = ({ path }) => (path === "/v3/watch" ? "lose-request" : "pass");
    proxy.cutWatches();
    const late = await open([1, 2]);
    const other = await open([2, 1]);
    const { revision } = (await late.create(key("replaced"), object("replaced", "older")))!;
    const replaced = (await late.update(key("replaced"), object("replaced", "old"), revision))!;
    // The history begins behind what the store knows, so that it has to read everything again.
    await late.compact();
    await other.update(key("replaced"), object("replaced", "new"), replaced.revision);
    proxy.decide = () => "pass";
    expect((await store.sealedBy()).get(keyId(1))).toBe(0);
    expect(await store.reseal(8)).toEqual({ resealed: 0, done: true });
    const all = await textsOfHistory(etcd, prefix, start);
    expect(all.filter(([, text]) => text.includes(keyId(1)))).toEqual([]);

    proxy.decide = ({ path }) => (path === "/v3/watch" ? "lose-request" : "pass");
    proxy.cutWatches();
    const left = (await late.create(key("left"), object("left", "older")))!;
    await late.update(key("left"), object("left", "old"), left.revision);
    await late.compact();
    proxy.decide = () => "pass";
    expect((await store.sealedBy()).get(keyId(1))).toBe(1);
    await finish(new Map([...filled(3), [key("left"), "old"], [key("replaced"), "new"]]));
  });

  test("etcd may stand still in the middle of it", async () => {
    await fill(20);
    const store = await open([2, 1], { times: { ...HASTY, requestMs: 500, giveUpMs: 60_000 } });
    await store.reseal(2);
    etcd.pause();
    const resealing = resealAll(store, 4);
    setTimeout(() => etcd.resume(), 700);
    expect(await resealing).toBeGreaterThan(0);
    await finish(filled(20));
  });

  test("the process may be killed again and again while another one writes", { timeout: TEST_MS + KILLS * 10_000 }, async () => {
    await fill(120);
    const rival = await open([1, 2]);
    const texts = filled(120);
    let writing = true;
    const rivalry = (async () => {
      for (let count = 0; writing; count += 1) {
        // Those that the process does not write to.
        const at = key(`n${((count * 3) % 120) + 1}`);
        const present = (await rival.get(at))!;
        if ((await rival.update(at, object("x", `r${count}`), present.revision)) !== undefined) texts.set(at, `r${count}`);
      }
    })();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const writer = spawn(process.execPath, [WRITER, etcd.url, prefix], { stdio: ["ignore", "pipe", "inherit"] });
      let lines = 0;
      for await (const line of createInterface(writer.stdout)) {
        const [what, at, text] = line.split(" ");
        if (what === "ack") texts.set(at!, text!);
        lines += 1;
        if (lines === 5 + kill * 13) writer.kill("SIGKILL");
      }
    }
    writing = false;
    await rivalry;
    const found = await opened();
    for (const [at, text] of texts) {
      // A killed writer may have written once more than it could say.
      if (text.startsWith("w")) expect(Number(found.get(at)!.slice(1))).toBeGreaterThanOrEqual(Number(text.slice(1)));
      else if (text.startsWith("r")) expect(found.get(at)).toBe(text);
      else expect(found.has(at)).toBe(true);
    }
    expect([...texts.values()].filter((text) => /^[wr]/.test(text)).length).toBeGreaterThan(10);
    await finish(found);
  });

  test("keys may be replaced on one server after the other, in the order of the guide", async () => {
    // Each server has the old key, then both, then both with the new one first, then the new one.
    const PHASES = [[1], [1, 2], [2, 1], [2]] as const;
    const server = fc.nat(2);
    const step = fc.oneof(
      fc.record({ what: fc.constant("restart" as const), server }),
      fc.record({ what: fc.constant("write" as const), server, name: fc.nat(3) }),
      fc.record({ what: fc.constant("reseal" as const), server }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        await newPlace();
        await fill(4);
        const texts = filled(4);
        const servers = await Promise.all([0, 1, 2].map(async () => ({ phase: 0, store: await open(PHASES[0]) })));
        /** The next phase of one server begins when all are in this one, and the last when nothing is sealed with the old key. */
        const mayGoOn = async (phase: number) => {
          if (phase + 1 === PHASES.length || servers.some((other) => other.phase < phase)) return false;
          return phase < 2 || ((await servers[0]!.store.sealedBy()).get(keyId(1)) ?? 0) === 0;
        };
        const act = async (one: Act, text: string) => {
          const at = servers[one.server]!;
          if (one.what === "write") {
            const name = key(`n${one.name}`);
            await at.store.update(name, object(`n${one.name}`, text), (await at.store.get(name))!.revision);
            texts.set(name, text);
          } else if (one.what === "reseal") await at.store.reseal(2);
          else if (await mayGoOn(at.phase)) {
            await at.store.close();
            at.phase += 1;
            at.store = await open(PHASES[at.phase]!);
          }
          expect(await opened()).toEqual(texts);
          for (const { store } of servers) expect(await textsOf(store)).toEqual(texts);
        };
        for (const [count, one] of steps.entries()) await act(one, `w${count}`);
        while (servers.some(({ phase }) => phase + 1 < PHASES.length)) {
          for (const what of ["reseal", "restart"] as const) {
            for (const each of servers.keys()) await act({ what, server: each }, "");
          }
        }
        await closeAll();
        await finish(texts);
      }),
      { numRuns: 6 },
    );
  });
});
