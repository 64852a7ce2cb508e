/** Runs of one sequence: each like the other, and red when the syncer is wrong. */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { Operation } from "../../../src/engine/reconcile/plan-types.ts";
import { plan, type Planner } from "../../../src/engine/reconcile/plan.ts";
import { createSyncCore } from "../../../src/engine/sync/core.ts";
import { shownLines } from "../../../src/workbench/sequences/world/chronicle.ts";
import { disposeEngines, messagesOf, play, sequence, type PlayOptions } from "./play.ts";

afterAll(disposeEngines);

const WEB = "{ at: 0s, tenant: { apply: web } }";

/** Every operation as it is but for some. */
function altered(change: (operation: Operation) => Operation | undefined): Planner {
  return (rules, input) => {
    const planned = plan(rules, input);
    return { ...planned, operations: planned.operations.flatMap((operation) => change(operation) ?? []) };
  };
}

const BROKEN: readonly { why: string; events: readonly string[]; expect: readonly string[]; how: PlayOptions }[] = [
  {
    why: "never deletes",
    events: [WEB, "{ at: 1s, tenant: { delete: web } }"],
    expect: ["{ host: { web: absent } }"],
    how: { planner: altered((operation) => (operation.action === "delete" ? undefined : operation)) },
  },
  {
    why: "deletes on the word of a list",
    events: [WEB, "{ at: 4s, fault: { emptyList: tenant, for: 10s } }"],
    expect: ["{ at: 8s, host: { web: present } }"],
    how: { planner: altered((operation) => (operation.action === "delete" ? { ...operation, confirm: "none" } : operation)) },
  },
  {
    why: "keeps host edits for itself",
    events: [WEB, "{ at: 1s, host: { edit: web, set: { metadata.labels.tier: back } } }"],
    expect: ["{ tenant: { writes: { min: 1 } } }"],
    how: { planner: altered((operation) => (operation.side === "tenant" ? undefined : operation)) },
  },
  {
    why: "says nothing",
    events: ["{ at: 0s, host: { apply: squatter } }", WEB],
    expect: ["{ tenant: { web: { events: [HostObjectForeign] } } }"],
    how: { planner: (rules, input) => ({ ...plan(rules, input), notes: [] }) },
  },
  {
    why: "creates nothing",
    events: [WEB],
    expect: ["{ host: { web: present } }"],
    how: { planner: altered((operation) => (operation.action === "create" ? undefined : operation)) },
  },
  {
    why: "writes without a reason",
    // A write that was stored as it was planned is not looked at again by itself.
    events: [WEB, "{ at: 1s, fault: { crash: syncer } }"],
    expect: ["{ at: 3s, host: { web: present, writes: { max: 1 } } }"],
    how: {
      planner(rules, input) {
        const planned = plan(rules, input);
        const { host } = input;
        if (host === undefined || planned.operations.length > 0) return planned;
        const annotations = { ...host.metadata.annotations, "example.com/again": `after ${host.metadata.resourceVersion}` };
        const object = { ...host, metadata: { ...host.metadata, annotations } };
        return { ...planned, operations: [{ action: "update", side: "host", object, reason: "none" }] };
      },
    },
  },
];

describe("a syncer is noticed that", () => {
  test.each(BROKEN)("$why", async ({ events, expect: expected, how }) => {
    const text = sequence(events, expected);
    expect(messagesOf(await play(text))).toEqual([]);
    expect((await play(text, how)).verdict).toBe("failed");
  });
});

test("a syncer that never rests is noticed, too", async () => {
  // It forgets what it has planned, so that it looks at the object again and again.
  const createCore: PlayOptions["createCore"] = (options) => {
    const core = createSyncCore(options);
    const begin: typeof core.begin = function* (id, context) {
      const turn = yield* core.begin(id, context);
      return {
        resource: turn.resource,
        request: { type: "done", ending: { result: "settled", requeueAfterMs: 5 } },
        answer: (response) => turn.answer(response),
      };
    };
    return { ...core, begin };
  };
  const result = await play(sequence([WEB], ["{ host: { web: present } }"]), { createCore });
  expect(messagesOf(result)).toEqual([
    expect.stringMatching(/^web[.]patch-test[.]yaml:22:19 The syncer does not settle: at [0-9.]+s a retry is due at [0-9.]+s$/),
  ]);
});

/** One event of a sequence, by what a number draws. */
const EVENTS = fc.array(
  fc
    .record({
      at: fc.integer({ min: 0, max: 3000 }),
      what: fc.constantFrom(
        "tenant: { apply: web }",
        "tenant: { apply: service }",
        "tenant: { edit: web, set: { metadata.labels.tier: back } }",
        "tenant: { delete: web }",
        "host: { delete: web }",
        "host: { edit: web, set: { metadata.labels.seen: now } }",
        "fault: { lostAnswer: host }",
        "fault: { answered: 409 }",
        "fault: { watchExpired: tenant }",
        "fault: { watchCut: host, for: 100ms }",
        "fault: { crash: syncer, for: 20ms }",
        "fault: { lateWrite: host, for: 300ms }",
        "fault: { down: tenant, for: 50ms }",
      ),
    })
    .map(({ at, what }) => `{ at: ${at}ms, ${what} }`),
  { minLength: 1, maxLength: 10 },
);

test("the same sequence happens the very same way again", async () => {
  await fc.assert(
    fc.asyncProperty(EVENTS, fc.integer({ min: 0, max: 1000 }), async (events, seed) => {
      const text = sequence(events, ["{ host: { writes: { exact: 99 } } }"]).replace("    events:", `    seed: ${seed}\n    events:`);
      const first = await play(text);
      expect(first.failures.some(({ message }) => message.startsWith("Expected exactly 99 writes"))).toBe(true);
      expect(await play(text)).toEqual(first);
    }),
    { numRuns: 60 },
  );
});

test("whatever happens, what users and faults leave behind is in step with the tenant cluster at rest", async () => {
  await fc.assert(
    fc.asyncProperty(EVENTS, fc.integer({ min: 0, max: 1000 }), async (events, seed) => {
      const last = "{ at: 10s, tenant: { apply: web, set: { metadata.labels.tier: last } } }";
      const expected = "{ quiescent: true, host: { web: { asserts: [{ equal: { path: metadata.labels.tier, value: last } }] } } }";
      const result = await play(sequence([...events, last], [expected]).replace("    events:", `    seed: ${seed}\n    events:`));
      expect(result.verdict).not.toBe("failed");
    }),
    { numRuns: 60 },
  );
});

test("other seeds, other times; the first that fails is reported", async () => {
  const events = [WEB, "{ at: 100ms, tenant: { edit: web, set: { metadata.labels.tier: back } } }"];
  const expected = "{ at: 120ms, host: { writes: { exact: 2 } } }";
  const text = (more: string) => sequence(events, [expected]).replace("    events:", `    ${more}\n    events:`);
  expect(await play(text("seed: 0"))).toEqual({
    kind: "sequence",
    name: "shows something",
    verdict: "passed",
    failures: [],
    fuel: 0,
    place: expect.anything(),
  });
  const failed = await play(text("runs: 100"));
  expect(failed.verdict).toBe("failed");
  expect(failed.seed).toBeGreaterThan(0);
  expect(failed.runs).toBe(failed.seed! + 1);
  expect(failed.failures[0]!.explanation).toContain(`seed    ${failed.seed} determines how long everything takes`);
  expect(await play(text(`seed: ${failed.seed}`))).toEqual({ ...failed, runs: 1 });
});

test("a story of many lines is cut in its middle", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const shown = shownLines(lines).split("\n");
  expect(shown).toHaveLength(40);
  expect([shown[0], shown[7], shown[8]!.trim(), shown[9], shown.at(-1)]).toEqual(["line 0", "line 7", "… 61 more", "line 69", "line 99"]);
  expect(shownLines(lines.slice(0, 40))).not.toContain("more");
});
