/** A patch fails exactly on the label values and annotations that an API server would refuse the object for. */
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { labelValue } from "../../../src/apiserver/types/objects/names.ts";
import { parseConfig } from "../../../src/engine/config/config.ts";
import { createPatcher, type Patcher } from "../../../src/engine/patcher.ts";

const CONFIG =
  "sync: { toHost: { endpoints: { patches: [{ path: metadata.labels.app, expression: context.virtualObject.metadata.annotations.wanted }] } } }";

let patcher: Patcher;
beforeAll(async () => {
  const parsed = parseConfig(CONFIG);
  if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
  patcher = await createPatcher({ config: parsed.config, vcluster: { name: "blue", namespace: "vc-blue" } });
});
afterAll(() => patcher?.dispose());

/** What becomes of the patch that writes this label. */
function outcomeOf(wanted: string): string {
  const metadata = { name: "web", namespace: "shop", labels: { app: "before" }, annotations: { wanted } };
  return patcher.toHost({ apiVersion: "v1", kind: "Endpoints", metadata }).outcomes[0]!.outcome;
}

const unit = fc.constantFrom("a", "Z", "9", "-", "_", ".", " ", "/", ":", "é", "\n");
const texts = fc.oneof(
  fc.string({ unit, maxLength: 8 }),
  fc.nat(70).map((length) => "x".repeat(length)),
);

test("any text: it fails if the API server's own rule says so, and only then", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(outcomeOf(text)).toBe(labelValue(text).length === 0 ? "applied" : "error");
    }),
    { numRuns: 500, seed: 1 },
  );
});
