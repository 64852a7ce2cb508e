/** Copies of referenced objects that have to share a few places. */
import { expect, test } from "vitest";
import { finish } from "../../../../src/base/finish.ts";
import { silentLogger } from "../../../../src/base/logger.ts";
import type { ObjectKey } from "../../../../src/kube/object/key.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import type { PlanInput, Plan } from "../../../../src/engine/reconcile/plan-types.ts";
import { createCacheByHand } from "../../../support/cache-by-hand.ts";
import { copiesBetween, secret, testReferenceRules } from "../../../support/references.ts";
import { stored, tenantEndpoints, testRules } from "../../../support/rules.ts";

/** Copies of Secrets, with this many places; each namespace `n` has the Secrets `n/1`, `n/2` and so on. */
function sharing(objectsMax: number, names: readonly string[]) {
  const keyOf = (name: string): ObjectKey => ({ namespace: name.split("/")[0]!, name: name.split("/")[1]! });
  const [tenant, host] = [createCacheByHand(...names.map((name) => secret(keyOf(name).namespace, keyOf(name).name))), createCacheByHand()];
  const enqueued: string[] = [];
  const copies = copiesBetween(
    { tenant: tenant.source, host: host.source },
    { rules: testReferenceRules({ objectsMax, retentionMs: 0 }), enqueue: (id) => void enqueued.push(id) },
  );
  const path = "metadata.annotations.secret";
  const rules = testRules({ patches: [{ path, reference: { apiVersion: "v1", kind: "Secret" } }] as never });
  return {
    ...{ copies, enqueued },
    begin: (name: string) => copies.begin(`secrets|${name}`, silentLogger)!,
    /** Endpoints of the namespace refer to these Secrets, and to no others. */
    refer(user: string, secrets: readonly string[]) {
      const references = secrets.map((name) => ({ apiVersion: "v1", kind: "Secret", tenant: keyOf(name), host: keyOf(name) }));
      const input = { key: keyOf(user), tenant: tenantEndpoints(), host: undefined } as unknown as PlanInput;
      copies.planned(`endpoints|${user}`, rules, input, { state: "copied", references, operations: [], outcomes: [] } as unknown as Plan);
    },
  };
}

const created = (object: KubeObject) => ({ type: "object", object: stored(object, "30") }) as const;

test("all places that become free at once are taken", () => {
  const { begin, enqueued, refer } = sharing(2, ["a/3", "a/4"]);
  refer("a/web", ["a/1", "a/2", "a/3", "a/4"]);
  for (const name of ["a/1", "a/2", "a/3", "a/4"]) begin(name);
  refer("a/web", ["a/3", "a/4"]);
  enqueued.length = 0;
  for (const name of ["a/1", "a/2"]) begin(name);
  expect(enqueued.splice(0)).toEqual(["secrets|a/3", "secrets|a/3"]);
  begin("a/3");
  expect(enqueued.splice(0)).toContain("secrets|a/4");
});

test("an object that loses its place while its copy is being made still knows of the copy", () => {
  const { begin, refer } = sharing(2, ["a/1", "a/2", "b/1"]);
  refer("a/web", ["a/1", "a/2"]);
  begin("a/1");
  const making = begin("a/2");
  expect(making.request).toMatchObject({ type: "write", operation: { action: "create" } });
  refer("b/web", ["b/1"]);
  begin("b/1");
  if (making.request.type !== "write" || making.request.operation.action !== "create") throw new Error("Nothing is made");
  const copy = making.request.operation.object;
  finish(making.answer(created(copy)));
  // Nothing refers to it any more, and there is a place again.
  refer("a/web", []);
  refer("b/web", []);
  begin("b/1");
  const again = begin("a/2");
  expect(again.request).toMatchObject({ type: "get", side: "host" });
  finish(again.answer(created(copy)));
  expect(again.request).toMatchObject({ type: "write", operation: { action: "delete" } });
});
