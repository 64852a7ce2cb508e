/** What reconciles of objects do with answers that contradict a cache, and with refusals. */
import { describe, expect, test } from "vitest";
import { finish } from "../../../src/base/finish.ts";
import { SERVICES_KIND } from "../../../src/engine/kinds/services.ts";
import { createMachine, type Request, type Response, type Start } from "../../../src/engine/reconcile/machine.ts";
import { objectStrategy } from "../../../src/engine/reconcile/object-strategy.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { sourceVersion, type Operation, type Plan, type PlanInput } from "../../../src/engine/reconcile/plan-types.ts";
import { keyOf } from "../../../src/kube/object/key.ts";
import type { KubeObject, Service } from "../../../src/kube/object/types.ts";
import { service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const RULES = testRules();
const objectIn = (planned: Plan) => (planned.operations[0] as Extract<Operation, { action: "create" | "update" }>).object;
const SERVICE = service("shop", "web", { ports: [{ port: 80 }] }) as Service;
const HOST_SERVICE = stored(
  objectIn(plan({ ...RULES, kind: SERVICES_KIND }, { key: KEY, tenant: SERVICE, host: undefined })),
  "6",
) as Service;
const input = (tenant: KubeObject | undefined, host: KubeObject | undefined, more: Partial<PlanInput> = {}): PlanInput => ({
  ...{ key: KEY, tenant, host, hostService: HOST_SERVICE, tenantService: SERVICE },
  ...more,
});
const planned = (...about: Parameters<typeof input>) => plan(RULES, input(...about));

/** The requests of a reconcile that is answered like this. */
function requests(start: PlanInput, answer: (request: Request) => Response, more: Partial<Start> = {}): readonly Request[] {
  const machine = createMachine(objectStrategy(RULES));
  let step = finish(machine.begin({ input: start, outdatedTimes: 0, ...more } as Start));
  const all = [step.request];
  while (step.request.type !== "done") {
    step = finish(machine.next(step.state, answer(step.request)));
    all.push(step.request);
  }
  return all;
}

const writesIn = (all: readonly Request[]) =>
  all.flatMap((request) => (request.type === "write" ? [`${request.operation.action} ${request.operation.side}`] : []));

test("a copy waits for its replacement also if only the cluster says that its source is gone", () => {
  const copy = stored(objectIn(planned(tenantEndpoints({ resourceVersion: "19" }), undefined)), "20");
  const late = input(tenantEndpoints({ resourceVersion: "15" }), copy, {
    backends: { isSource: true, mayGo: true, skipMirror: undefined },
  });
  const all = requests(late, () => ({ type: "absent" }));
  expect(writesIn(all)).toEqual([]);
  expect(all.at(-1)).toMatchObject({ type: "done", ending: { result: "settled", requeueAfterMs: 5_000 } });
});

test("a copy is kept up to date although a hook refuses to write host edits to the tenant", () => {
  const before = tenantEndpoints({ labels: { team: "a" }, resourceVersion: "10" });
  const copy = stored(objectIn(planned(before, undefined)), "20");
  const edited = stored({ ...copy, metadata: { ...copy.metadata, labels: { ...copy.metadata.labels, team: "b" } } }, "21");
  const subsets = [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 80 }] }];
  const changed = { ...before, subsets, metadata: { ...before.metadata, resourceVersion: "15" } };
  const all = requests(input(changed, edited), (request) => {
    if (request.type !== "write" || request.operation.action === "delete") return { type: "object", object: changed };
    return request.operation.side === "tenant" ? { type: "refused" } : { type: "object", object: stored(request.operation.object, "22") };
  });
  expect(writesIn(all)).toEqual(["update tenant", "update host"]);
});

test("the edit of a body is undone only if the tenant Service really has a selector", () => {
  const tenant = tenantEndpoints({ resourceVersion: "15" });
  const copy = stored(objectIn(planned(tenant, undefined)), "20");
  const subsets = [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 80, protocol: "TCP" }] }];
  const edited = stored({ ...copy, subsets } as KubeObject, "21");
  const selecting = { ...SERVICE, spec: { ...SERVICE.spec, selector: { app: "a" } } } as Service;
  const undone = (live: Service) =>
    writesIn(
      requests(input(tenant, edited, { tenantService: selecting }), (request) => {
        if (request.type === "get") return { type: "object", object: live };
        if (request.type !== "write" || request.operation.action === "delete") return { type: "absent" };
        return { type: "object", object: stored(request.operation.object, "22") };
      }),
    );
  expect(undone(selecting)).toEqual(["update host"]);
  expect(undone(SERVICE)).toEqual(["update tenant"]);
});

test("an excluded label that is removed from a copy stays in the tenant", () => {
  const label = "service.kubernetes.io/headless";
  const tenant = tenantEndpoints({ labels: { [label]: "" }, resourceVersion: "10" });
  const hostService = { ...HOST_SERVICE, metadata: { ...HOST_SERVICE.metadata, labels: { ...HOST_SERVICE.metadata.labels, [label]: "" } } };
  const copy = stored(objectIn(planned(tenant, undefined, { hostService })), "20");
  expect(copy.metadata.labels).toHaveProperty([label]);
  const { [label]: _, ...labels } = copy.metadata.labels!;
  const edited = stored({ ...copy, metadata: { ...copy.metadata, labels } }, "21");
  const { operations, notes } = planned(tenant, edited, { hostService });
  expect([operations.map(({ side }) => side), notes.map(({ code }) => code)]).toEqual([["host"], ["ONE_WAY_EDIT"]]);
});

test("a copy that was deleted to be created again is planned again without an event of that", () => {
  const rules = { ...RULES, kind: { ...RULES.kind, mustRecreate: () => true } };
  const tenant = tenantEndpoints({ resourceVersion: "15" });
  const copy = stored(objectIn(planned(tenantEndpoints({ resourceVersion: "10" }), undefined)), "20");
  const changed = { ...tenant, subsets: [{ addresses: [{ ip: "10.0.0.9" }], ports: [{ port: 80 }] }] };
  const machine = createMachine(objectStrategy(rules));
  let step = finish(machine.begin({ input: input(changed, copy), outdatedTimes: 0 } as Start));
  while (step.request.type !== "done")
    step = finish(machine.next(step.state, step.request.type === "get" ? { type: "object", object: changed } : { type: "absent" }));
  expect(step.request).toMatchObject({ type: "done", ending: { result: "settled", requeueAfterMs: 50 } });
});

describe("a copy at another place, while another writer keeps editing the one at the host key", () => {
  const tenantService = { ...SERVICE, spec: { ...SERVICE.spec, selector: { app: "web" } } } as Service;
  const tenant = tenantEndpoints({ resourceVersion: "10" });
  const copy = stored(objectIn(planned(tenant, undefined)), "20");
  const edited = stored({ ...copy, subsets: [] } as KubeObject, "21");
  const orphan = stored({ ...copy, metadata: { ...copy.metadata, name: "elsewhere", uid: "uid-elsewhere" } }, "9");
  const start = input(tenant, edited, { tenantService, orphans: [orphan] });
  const answer = ({ type }: Request): Response => (type === "get" ? { type: "object", object: tenantService } : { type: "absent" });
  const stoppedAt = sourceVersion(tenant);
  const codesIn = (all: readonly Request[]) =>
    all.flatMap((request) => (request.type === "report" ? [request.notes.map(({ code }) => code)] : []));

  test("is deleted, while the edit stays", () => {
    const all = requests(start, answer, { stoppedAt });
    expect(writesIn(all)).toEqual(["delete host"]);
    expect(all).toContainEqual(expect.objectContaining({ operation: expect.objectContaining({ key: keyOf(orphan) }) }));
    expect(codesIn(all)).toEqual([["ONE_WAY_EDIT", "LOOP_STOPPED"]]);
    expect(all.at(-1)).toEqual({ type: "done", ending: { result: "settled" } });
  });

  test("is deleted only rarely if the object is written too often", () => {
    const all = requests(start, answer, { stoppedAt, writeWaitMs: 4_000 });
    expect([writesIn(all), codesIn(all)]).toEqual([[], [["ONE_WAY_EDIT", "LOOP_STOPPED", "WRITES_SLOWED"]]]);
    expect(all.at(-1)).toEqual({ type: "done", ending: { result: "settled", requeueAfterMs: 4_000 } });
  });
});
