import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { storeKey } from "../../../src/apiserver/verbs/resource-context.ts";
import { SCOPE_EXTRA } from "../../../src/cluster/scope/scope.ts";
import { KEY_EXTRA } from "../../../src/management/access/caller.ts";
import { followManagedObjects } from "../../../src/management/access/managed-objects.ts";
import { createMembership } from "../../../src/management/access/membership.ts";
import { createWatchGuard } from "../../../src/management/access/watch-guard.ts";
import { OWNED_ACCESS_KEYS } from "../../../src/management/kinds/types.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const WATCHES = 60;
const SCOPE_LENGTH = 1_000_000;
/** Much less than one copy of the scope for each watch. */
const KEPT_BYTES_MAX = (WATCHES / 4) * SCOPE_LENGTH;

test("many watches with the same key do not each remember its scope", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const store = createMemoryStore();
  const { apiVersion, kind } = OWNED_ACCESS_KEYS;
  const stored = { apiVersion, kind, metadata: { name: "ci", uid: "1" }, spec: { key: "digest" } };
  await store.create(storeKey(OWNED_ACCESS_KEYS, { namespace: "", name: "ci" }), stored);
  const objects = await followManagedObjects(store);
  const jane = { name: "jane", groups: [], extra: { [KEY_EXTRA]: ["ci"], [SCOPE_EXTRA]: ["a".repeat(SCOPE_LENGTH)] } };
  const guard = createWatchGuard({
    ...{ objects, membership: createMembership(objects), clock: createFakeClock(0) },
    authentication: { userOf: () => jane },
    lives: { refusalOf: () => undefined },
  });
  collect();
  const before = process.memoryUsage().heapUsed;
  const ended: unknown[] = [];
  for (let opened = 0; opened < WATCHES; opened += 1) guard.onWatch(jane, (status) => ended.push(status), jane);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(KEPT_BYTES_MAX);
  guard.check();
  expect(ended).toEqual([]);
  guard.stop();
  objects.stop();
  await store.close();
});
