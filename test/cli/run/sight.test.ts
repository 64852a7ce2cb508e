import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { createClusterSight, keepAsking, leastOf } from "../../../src/cli/run/sight.ts";
import type { LostKind } from "../../../src/engine/sync/cluster/informed-access.ts";
import { createFakeClock, settle } from "../../support/fake-clock.ts";

const TIMES = { lostAfterMs: 5_000, clearAfterMs: 2_000 };
const REFUSED = new EngineError("API_UNAVAILABLE", "connect ECONNREFUSED");

/** A tenant cluster that is asked every two seconds. */
async function createWorld() {
  const clock = createFakeClock();
  const state = {
    answer: (): Promise<unknown> => Promise.resolve({}),
    kinds: [] as LostKind[],
    retries: 0,
    wrong: undefined as EngineError | undefined,
  };
  const identity = {
    verify: () => Promise.resolve(),
    get wrong() {
      return state.wrong;
    },
  };
  const access = { lost: () => state.kinds, retryNow: () => void (state.retries += 1), identity };
  const seen = createClusterSight({ side: "tenant", access }, TIMES, { clock });
  const stop = keepAsking({ reach: seen, ask: () => state.answer(), everyMs: 2_000, runtime: { clock } });
  await settle();
  return { clock, state, seen, stop };
}

describe("a cluster that is asked every two seconds", () => {
  test("is unsteady at first, and clear once it has answered for two seconds", async () => {
    const { clock, seen } = await createWorld();
    expect([seen.sight, seen.lost()]).toEqual(["unsteady", []]);
    await clock.advance(2_000);
    expect([seen.sight, seen.lost()]).toEqual(["clear", []]);
  });

  test.each([
    { why: "refuses connections", answer: () => Promise.reject(REFUSED), says: "connect ECONNREFUSED" },
    { why: "is silent", answer: () => new Promise(() => undefined), says: "it does not respond" },
  ])("that $why is lost since the first question without an answer, after five seconds", async ({ answer, says }) => {
    const { clock, state, seen } = await createWorld();
    await clock.advance(3_000);
    state.answer = answer;
    // The next question is due at 4 s.
    await clock.advance(5_999);
    expect([seen.sight, seen.lost()]).toEqual([says === "it does not respond" ? "clear" : "unsteady", []]);
    await clock.advance(1);
    expect(seen.sight).toBe("blind");
    expect(seen.lost()).toEqual([`unable to reach the tenant cluster since 2026-01-01T00:00:04.000Z: ${says}`]);
    await clock.advance(3_600_000);
    expect(seen.lost()).toEqual([`unable to reach the tenant cluster since 2026-01-01T00:00:04.000Z: ${says}`]);
  });

  test("that answers again is unsteady and then clear, and its informers are told once", async () => {
    const { clock, state, seen } = await createWorld();
    await clock.advance(4_000);
    state.answer = () => Promise.reject(REFUSED);
    await clock.advance(60_000);
    expect([seen.sight, state.retries]).toEqual(["blind", 1]);
    state.answer = () => Promise.resolve({});
    await clock.advance(2_000);
    expect([seen.sight, seen.lost(), state.retries]).toEqual(["unsteady", [], 2]);
    await clock.advance(10_000);
    expect([seen.sight, state.retries]).toEqual(["clear", 2]);
  });

  test.each(["API_FORBIDDEN", "API_TOO_MANY_REQUESTS"] as const)("that says %s is seen", async (code) => {
    const { clock, state, seen } = await createWorld();
    state.answer = () => Promise.reject(new EngineError(code, "no"));
    await clock.advance(60_000);
    expect([seen.sight, seen.lost()]).toEqual(["clear", []]);
  });

  test("whose lists cannot be followed is lost though it answers", async () => {
    const { clock, state, seen } = await createWorld();
    await clock.advance(4_000);
    state.kinds = [{ kind: "services", sinceMs: clock.monotonic() }];
    expect([seen.sight, seen.lost()]).toEqual(["unsteady", []]);
    await clock.advance(5_000);
    expect(seen.sight).toBe("blind");
    expect(seen.lost()).toEqual(["unable to follow services of the tenant cluster since 2026-01-01T00:00:04.000Z"]);
  });

  test("in whose place another one answers is not seen", async () => {
    const { clock, state, seen } = await createWorld();
    await clock.advance(4_000);
    state.wrong = new EngineError("CLUSTER_IDENTITY", "Another cluster answers");
    expect(seen.sight).toBe("blind");
  });

  test("is asked no more once that is stopped", async () => {
    const { clock, stop } = await createWorld();
    await stop();
    expect(clock.pending).toBe(0);
  });
});

test("both clusters are seen as well as the one that is seen least", () => {
  const least = (...sights: ("clear" | "unsteady" | "blind")[]) => leastOf(sights.map((sight) => ({ sight })));
  expect([least("clear", "clear"), least("clear", "unsteady"), least("blind", "unsteady")]).toEqual(["clear", "unsteady", "blind"]);
});
