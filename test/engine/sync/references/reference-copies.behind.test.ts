import { expect, test } from "vitest";
import { silentLogger } from "../../../../src/base/logger.ts";
import { planReferenceCopy } from "../../../../src/engine/reconcile/references/reference-copy.ts";
import type { Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import type { ChangeListener, ObjectSource } from "../../../../src/kube/object/object-source.ts";
import { ObjectCache } from "../../../../src/kube/runtime/informer/object-cache.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { copiesBetween, referenceInput, secret, testReferenceRules } from "../../../support/references.ts";
import { stored } from "../../../support/rules.ts";

test("a copy that was falsely reported as made, and in whose place a cache has an earlier object, is reconciled a few times only", async () => {
  const rules = testReferenceRules();
  const source = secret("shop", "db");
  const input = referenceInput({ source });
  const [planned] = planReferenceCopy(rules, input).operations;
  const copy = stored((planned as Extract<Operation, { action: "create" }>).object, "20");
  const foreign = {
    ...secret("vc", copy.metadata.name!),
    metadata: { ...secret("vc", copy.metadata.name!).metadata, uid: "foreign", resourceVersion: "15" },
  };
  const cache = new ObjectCache();
  const listeners = new Set<ChangeListener>();
  // As an informer does it.
  const host: ObjectSource = {
    get: (key) => cache.get(key),
    list: () => cache.list(),
    onChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
    expect(object, written) {
      const missed = cache.expect(object, written);
      if (missed !== undefined) for (const listener of listeners) listener(missed, "missed");
    },
    synced: true,
    current: true,
  };
  cache.replace({ items: [foreign], resourceVersion: "100" });
  const queue: string[] = [];
  const copies = copiesBetween({ tenant: createCacheByHand(source).source, host }, { rules, enqueue: (id) => void queue.push(id) });
  // The creation of the copy was falsely reported as done, or the cluster was restored from a backup.
  copies.found(input.kind, copy);
  let reconciles = 0;
  while (queue.length > 0 && reconciles < 1_000) {
    queue.length = 0;
    reconciles += 1;
    copies.begin("secrets|shop/db", silentLogger);
  }
  expect(reconciles).toBeLessThan(10);
});
