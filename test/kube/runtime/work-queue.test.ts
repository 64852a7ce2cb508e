import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createWorkQueue, FRESH_IN_A_ROW_MAX, type WorkQueue, type Priority } from "../../../src/kube/runtime/queue/work-queue.ts";
import { createFakeClock, settle, type FakeClock } from "../../support/fake-clock.ts";

function createQueue(clock: FakeClock = createFakeClock()): WorkQueue {
  return createWorkQueue({ name: "test", clock });
}

/** Takes a key that must be there. */
async function takeNow(queue: WorkQueue): Promise<string> {
  expect(queue.depth).toBeGreaterThan(0);
  return (await queue.take())!;
}

describe("a work queue", () => {
  test("holds a key once, however often it is added", async () => {
    const queue = createQueue();
    for (let i = 0; i < 5; i++) queue.add("shop/db");
    expect(queue.depth).toBe(1);
    expect(await takeNow(queue)).toBe("shop/db");
    expect(queue.depth).toBe(0);
  });

  test("hands a key that was added while it ran out again, after it is done", async () => {
    const queue = createQueue();
    queue.add("shop/db");
    await takeNow(queue);
    queue.add("shop/db");
    queue.add("shop/db");
    expect(queue.depth).toBe(0);
    queue.done("shop/db");
    expect(queue.depth).toBe(1);
  });

  test("hands a key straight to a worker that waits", async () => {
    const queue = createQueue();
    const taken = queue.take();
    queue.add("shop/db");
    expect(queue.depth).toBe(0);
    expect(await taken).toBe("shop/db");
  });

  test("moves a background key forward when it changes", async () => {
    const queue = createQueue();
    for (const key of ["a", "b", "c"]) queue.add(key, { priority: "background" });
    queue.add("c");
    expect([await takeNow(queue), await takeNow(queue), await takeNow(queue)]).toEqual(["c", "a", "b"]);
  });

  test("gives a background key its turn under a flood of fresh ones", async () => {
    const queue = createQueue();
    queue.add("initial", { priority: "background" });
    for (let i = 0; i < FRESH_IN_A_ROW_MAX + 5; i++) queue.add(`fresh-${i}`);
    const taken: string[] = [];
    while (queue.depth > 0) taken.push(await takeNow(queue));
    expect(taken.indexOf("initial")).toBe(FRESH_IN_A_ROW_MAX);
  });

  test("keeps the priority of a key that is added again while it runs", async () => {
    const queue = createQueue();
    queue.add("running");
    await takeNow(queue);
    queue.add("running");
    queue.add("running", { priority: "background" });
    queue.add("initial", { priority: "background" });
    queue.done("running");
    expect(await takeNow(queue)).toBe("running");
  });

  test("adds a key after its delay and not before", async () => {
    const clock = createFakeClock();
    const queue = createQueue(clock);
    queue.add("shop/db", { afterMs: 100 });
    await clock.advance(99);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  test("keeps the earliest of several delays", async () => {
    const clock = createFakeClock();
    const queue = createQueue(clock);
    queue.add("shop/db", { afterMs: 100 });
    queue.add("shop/db", { afterMs: 50 });
    queue.add("shop/db", { afterMs: 200 });
    await clock.advance(50);
    expect(queue.depth).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test("doubles the delay with each failure up to the maximum, and starts over once forgotten", () => {
    const queue = createWorkQueue({ name: "test", clock: createFakeClock(), backoff: { initialMs: 5, maximumMs: 30 } });
    expect([1, 2, 3, 4, 5].map(() => queue.retry("shop/db"))).toEqual([5, 10, 20, 30, 30]);
    expect(queue.failures("shop/db")).toBe(5);
    queue.forget("shop/db");
    expect(queue.retry("shop/db")).toBe(5);
  });

  test("remembers nothing of keys that succeeded", async () => {
    const clock = createFakeClock();
    const queue = createQueue(clock);
    for (let i = 0; i < 1_000; i++) {
      const key = `shop/db-${i}`;
      queue.add(key);
      await takeNow(queue);
      queue.retry(key);
      queue.done(key);
    }
    await clock.advance(5);
    while (queue.depth > 0) {
      const key = await takeNow(queue);
      queue.forget(key);
      queue.done(key);
    }
    // One timer may be left: that of the gauges of running work.
    await clock.advance(1_000);
    expect({ remembered: queue.remembered, timers: clock.pending }).toEqual({ remembered: 0, timers: 0 });
  });

  test("shut down, still hands out what waits, takes nothing new, and then ends its workers", async () => {
    const clock = createFakeClock();
    const queue = createQueue(clock);
    queue.add("waiting");
    queue.add("later", { afterMs: 10 });
    queue.shutDown();
    queue.add("new");
    expect(queue.retry("new")).toBeGreaterThan(0);
    await clock.advance(10_000);
    expect([await queue.take(), await queue.take()]).toEqual(["waiting", undefined]);
  });

  test("shut down with dropWaiting, ends waiting workers and forgets what waits or would run again", async () => {
    const queue = createQueue();
    queue.add("running");
    await takeNow(queue);
    queue.add("running");
    queue.add("waiting");
    queue.retry("failed");
    queue.shutDown({ dropWaiting: true });
    queue.done("running");
    expect(await queue.take()).toBeUndefined();
    expect(queue.remembered).toBe(0);
    const idle = createQueue();
    const taken = idle.take();
    idle.shutDown();
    expect(await taken).toBeUndefined();
  });

  test("refuses the end of work that was not begun", () => {
    expect(() => createQueue().done("shop/db")).toThrow(/was not taken/);
  });

  test("counts under the names of controller-runtime", async () => {
    const clock = createFakeClock();
    const metrics = createMetrics();
    const queue = createWorkQueue({ name: "endpoints", clock, metrics });
    const labels = { name: "endpoints", controller: "endpoints" };
    queue.add("a");
    queue.add("b", { priority: "background" });
    expect(metrics.value("workqueue_depth", { ...labels, priority: "fresh" })).toBe(1);
    expect(metrics.value("workqueue_depth", { ...labels, priority: "background" })).toBe(1);
    await clock.advance(2_000);
    await takeNow(queue);
    await clock.advance(3_000);
    expect(metrics.value("workqueue_longest_running_processor_seconds", labels)).toBe(3);
    expect(metrics.value("workqueue_unfinished_work_seconds", labels)).toBe(3);
    queue.retry("a");
    queue.done("a");
    await clock.advance(500);
    expect(metrics.value("workqueue_longest_running_processor_seconds", labels)).toBe(0);
    expect(metrics.value("workqueue_adds_total", labels)).toBe(3);
    expect(metrics.value("workqueue_retries_total", labels)).toBe(1);
    expect(metrics.value("workqueue_queue_duration_seconds_sum", labels)).toBe(2);
    expect(metrics.value("workqueue_work_duration_seconds_sum", labels)).toBe(3);
  });
});

/** A model of the queue in its simplest form: waiting, running and delayed keys. */
class Model {
  readonly waiting: Record<Priority, string[]> = { fresh: [], background: [] };
  readonly running = new Map<string, Priority | undefined>();
  readonly delayed = new Map<string, { dueMs: number; priority: Priority }>();
  freshInARow = 0;

  add(key: string, priority: Priority): void {
    if (this.running.has(key)) return void this.running.set(key, this.running.get(key) === "fresh" ? "fresh" : priority);
    if (this.waiting.fresh.includes(key) || (priority === "background" && this.waiting.background.includes(key))) return;
    this.waiting.background = this.waiting.background.filter((other) => other !== key);
    this.waiting[priority].push(key);
  }

  take(): string {
    const { fresh, background } = this.waiting;
    const priority = background.length === 0 || (fresh.length > 0 && this.freshInARow < FRESH_IN_A_ROW_MAX) ? "fresh" : "background";
    this.freshInARow = priority === "fresh" ? this.freshInARow + 1 : 0;
    const key = this.waiting[priority].shift()!;
    this.running.set(key, undefined);
    return key;
  }

  done(key: string): void {
    const again = this.running.get(key);
    this.running.delete(key);
    if (again !== undefined) this.add(key, again);
  }
}

const key = fc.constantFrom("a", "b", "c", "d", "e", "f");
const priority = fc.constantFrom<Priority>("fresh", "background");
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), key, priority }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("addLater" as const), key, priority, afterMs: fc.integer({ min: 1, max: 50 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("take" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("done" as const), nth: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 60 }) }) },
);

/** A clock whose timers fire at once when time moves: the queue itself needs no promises to do its work. */
function createStepClock() {
  const timers: { dueMs: number; callback: () => void }[] = [];
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    schedule(delayMs: number, callback: () => void) {
      const entry = { dueMs: nowMs + delayMs, callback };
      timers.push(entry);
      return { cancel: () => void (timers.includes(entry) && timers.splice(timers.indexOf(entry), 1)) };
    },
    advance(ms: number) {
      const until = nowMs + ms;
      for (;;) {
        const next = timers.filter(({ dueMs }) => dueMs <= until).sort((left, right) => left.dueMs - right.dueMs)[0];
        if (next === undefined) break;
        timers.splice(timers.indexOf(next), 1);
        nowMs = next.dueMs;
        next.callback();
      }
      nowMs = until;
    },
  };
}

describe("under any sequence of calls", () => {
  test("hands out exactly the keys that the model hands out, in its order, and every add after the last start", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const clock = createStepClock();
        const queue = createWorkQueue({ name: "test", clock });
        const model = new Model();
        const owed = new Set<string>();
        const add = (name: string, where: Priority) => {
          model.add(name, where);
          owed.add(name);
        };
        const take = async () => {
          const got = await queue.take();
          expect(model.running.has(got!)).toBe(false);
          expect(got).toBe(model.take());
          owed.delete(got!);
        };
        const done = (name: string) => {
          queue.done(name);
          model.done(name);
        };
        for (const next of steps) {
          if (next.do === "add") {
            queue.add(next.key, { priority: next.priority });
            add(next.key, next.priority);
          } else if (next.do === "addLater") {
            queue.add(next.key, { priority: next.priority, afterMs: next.afterMs });
            const dueMs = clock.monotonic() + next.afterMs;
            const known = model.delayed.get(next.key);
            if (known === undefined || dueMs < known.dueMs) {
              model.delayed.delete(next.key);
              model.delayed.set(next.key, { dueMs, priority: next.priority });
            }
          } else if (next.do === "take" && queue.depth > 0) await take();
          else if (next.do === "done" && model.running.size > 0) done([...model.running.keys()][next.nth % model.running.size]!);
          else if (next.do === "advance") {
            clock.advance(next.ms);
            const due = [...model.delayed].filter(([, { dueMs }]) => dueMs <= clock.monotonic());
            for (const [name, { priority: where }] of due.sort(([, left], [, right]) => left.dueMs - right.dueMs)) {
              model.delayed.delete(name);
              add(name, where);
            }
          }
          expect(queue.depth).toBe(model.waiting.fresh.length + model.waiting.background.length);
        }
        clock.advance(1_000);
        for (const [name, { priority: where }] of [...model.delayed].sort(([, left], [, right]) => left.dueMs - right.dueMs))
          add(name, where);
        for (const name of [...model.running.keys()]) done(name);
        while (queue.depth > 0) {
          await take();
          for (const name of [...model.running.keys()]) done(name);
        }
        expect([...owed]).toEqual([]);
        expect(queue.remembered).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a queue that is paused", () => {
  test("hands out nothing, collects, and hands out in order of the queues when it goes on", async () => {
    const queue = createWorkQueue({ name: "q", clock: createFakeClock() });
    queue.pause();
    const taken: (string | undefined)[] = [];
    const takers = [queue.take(), queue.take(), queue.take()].map((key) => key.then((one) => taken.push(one)));
    for (const key of ["a", "b"]) queue.add(key, { priority: "background" });
    queue.add("c");
    await settle();
    expect({ taken, depth: queue.depth }).toEqual({ taken: [], depth: 3 });
    queue.resume();
    await Promise.all(takers);
    expect(taken).toEqual(["c", "a", "b"]);
  });

  test("takes back what runs, and hands it out again only when it goes on", async () => {
    const queue = createWorkQueue({ name: "q", clock: createFakeClock() });
    queue.add("a");
    await queue.take();
    queue.pause();
    queue.add("a");
    const next = queue.take();
    queue.done("a");
    await settle();
    expect(queue.depth).toBe(1);
    queue.resume();
    expect(await next).toBe("a");
  });

  test("can forget what waits, and ends its workers when it is shut down", async () => {
    const queue = createWorkQueue({ name: "q", clock: createFakeClock() });
    queue.pause();
    queue.add("a");
    queue.dropWaiting();
    expect(queue.remembered).toBe(0);
    const next = queue.take();
    queue.shutDown({ dropWaiting: true });
    expect(await next).toBeUndefined();
  });
});

describe("a queue of several flows", () => {
  const flowOf = (name: string) => name.split("/")[0]!;
  const several = (runningMax = Infinity) => createWorkQueue({ name: "q", clock: createFakeClock(), flowOf, runningMax });

  test("has a key of each flow early, whichever of the queues one flow floods", async () => {
    for (const priority of ["fresh", "background"] as const) {
      const queue = several();
      for (let index = 0; index < 10_000; index += 1) queue.add(`greedy/${index}`, { priority });
      const others = Array.from({ length: 50 }, (_, index) => `n${index}/web`);
      for (const name of others) queue.add(name, { priority });
      const taken: (string | undefined)[] = [];
      for (let count = 0; count < 51; count += 1) {
        const name = await queue.take();
        taken.push(name);
        queue.done(name!);
      }
      expect(others.filter((name) => !taken.includes(name))).toEqual([]);
    }
  });

  test("has a flow wait whose keys were costly, while others wait", async () => {
    const queue = several();
    for (let index = 0; index < 10; index += 1) for (const flow of ["costly", "cheap"]) queue.add(`${flow}/${index}`);
    const taken: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const name = (await queue.take())!;
      taken.push(flowOf(name));
      queue.done(name, flowOf(name) === "costly" ? 6 : 1);
    }
    expect(taken.filter((flow) => flow === "costly").length).toBe(2);
  });

  test("leaves a worker to others, however many keys of one flow wait", async () => {
    const queue = several(2);
    const taken: (string | undefined)[] = [];
    for (let worker = 0; worker < 3; worker += 1) void queue.take().then((name) => taken.push(name));
    for (let index = 0; index < 5; index += 1) queue.add(`slow/${index}`);
    await settle();
    expect(taken).toEqual(["slow/0", "slow/1"]);
    queue.add("other/0", { priority: "background" });
    await settle();
    expect(taken).toEqual(["slow/0", "slow/1", "other/0"]);
    void queue.take().then((name) => taken.push(name));
    queue.done("slow/0");
    await settle();
    expect([taken.slice(3), queue.depth]).toEqual([["slow/2"], 2]);
  });
});
