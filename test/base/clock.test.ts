import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { delay, systemClock, type Clock } from "../../src/base/clock.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** A clock with at most one timer, which the test fires. */
function handMadeClock() {
  const state = { delays: [] as number[], kept: [] as (boolean | undefined)[], running: new Set<() => void>() };
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    schedule(delayMs, callback, { keepAlive } = {}) {
      state.delays.push(delayMs);
      state.kept.push(keepAlive);
      state.running.add(callback);
      return { cancel: () => void state.running.delete(callback) };
    },
  };
  const fire = () => state.running.forEach((callback) => callback());
  return { clock, state, fire };
}

/** "done" if the promise has settled by now, else "waiting". */
function stateOf(promise: Promise<void>): Promise<string> {
  return Promise.race([promise.then(() => "done"), Promise.resolve("waiting")]);
}

describe("delay", () => {
  test("resolves when its timer fires and not before", async () => {
    const { clock, state, fire } = handMadeClock();
    const waiting = delay(clock, 250);
    expect(state.delays).toEqual([250]);
    expect(await stateOf(waiting)).toBe("waiting");
    fire();
    await waiting;
    expect(state.running.size).toBe(0);
  });

  test("keeps the process alive", () => {
    const { clock, state } = handMadeClock();
    void delay(clock, 250);
    expect(state.kept).toEqual([true]);
  });

  test("sets no timer for a signal that has aborted already", async () => {
    const { clock, state } = handMadeClock();
    await delay(clock, 250, AbortSignal.abort());
    expect(state.delays).toEqual([]);
  });

  test("resolves on abort and cancels its timer", async () => {
    const { clock, state } = handMadeClock();
    const controller = new AbortController();
    const waiting = delay(clock, 250, controller.signal);
    controller.abort(new Error("Stopped"));
    await waiting;
    expect(state.running.size).toBe(0);
  });

  test("leaves no listener on the signal", async () => {
    const { clock, fire } = handMadeClock();
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, "removeEventListener");
    const added = vi.spyOn(signal, "addEventListener");
    const waiting = delay(clock, 250, signal);
    fire();
    await waiting;
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(added.mock.calls.map(([, listener]) => listener));
  });
});

describe("the machine's clock", () => {
  test("tells wall time in milliseconds since 1970", () => {
    expect(Math.abs(systemClock.now() - new Date().getTime())).toBeLessThan(60_000);
  });

  test("never goes back", () => {
    const first = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
  });

  test("keeps the process alive only when asked", () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const idle = systemClock.schedule(DAY_MS, () => {});
    expect(timers()).toBe(before);
    const kept = systemClock.schedule(DAY_MS, () => {}, { keepAlive: true });
    expect(timers()).toBe(before + 1);
    idle.cancel();
    kept.cancel();
    expect(timers()).toBe(before);
  });

  describe("over simulated days", () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test.each([1, DAY_MS, 24 * DAY_MS, 30 * DAY_MS, 365 * DAY_MS])("fires once after %i ms and not before", (delayMs) => {
      const fired = vi.fn();
      systemClock.schedule(delayMs, fired);
      expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(delayMs - 1);
      expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(2);
      expect(fired).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(2 * delayMs);
      expect(fired).toHaveBeenCalledTimes(1);
    });

    test.each([0, 20, 40])("does not fire after a cancel on day %i", (day) => {
      const fired = vi.fn();
      const timer = systemClock.schedule(60 * DAY_MS, fired);
      vi.advanceTimersByTime(day * DAY_MS);
      timer.cancel();
      vi.advanceTimersByTime(100 * DAY_MS);
      expect(fired).not.toHaveBeenCalled();
    });
  });
});
