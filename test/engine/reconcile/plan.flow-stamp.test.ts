/**
 * The stamp of host edits that have flowed: when it speaks, when it does not, and who must not take notice of it. What it is for
 * is in `test/engine/sync/host-edits.faults.test.ts`.
 */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { withoutStamp } from "../../../src/engine/reconcile/agreement/flow-stamp.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Plan } from "../../../src/engine/reconcile/plan-types.ts";
import type { Rules } from "../../../src/engine/reconcile/rules/rules.ts";
import { stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { inputFor, only, writtenBy } from "./plan-support.ts";

const STAMP = "sync.platform/flowed";
const rules = testRules();

function team(object: KubeObject, value: string | undefined, resourceVersion: string): KubeObject {
  const { team: _before, ...others } = object.metadata.annotations ?? {};
  const annotations = value === undefined ? others : { ...others, team: value };
  return stored({ ...object, metadata: { ...object.metadata, annotations } }, resourceVersion);
}

const planOf = (tenant: KubeObject, host: KubeObject | undefined, by: Rules = rules): Plan => plan(by, inputFor(by, { tenant, host }));
const codes = ({ notes }: Plan) => notes.map(({ code }) => code);
/** The side of the one write, and the team that it gives. */
const write = (planned: Plan) => {
  const operation = only(planned);
  return [operation.side, writtenBy(operation).metadata.annotations?.["team"]];
};

const tenant = tenantEndpoints({ annotations: { team: "shop" }, resourceVersion: "10" });
const copy = stored(writtenBy(only(planOf(tenant, undefined))), "20");
const edited = team(copy, "a", "21");
const flowed = stored(writtenBy(only(planOf(tenant, edited))), "11");

describe("the stamp", () => {
  test("is written with the edit, and holds digests only", () => {
    expect(flowed.metadata.annotations).toMatchObject({ team: "a", [STAMP]: expect.any(String) as string });
    expect(Object.keys(JSON.parse(flowed.metadata.annotations![STAMP]!) as object)).toEqual([
      "copy",
      "at",
      "onto",
      "marks",
      "config",
      "units",
    ]);
    expect(flowed.metadata.annotations![STAMP]).not.toContain("shop");
  });

  test("never crosses to the host, and alone makes nothing to do", () => {
    const settled = stored(writtenBy(only(planOf(flowed, edited))), "22");
    expect(settled.metadata.annotations).not.toHaveProperty([STAMP]);
    expect(planOf(flowed, settled).operations).toEqual([]);
    expect(planOf(withoutStamp(rules, flowed), settled).operations).toEqual([]);
  });

  test("is not seen by expressions", () => {
    const counting = testRules({
      patches: [
        {
          path: 'metadata.annotations["team"]',
          expression: 'value + Object.keys(context.virtualObject.metadata.annotations).join("")',
          reverseExpression: 'value.slice(0, -Object.keys(context.virtualObject.metadata.annotations).join("").length)',
        },
      ],
    });
    const first = stored(writtenBy(only(planOf(tenant, undefined, counting))), "20");
    expect(write(planOf(tenant, team(first, "ateam", "21"), counting))).toEqual(["tenant", "a"]);
    const [after, host] = [stored(writtenBy(only(planOf(tenant, team(first, "ateam", "21"), counting))), "11"), team(first, "ateam", "21")];
    expect(only(planOf(after, host, counting))).toMatchObject({ side: "host", reason: "Both sides agree again" });
  });

  test("keeps what flowed before for as long as the copy does not say so", () => {
    const both = stored({ ...edited, metadata: { ...edited.metadata, labels: { ...edited.metadata.labels, tier: "x" } } }, "22");
    const twice = stored(writtenBy(only(planOf(flowed, both))), "12");
    expect(write(planOf(twice, team(both, "b", "23")))).toEqual(["tenant", "b"]);
  });

  test("is taken into the base where the copy is written while the next edit waits for the tenant cluster", () => {
    const changed = { ...flowed, metadata: { ...flowed.metadata, labels: { ...flowed.metadata.labels, tier: "x" } } };
    const again = team(edited, "b", "22");
    const meanwhile = only(plan(rules, { ...inputFor(rules, { tenant: changed, host: again }), editsWait: true }));
    expect(meanwhile).toMatchObject({ side: "host", object: { metadata: { labels: { tier: "x" }, annotations: { team: "b" } } } });
    expect(write(planOf(changed, stored(writtenBy(meanwhile), "23")))).toEqual(["tenant", "b"]);
  });

  test.each(["", "no JSON", "[]", "{}", '{"copy":"uid-host","at":"21","onto":"10","marks":"x","units":{"annotations/team":1}}'])(
    "that cannot be read is none: %s",
    (text) => {
      const annotations = { ...flowed.metadata.annotations, [STAMP]: text };
      const broken = { ...flowed, metadata: { ...flowed.metadata, annotations } };
      const planned = planOf(broken, team(edited, "b", "22"));
      expect([write(planned), codes(planned)]).toEqual([["host", "a"], ["BOTH_SIDES_CHANGED"]]);
    },
  );
});

describe("the stamp says what was last agreed on", () => {
  test("a host edit to what it was before the first one flows, though the copy was written meanwhile", () => {
    const changed = {
      ...tenant,
      metadata: { ...tenant.metadata, labels: { ...tenant.metadata.labels, tier: "x" }, resourceVersion: "11" },
    };
    const after = stored(writtenBy(only(planOf(changed, edited))), "12");
    expect(after.metadata.annotations).toMatchObject({ team: "a" });
    // Another syncer of the same configuration tried the same, was not answered, and wrote everything else.
    const meanwhile = only(plan(rules, { ...inputFor(rules, { tenant: changed, host: edited }), editsWait: true }));
    const planned = planOf(after, team(stored(writtenBy(meanwhile), "22"), "shop", "23"));
    expect([write(planned), codes(planned)]).toEqual([["tenant", "shop"], []]);
  });

  test("an edit of a copy that was made in the place of another one is the later one", () => {
    const other = stored({ ...copy, metadata: { ...copy.metadata, uid: "another copy" } }, "30");
    const planned = planOf(flowed, team(other, "b", "31"));
    expect([write(planned), codes(planned)]).toEqual([["tenant", "b"], []]);
  });
});

describe("the stamp says nothing", () => {
  /** The copy once its base knows of the first edit, and of a change of the tenant after that. */
  const settled = stored(writtenBy(only(planOf(flowed, edited))), "22");
  const later = team(flowed, "c", "12");
  const copyOfLater = stored(writtenBy(only(planOf(later, settled))), "23");

  test("once the copy was written from a later version: the tenant going back to the edit is a change of the tenant", () => {
    const back = team(later, "a", "13");
    expect(write(planOf(back, copyOfLater))).toEqual(["host", "a"]);
    const planned = planOf(back, team(copyOfLater, "d", "24"));
    expect([write(planned), codes(planned)]).toEqual([["host", "a"], ["BOTH_SIDES_CHANGED"]]);
  });

  test("once the copy was written from a later version: a host edit to what it was before the first one flows", () => {
    const planned = planOf(later, team(copyOfLater, "shop", "24"));
    expect([write(planned), codes(planned)]).toEqual([["tenant", "shop"], []]);
  });

  test("of a copy that was recreated", () => {
    const other = stored({ ...copy, metadata: { ...copy.metadata, uid: "another copy" } }, "30");
    const planned = planOf(flowed, other);
    expect([write(planned), codes(planned)]).toEqual([["host", "a"], []]);
  });

  test("for the copy of another object that was made from this one", () => {
    const dolly = { ...flowed, metadata: { ...flowed.metadata, name: "dolly", uid: "uid-2" } };
    const key = { namespace: "shop", name: "dolly" };
    const made = plan(rules, inputFor(rules, { key, tenant: dolly, hostService: undefined }));
    const host = team(stored(writtenBy(only(made)), "40"), "b", "41");
    expect(write(plan(rules, inputFor(rules, { key, tenant: dolly, host, hostService: undefined })))).toEqual(["tenant", "b"]);
  });
});

describe("a copy that a late cache shows as it was before an edit that has flowed", () => {
  test("is not a newer edit", () => {
    const second = team(edited, "b", "22");
    const twice = stored(writtenBy(only(planOf(flowed, second))), "12");
    // The write to the host is refused there, because the copy is not what it was.
    const planned = planOf(twice, edited);
    expect([write(planned), codes(planned)]).toEqual([["host", "b"], []]);
  });

  test("is read live where an edit would be left alone, and what is certain to stand there is an edit", () => {
    const labelled = stored({ ...copy, metadata: { ...copy.metadata, labels: { ...copy.metadata.labels, tier: "x" } } }, "21");
    const taken = stored(writtenBy(only(planOf(tenant, labelled))), "11");
    const returned = stored(writtenBy(only(planOf(taken, stored(copy, "22")))), "12");
    const planned = planOf(returned, labelled);
    expect([planned.operations, planned.restsOnCopy]).toEqual([[], true]);
    // The host was put back to a backup, or never stored what it said it had.
    const confirmed = plan(rules, { ...inputFor(rules, { tenant: returned, host: labelled }), copyConfirmed: true });
    expect(only(confirmed)).toMatchObject({ side: "tenant", object: { metadata: { labels: { tier: "x" } } } });
    // Nothing has to be known of a copy on which nothing differs.
    expect(planOf(returned, stored(copy, "21")).restsOnCopy).toBeUndefined();
  });
});

describe("a syncer of another configuration, which had not heard of an edit that has flowed,", () => {
  const oneWay = testRules({ patches: [{ path: 'metadata.annotations["team"]', expression: "value" }], configHash: "another" });
  const restored = stored(writtenBy(only(planOf(tenant, edited, oneWay))), "22");

  test("what a syncer that had not heard of an edit wrote over it is no edit", () => {
    expect(restored.metadata.annotations).toMatchObject({ team: "shop" });
    expect(write(planOf(flowed, restored))).toEqual(["host", "a"]);
  });

  test("and a later edit of it is one", () => {
    expect(write(planOf(flowed, team(restored, "b", "23")))).toEqual(["tenant", "b"]);
  });
});

describe("the tenant's own change after an edit has flowed", () => {
  test.each(["shop", "c"])("to %s is copied, and causes no conflict", (value) => {
    const planned = planOf(team(flowed, value, "12"), edited);
    expect([write(planned), codes(planned)]).toEqual([["host", value], []]);
  });

  test("wins over a further edit of the same, and people are told", () => {
    const planned = planOf(team(flowed, "shop", "12"), team(edited, "b", "22"));
    expect([write(planned), codes(planned)]).toEqual([["host", "shop"], ["BOTH_SIDES_CHANGED"]]);
  });
});

describe("an object between two virtual clusters, which is a copy for one and a source for the other", () => {
  const outer = testRules({ translator: { vcluster: { name: "red", namespace: "prod" } }, configHash: "outer" });
  const key = { namespace: "vc", name: "web-x-shop-x-blue" };
  const planOuter = (source: KubeObject, host?: KubeObject) =>
    plan(outer, inputFor(outer, { key, tenant: source, host, hostService: undefined }));
  const outermost = stored(writtenBy(only(planOuter(copy))), "50");

  test("keeps the stamp that the outer syncer wrote, through the writes of the inner one", () => {
    const middle = stored(writtenBy(only(planOuter(copy, team(outermost, "a", "51")))), "21");
    expect(middle.metadata.annotations).toHaveProperty([STAMP]);
    // For the inner one it is a host edit of the team, and of nothing else.
    const inner = writtenBy(only(planOf(tenant, middle)));
    expect(Object.keys(JSON.parse(inner.metadata.annotations![STAMP]!).units as object)).toEqual(["annotations/team"]);
    const answered = writtenBy(only(planOf(stored(inner, "11"), middle)));
    expect(answered.metadata.annotations![STAMP]).toBe(middle.metadata.annotations![STAMP]);
    expect(planOf(stored(inner, "11"), stored(answered, "22")).operations).toEqual([]);
  });
});

describe("a version that knows nothing of stamps", () => {
  /** Plans without looking at the stamp, and leaves it in the tenant object as it is. */
  function planAsBefore(source: KubeObject, host: KubeObject): KubeObject {
    const operation = only(planOf(withoutStamp(rules, source), host));
    const { metadata, ...object } = writtenBy(operation);
    if (operation.side === "host") return { ...object, metadata } as KubeObject;
    const annotations = { ...metadata.annotations, [STAMP]: source.metadata.annotations![STAMP]! };
    return { ...object, metadata: { ...metadata, annotations } } as KubeObject;
  }

  test("refreshes the base, after which the stamp is not misread", () => {
    const host = stored(planAsBefore(flowed, edited), "22");
    expect(planOf(flowed, host).operations).toEqual([]);
    expect(write(planOf(flowed, team(host, "shop", "23")))).toEqual(["tenant", "shop"]);
    const changed = planOf(team(flowed, "shop", "12"), host);
    expect([write(changed), codes(changed)]).toEqual([["host", "shop"], []]);
  });

  test("lets a host edit flow and keeps the stamp, which does not make it a change of the tenant", () => {
    const host = stored(planAsBefore(flowed, edited), "22");
    const second = team(host, "b", "23");
    const source = stored(planAsBefore(flowed, second), "12");
    expect(source.metadata.annotations).toMatchObject({ team: "b", [STAMP]: flowed.metadata.annotations![STAMP] });
    const planned = planOf(source, second);
    expect([only(planned).side, codes(planned)]).toEqual(["host", []]);
  });
});
