import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../src/object/patch-definition.ts";
import type { Endpoints, KubeObject, Service } from "../../src/object/types.ts";
import { compileAddressPolicy } from "../../src/reconcile/address-policy.ts";
import { compileExcludedKeys } from "../../src/reconcile/excluded-keys.ts";
import { plan } from "../../src/reconcile/plan.ts";
import type { Operation, Plan, PlanInput } from "../../src/reconcile/plan-types.ts";
import type { Rules } from "../../src/reconcile/rules.ts";
import { SERVICES_KIND } from "../../src/reconcile/services.ts";
import { ONE_ADDRESS, service, stored, tenantEndpoints, testRules } from "../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const PREFIX: PatchDefinition = {
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

function inputFor(rules: Rules, parts: Partial<PlanInput>): PlanInput {
  return { key: KEY, tenant: tenantEndpoints(), host: undefined, hostService: ownService(rules), ...parts };
}

/** Host object of a first sync. */
function firstCopy(rules: Rules, tenant: KubeObject): KubeObject {
  const { operations } = plan(rules, inputFor(rules, { tenant }));
  expect(operations.map(({ action, side }) => `${action} ${side}`)).toEqual(["create host"]);
  return stored((operations[0] as Operation & { action: "create" }).object, "20");
}

function annotate(object: KubeObject, annotations: Record<string, string | undefined>): KubeObject {
  const all = Object.entries({ ...object.metadata.annotations, ...annotations }).filter(([, value]) => value !== undefined);
  return {
    ...object,
    metadata: { ...object.metadata, annotations: Object.fromEntries(all) as Record<string, string>, resourceVersion: "21" },
  };
}

function only(planned: Plan): Operation {
  expect(planned.operations).toHaveLength(1);
  return planned.operations[0]!;
}

function writtenBy(operation: Operation): KubeObject {
  if (operation.action === "delete") throw new Error("a delete writes nothing");
  return operation.object;
}

describe("a first copy", () => {
  test("has the host name, the translated labels, the patched annotations and the subsets", () => {
    const rules = testRules({ patches: [PREFIX] });
    const tenant = tenantEndpoints({
      labels: { app: "web", release: "r1" },
      annotations: { team: "shop", "kubectl.kubernetes.io/x": "no" },
    });
    const copy = firstCopy(rules, tenant) as Endpoints;
    expect(copy.metadata).toMatchObject({ namespace: "vc", name: "web-x-shop-x-blue" });
    expect(copy.metadata.labels).toMatchObject({ app: "web", "sync.platform/managed-by": "blue" });
    expect(copy.metadata.labels).not.toHaveProperty("release");
    expect(copy.metadata.annotations).toMatchObject({ team: "blue-shop" });
    expect(copy.metadata.annotations).not.toHaveProperty("kubectl.kubernetes.io/x");
    expect(copy.subsets).toEqual(ONE_ADDRESS);
  });

  test("leaves nothing to do", () => {
    const rules = testRules({ patches: [PREFIX] });
    const tenant = tenantEndpoints({ annotations: { team: "shop" } });
    expect(plan(rules, inputFor(rules, { tenant, host: firstCopy(rules, tenant) })).operations).toEqual([]);
  });

  test("belongs to the virtual cluster's own Service where there is one", () => {
    const rules = testRules();
    const owner = { apiVersion: "v1", kind: "Service", name: "blue", uid: "uid-vc" };
    expect(writtenBy(only(plan(rules, inputFor(rules, { owner })))).metadata.ownerReferences).toEqual([owner]);
  });
});

describe("what another object on the host means", () => {
  test("a foreign object with the host name is never touched", () => {
    const rules = testRules();
    const foreign = { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "3" } };
    const planned = plan({ ...rules, servicesEnabled: false }, inputFor(rules, { host: foreign, hostService: undefined }));
    expect([planned.state, planned.operations, planned.notes.map(({ code }) => code)]).toEqual(["refused", [], ["HOST_OBJECT_FOREIGN"]]);
  });

  test("a copy of another tenant object with the same host name is never touched", () => {
    const rules = testRules();
    const first: KubeObject = { ...tenantEndpoints(), metadata: { namespace: "c", name: "a-x-b", uid: "one", resourceVersion: "1" } };
    const second: KubeObject = { ...tenantEndpoints(), metadata: { namespace: "b-x-c", name: "a", uid: "two", resourceVersion: "2" } };
    const copy = plan(rules, { key: { namespace: "c", name: "a-x-b" }, tenant: first, host: undefined });
    const planned = plan(rules, { key: { namespace: "b-x-c", name: "a" }, tenant: second, host: stored(writtenBy(only(copy)), "9") });
    expect([planned.state, planned.operations, planned.notes.map(({ code }) => code)]).toEqual(["refused", [], ["NAME_COLLISION"]]);
  });

  test("a mirrored object that inherited the markers is not ours", () => {
    const rules = testRules();
    const copy = firstCopy(rules, tenantEndpoints());
    const inherited = { ...copy, metadata: { ...copy.metadata, name: "web-x-shop-x-blue-abcde" } };
    expect(plan(rules, { key: KEY, tenant: undefined, host: inherited }).operations).toEqual([]);
  });
});

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
    expect(answer).toMatchObject({ action: "update", side: "host", reason: "Both sides agree anew" });
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
    expect(writtenBy(operation).metadata.annotations).toEqual({ "one-way": "x" });
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

describe("the life of the source", () => {
  const rules = testRules();
  const tenant = tenantEndpoints({ labels: { app: "web" } });
  const copy = firstCopy(rules, tenant);

  test("its end deletes the copy, with the copy's uid and version and a live read of the source", () => {
    expect(only(plan(rules, { key: KEY, tenant: undefined, host: copy }))).toMatchObject({
      action: "delete",
      key: { namespace: "vc", name: "web-x-shop-x-blue" },
      preconditions: { uid: "uid-host", resourceVersion: "20" },
      confirm: "absent",
    });
  });

  test("its recreation rebinds the copy, and nothing of the old life stays", () => {
    const host = annotate(copy, { leftover: "of the old life" });
    const reborn = tenantEndpoints({ uid: "uid-2", resourceVersion: "30", labels: { app: "new" } });
    const written = writtenBy(only(plan(rules, inputFor(rules, { tenant: reborn, host }))));
    expect(written.metadata.annotations).not.toHaveProperty("leftover");
    expect(written.metadata.labels).toMatchObject({ app: "new" });
    expect(written.metadata.annotations).toMatchObject({ "sync.platform/object-uid": "uid-2" });
  });

  test("a cache older than the copy decides nothing until a live read confirms it", () => {
    const older = { ...tenant, metadata: { ...tenant.metadata, resourceVersion: "9", labels: { app: "old" } } };
    expect(plan(rules, inputFor(rules, { tenant: older, host: copy }))).toMatchObject({ state: "stale", operations: [] });
    expect(plan(rules, inputFor(rules, { tenant: older, host: copy, sourceConfirmed: true })).operations).toHaveLength(1);
  });

  test("a copy that somebody deleted is made again", () => {
    expect(only(plan(rules, inputFor(rules, { tenant, host: undefined })))).toMatchObject({ action: "create", side: "host" });
  });
});

describe("a copy at another host key", () => {
  const rules = testRules();
  const stray = stored({ ...firstCopy(rules, tenantEndpoints()), metadata: { namespace: "old", name: "web", uid: "uid-stray" } }, "30");
  const actions = (planned: Plan) => planned.operations.map(({ action }) => action);

  test("goes after the new one is made", () => {
    const planned = plan(rules, inputFor(rules, { strays: [stray] }));
    expect(actions(planned)).toEqual(["create", "delete"]);
    expect(planned.operations[1]).toMatchObject({ key: { namespace: "old", name: "web" }, confirm: "none" });
  });

  test("goes with the tenant object, after a live read", () => {
    const planned = plan(rules, inputFor(rules, { tenant: undefined, strays: [stray] }));
    expect(only(planned)).toMatchObject({ action: "delete", preconditions: { uid: "uid-stray" }, confirm: "absent" });
  });

  test.each([
    ["waits for its Service", rules, {}, { tenantService: service("shop", "web", {}), hostService: undefined }],
    ["is paused", rules, { annotations: { "sync.platform/pause": "true" } }, {}],
    ["is not synced any more", testRules({ enabled: false }), {}, {}],
  ] as const)("stays while the object %s", (_name, by, meta, parts) => {
    expect(actions(plan(by, inputFor(rules, { tenant: tenantEndpoints(meta), strays: [stray], ...parts })))).toEqual([]);
  });
});

describe("the host Service beside the Endpoints", () => {
  const rules = testRules();
  const external = testRules({ services: "external" });
  const tenantService = service("shop", "web", {});

  test.each([
    ["managed, not there yet", rules, { tenantService, hostService: undefined }, "waiting", "HOST_SERVICE_MISSING"],
    [
      "managed, somebody else's",
      rules,
      { tenantService, hostService: service("vc", "web-x-shop-x-blue", {}) },
      "left",
      "HOST_OBJECT_FOREIGN",
    ],
    ["external, not there yet", external, { tenantService, hostService: undefined }, "waiting", "HOST_SERVICE_MISSING"],
    ["external, with a selector", external, { hostService: service("vc", "x", { selector: { a: "b" } }) }, "left", "HOST_SERVICE_SELECTOR"],
  ] as const)("%s: nothing is written", (_name, by, around, state, code) => {
    const planned = plan(by, inputFor(rules, { ...around }));
    expect([planned.state, planned.operations, planned.notes.map((note) => note.code)]).toEqual([state, [], [code]]);
  });

  test("external and without selector: the Endpoints are written", () => {
    expect(plan(external, inputFor(rules, { hostService: service("vc", "web-x-shop-x-blue", {}) })).operations).toHaveLength(1);
  });

  test("that gets a selector takes over: a copy as we wrote it goes", () => {
    const copy = firstCopy(rules, tenantEndpoints());
    const hostService = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
    expect(only(plan(rules, inputFor(rules, { host: copy, hostService })))).toMatchObject({ action: "delete", confirm: "none" });
  });

  test("that gets a selector takes over: what its controller wrote stays, without our marks", () => {
    const copy = {
      ...firstCopy(rules, tenantEndpoints({ annotations: { team: "shop" } })),
      subsets: [{ addresses: [{ ip: "10.9.9.9" }] }],
    };
    const hostService = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
    const written = writtenBy(only(plan(rules, inputFor(rules, { host: copy, hostService }))));
    expect(written.metadata.annotations).toEqual({ team: "shop" });
    expect(written["subsets"]).toEqual([{ addresses: [{ ip: "10.9.9.9" }] }]);
  });

  test("that lost its selector leaves Endpoints behind, which are taken over", () => {
    const left = {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "7" },
      subsets: [],
    };
    const planned = plan(rules, inputFor(rules, { host: left, tenantService }));
    expect(only(planned)).toMatchObject({
      action: "update",
      side: "host",
      object: { subsets: ONE_ADDRESS, metadata: { resourceVersion: "7" } },
    });
    expect(planned.notes.map(({ code }) => code)).toEqual(["TAKEN_OVER"]);
  });

  test("that had a selector for a moment has its controller's subsets in our copy, which do not flow back", () => {
    const copy = firstCopy(rules, tenantEndpoints({ labels: { app: "web" } }));
    const { "sync.platform/managed-by": managedBy, "sync.platform/namespace": namespace } = copy.metadata.labels!;
    const labels = {
      "sync.platform/managed-by": managedBy!,
      "sync.platform/namespace": namespace!,
      "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    };
    const host = { ...copy, metadata: { ...copy.metadata, labels }, subsets: [] };
    const excluding = testRules({ settings: { excluded: compileExcludedKeys(["endpoints.kubernetes.io/managed-by"]) } });
    const planned = plan(excluding, inputFor(excluding, { tenant: tenantEndpoints({ labels: { app: "web" } }), host }));
    expect(only(planned)).toMatchObject({ side: "host", object: { subsets: ONE_ADDRESS, metadata: { labels: { app: "web" } } } });
    expect(writtenBy(only(planned)).metadata.labels).not.toHaveProperty("endpoints.kubernetes.io/managed-by");
  });

  test("that no tenant Service stands behind leaves Endpoints beside it alone", () => {
    const left = { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "vc", name: "web-x-shop-x-blue", resourceVersion: "7" } };
    const hostService = service("vc", "web-x-shop-x-blue", {});
    const planned = plan(external, inputFor(external, { host: left, hostService }));
    expect([planned.operations, planned.notes.map(({ code }) => code)]).toEqual([[], ["HOST_OBJECT_FOREIGN"]]);
  });

  test("whose controller took our marker labels away keeps none of our annotations", () => {
    const copy = firstCopy(rules, tenantEndpoints({ annotations: { team: "shop" } }));
    const rewritten = { ...copy, metadata: { ...copy.metadata, labels: { app: "host" } }, subsets: [] };
    const hostService = service("vc", "web-x-shop-x-blue", { selector: { app: "web" } });
    const written = writtenBy(only(plan(rules, inputFor(rules, { host: rewritten, hostService }))));
    expect(written.metadata).toMatchObject({ labels: { app: "host" }, annotations: { team: "shop" } });
    expect(Object.keys(written.metadata.annotations!)).toEqual(["team"]);
  });
});

describe("what is not copied", () => {
  test.each([
    ["switched off", testRules({ enabled: false }), {}, "SYNC_DISABLED"],
    ["paused", testRules(), { annotations: { "sync.platform/pause": "true" } }, "EXCLUDED"],
    ["not selected", testRules({ settings: { selector: [{ key: "app", operator: "Exists", values: [] }] } }), {}, "EXCLUDED"],
  ] as const)("%s", (_name, rules, meta, code) => {
    const planned = plan(rules, inputFor(rules, { tenant: tenantEndpoints(meta) }));
    expect([planned.operations, planned.notes.map((note) => note.code)]).toEqual([[], [code]]);
  });

  test("default/kubernetes", () => {
    const rules = testRules();
    const tenant = { ...tenantEndpoints(), metadata: { namespace: "default", name: "kubernetes", uid: "u" } };
    expect(plan(rules, { key: { namespace: "default", name: "kubernetes" }, tenant, host: undefined }).operations).toEqual([]);
  });

  test("a paused object keeps the copy that it has", () => {
    const rules = testRules();
    const copy = firstCopy(rules, tenantEndpoints());
    const paused = tenantEndpoints({ annotations: { "sync.platform/pause": "true" } }, []);
    expect(plan(rules, inputFor(rules, { tenant: paused, host: copy })).operations).toEqual([]);
  });

  test("an object that is no longer selected loses its copy", () => {
    const rules = testRules();
    const copy = firstCopy(rules, tenantEndpoints());
    const strict = testRules({ settings: { selector: [{ key: "app", operator: "Exists", values: [] }] } });
    expect(only(plan(strict, inputFor(rules, { host: copy })))).toMatchObject({ action: "delete", confirm: "unchanged" });
  });
});

describe("addresses", () => {
  const bad = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "127.0.0.1" }], ports: [{ port: 80, protocol: "TCP" }] }];

  test("that are refused are left out, and people are told", () => {
    const rules = testRules();
    const planned = plan(rules, inputFor(rules, { tenant: tenantEndpoints({}, bad) }));
    expect(writtenBy(only(planned))["subsets"]).toEqual(ONE_ADDRESS);
    expect(planned.notes.map(({ code }) => code)).toEqual(["ADDRESS_REFUSED"]);
  });

  test("are checked after the patches", () => {
    const rules = testRules({ patches: [{ path: "subsets[*].addresses[*].ip", expression: '"169.254.169.254"' }] });
    expect(writtenBy(only(plan(rules, inputFor(rules, {}))))["subsets"]).toEqual([]);
  });

  test("block their object when the policy says so", () => {
    const rules = testRules({ settings: { addressPolicy: compileAddressPolicy({ allow: [], deny: [], action: "reject-object" }) } });
    expect(plan(rules, inputFor(rules, { tenant: tenantEndpoints({}, bad) }))).toMatchObject({ state: "refused", operations: [] });
  });

  test("that are no addresses at all never get past the policy", () => {
    const rules = testRules({ patches: [{ path: "subsets", expression: '"169.254.169.254"' }] });
    expect(plan(rules, inputFor(rules, {}))).toMatchObject({ state: "refused", operations: [] });
  });
});

test("an object with more keys than its copy can keep track of is refused, new or not", () => {
  const rules = testRules();
  const annotations = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`key-${index}`, "value"]));
  const tenant = tenantEndpoints({ annotations });
  const input = { key: { namespace: "shop", name: "web" }, tenant, host: undefined };
  expect(plan(rules, input)).toMatchObject({ state: "refused", operations: [], notes: [{ code: "TOO_MANY_KEYS" }] });
  const small = plan(rules, { ...input, tenant: tenantEndpoints({ annotations: { a: "1" } }) });
  const host = stored((small.operations[0] as { object: KubeObject }).object, "20");
  expect(plan(rules, { ...input, host })).toMatchObject({ state: "refused", operations: [] });
});
