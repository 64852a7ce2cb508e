/**
 * The law about host edits agrees with the syncer's handling of the edit.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { planHostEdits } from "../../../src/engine/reconcile/convert/host-edits.ts";
import { toHost } from "../../../src/engine/reconcile/convert/to-host.ts";
import { comparedFields } from "../../../src/engine/reconcile/agreement/base.ts";
import { LAWS_KNOWN } from "../../../src/workbench/laws/laws.ts";
import { createTrip } from "../../../src/workbench/laws/trips/trip.ts";
import { findWords } from "../../../src/workbench/laws/samples/words.ts";
import { engineWith } from "./laws-support.ts";

const hostEdits = LAWS_KNOWN.find(({ name }) => name === "hostEdits")!;

const PAIRS: readonly (readonly [why: string, expression: string, reverseExpression: string])[] = [
  ["a prefix", '"my-prefix-" + value', "value.slice(10)"],
  ["a prefix that loses a character too few", '"my-prefix-" + value', "value.slice(9)"],
  ["a prefix that is added once", 'value.startsWith("b-") ? value : "b-" + value', 'value.replace(/^b-/, "")'],
  ["base64", "btoa(value)", "atob(value)"],
  ["letters of one case", "value.toUpperCase()", "value.toLowerCase()"],
  ["the namespace of the object", 'context.virtualObject.metadata.namespace + "/" + value', 'value.split("/")[1]'],
];

describe.each(PAIRS)("%s", (_why, expression, reverseExpression) => {
  test("an edit flows exactly when the law holds for it", async () => {
    const engine = await engineWith({ endpoints: [{ path: 'metadata.annotations["a"]', expression, reverseExpression }] });
    const rules = engine.rules.find(({ kind }) => kind.resource.kind === "Endpoints")!;
    const trip = createTrip(rules, rules.patches[0]!, findWords([expression, reverseExpression]));
    const tenant: KubeObject = {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: "web", namespace: "shop", annotations: { a: "b-x" } },
    };
    const hostKey = rules.translator.toHost({ namespace: "shop", name: "web" }, rules.kind.resource)!;
    const desired = toHost(rules, { tenant, host: undefined, hostKey }).object;
    const situation = { tenant, steps: ["metadata", "annotations", "a"], path: "metadata.annotations.a" };
    const seen = new Set<boolean>();
    const text = fc
      .array(fc.constantFrom("my-prefix-", "b-", "shop/", "a", "B", "YQ==", "-", "/"), { maxLength: 4 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (value) => {
        const host = { ...desired, metadata: { ...desired.metadata, annotations: { ...desired.metadata.annotations, a: value } } };
        const edits = comparedFields(rules, tenant, desired, host).filter(({ id }) => id === "annotations/a");
        const flows = planHostEdits(rules, { tenant, host, hostKey }, edits).flowing.length === 1;
        const judged = hostEdits.judge({ value, situation }, { trip, rounds: 10, shape: undefined });
        expect(judged === undefined).toBe(flows);
        seen.add(flows);
      }),
      { numRuns: 150, seed: 2 },
    );
    engine.dispose();
    expect(seen).toContain(false);
  });
});
