import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { toHost, REMEMBERED_MAX } from "../../../src/engine/reconcile/convert/to-host.ts";
import type { Rules } from "../../../src/engine/reconcile/rules/rules.ts";
import { stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const HOST_KEY = { namespace: "vc", name: "web-x-shop-x-blue" };

/** Rules whose engine counts evaluations and knows what an expression can see, as the sandbox does. */
function counting(patches: readonly PatchDefinition[]): { rules: Rules; evaluations: () => number } {
  let evaluations = 0;
  const rules = testRules({ patches });
  const seesHost = new Map(
    rules.patches.map(({ expression, definition }) => [expression, JSON.stringify(definition).includes("hostObject")]),
  );
  const engine: Rules["engine"] = {
    compile: (text) => rules.engine.compile(text),
    evaluate(expression, scope) {
      evaluations += 1;
      return rules.engine.evaluate(expression, scope);
    },
    readsHostObject: (expression) => seesHost.get(expression)!,
  };
  return { rules: { ...rules, engine }, evaluations: () => evaluations };
}

function hostObject(value: string): KubeObject {
  return stored({ ...tenantEndpoints({ annotations: { a: value } }), metadata: { ...HOST_KEY, annotations: { a: value } } }, value);
}

const UPPER: PatchDefinition = { path: 'metadata.annotations["a"]', expression: "value.toUpperCase()" };
const OF_HOST: PatchDefinition = {
  path: 'metadata.annotations["a"]',
  expression: "context.hostObject ? context.hostObject.metadata.annotations.a + value : value",
};
const FAILING: PatchDefinition = { path: 'metadata.annotations["a"]', expression: "value.missing.field" };

const tenants = [tenantEndpoints({ annotations: { a: "x" } }), tenantEndpoints({ annotations: { a: "y" } })];
const hosts = [undefined, hostObject("1"), hostObject("2")];

test.each([
  { why: "the same tenant object is not patched again beside another host object", patch: UPPER, second: [0, 1], evaluations: 1 },
  { why: "another tenant object is", patch: UPPER, second: [1, 0], evaluations: 2 },
  { why: "an expression that sees the host object runs again when that changed", patch: OF_HOST, second: [0, 1], evaluations: 2 },
  { why: "and not when it is the same", patch: OF_HOST, second: [0, 0], evaluations: 1 },
  { why: "a patch that failed runs again, since it may keep what stands on the host", patch: FAILING, second: [0, 1], evaluations: 2 },
])("$why", ({ patch, second, evaluations }) => {
  const { rules, evaluations: counted } = counting([patch]);
  toHost(rules, { tenant: tenants[0]!, host: hosts[0], hostKey: HOST_KEY });
  toHost(rules, { tenant: tenants[second[0]!]!, host: hosts[second[1]!], hostKey: HOST_KEY });
  expect(counted()).toBe(evaluations);
});

test("an engine that does not say what its expressions see is asked again for each host object", () => {
  const { rules, evaluations } = counting([UPPER]);
  const { readsHostObject: _unknown, ...engine } = rules.engine;
  for (const host of hosts) toHost({ ...rules, engine }, { tenant: tenants[0]!, host, hostKey: HOST_KEY });
  expect(evaluations()).toBe(hosts.length);
});

test("other rules know nothing of what these remember", () => {
  const { rules, evaluations } = counting([UPPER]);
  for (const each of [rules, { ...rules }]) toHost(each, { tenant: tenants[0]!, host: undefined, hostKey: HOST_KEY });
  expect(evaluations()).toBe(2);
});

test("the oldest answer is forgotten when there are too many", () => {
  const { rules, evaluations } = counting([UPPER]);
  const ask = (tenant: KubeObject) => toHost(rules, { tenant, host: undefined, hostKey: HOST_KEY });
  ask(tenants[0]!);
  for (let index = 0; index < REMEMBERED_MAX; index += 1) ask(tenantEndpoints({ annotations: { a: String(index) } }));
  ask(tenants[0]!);
  expect(evaluations()).toBe(REMEMBERED_MAX + 2);
});

test("what is remembered is what would be computed again, in any order of tenant and host objects", () => {
  const input = fc.record({ tenant: fc.constantFrom(...tenants), host: fc.constantFrom(...hosts) });
  const patches = fc.uniqueArray(fc.constantFrom(UPPER, OF_HOST, FAILING, { path: "subsets[*].addresses[*].ip", expression: "value" }), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(patches, fc.array(input, { maxLength: 8 }), (chosen, inputs) => {
      const { rules } = counting(chosen);
      for (const each of inputs) {
        const again = toHost({ ...rules }, { ...each, hostKey: HOST_KEY });
        expect(toHost(rules, { ...each, hostKey: HOST_KEY })).toEqual(again);
      }
    }),
    { numRuns: 200 },
  );
});
