/**
 * What tests of the plan for Endpoints share: what they ask for, a first copy, and what a plan writes.
 */
import { expect } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject, Service } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Operation, Plan, PlanInput } from "../../../src/engine/reconcile/plan-types.ts";
import type { Rules } from "../../../src/engine/reconcile/rules/rules.ts";
import { SERVICES_KIND } from "../../../src/engine/kinds/services.ts";
import { service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";

export const KEY = { namespace: "shop", name: "web" };
export const PREFIX: PatchDefinition = {
  path: 'metadata.annotations["team"]',
  expression: '"blue-" + value',
  reverseExpression: 'value.replace(/^blue-/, "")',
};

/** The host Service as this engine makes it, so that Endpoints beside it are written. */
function ownService(rules: Rules): Service {
  const tenant = service("shop", "web", { ports: [{ port: 80 }] });
  const made = plan({ ...testRules(), translator: rules.translator, kind: SERVICES_KIND }, { key: KEY, tenant, host: undefined });
  return stored((made.operations[0] as Operation & { action: "create" }).object as Service, "6");
}

export function inputFor(rules: Rules, parts: Partial<PlanInput>): PlanInput {
  return { key: KEY, tenant: tenantEndpoints(), host: undefined, hostService: ownService(rules), ...parts };
}

/** Host object of a first sync. */
export function firstCopy(rules: Rules, tenant: KubeObject): KubeObject {
  const { operations } = plan(rules, inputFor(rules, { tenant }));
  expect(operations.map(({ action, side }) => `${action} ${side}`)).toEqual(["create host"]);
  return stored((operations[0] as Operation & { action: "create" }).object, "20");
}

export function annotate(object: KubeObject, annotations: Record<string, string | undefined>): KubeObject {
  const all = Object.entries({ ...object.metadata.annotations, ...annotations }).filter(([, value]) => value !== undefined);
  return {
    ...object,
    metadata: { ...object.metadata, annotations: Object.fromEntries(all) as Record<string, string>, resourceVersion: "21" },
  };
}

export function only(planned: Plan): Operation {
  expect(planned.operations).toHaveLength(1);
  return planned.operations[0]!;
}

export function writtenBy(operation: Operation): KubeObject {
  if (operation.action === "delete") throw new Error("a delete writes nothing");
  return operation.object;
}
