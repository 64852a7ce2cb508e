import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { finish } from "../../../src/base/finish.ts";
import { SERVICES } from "../../../src/kube/object/resource.ts";
import { createMachine, type Request, type Response, type Start, type Step } from "../../../src/engine/reconcile/machine.ts";
import { objectStrategy } from "../../../src/engine/reconcile/object-strategy.ts";
import type { Operation, Plan, PlanInput } from "../../../src/engine/reconcile/plan-types.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { service, stored, tenantEndpoints, testRules } from "../../support/rules.ts";

const RULES = testRules();
const KEY = { namespace: "shop", name: "web" };
const TENANT = tenantEndpoints();
const HOST = stored(tenantEndpoints({ resourceVersion: "20" }), "20");
const HOST_KEY = { namespace: "shop", name: "web" };

const CREATE: Operation = { action: "create", side: "host", object: HOST, reason: "test" };
const UPDATE: Operation = { action: "update", side: "host", object: HOST, reason: "test" };
const BESIDE: Partial<Plan> = { operations: [CREATE], restsOnServices: ["host"] };
const REQUIRED: Partial<Plan> = { operations: [CREATE], restsOnServices: ["tenant"] };
const AGAIN: Partial<Plan> = { operations: [CREATE], restsOnSource: true };
const HOST_SERVICE = service("vc", "web-x-shop-x-blue", {});
const BOTH: Partial<Plan> = { operations: [CREATE], restsOnServices: ["host", "tenant"] };
const RESTORE: Operation = { ...UPDATE, restores: true };
const FLOW: Operation = { ...UPDATE, side: "tenant" };
const DELETE: Operation = { action: "delete", side: "host", key: HOST_KEY, preconditions: {}, reason: "test", confirm: "none" };
const ORPHAN: Operation = { ...DELETE, confirm: "absent" };
const UNWANTED: Operation = { ...DELETE, confirm: "unchanged" };
const FORBIDDEN = new EngineError("API_FORBIDDEN", "The source may not be read");
const FAILURE = new EngineError("API_UNAVAILABLE", "The cluster does not answer");

const OBJECT: Response = { type: "object", object: stored(HOST, "21") };
const ABSENT: Response = { type: "absent" };
const OUTDATED: Response = { type: "outdated", reason: "test" };
const REFUSED: Response = { type: "refused", note: { code: "API_INVALID", message: "test" } };
const FAILED: Response = { type: "failed", error: FAILURE };

const get: Request = { type: "get", side: "tenant", key: KEY };
const getService = { type: "get", side: "host", key: { namespace: "vc", name: "web-x-shop-x-blue" }, resource: SERVICES };
const getTenantService = { ...getService, side: "tenant", key: KEY };
const write = (operation: Operation): Request => ({ type: "write", operation });
const report = (...codes: string[]) => ({ type: "report", object: TENANT, notes: codes.map((code) => expect.objectContaining({ code })) });
const done = (ending: object) => ({ type: "done", ending });
const settled = done({ result: "settled" });

interface Case {
  readonly why: string;
  /** One plan, or one before the live read and one after it. */
  readonly plans?: readonly Partial<Plan>[];
  readonly operations?: readonly Operation[];
  readonly start?: Partial<Start>;
  readonly input?: Partial<PlanInput>;
  readonly answers: readonly Response[];
  readonly requests: readonly unknown[];
}

const CASES: readonly Case[] = [
  { why: "a plan without operations is done at once", operations: [], answers: [], requests: [settled] },
  {
    why: "operations are sent one after the other",
    operations: [CREATE, DELETE],
    answers: [OBJECT, ABSENT],
    requests: [write(CREATE), write(DELETE), settled],
  },
  {
    why: "a delete that needs an absent source asks the tenant first",
    operations: [ORPHAN],
    answers: [ABSENT, ABSENT],
    requests: [get, write(ORPHAN), settled],
  },
  {
    why: "a source that is there after all keeps its copy",
    operations: [ORPHAN],
    answers: [OBJECT],
    requests: [get, done({ result: "outdated", requeueAfterMs: 50 })],
  },
  {
    why: "a source that cannot be read keeps its copy",
    operations: [ORPHAN],
    answers: [FAILED],
    requests: [get, done({ result: "failed", error: FAILURE })],
  },
  {
    why: "a copy that the source does not want goes when the source still says so",
    operations: [UNWANTED],
    answers: [{ type: "object", object: TENANT }, ABSENT],
    requests: [get, write(UNWANTED), settled],
  },
  {
    why: "a copy that an old version of the source did not want stays",
    operations: [UNWANTED],
    answers: [{ type: "object", object: tenantEndpoints({ resourceVersion: "11" }) }],
    requests: [get, done({ result: "outdated", requeueAfterMs: 50 })],
  },
  {
    why: "a copy that a missing source did not want is planned again",
    operations: [UNWANTED],
    answers: [ABSENT],
    requests: [get, done({ result: "outdated", requeueAfterMs: 50 })],
  },
  {
    why: "an edit that the tenant refuses waits, and what else there is to do is done",
    plans: [{ operations: [FLOW] }, { operations: [UPDATE] }],
    answers: [REFUSED, OBJECT, ABSENT],
    requests: [write(FLOW), write(UPDATE), report("API_INVALID"), done({ result: "settled", requeueAfterMs: 60_000 })],
  },
  {
    why: "an edit that the tenant cannot take waits, and is tried again soon",
    plans: [{ operations: [FLOW] }, { operations: [UPDATE] }],
    answers: [FAILED, OBJECT],
    requests: [write(FLOW), write(UPDATE), done({ result: "failed", error: expect.objectContaining({ message: FAILURE.message }) })],
  },
  {
    why: "an edit that waits already is no reason to plan again",
    plans: [{ operations: [FLOW] }, { operations: [FLOW] }],
    answers: [FAILED, FAILED],
    requests: [write(FLOW), write(FLOW), done({ result: "failed", error: FAILURE })],
  },
  {
    why: "a write that the cluster has not stored is tried again, and nothing that rests on it is done",
    operations: [UPDATE, DELETE],
    answers: [{ type: "object", object: HOST }],
    requests: [write(UPDATE), done({ result: "settled", requeueAfterMs: 1_000 })],
  },
  {
    why: "what rests on a Service is written where a live read leads to the same plan",
    plans: [BESIDE, BESIDE],
    answers: [ABSENT, OBJECT],
    requests: [getService, write(CREATE), settled],
  },
  {
    why: "what rests on a Service that has been replaced is not written",
    plans: [BESIDE, { notes: [{ code: "HOST_OBJECT_FOREIGN", message: "test" }] }],
    input: { hostService: HOST_SERVICE },
    answers: [OBJECT, ABSENT],
    requests: [getService, report("HOST_OBJECT_FOREIGN"), settled],
  },
  {
    why: "a Service that no cache reports is checked again, since its deletion would go unnoticed",
    plans: [BESIDE, {}],
    answers: [OBJECT],
    requests: [getService, done({ result: "settled", requeueAfterMs: 60_000 })],
  },
  {
    why: "a Service of the tenant cluster that no cache tells of is looked at again, too",
    plans: [REQUIRED, {}],
    answers: [OBJECT],
    requests: [getTenantService, done({ result: "settled", requeueAfterMs: 60_000 })],
  },
  {
    why: "what rests on its source is written where a live read leads to the same plan",
    plans: [AGAIN, AGAIN],
    answers: [{ type: "object", object: TENANT }, OBJECT],
    requests: [get, write(CREATE), settled],
  },
  {
    why: "what rests on a source that no longer exists is not written",
    plans: [AGAIN, {}],
    answers: [ABSENT],
    requests: [get, done({ result: "settled", requeueAfterMs: 5_000 })],
  },
  {
    why: "what rests on a source whose cluster does not answer is written, by what the cache knows",
    plans: [AGAIN, AGAIN],
    answers: [FAILED, OBJECT],
    requests: [get, write(CREATE), settled],
  },
  {
    why: "what rests on a source that may not be read is not written",
    plans: [AGAIN],
    answers: [{ type: "failed", error: FORBIDDEN }],
    requests: [get, done({ result: "failed", error: FORBIDDEN })],
  },
  {
    why: "a cache that is behind the copy is not believed, also when its cluster does not answer",
    plans: [{ ...AGAIN, state: "stale" }],
    answers: [FAILED],
    requests: [get, done({ result: "failed", error: FAILURE })],
  },
  {
    why: "a plan that rests on its source and has nothing to do does not need it",
    plans: [{ restsOnSource: true }],
    answers: [],
    requests: [settled],
  },
  {
    why: "what rests on its source and on a Service is not written before both are read",
    plans: [
      { ...AGAIN, ...BESIDE },
      { ...AGAIN, ...BESIDE },
      { ...AGAIN, ...BESIDE },
    ],
    answers: [{ type: "object", object: TENANT }, ABSENT, OBJECT],
    requests: [get, getService, write(CREATE), settled],
  },
  {
    why: "what rests on a Service that cannot be read is not written",
    plans: [BESIDE],
    answers: [FAILED],
    requests: [getService, done({ result: "failed", error: FAILURE })],
  },
  {
    why: "a plan that rests on Services and has nothing to do needs none of them",
    plans: [{ restsOnServices: ["host"] }],
    answers: [],
    requests: [settled],
  },
  {
    why: "what rests on the Services of both clusters is not written before both are read",
    operations: [CREATE],
    plans: [BOTH, BOTH, BOTH],
    answers: [ABSENT, ABSENT, OBJECT],
    requests: [getService, getTenantService, write(CREATE), settled],
  },
  {
    why: "an outdated write ends everything that was planned",
    operations: [UPDATE, DELETE],
    answers: [OUTDATED],
    requests: [write(UPDATE), done({ result: "outdated", requeueAfterMs: 50 })],
  },
  {
    why: "the wait doubles with every outdated reconcile",
    operations: [UPDATE],
    start: { outdatedTimes: 3 },
    answers: [OUTDATED],
    requests: [write(UPDATE), done({ result: "outdated", requeueAfterMs: 400 })],
  },
  {
    why: "the wait ends at ten seconds",
    operations: [UPDATE],
    start: { outdatedTimes: 1_000 },
    answers: [OUTDATED],
    requests: [write(UPDATE), done({ result: "outdated", requeueAfterMs: 10_000 })],
  },
  {
    why: "what comes after a refused operation is left out, and people are told",
    operations: [CREATE, DELETE],
    answers: [REFUSED, ABSENT],
    requests: [write(CREATE), report("API_INVALID"), done({ result: "settled", requeueAfterMs: 60_000 })],
  },
  {
    why: "a refusal without a note is not reported",
    operations: [CREATE, DELETE],
    answers: [{ type: "refused" }],
    requests: [write(CREATE), settled],
  },
  {
    why: "a failed write ends the turn with its error",
    operations: [CREATE, DELETE],
    answers: [FAILED],
    requests: [write(CREATE), done({ result: "failed", error: FAILURE })],
  },
  {
    why: "a restoration is left out at the version at which the guard stopped it",
    operations: [RESTORE],
    start: { stoppedAt: "uid-1/10" },
    answers: [ABSENT],
    requests: [report("LOOP_STOPPED"), settled],
  },
  {
    why: "a restoration happens at any other version",
    operations: [RESTORE],
    start: { stoppedAt: "uid-1/9" },
    answers: [OBJECT],
    requests: [write(RESTORE), settled],
  },
  {
    why: "a change of the source is written even where the guard stopped",
    operations: [UPDATE],
    start: { stoppedAt: "uid-1/10" },
    answers: [OBJECT],
    requests: [write(UPDATE), settled],
  },
  {
    why: "a copy that was deleted too often is not made before its time, when it is looked at again",
    operations: [CREATE, DELETE],
    start: { recreationWaitMs: 90_000 },
    answers: [ABSENT],
    requests: [report("LOOP_STOPPED"), done({ result: "settled", requeueAfterMs: 90_000 })],
  },
  {
    why: "a change is written to a copy that is there, however often it was deleted",
    operations: [UPDATE],
    start: { recreationWaitMs: 90_000 },
    answers: [OBJECT],
    requests: [write(UPDATE), settled],
  },
  {
    why: "a stale cache makes it ask the tenant, and plan again",
    plans: [{ state: "stale" }, { operations: [UPDATE] }],
    answers: [OBJECT, OBJECT],
    requests: [get, write(UPDATE), settled],
  },
  {
    why: "a stale cache of a source that cannot be read ends the turn",
    plans: [{ state: "stale" }],
    answers: [FAILED],
    requests: [get, done({ result: "failed", error: FAILURE })],
  },
  {
    why: "notes of a plan are reported, whatever becomes of the report",
    plans: [{ notes: [{ code: "NAME_COLLISION", message: "test" }] }],
    answers: [FAILED],
    requests: [report("NAME_COLLISION"), settled],
  },
  {
    why: "a deleted object gets no report",
    plans: [{ notes: [{ code: "NAME_COLLISION", message: "test" }] }],
    input: { tenant: undefined },
    answers: [],
    requests: [settled],
  },
];

/** Plays a reconcile; between any two steps it goes through JSON, as it would through a crash. */
function play({ plans = [{}], operations, start = {}, input = {}, answers }: Case): { steps: Step[]; inputs: PlanInput[] } {
  const inputs: PlanInput[] = [];
  const state = operations?.some(({ action }) => action === "delete") === true ? "absent" : "copied";
  const empty: Plan = { state, hostKey: HOST_KEY, operations: [], notes: [], outcomes: [], references: [] };
  const made = (seen: PlanInput): Plan => ({ ...empty, ...plans[inputs.push(seen) - 1], ...(operations && { operations }) });
  const machine = createMachine(objectStrategy(RULES, (_rules, seen) => made(seen)));
  let step = finish(machine.begin({ outdatedTimes: 0, ...start, input: { key: KEY, tenant: TENANT, host: HOST, ...input } }));
  const steps = [step];
  for (const answer of answers) {
    if (step.request.type === "done") break;
    step = finish(machine.next(structuredClone(step.state), answer));
    steps.push(step);
  }
  return { steps, inputs };
}

describe("the step machine", () => {
  test.each(CASES)("$why", (scenario) => {
    const { steps } = play(scenario);
    expect(steps.map(({ request }) => request)).toEqual(scenario.requests);
  });

  test("plans again with what the tenant answered, marked as confirmed", () => {
    const { inputs } = play({ why: "", plans: [{ state: "stale" }, {}], answers: [ABSENT], requests: [] });
    expect(inputs.map(({ tenant, sourceConfirmed }) => ({ tenant, sourceConfirmed }))).toEqual([
      { tenant: TENANT, sourceConfirmed: undefined },
      { tenant: undefined, sourceConfirmed: true },
    ]);
  });

  test("keeps the copy of another object than the one that was decided about", () => {
    const backends = { isSource: false, mayGo: true, skipMirror: undefined };
    const replanned = (object: KubeObject) =>
      play({ why: "", plans: [{ state: "stale" }, {}], input: { backends }, answers: [{ type: "object", object }], requests: [] })
        .inputs[1]!;
    expect(replanned(tenantEndpoints({ resourceVersion: "11" })).backends).toEqual({ ...backends, mayGo: false });
    expect(replanned(TENANT).backends).toEqual(backends);
  });

  test("plans again with what the host answered of the copy, marked as confirmed", () => {
    const rests = { hostKey: HOST_KEY, restsOnCopy: true };
    const { inputs, steps } = play({ why: "", plans: [rests, {}], answers: [OBJECT], requests: [] });
    expect(steps.map(({ request }) => request)).toEqual([{ type: "get", side: "host", key: HOST_KEY }, settled]);
    expect(inputs.map(({ host, copyConfirmed }) => ({ host, copyConfirmed }))).toEqual([
      { host: HOST, copyConfirmed: undefined },
      { host: stored(HOST, "21"), copyConfirmed: true },
    ]);
    expect(play({ why: "", plans: [rests, {}], answers: [ABSENT], requests: [] }).inputs[1]!.host).toBeUndefined();
    expect(play({ why: "", plans: [rests], answers: [FAILED], requests: [] }).steps.at(-1)!.request).toEqual(
      done({ result: "failed", error: FAILURE }),
    );
  });

  test("leaves the copy as it is where no role allows to read it", () => {
    const rests = { hostKey: HOST_KEY, restsOnCopy: true };
    const refusal = { type: "failed", error: new EngineError("API_FORBIDDEN", "test") } as const;
    const { inputs, steps } = play({ why: "", plans: [rests, rests], answers: [refusal], requests: [] });
    expect(inputs.map(({ copyConfirmed }) => copyConfirmed)).toEqual([undefined, false]);
    expect(steps.at(-1)!.request).toEqual(settled);
  });

  test("plans again with the Service that the host answered, or without one", () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: { namespace: "shop", name: "web" }, spec: {} };
    const known = (answer: Response, input: Partial<PlanInput>) =>
      play({ why: "", plans: [BESIDE, {}], input, answers: [answer], requests: [] }).inputs.map(({ hostService }) => hostService);
    expect(known({ type: "object", object: service }, {})).toEqual([undefined, service]);
    expect(known(ABSENT, { hostService: service })).toEqual([service, undefined]);
  });

  test("knows what both sides look like after its writes", () => {
    const newer = stored(HOST, "21");
    const written = (operation: Operation, answer: Response) =>
      play({ why: "", operations: [operation], answers: [answer], requests: [] }).steps.at(-1)!.state.written;
    expect(written(UPDATE, { type: "object", object: newer }).host).toBe(newer);
    expect(written({ ...UPDATE, side: "tenant" }, { type: "object", object: newer }).tenant).toBe(newer);
    expect(written(DELETE, ABSENT).host).toBeUndefined();
    expect(written({ ...DELETE, key: { namespace: "shop", name: "other" } }, ABSENT).host).toEqual(HOST);
  });

  test("has no step after the last one", () => {
    const { state } = play({ why: "", answers: [], requests: [] }).steps[0]!;
    expect(() => finish(createMachine(objectStrategy(RULES)).next(state, ABSENT))).toThrow("Broken invariant");
  });
});
