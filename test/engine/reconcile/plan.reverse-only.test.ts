/** Patches with nothing but a `reverseExpression`: what they answer is what the tenant gets, and then the host. */
import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { annotate, inputFor, only, writtenBy } from "./plan-support.ts";

const at = (key: string) => `metadata.annotations["${key}"]`;
const LOWER: PatchDefinition = { path: at("team"), reverseExpression: "value.toLowerCase()" };
const tenant = tenantEndpoints({ annotations: { team: "shop" } });

function play(patches: readonly PatchDefinition[], edited: (copy: KubeObject) => KubeObject) {
  const rules = testRules({ patches });
  const planned = (source: KubeObject, host?: KubeObject) => plan(rules, inputFor(rules, { tenant: source, host }));
  const host = edited(stored(writtenBy(only(planned(tenant))), "20"));
  const first = planned(tenant, host);
  const flow = only(first);
  if (flow.side === "host") return { side: flow.side, notes: first.notes.map(({ code }) => code), host: writtenBy(flow) };
  const source = stored(writtenBy(flow), "11");
  const second = planned(source, host);
  const answer = stored(writtenBy(only(second)), "22");
  expect([second.notes, planned(source, answer).operations], "it rests, without a note").toEqual([[], []]);
  return { side: flow.side, notes: first.notes.map(({ code }) => code), tenant: source, host: answer };
}
const teams = ({ tenant: source, host }: { tenant?: KubeObject; host: KubeObject }) =>
  [source, host].map((object) => object?.metadata.annotations?.["team"]);

describe("a host edit of a field with a reverseExpression alone", () => {
  test("flows as it answers, and the host has that in the end", () => {
    const played = play([LOWER], (copy) => annotate(copy, { team: "OPS" }));
    expect([teams(played), played.notes]).toEqual([["ops", "ops"], []]);
  });

  test("flows once though the answer would be another one each time", () => {
    expect(teams(play([{ path: at("team"), reverseExpression: 'value + "x"' }], (copy) => annotate(copy, { team: "a" })))).toEqual([
      "ax",
      "ax",
    ]);
  });

  test("takes the field away where it answers null", () => {
    expect(teams(play([{ path: at("team"), reverseExpression: "null" }], (copy) => annotate(copy, { team: "a" })))).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("that says nothing new is undone, with a word", () => {
    const played = play([LOWER], (copy) => annotate(copy, { team: "SHOP" }));
    expect(played).toMatchObject({ side: "host", notes: ["REVERSE_NOT_INVERSE"] });
  });

  test("is undone where it fails", () => {
    const played = play([{ path: at("team"), reverseExpression: "value.none.such" }], (copy) => annotate(copy, { team: "a" }));
    expect(played).toMatchObject({ side: "host", notes: ["EXPRESSION_ERROR"] });
  });

  test("beside a pair flows through both, if the pair brings back what it was given", () => {
    const pair = { path: at("team"), expression: '"x-" + value', reverseExpression: "value.slice(2)" };
    expect(teams(play([pair, LOWER], (copy) => annotate(copy, { team: "x-OPS" })))).toEqual(["ops", "x-ops"]);
    const careless = { ...pair, reverseExpression: "value" };
    expect(play([careless, LOWER], (copy) => annotate(copy, { team: "x-OPS" }))).toMatchObject({
      side: "host",
      notes: ["REVERSE_NOT_INVERSE"],
    });
  });

  test("does not bring addresses to the tenant that may not stand on the host", () => {
    const loopback = { path: "subsets[*].addresses[*].ip", reverseExpression: '"127.0.0.1"' };
    const edit = (copy: KubeObject) => ({ ...copy, subsets: [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 80 }] }] }) as KubeObject;
    expect(play([loopback], edit)).toMatchObject({ side: "host", notes: ["REVERSE_NOT_INVERSE"] });
  });
});
