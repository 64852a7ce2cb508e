import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { settle } from "../../support/fake-clock.ts";
import { createWorld } from "./controller-world.ts";

/** A promise with its ends outside. */
function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe("a controller", () => {
  test("reconciles every key that is added", async () => {
    const seen: string[] = [];
    const { queue, controller } = createWorld(async (key) => void seen.push(key));
    controller.start();
    queue.add("shop/db");
    queue.add("shop/web");
    await settle();
    expect(seen.sort()).toEqual(["shop/db", "shop/web"]);
    expect(queue.remembered).toBe(0);
  });

  test("goes on with other keys while all workers wait for answers that do not come, with as many as before afterwards", async () => {
    const begun: string[] = [];
    const { open, opened } = gate();
    let [atOnce, most] = [0, 0];
    const { queue, controller, clock } = createWorld(
      async (key) => {
        begun.push(key);
        if (key.startsWith("hanging/")) return opened;
        most = Math.max(most, (atOnce += 1));
        await settle();
        atOnce -= 1;
      },
      { workers: 2 },
    );
    controller.start();
    for (const key of ["hanging/a", "hanging/b"]) queue.add(key);
    await settle();
    queue.add("shop/db");
    await settle();
    expect(begun).toEqual(["hanging/a", "hanging/b"]);
    await clock.advance(1_000);
    expect(begun).toContain("shop/db");
    open();
    await settle();
    for (let index = 0; index < 6; index += 1) queue.add(`shop/${index}`);
    await clock.advance(0);
    await settle();
    expect(begun).toHaveLength(9);
    expect(most).toBe(2);
    await controller.stop();
  });

  test("replaces ten times as many workers as there are, and no more", async () => {
    let waiting = 0;
    const { open, opened } = gate();
    const { queue, controller, clock } = createWorld(() => ((waiting += 1), opened), { workers: 1 });
    controller.start();
    for (let index = 0; index < 20; index += 1) queue.add(`namespace-${index}/db`);
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    expect(waiting).toBe(11);
    open();
    await settle();
    expect(waiting).toBe(20);
    await controller.stop();
  });

  test("tells the queue what a key has cost, also if it failed", async () => {
    const costs: [string, number | undefined][] = [];
    const { queue, controller } = createWorld(async (key, { charge }) => {
      for (const costMs of [20, 30]) charge(costMs);
      if (key === "bad") throw new Error("no");
    });
    const done = queue.done.bind(queue);
    queue.done = (key, cost) => (costs.push([key, cost]), done(key, cost));
    controller.start();
    for (const key of ["good", "bad"]) queue.add(key);
    await settle();
    expect(costs).toEqual([
      ["good", 51],
      ["bad", 51],
    ]);
  });

  test("never runs one key twice at a time, nor more keys than it has workers", async () => {
    const running = new Map<string, number>();
    let most = 0;
    const { clock, queue, controller } = createWorld(
      async (key) => {
        running.set(key, (running.get(key) ?? 0) + 1);
        expect(running.get(key)).toBe(1);
        most = Math.max(most, running.size);
        await new Promise<void>((resolve) => clock.schedule(10, resolve));
        running.delete(key);
      },
      { workers: 3 },
    );
    controller.start();
    for (let round = 0; round < 20; round++) {
      for (const key of ["a", "b", "c", "d", "e"]) queue.add(key);
      await clock.advance(3);
    }
    await clock.advance(1_000);
    expect(most).toBe(3);
    expect(queue.remembered).toBe(0);
  });

  test("tries a failed key again with growing delays until it succeeds, and then starts over", async () => {
    let failures = 0;
    const at: number[] = [];
    const { clock, queue, controller } = createWorld(async () => {
      at.push(clock.monotonic());
      if (failures++ < 3) throw new EngineError("API_CONFLICT", "The object moved on");
    });
    controller.start();
    queue.add("shop/db");
    await clock.advance(1_000);
    expect(at).toEqual([0, 5, 15, 35]);
    expect(queue.remembered).toBe(0);
  });

  test("reconciles again after the time that a result asks for", async () => {
    const at: number[] = [];
    const { clock, queue, controller } = createWorld(async () => {
      at.push(clock.monotonic());
      return at.length === 1 ? { requeueAfterMs: 250 } : undefined;
    });
    controller.start();
    queue.add("shop/db");
    await clock.advance(1_000);
    expect(at).toEqual([0, 250]);
  });

  test("reports a failure once, and again when its code changes or after a success", async () => {
    const failing: (EngineError | undefined)[] = [
      new EngineError("API_CONFLICT", "first"),
      new EngineError("API_CONFLICT", "second"),
      new EngineError("API_UNAVAILABLE", "third"),
      undefined,
      new EngineError("API_UNAVAILABLE", "fourth"),
    ];
    const { clock, queue, controller, lines } = createWorld(async () => {
      const error = failing.shift();
      if (error) throw error;
    });
    controller.start();
    queue.add("shop/db");
    await clock.advance(10_000);
    queue.add("shop/db");
    await settle();
    expect(
      lines
        .filter(({ level }) => level !== "debug")
        .map(({ level, message, fields }) => `${level} ${message} ${String(fields["error"] ?? "")}`),
    ).toEqual([
      "error Reconcile failed first",
      "error Reconcile failed third",
      "info Reconcile recovered ",
      "error Reconcile failed fourth",
    ]);
    expect(lines[0]!.fields).toMatchObject({ controller: "endpoints", key: "shop/db", code: "API_CONFLICT", retryMs: 5 });
  });

  test("goes on to count failures of a key that had to wait for another reconcile", async () => {
    const fails = () => new EngineError("API_UNAVAILABLE", "down");
    const results = [fails(), fails(), fails(), { waits: true } as const, fails(), undefined];
    const { clock, queue, controller, lines, metrics } = createWorld(async () => {
      const result = results.shift();
      if (result instanceof Error) throw result;
      return result;
    });
    controller.start();
    queue.add("shop/db");
    await clock.advance(100_000);
    expect([results.length, queue.failures("shop/db")]).toEqual([2, 3]);
    queue.add("shop/db");
    await settle();
    expect(queue.failures("shop/db")).toBe(4);
    expect(lines.map(({ message }) => message)).not.toContain("Reconcile recovered");
    expect(metrics.value("controller_runtime_reconcile_total", { controller: "endpoints", result: "requeue" })).toBe(1);
    await clock.advance(100_000);
    expect([results.length, queue.failures("shop/db")]).toEqual([0, 0]);
  });

  test("goes on after whatever a reconcile throws, synchronously too", async () => {
    const thrown: unknown[] = [new TypeError("x is not a function"), "a string", undefined, null];
    const seen: string[] = [];
    const { clock, queue, controller, metrics } = createWorld(
      (key) => {
        seen.push(key);
        if (thrown.length > 0) throw thrown.shift();
        return Promise.resolve();
      },
      { workers: 1 },
    );
    controller.start();
    queue.add("shop/db");
    await clock.advance(10_000);
    expect(seen).toHaveLength(5);
    expect(metrics.value("controller_runtime_reconcile_panics_total", { controller: "endpoints" })).toBe(4);
  });

  test("ends the signal of a reconcile that takes too long, and counts it", async () => {
    let ended = false;
    const { clock, queue, controller, metrics } = createWorld(
      (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => ((ended = true), resolve()))),
      { reconcileTimeoutMs: 500 },
    );
    controller.start();
    queue.add("shop/db");
    await clock.advance(499);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(ended).toBe(true);
    expect(metrics.value("controller_runtime_reconcile_timeouts_total", { controller: "endpoints" })).toBe(1);
  });

  test("counts under the names of controller-runtime", async () => {
    const results = [undefined, { requeueAfterMs: 1_000 }, new EngineError("API_INVALID", "No such field")];
    const { clock, queue, controller, metrics } = createWorld(
      async () => {
        const result = results.shift();
        if (result instanceof Error) throw result;
        return result;
      },
      { workers: 1 },
    );
    controller.start();
    for (const key of ["a", "b", "c"]) queue.add(key);
    await clock.advance(1);
    const value = (name: string, labels = {}) => metrics.value(`controller_runtime_${name}`, { controller: "endpoints", ...labels });
    expect({
      success: value("reconcile_total", { result: "success" }),
      later: value("reconcile_total", { result: "requeue_after" }),
      error: value("reconcile_total", { result: "error" }),
      errors: value("reconcile_errors_total"),
      terminal: value("terminal_reconcile_errors_total"),
      panics: value("reconcile_panics_total"),
      measured: value("reconcile_time_seconds_count"),
      active: value("active_workers"),
      workers: value("max_concurrent_reconciles"),
    }).toEqual({ success: 1, later: 1, error: 1, errors: 1, terminal: 1, panics: 0, measured: 3, active: 0, workers: 1 });
  });
});

describe("stopping", () => {
  test("waits for the reconciles that run, tells them, and begins no other", async () => {
    const { open, opened } = gate();
    const seen: string[] = [];
    let told = false;
    const { queue, controller } = createWorld(
      async (key, { signal }) => {
        seen.push(key);
        signal.addEventListener("abort", () => (told = true));
        await opened;
      },
      { workers: 1 },
    );
    controller.start();
    queue.add("running");
    queue.add("waiting");
    await settle();
    let stopped = false;
    const stopping = controller.stop().then(() => (stopped = true));
    await settle();
    expect({ stopped, told }).toEqual({ stopped: false, told: true });
    open();
    await stopping;
    expect(seen).toEqual(["running"]);
  });

  test("does not wait longer than the grace period", async () => {
    const { clock, queue, controller, lines } = createWorld(() => new Promise(() => undefined));
    controller.start();
    queue.add("stuck");
    await settle();
    const stopping = controller.stop({ graceMs: 1_000 });
    await clock.advance(1_000);
    await stopping;
    expect(lines.at(-1)).toMatchObject({ level: "warn", fields: { reconciles: 1 } });
  });

  test("does not report what it interrupted", async () => {
    const { queue, controller, lines } = createWorld(
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new EngineError("API_UNAVAILABLE", "Ended")))),
    );
    controller.start();
    queue.add("shop/db");
    await settle();
    await controller.stop();
    expect(lines).toEqual([]);
  });

  test("leaves no timer behind", async () => {
    const { clock, queue, controller } = createWorld(async () => {
      throw new EngineError("API_UNAVAILABLE", "Down");
    });
    controller.start();
    queue.add("shop/db");
    await settle();
    await controller.stop();
    await clock.advance(500);
    expect(clock.pending).toBe(0);
  });

  test("before the start is nothing special", async () => {
    await expect(createWorld(async () => undefined).controller.stop()).resolves.toBeUndefined();
  });
});

describe("a pause", () => {
  test("waits for the reconciles that run, begins no other, and loses no key", async () => {
    const { open, opened } = gate();
    const begun: string[] = [];
    const { queue, controller } = createWorld(
      async (key, { signal }) => {
        begun.push(`${key} ${signal.aborted}`);
        if (begun.length === 1) await opened;
      },
      { workers: 1 },
    );
    controller.start();
    queue.add("a");
    await settle();
    let paused = false;
    const pausing = controller.pause().then(() => (paused = true));
    queue.add("b");
    queue.add("a");
    await settle();
    expect({ begun, paused }).toEqual({ begun: ["a false"], paused: false });
    open();
    await pausing;
    await settle();
    expect(begun).toEqual(["a false"]);
    controller.resume();
    await settle();
    expect(begun).toEqual(["a false", "b false", "a false"]);
    await controller.stop();
  });

  test("interrupts nothing that counts as failed, and what it interrupted runs again", async () => {
    let runs = 0;
    const { clock, queue, lines, metrics, controller } = createWorld(async (_key, { signal }) => {
      runs += 1;
      if (runs > 1) return;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      throw new EngineError("API_UNAVAILABLE", "Interrupted");
    });
    controller.start();
    queue.add("a");
    await settle();
    await controller.pause();
    controller.resume();
    await clock.advance(0);
    expect({ runs, lines, errors: metrics.value("controller_runtime_reconcile_errors_total", { controller: "endpoints" }) }).toEqual({
      runs: 2,
      lines: [],
      errors: 0,
    });
    await controller.stop();
  });

  test("of nothing is over at once", async () => {
    const { controller } = createWorld(async () => undefined);
    await controller.pause();
    controller.start();
    await controller.pause();
    await controller.stop();
  });

  test("is what a lost lease calls for: the write that was refused is not a failure and is tried again by the next leader", async () => {
    let leading = false;
    let runs = 0;
    const { clock, queue, lines, controller } = createWorld(async () => {
      runs += 1;
      // Tried again at once it would never let go of the thread, and this test would not end.
      if (!leading && runs < 100) throw new EngineError("LEADERSHIP_LOST", "Cannot write");
    });
    controller.start();
    queue.add("a");
    // The loss is noticed by a write before the timer of the election can call for a pause.
    await settle();
    expect(runs).toBe(1);
    await controller.pause();
    await clock.advance(1_000);
    expect({ lines, depth: queue.depth }).toEqual({ lines: [], depth: 1 });
    leading = true;
    controller.resume();
    await settle();
    expect(queue.remembered).toBe(0);
    await controller.stop();
  });
});
