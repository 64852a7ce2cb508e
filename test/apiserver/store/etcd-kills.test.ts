/**
 * Etcd is killed at random moments, again and again, while two servers write to it and watch it.
 *
 * KILLS says how often; `npm run test:kills` takes more than the usual few.
 */
import { expect, test } from "vitest";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import type { Store, StoredObject, StoreEvent } from "../../../src/apiserver/store/store.ts";
import { key, object, PREFIX } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd } from "../../support/etcd.ts";
import { until } from "../../support/fake-clock.ts";
import { createSeededChance } from "../seeded-chance.ts";
import { TEST_MS } from "../../support/patience.ts";
import { SEED } from "../../support/seed.ts";

const KILLS = Math.min(200, Number(process.env["KILLS"] ?? 4));
const WRITERS = 3;
const KEYS = 6;

describeEtcd(`etcd that is killed (seed ${SEED})`, () => {
  test(
    "loses nothing that was acknowledged, and every server tells the same story",
    async () => {
      const chance = createSeededChance(SEED);
      const upTo = (limit: number) => Math.floor(chance.fraction() * limit);
      const etcd = await startEtcd();
      const times = { connectMs: 500, requestMs: 2_000, giveUpMs: 20_000, silentMs: 500 };
      const stores = await Promise.all([1, 2].map(() => openEtcdStore({ endpoints: [etcd.url], times, history: 100_000 })));
      const start = await stores[0]!.revision();
      const stories: StoreEvent[][] = stores.map(() => []);
      await Promise.all(
        stores.map((store, index) => store.watch({ prefix: PREFIX, after: start, onEvent: (event) => stories[index]!.push(event) })),
      );
      const acknowledged: (StoredObject & { readonly type: string })[] = [];
      let doubtful = 0;
      let over = false;

      const writeOnce = async (store: Store) => {
        const at = key(`n${upTo(KEYS)}`);
        const present = await store.get(at);
        const type = present === undefined ? "created" : upTo(4) === 0 ? "deleted" : "updated";
        const text = object("n", String(upTo(1_000_000)));
        const { revision = 0 } = present ?? {};
        const stored = await {
          created: () => store.create(at, text),
          updated: () => store.update(at, text, revision),
          deleted: () => store.delete(at, revision),
        }[type]();
        if (stored !== undefined) acknowledged.push({ ...stored, type });
      };
      const writeOn = async (store: Store) => {
        while (!over) {
          try {
            await writeOnce(store);
          } catch (error) {
            // Out of reach for too long, which is no lie: nothing is claimed of such a write.
            if (!isEngineError(error, "API_UNAVAILABLE")) throw error;
            doubtful += 1;
          }
        }
      };

      const writing = stores.flatMap((store) => Array.from({ length: WRITERS }, () => writeOn(store)));
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = acknowledged.length;
        await delay(systemClock, 50 + upTo(400));
        await until("something is acknowledged", () => acknowledged.length > before + 1);
        await etcd.kill();
        await delay(systemClock, upTo(200));
        await etcd.start();
      }
      await delay(systemClock, 200);
      over = true;
      await Promise.all(writing);
      for (const store of stores) await store.revision();

      const [story, other] = stories as [StoreEvent[], StoreEvent[]];
      expect(other).toEqual(story);
      const byRevision = new Map(story.map((event) => [event.revision, event]));
      expect(byRevision.size, "no revision comes twice").toBe(story.length);
      for (const { type, key: at, object: state, revision } of acknowledged) {
        expect(byRevision.get(revision), `revision ${revision} was acknowledged`).toMatchObject({ type, key: at, object: state });
      }
      expect(story.length - acknowledged.length, "every event was reported to a client").toBeLessThanOrEqual(doubtful);
      const replica = new Map<string, StoredObject["object"]>();
      for (const { type, key: at, object: state, previous } of story) {
        expect(replica.get(at)).toEqual(previous);
        if (type === "deleted") replica.delete(at);
        else replica.set(at, state);
      }
      for (const store of stores) {
        const { objects } = await store.list({ prefix: PREFIX });
        expect(new Map(objects.map((stored) => [stored.key, stored.object]))).toEqual(replica);
        await store.close();
      }
      await etcd.remove();
    },
    TEST_MS + KILLS * 15_000,
  );
});
