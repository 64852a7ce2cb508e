/** More labels and annotations than a copy has room for: addresses arrive all the same. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Plan } from "../../../src/engine/reconcile/plan-types.ts";
import { ANNOTATIONS_LENGTH_MAX, annotationsLength, BASE_LENGTH_MAX } from "../../../src/engine/reconcile/copy/plan-difference.ts";
import { ONE_ADDRESS, stored, tenantEndpoints, testRules } from "../../support/rules.ts";
import { annotate, inputFor, only, writtenBy } from "./plan-support.ts";

const rules = testRules();
const BASE = "sync.platform/base";
const OTHER = [{ addresses: [{ ip: "10.0.0.78" }], ports: [{ port: 80, protocol: "TCP" as const }] }];
const MANY = 3_000;

function keys(count: number, value = "value", prefix = "key"): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_none, index) => [`${prefix}-${String(index).padStart(4, "0")}`, value]));
}
const planOf = (tenant: KubeObject, host?: KubeObject): Plan => plan(rules, inputFor(rules, { tenant, host }));
const copied = (object: KubeObject, prefix = "key-") =>
  Object.keys(object.metadata.annotations ?? {}).filter((key) => key.startsWith(prefix));
const messages = ({ notes }: Plan) => notes.map(({ code, message }) => `${code}: ${message}`);

/** Plays both sides until nothing is left to do. */
function rest(tenant: KubeObject, host: KubeObject | undefined): { tenant: KubeObject; host: KubeObject; last: Plan; writes: number } {
  let version = 100;
  for (let writes = 0; ; writes += 1) {
    const planned = planOf(tenant, host);
    const [operation] = planned.operations;
    if (operation === undefined) return { tenant, host: host!, last: planned, writes };
    if (writes > 5) throw new Error("it does not come to rest");
    version += 1;
    if (operation.side === "host") host = stored(writtenBy(operation), String(version));
    else tenant = stored(writtenBy(operation), String(version));
    for (const { metadata } of [host ?? tenant, tenant])
      expect(annotationsLength(metadata.annotations)).toBeLessThanOrEqual(ANNOTATIONS_LENGTH_MAX);
  }
}

describe("a tenant object with 3,000 annotations", () => {
  const many = tenantEndpoints({ annotations: keys(MANY), labels: { app: "web" } });
  const { host, last } = rest(many, undefined);

  test("has a copy with its addresses, its labels and the first annotations, and people are told", () => {
    expect(host).toMatchObject({ subsets: ONE_ADDRESS, metadata: { labels: { app: "web" } } });
    const there = copied(host);
    expect(there).toEqual(Object.keys(keys(there.length)));
    expect(there.length).toBeGreaterThan(1_500);
    expect(host.metadata.annotations![BASE]!.length).toBeLessThanOrEqual(BASE_LENGTH_MAX);
    expect(messages(last)).toEqual([
      `TOO_MANY_KEYS: ${MANY - there.length} labels and annotations exceed what the copy can track, and are not copied in either direction; ` +
        `the first is annotations/key-${String(there.length).padStart(4, "0")}`,
    ]);
  });

  test("has its new addresses on the host at once, and nothing else is written", () => {
    const changed = { ...stored(many, "11"), subsets: OTHER };
    const operation = only(planOf(changed, host));
    expect(operation).toMatchObject({ side: "host", object: { subsets: OTHER } });
    expect(copied(writtenBy(operation))).toEqual(copied(host));
  });

  test("follows changes of what was copied, and takes in what there is room for again", () => {
    const changed = rest(tenantEndpoints({ annotations: { ...keys(MANY), "key-0000": "new" }, resourceVersion: "11" }), host);
    expect([changed.host.metadata.annotations!["key-0000"], changed.writes]).toEqual(["new", 1]);
    const fewer = rest(tenantEndpoints({ annotations: keys(1_000, "value", "other"), resourceVersion: "12" }), changed.host);
    expect([copied(fewer.host), copied(fewer.host, "other-").length, fewer.last.notes]).toEqual([[], 1_000, []]);
  });

  test("has host edits of what was copied, and no others", () => {
    const edited = annotate(host, { "key-0001": "edited", foreign: "x" });
    const after = rest(many, edited);
    expect(after.tenant.metadata.annotations).toMatchObject({ "key-0001": "edited" });
    expect(after.tenant.metadata.annotations).not.toHaveProperty("foreign");
    expect(after.host.metadata.annotations).toMatchObject({ "key-0001": "edited", foreign: "x" });
  });
});

describe("an annotation of the copy, where the tenant user adds more keys than there is room for", () => {
  const others = keys(MANY);
  const own = { "zzz-own": "mine" };
  const { host: copy } = rest(tenantEndpoints({ annotations: own }), undefined);

  test("leaves the copy together with its entry in the base, and does not come back once the tenant user has deleted it", () => {
    const full = rest(tenantEndpoints({ annotations: { ...own, ...others }, resourceVersion: "11" }), copy);
    expect([copied(full.host, "zzz-own"), full.writes, full.last.notes]).toMatchObject([[], 1, [{ code: "TOO_MANY_KEYS" }]]);
    const { tenant, host } = rest(tenantEndpoints({ resourceVersion: "12" }), full.host);
    expect([copied(tenant, "zzz-own"), copied(host, "zzz-own")]).toEqual([[], []]);
    const again = rest(tenantEndpoints({ annotations: own, resourceVersion: "12" }), full.host);
    expect([copied(again.host, "zzz-own"), again.writes, again.last.notes]).toEqual([["zzz-own"], 1, []]);
  });

  test("stays there if a host user has edited it", () => {
    const edited = annotate(copy, { "zzz-own": "edited" });
    const full = rest(tenantEndpoints({ annotations: { ...own, ...others }, resourceVersion: "11" }), edited);
    expect([full.tenant, full.host].map(({ metadata }) => metadata.annotations!["zzz-own"])).toEqual(["mine", "edited"]);
  });
});

test.each([20, 40, 60])("annotations that lose their room to %i labels leave the copy in one write, which returns none", (count) => {
  const annotations = keys(250, "x".repeat(1_000));
  const { host: copy } = rest(tenantEndpoints({ annotations }), undefined);
  expect(copied(copy)).toHaveLength(250);
  const labelled = rest(tenantEndpoints({ annotations, labels: keys(count, "v", "label"), resourceVersion: "11" }), copy);
  const fresh = rest(tenantEndpoints({ annotations, labels: keys(count, "v", "label"), resourceVersion: "11" }), undefined);
  expect([labelled.writes, copied(labelled.host)]).toEqual([1, copied(fresh.host)]);
});

test("3,000 annotations added to the copy flow as far as there is room, and addresses arrive", () => {
  const tenant = tenantEndpoints({ annotations: { own: "kept", zone: "eu" } });
  const copy = rest(tenant, undefined).host;
  const after = rest(tenant, annotate(copy, keys(MANY)));
  const flowed = copied(after.tenant);
  expect(flowed.length).toBeGreaterThan(1_000);
  expect(flowed.length).toBeLessThan(MANY);
  expect(copied(after.host)).toHaveLength(MANY);
  expect(after.writes).toBe(2);
  expect(after.last.notes).toMatchObject([{ code: "TOO_MANY_KEYS" }]);
  const changed = { ...stored(after.tenant, "500"), subsets: OTHER };
  expect(only(planOf(changed, after.host))).toMatchObject({
    side: "host",
    object: { subsets: OTHER, metadata: { annotations: { own: "kept" } } },
  });
});

describe("an object whose annotations are as long as an API server allows", () => {
  const LONG = "x".repeat(1_000);

  test("has a copy with as many of them as fit beside the copy's own", () => {
    const tenant = tenantEndpoints({ annotations: { ...keys(259, LONG), last: "x" } });
    expect(annotationsLength(tenant.metadata.annotations)).toBeLessThan(ANNOTATIONS_LENGTH_MAX);
    const { host, last } = rest(tenant, undefined);
    expect(copied(host).length).toBeGreaterThan(240);
    expect(last.notes).toMatchObject([{ code: "TOO_MANY_KEYS" }]);
    const changed = { ...stored(tenant, "11"), subsets: OTHER };
    expect(only(planOf(changed, host))).toMatchObject({ side: "host", object: { subsets: OTHER } });
  });

  test("is told which annotation is too large, where one alone is", () => {
    const { host, last } = rest(tenantEndpoints({ annotations: { big: "x".repeat(261_900), small: "kept" } }), undefined);
    expect(host).toMatchObject({ subsets: ONE_ADDRESS, metadata: { annotations: { small: "kept" } } });
    expect(messages(last)).toEqual([
      "TOO_MANY_KEYS: annotations/big is too large, and is not copied in either direction: " +
        "all annotations of an object, including the syncer's own, may have at most 262144 bytes",
    ]);
  });

  test("takes over no host edit that does not fit, and has its addresses on the host", () => {
    const tenant = tenantEndpoints({ annotations: keys(200, LONG) });
    const { host } = rest(tenant, undefined);
    const full = annotate(host, keys(40, LONG, "foreign"));
    const after = rest({ ...tenant, metadata: { ...tenant.metadata, annotations: { ...keys(200, LONG), ...hidden(55) } } }, full);
    expect(copied(after.tenant, "foreign")).toEqual([]);
    expect(after.last.notes).toMatchObject([{ code: "TOO_MANY_KEYS" }]);
    const changed = { ...stored(after.tenant, "500"), subsets: OTHER };
    expect(only(planOf(changed, after.host))).toMatchObject({ side: "host", object: { subsets: OTHER } });
  });

  /** Annotations of the tenant that never cross. */
  function hidden(count: number): Record<string, string> {
    return keys(count, LONG, "kubectl.kubernetes.io/hidden");
  }
});

describe("a tenant object with more than 10,000 labels and annotations", () => {
  const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_none, index) => [String(index * 131_072), "v"]));
  const with10000 = tenantEndpoints({ labels: labels(9_990), annotations: keys(10) }, OTHER);
  const withMore = tenantEndpoints({ labels: labels(9_990), annotations: keys(11) }, OTHER);
  const copy = rest(tenantEndpoints(), undefined).host;

  test("leaves its copy as it is, and is reported", () => {
    const planned = planOf(withMore, copy);
    expect([planned.state, planned.operations]).toEqual(["refused", []]);
    expect(messages(planned)).toEqual(["TOO_MANY_KEYS: The object is not written: it has more than 10000 labels and annotations"]);
  });

  test("is not looked at any further: no expression runs", () => {
    const engine = { ...rules.engine, evaluate: () => expect.unreachable() };
    const patched = { ...testRules({ patches: [{ path: "metadata.labels", expression: "value" }] }), engine };
    expect(plan(patched, inputFor(patched, { tenant: withMore })).state).toBe("refused");
  });

  test("is one more than is copied", () => {
    expect(planOf(with10000, copy)).toMatchObject({ state: "copied", operations: [{ object: { subsets: OTHER } }] });
  });
});
