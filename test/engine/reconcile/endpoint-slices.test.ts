import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { EndpointSlice, KubeObject, Service } from "../../../src/kube/object/types.ts";
import { compileAddressPolicy } from "../../../src/engine/reconcile/rules/address-policy.ts";
import { toTenant } from "../../../src/engine/reconcile/convert/to-tenant.ts";
import { compileExcludedKeys } from "../../../src/engine/reconcile/rules/excluded-keys.ts";
import { ENDPOINT_SLICES_KIND } from "../../../src/engine/kinds/endpoint-slices.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { PlanInput } from "../../../src/engine/reconcile/plan-types.ts";
import type { Rules } from "../../../src/engine/reconcile/rules/rules.ts";
import { SERVICES_KIND } from "../../../src/engine/kinds/services.ts";
import { countSlices, replacesMirror, SKIP_MIRROR } from "../../../src/engine/kinds/slice-labels.ts";
import { isOurs } from "../../../src/engine/translate/identity.ts";
import { service, stored, tenantEndpoints, testRules, type TestRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web-1" };
const SERVICE_KEY = { namespace: "shop", name: "web" };
const HOST_SERVICE_KEY = { namespace: "vc", name: "web-x-shop-x-blue" };
const LABELS = { "kubernetes.io/service-name": "web" };

function sliceRules(options: TestRules = {}): Rules {
  return testRules({ kind: ENDPOINT_SLICES_KIND, ...options });
}

function tenantSlice(body: Partial<EndpointSlice> = {}, metadata: Partial<KubeObject["metadata"]> = {}): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...KEY, uid: "uid-s", resourceVersion: "10", labels: LABELS, ...metadata },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"] }],
    ports: [{ port: 80 }],
    ...body,
  };
}

/** What the only operation writes, as the host stores it. */
function written(rules: Rules, input: Omit<PlanInput, "hostService">): KubeObject {
  const [operation, ...more] = plan(rules, { ...input, hostService: hostService() }).operations;
  if (operation === undefined || operation.action === "delete" || more.length > 0) throw new Error("The plan is no single write");
  return stored(operation.object, "20");
}

function hostService(): Service {
  const tenant = service("shop", "web", { ports: [{ port: 80 }] });
  const { operations } = plan({ ...testRules(), kind: SERVICES_KIND }, { key: SERVICE_KEY, tenant, host: undefined });
  const [operation] = operations;
  if (operation?.action !== "create") throw new Error("The Service has no copy to make");
  return stored(operation.object as Service, "6");
}

function copyOf(rules: Rules, tenant: EndpointSlice): KubeObject {
  return written(rules, { key: { namespace: "shop", name: tenant.metadata.name! }, tenant, host: undefined });
}

/** Addresses that must never arrive, whatever kind brings them. */
const REFUSED = [
  ...["127.0.0.1", "::1", "0.0.0.0", "::", "169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "255.255.255.255"],
  ...["168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "::ffff:127.0.0.1", "0251.0376.0251.0376", "2852039166"],
  ...["10.9.0.1", "", " 10.0.0.1", "10.0.0.1 ", "10.0.0.01", "fe80::1%eth0", "localhost"],
];

describe("a refused address never reaches the host in any kind, ready or not", () => {
  const settings = { addressPolicy: compileAddressPolicy({ allow: [], deny: ["10.9.0.0/16"], action: "drop-address" }) };
  const around = { hostService: hostService() };

  test.each(REFUSED)("%j", (ip) => {
    for (const ready of [true, false]) {
      const slice = tenantSlice({ endpoints: [{ addresses: ["10.0.0.1", ip] }, { addresses: [ip], conditions: { ready } } as never] });
      const slices = plan(sliceRules({ settings }), { key: KEY, tenant: slice, host: undefined, ...around });
      const list = ready ? "addresses" : "notReadyAddresses";
      const endpoints = tenantEndpoints({}, [{ [list]: [{ ip: "10.0.0.1" }, { ip }] }]);
      const subsets = plan(testRules({ settings }), { key: SERVICE_KEY, tenant: endpoints, host: undefined, ...around });
      for (const { operations, notes } of [slices, subsets]) {
        expect(notes.map(({ code }) => code)).toContain("ADDRESS_REFUSED");
        expect(operations).toHaveLength(1);
      }
      expect(slices.operations[0]).toMatchObject({ object: { endpoints: [{ addresses: ["10.0.0.1"] }] } });
      expect(subsets.operations[0]).toMatchObject({ object: { subsets: [{ [list]: [{ ip: "10.0.0.1" }] }] } });
    }
  });
});

describe("host names in the place of addresses", () => {
  const open = compileAddressPolicy({ allow: [], deny: [], action: "drop-address" });

  test.each(["db.example.com", "a.b.c1", "1.example", "localhost.example"])("%s passes where no list limits addresses", (name) => {
    expect(open.checkName(name)).toBeUndefined();
  });

  test.each(["127.0.0.1", "2130706433", "127.1", "0x7f.1", "127.0x1", "0x", "::1", "10.0.0.1.", "localhost", "a.LOCALHOST", "localhost."])(
    "%s never passes",
    (name) => {
      expect(open.checkName(name)).toBeDefined();
    },
  );

  test.each([
    { allow: ["0.0.0.0/0"], deny: [] },
    { allow: [], deny: ["10.0.0.0/8"] },
  ])("none passes beside %j, which cannot be checked", (lists) => {
    expect(compileAddressPolicy({ ...lists, action: "drop-address" }).checkName("db.example.com")).toBeDefined();
  });
});

describe("bodies that expressions make", () => {
  test.each([
    { why: "endpoints that are not a list", path: "endpoints", expression: "'x'" },
    { why: "an endpoint that is not an object", path: "endpoints", expression: "[1]" },
    { why: "an address that is not a string", path: "endpoints", expression: "[{addresses: [1]}]" },
    { why: "ports that are no objects", path: "ports", expression: "[80]" },
    { why: "no address type", path: "addressType", expression: "1" },
  ])("with $why are not written", ({ path, expression }) => {
    const rules = sliceRules({ patches: [{ path, expression }] });
    const planned = plan(rules, { key: KEY, tenant: tenantSlice(), host: undefined, hostService: hostService() });
    expect([planned.state, planned.operations]).toEqual(["refused", []]);
  });

  test("lose endpoints that they left without addresses", () => {
    const rules = sliceRules({ patches: [{ path: "endpoints[0].addresses", expression: "[]" }] });
    const tenant = tenantSlice({ endpoints: [{ addresses: ["10.0.0.1"] }, { addresses: ["10.0.0.2"] }] });
    expect(copyOf(rules, tenant)).toMatchObject({ endpoints: [{ addresses: ["10.0.0.2"] }] });
  });

  test("with another address type make the copy again", () => {
    const tenant = tenantSlice({ endpoints: [] });
    const host = copyOf(sliceRules(), tenant);
    const rules = sliceRules({ patches: [{ path: "addressType", expression: "'IPv6'" }] });
    const { operations } = plan(rules, { key: KEY, tenant, host, hostService: hostService() });
    expect(operations).toMatchObject([{ action: "delete", preconditions: { uid: "uid-host", resourceVersion: "20" } }]);
  });
});

describe("markers", () => {
  const rules = testRules();
  const endpoints = written(rules, { key: SERVICE_KEY, tenant: tenantEndpoints(), host: undefined });
  const slice = copyOf(sliceRules(), tenantSlice());

  test.each([
    { why: "a mirrored slice has those of Endpoints", from: endpoints, name: "web-x-shop-x-blue-abcde", kind: ENDPOINT_SLICES },
    { why: "a mirrored slice has even their name", from: endpoints, name: "web-x-shop-x-blue", kind: ENDPOINT_SLICES },
    { why: "Endpoints have those of a slice", from: slice, name: slice.metadata.name!, kind: ENDPOINTS },
  ])("make nothing ours when $why", ({ from, name, kind }) => {
    const inherited = { ...from, ...kind, metadata: { ...from.metadata, name } };
    expect(isOurs(rules, inherited, kind)).toBe(false);
    const planned = plan(kind === ENDPOINTS ? rules : sliceRules(), { key: { ...KEY, name }, tenant: undefined, host: inherited });
    expect(planned.operations).toEqual([]);
  });
});

test("seen from the tenant, a copy has the tenant's name for the Service and none of our labels", () => {
  const rules = sliceRules();
  const tenant = tenantSlice({}, { labels: { ...LABELS, app: "web" } });
  const host = copyOf(rules, tenant);
  expect(toTenant(rules, host, tenant).object.metadata.labels).toEqual({ ...LABELS, app: "web" });
  expect(toTenant(rules, host).object.metadata.labels).toEqual({ app: "web" });
});

describe("the mirror of Endpoints is replaced", () => {
  const marked = { apiVersion: "v1", kind: "Endpoints", metadata: { labels: { [SKIP_MIRROR]: "true" } } };

  test.each([
    { why: "never while slices are not synced", slices: undefined, host: marked, want: false },
    { why: "not without slices", slices: { total: 0, copied: 0 }, host: undefined, want: false },
    { why: "not before all of them have copies", slices: { total: 2, copied: 1 }, host: undefined, want: false },
    { why: "as soon as all of them have copies", slices: { total: 2, copied: 2 }, host: undefined, want: true },
    { why: "still when another slice comes", slices: { total: 3, copied: 2 }, host: marked, want: true },
    { why: "no longer when no copy is left", slices: { total: 3, copied: 0 }, host: marked, want: false },
  ])("$why", ({ slices, host, want }) => {
    expect(replacesMirror(slices, host)).toBe(want);
  });

  const tenant = tenantSlice();
  const host = copyOf(sliceRules(), tenant);
  const meta = (changes: object): KubeObject => ({ ...host, metadata: { ...host.metadata, ...changes } });

  test.each([
    { why: "a copy", host, want: 1 },
    { why: "no object", host: undefined, want: 0 },
    { why: "a copy that goes", host: meta({ deletionTimestamp: "2026-01-01T00:00:00Z" }), want: 0 },
    { why: "a foreign object", host: meta({ annotations: {} }), want: 0 },
    {
      why: "a copy of another Service",
      host: meta({ labels: { ...host.metadata.labels, "kubernetes.io/service-name": "other" } }),
      want: 0,
    },
    { why: "a copy of an earlier life", host, uid: "uid-new", want: 0 },
  ])("only by copies: $why counts $want", ({ host, want, uid = "uid-s" }) => {
    const pair = { tenant: tenantSlice({}, { uid }), host };
    expect(countSlices(sliceRules(), HOST_SERVICE_KEY, [pair])).toEqual({ total: 1, copied: want });
  });
});

describe("the label that ends the mirror", () => {
  const rules = testRules({ settings: { excluded: compileExcludedKeys(["endpointslice.kubernetes.io/*"]) } });
  const input = { key: SERVICE_KEY, tenant: tenantEndpoints(), hostService: hostService() };
  const replaced = { ...input, slices: { total: 1, copied: 1 } };
  const host = written(rules, { ...replaced, host: undefined });
  const labelOf = (object: KubeObject) => object.metadata.labels?.[SKIP_MIRROR];
  const withLabels = (object: KubeObject, labels: Record<string, string>): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
  });

  test("is there, and is nothing to write again", () => {
    expect(labelOf(host)).toBe("true");
    expect(plan(rules, { ...replaced, host }).operations).toEqual([]);
  });

  test("goes with one write when slices are synced no longer", () => {
    const without = written(rules, { ...input, host });
    expect(labelOf(without)).toBeUndefined();
    expect(plan(rules, { ...input, host: without }).operations).toEqual([]);
  });

  test("comes back when it is removed or inverted, and reaches no tenant", () => {
    for (const value of ["false", ""]) {
      const [operation, ...more] = plan(rules, { ...replaced, host: withLabels(host, { [SKIP_MIRROR]: value }) }).operations;
      expect([operation?.side, more]).toEqual(["host", []]);
      expect(operation).toMatchObject({ restores: true, object: { metadata: { labels: { [SKIP_MIRROR]: "true" } } } });
    }
  });

  test("is no concern of the tenant's own one", () => {
    const tenant = withLabels(input.tenant, { [SKIP_MIRROR]: "true" });
    expect(plan(rules, { ...replaced, tenant, host }).operations).toEqual([]);
    expect(labelOf(written(rules, { ...input, tenant, host: undefined }))).toBeUndefined();
  });

  test("of a host user stays while slices are not synced", () => {
    const own = withLabels(written(rules, { ...input, host: undefined }), { [SKIP_MIRROR]: "true" });
    expect(plan(rules, { ...input, host: own }).operations).toEqual([]);
  });

  test("does not outlive the object that had it", () => {
    const tenant = tenantEndpoints({ uid: "uid-2", resourceVersion: "11" });
    expect(labelOf(written(rules, { ...input, tenant, host }))).toBeUndefined();
  });

  test("is not left behind where the host's controller takes over", () => {
    const selected = { ...input.hostService, spec: { selector: { app: "web" } } };
    const rewritten = { ...host, subsets: [] };
    const { operations } = plan(rules, { ...replaced, hostService: selected, host: rewritten });
    expect(operations).toMatchObject([{ action: "update" }]);
    expect(operations.map((operation) => operation.action !== "delete" && labelOf(operation.object))).toEqual([undefined]);
  });
});

test("a slice keeps its address type, whatever comes back from the host", () => {
  const { translator } = sliceRules();
  const reversed = tenantSlice({ addressType: "IPv6", endpoints: [{ addresses: ["fd00::1"] }] });
  expect(ENDPOINT_SLICES_KIND.tenantWithBody(tenantSlice(), reversed, translator)).toBeUndefined();
  const target = { kind: "Pod", namespace: "vc", name: "unknown" };
  expect(
    ENDPOINT_SLICES_KIND.tenantWithBody(tenantSlice(), tenantSlice({ endpoints: [{ addresses: [], targetRef: target }] }), translator),
  ).toBe(undefined);
});

/** One Service on both sides, with the host's mirroring controller reduced to its rule. */
class MirroredWorld {
  readonly #slices = sliceRules();
  readonly #endpoints = testRules();
  readonly #copies = new Map<string, KubeObject>();
  readonly #tenantSlices: readonly EndpointSlice[];
  #hostEndpoints: KubeObject | undefined;
  #mirrored = false;
  writes = 0;
  on = false;

  constructor(count: number) {
    this.#tenantSlices = Array.from({ length: count }, (_none, index) => tenantSlice({}, { name: `web-${index}`, uid: `uid-${index}` }));
  }

  get size(): number {
    return this.#tenantSlices.length;
  }

  get state() {
    return { mirrored: this.#mirrored, copied: this.#copies.size };
  }

  syncSlice(index: number): void {
    const tenant = this.#tenantSlices[index];
    if (!this.on || tenant === undefined) return;
    const name = tenant.metadata.name!;
    this.#carryOut(this.#slices, { key: { ...KEY, name }, tenant, host: this.#copies.get(name) }, (object) =>
      this.#copies.set(name, object),
    );
  }

  syncEndpoints(): void {
    const pairs = this.#tenantSlices.map((tenant) => ({ tenant, host: this.#copies.get(tenant.metadata.name!) }));
    const slices = this.on ? countSlices(this.#endpoints, HOST_SERVICE_KEY, pairs) : undefined;
    const input = { key: SERVICE_KEY, tenant: tenantEndpoints(), host: this.#hostEndpoints, slices };
    this.#carryOut(this.#endpoints, input, (object) => (this.#hostEndpoints = object));
  }

  mirror(): void {
    this.#mirrored = this.#hostEndpoints !== undefined && this.#hostEndpoints.metadata.labels?.[SKIP_MIRROR] !== "true";
  }

  #carryOut(rules: Rules, input: PlanInput, store: (object: KubeObject) => void): void {
    for (const operation of plan(rules, { ...input, hostService: hostService() }).operations) {
      if (operation.action === "delete" || operation.side === "tenant") throw new Error("Nothing is taken away here");
      this.writes += 1;
      store(stored(operation.object, String(100 + this.writes)));
    }
  }

  rest(): void {
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < this.size; index++) this.syncSlice(index);
      this.syncEndpoints();
      this.mirror();
    }
  }
}

test("whatever runs first, backends never vanish while slices are switched on, and are there once in the end", () => {
  const action = fc.oneof(fc.nat(4), fc.constantFrom("endpoints" as const, "mirror" as const));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4 }), fc.array(action, { maxLength: 20 }), (count, actions) => {
      const world = new MirroredWorld(count);
      world.rest();
      world.on = true;
      for (const step of actions) {
        if (typeof step === "number") world.syncSlice(step);
        else if (step === "endpoints") world.syncEndpoints();
        else world.mirror();
        expect(world.state.mirrored || world.state.copied === count).toBe(true);
      }
      world.rest();
      expect(world.state).toEqual({ mirrored: count === 0, copied: count });
      const before = world.writes;
      world.rest();
      expect(world.writes).toBe(before);
      // Switched off again, the mirror comes back before the copies are removed.
      world.on = false;
      world.rest();
      expect(world.state).toEqual({ mirrored: true, copied: count });
    }),
    { numRuns: 200 },
  );
});
