/**
 * Plans for edits of a copy on the host.
 */
import { describe, expect, test } from "vitest";
import type { PatchEngine } from "../../../src/engine/patch/types.ts";
import { withoutStamp } from "../../../src/engine/reconcile/agreement/flow-stamp.ts";
import { compileAddressPolicy } from "../../../src/engine/reconcile/rules/address-policy.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { ONE_ADDRESS, service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { PREFIX, annotate, firstCopy, inputFor, only, writtenBy } from "./plan-support.ts";

describe("a host edit", () => {
  const rules = testRules({ patches: [PREFIX, { path: 'metadata.annotations["one-way"]', expression: "value + '!'" }] });
  const tenant = tenantEndpoints({ labels: { app: "web" }, annotations: { team: "shop", "one-way": "x" } });
  const copy = firstCopy(rules, tenant);

  test("of a patched annotation reaches the tenant reversed", () => {
    const operation = only(plan(rules, inputFor(rules, { tenant, host: annotate(copy, { team: "blue-ops" }) })));
    expect(operation).toMatchObject({
      action: "update",
      side: "tenant",
      object: { metadata: { annotations: { team: "ops", "one-way": "x" } } },
    });
  });

  test("of a label without any patch reaches the tenant as it is", () => {
    const host = { ...copy, metadata: { ...copy.metadata, labels: { ...copy.metadata.labels, tier: "front" } } };
    expect(only(plan(rules, inputFor(rules, { tenant, host })))).toMatchObject({
      side: "tenant",
      object: { metadata: { labels: { app: "web", tier: "front" } } },
    });
  });

  test("is answered by one host write that only refreshes the base", () => {
    const host = annotate(copy, { team: "blue-ops" });
    const flowed = stored(writtenBy(only(plan(rules, inputFor(rules, { tenant, host })))), "11");
    const answer = only(plan(rules, inputFor(rules, { tenant: flowed, host })));
    expect(answer).toMatchObject({ action: "update", side: "host", reason: "Both sides agree again" });
    expect(plan(rules, inputFor(rules, { tenant: flowed, host: stored(writtenBy(answer), "22") })).operations).toEqual([]);
  });

  test("that does not survive the round trip is undone, and the tenant is untouched", () => {
    const planned = plan(rules, inputFor(rules, { tenant, host: annotate(copy, { team: "red-ops" }) }));
    expect(only(planned)).toMatchObject({ side: "host", restores: true, object: { metadata: { annotations: { team: "blue-shop" } } } });
    expect(planned.notes.map(({ code }) => code)).toEqual(["REVERSE_NOT_INVERSE"]);
  });

  test("of what a one-way patch made is undone", () => {
    const planned = plan(rules, inputFor(rules, { tenant, host: annotate(copy, { "one-way": "y" }) }));
    expect(only(planned)).toMatchObject({ side: "host", restores: true, object: { metadata: { annotations: { "one-way": "x!" } } } });
    expect(planned.notes.map(({ code }) => code)).toEqual(["ONE_WAY_EDIT"]);
  });

  test("that removes an annotation removes it in the tenant, too", () => {
    const operation = only(plan(rules, inputFor(rules, { tenant, host: annotate(copy, { team: undefined }) })));
    expect(operation.side).toBe("tenant");
    expect(withoutStamp(rules, writtenBy(operation)).metadata.annotations).toEqual({ "one-way": "x" });
  });

  test("loses against a tenant change of the same key, and people are told", () => {
    const changed = tenantEndpoints({ labels: { app: "web" }, annotations: { team: "sales", "one-way": "x" }, resourceVersion: "11" });
    const planned = plan(rules, inputFor(rules, { tenant: changed, host: annotate(copy, { team: "blue-ops" }) }));
    expect(only(planned)).toMatchObject({ side: "host", object: { metadata: { annotations: { team: "blue-sales" } } } });
    expect(planned.notes.map(({ code }) => code)).toEqual(["BOTH_SIDES_CHANGED"]);
  });

  test("that reorders subsets is none", () => {
    const two = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80, protocol: "TCP" }] }];
    const wide = tenantEndpoints({}, two);
    const host = { ...firstCopy(rules, wide), subsets: [{ addresses: two[0]!.addresses.toReversed(), ports: two[0]!.ports }] };
    expect(plan(rules, inputFor(rules, { tenant: wide, host })).operations).toEqual([]);
  });

  test("of the subsets flows back as one value while nothing below them is one-way", () => {
    const host = { ...copy, subsets: [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 80, protocol: "TCP" }] }] };
    expect(only(plan(rules, inputFor(rules, { tenant, host })))).toMatchObject({
      side: "tenant",
      object: { subsets: [{ addresses: [{ ip: "10.0.0.9" }] }] },
    });
  });

  test.each([
    ["drop-address", ["10.1.0.1", "172.16.0.1", "172.16.0.2"], '"172.16.0.1" (not in addressPolicy.allow) and 1 more'],
    ["reject-object", ["127.0.0.1"], '"127.0.0.1" (loopback)'],
  ] as const)("of the subsets that the address policy refuses is undone with that reason: %s", (action, ips, refused) => {
    const strict = testRules({
      patches: [PREFIX],
      settings: { addressPolicy: compileAddressPolicy({ allow: ["10.0.0.0/8"], deny: [], action }) },
    });
    const host = { ...firstCopy(strict, tenant), subsets: [{ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 80 }] }] };
    const planned = plan(strict, inputFor(strict, { tenant, host }));
    expect(only(planned)).toMatchObject({ side: "host", restores: true, object: { subsets: ONE_ADDRESS } });
    const message = `The host edit of the body is undone: the address policy refuses ${refused}`;
    expect(planned.notes).toEqual([{ code: "ADDRESS_REFUSED", message }]);
  });

  test("that no expression changes is not said to fail because of expressions", () => {
    const unknownPod = { ip: "10.0.0.9", targetRef: { kind: "Pod", namespace: "vc", name: "unknown" } };
    const host = { ...copy, subsets: [{ addresses: [unknownPod], ports: [{ port: 80 }] }] };
    const message = "The host edit of the body is undone: it would change on its way to the tenant and back";
    expect(plan(rules, inputFor(rules, { tenant, host })).notes).toEqual([{ code: "REVERSE_NOT_INVERSE", message }]);
  });

  test("is undone if the tenant or a patch has the key, and stays on the host otherwise, as its note says", () => {
    const failing = { path: "metadata.labels[*]", expression: "value", reverseExpression: "value.none.such" };
    const patches = [PREFIX, { path: 'metadata.annotations["one-way"]', expression: "value + '!'" }, failing];
    const listed = testRules({ patches });
    const notesWith = (meta: Parameters<typeof tenantEndpoints>[0]) => {
      const source = tenantEndpoints(meta);
      const first = firstCopy(listed, source);
      const edited = annotate(
        { ...first, metadata: { ...first.metadata, labels: { ...first.metadata.labels, app: "red" } } },
        { team: "red", "one-way": "red" },
      );
      const planned = plan(listed, inputFor(listed, { tenant: source, host: edited }));
      return {
        writes: planned.operations.length,
        notes: planned.notes.map(({ code, message }) => `${code} ${message.replace(/: .*/, "")}`),
      };
    };
    const notes = (outcome: string) => [
      `ONE_WAY_EDIT The host edit of annotations/one-way ${outcome}`,
      `EXPRESSION_ERROR The host edit of labels/app ${outcome}`,
      `REVERSE_NOT_INVERSE The host edit of annotations/team ${outcome}`,
    ];
    const had = notesWith({ labels: { app: "web" }, annotations: { team: "shop", "one-way": "x" } });
    expect(had).toEqual({ writes: 1, notes: notes("is undone") });
    expect(notesWith({})).toEqual({ writes: 0, notes: notes("stays on the host and is not synced back") });
  });

  test("of the subsets is undone when the tenant Service has a selector", () => {
    const host = { ...copy, subsets: [] };
    const tenantService = service("shop", "web", { selector: { app: "web" } });
    expect(only(plan(rules, inputFor(rules, { tenant, host, tenantService })))).toMatchObject({
      side: "host",
      restores: true,
      object: { subsets: ONE_ADDRESS },
    });
  });
});

describe("a foreign annotation on the host", () => {
  const rules = testRules({
    patches: [{ path: "metadata.annotations[*]", expression: '"my-" + value', reverseExpression: 'value.slice("my-".length)' }],
  });
  const tenant = tenantEndpoints({ annotations: { team: "shop" } });

  test("that has no tenant value stays where it is", () => {
    const planned = plan(rules, inputFor(rules, { tenant, host: annotate(firstCopy(rules, tenant), { other: "plain" }) }));
    expect([planned.operations, planned.notes.map(({ code }) => code)]).toEqual([[], ["REVERSE_NOT_INVERSE"]]);
  });

  test("survives the next tenant change", () => {
    const host = annotate(firstCopy(rules, tenant), { other: "plain" });
    const changed = tenantEndpoints({ annotations: { team: "sales" }, resourceVersion: "11" });
    const written = writtenBy(only(plan(rules, inputFor(rules, { tenant: changed, host }))));
    expect(written.metadata.annotations).toMatchObject({ other: "plain", team: "my-sales" });
  });
});

test("an edit that the tenant cluster refuses waits on the host, while addresses arrive, and flows later", () => {
  const rules = testRules({ patches: [PREFIX] });
  const tenant = tenantEndpoints({ annotations: { team: "shop" } });
  const edited = annotate(firstCopy(rules, tenant), { team: "blue-ops" });
  const changed = tenantEndpoints({ annotations: { team: "shop" }, resourceVersion: "11" }, [{ addresses: [{ ip: "10.9.9.9" }] }]);
  expect(only(plan(rules, inputFor(rules, { tenant: changed, host: edited }))).side).toBe("tenant");
  const waiting = { ...inputFor(rules, { tenant: changed, host: edited }), editsWait: true };
  const written = writtenBy(only(plan(rules, waiting)));
  expect(written).toMatchObject({ metadata: { annotations: { team: "blue-ops" } }, subsets: [{ addresses: [{ ip: "10.9.9.9" }] }] });
  const host = stored(written, "30");
  expect(plan(rules, { ...waiting, host }).operations).toEqual([]);
  const later = only(plan(rules, inputFor(rules, { tenant: changed, host })));
  expect(later).toMatchObject({ side: "tenant", object: { metadata: { annotations: { team: "ops" } } } });
});

test("edits that are lost one by one do not have all patches applied again for each", () => {
  // An annotation survives only beside the one before it that was edited as well; the first one never does.
  const expression = `context.virtualObject.metadata.annotations['k' + (Number(context.path.match(/k(\\d+)/)[1]) - 1)] === 'edited' || value === 'old' ? value : 'lost'`;
  const rules = testRules({ patches: [{ path: "metadata.annotations[*]", expression, reverseExpression: "value" }] });
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  const mapTo = (value: string) => Object.fromEntries(keys.map((key) => [key, value]));
  const tenant = tenantEndpoints({ annotations: mapTo("old") });
  const edited = annotate(firstCopy(rules, tenant), mapTo("edited"));
  let evaluations = 0;
  const engine: PatchEngine = {
    ...rules.engine,
    evaluate(...args) {
      evaluations += 1;
      return rules.engine.evaluate(...args);
    },
  };
  const planned = plan({ ...rules, engine }, inputFor(rules, { tenant, host: edited }));
  expect(only(planned)).toMatchObject({ side: "host", restores: true });
  expect(planned.notes).toHaveLength(keys.length);
  expect(evaluations / keys.length).toBeLessThanOrEqual(5);
});
