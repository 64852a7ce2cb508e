/**
 * The order in which slices that are made of a copy of Endpoints are written, and what is read live before.
 */
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import { finish } from "../../../../src/base/finish.ts";
import { formatKey } from "../../../../src/kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import { createMachine, type Response } from "../../../../src/engine/reconcile/machine.ts";
import { deletion, type Note, type Operation } from "../../../../src/engine/reconcile/plan-types.ts";
import type { StandIn } from "../../../../src/engine/reconcile/rules/rules.ts";
import { madeSlicesStrategy } from "../../../../src/engine/sync/backends/plan-made-slices.ts";
import { stored, tenantEndpoints } from "../../../support/rules.ts";

const KEY = { namespace: "vc", name: "web-x-shop-x-blue" };
const COPY = stored({ ...tenantEndpoints(), metadata: KEY }, "20");
const SERVICE = tenantEndpoints();
const NOTE: Note = { code: "SLICE_EDIT_UNDONE", message: "test" };

const CREATE: Operation = { action: "create", side: "host", object: COPY, reason: "test" };
const UPDATE: Operation = { action: "update", side: "host", object: COPY, reason: "test" };
const DELETE = deletion(COPY, "test", "none");
const WRITTEN: Response = { type: "object", object: stored(COPY, "21") };
const FAILURE = new EngineError("API_UNAVAILABLE", "The cluster does not answer");

const get = { type: "get", side: "host", key: KEY, resource: ENDPOINTS };
const write = (operation: Operation) => ({ type: "write", operation });
const done = (ending: object) => ({ type: "done", ending });
const settled = done({ result: "settled" });
const report = { type: "report", object: SERVICE, notes: [NOTE] };

interface Case {
  readonly why: string;
  readonly operations: readonly Operation[];
  readonly standIns?: readonly StandIn[];
  readonly madeBefore?: readonly string[];
  readonly answers: readonly Response[];
  readonly requests: readonly unknown[];
}

const cases: readonly Case[] = [
  {
    why: "what is new is written unasked",
    operations: [CREATE],
    answers: [WRITTEN, { type: "absent" }],
    requests: [write(CREATE), report, settled],
  },
  {
    why: "before anything changes or goes, the copy is read live, once",
    operations: [CREATE, UPDATE, DELETE],
    answers: [WRITTEN, { type: "object", object: COPY }, WRITTEN, { type: "absent" }, { type: "absent" }],
    requests: [write(CREATE), get, write(UPDATE), write(DELETE), report, settled],
  },
  {
    why: "what this process has made before comes back only if its copy is still there",
    operations: [CREATE],
    madeBefore: [formatKey(KEY)],
    answers: [{ type: "absent" }],
    requests: [get, done({ result: "outdated", requeueAfterMs: 50 })],
  },
  {
    why: "what readers see in the place of what goes is read live, once",
    operations: [UPDATE, DELETE, DELETE],
    standIns: [{ resource: ENDPOINT_SLICES, key: KEY, object: stored(COPY, "21") }],
    answers: [{ type: "object", object: COPY }, WRITTEN, WRITTEN, { type: "absent" }, { type: "absent" }, { type: "absent" }],
    requests: [get, write(UPDATE), { ...get, resource: ENDPOINT_SLICES }, write(DELETE), write(DELETE), report, settled],
  },
  {
    why: "nothing goes when that is not there any more",
    operations: [DELETE],
    standIns: [{ resource: ENDPOINT_SLICES, key: KEY, object: COPY }],
    answers: [{ type: "object", object: COPY }, { type: "absent" }],
    requests: [get, { ...get, resource: ENDPOINT_SLICES }, done({ result: "outdated", requeueAfterMs: 50 })],
  },
  {
    why: "nothing is written by a copy that is gone",
    operations: [DELETE],
    answers: [{ type: "absent" }],
    requests: [get, done({ result: "outdated", requeueAfterMs: 50 })],
  },
  {
    why: "nothing is written by a copy that cannot be read",
    operations: [UPDATE],
    answers: [{ type: "failed", error: FAILURE }],
    requests: [get, done({ result: "failed", error: FAILURE })],
  },
  {
    why: "after a refusal nothing more is written or told, and it is tried again in a minute",
    operations: [CREATE, CREATE],
    answers: [{ type: "refused", note: { code: "API_INVALID", message: "test" } }],
    requests: [write(CREATE), done({ result: "settled", requeueAfterMs: 60_000 })],
  },
];

test.each(cases)("$why", ({ operations, standIns = [], madeBefore = [], answers, requests }) => {
  const machine = createMachine(madeSlicesStrategy({ reader: SERVICE, isStill: (found) => found !== undefined }));
  const input = { operations, standIns, madeBefore, notes: [NOTE], confirms: { key: KEY, copy: COPY } };
  let step = finish(machine.begin({ input, outdatedTimes: 0 }));
  const seen = [step.request];
  // Between any two steps it goes through JSON, as it would through a crash.
  for (const answer of answers) seen.push((step = finish(machine.next(structuredClone(step.state), answer))).request);
  expect(seen).toEqual(requests);
});
