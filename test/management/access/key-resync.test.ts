import { expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { StoreView } from "../../../src/apiserver/store/memory/store-view.ts";
import type { StoredObject } from "../../../src/apiserver/store/store.ts";
import { storeKey } from "../../../src/apiserver/verbs/resource-context.ts";
import { createAccessKeys } from "../../../src/management/access/keys/access-keys.ts";
import { createKeyDigest } from "../../../src/management/access/keys/key-digest.ts";
import { followManagedObjects } from "../../../src/management/access/managed-objects.ts";
import { OWNED_ACCESS_KEYS } from "../../../src/management/kinds/types.ts";

const digest = createKeyDigest(Buffer.alloc(32));

function stored(name: string, value: string, revision: number): StoredObject {
  const { apiVersion, kind } = OWNED_ACCESS_KEYS;
  const metadata = { name, uid: `uid-of-${name}`, resourceVersion: String(revision) };
  const object = { apiVersion, kind, metadata, spec: { key: digest.of(value) } };
  return { key: storeKey(OWNED_ACCESS_KEYS, { namespace: "", name }), object, revision };
}

test.each([
  { what: "a deleted key", before: [stored("ci", "one", 1)], now: [stored("pipeline", "one", 3)], found: ["pipeline", undefined] },
  {
    what: "a key with a new value",
    before: [stored("ci", "one", 1)],
    now: [stored("pipeline", "one", 3), stored("ci", "two", 4)],
    found: ["pipeline", "ci"],
  },
  { what: "no other key", before: [stored("ci", "one", 1)], now: [stored("ci", "two", 2)], found: [undefined, "ci"] },
])("after lost events, a key is found by the value that it took over from $what", async ({ before, now, found }) => {
  const view = new StoreView({ history: 100, contents: { revision: 1, objects: before, events: [] } });
  const objects = await followManagedObjects({ list: async (range) => view.list(range), watch: async (options) => view.watch(options) });
  const keys = createAccessKeys({ objects, digest, chance: systemChance });
  view.replace({ revision: 5, objects: now });
  expect(["one", "two"].map((value) => keys.find(value)?.metadata.name)).toEqual(found);
});
