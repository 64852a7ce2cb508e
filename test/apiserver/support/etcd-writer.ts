/** A process that writes to a store in etcd, and says what was acknowledged, a line of JSON each: `node etcd-writer.ts URL PREFIX COUNT SEED`. */
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { createSeededChance } from "../seeded-chance.ts";
import { writeAtRandom } from "./random-writes.ts";

const [endpoint, prefix, count, seed] = process.argv.slice(2) as [string, string, string, string];
const chance = createSeededChance(Number(seed));
const store = await openEtcdStore({ endpoints: [endpoint], prefix });
await writeAtRandom({
  store,
  count: Number(count),
  name: seed,
  fraction: () => chance.fraction(),
  onAcknowledged: (one) => process.stdout.write(`${JSON.stringify(one)}\n`),
});
await store.close();
